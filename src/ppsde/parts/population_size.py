"""How many points a population has where nobody says."""

from __future__ import annotations

from ..algorithm import Task


def size_or_default(size: int | None, task: Task, per_variable: int = 5, least: int = 40) -> int:
    """The size given, or so many points per variable but not less than a few: few variables need room too."""
    return size or max(per_variable * task.dimension, least)
