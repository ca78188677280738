"""SciPy's `differential_evolution`, by this library's search: changing one import is enough.

from ppsde.scipy import differential_evolution
"""

from .arguments import STRATEGIES, UPDATINGS
from .first_points import INITS, SMALLEST_POPULATION
from .front import differential_evolution
from .messages import BY_CALLBACK, CONVERGED, SPENT

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
