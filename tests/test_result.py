"""What a result tells, by its fields, in print and as a picture."""

from __future__ import annotations

import time

import numpy as np
import pytest

import ppsde
from ppsde.display.progress import duration
from ppsde.problem import Units
from ppsde.result import constraint_reports

BOX = [(-5.0, 5.0)] * 2


def test_reports_on_constraints_by_hand() -> None:
    reports = constraint_reports(np.array([-3.0, 0.25, -5e-5, 0.0]), np.array([0.3, -5e-5]), Units(1e-4), None)
    assert [(r.name, r.kind) for r in reports] == [
        ("g[0]", "inequality"),
        ("g[1]", "inequality"),
        ("g[2]", "inequality"),
        ("g[3]", "inequality"),
        ("h[0]", "equality"),
        ("h[1]", "equality"),
    ]
    assert [r.value for r in reports] == [-3.0, 0.25, -5e-5, 0.0, 0.3, -5e-5]
    assert [r.slack for r in reports] == pytest.approx([3.0, -0.25, 5e-5, 0.0, 1e-4 - 0.3, 5e-5])
    assert [r.violation for r in reports] == pytest.approx([0.0, 0.25, 0.0, 0.0, 0.3 - 1e-4, 0.0])
    assert [r.active for r in reports] == [False, True, True, True, True, True]
    assert not np.signbit(reports[3].slack) and not np.signbit(reports[0].violation)


def test_an_inequality_is_active_up_to_the_tolerance_itself() -> None:
    tolerance = 0.25
    g = np.array([-tolerance, np.nextafter(-tolerance, -1.0)])
    assert [r.active for r in constraint_reports(g, np.empty(0), Units(tolerance), None)] == [True, False]


def test_maxcv_is_the_largest_violation_and_violation_is_their_sum() -> None:
    result = ppsde.minimize(lambda x: (x[0], [0.5, -1.0, 2.0], [1.25]), BOX, tolerance=0.25, max_evaluations=30, rng=1)
    assert result.constr_violation == {"g[0]": 0.5, "g[1]": 0.0, "g[2]": 2.0, "h[0]": 1.0}
    assert result.maxcv == 2.0 and result.violation == 3.5


def test_the_constraints_of_a_result_are_those_of_its_point() -> None:
    problem = ppsde.Problem(
        lambda x: (x[0] + x[1], [x[0] ** 2 + x[1] ** 2 - 1.0, x[0] - 4.0], [x[0] - x[1]]),
        BOX,
        constraint_names=["disc", "wall", "diagonal"],
    )
    result = ppsde.minimize(problem, max_evaluations=6000, rng=1)
    disc, wall, diagonal = result.constraints
    assert (disc.name, wall.name, diagonal.name) == ("disc", "wall", "diagonal")
    assert disc.value == result.x[0] ** 2 + result.x[1] ** 2 - 1.0 and disc.slack == -disc.value
    assert wall.slack == 4.0 - result.x[0] and diagonal.slack == pytest.approx(1e-4 - abs(result.x[0] - result.x[1]))
    assert disc.active and diagonal.active and not wall.active
    assert result.constr_violation == {"disc": 0.0, "wall": 0.0, "diagonal": 0.0} and result.maxcv == 0.0
    text = str(result)
    assert "constraints  3 of 3 hold, 2 of them active" in text and "active     disc, slack" in text


def test_time_is_that_of_the_evaluations() -> None:
    def fun(x):
        time.sleep(0.02 if x[0] == 1.0 else 0.002)
        return x[0]

    result = ppsde.minimize(fun, BOX, max_evaluations=40, rng=1, x0=[1.0, 1.0])
    assert result.eval_seconds_max >= 0.02 and 0.002 <= result.eval_seconds_mean < result.eval_seconds_max
    assert result.seconds >= 40 * result.eval_seconds_mean
    assert "per evaluation" in str(result)


def test_failures_tell_where_why_and_after_how_long() -> None:
    def fun(x):
        time.sleep(0.001)
        if x[0] > 0:
            raise ArithmeticError("too steep")
        return np.inf if x[1] > 0 else -np.inf

    result = ppsde.minimize(fun, BOX, max_evaluations=40, rng=1)
    raised = [failure for failure in result.failures if failure.status == "raised"]
    invalid = [failure for failure in result.failures if failure.status == "invalid"]
    assert len(raised) + len(invalid) == result.n_failed == len(result.failures)
    assert all(failure.x[0] > 0 and failure.reason == "ArithmeticError: too steep" for failure in raised)
    assert all(
        failure.x[0] <= 0 and failure.x[1] <= 0 and failure.reason == "NotFinite: f is -inf" for failure in invalid
    )
    assert all(failure.seconds >= 0.001 for failure in result.failures)
    assert f"failed     {len(raised)} x ArithmeticError: too steep" in str(result)


@pytest.mark.parametrize(
    ("g", "h", "words"),
    [([np.nan], [], "g[0] is nan"), ([0.0, np.inf], [], "g[1] is inf"), ([0.0], [-np.inf], "h[0] is -inf")],
)
def test_a_constraint_without_a_value_is_named(g: list[float], h: list[float], words: str) -> None:
    result = ppsde.minimize(lambda x: (x[0], g, h), BOX, max_evaluations=10, rng=1)
    assert result.failures[0].reason == f"NotFinite: {words}" and not result.success


def test_the_cause_of_the_end_is_reported() -> None:
    def stop(intermediate_result: object) -> None:
        raise StopIteration

    spent = ppsde.minimize(lambda x: x[0], BOX, method="pps-de", max_evaluations=50, rng=1)
    assert spent.limited_by == "max_evaluations" and spent.status == 0
    assert ppsde.minimize(lambda x: x[0], BOX, rng=1).limited_by == "tol"
    assert ppsde.minimize(lambda x: x[0], BOX, rng=1, callback=stop).limited_by == "callback"
    assert ppsde.minimize(lambda x: 1 / 0, BOX, rng=1).limited_by == "failures"
    asked = ppsde.Optimizer(BOX, rng=1).result
    assert asked.limited_by is None and asked.n_calls == 0 and asked.seconds is None and "NOT FEASIBLE" in str(asked)


def test_many_violated_constraints_do_not_fill_the_screen() -> None:
    result = ppsde.minimize(lambda x: (x[0], np.arange(1.0, 21.0), []), BOX, max_evaluations=30, rng=1)
    text = str(result)
    assert "0 of 20 hold" in text and "violated   g[19] by 20" in text and "and 12 more" in text
    assert "g[0] " not in text and len(text.splitlines()) < 20


def test_durations() -> None:
    assert [duration(s) for s in (0.0, 5e-4, 0.5, 90.0, 3600.0, 1e5)] == [
        "0 us",
        "500 us",
        "500 ms",
        "90 s",
        "60 min",
        "27.8 h",
    ]


# --- the picture --------------------------------------------------------------------------------------------


def test_the_picture_has_a_panel_for_each_thing_that_was_recorded() -> None:
    pytest.importorskip("matplotlib")
    problem = ppsde.suites.get("cec2017").problem("C14", 10, instance=1)
    result = ppsde.minimize(problem, method="pps-de", max_evaluations=40_000, rng=1)
    assert {0.0, 1.0} <= set(result.history["stage"])
    figure = result.plot()
    objective, violation, share, epsilon = figure.axes
    assert [axes.get_ylabel() for axes in figure.axes] == ["objective", "violation", "feasible share", "epsilon"]
    assert [line.get_label() for line in objective.lines] == ["feasible", "not feasible"]
    evaluations, found = objective.lines[0].get_data()
    feasible = result.history["violation"] == 0
    assert np.array_equal(evaluations, result.history["evaluations"])
    assert np.array_equal(found[feasible], result.history["f"][feasible]) and np.isnan(found[~feasible]).all()
    assert np.array_equal(violation.lines[0].get_ydata(), result.history["violation"])
    assert np.array_equal(share.lines[0].get_ydata(), result.history["feasible_share"])
    pushing = result.history["stage"] == 0
    assert np.isnan(epsilon.lines[0].get_ydata()[pushing]).all()
    begun = np.diff(np.concatenate([[0], pushing[:-1].astype(int)])) == 1  # at the very end, a push has no width
    assert len(objective.patches) == np.count_nonzero(begun) >= 1
    figure.savefig("/dev/null", format="png")


def test_a_history_without_stages_is_drawn_with_what_it_has() -> None:
    pytest.importorskip("matplotlib")
    result = ppsde.minimize(lambda x: (x**2).sum(), BOX, max_evaluations=400, rng=1)
    for name in ("stage", "epsilon"):
        result.history.pop(name)
    figure = result.plot()
    assert [axes.get_ylabel() for axes in figure.axes] == ["objective", "violation", "feasible share"]
    assert not figure.axes[0].patches


def test_a_run_without_a_generation_cannot_be_drawn() -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(ValueError, match="nothing to draw"):
        ppsde.minimize(lambda x: 1 / 0, BOX, rng=1).plot()
