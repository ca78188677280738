"""Arguments checked one by one: a wrong one is a clear error before anything is evaluated."""

from __future__ import annotations

from typing import Any

import numpy as np

STRATEGIES = tuple(
    base + crossing
    for crossing in ("bin", "exp")
    for base in ("best1", "rand1", "randtobest1", "currenttobest1", "best2", "rand2")
)
UPDATINGS = ("immediate", "deferred")


def check_without_effect(strategy: Any, mutation: Any, recombination: Any, updating: Any) -> None:
    """What steers SciPy's search but not this one must still be what SciPy takes."""
    if not callable(strategy) and strategy not in STRATEGIES:
        raise ValueError(f"strategy must be a callable or one of {', '.join(STRATEGIES)}; got {strategy!r}")
    factors = np.atleast_1d(np.asarray(mutation, float))
    if factors.size > 2 or not np.all((factors >= 0) & (factors < 2)):
        raise ValueError(f"mutation must be a number in [0, 2) or a pair of these; got {mutation!r}")
    if not isinstance(recombination, int | float | np.number) or not 0 <= recombination <= 1:
        raise ValueError(f"recombination must be a number in [0, 1]; got {recombination!r}")
    if updating not in UPDATINGS:
        raise ValueError(f"updating must be 'immediate' or 'deferred'; got {updating!r}")


def seed_of(rng: Any, seed: Any) -> Any:
    """What `minimize` takes as `rng`, from either name of it here."""
    if rng is not None and seed is not None:
        raise TypeError("differential_evolution() got multiple values for argument 'rng': seed is the same")
    source = seed if rng is None else rng
    if isinstance(source, np.random.RandomState):
        return int(source.randint(2**31))
    return int(source) if isinstance(source, np.integer) else source


def count(value: Any, smallest: int, name: str) -> int:
    """The value, if it is an int of at least the smallest."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < smallest:
        raise ValueError(f"{name} must be an int >= {smallest}; got {value!r}")
    return int(value)


def at_least_0(value: Any, name: str) -> float:
    """The value, if it is a finite number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 <= value < np.inf:
        raise ValueError(f"{name} must be a number >= 0; got {value!r}")
    return float(value)
