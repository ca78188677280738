"""The compiled engine: many runs of an algorithm as one JAX program, on CPU or GPU."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from ..algorithm import Algorithm
from ..arrays import Array
from ..population import evaluated
from ..problem import Problem
from ..streams import root_key
from .tracing import run_of


@contextmanager
def float64() -> Any:
    """JAX in 64 bits inside the block, and nowhere else in the process."""
    import jax

    scope: Any = getattr(jax, "enable_x64", None)
    if scope is None:  # an older JAX keeps it elsewhere
        from jax import experimental

        scope = experimental.enable_x64  # type: ignore[attr-defined]
    with scope(True):
        yield


class Program:
    """One algorithm with one budget on some problems of one dimension, all their runs in one call.

    On a CPU the runs follow one another, so what a run gives cannot depend on how many there are. On other devices
    they go side by side: the batch holds them problem by problem, and each problem is evaluated on its own runs alone.
    """

    def __init__(
        self, algorithm: Algorithm, problems: Sequence[Problem], runs: int, budget: int, record: int, device: Any
    ) -> None:
        import jax

        self._device, self._count, self._runs = device, len(problems), runs
        self._numbers = np.repeat(np.arange(len(problems)), runs)
        self._boxes = [np.repeat([getattr(p, side) for p in problems], runs, axis=0) for side in ("lower", "upper")]
        aside = device.platform != "cpu"
        together = _side_by_side(problems, runs) if aside else None

        def one(key: Array, row: tuple[Array, ...]) -> Any:
            number, lower, upper, run = row
            evaluate = together or _one_of(problems, number)
            return run_of(algorithm, evaluate, budget, record)(lower, upper, jax.random.fold_in(key, run))

        def batch(key: Array, *rows: Array) -> Any:
            if aside:
                return jax.vmap(partial(one, key))(rows)
            return jax.lax.map(partial(one, key), rows)

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
        return root_key(seed), self._numbers, *self._boxes, np.tile(runs.astype(np.uint32), self._count)


def _one_of(problems: Sequence[Problem], number: Array) -> Any:
    """x (n, d) -> f (n,), violation (n,) of the problem with that number.

    The barrier behind it, and one before it where points are asked for, keep the compiler from mixing a problem's arithmetic with the algorithm's, which it would do in one
    way for a single problem and in another for several.
    """
    import jax

    branches = [partial(_values, problem) for problem in problems]

    def evaluate(x: Array) -> tuple[Array, Array]:
        values = branches[0](x) if len(branches) == 1 else jax.lax.switch(number, branches, x)
        return jax.lax.optimization_barrier(values)

    return evaluate


def _side_by_side(problems: Sequence[Problem], runs: int) -> Any:
    """The same for a whole batch, in which each problem takes its own runs together, as rows."""
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
    f, g, h = problem.fun(x)
    points = evaluated(x, f, g, h, problem.tolerance)
    return points.f, points.violation
