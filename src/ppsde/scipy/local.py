"""Local searches from members of the population, by the sequential quadratic programming of the default method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..algorithm import Ask, Task
from ..constraints import Constraint
from ..parts.sqp import LocalSearch, step
from ..parts.starts import FEW, Agreement, Visits, improves
from ..population import TOLERANCE, Population, better_rows, evaluated
from ..returned import MalformedValue
from .polishing import PolishBounds
from .search import Function, values_at

ROUNDS = 3  # local searches are made after so many iterations
ROUND = 75  # evaluations per variable, and as many more, after each of them
AGAIN = 2  # searches that must have ended at the best point after the last round, if the rest disagree
NARROW = 0.01  # share of the box around the best point in which the last search is made
DIFFERENCE = 1e-8  # between a point and the probes of its derivatives, in widths of the box
SAME_VALUE = 1e-8  # values agree within 100 times this, relative to the best one if that is large


class LocalSearches:
    """Local searches on objective and constraints; the variables that polishing may not move stay as they began.

    They call the objective anywhere inside the bounds. `calls` counts these calls; `best` is the best point, one row.
    """

    def __init__(
        self, fun: Function, limits: Sequence[Constraint], box: PolishBounds, rng: np.random.Generator
    ) -> None:
        self._fun, self._limits, self._box, self._rng = fun, limits, box, rng
        self._task = Task(box.lower, box.upper, 0, tol=SAME_VALUE)
        self._visits, self._agreement = Visits.none(len(box.lower)), Agreement.none()
        self._counts = 0, 0  # of inequalities and equalities; known from the first start on
        self._points = 0  # evaluated
        self.calls = 0
        self.best: Population | None = None

    def after_iteration(self, number: int, population: Population) -> bool:
        """Make the searches that follow an iteration; return whether the run may end, because they agree.

        They begin at members far from all earlier starts and ends, in random order. The run may end after the last
        round if 12 more searches have ended at the best point than elsewhere, or at least two if all rounds were spent.
        """
        if number > ROUNDS:
            return False
        members = population.take(self._rng.permutation(np.flatnonzero(population.valid)))
        round_size = ROUND * int((~self._box.held).sum() + 1)
        allowed = self._points + round_size
        while self._points < allowed and not self._agree:
            unvisited = self._visits.unvisited(members, self._task)
            if not unvisited.any():
                break
            self._search(members.take(np.array([unvisited.argmax()])))
        if number < ROUNDS or self.best is None or improves(members.take(members.best()[None]), self.best):
            return False
        return self._agree or bool(self._points >= ROUNDS * round_size and self._agreement.same >= AGAIN)

    @property
    def _agree(self) -> bool:
        """Whether nothing better is to be expected."""
        return bool(self._agreement.same >= FEW + self._agreement.other)

    def polished(self, point: Population | None) -> Population:
        """Search from a point, one row, if there is one, and around the best of all ends; return the best point.

        The last search is made in a small box, in which smaller improvements count.
        """
        if point is not None:
            self._search(point)
        assert self.best is not None
        self._search(self.best, NARROW)
        return self.best

    def _search(self, start: Population, reach: float = 1.0) -> None:
        """Search from a point, one row, inside some share of the box, until that ends or comes to an earlier end."""
        self._counts = start.g.shape[1], start.h.shape[1]
        if not np.isfinite(start.f[0]):  # the evolution does not call the objective where constraints are violated
            start = self._evaluated(start.x)
        origin, free = start.x[0], ~self._box.held
        lower, upper = self._box.lower[free], self._box.upper[free]
        around = reach * (upper - lower)
        task = Task(np.maximum(lower, origin[free] - around), np.minimum(upper, origin[free] + around), 0)

        def whole(points: Population) -> Population:
            x = np.repeat(origin[None], points.size, axis=0)
            x[:, free] = points.x
            return replace(points, x=x)

        best = start if self.best is None else self.best
        search, given_up = LocalSearch.begin(replace(start, x=start.x[:, free]), task), False
        with np.errstate(all="ignore"):  # of points without values
            while not search.over and not given_up:
                steps = step(search, task, np.asarray(True), DIFFERENCE / reach)
                request = next(steps)
                try:
                    while True:
                        request = steps.send(self._answer(request, whole))
                except StopIteration as ended:
                    search = ended.value
                known = bool(self._visits.is_end(whole(search.point), self._task))
                given_up = known and reach == 1.0 and not improves(whole(search.best), best)
        found = whole(search.best)
        end, over, left = whole(search.point) if given_up else found, np.asarray(True), np.asarray(given_up)
        self.best = better_rows(best, found)
        self._agreement = self._agreement.renewed(best, self.best, self._task)
        self._agreement = self._agreement.after(over, end, left, self.best, self._task)
        self._visits = self._visits.add(origin, found.x[0], left, self._task)

    def _answer(self, request: Ask, whole: Callable[[Population], Population]) -> Population:
        """Return the points of a request, those that are not wanted without values."""
        n, rows = len(request.x), np.flatnonzero(request.wanted)
        f, violation, g, h = (np.full(shape, np.inf) for shape in (n, n, *((n, k) for k in self._counts)))
        points = Population(request.x, f, violation, g, h)
        if len(rows):
            found = self._evaluated(whole(points.take(rows)).x)
            f[rows], violation[rows], g[rows], h[rows] = found.f, found.violation, found.g, found.h
        return points

    def _evaluated(self, x: np.ndarray) -> Population:
        """Return the points x (n, d) with objective and constraints; without values where one of them raised."""
        self._points += len(x)
        vectorized = self._fun.vectorized
        rows = [self._values(part.copy()) for part in ([x] if vectorized else x)]
        f, g, h = rows[0] if vectorized else (np.array(column) for column in zip(*rows, strict=True))
        return evaluated(x, f, g, h, TOLERANCE)

    def _values(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return f, g and h of one point (d,), or of rows (n, d) if the functions are vectorised."""
        try:
            pairs = [limit.split(values_at(limit, x, self._fun.vectorized)) for limit in self._limits]
            g, h = (np.concatenate(parts, axis=-1) for parts in zip(*pairs, strict=True))
            self.calls += 1
            return np.asarray(self._fun(x) if self._fun.vectorized else self._fun.value(x)), g, h
        except MalformedValue:
            raise
        except Exception:
            f, g, h = (np.full((*x.shape[:-1], *shape), np.nan) for shape in ((), *((k,) for k in self._counts)))
            return f, g, h
