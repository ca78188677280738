"""The checks of the contract notice what they are there for, and need no algorithm of the table."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest
from compiled_programs import optimised
from stopping import Halving

import ppsde
from ppsde import testing
from ppsde.algorithm import Task
from ppsde.arrays import namespace
from ppsde.population import Population, better_rows
from ppsde.streams import Stream

SIZE = 10


@dataclass(frozen=True)
class State:
    population: Population
    generation: Any
    tried: Any  # how many trials there were so far


@dataclass(frozen=True)
class Steps:
    """Each point tries a random step, and takes it where that is better."""

    length: float = 0.1

    def start(self, task: Task, rng: Stream) -> Any:
        points = yield task.lower + rng.uniform(SIZE, task.dimension) * (task.upper - task.lower)
        return State(points, namespace(points.f).asarray(0), self.tried(namespace(points.f).asarray(0)))

    def generation(self, state: State, task: Task, rng: Stream) -> Any:
        xp, parents = namespace(state.population.f), state.population
        steps = self.reach() * rng.normal(SIZE, task.dimension)
        trials = yield xp.clip(parents.x + steps, task.lower, task.upper)
        generation = state.generation + 1
        return State(better_rows(parents, trials), generation, self.tried(generation))

    def reach(self) -> float:
        return self.length

    def tried(self, generation: Any) -> Any:
        return generation * SIZE

    def answer(self, state: State, kept: Population) -> Population:
        return kept

    def watch(self, state: State) -> dict[str, Any]:
        return {}


class Count(NamedTuple):
    """Not a dataclass, so nothing that a file of a run can hold."""

    number: Any


@dataclass(frozen=True)
class CountsInATuple(Steps):
    def tried(self, generation: Any) -> Any:
        return Count(generation * SIZE)


@dataclass(frozen=True)
class Forgetful(Steps):
    """Its steps grow with a count that is not in the state, so no file holds it."""

    made: ClassVar[count[int]] = count(1)

    def reach(self) -> float:
        return self.length * (1 + next(self.made) / 1000)


@dataclass(frozen=True)
class WrongInTheEnd(Steps):
    """With JAX it counts one trial too many in the last generation that the check makes."""

    def tried(self, generation: Any) -> Any:
        xp = namespace(generation)
        return generation * SIZE + (0 if xp is np else xp.where(generation == testing.GENERATIONS, 1, 0))


@dataclass(frozen=True)
class ConvergesRowByRow(Steps):
    def converged(self, state: State) -> Any:
        return state.population.f < self.length


@dataclass(frozen=True)
class ConvergesByANumber(Steps):
    def converged(self, state: State) -> Any:
        return state.tried


# Ten points that step at random are a poor search: they need not solve anything.
PASSED = [check for check in testing.CONTRACT if check is not testing.check_solves_easy_problems]


@pytest.mark.parametrize("check", PASSED, ids=lambda check: check.__name__)
def test_an_algorithm_without_a_name_passes_and_no_check_is_skipped(check: Any) -> None:
    if "jax" in check.__name__ or "compiled" in check.__name__:
        pytest.importorskip("jax")
    before = list(ppsde.ALGORITHMS)
    with optimised() if "compiled" in check.__name__ else nullcontext():
        check(Steps())
    assert list(ppsde.ALGORITHMS) == before, "the name it has during a check is removed"


def test_a_state_that_cannot_be_stored_fails_the_resume_check() -> None:
    with pytest.raises(AssertionError, match=r"the run cannot be stored: run\.state\.tried"):
        testing.check_a_resumed_run_equals_the_unbroken_one(CountsInATuple())


def test_a_count_outside_the_state_fails_the_resume_check() -> None:
    with pytest.raises(AssertionError, match=r"state\.population\.x differs"):
        testing.check_a_resumed_run_equals_the_unbroken_one(Forgetful())


def test_ask_and_tell_is_checked_without_a_name_and_the_table_is_as_before_also_when_it_fails() -> None:
    before = list(ppsde.ALGORITHMS)
    with pytest.raises(AssertionError):
        testing.check_ask_and_tell_equals_minimize(Forgetful())
    assert list(ppsde.ALGORITHMS) == before


def test_a_difference_in_the_last_state_alone_is_noticed() -> None:
    pytest.importorskip("jax")
    with pytest.raises(AssertionError, match=rf"state\.tried, generation {testing.GENERATIONS}"):
        testing.check_numpy_and_jax_agree_step_by_step(WrongInTheEnd())


def test_converged_must_be_a_single_bool_on_both_sides() -> None:
    pytest.importorskip("jax")
    for wrong in (ConvergesRowByRow(), ConvergesByANumber()):
        with pytest.raises(AssertionError, match="converged is not a single bool"):
            testing.check_numpy_and_jax_agree_step_by_step(wrong)
    testing.check_numpy_and_jax_agree_step_by_step(Halving())
