"""One source, two array namespaces: PPS-DE takes the same steps with NumPy and traced by JAX, alone and in a batch."""

from __future__ import annotations

import dataclasses
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pytest
from reference.pps_de_settings import alternatives

from ppsde.algorithm import Coroutine, Task
from ppsde.algorithms.pps_de import PPSDE, PUBLISHED
from ppsde.population import TOLERANCE, Population, evaluated
from ppsde.streams import NumpyStream, Tape

jax = pytest.importorskip("jax")

# Small, with short windows and little patience, so that twenty generations see several cycles.
TINY: dict[str, Any] = {
    "population_size": 11,
    "strategy_window": 2,
    "switch_window": 2,
    "memory_size": 3,
    "switch_threshold": 0.5,
    "pull_length": 0.1,
    "patience": 1,
}
AS_PUBLISHED = dataclasses.replace(PUBLISHED, **{**TINY, "pull_length": 0.0, "patience": 0})
GENERATIONS = 20
LOWER, UPPER = np.array([-2.0, -1.0, 0.0]), np.array([2.0, 3.0, 1.5])

# Both compute in double precision; matrix products, tan and arctan differ in the last bits, and gains are differences.
CLOSE: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-11}


def double_precision() -> AbstractContextManager[Any]:
    if hasattr(jax, "enable_x64"):
        context: AbstractContextManager[Any] = jax.enable_x64(True)
        return context
    from jax.experimental import enable_x64  # type: ignore[attr-defined]

    older: AbstractContextManager[Any] = enable_x64()
    return older


def values(x: Any, xp: Any) -> Population:
    """An objective with a part of the box where it fails, an inequality and an equality; in either namespace."""
    f = 1.0 + xp.sum((x - 0.3) ** 2, axis=1)
    f = xp.where(x[:, 0] > 1.6, np.nan, f)
    g = (1.0 - x[:, 0] - x[:, 1] - 0.2 * x[:, 2])[:, None]
    h = (0.3 * x[:, 0] + x[:, 1] * x[:, 2] - 0.4)[:, None]
    return evaluated(x, f, g, h, TOLERANCE)


def driven(coroutine: Coroutine, xp: Any) -> Any:
    """The state that a coroutine ends with."""
    request = next(coroutine)
    while True:
        with np.errstate(all="ignore"):  # points without values are infinite, and so are differences of them
            try:
                request = coroutine.send(values(request, xp))
            except StopIteration as end:
                return end.value


def leaves(state: Any) -> list[Any]:
    """The arrays of a state, in the order of its fields."""
    if state is None:
        return []
    if not dataclasses.is_dataclass(state):
        return [state]
    return [leaf for field in dataclasses.fields(state) for leaf in leaves(getattr(state, field.name))]


def rebuilt(like: Any, arrays: list[Any]) -> Any:
    """A state of the same kind with other arrays; uses up `arrays` from the front."""
    if like is None:
        return None
    if not dataclasses.is_dataclass(like):
        return arrays.pop(0)
    fields = {field.name: rebuilt(getattr(like, field.name), arrays) for field in dataclasses.fields(like)}
    return dataclasses.replace(like, **fields)  # type: ignore[type-var]


def assert_same(numpy_state: Any, jax_leaves: list[Any], where: str) -> None:
    expected = leaves(numpy_state)
    assert len(expected) == len(jax_leaves)
    for ours, theirs in zip(expected, jax_leaves, strict=True):
        theirs = np.asarray(theirs)
        assert np.asarray(ours).shape == theirs.shape
        if np.asarray(ours).dtype.kind in "bi":
            np.testing.assert_array_equal(ours, theirs, err_msg=where)
        else:
            assert theirs.dtype == np.float64
            np.testing.assert_allclose(ours, theirs, **CLOSE, err_msg=where)


@dataclasses.dataclass
class Step:
    """A step of the NumPy version: the state before, the draws, the state after."""

    name: str
    before: Any
    draws: list[np.ndarray]
    after: Any


def walk(settings: PPSDE) -> tuple[list[Step], int]:
    """The start and some generations with NumPy, and the budget that they were told of."""
    n = settings.population_size or max(5 * len(LOWER), 40)
    budget = n + GENERATIONS * (n + 2 * ((n + 1) // 2))
    task = Task(LOWER, UPPER, budget)
    tape = Tape.record(NumpyStream(5, 0, 0))
    state = driven(settings.start(task, tape), np)
    steps = [Step("start", None, tape.draws, state)]
    for generation in range(1, GENERATIONS + 1):
        tape = Tape.record(NumpyStream(5, 0, generation))
        after = driven(settings.generation(state, task, tape), np)
        steps.append(Step(f"generation {generation}", state, tape.draws, after))
        state = after
    return steps, budget


def jax_task(budget: int) -> Task:
    return Task(jax.numpy.asarray(LOWER), jax.numpy.asarray(UPPER), budget)


def jax_generation(settings: PPSDE, like: Any, before: list[Any], draws: list[Any], task: Task) -> list[Any]:
    state = rebuilt(like, list(before))
    return leaves(driven(settings.generation(state, task, Tape(draws, jax.numpy.asarray)), jax.numpy))


def in_jax(state: Any) -> list[Any]:
    return [jax.numpy.asarray(leaf) for leaf in leaves(state)]


def mixtures() -> list[dict[str, Any]]:
    """Few settings that together hold every value of every setting, since each costs a compilation."""
    values: dict[str, list[Any]] = {}
    for options in alternatives():
        name = next(iter(options))
        values.setdefault(name, [TINY.get(name, getattr(PPSDE(), name))]).append(options[name])
    count = max(len(choices) for choices in values.values())
    return [{name: choices[k % len(choices)] for name, choices in values.items()} for k in range(count)]


MIXTURES = mixtures()  # the first of which has only defaults
SETTINGS = {
    "default": PPSDE(**TINY),
    "as published": AS_PUBLISHED,
    **{f"mixture {k}": PPSDE(**{**TINY, **options}) for k, options in enumerate(MIXTURES[1:], start=1)},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_every_generation_agrees_in_a_batch_of_runs_at_different_points(name: str) -> None:
    """All steps at once: some runs of the batch push, some pull, some begin anew."""
    settings = SETTINGS[name]
    steps, budget = walk(settings)
    with double_precision():
        task = jax_task(budget)
        like = rebuilt(steps[0].after, in_jax(steps[0].after))
        batch = jax.jit(jax.vmap(lambda before, draws: jax_generation(settings, like, before, draws, task)))
        states = [jax.numpy.stack(column) for column in zip(*(in_jax(step.before) for step in steps[1:]), strict=True)]
        draws = [np.stack(column) for column in zip(*(step.draws for step in steps[1:]), strict=True)]
        after = [np.asarray(leaf) for leaf in batch(states, draws)]
    for row, step in enumerate(steps[1:]):
        assert_same(step.after, [leaf[row] for leaf in after], step.name)


def test_the_start_and_every_generation_agree_alone() -> None:
    settings = SETTINGS["default"]
    steps, budget = walk(settings)
    with double_precision():
        task = jax_task(budget)
        like = rebuilt(steps[0].after, in_jax(steps[0].after))
        start = jax.jit(lambda draws: leaves(driven(settings.start(task, Tape(draws, jax.numpy.asarray)), jax.numpy)))
        assert_same(steps[0].after, start(steps[0].draws), "start")
        traced = jax.jit(lambda before, draws: jax_generation(settings, like, before, draws, task))
        for step in steps[1:]:
            assert_same(step.after, traced(in_jax(step.before), step.draws), step.name)


def test_the_compared_steps_see_cycles_of_push_and_pull_and_failures() -> None:
    steps, _ = walk(SETTINGS["default"])
    states = [step.after for step in steps]
    assert states[-1].cycle.number >= 2
    for cycle in range(2):
        pulls = [bool(state.stage.pull) for state in states if state.cycle.number == cycle]
        assert not pulls[0] and pulls[-1], "from push to pull, in the second cycle with points seen before"
        assert any(state.stage.epsilon > 0 for state in states if state.cycle.number == cycle)
    assert not states[0].population.valid.all()


def test_the_published_steps_see_push_and_pull_in_one_cycle() -> None:
    steps, _ = walk(AS_PUBLISHED)
    assert all(step.after.cycle.number == 0 for step in steps)
    assert {bool(step.after.stage.pull) for step in steps} == {False, True}
    assert any(step.after.stage.epsilon > 0 for step in steps)


def test_the_mixtures_hold_every_alternative() -> None:
    assert PPSDE(**{**TINY, **MIXTURES[0]}) == SETTINGS["default"]
    for options in alternatives():
        name = next(iter(options))
        assert any(mixture[name] == options[name] for mixture in MIXTURES)
