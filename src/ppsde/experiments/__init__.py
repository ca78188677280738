"""Studies: a plan of runs, a store of their results, and the runner between them."""

from .plan import Plan
from .runner import Summary, run
from .store import Result, Store

__all__ = ["Plan", "Result", "Store", "Summary", "run"]
