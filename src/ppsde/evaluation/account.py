"""What the evaluations of a run have cost and shown so far, in plain values that a checkpoint can hold."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any


@dataclass(frozen=True)
class Account:
    """The figures of `Evaluate`, to be gone on from."""

    points: int = 0  # evaluated to the end
    calls: int = 0  # of the function
    seconds: float = 0.0  # of all evaluations together
    longest: float = 0.0  # of one
    counts: tuple[int, ...] | None = None  # of inequalities and equalities, once known
    seen: bool = False  # whether something in good form was returned
    hope: bool = False  # whether something that can be searched with was
    names: tuple[str, ...] | None = None  # of the constraints, where the function itself has them

    @classmethod
    def checked(cls, told: dict[str, Any]) -> Account:
        """The account of those figures, which may come from anywhere."""
        account = cls(**told)
        for name in ("points", "calls"):
            _expect(_is_count(getattr(account, name)), name, told)
        for name in ("seconds", "longest"):
            value = getattr(account, name)
            _expect(type(value) is float and 0 <= value < inf, name, told)
        for name in ("seen", "hope"):
            _expect(type(getattr(account, name)) is bool, name, told)
        counts, names = account.counts, account.names
        _expect(
            counts is None or (_is_tuple(counts) and len(counts) == 2 and all(map(_is_count, counts))), "counts", told
        )
        _expect(names is None or (_is_tuple(names) and all(type(name) is str for name in names)), "names", told)
        return account


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_tuple(value: Any) -> bool:
    return type(value) is tuple


def _expect(holds: bool, name: str, told: dict[str, Any]) -> None:
    if not holds:
        raise ValueError(f"{name} cannot be {ascii(told.get(name))[:80]}")
