"""Ask and tell: the search without the evaluation."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from .algorithm import Task
from .algorithms import make
from .checkpoints import state_file
from .checkpoints.state_file import CheckpointError
from .checkpoints.state_tree import described, restored
from .engines.run import Run
from .evaluation.values import row_values
from .population import TOLERANCE, checked_tolerance
from .problem import box
from .streams import seed_from

EVALUATIONS_PER_VARIABLE = 20_000  # the budget of the CEC2017 competition, and the default
_KIND = "optimizer"  # what the files of `save` say they hold


class Optimizer:
    """A search that is told the values of the points it asks for.

    Parameters
    ----------
    bounds : scipy Bounds, pairs (low, high), or two arrays
    method : str
        One of `ppsde.ALGORITHMS`.
    n_ineq, n_eq : int
        How many inequalities g and equalities h each `tell` brings.
    max_evaluations : int, optional
        Met exactly; 20000 times the number of variables if not given.
    rng : None, int, SeedSequence or Generator
    x0 : array (d,) or (k, d), optional
        Points the first population must hold.

    Examples
    --------
    >>> import numpy as np
    >>> optimizer = Optimizer([(-5, 5)] * 2, n_ineq=1, max_evaluations=2000, rng=1)
    >>> while not optimizer.done:
    ...     x = optimizer.ask()
    ...     optimizer.tell((x**2).sum(axis=1), g=1 - x[:, :1])
    >>> print(round(optimizer.result.fun, 3), optimizer.result.feasible)
    1.0 True
    """

    def __init__(
        self,
        bounds: Any,
        *,
        method: str = "pps-de",
        n_ineq: int = 0,
        n_eq: int = 0,
        max_evaluations: int | None = None,
        rng: Any = None,
        x0: Any = None,
        tolerance: float = TOLERANCE,
        options: dict[str, Any] | None = None,
    ) -> None:
        for name, count in (("n_ineq", n_ineq), ("n_eq", n_eq)):
            if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
                raise ValueError(f"{name} must be an int >= 0; got {count!r}")
        lower, upper = box(bounds)
        self._counts = (int(n_ineq), int(n_eq))
        self._tolerance = checked_tolerance(tolerance)
        self._run = start_run(lower, upper, method, max_evaluations, rng, x0, self._tolerance, options)

    @property
    def done(self) -> bool:
        """Whether the budget is spent, or nothing but failures was told."""
        return self._run.wanted is None

    def ask(self) -> np.ndarray:
        """The points (n, d) to evaluate next. Asking again gives the same points until they are told."""
        if self._run.wanted is None:
            raise ValueError("the search is done; its result is in `result`")
        return self._run.wanted.copy()

    def tell(self, f: Any, g: Any = None, h: Any = None) -> None:
        """The values of the points asked for, in order: f (n,), g (n, n_ineq), h (n, n_eq); NaN where one failed."""
        if self._run.wanted is None:
            raise ValueError("the search is done; nothing is wanted")
        values = row_values((f, g, h), len(self._run.wanted))
        counts = (values[1].shape[1], values[2].shape[1])
        if counts != self._counts:
            raise ValueError(f"expected {self._counts[0]} inequalities and {self._counts[1]} equalities; got {counts}")
        self._run.supply(*values)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Put the search, as it is at this moment, into a file of plain numbers and text.

        The file is there whole or not at all. What was told is in it, also between two requests of one generation.
        """
        arrays: dict[str, np.ndarray] = {}
        run = described(self._run.snapshot(), arrays)
        state_file.write(Path(path), {"kind": _KIND, "counts": list(self._counts), **run}, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Optimizer:
        """The search that was saved: it asks for the same points next, and ends with the same bits.

        A file that is damaged or was not made by `save` is refused with `ppsde.CheckpointError`. Nothing in a file is
        ever executed.

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
                raise CheckpointError("it must say how many constraints there are")
            run = restored(content, found.arrays)
            if run.best is not None and (run.best.g.shape[1], run.best.h.shape[1]) != tuple(counts):
                raise CheckpointError(f"its points have not {counts[0]} inequalities and {counts[1]} equalities")
        optimizer = cls.__new__(cls)
        optimizer._run, optimizer._counts, optimizer._tolerance = run, (counts[0], counts[1]), run.tolerance
        return optimizer

    @property
    def result(self) -> Any:
        """What was found so far, as a `scipy.optimize.OptimizeResult`."""
        from .result import RUNNING, SPENT, result_of

        return result_of(self._run, None, SPENT if self.done else RUNNING, self._tolerance)


def start_run(
    lower: np.ndarray,
    upper: np.ndarray,
    method: str,
    max_evaluations: int | None,
    rng: Any,
    x0: Any,
    tolerance: float,
    options: dict[str, Any] | None,
) -> Run:
    """A run of the named method, every argument checked."""
    d = len(lower)
    budget = EVALUATIONS_PER_VARIABLE * d if max_evaluations is None else max_evaluations
    if isinstance(budget, bool) or not isinstance(budget, int | np.integer) or budget < 1:
        raise ValueError(f"max_evaluations must be an int >= 1; got {max_evaluations!r}")
    task = Task(lower, upper, int(budget), _first_points(x0, lower, upper))
    return Run(make(method, options), task, seed=seed_from(rng), tolerance=tolerance)


def _first_points(x0: Any, lower: np.ndarray, upper: np.ndarray) -> np.ndarray | None:
    if x0 is None:
        return None
    points = np.atleast_2d(np.array(x0, float))
    if points.ndim != 2 or points.shape[1] != len(lower):
        raise ValueError(f"x0 must be one point ({len(lower)},) or rows (k, {len(lower)}); got {np.shape(x0)}")
    if not np.all((points >= lower) & (points <= upper)):  # also false for NaN
        row = int(np.argmin(np.all((points >= lower) & (points <= upper), axis=1)))
        raise ValueError(f"x0 must lie inside the bounds; point {row} does not: {points[row]}")
    return points
