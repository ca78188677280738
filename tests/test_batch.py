"""Many runs as one compiled program."""

import numpy as np
import pytest

import ppsde
from ppsde import batch
from ppsde.arrays import bits
from ppsde.suites import get

jax = pytest.importorskip("jax")

C05 = get("cec2017").problem("C05", 4, instance=1)
C14 = get("cec2017").problem("C14", 4, instance=1)
QUICK = {"max_evaluations": 3000, "record": 10}


@pytest.fixture(scope="module")
def together():
    return ppsde.solve_batch([C05, C14], runs=4, seed=3, **QUICK)


def test_a_batch_has_a_row_per_run_and_meets_the_budget_exactly(together):
    for problem, result in zip([C05, C14], together, strict=True):
        assert result.problem is problem
        assert result.x.shape == (4, 4) and result.f.shape == result.violation.shape == (4,)
        assert (result.evaluations == 3000).all()
        assert ((result.x >= problem.lower) & (result.x <= problem.upper)).all()
        assert len({bits(row) for row in result.x}) == 4, "runs of a batch must differ"
        assert result.compile_seconds > 0 and result.run_seconds > 0
        assert problem.name in repr(result)


def test_values_are_those_of_the_problem_in_64_bits(together):
    for result in together:
        f, g, h = result.problem.evaluate(result.x)
        np.testing.assert_allclose(result.f, f, rtol=1e-11, atol=1e-11)  # as exact as the suite itself is tested
        np.testing.assert_allclose(result.violation, ppsde.violation.search_violation(g, h), rtol=1e-9, atol=1e-15)
        assert (result.feasible == (result.violation == 0)).all()


def test_the_record_follows_the_best_and_ends_with_it(together):
    for result in together:
        record = result.record
        assert set(record) >= {"evaluations", "f", "violation", "feasible_share", "stage", "epsilon"}
        assert record["f"].shape == (4, 10) and not np.isnan(record["f"]).any()
        assert (np.diff(record["evaluations"]) > 0).all() and (record["evaluations"][:, -1] == 3000).all()
        assert (record["f"][:, -1] == result.f).all() and (np.diff(record["violation"]) <= 0).all()
        kept = zip(result.answer_violation, result.answer_f, strict=True)
        seen = zip(result.violation, result.f, strict=True)
        assert all(s <= k for s, k in zip(seen, kept, strict=True)), "what was kept cannot be better than what was seen"


def test_a_run_is_the_same_alone_and_beside_other_problems(together):
    alone = ppsde.solve_batch(C14, runs=[2], seed=3, **QUICK)
    assert bits(alone.x[0]) == bits(together[1].x[2])
    for name, column in alone.record.items():
        assert bits(column[0]) == bits(together[1].record[name][2]), name


def test_batches_that_do_not_fit_are_done_in_turns_with_the_same_results(together, monkeypatch):
    monkeypatch.setattr(batch, "LARGEST_BATCH", 3 * 8 * batch.COPIES * 2 * 40 * 12)  # room for three runs
    turns = ppsde.solve_batch([C05, C14], runs=4, seed=3, **QUICK)
    assert [bits(a.x) for a in turns] == [bits(b.x) for b in together]


def test_a_second_call_compiles_nothing(together):
    compiled = batch._program.cache_info().misses
    again = ppsde.solve_batch([C05, C14], runs=4, seed=3, **QUICK)
    assert batch._program.cache_info().misses == compiled
    assert bits(again[0].x) == bits(together[0].x)


def test_floats_stay_32_bits_in_the_rest_of_the_process(together):
    assert jax.numpy.ones(1).dtype == np.float32


def test_memory_is_bounded_whatever_the_number_of_runs():
    problem = get("cec2017").problem("C01", 10, instance=1)
    at_once = batch._runs_at_once([problem], 100_000)
    assert 25 <= at_once < 100_000
    assert batch._runs_at_once([problem], 7) == 7


def test_a_function_of_ones_own_runs_compiled():
    def fun(x):
        return (x**2).sum(axis=1), 1.0 - x[:, :1], x[:, :0]

    mine = ppsde.Problem(fun, [(-5.0, 5.0)] * 3, vectorized=True)
    result = ppsde.solve_batch(mine, runs=2, max_evaluations=6000, device="cpu")
    assert result.feasible.all() and result.f == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"runs": 0}, "runs must be"),
        ({"runs": [-1]}, "run numbers"),
        ({"runs": 2.5}, "runs must be"),
        ({"seed": -1}, "seed must be an int >= 0; got -1"),
        ({"record": 0}, "record must be an int >= 1; got 0"),
        ({"max_evaluations": 0}, "max_evaluations must be an int >= 1; got 0"),
        ({"method": "nonsense"}, "unknown method"),
        ({"device": "abacus"}, "no device 'abacus'"),
        ({"problem": []}, "got none"),
        ({"problem": [C05, get("cec2017").problem("C05", 5, instance=1)]}, "one dimension; got 4, 5"),
        ({"problem": ppsde.Problem(sum, [(0, 1)])}, "vectorized=True"),
    ],
)
def test_a_bad_argument_is_named(arguments, words):
    with pytest.raises(ValueError) as caught:
        ppsde.solve_batch(**{"problem": C05, **arguments})
    assert words in str(caught.value)
