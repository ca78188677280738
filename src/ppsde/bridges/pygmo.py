"""`PygmoAlgorithm`: the methods of this library as a user-defined algorithm of pygmo."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..algorithms import DEFAULT, make
from ..checks import check_int, either
from ..population import Population, evaluated, join
from ..streams import seed_from
from .problems import OfPygmo, check_one_objective, parts_of_fitness, pygmo_tolerance, whole_or_real
from .search import Search


class PygmoAlgorithm:
    """A method of this library for `pygmo.algorithm`, alone or in an island; pygmo is not needed to make one.

    `evolve` begins with the best members of the population, whose values are known, and returns the best of these and
    of all that the search has in the end.

    Parameters
    ----------
    method : str
        One of `ppsde.ALGORITHMS`.
    max_evaluations : int
        Evaluations of each `evolve`, at most.
    options : mapping, optional
        Settings of the method, by name.
    rng, seed : None, int, SeedSequence or Generator
        Two words for one thing; `seed` is pygmo's. Each `evolve` draws other numbers; the same calls after the same
        seed have the same results.
    tol : float, optional
        How exact the result must be before the method may end the search; see `ppsde.minimize`.
    """

    def __init__(
        self,
        method: str = DEFAULT,
        *,
        max_evaluations: int = 1000,
        options: Mapping[str, Any] | None = None,
        rng: Any = None,
        seed: Any = None,
        tol: float | None = None,
    ) -> None:
        make(method, options)  # an error now, if there is one
        self._max_evaluations = check_int("max_evaluations", max_evaluations, 1)
        self._method, self._options, self._tol = method, options, tol
        self.set_seed(either(rng, seed))

    def evolve(self, population: Any) -> Any:
        """Search on the population's problem, and replace members by better points."""
        problem = population.problem
        name = str(problem.get_name())
        check_one_objective(problem.get_nobj(), name)
        lower, upper = (np.asarray(side, float) for side in problem.get_bounds())
        if not (np.isfinite(lower) & np.isfinite(upper)).all():
            raise ValueError(f"bounds must be finite numbers; those of {name} are not")
        integer = np.arange(len(lower)) >= len(lower) - problem.get_nix()
        variables = whole_or_real(lower, upper, integer)
        tolerance = pygmo_tolerance(problem)

        def points(x: np.ndarray, values: tuple[np.ndarray, np.ndarray, np.ndarray]) -> Population:
            return evaluated(x, *values, tolerance)

        known: Population | None = None
        if len(population):
            known = points(np.array(population.get_x()), parts_of_fitness(problem, np.array(population.get_f())))
        self._evolutions += 1
        search = Search(
            variables,
            method=self._method,
            options=self._options,
            max_evaluations=self._max_evaluations,
            seed=np.random.SeedSequence([self._seed, self._evolutions]),
            counts=(int(problem.get_nic()), int(problem.get_nec())),
            tolerance=tolerance,
            known=known,
            tol=self._tol,
        )
        fitness, best = OfPygmo(problem), known
        while not search.done:
            x = search.ask()
            values = fitness(x)
            search.tell(values)
            found = points(x, values)
            best = _best(found if best is None else join(best, found), max(1, len(population)))
        for k in range(len(population)):
            assert best is not None
            if best.valid[k]:
                population.set_xf(k, best.x[k], np.concatenate([best.f[k : k + 1], best.h[k], best.g[k]]))
        return population

    def set_seed(self, seed: Any) -> None:
        """Begin again with the numbers of this seed."""
        self._seed, self._evolutions = seed_from(seed), 0

    def get_name(self) -> str:
        return f"ppsde: {self._method}"

    def get_extra_info(self) -> str:
        settings = "".join(f", {name}={value!r}" for name, value in (self._options or {}).items())
        return f"\tmax_evaluations={self._max_evaluations}, seed={self._seed}{settings}"


def _best(points: Population, count: int) -> Population:
    """Return so many of the best points, no point twice."""
    _, first = np.unique(points.x, axis=0, return_index=True)
    distinct = points.take(np.sort(first))
    enough = distinct if distinct.size >= count else points
    return enough.sorted().take(slice(0, count))
