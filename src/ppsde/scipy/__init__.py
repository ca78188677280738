"""SciPy's `differential_evolution` done by the search of this library: changing one import is enough.

from ppsde.scipy import differential_evolution
"""

from .front import differential_evolution

__all__ = ["differential_evolution"]
