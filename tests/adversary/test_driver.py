"""Random problems, methods and options: budgets hold, points are inside, and the result is the best that was seen."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from adversary.driver import WAYS, Case, all_findings, can, findings, found_otherwise, found_resumed, way_of

import ppsde

SAMPLE = 40  # cases in every test run
BLOCKS, BLOCK = 10, 500  # cases of the slow tests


@pytest.mark.parametrize("number", range(SAMPLE))
def test_a_random_case_has_nothing_wrong(number: int) -> None:
    assert findings(Case(number)) == []


def test_the_driver_notices_a_method_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(0)
    case.objective, case.constraint, case.vectorized = "sphere", "none", False
    original = case.fun

    def cheats(x):  # the value is not the one that was noted
        return original(x) - 1.0

    monkeypatch.setattr(case, "fun", cheats)
    assert any("is not the value at x" in words for words in findings(case))


@pytest.mark.parametrize("way", ["threads", "map", "processes"])
def test_another_way_to_evaluate_ends_in_the_same_bits(way: str) -> None:
    if not can(way):
        pytest.skip(f"{way} need another package")
    assert found_otherwise(3, way) == []


def test_a_difference_between_two_ways_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    solve = Case.fun
    monkeypatch.setattr(
        Case, "fun", lambda case, x: solve(case, x) if threading.current_thread() is threading.main_thread() else 7.0
    )
    number = next(k for k in range(1000) if (case := Case(k)).objective == "sphere" and case.constraint == "none")
    assert found_otherwise(number, "threads")


KILLED = [number for number in range(200) if way_of(number) == "resumed"][:8]


@pytest.mark.parametrize("number", KILLED)
def test_a_case_that_is_killed_and_resumed_ends_in_the_same_bits(number: int) -> None:
    assert found_resumed(number) == []


def test_a_resumed_run_that_makes_a_call_again_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_journal(path: Path, fun: Callable[[np.ndarray], object]) -> ppsde.Result:
        Path(f"{path}.journal").unlink(missing_ok=True)
        return resume(path, fun)

    resume = ppsde.resume
    monkeypatch.setattr(ppsde, "resume", without_journal)
    found = [words for number in KILLED for words in found_resumed(number)]
    assert found and all("calls were made" in words for words in found)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_cases_of_every_way_have_nothing_wrong(way: str) -> None:
    if not can(way):
        pytest.skip(f"{way} needs another package")
    numbers = [number for number in range(20_000) if way_of(number) == way][:10]
    assert {number: words for number in numbers if (words := all_findings(number)[0])} == {}


@pytest.mark.slow
@pytest.mark.parametrize("block", range(BLOCKS))
def test_thousands_of_random_cases_have_nothing_wrong(block: int) -> None:
    first = SAMPLE + block * BLOCK
    found = {number: findings(Case(number)) for number in range(first, first + BLOCK)}
    assert {number: words for number, words in found.items() if words} == {}
