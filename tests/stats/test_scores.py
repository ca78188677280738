"""The scores of the CEC2024, CEC2025 and CEC2026 competitions: their reports' examples, and counted pair by pair."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from ppsde.stats import Outcomes, Records, accuracy_and_speed, u_score

NAN, INF = float("nan"), float("inf")
POINTS = np.arange(1, 11) * 10  # evaluations at the records
HIGH = 1000.0  # an objective before the search has got anywhere


def step(at: float, f: float, violation: float = 0.0) -> tuple[list, list]:
    """A run that jumps to its final values at so many evaluations; before it is infeasible by 99."""
    there = at <= POINTS
    return np.where(there, f, HIGH).tolist(), np.where(there, violation, 99.0).tolist()


def records(*runs: tuple[list, list]) -> Records:
    f, violation = zip(*runs, strict=True)
    return Records(POINTS, f, violation)


# The U-score with a target.


def test_the_example_of_the_report_of_2024() -> None:
    """Three algorithms, four trials each: ranks 12 10 8 4, 11 9 6 3 and 7 5 2 1; scores 24, 19 and 5."""
    a1 = records(step(10, 1.0), step(30, 0.5), step(50, 2.0), step(10, 8.0))
    a2 = records(step(20, 1.5), step(40, 0.1), step(10, 6.0), step(50, -7.0, violation=0.2))
    a3 = records(step(60, 1.0), step(10, 7.0), step(10, -9.0, violation=0.3), step(90, -9.0, violation=0.4))
    cells = {"C01": {"A1": a1, "A2": a2, "A3": a3}}
    score = u_score(cells, targets={"C01": 2.0})
    assert score.scores.tolist() == [[24, 19, 5]]
    assert score.parts["reached"].tolist() == [[3, 2, 1]]
    assert score.parts["feasible"].tolist() == [[1, 1, 1]]
    assert score.parts["infeasible"].tolist() == [[0, 1, 2]]


def test_the_target_is_the_median_of_the_feasible_final_objectives() -> None:
    slow_and_low, quick_and_middle = records(step(90, 1.0)), records(step(10, 2.0))
    high, infeasible = records(step(10, 3.0)), records(step(10, -50.0, violation=1.0))
    cells = {"C01": {"a": slow_and_low, "b": quick_and_middle, "c": high, "d": infeasible}}
    assert u_score(cells).scores.tolist() == [[2, 3, 1, 0]]  # the target is 2; b reaches it before a


def test_a_target_is_reached_by_feasible_records_alone() -> None:
    late = Records(POINTS, [[0.0] * 10], [[1.0] * 8 + [0.0] * 2])  # low from the start, feasible at 90
    early = Records(POINTS, [[HIGH] * 4 + [0.0] * 6])
    assert u_score({"C01": {"late": late, "early": early}}).scores.tolist() == [[0, 1]]


def test_without_any_feasible_trial_the_violation_decides_and_failed_trials_are_last() -> None:
    cells = {
        "C17": {
            "a": records(step(10, 0.0, violation=0.5)),
            "b": records(step(90, 9.0, violation=0.4)),
            "failed": Records(POINTS, [[NAN] * 10]),
            "failed too": Records(POINTS, [[NAN] * 10]),
        }
    }
    assert u_score(cells).scores.tolist() == [[2, 3, 0.5, 0.5]]


def test_for_two_algorithms_without_a_target_in_reach_it_is_the_u_of_mann_and_whitney() -> None:
    a, b = np.random.default_rng(3).normal(size=(2, 25))
    cells = {"C01": {"a": Records([1], a[:, None]), "b": Records([1], b[:, None])}}
    score = u_score(cells, targets={"C01": -INF})
    assert score.scores[0, 0] == scipy.stats.mannwhitneyu(b, a).statistic


def test_totals_and_rank_sums() -> None:
    win, loss = records(step(10, 0.0)), records(step(90, 0.0))
    cells = {"C01": {"a": win, "b": loss}, "C02": {"a": win, "b": loss}, "C03": {"a": win, "b": win}}
    score = u_score(cells)
    assert score.rows() == [
        {"algorithm": "a", "score": 2.5, "rank sum": 3.5},
        {"algorithm": "b", "score": 0.5, "rank sum": 5.5},
    ]


def final_order(trial: tuple, target: float) -> tuple:
    """Return the sort key of a trial, larger is worse: tier, then evaluations, objective or violation."""
    f, violation = trial
    best, least, reached = INF, INF, INF
    for k, point in enumerate(POINTS):
        if np.isnan(f[k]) or np.isnan(violation[k]):
            continue
        least = min(least, violation[k])
        if violation[k] == 0:
            best = min(best, f[k])
            if best <= target:
                reached = min(reached, point)
    if reached < INF:
        return 0, reached
    return (1, best) if least == 0 else (2, least) if least < INF else (3, 0)


ENTRY = st.tuples(st.sampled_from([0.0, 1.0, 2.0, 3.0, NAN]), st.sampled_from([0.0, 0.0, 0.2, 0.7, NAN]))
TRIAL = st.lists(ENTRY, min_size=10, max_size=10).map(lambda entries: tuple(zip(*entries, strict=True)))
FIELD = st.lists(st.lists(TRIAL, min_size=1, max_size=3), min_size=2, max_size=3)


def cells_of(field: list) -> dict:
    return {"C01": {str(k): records(*trials) for k, trials in enumerate(field)}}


@settings(max_examples=60)
@given(FIELD, st.sampled_from([0.0, 1.5, 2.0]))
def test_a_score_is_the_number_of_other_algorithms_trials_beaten(field: list, target: float) -> None:
    keys = [[final_order(trial, target) for trial in trials] for trials in field]
    expected = [
        sum(
            (mine < other) + (mine == other) / 2
            for mine in keys[a]
            for b in range(len(keys))
            if b != a
            for other in keys[b]
        )
        for a in range(len(keys))
    ]
    assert u_score(cells_of(field), targets={"C01": target}).scores[0].tolist() == expected


def test_the_scores_of_a_problem_add_up_as_in_the_published_tables() -> None:
    published_2025 = [95.5, 1350, 1743, 561.5]  # C01 of CEC2025: UDE-III, CL-SRDE, RDEx, UDE-IV, 25 trials each
    published_2026 = [7162.5, 5159.5, 6537.5, 5034.5, 5660.5, 4045.5, 3313, 2887]  # C01 of CEC2026, eight algorithms
    rng = np.random.default_rng(0)
    f, violation = rng.integers(5, size=(8, 25, 10)).astype(float), rng.choice([0.0, 0.1, 0.2], size=(8, 25, 10))
    cells = {str(k): Records(POINTS, f[k], violation[k]) for k in range(8)}
    four = {"C01": {name: cells[name] for name in "0123"}}
    assert u_score(four).scores.sum() == sum(published_2025) == 3750
    assert accuracy_and_speed({"C01": cells}).scores.sum() == sum(published_2026) == 39800


# Accuracy and speed without a target.


def test_the_example_of_the_report_of_2026() -> None:
    """Figure 1: five of eight trials become feasible; accuracy 14 and 14, speed 13 and 15."""
    p1, p2 = step(10, 2.0), step(40, 4.0)
    p3, p4 = step(80, 5.0), step(100, 0.0, violation=1.0)
    q1, q2 = step(20, 1.0), step(30, 3.0)
    q3, q4 = step(60, 0.0, violation=0.5), step(90, 0.0, violation=2.0)
    alone = [records(trial) for trial in (p1, p2, p3, p4, q1, q2, q3, q4)]
    by_trial = accuracy_and_speed({"C01": {str(k): trial for k, trial in enumerate(alone)}})
    assert by_trial.parts["accuracy"].tolist() == [[6, 4, 3, 1, 7, 5, 2, 0]]
    assert by_trial.parts["speed"].tolist() == [[7, 4, 2, 0, 6, 5, 3, 1]]

    score = accuracy_and_speed({"C01": {"P": records(p1, p2, p3, p4), "Q": records(q1, q2, q3, q4)}})
    assert score.parts["accuracy"].tolist() == [[14, 14]]
    assert score.parts["speed"].tolist() == [[13, 15]]
    assert score.scores.tolist() == [[27, 29]]


def test_objectives_within_the_precision_are_equal_and_reached() -> None:
    a = Records([10, 20], [[5.0, 1.0]])
    b = Records([10, 20], [[1.0 + 5e-9, 1.0 + 5e-9]])
    loose, strict = (accuracy_and_speed({"C01": {"a": a, "b": b}}, precision=p) for p in (1e-8, 0.0))
    assert loose.parts["accuracy"].tolist() == [[0.5, 0.5]]
    assert strict.parts["accuracy"].tolist() == [[1, 0]]
    assert loose.parts["speed"].tolist() == strict.parts["speed"].tolist() == [[0, 1]]


def test_a_failed_trial_is_less_accurate_and_slower_than_any_other_and_equal_to_another() -> None:
    failed = Records([10, 20], [[NAN, NAN]])
    infeasible = Records([10, 20], [[0.0, 0.0]], [[9.0, 8.0]])
    score = accuracy_and_speed({"C01": {"infeasible": infeasible, "failed": failed, "failed too": failed}})
    assert score.parts["accuracy"].tolist() == score.parts["speed"].tolist() == [[2, 0.5, 0.5]]


def first(values: list, level: float) -> float:
    """Evaluations at the first value that is there and no larger than the level."""
    return next((float(point) for point, value in zip(POINTS, values, strict=True) if value <= level), INF)


def along(trial: tuple) -> tuple[list, list]:
    """The smallest feasible objective and the least violation so far."""
    f, violation = trial
    best, least, all_best, all_least = INF, INF, [], []
    for k in range(10):
        if not (np.isnan(f[k]) or np.isnan(violation[k])):
            least = min(least, violation[k])
            best = min(best, f[k]) if violation[k] == 0 else best
        all_best.append(best if best < INF else NAN)
        all_least.append(least if least < INF else NAN)
    return all_best, all_least


def duel(one: tuple, two: tuple) -> tuple[float, float]:
    """The points of the first of two trials, for accuracy and for speed, as the report words it."""
    (f1, v1), (f2, v2) = along(one), along(two)
    if np.isnan(v1[-1]) or np.isnan(v2[-1]):  # failed
        point = 0.5 if np.isnan(v1[-1]) and np.isnan(v2[-1]) else float(np.isnan(v2[-1]))
        return point, point
    feasible1, feasible2 = v1[-1] == 0, v2[-1] == 0
    if feasible1 and feasible2:
        accuracy = float(f1[-1] < f2[-1]) if f1[-1] != f2[-1] else 0.5
        level = max(f1[-1], f2[-1])
        t1, t2 = first(f1, level), first(f2, level)
    else:
        accuracy = float(v1[-1] < v2[-1]) if v1[-1] != v2[-1] else 0.5
        level = max(v1[-1], v2[-1])
        t1, t2 = first(v1, level), first(v2, level)
    return accuracy, float(t1 < t2) if t1 != t2 else 0.5


@settings(max_examples=60)
@given(FIELD)
def test_accuracy_and_speed_are_those_of_all_duels(field: list) -> None:
    trials = [(owner, trial) for owner, trials in enumerate(field) for trial in trials]
    accuracy, speed = np.zeros(len(field)), np.zeros(len(field))
    for i, (owner, one) in enumerate(trials):
        for j, (_, two) in enumerate(trials):
            if i != j:
                points = duel(one, two)
                accuracy[owner] += points[0]
                speed[owner] += points[1]
    score = accuracy_and_speed(cells_of(field))
    assert score.parts["accuracy"][0].tolist() == accuracy.tolist()
    assert score.parts["speed"][0].tolist() == speed.tolist()


@settings(max_examples=40)
@given(FIELD)
def test_a_trial_that_fails_instead_never_improves_a_score(field: list) -> None:
    worse = [[((NAN,) * 10, field[0][0][1]), *field[0][1:]], *field[1:]]
    before, after = cells_of(field), cells_of(worse)
    assert accuracy_and_speed(after).scores[0, 0] <= accuracy_and_speed(before).scores[0, 0]
    targets = {"C01": 1.0}
    assert u_score(after, targets=targets).scores[0, 0] <= u_score(before, targets=targets).scores[0, 0]


@settings(max_examples=40)
@given(FIELD, st.randoms())
def test_scores_do_not_depend_on_the_order_of_trials_or_algorithms(field: list, random: object) -> None:
    mixed = [list(trials) for trials in field]
    for trials in mixed:
        random.shuffle(trials)  # type: ignore[attr-defined]
    names = [str(k) for k in range(len(field))]
    random.shuffle(names)  # type: ignore[attr-defined]
    cells, other = cells_of(field), cells_of(mixed)
    other = {"C01": {name: other["C01"][name] for name in names}}
    for rule in (u_score, accuracy_and_speed):
        one, two = rule(cells), rule(other)
        assert [two.scores[0, two.algorithms.index(name)] for name in one.algorithms] == one.scores[0].tolist()


def test_bad_fields_are_refused() -> None:
    run = Records([1], [[1.0]])
    with pytest.raises(ValueError, match="got -1"):
        accuracy_and_speed({"C01": {"a": run}}, precision=-1)
    with pytest.raises(ValueError, match="C02 has"):
        u_score({"C01": {"a": run}, "C02": {"b": run}})
    with pytest.raises(ValueError, match="C02"):
        u_score({"C01": {"a": run}, "C02": {"a": run}}, targets={"C01": 0.0})
    with pytest.raises(ValueError, match="at least one problem"):
        u_score({})


def test_records_end_as_the_outcomes_that_the_other_tables_are_made_of() -> None:
    ended = records(step(10, 1.0), step(10, 0.0, violation=0.5)).outcomes
    assert isinstance(ended, Outcomes)
    assert ended.feasible.tolist() == [True, False]
