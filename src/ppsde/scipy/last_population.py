"""The population as SciPy shows it in a result."""

from __future__ import annotations

import numpy as np

from ..population import Population


def last_population(
    population: Population | None, x: np.ndarray, fun: float, feasible: bool
) -> dict[str, np.ndarray | None]:
    """Points and their energies, best first; the best point ever comes first, in the worst one's place if need be."""
    if population is None:
        return {"population": None, "population_energies": None}
    ordered = population.sorted()
    energies = np.where(ordered.feasible, ordered.f, np.inf)
    if np.isnan(x).any():  # nothing but failures
        return {"population": ordered.x, "population_energies": energies}
    same = np.flatnonzero((ordered.x == x).all(axis=1))
    others = np.delete(np.arange(ordered.size), same[0] if len(same) else -1)
    return {
        "population": np.concatenate([x[None], ordered.x[others]]),
        "population_energies": np.concatenate([[fun if feasible else np.inf], energies[others]]),
    }
