"""What is to be done about a point whose evaluation fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Policy:
    """`retries` more attempts at a point that failed; then it is left without values, or an error if `raises`."""

    retries: int = 0
    raises: bool = False


def policy_of(on_failure: Any) -> Policy:
    """The policy by its name: 'penalise', 'retry:n' or 'raise'.

    Examples
    --------
    >>> policy_of("retry:2")
    Policy(retries=2, raises=False)
    """
    if on_failure == "penalise":
        return Policy()
    if on_failure == "raise":
        return Policy(raises=True)
    if isinstance(on_failure, str) and on_failure.startswith("retry:"):
        count = on_failure.removeprefix("retry:")
        if count.isascii() and count.isdigit() and int(count) > 0:
            return Policy(retries=int(count))
    raise ValueError(f"on_failure must be 'penalise', 'raise' or 'retry:n' with n >= 1; got {on_failure!r}")
