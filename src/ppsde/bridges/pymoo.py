"""`PymooAlgorithm`: the methods of this library as an algorithm of pymoo."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from pymoo.core.algorithm import Algorithm
from pymoo.core.population import Population
from pymoo.util.display.single import SingleObjectiveOutput

from ..algorithms import DEFAULT, make
from ..checks import check_int
from ..population import TOLERANCE
from .problems import space_of
from .search import Search


class PymooAlgorithm(Algorithm):
    """A method of this library for `pymoo.optimize.minimize`, with pymoo's termination, callback and history.

    Each iteration evaluates the points that the method asks for together. The run also ends when the method's budget is
    spent or it has converged.

    Parameters
    ----------
    method : str
        One of `ppsde.ALGORITHMS`.
    options : mapping, optional
        Settings of the method, by name.
    max_evaluations : int, optional
        The budget by which the method plans its search. By default that of pymoo's termination, if that is
        `("n_eval", n)`, else 20000 times the number of variables.
    tolerance : float
        An equality holds if `abs(h) <= tolerance`; pymoo's own is also 1e-4.
    tol : float, optional
        How exact the result must be before the method may end the run; see `ppsde.minimize`.
    more
        Further arguments of `pymoo.core.algorithm.Algorithm`.
    """

    def __init__(
        self,
        method: str = DEFAULT,
        *,
        options: Mapping[str, Any] | None = None,
        max_evaluations: int | None = None,
        tolerance: float = TOLERANCE,
        tol: float | None = None,
        output: Any = None,
        **more: Any,
    ) -> None:
        make(method, options)  # an error now, if there is one
        super().__init__(output=SingleObjectiveOutput() if output is None else output, **more)
        self._settings: dict[str, Any] = {"method": method, "options": options, "tolerance": tolerance, "tol": tol}
        self._max_evaluations = None if max_evaluations is None else check_int("max_evaluations", max_evaluations, 1)

    def _setup(self, problem: Any, **kwargs: Any) -> None:
        self._space = space_of(problem)
        budget = self._max_evaluations
        if budget is None:
            planned = getattr(self.termination, "n_max_evals", None)
            budget = int(planned) if planned is not None and np.isfinite(planned) else None
        self._search = Search(
            self._space.variables,
            max_evaluations=budget,
            seed=self.random_state,
            counts=(int(problem.n_ieq_constr), int(problem.n_eq_constr)),
            **self._settings,
        )

    def _initialize_infill(self) -> Any:
        return self._infill()

    def _infill(self) -> Any:
        return Population.new("X", self._space.convert(self._search.ask()))

    def _initialize_advance(self, infills: Any = None, **kwargs: Any) -> None:
        self._advance(infills)

    def _advance(self, infills: Any = None, **kwargs: Any) -> None:
        f, g, h = infills.get("F")[:, 0], infills.get("G"), infills.get("H")
        n = len(infills)
        self._search.tell((f, g.reshape(n, -1), h.reshape(n, -1)))
        usable = infills[np.isfinite(np.column_stack([f, g.reshape(n, -1), h.reshape(n, -1)])).all(axis=1)]
        self.pop = usable if self.opt is None else Population.merge(self.opt, usable)
        if self._search.done:
            self.termination.terminate()
