"""Studies: a plan of runs, a store of their results, and the runner between them."""

from .plan import Plan
from .runner import RunSummary, run
from .store import Store, StoredRun

__all__ = ["Plan", "RunSummary", "Store", "StoredRun", "run"]
