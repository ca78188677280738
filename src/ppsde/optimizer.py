"""`Optimizer`: a search by ask and tell, in which the caller evaluates the points."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .algorithms import DEFAULT
from .checkpoints import state_file
from .checkpoints.state_file import CheckpointError
from .checkpoints.state_tree import described, restored
from .engines.run import Run
from .population import TOLERANCE
from .problem import Problem, Units
from .request import Request
from .returned import row_values
from .streams import seed_from

if TYPE_CHECKING:
    from .result import Result

_KIND = "optimizer"  # written into the files of `save`


class Optimizer:
    """A search that asks for points and gets their values from the caller.

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
    """

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
        self._run = Request(
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

    def __repr__(self) -> str:
        run = self._run
        state = "done" if self.done else f"wants {len(run.wanted) if run.wanted is not None else 0} points"
        return f"Optimizer: {run.evaluations:,} of {run.task.max_evaluations:,} evaluations, {state}"

    def _repr_html_(self) -> str:
        """Return the search so far as HTML, for notebooks."""
        from .notebook import optimizer_html

        return optimizer_html(repr(self), None if self._run.best is None else self.result)

    @property
    def done(self) -> bool:
        """Whether the budget is spent, the target reached, the method has converged, or every evaluation failed."""
        return self._run.wanted is None

    def ask(self) -> np.ndarray:
        """Return the points (n, d) to evaluate next; the same ones until `tell` is called with their values."""
        if self._run.wanted is None:
            raise ValueError("the search is done; its result is in `result`")
        return self._run.wanted.copy()

    def tell(self, f: Any, g: Any = None, h: Any = None) -> None:
        """Continue with the values of the points from `ask`: f (n,), g (n, n_ineq), h (n, n_eq), NaN for failures."""
        if self._run.wanted is None:
            raise ValueError("the search is done; nothing is wanted")
        values = row_values((f, g, h), len(self._run.wanted))
        counts = (values[1].shape[1], values[2].shape[1])
        if counts != self._counts:
            raise ValueError(f"expected {self._counts[0]} inequalities and {self._counts[1]} equalities; got {counts}")
        self._run.supply(*values)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the search as it is now to a file of plain numbers and text, in place of an older one of `save`.

        The file is written completely or not at all. It has all values passed to `tell` so far, also in the middle of
        a generation. `ppsde.CheckpointError` if another file is there.
        """
        arrays: dict[str, np.ndarray] = {}
        run = described(self._run.snapshot(), arrays)
        state_file.refuse_foreign(Path(path), _KIND)
        state_file.write(Path(path), {"kind": _KIND, "counts": list(self._counts), **run}, arrays)

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
            run = restored(content, found.arrays, method, options)
            if run.best is not None and (run.best.g.shape[1], run.best.h.shape[1]) != tuple(counts):
                raise CheckpointError(f"its points do not have {counts[0]} inequalities and {counts[1]} equalities")
        optimizer = cls.__new__(cls)
        optimizer._run, optimizer._counts = run, (counts[0], counts[1])
        return optimizer

    def __getstate__(self) -> dict[str, Any]:
        """Return the search as plain data, by which it can be copied and sent to other processes."""
        return {"counts": self._counts, "run": self._run.snapshot()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._counts, self._run = state["counts"], Run.restored(state["run"])

    @property
    def result(self) -> Result:
        """The result so far, as a `scipy.optimize.OptimizeResult`."""
        from .result import Result

        return Result.of(self._run.ending(), Units(self._run.tolerance))


def _evaluated_by_the_caller(x: np.ndarray) -> float:
    raise TypeError("an Optimizer does not evaluate; `tell` gives it values")
