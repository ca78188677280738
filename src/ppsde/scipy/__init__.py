"""SciPy's `differential_evolution` done by the search of this library: changing one import is enough.

from ppsde.scipy import differential_evolution
"""

from .front import (
    BY_CALLBACK,
    CONVERGED,
    INITS,
    SMALLEST_POPULATION,
    SPENT,
    STRATEGIES,
    UPDATINGS,
    differential_evolution,
)

__all__ = [
    "BY_CALLBACK",
    "CONVERGED",
    "INITS",
    "SMALLEST_POPULATION",
    "SPENT",
    "STRATEGIES",
    "UPDATINGS",
    "differential_evolution",
]
