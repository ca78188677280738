"""Every setting of PPS-DE at a value other than its default, small enough that a short run holds several cycles."""

from __future__ import annotations

import dataclasses
import typing
from typing import Any

from ppsde.algorithms.pps_de import PPSDE

# Sizes and windows alone: what else distinguishes the default from the literal reading stays as it is.
SMALL: dict[str, Any] = {
    "population_size": 12,
    "strategy_window": 4,
    "switch_window": 4,
    "switch_threshold": 0.1,
    "memory_size": 4,
}
RESTLESS: dict[str, Any] = {**SMALL, "patience": 3, "pull_length": 0.08}  # several cycles

NUMBERS: dict[str, list[Any]] = {
    "population_size": [None, 8, 13],
    "memory_size": [1, 7],
    "pbest": [2, 100, 0.3],
    "strategy_window": [1, 9],
    "switch_window": [1, 7],
    "switch_threshold": [0.4],
    "switch_guard": [1.0],
    "push_limit": [0.0, 0.05, 1.0],
    "push_growth": [0.0, 0.2],
    "theta": [0.0, 0.5, 1.0],
    "tau": [0.3],
    "alpha": [0.0, 0.1],
    "cp": [0.0, 4.0],
    "closes": [0.0, 0.5],
    "pull_length": [0.0, 0.2, 1.0],
    "patience": [0, 1],
    "reseed": [False],
    "rescue": [0.97, 1.0],
    "current_to_rand_crossover": [True],
}

# Without which a setting has no effect.
LONG_PUSH: dict[str, Any] = {"push_growth": 0.0}  # else these short runs stop pushing before anything stagnates
COMPANY: dict[str, dict[str, Any]] = {
    "tau": {"schedule": "improved"},
    "alpha": {"schedule": "improved"},
    "switch_window": LONG_PUSH,
    "switch_threshold": LONG_PUSH,
    "switch_guard": LONG_PUSH,
    "closes": LONG_PUSH,
}


def alternatives() -> list[dict[str, Any]]:
    """One dict of options per alternative value; the choices of a `Literal` are found, numbers stand above."""
    hints = typing.get_type_hints(PPSDE)
    found = []
    for field in dataclasses.fields(PPSDE):
        if typing.get_origin(hints[field.name]) is typing.Literal:
            values: Any = [value for value in typing.get_args(hints[field.name]) if value != field.default]
        else:
            values = NUMBERS.get(field.name, [])
        found += [{field.name: value, **COMPANY.get(field.name, {})} for value in values]
    return found


def company_of(options: dict[str, Any]) -> dict[str, Any]:
    """What an alternative is compared with to see whether its setting matters."""
    return COMPANY.get(next(iter(options)), {})
