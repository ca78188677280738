"""The array vocabulary in both namespaces: which one, order, rows, lazy choice, exact content."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ppsde import arrays
from ppsde.arrays import (
    HUGE,
    ascending,
    bits,
    each_matrix,
    gather,
    mended,
    namespace,
    once,
    one_of_each,
    order,
    places,
    repeated_while,
    seldom,
    when,
)


@dataclass(frozen=True)
class Inner:
    count: Any
    row: Any  # (3,)


@dataclass(frozen=True)
class Outer:
    inner: Inner
    value: Any


def tree(xp: Any, start: float) -> Outer:
    return Outer(Inner(xp.asarray(int(start)), start + xp.arange(3.0)), xp.asarray(start / 2))


def content(outer: Outer) -> list[Any]:
    return [int(outer.inner.count), np.asarray(outer.inner.row).tolist(), float(outer.value)]


@pytest.fixture(params=["numpy", "jax"])
def xp(request: pytest.FixtureRequest) -> Any:
    return np if request.param == "numpy" else pytest.importorskip("jax").numpy


def test_one_component_of_each_row_is_named_or_none(xp: Any) -> None:
    named = np.asarray(one_of_each(xp.asarray([2, 0, -1, 1]), 3))
    assert named.dtype == bool
    assert named.astype(int).tolist() == [[0, 0, 1], [1, 0, 0], [0, 0, 0], [0, 1, 0]]


def test_an_array_names_its_namespace(xp: Any) -> None:
    assert namespace(xp.zeros(3)) is xp
    assert namespace(xp.asarray(True)) is xp


def test_a_traced_array_is_of_jax() -> None:
    jax = pytest.importorskip("jax")
    seen = []

    def look(v: Any) -> Any:
        seen.append(namespace(v))
        return v

    jax.jit(look)(1.0)
    jax.vmap(look)(jax.numpy.zeros(2))
    assert seen == [jax.numpy, jax.numpy]


@pytest.mark.parametrize("value", [1, 2.5, True, np.float64(3.0), np.bool_(True), [1.0], None])
def test_whatever_else_is_of_numpy(value: Any) -> None:
    assert namespace(value) is np


def test_huge_lies_between_every_other_value_and_infinity() -> None:
    assert np.finfo(float).max == HUGE
    assert math.nextafter(HUGE, math.inf) == math.inf


def test_order_takes_the_first_key_then_the_second_then_the_position(xp: Any) -> None:
    first = xp.asarray([1.0, 0.0, np.inf, 0.0, 1.0, 0.0])
    second = xp.asarray([5.0, 2.0, 0.0, 1.0, 5.0, 2.0])
    assert np.asarray(order(first, second)).tolist() == [3, 1, 5, 0, 4, 2]


def test_indices_that_sort_leave_ties_in_their_place(xp: Any) -> None:
    values = np.array([[2.0, 1.0, np.inf, 1.0, -1.0], [0.0] * 5, [1.0, 3.0, 0.0, -np.inf, 0.0]])
    for axis in (0, 1, -1):
        expected = np.argsort(values, axis=axis, kind="stable")
        assert (np.asarray(ascending(xp.asarray(values), axis=axis)) == expected).all()
    assert np.asarray(ascending(xp.asarray(values[0]))).tolist() == [4, 1, 3, 0, 2]


def test_what_is_wrong_nowhere_is_not_mended_in_numpy_and_mended_to_the_same_in_jax(xp: Any) -> None:
    values, calls = xp.asarray([1.0, 2.0, 3.0]), []

    def mend() -> Any:
        calls.append(1)
        return xp.minimum(values, 2.5)

    assert np.asarray(mended(values > 2.5, mend, values)).tolist() == [1.0, 2.0, 2.5] and len(calls) == 1
    small = xp.asarray([1.0, 2.0])
    same = mended(small > 2.5, lambda: calls.append(1) or xp.minimum(small, 2.5), small)
    assert np.asarray(same).tolist() == [1.0, 2.0] and len(calls) == (1 if xp is np else 2)


def test_gather_takes_rows_in_the_order_asked_and_as_often(xp: Any) -> None:
    table = xp.asarray([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    taken = gather(table, xp.asarray([2, 0, 2, 1]))
    assert np.asarray(taken).tolist() == [[5.0, 6.0], [1.0, 2.0], [5.0, 6.0], [3.0, 4.0]]
    assert gather(table[:, :0], xp.asarray([2, 0])).shape == (2, 0)


@pytest.mark.parametrize("holds", [False, True])
def test_when_gives_one_tree_or_the_other_whole(xp: Any, holds: bool) -> None:
    chosen = when(xp.asarray(holds), lambda: tree(xp, 8.0), tree(xp, 2.0))
    assert content(chosen) == ([8, [8.0, 9.0, 10.0], 4.0] if holds else [2, [2.0, 3.0, 4.0], 1.0])


def test_numpy_makes_the_first_only_where_it_is_needed() -> None:
    made = []

    def first() -> int:
        made.append(1)
        return 7

    for no in (False, np.False_, np.asarray(False)):
        assert when(no, first, 5) == 5
    assert made == []
    assert when(np.asarray(True), first, 5) == 7
    assert made == [1]


def test_jax_chooses_for_each_run_of_a_batch() -> None:
    jax = pytest.importorskip("jax")

    def choice(condition: Any, start: Any) -> tuple[Any, Any]:
        chosen = when(
            condition, lambda: Inner(start + 10, start * jax.numpy.arange(3)), Inner(start, jax.numpy.ones(3))
        )
        return chosen.count, chosen.row

    count, row = jax.jit(jax.vmap(choice))(np.array([True, False, True]), np.array([1, 2, 3]))
    assert count.tolist() == [11, 2, 13]
    assert row.tolist() == [[0, 1, 2], [1, 1, 1], [0, 3, 6]]


def test_bits_tell_apart_what_compares_equal_and_match_what_does_not() -> None:
    assert bits(np.array([0.0])) != bits(np.array([-0.0]))
    assert bits(np.array([np.nan])) == bits(np.array([np.nan]))
    assert bits(np.array([1.0])) != bits(np.array([np.nextafter(1.0, 2.0)]))
    assert bits(np.arange(6.0).reshape(2, 3).T) == bits(np.arange(6.0).reshape(2, 3).T.copy()), "whatever the layout"


def test_what_is_to_be_computed_once_is_the_same_in_both_namespaces(xp: Any) -> None:
    first, second = once(xp.arange(3), xp.asarray(2.5))
    assert first.tolist() == [0, 1, 2] and float(second) == 2.5


def test_a_traced_program_holds_a_barrier_where_something_is_to_be_computed_once() -> None:
    jax = pytest.importorskip("jax")
    program = str(jax.make_jaxpr(jax.vmap(lambda v: once(v + 1.0, v * 2.0)))(jax.numpy.arange(2.0)))
    assert "optimization_barrier" in program


def test_a_step_is_repeated_while_the_condition_holds(xp: Any) -> None:
    assert int(repeated_while(lambda v: v < 100, lambda v: 2 * v, xp.asarray(3))) == 192
    assert int(repeated_while(lambda v: v < 100, lambda v: 2 * v, xp.asarray(100))) == 100, "not once"
    start = (xp.asarray(0), xp.asarray([1.0, 2.0]))
    count, row = repeated_while(lambda at: at[0] < 3, lambda at: (at[0] + 1, at[1] * 2), start)
    assert int(count) == 3 and row.tolist() == [8, 16]


def test_where_a_run_needs_it_seldom_is_when(xp: Any) -> None:
    old = Outer(Inner(xp.asarray(1), xp.asarray([1.0, 2.0, 3.0])), xp.asarray(0.5))
    new = Outer(Inner(xp.asarray(2), xp.asarray([4.0, 5.0, 6.0])), xp.asarray(1.5))
    for condition, expected in ((True, new), (False, old)):
        found = seldom(xp.asarray(condition), lambda: new, old)
        assert found.inner.row.tolist() == expected.inner.row.tolist() and found.value == expected.value
        assert found.inner.count == expected.inner.count


def test_a_batch_computes_seldom_only_where_a_run_needs_it() -> None:
    jax = pytest.importorskip("jax")
    calls: list[int] = []

    def one(condition: Any, x: Any) -> Any:
        def first() -> Any:
            jax.debug.callback(lambda: calls.append(1))
            return 2 * x

        return seldom(condition, first, x)

    program = jax.jit(jax.vmap(one))
    for conditions, doubled in (([False, False], [1, 2]), ([False, True], [1, 4])):
        calls.clear()
        assert program(np.array(conditions), np.array([1, 2])).tolist() == doubled
        jax.effects_barrier()
        assert bool(calls) == any(conditions)


def test_the_places_of_rows_are_where_sorting_would_find_them(xp: Any) -> None:
    rows = xp.asarray(np.random.default_rng(1).permutation(50))
    assert places(rows).tolist() == np.argsort(np.asarray(rows)).tolist()


def test_each_run_of_a_batch_repeats_as_often_as_it_needs() -> None:
    jax = pytest.importorskip("jax")
    doubled = jax.jit(jax.vmap(lambda v: repeated_while(lambda w: w < 100, lambda w: 2 * w, v)))
    assert doubled(np.array([3, 60, 200])).tolist() == [192, 120, 200]


def test_a_function_of_a_matrix_is_applied_to_each_of_a_stack(xp: Any) -> None:
    matrices = xp.asarray([[[2.0, 0.0], [0.0, 4.0]], [[0.0, 1.0], [1.0, 0.0]]])
    right = xp.asarray([[[2.0], [2.0]], [[5.0], [7.0]]])
    assert each_matrix(xp.linalg.solve, matrices, right).tolist() == [[[1.0], [0.5]], [[7.0], [5.0]]]


def test_jax_calls_lapack_with_one_matrix_at_a_time() -> None:
    jax = pytest.importorskip("jax")
    program = str(jax.make_jaxpr(lambda stack: each_matrix(jax.numpy.linalg.cholesky, stack))(np.ones((3, 2, 2))))
    assert "scan" in program and "[2,2] = cholesky" in program.replace("f32", "").replace("f64", "")


def test_on_other_devices_jax_takes_a_stack_of_matrices_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    jax = pytest.importorskip("jax")
    monkeypatch.setattr(arrays, "_device", lambda: SimpleNamespace(platform="gpu"))
    program = str(jax.make_jaxpr(lambda stack: each_matrix(jax.numpy.linalg.cholesky, stack))(np.ones((3, 2, 2))))
    assert "scan" not in program and "[3,2,2] = cholesky" in program.replace("f32", "").replace("f64", "")


def test_the_device_is_that_in_use() -> None:
    jax = pytest.importorskip("jax")
    for device in (None, "cpu", jax.devices("cpu")[0]):
        with jax.default_device(device):
            assert arrays._device().platform == "cpu"
