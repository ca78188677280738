"""`Optimizer`: a search by ask and tell, in which the caller evaluates the points."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .algorithms import DEFAULT
from .checkpoints import state_file
from .checkpoints.state_file import CheckpointError
from .checkpoints.state_tree import described_searches, restored_searches
from .checks import check_int, takes_seed
from .engines.run import Run
from .engines.searches import Searches
from .population import TOLERANCE, evaluated
from .problem import FGH, Problem, Units
from .problem.returned import reals, row_values
from .request import Request
from .streams import seed_from

if TYPE_CHECKING:
    from .result import Result

_KIND = "optimizer"  # written into the files of `save`
_NOTHING_TOLD = np.empty((0, 2), np.uint64)  # in files of 0.1, in which `tell` had no x


class Optimizer:
    """A search that asks for points and gets their values from the caller.

    `ask()` and `tell(f, g, h)` go through the search request by request, as `minimize` does. `ask(n)` and
    `tell(x, f, g, h)` are for workers that are never to wait for each other: points are handed out one by one, and
    answered in any order, in parts, late, or never. Where one search has to wait for answers, `ask(n)` begins further
    ones on the same budget; see docs/asynchronous.md.

    Parameters
    ----------
    bounds : scipy Bounds, pairs (low, high), or two arrays
    method : str, or an algorithm
        As for `minimize`; the default, 'pps-sqp', ends a search by itself when its local searches agree.
    n_ineq, n_eq : int
        Numbers of inequalities g and equalities h that `tell` expects.
    max_evaluations : int, optional
        The budget, which is never exceeded; the default is 20000 times the number of variables.
    rng : None, int, SeedSequence or Generator
    x0 : array (d,) or (k, d), optional
        Points that the first population must contain.
    x0_values : tuple (f, g, h), optional
        The values of these points, f (k,), g (k, n_ineq) and h (k, n_eq), NaN for failures, if they are known: they are
        not asked for, and cost no evaluation.
    target : float, optional
        The search is done when a feasible point with an objective as small as this was evaluated.
    tol : float, optional
        As for `minimize`.

    Examples
    --------
    >>> import numpy as np
    >>> optimizer = Optimizer([(-5, 5)] * 2, n_ineq=1, max_evaluations=2000, rng=1)
    >>> while not optimizer.done:
    ...     x = optimizer.ask()
    ...     optimizer.tell((x**2).sum(axis=1), g=1 - x[:, :1])
    >>> print(round(optimizer.result.fun, 3), optimizer.result.feasible)
    1.0 True

    Three points at a time, each answered by itself, the last one first:

    >>> optimizer = Optimizer([(-5, 5)] * 2, n_ineq=1, max_evaluations=600, rng=1)
    >>> while not optimizer.done:
    ...     for x in optimizer.ask(3)[::-1]:
    ...         optimizer.tell(x, (x**2).sum(), g=[1 - x[0]])
    >>> print(round(optimizer.result.fun, 3), optimizer.result.nfev <= 600)
    1.0 True
    """

    @takes_seed
    def __init__(
        self,
        bounds: Any,
        *,
        method: Any = DEFAULT,
        n_ineq: int = 0,
        n_eq: int = 0,
        max_evaluations: int | None = None,
        rng: Any = None,
        x0: Any = None,
        tolerance: float = TOLERANCE,
        options: dict[str, Any] | None = None,
        x0_values: Any = None,
        target: float | None = None,
        tol: float | None = None,
    ) -> None:
        problem = Problem(_evaluated_by_the_caller, bounds, n_ineq=n_ineq, n_eq=n_eq, tolerance=tolerance)
        if problem.variables is not None:
            raise ValueError(f"bounds of an Optimizer must be finite; got {bounds!r}")
        self._counts = (int(n_ineq), int(n_eq))
        run = Request(
            problem,
            method,
            options,
            max_evaluations,
            seed_from(rng),
            x0,
            x0_values=x0_values,
            target=target,
            tol=tol,
        ).run()
        self._searches = Searches(run)
        self._told: dict[int, int] = {}  # digests of the values of points that were told with x, by digest of the point

    def __repr__(self) -> str:
        searches = self._searches
        state = "done" if self.done else f"wants {len(self._wanted)} points"
        out = f", {searches.out} points are out" if searches.out else ""
        return f"Optimizer: {searches.evaluations:,} of {searches.budget:,} evaluations, {state}{out}"

    def _repr_html_(self) -> str:
        """Return the search so far as HTML, for notebooks."""
        from .display.notebook import optimizer_html

        return optimizer_html(repr(self), None if self._searches.best is None else self.result)

    @property
    def done(self) -> bool:
        """Whether the budget is spent, the target reached, the method has converged, or every evaluation failed."""
        return self._searches.done

    @property
    def _wanted(self) -> np.ndarray:
        wanted = self._searches.wanted
        return np.empty((0, self._dimension)) if wanted is None else wanted

    @property
    def _dimension(self) -> int:
        return self._searches.task.dimension

    def ask(self, n: int | None = None) -> np.ndarray:
        """Return points (n, d) to evaluate.

        Without a number, these are the points that the search needs to go on, and the same ones until `tell` has their
        values. With a number, up to n points that were not returned before: none only where the budget allows no more
        than the points that are out.
        """
        if self.done:
            raise ValueError("the search is done; its result is in `result`")
        if n is None:
            self._searches.look()
            return self._wanted.copy()
        taken = self._searches.take(check_int("n", n, 1))
        return np.array([x for _, x in taken], float).reshape(-1, self._dimension)

    def tell(self, x: Any, f: Any = None, g: Any = None, h: Any = None) -> None:
        """Continue with the values of points: `tell(f, g, h)` or `tell(x, f, g, h)`.

        Without x, these are the values of all points from `ask()`, in their order: f (n,), g (n, n_ineq), h (n, n_eq),
        NaN for failures. With x, any points (k, d), or one point (d,) and a number for f:

        - points from `ask(n)`, in any order, some or all of them, at any time, also when the search is done;
        - points whose evaluation failed, with f = NaN, which count as failed evaluations;
        - points whose values were told before: the same values change nothing, different ones are an error;
        - points of your own, which are not counted. They may be the result. Those told before the first `ask` are in
          the first population; the next search that begins has the best eight of those told later, and one that is
          better than all before lets `ask(n)` begin it at once.

        If an error is raised, nothing of the call counts.
        """
        if not self._are_points(x, f):
            self._tell_all(x, f, g) if f is not None else self._tell_all(x, g, h)
            return
        points = reals(x, "x")
        if points.ndim == 1:
            f, g, h = [f], None if g is None else [g], None if h is None else [h]
            points = points[None]
        if points.ndim != 2 or points.shape[1] != self._dimension:
            shape = np.shape(x)
            raise ValueError(f"x must be one point ({self._dimension},) or rows (k, {self._dimension}); got {shape}")
        task = self._searches.task
        inside = np.all((points >= task.lower) & (points <= task.upper), axis=1)
        if not inside.all():
            row = int(np.argmin(inside))
            raise ValueError(f"x must lie inside the bounds; point {row} does not: {points[row]}")
        self._tell_points(points + 0.0, self._values(f, g, h, len(points)))

    def _are_points(self, x: Any, f: Any) -> bool:
        """Return whether the first argument of `tell` is points, and not the objectives of all points from `ask()`."""
        if f is None:
            return False
        shape = np.shape(x)
        return np.ndim(f) == 0 or (len(shape) == 2 and (shape[1] != 1 or self._dimension == 1))

    def _tell_all(self, f: Any, g: Any, h: Any) -> None:
        if self.done:
            raise ValueError("the search is done; nothing is wanted")
        self._searches.look()
        self._searches.supply(*self._values(f, g, h, len(self._wanted)))

    def _values(self, f: Any, g: Any, h: Any, n: int) -> FGH:
        """Return f (n,), g (n, p) and h (n, q); ValueError if they do not fit."""
        if np.shape(f)[:1] != (n,):
            raise ValueError(f"f of {n} points must have shape ({n},); got {np.shape(f)}")
        values = row_values((f, g, h), n)
        counts = (values[1].shape[1], values[2].shape[1])
        if counts == (0, 0) and np.isnan(values[0]).all():
            return values[0], np.full((n, self._counts[0]), np.nan), np.full((n, self._counts[1]), np.nan)
        if counts != self._counts:
            raise ValueError(f"expected {self._counts[0]} inequalities and {self._counts[1]} equalities; got {counts}")
        return values

    def _tell_points(self, x: np.ndarray, values: FGH) -> None:
        """Tell the values of points (k, d), once all of them are known to be possible."""
        rows = [(float(values[0][k]), values[1][k], values[2][k]) for k in range(len(x))]
        told, seen = dict(self._told), Counter[int]()
        for k, (point, row) in enumerate(zip(x, rows, strict=True)):
            name, value = _digest(point), _digest(*row)
            seen[name] += 1
            if told.get(name, value) != value and seen[name] > self._searches.awaited(point):
                raise ValueError(f"point {k} was told before with other values: {point}")
            told[name] = value
        for point, row in zip(x, rows, strict=True):
            number, name = self._searches.number_of(point), _digest(point)
            if number is not None:
                self._searches.answer(number, *row)
            elif name not in self._told:
                f, g, h = (np.asarray(part)[None] for part in row)
                self._searches.inject(evaluated(point[None], f, g, h, self._searches.tolerance))
            self._told[name] = _digest(*row)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the search as it is now to a file of plain numbers and text, in place of an older one of `save`.

        The file is written completely or not at all. It has all values passed to `tell` so far, also in the middle of
        a generation, and the points that are out, whose values the loaded search accepts. `ppsde.CheckpointError`
        if another file is there.
        """
        arrays = {"told": np.array(list(self._told.items()), np.uint64).reshape(-1, 2)}
        runs = described_searches(self._searches.snapshot(), arrays)
        state_file.refuse_foreign(Path(path), _KIND)
        state_file.write(Path(path), {"kind": _KIND, "counts": list(self._counts), **runs}, arrays)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, method: Any = None, options: dict[str, Any] | None = None
    ) -> Optimizer:
        """Return the search in a file of `save`; it asks for the same points next, and ends with the same bits.

        `ppsde.CheckpointError` if the file is damaged or was not written by `save`. Nothing in a file is executed: a
        method or a rule of your own is passed again, as `method` or as `options={"rule": ...}`.

        Examples
        --------
        >>> import tempfile
        >>> optimizer = Optimizer([(-5, 5)] * 2, max_evaluations=200, rng=1)
        >>> x = optimizer.ask()
        >>> optimizer.tell((x**2).sum(axis=1))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     optimizer.save(folder + "/search.ppsde")
        ...     again = Optimizer.load(folder + "/search.ppsde")
        >>> bool((again.ask() == optimizer.ask()).all())
        True
        """
        found = state_file.read(Path(path))
        content = found.content if isinstance(found.content, dict) else {}
        with state_file.naming(Path(path)):
            if content.get("kind") != _KIND:
                raise CheckpointError("it does not hold an Optimizer")
            counts = content.get("counts")
            if not isinstance(counts, list) or len(counts) != 2 or not all(type(n) is int and n >= 0 for n in counts):
                raise CheckpointError("it must contain the numbers of constraints")
            searches = restored_searches(content, found.arrays, method, options)
            if searches.best is not None and searches.counts != tuple(counts):
                raise CheckpointError(f"its points do not have {counts[0]} inequalities and {counts[1]} equalities")
            told = found.arrays.get("told", _NOTHING_TOLD if "searches" not in content else None)
            if told is None or told.dtype != np.uint64 or told.ndim != 2 or told.shape[1] != 2:
                raise CheckpointError("it must contain the digests of the points that were told")
        optimizer = cls.__new__(cls)
        optimizer._searches, optimizer._counts = searches, (counts[0], counts[1])
        optimizer._told = dict(told.tolist())
        return optimizer

    def __getstate__(self) -> dict[str, Any]:
        """Return the search as plain data, by which it can be copied and sent to other processes."""
        return {"counts": self._counts, "told": dict(self._told), "searches": self._searches.snapshot()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        snapshot = state["searches"]
        self._counts, self._told = state["counts"], state["told"]
        self._searches = Searches.restored(snapshot, [Run.restored(run) for run in snapshot.runs])

    @property
    def result(self) -> Result:
        """The result so far, as a `scipy.optimize.OptimizeResult`."""
        from .result import Result

        return Result.of(self._searches.ending(), Units(self._searches.tolerance))


def _digest(*parts: Any) -> int:
    """Return a number by which to recognise a point, or its values; two that are equal have the same."""
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update((np.asarray(part, float) + 0.0).tobytes())
    return int.from_bytes(digest.digest(), "little")


def _evaluated_by_the_caller(x: np.ndarray) -> float:
    raise TypeError("an Optimizer does not evaluate; `tell` gives it values")
