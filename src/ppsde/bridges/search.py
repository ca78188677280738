"""`Search`: ask and tell in the variables of another library; the one place where bridges touch `Optimizer`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..optimizer import Optimizer
from ..population import Population
from ..problem import FGH
from ..variables import Variables

MOST_KNOWN = 8  # points that are known before a search: every method's first population has room for so many


class Search:
    """A search that asks for points (n, d) of the user's variables and then gets their values.

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
