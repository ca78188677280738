"""The contract every algorithm must keep, as checks that anyone can run on an algorithm of their own.

Each check takes an algorithm (its settings, as in `ppsde.ALGORITHMS`) and raises AssertionError where it breaks the
contract. With pytest:

    @pytest.mark.parametrize("check", ppsde.testing.CONTRACT, ids=lambda check: check.__name__)
    def test_mine_keeps_the_contract(check):
        check(MyAlgorithm())
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from itertools import pairwise
from typing import Any
from unittest import SkipTest

import numpy as np

from .algorithm import Algorithm, Ask, Task
from .arrays import bits
from .engines.run import Run
from .parts.rules import Fixed
from .population import TOLERANCE, Population, choose, evaluated, forgotten
from .problem import Problem
from .streams import NumpyStream, Tape

DIMENSION = 4
LOWER, UPPER = np.full(DIMENSION, -3.0), np.full(DIMENSION, 5.0)
Values = tuple[np.ndarray, np.ndarray, np.ndarray]


def _none(x: Any) -> Any:
    return x[:, :0]


def unconstrained(x: Any) -> Any:
    return ((x - 0.5) ** 2).sum(axis=1), _none(x), _none(x)


def inequalities(x: Any) -> Any:
    """The sum of squares outside a ball: the unconstrained optimum is infeasible."""
    return (x**2).sum(axis=1), 1.0 - ((x - 0.3) ** 2).sum(axis=1, keepdims=True), _none(x)


def equalities(x: Any) -> Any:
    return ((x - 1.0) ** 2).sum(axis=1), _none(x), x.sum(axis=1, keepdims=True) - 1.0


PROBLEMS: dict[str, Callable[[Any], Any]] = {
    "unconstrained": unconstrained,
    "inequalities": inequalities,
    "equalities": equalities,
}


def _task(budget: int) -> Task:
    return Task(LOWER, UPPER, budget)


def _run(algorithm: Algorithm, budget: int, seed: int = 1) -> Run:
    return Run(algorithm, _task(budget), seed=seed, tolerance=TOLERANCE)


def _points(run: Run) -> np.ndarray:
    assert run.state is not None
    x: np.ndarray = run.state.population.x
    return x


def _finish(run: Run, values: Callable[[np.ndarray], Values]) -> Run:
    while run.wanted is not None:
        run.supply(*values(run.wanted))
    return run


def _leaves(tree: Any, path: str = "state") -> Iterator[tuple[str, Any]]:
    if is_dataclass(tree):
        for field in fields(tree):
            yield from _leaves(getattr(tree, field.name), f"{path}.{field.name}")
    else:
        yield path, tree


def _pairs(first: Any, second: Any) -> Iterator[tuple[tuple[str, Any], tuple[str, Any]]]:
    """The leaves of two like trees, side by side."""
    return zip(_leaves(first), _leaves(second), strict=True)


def _assert_same_bits(first: Any, second: Any) -> None:
    for (path, a), (_, b) in _pairs(first, second):
        assert bits(a) == bits(b), f"{path} differs: {a} and {b}"


def check_stays_in_the_box(algorithm: Algorithm) -> None:
    for name, values in PROBLEMS.items():
        run = _run(algorithm, 2000)
        while run.wanted is not None:
            x = run.wanted
            assert np.all((x >= LOWER) & (x <= UPPER)), f"{name}: asked for a point outside the box"
            run.supply(*values(x))


def check_meets_the_budget_exactly(algorithm: Algorithm) -> None:
    for budget in (1, 2, 7, 19, 20, 21, 333, 1000):
        counted = 0

        def count(x: np.ndarray) -> Values:
            nonlocal counted
            counted += len(x)
            return inequalities(x)

        run = _finish(_run(algorithm, budget), count)
        assert counted == run.evaluations == budget, f"{counted} evaluations of a budget of {budget}"


def check_same_seed_gives_the_same_bits(algorithm: Algorithm) -> None:
    first, again = (_finish(_run(algorithm, 1500), inequalities) for _ in range(2))
    _assert_same_bits(first.state, again.state)
    other = _finish(_run(algorithm, 1500, seed=2), inequalities)
    assert bits(_points(other)) != bits(_points(first)), "another seed gave the same points"


def check_a_resumed_run_equals_the_unbroken_one(algorithm: Algorithm) -> None:
    """Any state, taken up again with the address of its generation alone, leads to the same end."""
    task, budget = _task(10**6), 12
    state = _end(algorithm.start(task, NumpyStream(1, 0, 0)), inequalities)
    states = [state]
    for k in range(1, budget + 1):
        states.append(_end(algorithm.generation(states[-1], task, NumpyStream(1, 0, k)), inequalities))
    taken_up = states[budget // 2]
    for k in range(budget // 2 + 1, budget + 1):
        taken_up = _end(algorithm.generation(taken_up, task, NumpyStream(1, 0, k)), inequalities)
    _assert_same_bits(taken_up, states[-1])


def check_ask_and_tell_equals_minimize(algorithm: Algorithm) -> None:
    from .algorithms import ALGORITHMS
    from .minimize import minimize
    from .optimizer import Optimizer

    method = next((name for name, known in ALGORITHMS.items() if known is algorithm), None)
    if method is None:
        raise SkipTest("an algorithm that is not in the table has no name to call it by")
    bounds = list(zip(LOWER, UPPER, strict=True))
    optimizer = Optimizer(bounds, method=method, n_ineq=1, max_evaluations=1111, rng=5)
    while not optimizer.done:
        optimizer.tell(*inequalities(optimizer.ask()))
    called = minimize(inequalities, bounds, method=method, max_evaluations=1111, rng=5, vectorized=True)
    assert bits(called.x) == bits(optimizer.result.x)
    _assert_same_bits(called.population, optimizer.result.population)


def check_the_best_never_worsens(algorithm: Algorithm) -> None:
    for name, values in PROBLEMS.items():
        history = _finish(_run(algorithm, 3000), values).history
        pairs = list(zip(history["violation"], history["f"], strict=True))
        assert all(later <= earlier for earlier, later in pairwise(pairs)), name


def check_solves_easy_problems(algorithm: Algorithm) -> None:
    """No constraints, inequalities only, equalities only: each within 1e-2 of its optimum, feasibly."""
    optimum = {"unconstrained": 0.0, "inequalities": (1.0 - 0.6) ** 2, "equalities": 4 * 0.75**2}
    for name, values in PROBLEMS.items():
        best = _finish(_run(algorithm, 20_000), values).best
        assert best is not None and best.feasible[0], f"{name}: no feasible point found"
        assert abs(best.f[0] - optimum[name]) < 1e-2, f"{name}: {best.f[0]} is not near {optimum[name]}"


def check_failures_are_survived_and_never_learned_from(algorithm: Algorithm) -> None:
    """Points without values, however they fail, leave no trace: what they would have been does not matter."""

    def failing(x: np.ndarray, f_failed: float, g_failed: float) -> Values:
        f, g, h = inequalities(x)
        failed = np.sin(37.0 * x.sum(axis=1)) > 0.2
        return np.where(failed, f_failed, f), np.where(failed[:, None], g_failed, g), h

    ways = [(np.nan, np.nan), (-np.inf, -1.0), (-1e30, np.nan), (-1e30, np.inf), (-1e30, -np.inf)]
    runs = [_finish(_run(algorithm, 2500), partial(failing, f_failed=f, g_failed=g)) for f, g in ways]
    for run in runs:
        assert run.best is not None and np.isfinite(run.best.f[0]), "a point without values became the best"
        assert run.failed > 0 and run.evaluations == 2500
        for (path, a), (_, b) in zip(_leaves(run.state), _leaves(runs[0].state), strict=True):
            if not path.endswith((".g", ".h")):
                assert bits(a) == bits(b), f"{path} depends on the values of failed points"
                assert not np.isnan(np.asarray(a, float)).any(), f"{path} holds NaN"


def check_adaptive_parts_change(algorithm: Algorithm) -> None:
    """Memories, sizes and counters are there to move: each field of the state does, on one of two problems.

    The second has equalities: what a search knows of infeasible points alone has nothing to learn from the first.
    """
    task = _task(4000)
    moved: set[str] = set()
    for values in (inequalities, equalities):
        state = _end(algorithm.start(task, NumpyStream(1, 0, 0)), values)
        before = {field.name: getattr(state, field.name) for field in fields(state)}
        for k in range(1, 80):
            state = _end(algorithm.generation(state, task, NumpyStream(1, 0, k)), values)
            for name, old in before.items():
                pairs = zip(_leaves(old), _leaves(getattr(state, name)), strict=True)
                if any(bits(a) != bits(b) for (_, a), (_, b) in pairs):
                    moved.add(name)
    adaptive = [
        name
        for name, old in before.items()
        if not isinstance(old, Population | Fixed) and any(_leaves(old))  # a rule that stays is not there to move
    ]
    still = [name for name in adaptive if name not in moved]
    assert not still, f"never changed in 80 generations: {', '.join(still)}"


def check_numpy_and_jax_agree_step_by_step(algorithm: Algorithm) -> None:
    """Fed the same draws, both namespaces make the same states, to rounding."""
    import jax.numpy as jnp

    from .engines.compiled import float64

    with float64(), np.errstate(all="ignore"):
        task = _task(1000)
        jax_task = Task(jnp.asarray(LOWER), jnp.asarray(UPPER), 1000)
        tape = Tape.record(NumpyStream(3, 0, 0))
        state = _end(algorithm.start(task, tape), equalities)
        traced = _end(algorithm.start(jax_task, Tape(tape.draws, jnp.asarray)), equalities)
        for k in range(1, 13):
            apart = {
                path: np.abs(np.asarray(b) - a) for (path, a), (_, b) in _pairs(state, traced) if path.endswith(".x")
            }
            for (path, a), (_, b) in _pairs(state, traced):
                # An equality is a sum of variables here: it differs by what its point differs, and no more.
                point, _, name = path.rpartition(".")
                moved = apart[f"{point}.x"].sum(axis=1).max() if name == "h" else 0.0
                np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-12 + moved, err_msg=f"{path}, generation {k - 1}")
            tape = Tape.record(NumpyStream(3, 0, k))
            state = _end(algorithm.generation(state, task, tape), equalities)
            traced = _end(algorithm.generation(traced, jax_task, Tape(tape.draws, jnp.asarray)), equalities)


def check_a_run_in_a_compiled_batch_equals_the_run_alone(algorithm: Algorithm) -> None:
    import jax

    from .engines.compiled import Program

    problem = Problem(inequalities, (LOWER, UPPER), n_ineq=1, n_eq=0, vectorized=True)
    device = jax.devices("cpu")[0]
    together = Program(algorithm, [problem, problem, problem], 1500, 10, device)(np.arange(3), 7)[1]
    alone = Program(algorithm, [problem], 1500, 10, device)(np.array([2]), 7)[0]
    for name in ("x", "f", "violation"):
        assert bits(together[name][2]) == bits(alone[name][0]), name
    assert (together["evaluations"] == 1500).all()


CONTRACT: list[Callable[[Algorithm], None]] = [
    check_stays_in_the_box,
    check_meets_the_budget_exactly,
    check_same_seed_gives_the_same_bits,
    check_a_resumed_run_equals_the_unbroken_one,
    check_ask_and_tell_equals_minimize,
    check_the_best_never_worsens,
    check_solves_easy_problems,
    check_failures_are_survived_and_never_learned_from,
    check_adaptive_parts_change,
    check_numpy_and_jax_agree_step_by_step,
    check_a_run_in_a_compiled_batch_equals_the_run_alone,
]


def _end(coroutine: Any, values: Callable[[Any], Any]) -> Any:
    """A coroutine driven to its end with the values of a problem."""
    points = None
    with np.errstate(all="ignore"):  # as the host engine does: points without values are infinite
        while True:
            try:
                request = coroutine.send(points)
            except StopIteration as end:
                return end.value
            x = request.x if isinstance(request, Ask) else request
            f, g, h = values(x)
            points = evaluated(x, f, g, h, TOLERANCE)
            if isinstance(request, Ask):
                points = choose(request.wanted, points, forgotten(points))
