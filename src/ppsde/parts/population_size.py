"""How many points a population has where nobody says."""

from __future__ import annotations

from ..algorithm import Task

PER_VARIABLE, LEAST = 5, 40  # five per variable is what the unified DE family has; few variables need room too


def size_or_default(size: int | None, task: Task) -> int:
    """The size given, or five points per variable but at least 40."""
    return size or max(PER_VARIABLE * task.dimension, LEAST)
