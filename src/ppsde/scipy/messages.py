"""What a result says of how the run ended, in SciPy's words where it has some."""

from __future__ import annotations

from ..status import STOPPED

CONVERGED = "Optimization terminated successfully."
SPENT = "Maximum number of iterations has been exceeded."
BY_CALLBACK = "callback function requested stop early"


def message_of(status: int, message: str, converged: bool) -> str:
    """The message for a run that ended with this status and message of `minimize`."""
    if status > STOPPED:  # interrupted, or nothing but failures
        return message
    if converged:
        return CONVERGED
    return BY_CALLBACK if status == STOPPED else SPENT
