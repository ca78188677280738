"""The size of a population, its first points, and how it shrinks along a run.

A shrinking population is arrays of fixed shape whose first `size` rows are alive. Dead rows have no values
(f = violation = inf), so they sort last; their points must not be evaluated or drawn.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..algorithm import Task
from ..arrays import Array, namespace
from ..population import Population
from ..streams import Stream


def rounded(number: Array | float) -> Array:
    """The nearest integer of a number >= 0, halves up.

    Examples
    --------
    >>> import numpy as np
    >>> rounded(np.array([2.4, 2.5, 3.5]))
    array([2, 3, 4])
    """
    return namespace(number).floor(number + 0.5).astype(int)


def elapsed_share(evaluations: Array | int, task: Task) -> Array:
    """The share of the budget that so many evaluations use, at most 1."""
    return namespace(evaluations).minimum(evaluations / task.max_evaluations, 1.0)


def linear_size(first: int, last: int, elapsed: Array) -> Array:
    """The size on the line from `first` at elapsed = 0 to `last` at 1 (LPSR of L-SHADE)."""
    return rounded(first + (last - first) * elapsed)


def alive(n: int, size: Array) -> Array:
    """Whether each of n rows is alive."""
    return namespace(size).arange(n) < size


def shrunk(population: Population, size: Array) -> Population:
    """The population, ranked best first, with only its first `size` rows alive."""
    xp = namespace(population.f)
    stays = alive(population.size, size)
    return replace(
        population,
        f=xp.where(stays, population.f, np.inf),
        violation=xp.where(stays, population.violation, np.inf),
    )


def size_or_default(size: int | None, task: Task, per_variable: int = 5, least: int = 40) -> int:
    """The size given, or so many points per variable but at least `least`: few variables need many points too."""
    return size or max(per_variable * task.dimension, least)


def inside(task: Task, u: Array) -> Array:
    """Points of the box (n, d) from uniform numbers u (n, d)."""
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
