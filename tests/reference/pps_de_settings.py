"""Every setting of PPS-DE at a value other than its default, small enough that a whole run takes forty generations."""

from __future__ import annotations

import dataclasses
import typing
from typing import Any

from ppsde.algorithms.pps_de import PPSDE

SMALL: dict[str, Any] = {
    "population_size": 20,
    "strategy_window": 5,
    "switch_window": 4,
    "switch_threshold": 0.1,
    "memory_size": 4,
    "tau": 0.3,
}

NUMBERS: dict[str, list[Any]] = {
    "population_size": [None, 8, 21],
    "memory_size": [1, 7],
    "pbest": [2, 100, 0.2],
    "strategy_window": [1, 9],
    "switch_window": [1, 7],
    "switch_threshold": [0.0],
    "switch_guard": [1.0],
    "switch_spread": [0.2],
    "theta": [0.5],
    "tau": [0.1],
    "alpha": [0.3],
    "cp": [4.0],
    "closes": [0.0, 0.5],
    "current_to_rand_crossover": [True],
}


COMPANY: dict[str, dict[str, Any]] = {"theta": {"schedule": "quantile"}}  # without which a setting has no effect


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


def named(options: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in options.items()) or "default"
