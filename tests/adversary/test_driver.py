"""Random problems, methods and options: budgets hold, points are inside, and the result is the best that was seen."""

from __future__ import annotations

import pytest
from adversary.driver import Case, findings

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


@pytest.mark.slow
@pytest.mark.parametrize("block", range(BLOCKS))
def test_thousands_of_random_cases_have_nothing_wrong(block: int) -> None:
    first = SAMPLE + block * BLOCK
    found = {number: findings(Case(number)) for number in range(first, first + BLOCK)}
    assert {number: words for number, words in found.items() if words} == {}
