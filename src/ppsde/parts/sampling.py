"""The first population: uniform in the box, after the points the user already has."""

from __future__ import annotations

from ..algorithm import Task
from ..arrays import Array, namespace
from ..streams import Stream


def inside(task: Task, u: Array) -> Array:
    """Uniform numbers (n, d) as points of the box."""
    return namespace(u).minimum(task.lower + u * (task.upper - task.lower), task.upper)


def first_points(task: Task, n: int, rng: Stream) -> Array:
    """n points (n, d): those of `task.x0`, then uniform ones."""
    x = inside(task, rng.uniform(n, task.dimension))
    xp = namespace(x)
    if task.x0 is None:
        return x
    if len(task.x0) > n:
        raise ValueError(f"x0 holds {len(task.x0)} points; the population takes at most {n}")
    return xp.concatenate([xp.asarray(task.x0), x[len(task.x0) :]])
