"""`Search`: ask and tell in the variables of another library; the one place where bridges touch `Optimizer`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..optimizer import Optimizer
from ..population import Population
from ..problem import FGH
from ..problem.variables import Variables

MOST_KNOWN = 8  # points that are known before a search: every method's first population has room for so many


class Search:
    """A search that asks for points of the user's variables and then gets their values.

    Either for all points (n, d) that the method wants together, `ask` and `tell`, or one by one, `take` and `answer`.

    Parameters
    ----------
    variables : Variables
        Bounds, and which variables are integers or searched in their logarithm.
    known : Population, optional
        Points whose values are known already, in the user's variables; the best of them are used.
    """

    def __init__(
        self,
        variables: Variables,
        *,
        method: str,
        options: Mapping[str, Any] | None,
        max_evaluations: int | None,
        seed: Any,
        counts: tuple[int, int],
        tolerance: float,
        known: Population | None = None,
        tol: float | None = None,
    ) -> None:
        self._variables = variables
        x0, values = None, None
        if known is not None and known.valid.any():
            best = known.take(known.valid).sorted().take(slice(0, MOST_KNOWN))
            x0, values = variables.to_search(best.x), (best.f, best.g, best.h)
        self._optimizer = Optimizer(
            variables.box,
            method=method,
            n_ineq=counts[0],
            n_eq=counts[1],
            max_evaluations=max_evaluations,
            rng=seed,
            x0=x0,
            x0_values=values,
            tolerance=tolerance,
            options=None if options is None else dict(options),
            tol=tol,
        )

    @property
    def done(self) -> bool:
        """Whether the search wants no more values."""
        return self._optimizer.done

    def ask(self) -> np.ndarray:
        """Return the points (n, d) to evaluate next."""
        points: np.ndarray = self._variables.to_user(self._optimizer.ask())
        return points

    def tell(self, values: FGH) -> None:
        """Continue with the values f (n,), g (n, p) and h (n, q) of these points; NaN where an evaluation failed."""
        self._optimizer.tell(*values)

    def take(self) -> np.ndarray | None:
        """Return one more point (d,) to evaluate, in the variables of the search; None if the budget allows none."""
        points = np.empty((0, 0)) if self.done else self._optimizer.ask(1)
        return points[0] if len(points) else None

    def to_user(self, x: np.ndarray) -> np.ndarray:
        """Return a point (d,) of the search in the user's variables."""
        point: np.ndarray = self._variables.to_user(x[None])[0]
        return point

    def to_search(self, x: np.ndarray) -> np.ndarray:
        """Return a point (d,) of the user's in the variables of the search."""
        point: np.ndarray = self._variables.to_search(x[None])[0]
        return point

    def answer(self, x: np.ndarray, f: float, g: np.ndarray) -> None:
        """Continue with the values f and g (p,) of a point (d,) of the search, f = NaN if its evaluation failed."""
        self._optimizer.tell(x, f, g if np.isfinite(f) else None, None)
