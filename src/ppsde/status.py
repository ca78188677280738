"""Why a run ended, as a number and in words."""

from __future__ import annotations

SPENT, INFEASIBLE, STOPPED, INTERRUPTED, FAILED, RUNNING, TIME_UP, ERROR = range(8)

STATUS = {
    SPENT: "the budget is spent and a feasible point was found",
    INFEASIBLE: "the budget is spent and no feasible point was found; x is the least violating one",
    STOPPED: "stopped by the callback",
    INTERRUPTED: "interrupted",
    FAILED: "every evaluation failed",
    RUNNING: "the run is not over",
    TIME_UP: "the time is up",
    ERROR: "stopped by an error",
}

LIMIT = {
    SPENT: "max_evaluations",
    INFEASIBLE: "max_evaluations",
    STOPPED: "callback",
    INTERRUPTED: "interrupt",
    FAILED: "failures",
    RUNNING: None,
    TIME_UP: "max_time",
    ERROR: "error",
}  # what kept the run from going on
