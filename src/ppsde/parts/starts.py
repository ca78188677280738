"""Where local searches begin and end: starts far from earlier ones, points near the best one, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..algorithm import Task
from ..arrays import Array, namespace, when
from ..population import Population, better_rows
from .sqp import LocalSearch, widths

REMEMBERED = 64  # starts, and as many ends
APART, CLOSE = 0.1, 0.01  # distances of a start from earlier starts and ends that are wanted, and that will do
SAME = 0.002  # distance between an iterate and an earlier end at which they count as one
SIGNIFICANT = 1e-6  # relative improvement that counts
MOST_STEPS = 100, 10  # of a search: so many, and so many more per variable
FEW, MANY = 12, 30  # searches that must end at the best point: more than the others by so many, or so many in all


@dataclass(frozen=True)
class Visits:
    """Where local searches began and ended, in coordinates in which the box has width 1; the oldest are forgotten.

    Distances are by the largest component.
    """

    starts: Array  # (REMEMBERED, d)
    ends: Array  # (REMEMBERED, d)
    count: Array

    @classmethod
    def none(cls, d: int, xp: Any = np) -> Visits:
        nowhere = xp.full((REMEMBERED, d), np.inf)
        return cls(nowhere, nowhere, xp.asarray(0))

    def unvisited(self, points: Population, task: Task) -> Array:
        """The points (n,) far from all starts and ends; if there are none, those that are not close to one."""
        xp = namespace(points.f)
        u = (points.x - task.lower) / widths(task)
        visited = xp.concatenate([self.starts, self.ends])
        distances = xp.abs(u[:, None, :] - visited[None]).max(axis=2).min(axis=1)
        far = points.valid & (distances > APART)
        return xp.where(far.any(), far, points.valid & (distances > CLOSE))

    def is_end(self, point: Population, task: Task) -> Array:
        """Whether a search ended where the point, one row, is."""
        return _holds(self.ends, point, task)

    def is_start(self, point: Population, task: Task) -> Array:
        """Whether a search that is over began where the point, one row, is."""
        return _holds(self.starts, point, task)

    def add(self, start: Array, end: Array, given_up: Array, task: Task) -> Visits:
        """The same with the start (d,) and end (d,) of one more search; where it was given up is not an end."""
        xp = namespace(start)
        here = (xp.arange(REMEMBERED) == self.count % REMEMBERED)[:, None]
        u_start, u_end = ((x - task.lower) / widths(task) for x in (start, end))
        ends = xp.where(here & ~given_up, u_end, self.ends)
        return Visits(xp.where(here, u_start, self.starts), ends, self.count + 1)


def _holds(places: Array, point: Population, task: Task) -> Array:
    """Whether one of the places (k, d) is that of the point, one row."""
    xp = namespace(point.f)
    u = (point.x[0] - task.lower) / widths(task)
    return (xp.abs(places - u).max(axis=1) < SAME).any()


def near(best: Array, u: Array, task: Task) -> tuple[Array, Array]:
    """A point (d,) near the best one (d,), and how far it may be; from uniform numbers u (3 + 2 d,).

    The distance is from a hundredth of the box to all of it, each size as likely as another; at least one variable
    changes, and seldom many do.
    """
    xp = namespace(best)
    d = best.shape[0]
    reach = 10.0 ** (2.0 * u[0] - 2.0)
    changes = (u[3 : 3 + d] < 0.5 * u[1] ** 2) | (xp.arange(d) == xp.floor(u[2] * d))
    x = best + widths(task) * reach * (2.0 * u[3 + d :] - 1.0) * changes
    return xp.clip(x, task.lower, task.upper), reach


def improves(point: Population, best: Population) -> Array:
    """Whether a point, one row, is better than another one by enough to count."""
    xp = namespace(point.f)
    violation, f = point.violation[0], point.f[0]
    size = xp.where(best.f[0] < np.inf, xp.abs(best.f[0]), 0.0)
    closer = violation < best.violation[0] * (1.0 - SIGNIFICANT)
    return closer | ((violation <= best.violation[0]) & (f < best.f[0] - SIGNIFICANT * size))


@dataclass(frozen=True)
class Agreement:
    """How many searches from starts of their own have ended at the best point since it was found, or elsewhere."""

    same: Array
    other: Array

    @classmethod
    def none(cls, xp: Any = np) -> Agreement:
        return cls(xp.asarray(0), xp.asarray(0))

    def renewed(self, best: Population, better: Population, task: Task) -> Agreement:
        """The same where a better point (one row each) has the value of the best one; else that of no search yet."""
        xp = namespace(best.f)
        new = ~(_apart(better, best) <= _equal(better, task))
        return Agreement(xp.where(new, 0, self.same), xp.where(new, 0, self.other))

    def after(self, over: Array, end: Population, given_up: Array, best: Population, task: Task) -> Agreement:
        """The same after a search, if it is `over`, whose end and whose best point known (one row each) were these.

        One that was given up ended at the best point if it was given up there; the others if the values are the same.
        """
        xp = namespace(best.f)
        equal = _apart(end, best) <= _equal(best, task)
        close = xp.abs((end.x[0] - best.x[0]) / widths(task)).max() < 2.0 * SAME
        same = over & best.feasible[0] & (equal | (given_up & close))
        return Agreement(self.same + same, self.other + (over & ~same))

    @property
    def enough(self) -> Array:
        """Whether nothing better is to be expected."""
        return (self.same >= FEW + self.other) | (self.same >= MANY)


def _apart(first: Population, second: Population) -> Array:
    """The distance between the values of two points, one row each; inf unless both are feasible."""
    xp = namespace(first.f)
    return xp.abs(xp.where(first.feasible[0] & second.feasible[0], first.f[0] - second.f[0], np.inf))


def _equal(point: Population, task: Task) -> Array:
    """The distance up to which values count as that of the point, one row."""
    xp = namespace(point.f)
    return 100.0 * task.tol * xp.maximum(1.0, xp.abs(point.f[0]))


def after_step(
    search: LocalSearch, start: Array, alone: Array, visits: Visits, agreement: Agreement, best: Population, task: Task
) -> tuple[LocalSearch, Visits, Agreement, Array]:
    """The search, visits and agreement after a step, and whether the search was given up.

    That is so where an earlier one ended, and after many steps; then the next search near the best point goes on there.
    It began at `start` (d,), `alone` if not near the best point; `best`, one row, is the best point before the step.
    """
    arrives = ~improves(search.best, best) & visits.is_end(search.point, task)
    crawls = search.steps > MOST_STEPS[0] + MOST_STEPS[1] * task.dimension
    given_up = ~search.over & (arrives | crawls)
    search = replace(search, over=search.over | given_up)
    new_best = better_rows(best, search.best)
    end = when(given_up, lambda: search.point, search.best)
    agreement = agreement.renewed(best, new_best, task).after(search.over & alone, end, given_up, new_best, task)
    visits = when(search.over, lambda: visits.add(start, search.best.x[0], given_up, task), visits)
    return search, visits, agreement, given_up
