"""The contract that every algorithm must satisfy, as checks that anyone can run on an algorithm of their own.

Each check takes an algorithm (its settings, as in `ppsde.ALGORITHMS`) and raises AssertionError if it violates the
contract. With pytest:

    @pytest.mark.parametrize("check", ppsde.testing.CONTRACT, ids=lambda check: check.__name__)
    def test_mine_keeps_the_contract(check):
        check(MyAlgorithm())
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from .algorithm import Algorithm, Ask, Converging, Task
from .arrays import bits, is_setting
from .checkpoints import state_file
from .checkpoints.state_file import CheckpointError
from .checkpoints.state_tree import described, restored
from .engines.drive import drive
from .engines.run import Run
from .parts.rules import Fixed
from .population import TOLERANCE, Population, choose, evaluated, forgotten
from .problem import FGH, Problem
from .streams import NumpyStream, Tape

DIMENSION = 4
GENERATIONS = 12  # of the checks that compare two runs generation by generation
LOWER, UPPER = np.full(DIMENSION, -3.0), np.full(DIMENSION, 5.0)


def _none(x: Any) -> Any:
    return x[:, :0]


def unconstrained(x: Any) -> FGH:
    """A sum of squares without constraints."""
    return ((x - 0.5) ** 2).sum(axis=1), _none(x), _none(x)


def inequalities(x: Any) -> FGH:
    """The sum of squares outside a ball, which contains the unconstrained optimum."""
    return (x**2).sum(axis=1), 1.0 - ((x - 0.3) ** 2).sum(axis=1, keepdims=True), _none(x)


def equalities(x: Any) -> FGH:
    """A sum of squares on a plane, which does not contain the unconstrained optimum."""
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


def _finish(run: Run, values: Callable[[np.ndarray], FGH]) -> Run:
    """Drive a run to its end, as `minimize` does."""
    drive(run, Problem(values, (LOWER, UPPER), vectorized=True))
    return run


def _whole_run(algorithm: Any, problem: str) -> tuple[Run, np.ndarray]:
    """Return a run of 2000 evaluations and the points that it asked for."""
    return _stored_run(algorithm, problem)


@lru_cache(maxsize=len(PROBLEMS))  # several checks, one after another, look at the same runs
def _stored_run(algorithm: Any, problem: str) -> tuple[Run, np.ndarray]:
    asked: list[np.ndarray] = []

    def values(x: np.ndarray) -> Any:
        asked.append(x)
        return PROBLEMS[problem](x)

    return _finish(_run(algorithm, 2000), values), np.concatenate(asked)


def _leaves(tree: Any, path: str = "state") -> Iterator[tuple[str, Any]]:
    if is_dataclass(tree):
        for field in fields(tree):
            if not is_setting(field):
                yield from _leaves(getattr(tree, field.name), f"{path}.{field.name}")
    elif tree is None:
        return
    elif isinstance(tree, tuple | list):
        for k, item in enumerate(tree):
            yield from _leaves(item, f"{path}[{k}]")
    else:
        yield path, tree


def _pairs(first: Any, second: Any) -> Iterator[tuple[tuple[str, Any], tuple[str, Any]]]:
    """Return pairs of the leaves of two trees of the same structure."""
    return zip(_leaves(first), _leaves(second), strict=True)


def _assert_same_bits(first: Any, second: Any) -> None:
    for (path, a), (_, b) in _pairs(first, second):
        assert bits(a) == bits(b), f"{path} differs: {a} and {b}"


def check_stays_in_the_box(algorithm: Algorithm) -> None:
    """The algorithm asks for no point outside the bounds."""
    for name in PROBLEMS:
        _, x = _whole_run(algorithm, name)
        assert np.all((x >= LOWER) & (x <= UPPER)), f"{name}: asked for a point outside the box"


def check_meets_the_budget_exactly(algorithm: Algorithm) -> None:
    """A run makes exactly as many evaluations as its budget, even if that is smaller than a population."""
    for budget in (1, 2, 7, 19, 20, 21, 333, 1000):
        counted = 0

        def count(x: np.ndarray) -> FGH:
            nonlocal counted
            counted += len(x)
            return inequalities(x)

        run = _finish(_run(algorithm, budget), count)
        assert counted == run.evaluations == budget, f"{counted} evaluations of a budget of {budget}"


def check_same_seed_gives_the_same_bits(algorithm: Algorithm) -> None:
    """Two runs with one seed are the same, bit for bit; one with another seed differs."""
    first, _ = _whole_run(algorithm, "inequalities")
    again = _finish(_run(algorithm, 2000), inequalities)
    _assert_same_bits(first.state, again.state)
    other = _finish(_run(algorithm, 2000, seed=2), inequalities)
    assert bits(_points(other)) != bits(_points(first)), "another seed gave the same points"


def check_a_resumed_run_equals_the_unbroken_one(algorithm: Algorithm) -> None:
    """A run read from a file ends with the same bits as the run that was written, wherever it was interrupted.

    A run is written halfway, and read when it is over. The second run, the one that was read, is written and read again
    after each request, so also in the middle of a generation. The files are those of `Optimizer.save`.
    """
    with TemporaryDirectory() as folder:
        file = Path(folder) / "run.ppsde"
        unbroken = _run(algorithm, 10**6)
        while unbroken.completed < GENERATIONS // 2:
            _answer(unbroken)
        _write(unbroken, file)
        while unbroken.completed < GENERATIONS:
            _answer(unbroken)
        resumed = _read(file, algorithm)
        while resumed.completed < GENERATIONS:
            _answer(resumed)
            _write(resumed, file)
            resumed = _read(file, algorithm)
    _assert_same_bits(resumed.state, unbroken.state)
    _assert_same_bits(resumed.best, unbroken.best)


def _answer(run: Run) -> None:
    assert run.wanted is not None
    run.supply(*inequalities(run.wanted))


def _write(run: Run, file: Path) -> None:
    arrays: dict[str, np.ndarray] = {}
    try:
        state_file.write(file, described(run.snapshot(), arrays), arrays)
    except CheckpointError as error:
        raise AssertionError(f"the run cannot be stored: {error}") from error


def _read(file: Path, algorithm: Algorithm) -> Run:
    found = state_file.read(file)
    try:
        return restored(found.content, found.arrays, algorithm)
    except CheckpointError as error:
        raise AssertionError(f"the stored run cannot be read again: {error}") from error


def check_ask_and_tell_equals_minimize(algorithm: Algorithm) -> None:
    """`Optimizer` and `minimize` end with the same bits."""
    from .minimize import minimize
    from .optimizer import Optimizer

    bounds = list(zip(LOWER, UPPER, strict=True))
    optimizer = Optimizer(bounds, method=algorithm, n_ineq=1, max_evaluations=1111, rng=5)
    while not optimizer.done:
        optimizer.tell(*inequalities(optimizer.ask()))
    called = minimize(inequalities, bounds, method=algorithm, max_evaluations=1111, rng=5, vectorized=True)
    assert bits(called.x) == bits(optimizer.result.x)
    _assert_same_bits(called.population, optimizer.result.population)


def check_the_best_never_worsens(algorithm: Algorithm) -> None:
    """Along the history, the best point never becomes worse."""
    for name in PROBLEMS:
        history = _whole_run(algorithm, name)[0].history
        pairs = list(zip(history["violation"], history["f"], strict=True))
        assert all(later <= earlier for earlier, later in pairwise(pairs)), name


def check_solves_easy_problems(algorithm: Algorithm) -> None:
    """Problems with no constraints, inequalities or equalities: the best is feasible and within 1e-2 of the optimum.

    A run ends as soon as it is: the best never worsens, and no feasible point is that much better than the optimum.
    """
    optimum = {"unconstrained": 0.0, "inequalities": (1.0 - 0.6) ** 2, "equalities": 4 * 0.75**2}
    for name, values in PROBLEMS.items():
        run = _run(algorithm, 20_000)

        def stop(run: Run = run, optimum: float = optimum[name]) -> None:
            if run.best is not None and run.best.feasible[0] and abs(run.best.f[0] - optimum) < 1e-2:
                raise StopIteration

        drive(run, Problem(values, (LOWER, UPPER), vectorized=True), after_generation=stop)
        best = run.best
        assert best is not None and best.feasible[0], f"{name}: no feasible point found"
        assert abs(best.f[0] - optimum[name]) < 1e-2, f"{name}: {best.f[0]} is not near {optimum[name]}"


def check_failures_are_survived_and_never_learned_from(algorithm: Algorithm) -> None:
    """Points that fail change nothing in the state by their values, whichever kind of failure it is.

    In the first run all that fail return NaN, in the second each returns one of the other kinds.
    """
    kinds = np.array([(-np.inf, -1.0), (-1e30, np.nan), (-1e30, np.inf), (-1e30, -np.inf)])
    nothing = np.full((1, 2), np.nan)

    def failing(x: np.ndarray, ways: np.ndarray) -> FGH:
        f, g, h = inequalities(x)
        mixed = np.sin(37.0 * x.sum(axis=1))
        failed, kind = mixed > 0.2, (1e6 * mixed).astype(int) % len(ways)
        return np.where(failed, ways[kind, 0], f), np.where(failed[:, None], ways[kind, 1:], g), h

    runs = [_finish(_run(algorithm, 1500), partial(failing, ways=ways)) for ways in (nothing, kinds)]
    for run in runs:
        assert run.best is not None and np.isfinite(run.best.f[0]), "a point without values became the best"
        assert run.failed > 0 and run.evaluations == 1500
    for (path, a), (_, b) in _pairs(runs[1].state, runs[0].state):
        if not path.endswith((".g", ".h")):
            assert bits(a) == bits(b), f"{path} depends on the values of failed points"
            assert not np.isnan(np.asarray(a, float)).any(), f"{path} holds NaN"


def check_adaptive_parts_change(algorithm: Algorithm) -> None:
    """Each adaptive field of the state, such as memories, sizes and counters, changes on one of two problems.

    The second has equalities: fields that learn only from infeasible points may not change on the first.
    """
    task = _task(4000)
    moved: set[str] = set()
    for values in (inequalities, equalities):
        state = _end(algorithm.start(task, NumpyStream(1, 0, 0)), values)
        before = {field.name: getattr(state, field.name) for field in fields(state)}
        adaptive = {
            name
            for name, old in before.items()
            if not isinstance(old, Population | Fixed) and any(_leaves(old))  # a fixed rule is not adaptive
        }
        for k in range(1, 200):
            if adaptive <= moved:
                break
            state = _end(algorithm.generation(state, task, NumpyStream(1, 0, k)), values)
            for name, old in before.items():
                pairs = zip(_leaves(old), _leaves(getattr(state, name)), strict=True)
                if any(bits(a) != bits(b) for (_, a), (_, b) in pairs):
                    moved.add(name)
    still = [name for name in before if name in adaptive - moved]
    assert not still, f"never changed in 200 generations: {', '.join(still)}"


def check_numpy_and_jax_agree_step_by_step(algorithm: Algorithm) -> None:
    """With the same random numbers, NumPy and JAX make the same states, up to rounding; `converged` is one bool.

    Derivatives by a `difference` multiply roundings by its inverse: if an algorithm has a small setting of that name, a
    larger one is used, and each generation of JAX begins at the state of NumPy, so that roundings do not add up.
    """
    import jax
    import jax.numpy as jnp

    from .engines.compiled import float64
    from .engines.tracing import as_tree

    small = getattr(algorithm, "difference", 1.0) < 1e-5
    if small:
        algorithm = replace(algorithm, difference=1e-2)  # type: ignore[type-var]
    with float64(), np.errstate(all="ignore"):
        task = replace(_task(1000), tol=1e-8)
        jax_task = replace(task, lower=jnp.asarray(LOWER), upper=jnp.asarray(UPPER))

        # Compiled once for all generations; without `jit`, JAX would compile each operation by itself.
        @jax.jit
        def start(draws: list[Any]) -> Any:
            return typed(_end(algorithm.start(jax_task, Tape(draws, jnp.asarray)), equalities))

        @jax.jit
        def generation(state: Any, draws: list[Any]) -> Any:
            return typed(_end(algorithm.generation(state, jax_task, Tape(draws, jnp.asarray)), equalities))

        def typed(state: Any) -> Any:
            """As the compiled engine keeps it: with weak types, as of numbers in a start, JAX would compile twice."""
            return jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.asarray(leaf).dtype), as_tree(state))

        converged = jax.jit(algorithm.converged) if isinstance(algorithm, Converging) else None

        tape = Tape.record(NumpyStream(3, 0, 0))
        state = _end(algorithm.start(task, tape), equalities)
        traced = start(tape.draws)
        _assert_agree(traced, state, "generation 0")
        for k in range(1, GENERATIONS + 1):
            tape = Tape.record(NumpyStream(3, 0, k))
            before = typed(state) if small else traced
            state = _end(algorithm.generation(state, task, tape), equalities)
            traced = generation(before, tape.draws)
            _assert_agree(traced, state, f"generation {k}")
            if isinstance(algorithm, Converging) and converged is not None:
                for answer in (algorithm.converged(state), converged(traced)):
                    assert np.asarray(answer).dtype == bool and np.shape(answer) == (), "converged is not a single bool"


def _assert_agree(traced: Any, state: Any, when: str) -> None:
    """Assert that the states of JAX and NumPy are the same, up to rounding."""
    apart = {path: np.abs(np.asarray(b) - a) for (path, a), (_, b) in _pairs(state, traced) if path.endswith(".x")}
    for (path, a), (_, b) in _pairs(state, traced):
        # An equality is a sum of variables here: it may differ by as much as its point differs.
        point, _, name = path.rpartition(".")
        moved = apart[f"{point}.x"].sum(axis=1).max() if name == "h" else 0.0
        np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-12 + moved, err_msg=f"{path}, {when}")


def check_a_run_in_a_compiled_batch_equals_the_run_alone(algorithm: Algorithm) -> None:
    """A compiled run ends with the same bits in a batch of several problems and runs as in a program of its own."""
    import jax

    from .engines.compiled import Program

    problem = Problem(inequalities, (LOWER, UPPER), n_ineq=1, n_eq=0, vectorized=True)
    device = jax.devices("cpu")[0]
    together = Program(algorithm, [problem, problem, problem], 1500, 10, device)(np.arange(3), 7)[1]
    alone = Program(algorithm, [problem], 1500, 10, device)(np.array([2]), 7)[0]
    for name in ("x", "f", "violation"):
        assert bits(getattr(together, name)[2]) == bits(getattr(alone, name)[0]), name
    assert (together.evaluations == 1500).all()


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
    """Drive a coroutine to its end with the values of a problem, and return its state."""
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
