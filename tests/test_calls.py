"""How many calls in the library, in how many files, an evaluation takes: a cost that does not depend on the machine."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import ppsde

FOLDER = str(Path(ppsde.__file__).parent)
BOX = [(-5.0, 5.0)] * 10


def calls(search: Callable[[int], None], evaluations: int) -> Counter[str]:
    """Return the numbers of calls of Python functions of the library by file."""
    counts: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(FOLDER):
            counts[frame.f_code.co_filename] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        search(evaluations)
    finally:
        sys.setprofile(before)
    return counts


def of_further_generations(search: Callable[[int], None]) -> Counter[str]:
    """Return the calls by file that 4000 more evaluations take; what a run needs once is not among them."""
    search(100)  # imports
    fewer = calls(search, 4000)
    return calls(search, 8000) - fewer


def files_of_generations(search: Callable[[], object], file: str) -> list[set[str]]:
    """Return the files of the library in which functions are called from one generation of a method to the next."""
    found: list[set[str]] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(FOLDER):
            if code.co_name == "generation" and code.co_filename.endswith(file) and frame.f_lasti < 10:
                found.append(set())  # a generator's first call, not one that goes on
            if found:
                found[-1].add(code.co_filename)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        search()
    finally:
        sys.setprofile(before)
    return found[:-2]  # the result is made while the last ones are begun and not gone on with


def scalar(evaluations: int) -> None:
    ppsde.minimize(lambda x: (x[0], [1.0 - x[1]], []), BOX, method="pps-de", max_evaluations=evaluations, rng=1)


def vectorised(evaluations: int) -> None:
    def fun(x: Any) -> Any:
        return x[:, 0], 1.0 - x[:, 1:2], None

    ppsde.minimize(fun, BOX, method="pps-de", max_evaluations=evaluations, rng=1, vectorized=True)


def ask_and_tell(evaluations: int) -> None:
    optimizer = ppsde.Optimizer(BOX, method="pps-de", n_ineq=1, max_evaluations=evaluations, rng=1)
    while not optimizer.done:
        x = optimizer.ask()
        optimizer.tell(x[:, 0], g=1.0 - x[:, 1:2])


def test_a_scalar_evaluation_takes_at_most_six_calls_and_a_generation_at_most_eighteen_files() -> None:
    found = of_further_generations(scalar)
    assert 0 < found.total() <= 6 * 4000
    assert 0 < len(found) <= 18, sorted(found)


@pytest.mark.parametrize("constraint", [None, {"type": "ineq", "fun": lambda x: x[0] - 0.1}], ids=["none", "SciPy's"])
def test_a_generation_of_the_default_passes_at_most_eighteen_files(constraint: Any) -> None:
    """Where local searches have the budget alone; later, those with differential evolution pass more."""

    def search() -> None:
        box = [(-5.0, 5.0)] * 2
        ppsde.minimize(lambda x: float((x**2).sum()), box, constraints=constraint or (), max_evaluations=150, rng=1)

    found = files_of_generations(search, "pps_sqp.py")
    assert len(found) > 20 and max(map(len, found)) <= 18, sorted(max(found, key=len))


def test_ask_and_tell_take_at_most_a_fifth_more_calls_than_minimize_with_a_vectorised_function() -> None:
    assert 0 < of_further_generations(ask_and_tell).total() <= 1.2 * of_further_generations(vectorised).total()
