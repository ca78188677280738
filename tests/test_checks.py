"""Checks of what users pass: a wrong value is named, with what was expected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint

import ppsde
from ppsde.algorithms.pps_de import PPSDE
from ppsde.checks import check_int
from ppsde.evaluation.evaluate import Limits


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"repair": "bounce"}, "repair must be one of 'reflect', 'clamp', 'midpoint', 'resample'; got 'bounce'"),
        ({"K": 0.5}, "K must be one of 'F', 'random'; got 0.5"),
        ({"memory_size": 0}, "memory_size must be an int >= 1; got 0"),
        ({"memory_size": 2.5}, "memory_size must be an int >= 1; got 2.5"),
        ({"memory_size": None}, "memory_size must be an int >= 1; got None"),
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
        {"population_size": None},
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


@pytest.mark.parametrize("value", [0, np.int64(0), True, np.True_, 1.5, "1", None, np.array([1])])
def test_anything_else_is_an_error_that_names_it(value: Any) -> None:
    with pytest.raises(ValueError) as caught:
        check_int("n", value, 1)
    assert str(caught.value) == f"n must be an int >= 1; got {value!r}"


def test_a_setting_must_be_an_int_of_python() -> None:
    with pytest.raises(ValueError, match="n must be an int >= 1; got "):
        check_int("n", np.int64(3), 1, numpy=False)
    with pytest.raises(ValueError, match="memory_size must be an int >= 1; got "):
        PPSDE(memory_size=np.int64(3))  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [np.float32(0.5), np.float16(0.5), np.int64(1), np.uint8(1), 1])
@pytest.mark.parametrize("name", ["tolerance", "target", "tol", "max_time", "eval_timeout", "checkpoint_every"])
def test_a_number_of_numpy_is_a_number(name: str, value: Any, tmp_path: Path) -> None:
    stored = {"checkpoint": tmp_path / "run"} if name != "eval_timeout" else {}
    method = "pps-sqp" if name == "tol" else "pps-de"
    if name == "eval_timeout":  # no process is needed to check it
        assert type(Limits(eval_timeout=value).eval_timeout) is float
        return
    asked = {"max_evaluations": 8, "rng": 1, **stored, name: value}
    assert ppsde.minimize(lambda x: x[0], [(0, 1)], method=method, **asked).nfev <= 8


BEYOND = 10**400  # no float is so large


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"bounds": [(0, BEYOND)]}, "bounds must be numbers of at most"),
        ({"bounds": np.ma.array([[0.0, 1.0]], mask=[[False, True]])}, "bounds must be real numbers; got masked"),
        ({"x0": [BEYOND]}, "x0 must be numbers of at most"),
        ({"x0": [1j]}, "x0 must be real numbers; got complex"),
        ({"x0": np.ma.array([0.5], mask=[True])}, "x0 must be real numbers; got masked"),
        ({"x0": ["a"]}, "x0 must be real numbers"),
        ({"max_evaluations": 10**30}, "max_evaluations must be an int < "),
        ({"target": BEYOND}, "target must be a number"),
        ({"tol": BEYOND}, "tol must be a finite number"),
        ({"tolerance": BEYOND}, "tolerance must be a finite number"),
        ({"max_time": BEYOND}, "max_time must be a number of seconds"),
        ({"eval_timeout": BEYOND}, "eval_timeout must be a number of seconds"),
        ({"eval_memory": 2**70}, "eval_memory must be a number of bytes, an int from 1 to"),
        ({"checkpoint": "nowhere", "checkpoint_every": BEYOND}, "checkpoint_every must be a finite number"),
        ({"constraints": NonlinearConstraint(lambda x: x[0], np.inf, np.inf)}, "lb < inf"),
        ({"constraints": NonlinearConstraint(lambda x: x[0], -np.inf, -np.inf)}, "ub > -inf"),
        ({"constraints": LinearConstraint([[1.0]], np.inf, np.inf)}, "lb < inf"),
    ],
    ids=lambda value: ", ".join(value) if isinstance(value, dict) else "",
)
def test_no_number_that_cannot_be_used_ends_in_another_error_than_one_that_names_it(
    asked: dict[str, Any], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=words):
        ppsde.minimize(lambda x: x[0], **{"bounds": [(0, 1)], "max_evaluations": 20, **asked})
    assert not list(tmp_path.iterdir())


def test_a_map_that_returns_nothing_is_named() -> None:
    with pytest.raises(ppsde.EvaluationError, match="the map failed with TypeError"):
        ppsde.minimize(lambda x: x[0], [(0, 1)], max_evaluations=20, workers=lambda task, items: None)
