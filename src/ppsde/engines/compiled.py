"""The compiled engine: many runs of an algorithm as one JAX program, on CPU or GPU."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np

from ..algorithm import Algorithm, Task
from ..arrays import Array
from ..evaluation.values import error_text
from ..parts.handling import check_own, handling_of, is_own, reads_constraints
from ..parts.sizing import first_points
from ..population import Population, better_rows, evaluated, join
from ..problem import Problem
from ..problem.returned import check_names, traced_point_values, traced_row_values
from ..streams import NumpyStream, root_key
from .ending import Ending, Endings, compiled_status, ending_of
from .program_cache import remembered
from .tracing import TracedEvaluate, as_tree, run_of

TracedValues = Callable[
    [Array], tuple[Array, Array, Array, Array, Array]
]  # x (n, d) -> f (n,), violation (n,), g (n, p), h (n, q), and whether rounding cannot make it infeasible (n,)

LARGEST_BATCH = 2**32  # bytes that one call on a GPU may use, about; more runs need several calls
COPIES = 16  # arrays of the size of a population that a generation needs at once, about
SIDE_BY_SIDE = 700  # runs that one call on a GPU does in parallel: 28 problems 25 times
SEARCHED = 1.0 - 1e-5  # share of a tolerance within which is searched: the host, which judges, rounds differently
INSIDE = 1e-9  # by which a point meets inequalities that meets them with the host's rounding too
JUDGED = 8  # points that a rule of the user's must judge before a program runs
IN_A_ROW = 8  # runs that one call on a CPU does one after another, at most

# Without autotuning, a program is the same in every process, bit for bit, and compiles faster; the matrix products here
# are too small to gain by it.
ON_A_GPU = {"xla_gpu_autotune_level": 0, "xla_gpu_enable_triton_gemm": False}
_tracing = threading.Lock()  # tracing holds the GIL: one after another, so that the first is compiled meanwhile


@contextmanager
def float64() -> Any:
    """Make JAX use 64-bit numbers inside the block, and nowhere else in the process."""
    import jax

    scope: Any = getattr(jax, "enable_x64", None)
    if scope is None:  # an older JAX has it in another module
        from jax import experimental

        scope = experimental.enable_x64  # type: ignore[attr-defined]
    with scope(True):
        yield


class Program:
    """One algorithm with one budget on some problems of one dimension, compiled once for all their runs.

    On a CPU, a call does a few runs of one problem one after another, in a loop, so that no run depends on the others.
    On other devices, a call does runs of every problem in parallel. Their number is always the same, however few are
    wanted, for the same reason: the order in which a device adds numbers depends on the shapes of the arrays.
    """

    def __init__(
        self,
        algorithm: Algorithm,
        problems: Sequence[Problem],
        budget: int,
        record: int,
        device: Any,
        workers: int | None = None,
        tol: float = 0.0,
        target: float | None = None,
        most: int | None = None,
    ) -> None:
        """Compile the program; a CPU executes `workers` calls at a time, one per core if None.

        Elsewhere a call does at most `most` runs of each problem, and as many as pay if None.
        """
        import jax

        self._device, self._problems, self._target = device, problems, target
        self.aside = goes_aside(device)
        self._workers = 1 if self.aside else workers or os.cpu_count() or 1
        self.width = width_of(problems, self.aside, most)  # runs of one problem in a call, at most
        with float64():
            values, counts = values_of(problems, algorithm), counts_of(problems)
        together = _side_by_side(values, self.width) if self.aside else None

        def one(key: Array, row: tuple[Array, ...]) -> Any:
            number, lower, upper, run = row
            evaluate = together or one_of(values, number)
            traced = run_of(algorithm, evaluate, budget, record, tol=tol, target=target)
            tolerance = jax.numpy.asarray(SEARCHED * tolerances_of(problems))[number]
            return traced(lower, upper, jax.random.fold_in(key, run), tolerance, jax.numpy.asarray(counts)[number])

        def batch(key: Array, rows: tuple[Array, ...], *count: Array) -> Any:
            if self.aside:
                return jax.vmap(partial(one, key))(rows)
            return _one_after_another(partial(one, key), rows, *count)

        began = time.perf_counter()
        with float64(), jax.default_device(device), remembered():
            first = next(self._calls(np.arange(self.width, dtype=np.uint32), [0]))
            with _tracing:
                lowered = jax.jit(batch).lower(root_key(0), *first[2])
            _check_rule(algorithm, problems)
            self._call = _compiled(lowered, self.aside)
        self.compile_seconds = time.perf_counter() - began

    def __call__(
        self,
        runs: np.ndarray,
        seed: int,
        problems: Sequence[int] | None = None,
        done: Callable[[int], None] = lambda runs: None,
    ) -> list[Endings]:
        """Carry out the runs with the given numbers on some of the problems, or on all; return endings per problem.

        `done` is called with the number of runs that have ended since its last call.
        """
        key = self._key(seed)
        wanted = range(len(self._problems)) if problems is None else problems
        found: dict[int, dict[str, Any]] = {number: {} for number in wanted}
        calls = self._calls(runs.astype(np.uint32), wanted)
        with ThreadPoolExecutor(self._workers) as pool:
            waiting = deque(pool.submit(self._execute, key, call) for call in calls)
            try:
                while waiting:
                    numbers, places, out = waiting.popleft().result()  # dropped at once: `found` stores the values
                    for slot, number in enumerate(numbers):
                        at = slice(slot * self.width, slot * self.width + len(places))
                        if number in found:
                            _put(found[number], places, {k: v[at] for k, v in out.items()}, len(runs))
                    done(len(numbers) * len(places))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return [_endings(found[number], self._problems[number], self._target) for number in wanted]

    def _key(self, seed: int) -> Array:
        import jax

        with float64(), jax.default_device(self._device):
            return root_key(seed)

    def _calls(self, runs: np.ndarray, wanted: Sequence[int]) -> Iterator[tuple[list[int], np.ndarray, list[Any]]]:
        """Yield for each call the numbers of its problems, the places of its runs in `runs`, and its arguments."""
        every = list(range(len(self._problems)))
        for places in np.array_split(np.arange(len(runs)), self._turns(len(runs))):
            padded = runs[np.resize(places, self.width)]  # arrays have one size, however few runs are wanted
            for numbers in [every] if self.aside else [[k] for k in wanted]:
                boxes = [
                    np.repeat([getattr(self._problems[k], side) for k in numbers], self.width, axis=0)
                    for side in ("lower", "upper")
                ]
                rows = (np.repeat(numbers, self.width), *boxes, np.tile(padded, len(numbers)))
                yield numbers, places, [rows] if self.aside else [rows, len(places)]

    def _turns(self, runs: int) -> int:
        """Return how many calls the runs of a problem are split into; on a CPU, about as many for each core."""
        turns = -(-runs // self.width)
        return turns if self.aside else min(runs, -(-turns // self._workers) * self._workers)

    def _execute(self, key: Array, call: tuple[list[int], np.ndarray, list[Any]]) -> Any:
        import jax

        numbers, places, arguments = call
        with float64(), jax.default_device(self._device):
            out = self._call(key, *arguments)
            record = out.pop("record")
            flat = {**out, **{f"record {name}": column for name, column in record.items()}}
            return numbers, places, {name: np.asarray(column) for name, column in flat.items()}


def run_alone(
    algorithm: Algorithm, problem: Problem, task: Task, seed: int, record: int, target: float | None = None
) -> Ending:
    """Return the ending of a single run, with the last population and the constraint values of its points."""
    import jax

    began = time.monotonic()
    with float64():
        evaluate = one_of(values_of([problem], algorithm), 0)
        run = run_of(algorithm, evaluate, task.max_evaluations, record, task.x0, True, task.tol, target)
        arguments = 1, task.lower, task.upper, jax.random.fold_in(root_key(seed), 0), SEARCHED * task.tolerance
        with remembered():
            lowered = jax.jit(in_a_loop(run)).lower(*arguments)
            _check_rule(algorithm, [problem])
            call = lowered.compile()
        found: dict[str, Any] = jax.tree_util.tree_map(np.asarray, call(*arguments))

    def constraints(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        point = on_the_host(problem, x)
        return point.g[0], point.h[0]

    columns = judged(problem, {name: found[name][None] for name in FINAL + CERTAIN})
    rows = closed({name: column[None] for name, column in found["record"].items()}, columns)
    final, history = ({name: column[0] for name, column in one.items()} for one in (columns, rows))
    status = compiled_status(found, target, final["violation"])
    ending = ending_of({**found, **final, "record": history, "status": status}, constraints)
    seconds = time.monotonic() - began
    return replace(
        ending,
        constraint_names=problem.constraint_names,
        seconds=seconds,
        eval_seconds_mean=seconds / ending.evaluations,
        eval_seconds_max=np.nan,
    )


def _check_rule(algorithm: Algorithm, problems: Sequence[Problem]) -> None:
    """Raise ValueError if a rule of the user's cannot judge points of the problems; a program sees no numbers."""
    import jax

    rule = getattr(algorithm, "rule", None)
    if rule is None or not is_own(handling_of(rule, jax.numpy)):
        return
    for problem in problems:
        task = Task(problem.lower, problem.upper, JUDGED, tolerance=problem.tolerance)
        x = first_points(task, JUDGED, NumpyStream(0))
        points = as_tree(reduce(join, [on_the_host(problem, row) for row in x]))
        check_own(handling_of(rule, jax.numpy, task), jax.tree_util.tree_map(jax.numpy.asarray, points))


def _compiled(lowered: Any, aside: bool) -> Any:
    """Return the compiled program; options that this version of XLA does not know are left out."""
    options = ON_A_GPU if aside else {}
    while True:
        try:
            return lowered.compile(compiler_options=options or None)
        except Exception as error:
            known = {name: value for name, value in options.items() if name not in str(error)}
            if len(known) == len(options):
                raise
            options = known


def goes_aside(device: Any) -> bool:
    """Return whether the device does runs in parallel; a CPU does them one after another."""
    return bool(device.platform != "cpu")


def width_of(problems: Sequence[Problem], aside: bool, most: int | None = None) -> int:
    """Return the largest number of runs of a problem in one call, no more than `most`; it bounds the memory."""
    if not aside:
        return IN_A_ROW
    d = problems[0].dimension
    per_run = 8 * COPIES * (10 * d) * (d + 8)  # about twice a population of 5 d points
    room = LARGEST_BATCH // (per_run * len(problems))
    side_by_side = SIDE_BY_SIDE // len(problems)
    return max(1, min(side_by_side if most is None else min(most, side_by_side), room))


def _put(columns: dict[str, np.ndarray], places: np.ndarray, rows: dict[str, np.ndarray], runs: int) -> None:
    """Write rows into their places of the columns, which the first call creates."""
    for name, values in rows.items():
        if name not in columns:
            columns[name] = np.empty((runs, *values.shape[1:]), values.dtype)
        columns[name][places] = values


def _endings(columns: dict[str, np.ndarray], problem: Problem, target: float | None) -> Endings:
    record = {name.removeprefix("record "): column for name, column in columns.items() if name.startswith("record ")}
    final = judged(problem, {name: columns[name] for name in FINAL + CERTAIN})
    status = compiled_status(columns, target, final["violation"])
    return Endings(record=closed(record, final), status=status, evaluations=columns["evaluations"], **final)


FINAL = ("x", "f", "violation", "answer_x", "answer_f", "answer_violation")  # columns of `Endings`
CERTAIN = ("certain_x", "certain_f", "certain_violation")


def judged(problem: Problem, found: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the final points of compiled runs, the columns `FINAL`, with the values that they have on the host.

    A compiled program may round otherwise than the function called by itself: a point that it calls feasible may miss a
    constraint by 1e-15, and then it is infeasible. The best of the best, the answer and a point that is feasible in
    spite of rounding, so judged, is the best. Points are evaluated one by one, so that no run depends on the others;
    these evaluations are not counted.
    """
    columns = {name: found[name].copy() for name in FINAL}
    for k in range(len(columns["f"])):
        points: dict[str, Population] = {}
        for prefix in ("", "answer_"):
            x = found[prefix + "x"][k]
            if found[prefix + "violation"][k] < np.inf:
                same = prefix and points.get("") is not None and np.array_equal(x, points[""].x[0])
                points[prefix] = points[""] if same else on_the_host(problem, x)
        if "" in points and not points[""].feasible[0] and found["certain_violation"][k] == 0:
            points[""] = better_rows(points[""], on_the_host(problem, found["certain_x"][k]))
        if len(points) == 2 and points[""] is not points["answer_"]:
            points[""] = better_rows(points[""], points["answer_"])
        for prefix, point in points.items():
            for name in ("x", "f", "violation"):
                columns[prefix + name][k] = getattr(point, name)[0]
    return columns


def closed(record: dict[str, np.ndarray], final: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the record (runs, rows) of compiled runs, which ends with their final values as judged."""
    known = ~np.isnan(record["evaluations"])
    runs = np.flatnonzero(known.any(axis=1))
    last = known.shape[1] - 1 - np.argmax(known[runs, ::-1], axis=1)
    ended = dict(record)
    for name in ("f", "violation"):
        ended[name] = record[name].copy()
        ended[name][runs, last] = final[name][runs]
    return ended


def on_the_host(problem: Problem, x: np.ndarray) -> Population:
    """Return a point (d,), as one row, with the values of the problem's function outside any compiled program."""
    import jax.numpy as jnp

    with float64(), np.errstate(all="ignore"):
        try:
            values = problem.evaluate(x[None])
        except Exception:  # it takes arrays of JAX alone
            values = traced_values(problem, jnp.asarray(x[None]))
        f, g, h = (np.asarray(part, float) for part in values)
    return evaluated(x[None], f, g, h, problem.tolerance)


def _one_after_another(one: Callable[..., Any], rows: tuple[Array, ...], count: Array) -> Any:
    """Return the results of `one` for the first `count` rows; those of the others are 0.

    The compiler does not know the count. It would unroll a loop known to have one round and merge its arithmetic with
    the code around it, which changes the rounding.
    """
    import jax
    import jax.numpy as jnp

    one = jax.jit(one)  # so that JAX traces it once
    at_first = jax.tree_util.tree_map(lambda a: a[0], rows)
    nothing = jax.tree_util.tree_map(
        lambda a: jnp.zeros((len(rows[0]), *a.shape), a.dtype), jax.eval_shape(one, at_first)
    )

    def round(k: Array, found: Any) -> Any:
        fresh = one(jax.tree_util.tree_map(lambda a: a[k], rows))
        return jax.tree_util.tree_map(lambda a, value: a.at[k].set(value), found, fresh)

    return jax.lax.fori_loop(0, count, round, nothing)


def in_a_loop(one: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function (1, *arguments) -> one(*arguments), whose result has the same bits as in a batch."""
    import jax

    def alone(count: Array, *arguments: Array) -> Any:
        # Two rows, the second never used: with a single row, the compiler would move the work out of the loop.
        rows = tuple(jax.numpy.stack([argument, argument]) for argument in arguments)
        found = _one_after_another(lambda row: one(*row), rows, count)
        return jax.tree_util.tree_map(lambda a: a[0], found)

    return alone


def one_of(values: Sequence[TracedValues], number: Array | int) -> TracedEvaluate:
    """Return the function that evaluates the problem with that number.

    A barrier after it, and one before it where the algorithm asks for points, stop the compiler from merging the
    problem's arithmetic with the algorithm's, which it would do differently for one problem and for several.
    """
    import jax

    # A single branch would be merged with the code around it, and round differently than one of several.
    branches = [*values, *values] if len(values) == 1 else values

    def of_number(x: Array) -> Any:
        return jax.lax.switch(number, branches, x)

    def evaluate(x: Array, some: Array | None = None) -> Any:
        return jax.lax.optimization_barrier(of_number(x) if some is None else _if_any(some, of_number, x))

    return evaluate


def _side_by_side(values: Sequence[TracedValues], runs: int) -> TracedEvaluate:
    """Return the function that evaluates a whole batch: each problem gets the points of all its runs, as rows."""
    import jax
    import jax.numpy as jnp

    each = [jax.jit(of) for of in values]  # so that JAX traces a problem once

    def of_batch(x: Array) -> Any:
        size, n, d = x.shape
        parts = [of(x[k * runs : (k + 1) * runs].reshape(runs * n, d)) for k, of in enumerate(each)]
        if len(parts) > 1:  # without the barrier all problems become one kernel, which takes twice as long to compile
            parts = jax.lax.optimization_barrier(parts)
        return tuple(jnp.concatenate(part).reshape(size, n, *part[0].shape[1:]) for part in zip(*parts, strict=True))

    always = jax.custom_batching.custom_vmap(lambda x: values[0](x))
    always.def_vmap(lambda size, batched, x: (of_batch(x), (True,) * 5))
    if_any = jax.custom_batching.custom_vmap(lambda some, x: values[0](x))
    if_any.def_vmap(lambda size, batched, some, x: (_if_any(jnp.any(some), of_batch, x), (True,) * 5))
    return lambda x, some=None: always(x) if some is None else if_any(some, x)


def _if_any(some: Array, evaluate: Callable[[Array], Any], x: Array) -> Any:
    """Return evaluate(x) if some row counts, else zeros at no cost; a repair may ask for rows none of which count."""
    import jax
    import jax.numpy as jnp

    nothing = jax.tree_util.tree_map(lambda a: jnp.zeros(a.shape, a.dtype), jax.eval_shape(evaluate, x))
    return jax.lax.cond(some, evaluate, lambda x: nothing, x)


def values_of(problems: Sequence[Problem], algorithm: Any) -> list[TracedValues]:
    """Return for each problem a function x (n, d) -> f, violation, g, h, and whether inequalities hold by far enough.

    g and h have columns only if the algorithm or its rule has `needs_constraint_values`. Then all problems have as many
    as the one with most constraints; added columns are 0, so they are satisfied and constant.
    """
    import jax.numpy as jnp

    def widened(columns: Array, width: int) -> Array:
        return jnp.pad(columns, ((0, 0), (0, width - columns.shape[1]))) if width else columns[:, :0]

    def values(problem: Problem, widths: Sequence[int], x: Array) -> Any:
        f, g, h = traced_values(problem, x)
        points = evaluated(x, f, g, h, SEARCHED * problem.tolerance)
        return points.f, points.violation, widened(g, widths[0]), widened(h, widths[1]), (g <= -INSIDE).all(axis=1)

    counts = counts_of(problems)
    widths = counts.max(axis=0) if reads_constraints(algorithm) else (0, 0)
    return [partial(values, problem, widths) for problem in problems]


def counts_of(problems: Sequence[Problem]) -> np.ndarray:
    """Return the numbers of inequalities and equalities of problems (k, 2); ValueError if not all have their names."""
    import jax

    point = jax.ShapeDtypeStruct((1, problems[0].dimension), float)
    shapes = [jax.eval_shape(partial(traced_values, problem), point) for problem in problems]
    counts = np.array([[g.shape[1], h.shape[1]] for _, g, h in shapes])
    for problem, there in zip(problems, counts.sum(axis=1).tolist(), strict=True):
        check_names(problem.constraint_names, there)
    return counts


def tolerances_of(problems: Sequence[Problem]) -> np.ndarray:
    """Return the tolerances of problems: numbers (k,), or those of each equality (k, q) if they differ somewhere.

    Columns that a problem does not have are 0, as their values are.
    """
    width = max(np.size(problem.tolerance) for problem in problems)
    if all(np.ndim(problem.tolerance) == 0 for problem in problems):
        return np.array([problem.tolerance for problem in problems])
    width = max(width, *(problem.n_eq or 0 for problem in problems))
    found = np.zeros((len(problems), width))
    for row, problem in zip(found, problems, strict=True):
        row[: problem.n_eq] = problem.tolerance
    return found


def why_not_traceable(problem: Problem) -> str | None:
    """Return why JAX cannot trace the function of a problem; None if it can."""
    import jax

    try:
        with float64():
            jax.eval_shape(partial(traced_values, problem), jax.ShapeDtypeStruct((3, problem.dimension), "float64"))
    except (Exception, SystemExit) as error:
        first = next(iter(error_text(error).strip().splitlines()), "")
        return f"JAX cannot trace its function ({type(error).__name__}: {first})"
    return None


def traced_values(problem: Problem, x: Array) -> tuple[Array, Array, Array]:
    """Return f (n,), g (n, p), h (n, q) of the rows of x (n, d) by JAX; a function of one point is mapped over rows."""
    import jax

    if not problem.vectorized:
        return jax.vmap(lambda row: traced_point_values(problem.fun(row)))(x)
    return traced_row_values(problem.fun(x), x.shape[0])


def device_of(device: Any) -> Any:
    """Return the JAX device for 'cpu', 'gpu', None (the default one) or a device; ValueError if there is none."""
    try:
        import jax
    except ImportError:
        raise ValueError("solve_batch needs JAX: pip install jax") from None
    if device is not None and not isinstance(device, str):
        return device
    try:
        return jax.devices(device)[0]
    except RuntimeError as error:
        raise ValueError(f"JAX has no device {device!r} here: {error}") from None
