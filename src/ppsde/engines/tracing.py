"""A whole run as one function that JAX traces: it drives the algorithm's coroutines with tracers, not with values.

All shapes are fixed: a request that the budget cuts, or that wants only some rows, is evaluated in full. The algorithm
gets the rows that do not count as not valid, exactly as from the host engine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from ..algorithm import Algorithm, Ask, Converging, Coroutine, Task
from ..arrays import Array, is_setting, once
from ..population import TOLERANCE, Population, better
from ..streams import JaxStream

# Arguments: x (n, d) and, for an `Ask`, whether any row counts. Returns f (n,), violation (n,), g (n, p), h (n, q), of
# which g and h have columns only if the algorithm needs them, and whether a row meets its inequalities in spite of
# rounding (n,). If no row counts, the values may be anything.
TracedEvaluate = Callable[..., tuple[Array, Array, Array, Array, Array]]
_registered: set[type] = set()


def as_tree(value: Any) -> Any:
    """Return the value itself, after registering its dataclasses with JAX as trees of arrays."""
    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value) if not is_setting(field)]
        constant = [field.name for field in fields(value) if is_setting(field)]
        for name in names:
            as_tree(getattr(value, name))
        if type(value) not in _registered:
            import jax

            jax.tree_util.register_dataclass(type(value), data_fields=names, meta_fields=constant)
            _registered.add(type(value))
    return value


@dataclass(frozen=True)
class Widened(Task):
    """A task whose points have columns of 0 after those of g and h, as many as another problem of the program needs."""

    counts: Any = None  # (2,), numbers of inequalities and equalities

    def real(self, points: Population) -> Array:
        import jax.numpy as jnp

        kinds = zip((points.g, points.h), self.counts, strict=True)
        return jnp.concatenate([jnp.arange(columns.shape[1]) < count for columns, count in kinds])


@dataclass(frozen=True)
class Tally:
    """The engine's own variables in the loop, beside the algorithm's state."""

    used: Array  # evaluations so far
    best: Population  # one row: the best point ever evaluated
    certain: Population  # one row: the best of those that were best of their request and surely feasible
    best_member: Population  # one row: the best point that ever was in the population
    failed: Array  # evaluations without valid values
    rows: Array  # (record, columns), the history


def run_of(
    algorithm: Algorithm,
    evaluate: TracedEvaluate,
    budget: int,
    record: int,
    x0: Array | None = None,
    whole: bool = False,
    tol: float = 0.0,
    target: float | None = None,
) -> Callable[..., Any]:
    """Return a function (lower, upper, key, ..) -> the best points of a run and a history of `record` rows, by name.

    `key` is the run's own; `x0` (k, d) are points that the first population must contain. If `whole`, the function also
    returns the last population and the number of failed evaluations. If every generation asks for the same number of
    points, the number of generations is known beforehand, and the device does not have to test for the end. A run that
    may end early, by `tol` or `target`, tests after each generation; it has converged if evaluations are `left`.
    """
    import jax
    import jax.numpy as jnp

    can_converge = tol > 0 and isinstance(algorithm, Converging)

    def converged(state: Any) -> Array:
        return jnp.asarray(algorithm.converged(state))  # type: ignore[attr-defined]  # it is `Converging`

    def run(
        lower: Array, upper: Array, key: Array, tolerance: Array | float = TOLERANCE, counts: Array | None = None
    ) -> dict[str, Array]:
        facts = lower, upper, budget, x0, tol, tolerance
        task = Task(*facts) if counts is None else Widened(*facts, counts)
        none = jnp.empty((1, 0))
        infinite = jnp.full(1, jnp.inf)
        nothing = Population(jnp.full((1, task.dimension), jnp.nan), infinite, infinite, none, none)
        start = algorithm.start(task, JaxStream(key))
        state, first = traced(start, evaluate, budget, jnp.asarray(0), nothing, nothing, target)
        _check_state(state)
        names = ["evaluations", "f", "violation", "feasible_share", *algorithm.watch(state)]
        rows = jnp.full((record, len(names)), jnp.nan)
        best_member = better_of(nothing, state.population)
        tally = Tally(first.used, first.best, first.certain, best_member, first.failed, rows)

        asked: list[int | None] = []

        def generation(carry: Any) -> Any:
            state, tally = carry
            coroutine = algorithm.generation(state, task, JaxStream(key, state.generation + 1))
            state, spent = traced(coroutine, evaluate, budget, tally.used, tally.best, tally.certain, target)
            asked.append(spent.asked)
            best = spent.best
            share = state.population.feasible_share
            row = [spent.used, best.f[0], best.violation[0], share, *algorithm.watch(state).values()]
            at = (spent.used * record - 1) // budget  # rows in whose part no generation ends stay NaN
            rows = tally.rows.at[at].set(jnp.stack([jnp.asarray(value, float) for value in row]))
            best_member = better_of(tally.best_member, state.population)
            failed = tally.failed + spent.failed
            return as_tree(state), as_tree(Tally(spent.used, best, spent.certain, best_member, failed, rows))

        def goes_on(carry: Any) -> Array:
            state, tally = carry
            left = tally.used < most_evaluations(budget, tally.used, tally.best, target)
            return left & ~converged(state) if can_converge else left

        first_state = (as_tree(state), as_tree(tally))
        step = jax.jit(generation, inline=True)  # so that JAX traces it once: here, to count the points asked for
        jax.eval_shape(step, first_state)
        each = asked[-1]
        early = can_converge or target is not None
        if each is None or early:
            state, tally = jax.lax.while_loop(goes_on, step, first_state)
        else:
            count = max(0, -(-(budget - first.asked) // each))
            state, tally = jax.lax.fori_loop(0, count, lambda _, carry: step(carry), first_state)
        answer = algorithm.answer(state, tally.best_member)
        return {
            "x": tally.best.x[0],
            "f": tally.best.f[0],
            "violation": tally.best.violation[0],
            "certain_x": tally.certain.x[0],
            "certain_f": tally.certain.f[0],
            "certain_violation": tally.certain.violation[0],
            "answer_x": answer.x[0],
            "answer_f": answer.f[0],
            "answer_violation": answer.violation[0],
            "evaluations": tally.used,
            "record": dict(zip(names, tally.rows.T, strict=True)),
            **(
                {"failed": tally.failed, "population": state.population, "generation": state.generation}
                if whole
                else {}
            ),
            **({"left": tally.used < most_evaluations(budget, tally.used, tally.best, target)} if early else {}),
        }

    return run


def _check_state(state: Any) -> None:
    """Raise ValueError if something in a state, as an algorithm or a rule of the user's makes it, is no number."""
    import jax

    for path, leaf in jax.tree_util.tree_leaves_with_path(state):
        if not isinstance(leaf, jax.Array | np.ndarray | np.number | np.bool_ | int | float):
            place = f"state{jax.tree_util.keystr(path)}"
            raise ValueError(f"{place} cannot be compiled: {type(leaf).__name__} is neither numbers nor a dataclass")


@dataclass(frozen=True)
class Spent:
    """Evaluations, failures and best point after one coroutine."""

    used: Array  # evaluations of the run so far
    best: Population  # one row: the best point of the run so far
    certain: Population  # one row, likewise
    failed: Array  # evaluations of this coroutine without valid values
    asked: Any  # number of points that it asked for, None if a mask decides


def most_evaluations(budget: int, used: Array, best: Population, target: float | None) -> Array | int:
    """Return how many evaluations the run may make in all: the budget, or those used if the target is reached."""
    import jax.numpy as jnp

    return budget if target is None else jnp.where(best.feasible[0] & (best.f[0] <= target), used, budget)


def traced(
    coroutine: Coroutine,
    evaluate: TracedEvaluate,
    budget: int,
    used: Array,
    best: Population,
    certain: Population,
    target: float | None = None,
) -> tuple[Any, Spent]:
    """Trace a coroutine to its end; return its state, and the evaluations and best points of the run by then."""
    import jax.numpy as jnp

    points = None
    asked: int | None = 0
    failed = jnp.asarray(0)
    while True:
        try:
            request = coroutine.send(points)  # type: ignore[arg-type]  # the first send is of None
        except StopIteration as end:
            return as_tree(end.value), Spent(used, best, certain, failed, asked)
        most = most_evaluations(budget, used, best, target)
        if isinstance(request, Ask):
            x, asked = request.x, None
            counts = request.wanted & (used + jnp.cumsum(request.wanted) <= most)
            used = used + jnp.sum(counts)
        else:
            x, asked = request, None if asked is None else asked + request.shape[0]
            counts = used + jnp.arange(1, x.shape[0] + 1) <= most  # without target the same for every run of a batch
            used = jnp.minimum(used + x.shape[0], most)
        (x,) = once(x)
        f, violation, g, h, sure = evaluate(x, jnp.any(counts)) if isinstance(request, Ask) else evaluate(x)
        points = Population(x, jnp.where(counts, f, jnp.inf), jnp.where(counts, violation, jnp.inf), g, h)
        row = points.best()
        best = better_of(best, points, row)
        certain = better_of(certain, points, row, sure[row])
        failed = failed + jnp.sum(counts & ~points.valid)


def better_of(
    best: Population, points: Population, row: Array | None = None, counts: Array | bool = True
) -> Population:
    """Return the better of `best` and a row of `points`, the best if not given, where it `counts`; a tie is `best`."""
    import jax.numpy as jnp

    row = points.best() if row is None else row
    f, violation = points.f[row], points.violation[row]
    wins = better((violation, f), (best.violation[0], best.f[0])) & counts
    return Population(
        jnp.where(wins, points.x[row][None], best.x),
        jnp.where(wins, f[None], best.f),
        jnp.where(wins, violation[None], best.violation),
        best.g,
        best.h,
    )
