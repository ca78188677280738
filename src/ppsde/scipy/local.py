"""Local searches from members of the population, by the sequential quadratic programming of the default method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..algorithm import Ask, Task
from ..parts.sizing import inside
from ..parts.sqp import NOISIEST, LocalSearch, step
from ..parts.starts import FEW, Agreement, Visits, improves
from ..population import TOLERANCE, Population, better_rows, evaluated
from ..problem.constraints import Constraint
from ..problem.returned import MalformedValue
from ..problem.variables import Variables
from .search import Function, values_at

DECISION = 3  # the iteration after which the run may end
SPENT = 300  # evaluations per variable, and as many more, that local searches may make
AGAIN = 2  # searches that must have ended at the best point if the rest disagree
NARROW = 0.01  # share of the box around the best point in which the last search is made
DIFFERENCE = 1e-8  # between a point and the probes of its derivatives, in widths of the box
SAME_VALUE = 1e-8  # values agree within 100 times this, relative to the best one if that is large


class LocalSearches:
    """Local searches on objective and constraints, inside the box (d, 2); variables that are held (d,) do not move.

    Points are those of the search; `variables` converts them to the user's. The objective is called anywhere inside the
    box, and `calls` counts this. `best` is the best point, one row.
    """

    def __init__(
        self,
        fun: Function,
        limits: Sequence[Constraint],
        box: np.ndarray,
        held: np.ndarray,
        variables: Variables | None,
        rng: np.random.Generator,
    ) -> None:
        self._fun, self._limits, self._variables, self._rng = fun, limits, variables, rng
        self._free = ~held
        self._task = Task(box[:, 0], box[:, 1], 0, tol=SAME_VALUE)
        self._visits, self._agreement = Visits.none(len(box)), Agreement.none()
        self._counts = 0, 0  # of inequalities and equalities; known from the first start on
        self._points = 0  # evaluated
        # Of derivatives, in widths of the box; the first search measures noise, and may enlarge it.
        self._difference, self._measured = DIFFERENCE, False
        self.calls = 0
        self.best: Population | None = None

    def after_iteration(self, number: int, population: Population) -> bool:
        """Make searches after the first iteration; return whether the run may end after the third, because they agree.

        One begins at any point of the box, seven at members far from all earlier starts and ends, best first, and so
        on. They agree if 12 more have ended at the best point than elsewhere, or two when all evaluations are spent.
        The run may not end if a member is better.
        """
        if number == 1:
            self._begin_at(population.sorted())
        if number != DECISION or self.best is None or improves(population.take(population.best()[None]), self.best):
            return False
        return self._agree or bool(self._agreement.same >= AGAIN)

    def _begin_at(self, members: Population) -> None:
        """Make searches from members, in their order, and from other points."""
        self._counts = members.g.shape[1], members.h.shape[1]
        while self._points < SPENT * (self._free.sum() + 1) and not self._agree:
            unvisited = self._visits.unvisited(members, self._task)
            if self._visits.count % 8 > 0 and unvisited.any():
                self._search(members.take(np.array([unvisited.argmax()])))
            else:
                self._search(self._evaluated(inside(self._task, self._rng.random((1, members.x.shape[1])))))

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

    @np.errstate(all="ignore")  # points may have no values, and the objective is called where it may have none
    def _search(self, start: Population, reach: float = 1.0) -> None:
        """Search from a point, one row, inside some share of the box, until that ends or comes to an earlier end."""
        self._counts = start.g.shape[1], start.h.shape[1]
        if not np.isfinite(start.f[0]):  # the evolution does not call the objective where constraints are violated
            start = self._evaluated(start.x)
        origin, free = start.x[0], self._free
        lower, upper = self._task.lower[free], self._task.upper[free]
        around = reach * (upper - lower)
        task = Task(np.maximum(lower, origin[free] - around), np.minimum(upper, origin[free] + around), 0)

        def whole(points: Population) -> Population:
            x = np.repeat(origin[None], points.size, axis=0)
            x[:, free] = points.x
            return replace(points, x=x)

        best = start if self.best is None else self.best
        given_up, begun = False, replace(start, x=start.x[:, free])
        difference = min(self._difference / reach, NOISIEST)
        search = LocalSearch.begin(begun, task, difference=difference, measuring=not self._measured)
        while not search.over and not given_up:
            steps = step(search, task, np.asarray(True))
            request = next(steps)
            try:
                while True:
                    request = steps.send(self._answer(request, whole))
            except StopIteration as ended:
                search = ended.value
            known = bool(self._visits.is_end(whole(search.point), self._task))
            given_up = known and reach == 1.0 and not improves(whole(search.best), best)
        if not (self._measured or search.fresh):
            self._difference, self._measured = float(search.difference) * reach, True
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
        user_x = x.copy() if self._variables is None else self._variables.to_user(x)
        rows = [self._values(part) for part in ([user_x] if vectorized else user_x)]
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
