"""Checks of what users pass: a wrong value is named, with what was expected."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ppsde.algorithms.pps_de import PPSDE
from ppsde.checks import check_int


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"repair": "bounce"}, "repair must be one of 'reflect', 'clamp', 'midpoint', 'resample'; got 'bounce'"),
        ({"K": 0.5}, "K must be one of 'F', 'random'; got 0.5"),
        ({"memory_size": 0}, "memory_size must be an int >= 1; got 0"),
        ({"memory_size": 2.5}, "memory_size must be an int >= 1; got 2.5"),
        ({"strategy_window": True}, "strategy_window must be an int >= 1; got True"),
        ({"population_size": 7}, "population_size must be an int >= 8; got 7"),
        ({"tau": 1.1}, "tau must be a number from 0 to 1; got 1.1"),
        ({"tau": float("nan")}, "tau must be a number from 0 to 1; got nan"),
        ({"alpha": "most"}, "alpha must be a number from 0 to 1; got 'most'"),
        ({"closes": True}, "closes must be a number from 0 to 1; got True"),
        ({"theta": -0.1}, "theta must be a number from 0 to 1; got -0.1"),
        ({"theta": 1.5}, "theta must be a number from 0 to 1; got 1.5"),
        ({"push_limit": 2}, "push_limit must be a number from 0 to 1; got 2"),
        ({"push_limit": None}, "push_limit must be a number from 0 to 1; got None"),
        ({"pull_length": -1.0}, "pull_length must be a number from 0 to 1; got -1.0"),
        ({"cp": -1.0}, "cp must be a number from 0 to 100; got -1.0"),
        ({"patience": -1}, "patience must be an int >= 0; got -1"),
        ({"patience": 2.0}, "patience must be an int >= 0; got 2.0"),
        ({"reseed": "seen"}, "reseed must be True or False; got 'seen'"),
        ({"reseed": 1}, "reseed must be True or False; got 1"),
        ({"current_to_rand_crossover": None}, "current_to_rand_crossover must be True or False; got None"),
        ({"schedule": "linear"}, "schedule must be one of 'quantile', 'improved', 'polynomial'; got 'linear'"),
        ({"pbest": 1}, "pbest must be an int >= 2; got 1"),
        ({"pbest": 1.5}, "pbest must be a number from 0 to 1; got 1.5"),
        ({"pbest": True}, "pbest must be an int >= 2; got True"),
    ],
)
def test_a_wrong_setting_is_named_with_what_was_expected(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        PPSDE(**options)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tau": 0},
        {"tau": 1.0},
        {"population_size": 8},
        {"pbest": 0.05},
        {"cp": 5},
        {"patience": 0},
        {"push_limit": 0, "pull_length": 1},
        {"theta": 0.0, "reseed": False},
    ],
)
def test_right_settings_pass(options: dict[str, Any]) -> None:
    settings = PPSDE(**options)
    assert all(getattr(settings, name) == value for name, value in options.items())


@pytest.mark.parametrize("value", [1, np.int64(1), np.uint8(200), 2**70])
def test_an_integer_comes_back_as_an_int(value: Any) -> None:
    checked = check_int("n", value, 1)
    assert checked == value and type(checked) is int


@pytest.mark.parametrize("value", [0, np.int64(0), True, np.True_, 1.0, "1", None, np.array([1])])
def test_anything_else_is_an_error_that_names_it(value: Any) -> None:
    with pytest.raises(ValueError) as caught:
        check_int("n", value, 1)
    assert str(caught.value) == f"n must be an int >= 1; got {value!r}"


def test_a_setting_must_be_an_int_of_python() -> None:
    with pytest.raises(ValueError, match="n must be an int >= 1; got "):
        check_int("n", np.int64(3), 1, numpy=False)
    with pytest.raises(ValueError, match="memory_size must be an int >= 1; got "):
        PPSDE(memory_size=np.int64(3))  # type: ignore[arg-type]
