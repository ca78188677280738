"""Problems and algorithms for pymoo and pygmo, both ways, and a sampler for Optuna; each imported only when used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .problems import PygmoProblem, from_pygmo, from_pymoo, needed, to_pygmo, to_pymoo
from .pygmo import PygmoAlgorithm

if TYPE_CHECKING:
    from .optuna import OptunaSampler
    from .pymoo import PymooAlgorithm

__all__ = [
    "OptunaSampler",
    "PygmoAlgorithm",
    "PygmoProblem",
    "PymooAlgorithm",
    "from_pygmo",
    "from_pymoo",
    "to_pygmo",
    "to_pymoo",
]


def __getattr__(name: str) -> Any:
    """Import the classes whose bases are classes of other libraries when they are first used."""
    if name == "PymooAlgorithm":
        needed("pymoo", name)
        from .pymoo import PymooAlgorithm

        return PymooAlgorithm
    if name == "OptunaSampler":
        needed("optuna", name)
        from .optuna import OptunaSampler

        return OptunaSampler
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
