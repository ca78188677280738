"""The ranks of CEC2017, the score of CEC2020, and the ranks printed in the PPS-DE publication."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppsde import published
from ppsde.stats import Outcomes, average_ranks, competition_ranks, published_average_ranks, weighted_scores

NAN = float("nan")


def ranked(**runs: Outcomes) -> tuple[list[float], list[float]]:
    ranks = competition_ranks({"C01": runs})
    return ranks.by_mean[0].tolist(), ranks.by_median[0].tolist()


def test_by_mean_the_feasibility_rate_comes_first_then_the_violation_then_the_objective() -> None:
    by_mean, _ = ranked(
        all_feasible_but_high=Outcomes([90.0, 90.0, 90.0]),
        all_feasible_and_lower=Outcomes([50.0, 50.0, 50.0]),
        two_of_three_with_less_violation=Outcomes([1.0, 1.0, 1.0], [0.0, 0.0, 0.1]),
        two_of_three_with_more_violation=Outcomes([0.0, 0.0, 0.0], [0.0, 0.0, 0.2]),
        one_of_three_with_hardly_any=Outcomes([-9.0, -9.0, -9.0], [0.0, 1e-6, 1e-6]),
    )
    assert by_mean == [2, 1, 3, 4, 5]


def test_by_median_feasible_goes_first_by_objective_and_infeasible_by_violation() -> None:
    _, by_median = ranked(
        infeasible_by_more=Outcomes([-5.0, -5.0, -5.0], [0.0, 0.3, 0.3]),
        feasible_and_high=Outcomes([9.0, 9.0, 0.0], [0.0, 0.0, 8.0]),
        infeasible_by_less=Outcomes([70.0, 70.0, 70.0], [0.0, 0.2, 0.2]),
        feasible_and_low=Outcomes([3.0, 3.0, 3.0]),
        failed=Outcomes([NAN, NAN, 0.0]),
    )
    assert by_median == [4, 2, 3, 1, 5]


def test_equal_algorithms_share_the_best_place_as_in_the_published_tables_or_the_mean_of_them() -> None:
    cells = {"C01": {"a": Outcomes([1.0]), "b": Outcomes([2.0]), "c": Outcomes([1.0]), "d": Outcomes([1.0])}}
    assert competition_ranks(cells).by_median.tolist() == [[1, 4, 1, 1]]
    assert competition_ranks(cells, ties="average").by_median.tolist() == [[2, 4, 2, 2]]


def test_the_rank_value_is_the_sum_of_both_ranks_over_the_problems() -> None:
    low, high = Outcomes([1.0, 1.0, 9.0]), Outcomes([2.0, 2.0, 2.0])  # better by median, better by mean
    ranks = competition_ranks({"C01": {"a": low, "b": high}, "C02": {"a": high, "b": high}})
    assert ranks.by_mean.tolist() == [[2, 1], [1, 1]]
    assert ranks.by_median.tolist() == [[1, 2], [1, 1]]
    assert ranks.total.tolist() == [5, 5]
    assert [row["place"] for row in ranks.rows()] == [1, 1]


def test_values_below_the_cutoff_are_equal_but_do_not_become_feasible() -> None:
    cells = {"C01": {"a": Outcomes([1e-15]), "b": Outcomes([0.0]), "c": Outcomes([0.0], [1e-12])}}
    assert competition_ranks(cells).by_mean.tolist() == [[2, 1, 3]]
    ranks = competition_ranks(cells, zero=1e-8)
    assert ranks.by_mean.tolist() == ranks.by_median.tolist() == [[1, 1, 3]]


def test_failing_is_worse_than_any_violation() -> None:
    by_mean, _ = ranked(violates=Outcomes([0.0, 0.0], [0.0, 1e9]), fails=Outcomes([0.0, NAN], [0.0, 0.0]))
    assert by_mean == [1, 2]


def test_failing_more_often_is_worse_whatever_the_other_runs_end_with() -> None:
    by_mean, _ = ranked(
        twice=Outcomes([0.0, NAN, NAN], [0.0, 0.0, 0.0]),
        once=Outcomes([9.0, 9.0, NAN], [0.0, 7.0, 0.0]),
        once_with_less_violation=Outcomes([9.0, 9.0, NAN], [0.0, 6.0, 0.0]),
    )
    assert by_mean == [3, 2, 1]


def test_algorithms_that_failed_in_every_run_are_last_together() -> None:
    by_mean, by_median = ranked(a=Outcomes([NAN, NAN]), b=Outcomes([0.0, 0.0], [5.0, 5.0]), c=Outcomes([NAN, NAN]))
    assert by_mean == by_median == [2, 1, 2]


@pytest.mark.parametrize("setting", [{"ties": "max"}, {"zero": -1.0}, {"zero": NAN}])
def test_bad_settings_are_refused(setting: dict) -> None:
    with pytest.raises(ValueError, match=str(next(iter(setting.values())))):
        competition_ranks({"C01": {"a": Outcomes([1.0])}}, **setting)


RUN = st.tuples(st.sampled_from([0.0, 1.0, 2.0, 5.0]), st.sampled_from([0.0, 0.0, 0.1, 2.0, NAN]))
SAMPLE = st.lists(RUN, min_size=3, max_size=3)


@given(st.lists(SAMPLE, min_size=2, max_size=5), st.data())
def test_a_run_that_fails_instead_never_improves_a_rank(samples: list, data: st.DataObject) -> None:
    run = data.draw(st.integers(0, 2))
    worse = [(NAN, v) if k == run else (f, v) for k, (f, v) in enumerate(samples[0])]
    before, after = (
        competition_ranks({"C": {str(k): Outcomes(*zip(*s, strict=True)) for k, s in enumerate([first, *samples[1:]])}})
        for first in (samples[0], worse)
    )
    assert after.by_mean[0, 0] >= before.by_mean[0, 0]
    assert after.by_median[0, 0] >= before.by_median[0, 0]


@given(st.lists(SAMPLE, min_size=2, max_size=5), st.randoms())
def test_ranks_do_not_depend_on_the_order_of_the_algorithms(samples: list, random: object) -> None:
    names = [str(k) for k in range(len(samples))]
    mixed = list(names)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    cells = {name: Outcomes(*zip(*sample, strict=True)) for name, sample in zip(names, samples, strict=True)}
    first = competition_ranks({"C": cells}, ties="average")
    second = competition_ranks({"C": {name: cells[name] for name in mixed}}, ties="average")
    back = [second.algorithms.index(name) for name in first.algorithms]
    assert np.array_equal(first.by_mean, second.by_mean[:, back])
    assert np.array_equal(first.by_median, second.by_median[:, back])
    k = len(samples)
    assert first.by_mean.sum() == first.by_median.sum() == k * (k + 1) / 2


PROBLEMS = [f"C{k:02d}" for k in range(1, 29)]
TIE_BROKEN = {10: [], 30: [(PROBLEMS.index("C09"), published.COLUMNS.index("PPS-DE"))], 50: []}


def means(dimension: int) -> np.ndarray:
    cells = published.cells()
    return np.array([[cells[dimension, problem, name].mean for name in published.COLUMNS] for problem in PROBLEMS])


def printed(dimension: int) -> np.ndarray:
    return np.array([published.ranks()[dimension, name] for name in published.COLUMNS])


@pytest.mark.parametrize("dimension", published.DIMENSIONS)
def test_every_printed_rank_is_reproduced_to_four_decimals(dimension: int) -> None:
    ranks = published_average_ranks(means(dimension), favoured=TIE_BROKEN[dimension])
    assert np.abs(ranks - printed(dimension)).max() <= 0.5e-4
    assert len(ranks) == 8


def test_at_30_variables_the_broken_tie_is_what_the_printed_ranks_need() -> None:
    assert np.abs(published_average_ranks(means(30)) - printed(30)).max() > 0.1


def test_with_missing_means_ranked_worst_the_ranks_are_others_and_another_leads_at_30_variables() -> None:
    tables = {d: np.where(np.abs(means(d)) < 1e-9, 0.0, means(d)) for d in published.DIMENSIONS}
    apart = max(np.abs(average_ranks(tables[d]) - printed(d)).max() for d in published.DIMENSIONS)
    assert round(apart, 2) == 0.57
    assert published.COLUMNS[np.argmin(average_ranks(tables[30]))] == "IUDE"


def test_the_recipe_by_hand() -> None:
    # Row 1: 0 and 1e-10 tie (1.5 each), 4 is third. Row 2: NaN counts as 1000, before 2000 and behind 3.
    assert published_average_ranks([[0.0, 1e-10, 4.0], [np.nan, 2000.0, 3.0]]).tolist() == [1.75, 2.25, 2.0]


# --- the score of CEC2020 -----------------------------------------------------------------------------------------


def scored(**runs: Outcomes) -> tuple[list[float], ...]:
    scores = weighted_scores({"RC01": runs}, {"RC01": 9})
    return tuple(part[0].tolist() for part in (scores.best, scores.mean, scores.median))


def test_feasible_runs_are_scaled_by_objective_and_infeasible_ones_follow_by_violation() -> None:
    best, mean, median = scored(
        low=Outcomes([1.0, 2.0, 3.0]),
        high=Outcomes([5.0, 6.0, 7.0]),
        half=Outcomes([3.0, 0.0, 0.0], [0.0, 2.0, 4.0]),
        never=Outcomes([-9.0, -9.0, -9.0], [5.0, 10.0, 15.0]),
    )
    assert best == [0, 4 / 9, 2 / 9, 1]  # 1, 5, 3 and 5 + 5
    assert mean == pytest.approx([0, 4 / 14, 6 / 14, 1])  # 2, 6, 6 + 2 and 6 + 10
    assert median == pytest.approx([0, 4 / 14, 6 / 14, 1])


def test_where_nobody_is_feasible_the_violation_decides_and_equal_algorithms_have_nothing() -> None:
    assert scored(a=Outcomes([0.0], [3.0]), b=Outcomes([9.0], [1.0]))[0] == [1, 0]
    assert scored(a=Outcomes([4.0]), b=Outcomes([4.0])) == ([0, 0],) * 3


def test_an_algorithm_without_a_value_has_the_worst_score_and_does_not_move_the_others() -> None:
    assert scored(a=Outcomes([1.0] * 3), b=Outcomes([3.0] * 3), lost=Outcomes([NAN] * 3)) == ([0, 1, 1],) * 3
    assert scored(a=Outcomes([1.0] * 3), b=Outcomes([0.0, NAN, 0.0])) == ([1, 0], [0, 1], [1, 0])
    assert scored(a=Outcomes([NAN]), b=Outcomes([NAN])) == ([1, 1],) * 3


def test_larger_problems_weigh_more_and_the_best_run_counts_half() -> None:
    a, b = Outcomes([0.0, 2.0, 7.0]), Outcomes([1.0, 1.0, 1.0])  # a is better by its best run alone
    sizes = {"RC04": 10, "RC06": 11, "RC07": 31, "RC34": 51, "RC35": 151}
    scores = weighted_scores({name: {"a": a, "b": b} for name in sizes}, sizes)
    assert scores.weights.tolist() == pytest.approx([1 / 15, 2 / 15, 3 / 15, 4 / 15, 5 / 15])
    assert scores.total.tolist() == pytest.approx([0.5, 0.5])
    assert [row["place"] for row in scores.rows()] == [1, 1]
    assert [row["weight"] for row in scores.problem_rows()][::2] == scores.weights.tolist()
    with pytest.raises(ValueError, match="it has none for RC06"):
        weighted_scores({"RC06": {"a": a, "b": b}}, {})
