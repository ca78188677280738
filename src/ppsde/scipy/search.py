"""The search behind `differential_evolution`: where its objective is called, and a strategy of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algorithm import Coroutine, Task
from ..arrays import Array
from ..evaluation import evaluator_for
from ..evaluation.local import Check, Evaluator, no_check
from ..evaluation.values import MALFORMED, Values
from ..population import TOLERANCE, Population, choose
from ..problem import Problem
from ..problem.constraints import Constraint
from ..problem.returned import MalformedValue, reals
from ..problem.variables import Variables
from ..streams import Stream


class Function:
    """The function with its arguments; a vectorised one gets rows (S, N) as SciPy's columns (N, S)."""

    def __init__(self, func: Callable[..., Any], args: tuple[Any, ...], vectorized: bool) -> None:
        self._func, self._args, self.vectorized = func, args, vectorized
        self.calls, self.malformed = 0, False  # of a vectorised function

    def __call__(self, x: np.ndarray) -> Any:
        if not self.vectorized:
            return self._func(x, *self._args)
        self.calls += 1
        values = reals(self._func(x.T, *self._args), "the objective")
        if values.size != len(x):
            self.malformed = True
            raise MalformedValue(f"{len(x)} values are expected; got shape {values.shape}")
        return values.reshape(len(x))

    def value(self, x: np.ndarray) -> float:
        """Return the value of one point."""
        value = self(x[None] if self.vectorized else x)
        return float(reals(value, "the objective").reshape(()))


class ConstraintsFirst(Evaluator):
    """Evaluates constraints in this process, and the objective where they hold, by the workers that the user chose.

    Where a constraint is violated, the objective is infinite and is not called. `calls` counts those of the objective.
    """

    def __init__(self, fun: Function, limits: Sequence[Constraint], workers: Any, variables: Variables | None) -> None:
        super().__init__()
        self._fun, self._limits, self._variables = fun, limits, variables
        anywhere = Problem(fun, [(0.0, 0.0)], vectorized=fun.vectorized)  # the bounds are not used
        self._objective = evaluator_for(anywhere, workers)

    def submit(self, values: Values, rows: Sequence[int], check: Check = no_check) -> None:
        """Evaluate the constraints of the rows, then the objective of those rows that they allow."""
        x = values.x[list(rows)]
        x = x if self._variables is None else self._variables.to_user(x)
        g, h, failed = self._constraints(x, check)
        for k, error in failed.items():
            values.fail(rows[k], error, 0.0)
        allowed = (g <= 0).all(axis=1) & (np.abs(h) <= TOLERANCE).all(axis=1)  # both false for NaN
        called = [k for k in np.flatnonzero(allowed).tolist() if k not in failed]
        inner = Values(x[called], (0, 0), seen=True, apart=True)
        before = self._fun.calls if self._fun.vectorized else self._objective.calls
        if called:
            self._objective.submit(inner, range(len(called)), check)
        self.calls += (self._fun.calls if self._fun.vectorized else self._objective.calls) - before
        if self._fun.malformed or any(failure.status == MALFORMED for failure in inner.failures.values()):
            raise MalformedObjective(self._fun.vectorized)
        f = np.full(len(x), np.inf)
        f[called] = inner.f
        if not failed and not inner.failures:
            values.put_rows(rows, f, g, h, sum(inner.seconds) / len(x))
            return
        failures = {called[j]: failure for j, failure in inner.failures.items()}
        for k in set(range(len(x))) - set(failed):
            if k in failures:
                values.record_failure(rows[k], failures[k])
            else:
                values.put(rows[k], (float(f[k]), g[k], h[k]), 0.0)

    def close(self) -> None:
        """End the processes and threads of the workers."""
        self._objective.close()

    def _constraints(self, x: np.ndarray, check: Check) -> tuple[np.ndarray, np.ndarray, dict[int, BaseException]]:
        """Return g (n, p) and h (n, q) of the rows of x, and the errors of those rows where a constraint raised."""
        failed: dict[int, BaseException] = {}
        if not self._limits:
            return np.empty((len(x), 0)), np.empty((len(x), 0)), failed
        if self._fun.vectorized:
            check()
            return *self._split([values_at(limit, x, True) for limit in self._limits]), failed
        found: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for k, point in enumerate(x):
            check()
            try:
                found[k] = self._split([values_at(limit, point.copy(), False) for limit in self._limits])
            except MalformedValue:
                raise
            except Exception as error:
                failed[k] = error
        if not found:
            return np.full((len(x), 1), np.inf), np.empty((len(x), 0)), failed
        g, h = next(iter(found.values()))
        nothing = np.full(len(g), np.nan), np.full(len(h), np.nan)
        pairs = [found.get(k, nothing) for k in range(len(x))]
        return np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs]), failed

    def _split(self, values: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        pairs = [limit.split(c) for limit, c in zip(self._limits, values, strict=True)]
        return np.concatenate([g for g, _ in pairs], axis=-1), np.concatenate([h for _, h in pairs], axis=-1)


def values_at(limit: Constraint, x: np.ndarray, vectorized: bool) -> np.ndarray:
    """Return the values of a constraint: (k,) of a point (N,), or (S, k) of rows (S, N)."""
    values = reals(limit.fun(x), f"constraint {limit.label}")
    if not vectorized:
        return values.reshape(-1)
    if values.shape[:1] != x.shape[:1] or values.ndim > 2:
        raise MalformedValue(f"{limit.label} of {len(x)} points has shape {values.T.shape}")
    return values.reshape(len(x), -1)


class MalformedObjective(RuntimeError):
    """Raised, in SciPy's words, when the function does not return one number per point."""

    def __init__(self, vectorized: bool) -> None:
        columns = "The vectorized function must return an array of shape (S,) when given an array of shape (len(x), S)"
        super().__init__(columns if vectorized else "func(x, *args) must return a scalar value")


@dataclass(frozen=True)
class State:
    population: Population  # the best first
    generation: int  # how many were made


@dataclass(frozen=True)
class OwnStrategy:
    """Differential evolution whose trials come from a function of the user's, as SciPy calls it.

    Parameters
    ----------
    strategy
        `strategy(candidate, population, rng=rng)` returns the trial (N,) of one member; the best is member 0.
    first
        The first population (S, N).
    variables
        Converts points to the user's variables, if they are not plain real numbers.
    """

    strategy: Callable[..., Any]
    first: np.ndarray
    variables: Variables | None = None

    def start(self, task: Task, rng: Stream) -> Coroutine:
        points = yield self.first
        return State(_best_first(points), 0)

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        population = state.population
        u_seed, u = rng.uniform(1), rng.uniform(*population.x.shape)
        made = self._trials(population.x, np.random.default_rng(int(u_seed[0] * 2**53)))
        outside = ~((made >= task.lower) & (made <= task.upper))  # also NaN
        trials = yield np.where(outside, task.lower + u * (task.upper - task.lower), made)
        no_worse = (trials.violation < population.violation) | (
            (trials.violation == population.violation) & (trials.f <= population.f)
        )
        return State(_best_first(choose(no_worse & trials.valid, trials, population)), state.generation + 1)

    def answer(self, state: State, best_member: Population) -> Population:
        return best_member

    def watch(self, state: State) -> dict[str, Array]:
        return {}

    def _trials(self, x: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        members = x.copy() if self.variables is None else self.variables.to_user(x)
        trials = [np.asarray(self.strategy(k, members, rng=generator)) for k in range(len(x))]
        if any(trial.shape != x.shape[1:] or trial.dtype.kind not in "fiu" for trial in trials):
            raise RuntimeError(
                "strategy must have signature f(candidate: int, population: np.ndarray, rng=None) "
                f"returning an array of shape (N,), here ({x.shape[1]},)"
            )
        return np.array(trials, float)


def _best_first(points: Population) -> Population:
    """Return the points, the first exchanged with the best; all others stay where they are."""
    rows = np.arange(points.size)
    best = int(points.best())
    rows[[0, best]] = rows[[best, 0]]
    return points.take(rows)
