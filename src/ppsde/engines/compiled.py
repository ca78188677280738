"""The compiled engine: many runs of an algorithm as one JAX program, on CPU or GPU."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algorithm import Algorithm
from ..arrays import Array
from ..population import evaluated
from ..problem import Problem
from ..streams import root_key
from .tracing import run_of


@dataclass(frozen=True)
class BatchResult:
    """What the runs of a batch found, a row per run."""

    problem: Problem
    x: np.ndarray  # (runs, d), the best point ever evaluated
    f: np.ndarray  # (runs,)
    violation: np.ndarray  # (runs,), the search's measure
    kept_x: np.ndarray  # (runs, d), the best point that ever was in the population
    kept_f: np.ndarray
    kept_violation: np.ndarray
    evaluations: np.ndarray  # (runs,)
    record: dict[str, np.ndarray]  # columns (runs, record) along the runs
    compile_seconds: float
    run_seconds: float

    @property
    def feasible(self) -> np.ndarray:
        return self.violation == 0.0


@contextmanager
def float64() -> Any:
    """JAX in 64 bits inside the block, and nowhere else in the process."""
    import jax

    scope = getattr(jax, "enable_x64", None)
    if scope is None:
        from jax.experimental import enable_x64 as scope
    with scope(True):
        yield


class Program:
    """One algorithm with one budget on some problems of one dimension, all their runs at once.

    The batch holds the runs problem by problem, so that each problem is evaluated on its own runs alone.
    """

    def __init__(
        self, algorithm: Algorithm, problems: Sequence[Problem], runs: int, budget: int, record: int, device: Any
    ) -> None:
        import jax

        self._device, self._count, self._runs = device, len(problems), runs
        self._boxes = [np.repeat([getattr(p, side) for p in problems], runs, axis=0) for side in ("lower", "upper")]
        evaluate = _evaluation(problems, runs)
        one = run_of(algorithm, evaluate, budget, record)
        batch = jax.vmap(
            lambda lower, upper, key, run: one(lower, upper, jax.random.fold_in(key, run)), (0, 0, None, 0)
        )
        began = time.perf_counter()
        with float64(), jax.default_device(device):
            self._call = jax.jit(batch).lower(*self._arguments(np.arange(runs), 0)).compile()
        self.compile_seconds = time.perf_counter() - began

    def __call__(self, runs: np.ndarray, seed: int) -> list[dict[str, Any]]:
        """What the runs of the given numbers give, problem by problem."""
        import jax

        with float64(), jax.default_device(self._device):
            out = jax.tree_util.tree_map(np.asarray, self._call(*self._arguments(runs, seed)))
        rows = [slice(k * self._runs, (k + 1) * self._runs) for k in range(self._count)]
        return [jax.tree_util.tree_map(lambda array, at=at: array[at], out) for at in rows]

    def _arguments(self, runs: np.ndarray, seed: int) -> tuple[Any, ...]:
        import jax

        return (*self._boxes, root_key(seed), np.tile(runs, self._count))


def _evaluation(problems: Sequence[Problem], runs: int) -> Any:
    """x (n, d) -> f (n,), violation (n,); of a whole batch, each problem takes its own runs together, as rows."""
    import jax
    import jax.numpy as jnp

    @jax.custom_batching.custom_vmap
    def evaluate(x: Array) -> tuple[Array, Array]:
        return _values(problems[0], x)

    @evaluate.def_vmap
    def _(size: int, batched: list[bool], x: Array) -> Any:
        n, d = x.shape[1:]
        parts = [_values(p, x[k * runs : (k + 1) * runs].reshape(runs * n, d)) for k, p in enumerate(problems)]
        f, violation = (jnp.concatenate(column).reshape(size, n) for column in zip(*parts, strict=True))
        return (f, violation), (True, True)

    return evaluate


def _values(problem: Problem, x: Array) -> tuple[Array, Array]:
    points = evaluated(x, *problem.fun(x), problem.tolerance)
    return points.f, points.violation
