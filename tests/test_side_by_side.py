"""Batches as a GPU takes them, all runs side by side, here on a CPU: each problem has its own rows of the batch."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import ppsde
from ppsde import batch
from ppsde.algorithm import Task
from ppsde.arrays import bits
from ppsde.engines import compiled
from ppsde.engines.tracing import Widened
from ppsde.population import evaluated
from ppsde.streams import JaxStream, root_key
from ppsde.suites import get

jax = pytest.importorskip("jax")

CLOSE = 1e-11  # as exact as the suite's values are tested: they are sums of much larger terms
PROBLEMS = [get("cec2017").problem(name, 4, instance=1) for name in ("C05", "C14", "C03")]  # C03 has an equality
RUNS = 4


@pytest.fixture
def aside(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a GPU, but with fewer runs side by side."""
    batch._program.cache_clear()
    monkeypatch.setattr(compiled, "goes_aside", lambda device: True)
    monkeypatch.setattr(compiled, "SIDE_BY_SIDE", RUNS * len(PROBLEMS))


def solved(runs: Any, method: str, problems: list[ppsde.Problem] = PROBLEMS) -> list[ppsde.BatchResult]:
    results: list[ppsde.BatchResult] = ppsde.solve_batch(
        problems, method=method, runs=runs, rng=3, max_evaluations=1500, record=10, device="cpu"
    )
    return results


def test_every_problem_gets_its_own_rows(aside: None) -> None:
    with compiled.float64():
        evaluate = compiled._side_by_side(compiled.values_of(PROBLEMS, None), RUNS)
        x = np.random.default_rng(1).uniform(-50, 50, (RUNS * len(PROBLEMS), 7, 4))
        f, violation, *_ = jax.jit(jax.vmap(evaluate))(jax.numpy.asarray(x))
    for k, problem in enumerate(PROBLEMS):
        rows = slice(k * RUNS, (k + 1) * RUNS)
        expected_f, g, h = problem.evaluate(x[rows].reshape(-1, 4))
        np.testing.assert_allclose(np.ravel(f[rows]), expected_f, rtol=CLOSE, atol=CLOSE)
        expected = ppsde.population.search_violation(g, h, compiled.SEARCHED * problem.tolerance)
        np.testing.assert_allclose(np.ravel(violation[rows]), expected, rtol=CLOSE, atol=CLOSE)


def test_where_no_run_wants_a_value_none_is_computed_and_where_one_does_all_are(aside: None) -> None:
    with compiled.float64():
        evaluate = compiled._side_by_side(compiled.values_of(PROBLEMS, None), RUNS)
        size = RUNS * len(PROBLEMS)
        x = jax.numpy.asarray(np.random.default_rng(1).uniform(-50, 50, (size, 2, 4)))
        wanted = jax.jit(jax.vmap(evaluate))
        every = np.asarray(wanted(x)[0])
        nobody, somebody = jax.numpy.zeros(size, bool), jax.numpy.arange(size) == 5
        assert not np.asarray(wanted(x, nobody)[0]).any() and every.all()
        np.testing.assert_array_equal(wanted(x, somebody)[0], every)


@pytest.mark.parametrize(
    ("method", "later", "count"), [("jde", 1e-12, 3), pytest.param("emag-es", 1e-5, 2, marks=pytest.mark.slow)]
)
def test_runs_side_by_side_are_those_that_follow_one_another(
    aside: None, method: str, later: float, count: int
) -> None:
    """Early in the runs, after 150 and 300 evaluations: rounding grows along them.

    The second method repairs, by a mask, from 200 evaluations on; its gradients are differences, which enlarge it. It
    takes long to compile: two problems, one of which has an equality.
    """
    beside = solved(RUNS, method, PROBLEMS[-count:])
    batch._program.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "goes_aside", lambda device: False)
        patch.setattr(compiled, "_side_by_side", None)  # which is not called
        after = solved(RUNS, method, PROBLEMS[-count:])
    for one, other in zip(beside, after, strict=True):
        assert (one.evaluations == other.evaluations).all() and (one.evaluations == 1500).all()
        for name, (at, rtol) in itertools.product(("f", "violation"), enumerate((1e-12, later))):
            found, expected = (result.record[name][:, at] for result in (one, other))
            np.testing.assert_allclose(found, expected, rtol=rtol, atol=CLOSE, err_msg=name)


def test_a_run_has_the_same_bits_whatever_runs_are_beside_it(aside: None) -> None:
    few, many = solved([2], "jde"), solved(9, "jde")  # nine take three calls, in each a run twice
    for one, other in zip(few, many, strict=True):
        assert bits(one.x[0]) == bits(other.x[2]) and one.f[0] == other.f[2]
        for name, column in one.record.items():
            assert bits(column[0]) == bits(other.record[name][2]), name
    assert len({bits(row) for row in many[0].x}) == 9, "runs of a batch must differ"


@pytest.mark.parametrize("method", ["sass", "enmode"])
def test_columns_added_for_another_problem_do_not_count(method: str) -> None:
    """These two divide by the number of constraints, or begin with the easier half of them."""
    problem, none = PROBLEMS[2], jax.numpy.zeros
    with compiled.float64():
        box = jax.numpy.asarray(problem.lower), jax.numpy.asarray(problem.upper)

        def first_state(task: Task, p: int, q: int) -> Any:
            """The first state, with so many columns added to g and h."""
            coroutine = ppsde.ALGORITHMS[method].start(task, JaxStream(root_key(1)))
            x = next(coroutine)
            f, g, h = compiled.traced_values(problem, x)
            counts.append((g.shape[1], h.shape[1]))
            g, h = (jax.numpy.concatenate([c, none((len(x), n))], axis=1) for c, n in ((g, p), (h, q)))
            with pytest.raises(StopIteration) as end:
                coroutine.send(evaluated(x, f, g, h, problem.tolerance))
            return end.value.value

        counts: list[tuple[int, int]] = []
        alone = first_state(Task(*box, 1000), 0, 0)
        beside = first_state(Widened(*box, 1000, counts=jax.numpy.asarray(counts[0])), 3, 2)
        if method == "sass":
            assert beside.level.start == alone.level.start > 0
        else:
            (p, q), easy = counts[0], np.asarray(beside.easy.counts)
            assert not easy[p : p + 3].any() and not easy[p + 3 + q :].any()
            assert (
                np.delete(easy, [*range(p, p + 3), *range(p + 3 + q, p + q + 5)]).tolist() == alone.easy.counts.tolist()
            )
