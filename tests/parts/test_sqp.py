"""The local search: its formulas by hand, whole searches beside SciPy's, and what it asks for on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy import optimize

from ppsde.algorithm import Ask, Task
from ppsde.arrays import bits
from ppsde.parts.sqp import (
    AGAIN,
    AIM,
    COARSE,
    DIFFERENCE,
    FARTHEST_INSIDE,
    INSIDE,
    LARGEST_PENALTY,
    LEAST_PENALTY,
    NOISIEST,
    OPEN,
    LocalSearch,
    Model,
    adapted_penalty,
    by_constraint,
    damped_update,
    distance_for,
    farther_inside,
    learnt,
    merits,
    noise_at,
    outside_by_rounding,
    probes,
    residuals,
    step,
    unchanged,
    walled,
    widths,
)
from ppsde.population import Population, choose, evaluated, forgotten
from ppsde.suites import get

Function = Callable[[Any], tuple[Any, list[Any], list[Any]]]  # of x (d, n): f (n,), a list of g (n,), a list of h (n,)


def points_of(fun: Function, x: Any, tolerance: float) -> Population:
    f, g, h = fun(x.T)
    xp = np if isinstance(x, np.ndarray) else pytest.importorskip("jax").numpy
    none = xp.zeros((len(x), 0))
    columns = (xp.stack([c + 0.0 * x[:, 0] for c in values], axis=1) if values else none for values in (g, h))
    return evaluated(x, f + 0.0 * x[:, 0], *columns, tolerance)


@dataclass
class Walk:
    """A search, step by step, and what it asked for."""

    task: Task
    searches: list[LocalSearch]
    asked: list[list[Ask]]  # in each step

    @property
    def end(self) -> LocalSearch:
        return self.searches[-1]

    @property
    def costs(self) -> list[int]:
        return [sum(int(ask.wanted.sum()) for ask in asks) for asks in self.asked]


def stepped(
    search: LocalSearch, fun: Function, task: Task, wanted: bool = True, fails: Callable[[Any], Any] | None = None
) -> tuple[LocalSearch, list[Ask]]:
    coroutine = step(search, task, np.bool_(wanted))
    request, asked = next(coroutine), []
    while True:
        asked.append(request)
        assert (request.x[request.wanted] >= task.lower).all() and (request.x[request.wanted] <= task.upper).all()
        points = points_of(fun, request.x, float(task.tolerance))
        counts = request.wanted if fails is None else request.wanted & ~fails(request.x)
        try:
            request = coroutine.send(choose(counts, points, forgotten(points)))
        except StopIteration as end:
            return end.value, asked


def walk(
    fun: Function,
    box: Sequence[tuple[float, float]],
    x0: Sequence[float],
    tolerance: float = 1e-8,
    fails: Callable[[Any], Any] | None = None,
) -> Walk:
    lower, upper = np.array(box, float).T
    task = Task(lower, upper, 10**6, tolerance=tolerance)
    search = LocalSearch.begin(points_of(fun, np.array([x0], float), tolerance), task)
    searches, asked = [search], []
    while not search.over:
        assert len(asked) < 500, "it does not end"
        search, asks = stepped(search, fun, task, fails=fails)
        searches.append(search)
        asked.append(asks)
    return Walk(task, searches, asked)


def begun(fun: Function, x0: Sequence[float], task: Task, measuring: bool = False) -> LocalSearch:
    return LocalSearch.begin(points_of(fun, np.array([x0], float), float(task.tolerance)), task, measuring=measuring)


@pytest.fixture(autouse=True)
def no_warnings_of_numpy() -> Iterator[None]:
    """As in a run: infinite scales are compared and selected."""
    with np.errstate(all="ignore"):
        yield


# Problems of our own


def sphere(x: Any) -> Any:
    return ((x - 0.3) ** 2).sum(axis=0), [], []


def valley(x: Any) -> Any:
    """Rosenbrock's."""
    return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2, [], []


def linear(x: Any) -> Any:
    return -3 * x[0] - 2 * x[1], [x[0] + x[1] - 4, x[0] + 3 * x[1] - 6], []


def circle(x: Any) -> Any:
    return x[0] ** 2, [], [x[0] ** 2 + x[1] ** 2 - 4]


def wavy(x: Any) -> Any:
    return np.exp(x[0]) + x[1] ** 2 + np.sin(x[2]), [1 - x[0] * x[1], x[2] ** 2 + x[0] - 2], []


def fourth(x: Any) -> Any:
    f = (x[0] - 2) ** 4 + (x[1] - 1) ** 2 + (x[2] - x[3]) ** 2 + x[3]
    return f, [x[0] ** 2 + x[1] ** 2 - 3, 0.2 - x[2]], [x[0] * x[3] + x[2] - 2]


def logarithms(x: Any) -> Any:
    f = -np.log(1 + x).sum(axis=0) + 0.1 * (x**2).sum(axis=0) + 0.02 * x[1] - 0.03 * x[2]
    return f, [x.sum(axis=0) - 2.5], [x[0] * x[1] * x[2] * x[3] - 0.1]


def bowl(x: Any) -> Any:
    """Of six variables, outside a ball and below a plane."""
    k = np.arange(1, 7).reshape(6, *[1] * (x.ndim - 1))
    return (k * (x - 0.1 * k) ** 2).sum(axis=0), [2 - (x**2).sum(axis=0), x.sum(axis=0) - 2.2], []


SMOOTH: dict[str, tuple[Function, list[tuple[float, float]], list[float]]] = {
    "wavy": (wavy, [(-2, 4)] * 3, [1, 2, 0.5]),
    "fourth": (fourth, [(0, 5)] * 4, [1, 1, 1, 1]),
    "logarithms": (logarithms, [(0, 3)] * 4, [0.5, 0.6, 0.7, 0.9]),
    "bowl": (bowl, [(-1, 2)] * 6, [0.9, 0.2, 0.3, 0.4, 0.1, 0.6]),
}


# Pieces by hand

BOX = Task(np.array([0.0, -1.0]), np.array([2.0, 3.0]), 100, tolerance=0.25)


def test_probes_go_forward_and_backward_at_the_upper_bound() -> None:
    assert probes(np.array([1.0, 1.0]), BOX, 0.125).tolist() == [[1.25, 1.0], [1.0, 1.5]]
    assert probes(np.array([1.875, 3.0]), BOX, 0.125).tolist() == [[1.625, 3.0], [1.875, 2.5]]


def test_probes_stay_in_a_box_of_no_width_and_move_by_more_than_rounding() -> None:
    fixed = Task(np.array([0.0, 5.0]), np.array([1.0, 5.0]), 100)
    assert probes(np.array([0.5, 5.0]), fixed, 0.25).tolist() == [[0.75, 5.0], [0.5, 5.0]]
    assert widths(fixed).tolist() == [1.0, 1.0] and widths(BOX).tolist() == [2.0, 4.0]
    far = Task(np.array([1e9]), np.array([1e9 + 1.0]), 100)
    assert probes(np.array([1e9]), far, 1e-12).tolist() == [[1e9 + 1.0]]


def test_unchanged_is_a_probe_at_which_nothing_differs() -> None:
    def plain(x: Any) -> Any:
        return x[0], [x[1]], [x[2]]

    point = points_of(plain, np.zeros((1, 4)), 0.0)
    measured = points_of(plain, np.eye(4), 0.0)
    assert unchanged(measured, point).tolist() == [False, False, False, True]


@pytest.mark.parametrize(("moved", "share"), [(0.5, 1.0), (1e-3, 1.0), (5e-4, 0.5), (1e-4, 0.1), (1e-7, 0.1)])
def test_differences_shrink_to_a_tenth_as_moves_do(moved: float, share: float) -> None:
    task = Task(np.zeros(2), np.full(2, 4.0), 1000)
    first = begun(sphere, [2.0, 2.0], task)
    for search, expected in (first, 1.0), (replace(first, fresh=np.bool_(False), moved=np.array([0.0, -moved])), share):
        _, asked = stepped(search, sphere, task)
        np.testing.assert_allclose(np.diagonal(asked[0].x) - 2.0, 4.0 * DIFFERENCE * expected, rtol=1e-6)


def test_a_box_far_too_wide_costs_little_accuracy() -> None:
    """The constraint is x_0 = 1 at the optimum, with multiplier 4; the others are nearly independent of it."""

    def fun(x: Any) -> Any:
        return (x[0] + 1) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2 + 10 * (x[2] - 3) ** 2, [1 - x[0]], []

    for width, most in (5.0, 1e-9), (500.0, 1e-7):
        best = walk(fun, [(-width, width)] * 3, [3.0, -2.0, 0.0]).end.best
        assert best.feasible[0] and best.f[0] - 4.0 < most, width


def test_derivatives_are_by_differences_and_scales_are_their_largest() -> None:
    def plain(x: Any) -> Any:
        return 3 * x[0] - 8 * x[1], [x[0] + x[1]], [0 * x[0]]

    search = begun(plain, [1.0, 1.0], BOX)
    measured = points_of(plain, probes(np.array([1.0, 1.0]), BOX, 0.125), 0.25)
    model = learnt(search, measured, measured, widths(BOX)).model
    # In coordinates in which the box has width 1.
    np.testing.assert_allclose(model.gradient, [6, -32])
    np.testing.assert_allclose(model.jacobian, [[2, 4], [0, 0]])
    assert model.f_scale == 32 and model.c_scale.tolist() == [4, np.inf] and model.B.tolist() == np.eye(2).tolist()


def test_scales_grow_at_once_and_fall_slowly() -> None:
    def plain(slope: float) -> Function:
        return lambda x: (slope * x[0], [slope * x[1]], [])

    search = begun(plain(1.0), [1.0, 1.0], BOX)
    at = probes(np.array([1.0, 1.0]), BOX, 0.125)
    for slope, f_scale, c_scale in [(10.0, 20.0, 40.0), (1.0, 6.0, 12.0), (100.0, 200.0, 400.0)]:
        search = replace(search, point=points_of(plain(slope), np.array([[1.0, 1.0]]), 0.25))
        measured = points_of(plain(slope), at, 0.25)
        search = learnt(search, measured, measured, widths(BOX))
        np.testing.assert_allclose([search.model.f_scale, *search.model.c_scale], [f_scale, c_scale])


def test_the_update_is_that_of_broyden_fletcher_goldfarb_and_shanno() -> None:
    B, s, y = np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([1.0, 1.0]), np.array([3.0, 1.0])
    # B s = (2, 1), s'Bs = 3, s'y = 4: B - (4 2; 2 1) / 3 + (9 3; 3 1) / 4.
    expected = [[2 - 4 / 3 + 9 / 4, -2 / 3 + 3 / 4], [-2 / 3 + 3 / 4, 1 - 1 / 3 + 1 / 4]]
    updated = damped_update(B, s, y)
    np.testing.assert_allclose(updated, expected, rtol=1e-14)
    np.testing.assert_allclose(updated @ s, y, rtol=1e-14)


def test_curvature_that_was_too_large_is_scaled_down_in_all_directions() -> None:
    s, y = np.array([1.0, 0.0]), np.array([0.5, 0.0])
    np.testing.assert_allclose(damped_update(np.diag([1.0, 8.0]), s, y), [[0.5, 0], [0, 4]], rtol=1e-14)
    np.testing.assert_allclose(damped_update(np.diag([0.1, 8.0]), s, y), [[0.5, 0], [0, 8]], rtol=1e-14)


def test_the_update_is_damped_where_curvature_is_lost() -> None:
    # s'y = -1 and s'Bs = 1: theta = 0.8 / 2, so r = -0.4 + 0.6 = 0.2 of s; all of B is scaled by that.
    updated = damped_update(np.eye(2), np.array([1.0, 0.0]), np.array([-1.0, 0.0]))
    np.testing.assert_allclose(updated, [[0.2, 0], [0, 0.2]], rtol=1e-13)


@pytest.mark.parametrize(
    ("s", "y"), [([0.0, 0.0], [1.0, 1.0]), ([1.0, 0.0], [np.nan, 0.0]), ([1e-13, 0.0], [1.0, 1.0])]
)
def test_a_move_that_teaches_nothing_leaves_b(s: list[float], y: list[float]) -> None:
    B = np.array([[2.0, 0.5], [0.5, 1.0]])
    assert damped_update(B, np.array(s), np.array(y)).tolist() == B.tolist()


def test_b_stays_positive_definite() -> None:
    rng = np.random.default_rng(1)
    lost = 0
    for _ in range(300):
        M = rng.normal(size=(4, 4))
        B, s, y = M @ M.T + 0.01 * np.eye(4), rng.normal(size=4), 3 * rng.normal(size=4)
        lost += s @ y < 0
        assert np.linalg.eigvalsh(damped_update(B, s, y)).min() > 0
    assert lost > 100, "the hard case was tried"


def with_scales(search: LocalSearch, f_scale: float, c_scale: list[float]) -> LocalSearch:
    return replace(search, model=replace(search.model, f_scale=np.float64(f_scale), c_scale=np.array(c_scale)))


def test_curvature_beyond_all_moves_is_forgotten() -> None:
    def plain(x: Any) -> Any:
        return 1.0 * x[0], [], []

    measured = points_of(plain, probes(np.ones(2), BOX, 0.125), 0.25)
    search = learnt(begun(plain, [1.0, 1.0], BOX), measured, measured, widths(BOX))
    for change, expected in ((1e5, np.diag([1e8, 1.0])), (1e7, np.eye(2))):  # of the scaled gradient, by a move of 1e-3
        old = replace(search.model, gradient=search.model.gradient - np.array([2.0 * change, 0.0]))
        moved = replace(search, model=old, moved=np.array([1e-3, 0.0]))
        B = learnt(moved, measured, measured, widths(BOX)).model.B
        np.testing.assert_allclose(B, expected, rtol=1e-9, atol=1e-9)


def test_residuals_and_merits_by_hand() -> None:
    def plain(x: Any) -> Any:
        return 6 + 0 * x[0], [2 + 0 * x[0], -8 + 0 * x[0]], [-3 + 0 * x[0]]

    search = with_scales(begun(plain, [1.0, 1.0], BOX), 2.0, [4.0, 4.0, 2.0])
    rows = residuals(np.array([0.5, -2.0, -1.5]), search, 2, BOX)
    band = AIM * 0.25 / 2
    np.testing.assert_allclose(rows, [0.5 + INSIDE, -2 + INSIDE, -1.5 - band, 1.5 - band], rtol=1e-14)
    # f / 2 and ten times what is missed.
    np.testing.assert_allclose(merits(search.point, search, BOX), [3 + 10 * (0.5 + INSIDE + 1.5 - band)], rtol=1e-14)


def test_a_constraint_without_gradient_counts_as_met() -> None:
    def plain(x: Any) -> Any:
        return 6 + 0 * x[0], [2 + 0 * x[0]], [9 + 0 * x[0]]

    search = with_scales(begun(plain, [1.0, 1.0], BOX), 2.0, [np.inf, np.inf])
    assert residuals(np.zeros(2), search, 1, BOX).tolist() == [-1, -1, -1]
    assert merits(search.point, search, BOX).tolist() == [3]


def test_multipliers_of_equalities_are_differences_of_their_rows() -> None:
    point = Population(np.zeros((1, 2)), np.zeros(1), np.zeros(1), np.zeros((1, 1)), np.zeros((1, 2)))
    assert by_constraint(np.array([1.0, 2.0, 3.0, 5.0, 4.0]), point).tolist() == [1, -3, -1]


@pytest.mark.parametrize(
    ("penalty", "multiplier", "missed", "missed_now", "expected"),
    [
        (100.0, 99.5, 1.0, 5.0, 1000.0),  # held constraints back
        (100.0, 99.5, 0.1, 5.0, 100.0),  # but missed them by little
        (100.0, 50.0, 1.0, 5.0, 100.0),
        (100.0, 5.0, 0.0, 5.0, 30.0),  # far above the multiplier
        (LEAST_PENALTY, 0.0, 0.0, 0.0, LEAST_PENALTY),
        (LARGEST_PENALTY, LARGEST_PENALTY, 1.0, 1.0, LARGEST_PENALTY),
    ],
)
def test_the_penalty_is_adapted(
    penalty: float, multiplier: float, missed: float, missed_now: float, expected: float
) -> None:
    numbers = (np.float64(penalty), np.array([0.0, multiplier]), np.float64(missed), np.float64(missed_now))
    assert adapted_penalty(*numbers, np.float64(0)) == pytest.approx(expected)


def test_the_penalty_without_constraints_falls() -> None:
    zero = np.float64(0)
    assert adapted_penalty(np.float64(100.0), np.zeros(0), zero, zero, zero) == pytest.approx(30)


def test_constraints_that_are_met_though_not_as_far_inside_as_aimed_at_do_not_raise_the_penalty() -> None:
    held = np.float64(100.0), np.array([99.5]), np.float64(9e-7), np.float64(1e-6)
    assert adapted_penalty(*held, np.float64(1e-10)) == pytest.approx(1000)
    assert adapted_penalty(*held, np.float64(1e-6)) == pytest.approx(100)


def test_constraints_missed_by_rounding_are_aimed_at_from_farther_inside() -> None:
    def plain(x: Any) -> Any:
        return 0 * x[0], [1e-8 + 0 * x[0], 1.0 + 0 * x[0], -1.0 + 0 * x[0]], [-0.25 - 1e-8 + 0 * x[0]]

    search = with_scales(begun(plain, [1.0, 1.0], BOX), 1.0, [1.0] * 4)
    outside = outside_by_rounding(search.point, search, BOX)
    assert outside.tolist() == [True, False, False, True]
    np.testing.assert_allclose(farther_inside(search, outside), [10 * INSIDE, INSIDE, INSIDE, 10 * INSIDE])
    deep = replace(search, inside=np.full(4, 0.5 * FARTHEST_INSIDE))
    np.testing.assert_allclose(farther_inside(deep, outside), np.array([1, 0.5, 0.5, 1]) * FARTHEST_INSIDE)


def test_a_wall_stands_before_the_variable_that_makes_the_jump() -> None:
    def cliff(x: Any) -> Any:
        return np.where(x[0] > 1.0, 50.0, 0.0), [], []

    search = replace(begun(cliff, [1.0, 1.0], BOX), fall=np.float64(-50.0))
    change = np.array([0.5, -0.5])
    parts = points_of(cliff, search.point.x + np.diag(change), 0.25)
    after = walled(search, parts, change, BOX)
    assert after.upper.tolist() == [1.0, 3.0] and after.lower.tolist() == [0.0, -1.0] and after.radius == AGAIN
    same = walled(search, forgotten(parts), change, BOX)
    assert same.upper.tolist() == [2.0, 3.0] and same.radius == search.radius


# Whole searches


@pytest.mark.parametrize("d", [1, 3, 8])
def test_the_sphere_is_solved_in_a_few_moves(d: int) -> None:
    walked = walk(sphere, [(-5, 5)] * d, [4, -3, 2, 1, 0, -1, -2, -4][:d])
    np.testing.assert_allclose(walked.end.best.x, 0.3, atol=1e-5)
    assert walked.end.best.f[0] < 1e-10 and sum(walked.costs) < 13 * (d + 1)


def test_a_curved_valley_is_followed_to_its_end() -> None:
    walked = walk(valley, [(-5, 5)] * 2, [-1.2, 1])
    assert walked.end.best.f[0] < 1e-6 and sum(walked.costs) < 300


def test_a_linear_program_is_solved_at_its_vertex() -> None:
    walked = walk(linear, [(0, 3), (0, 5)], [0.5, 0.5])
    np.testing.assert_allclose(walked.end.best.x, [[3, 1]], atol=1e-6)
    assert walked.end.best.feasible.all() and sum(walked.costs) < 30


def test_a_circle_is_reached_and_followed() -> None:
    walked = walk(circle, [(-5, 5)] * 2, [2.5, 1.0])
    np.testing.assert_allclose(walked.end.best.x, [[0, 2]], atol=1e-4)
    assert walked.end.best.feasible.all() and walked.end.best.f[0] < 1e-8


def by_scipy(method: str, fun: Function, box: list[tuple[float, float]], x0: list[float]) -> float:
    def part(k: int) -> Callable[[Any], Any]:
        return lambda v: np.array([np.asarray(c) for c in fun(v)[k]]).ravel()

    _, g, h = fun(np.array(x0, float))
    constraints = [optimize.NonlinearConstraint(part(1), -np.inf, 0)] if g else []
    constraints += [optimize.NonlinearConstraint(part(2), 0, 0)] if h else []
    options = {"SLSQP": {"ftol": 1e-12, "maxiter": 500}, "trust-constr": {"gtol": 1e-9, "xtol": 1e-11, "maxiter": 500}}
    found = optimize.minimize(
        lambda v: float(fun(v)[0]), x0, bounds=box, constraints=constraints, method=method, options=options[method]
    )
    assert all(np.all(part(1)(found.x) < 1e-6) for _ in g) and all(np.all(abs(part(2)(found.x)) < 1e-6) for _ in h)
    return float(found.fun)


@pytest.mark.filterwarnings("ignore:delta_grad == 0.0", "ignore:Equality and inequality")
@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_problems_end_where_those_of_scipy_do(name: str, method: str) -> None:
    end = walk(*SMOOTH[name]).end.best
    assert end.feasible[0]
    assert end.f[0] == pytest.approx(by_scipy(method, *SMOOTH[name]), rel=2e-6, abs=2e-6)


@pytest.mark.parametrize("name", SMOOTH)
def test_ends_are_strictly_feasible(name: str) -> None:
    """And not only by a tolerance: the iterate itself, where the search ended, too."""
    for tolerance in (1e-4, 1e-8):
        end = walk(*SMOOTH[name], tolerance=tolerance).end
        for point in (end.best, end.point):
            assert (point.g <= 0).all() and (abs(point.h) <= tolerance).all()


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_units_of_objective_and_constraints_do_not_matter(factor: float) -> None:
    def scaled(x: Any) -> Any:
        f, g, h = wavy(x)
        return f * factor, [g[0] * factor, g[1] / factor], h

    plain, other = walk(*SMOOTH["wavy"]), walk(scaled, *SMOOTH["wavy"][1:])
    np.testing.assert_allclose(other.end.best.x, plain.end.best.x, atol=1e-4)
    assert other.end.best.f[0] == pytest.approx(plain.end.best.f[0] * factor, rel=1e-6)


def test_infeasible_starts_come_to_feasible_ends() -> None:
    rng = np.random.default_rng(3)
    for name, (fun, box, _) in SMOOTH.items():
        lower, upper = np.array(box, float).T
        ends = [walk(fun, box, rng.uniform(lower, upper).tolist()).end.best for _ in range(6)]
        assert sum(bool(end.feasible[0]) for end in ends) >= 4, name


def test_constraints_that_contradict_each_other_end_where_they_are_missed_least() -> None:
    def torn(x: Any) -> Any:
        return (x[1] - 1) ** 2, [x[0] ** 2 + 1 + 0 * x[1]], []

    end = walk(torn, [(-2, 3)] * 2, [2, -1]).end
    assert end.over and not end.best.feasible[0]
    np.testing.assert_allclose(end.best.x[0, 0], 0, atol=1e-3)


# Steps and jumps


def rounded(x: Any) -> Any:
    k = np.round(x[0])
    return (k - 4) ** 2 + (x[1] - 1.3) ** 2 + 0.3 * k * x[1], [], []


def test_a_rounded_variable_is_led_over_its_steps() -> None:
    starts = np.random.default_rng(1).uniform(-10, 10, (20, 2))
    walks = [walk(rounded, [(-10, 10)] * 2, start.tolist()) for start in starts]
    # With k = 4: (x1 - 1.3)^2 + 1.2 x1 is least at 0.7. No other k has less.
    best = min(rounded(np.array([k, 1.3 - 0.15 * k]))[0] for k in range(-10, 11))
    reached = [walked.end.best.f[0] == pytest.approx(best, abs=1e-6) for walked in walks]
    assert sum(reached) > 10, "from most starts; steps that are wider than the differences end the others"
    walked = walks[reached.index(True)]
    again = [asks[1] for asks in walked.asked if asks[1].x.shape[0] == 2 and asks[1].wanted[0]]
    assert again and not again[0].wanted[1], "coarse differences were made, of that variable alone"


def test_flat_variables_are_probed_again_with_wider_differences_only() -> None:
    task = Task(np.full(2, -10.0), np.full(2, 10.0), 1000)
    _, asked = stepped(begun(rounded, [-3.6, 5.0], task), rounded, task)
    fine, coarse, trial = asked
    assert fine.wanted.tolist() == [True, True] and trial.x.shape == (1, 2)
    assert coarse.wanted.tolist() == [True, False] and coarse.x[0, 0] == pytest.approx(-3.6 + 20 * COARSE[0])
    # From -3.4 to -2.8 it is flat too.
    _, asked = stepped(begun(rounded, [-3.4, 5.0], task), rounded, task)
    assert asked[2].wanted.tolist() == [True, False] and asked[2].x[0, 0] == pytest.approx(-3.4 + 20 * COARSE[1])
    narrow = replace(begun(rounded, [-3.2, 5.0], task), radius=np.float64(0.02))
    _, asked = stepped(narrow, rounded, task)
    assert [ask.x.shape[0] for ask in asked] == [2, 1], "none in a narrow trust region"


def jumping(x: Any) -> Any:
    return (x[0] - 1) ** 2 + (x[1] - 2) ** 2 + np.where(x[0] > 0.5, 100.0, 0.0), [], []


def test_an_objective_of_stairs_is_led_down_by_wide_differences_and_exact_constraints() -> None:
    def stairs(x: Any) -> Any:
        return np.floor(((x - 0.3) ** 2).sum(axis=0) * 1000) / 1000, [1.0 - x[0] - x[1] ** 2 - 0.1 * x[2]], []

    walked = walk(stairs, [(-5, 5)] * 3, [4.003, -3.0, 2.0])
    best = optimize.minimize(
        lambda x: ((x - 0.3) ** 2).sum(),
        [1, 1, 1],
        constraints={"type": "ineq", "fun": lambda x: x[0] + x[1] ** 2 + 0.1 * x[2] - 1},
    )
    assert walked.end.best.f[0] <= best.fun + 0.01 and walked.end.best.feasible[0]
    fine, line, wider, trial = walked.asked[0]
    assert len(line.x) == 1, "the constraint is not level, and shows no noise"
    np.testing.assert_allclose(wider.x - fine.x, (0.01 - 1e-6) * np.eye(3), atol=1e-9)
    assert wider.wanted.all() and len(trial.x) == 1
    np.testing.assert_allclose(walked.searches[1].model.jacobian, [[-10.0, 60.0, -1.0]], rtol=1e-5)
    np.testing.assert_allclose(walked.searches[1].model.gradient, [74.0, -66.0, 34.0], rtol=0.01)


def test_a_jump_gets_a_wall_and_the_other_variables_are_refined() -> None:
    end = walk(jumping, [(-3, 3)] * 2, [-2, -1]).end
    assert end.upper[0] == pytest.approx(0.5, abs=1e-3) and end.upper[0] <= 0.5 and end.upper[1] == 3
    assert end.best.f[0] == pytest.approx(0.25, abs=1e-3) and end.best.x[0, 1] == pytest.approx(2, abs=1e-4)


def test_a_correction_after_a_jump_makes_no_wall() -> None:
    """The objective of g17 jumps at x1 = 100, its best point is before that; the trial after the jump is corrected."""
    problem = get("cec2006").problem("g17")

    def plain(x: Any) -> Any:
        f, _, h = problem.evaluate(x.T)
        return f, [], list(h.T)

    start = problem.lower + (problem.upper - problem.lower) * np.random.default_rng([6, 3]).random(6)
    searches = walk(plain, list(zip(problem.lower, problem.upper, strict=True)), start.tolist(), 1e-4).searches
    assert any(search.correcting and search.jumped for search in searches), "the case was met"
    end = searches[-1]
    assert end.best.violation[0] == 0 and end.best.f[0] < 8853.534 + 0.1
    walls = (end.lower > problem.lower) | (end.upper < problem.upper)
    assert walls.tolist() == [False, True, False, False, False, False] and 99.9 < end.upper[1] < 100


@pytest.mark.parametrize("jumped", [False, True])
def test_a_trial_that_disappoints_by_curvature_is_corrected_and_makes_no_wall(jumped: bool) -> None:
    """Powell's example: from a point of the circle, the move along it raises the objective and leaves the circle."""

    def fun(x: Any) -> Any:
        circle = x[0] ** 2 + x[1] ** 2 - 1
        return 2 * circle - x[0], [], [circle]

    task = Task(np.full(2, -2.0), np.full(2, 2.0), 100, tolerance=1e-6)
    search = begun(fun, [np.cos(0.4), np.sin(0.4)], task)
    search = replace(search, radius=np.asarray(0.05), jumped=np.asarray(jumped))
    after, asks = stepped(search, fun, task)
    assert after.correcting and after.fall < 0.1 * after.predicted and after.point.x.tolist() == search.point.x.tolist()
    assert [int(ask.wanted.sum()) for ask in asks] == [2, 1], "no single variables are tried"
    corrected, asks = stepped(after, fun, task)
    assert [int(ask.wanted.sum()) for ask in asks] == [0, 1] and not corrected.correcting
    trials = [abs(fun(point.x[0])[2][0]) for point in (after.tried, corrected.tried)]
    assert trials[1] < 0.3 * trials[0] and corrected.point.x.tolist() == corrected.tried.x.tolist()


# Points without values


def test_a_search_that_begins_without_values_is_over_at_once() -> None:
    point = forgotten(points_of(sphere, np.zeros((1, 2)), 0.0))
    search = LocalSearch.begin(point, BOX)
    assert search.over
    after, asked = stepped(search, sphere, BOX)
    assert after.over and not any(ask.wanted.any() for ask in asked)


@pytest.mark.parametrize("row", [0, 1])
def test_a_probe_without_values_ends_the_search(row: int) -> None:
    start = np.array([1.0, 1.0])
    after, asked = stepped(begun(sphere, start.tolist(), BOX), sphere, BOX, fails=lambda x: x[:, row] != start[row])
    assert after.over and sum(ask.wanted.sum() for ask in asked) == 2
    assert np.isfinite(after.model.gradient).all() and np.isfinite(after.best.f).all()


def test_a_trial_without_values_narrows_the_trust_region() -> None:
    task = Task(np.full(2, -5.0), np.full(2, 5.0), 1000)
    search, _ = stepped(begun(sphere, [4.0, 4.0], task), sphere, task, fails=lambda x: x[:, 0] < 3.0)
    assert search.radius == 0.125 and not search.over and search.point.x.tolist() == [[4.0, 4.0]]
    walked = walk(sphere, [(-5, 5)] * 2, [4, 4], fails=lambda x: x[:, 0] < 1.0)
    assert walked.end.best.x[0, 0] == pytest.approx(1, abs=0.05) and np.isfinite(walked.end.best.f[0])


# Requests


def test_a_step_costs_the_derivatives_and_one_after_a_move_and_else_one() -> None:
    walked = walk(*SMOOTH["wavy"])
    moves = 0
    for before, asks, cost in zip(walked.searches, walked.asked, walked.costs, strict=False):
        trials = int(asks[-1].wanted.sum()) if asks[-1].x.shape[0] == 1 else 0
        assert cost == (0 if before.known else 3) + before.fresh + trials, "the first time, noise is measured"
        moves += not before.known
        assert trials == 1 or before is walked.searches[-2], "only the last step may lack a trial"
    assert moves > 3 and 1 in walked.costs and 4 in walked.costs


def test_a_step_that_is_not_wanted_asks_for_nothing_and_changes_nothing() -> None:
    walked = walk(*SMOOTH["wavy"])
    for search in walked.searches[:6]:
        after, asked = stepped(search, wavy, walked.task, wanted=False)
        assert not any(ask.wanted.any() for ask in asked)
        assert content(after) == content(search)


def leaves(search: LocalSearch) -> dict[str, Any]:
    found = dict(vars(search))
    for name in ("point", "best", "tried", "model"):
        found |= {f"{name}.{inner}": value for inner, value in vars(found.pop(name)).items()}
    return found


def content(search: LocalSearch) -> dict[str, bytes]:
    return {name: bits(value) for name, value in leaves(search).items()}


def rebuilt(values: dict[str, Any]) -> LocalSearch:
    outer = {name: value for name, value in values.items() if "." not in name}
    for name, kind in {"point": Population, "best": Population, "tried": Population, "model": Model}.items():
        inner = {path.partition(".")[2]: value for path, value in values.items() if path.startswith(f"{name}.")}
        outer[name] = kind(**inner)
    return LocalSearch(**outer)


@pytest.mark.parametrize(("kink", "noise"), [(0.0, 0.0), (30.0, 0.0), (0.0, 1e-4)])
def test_numpy_and_jax_make_the_same_steps(kink: float, noise: float) -> None:
    """Each from the state of NumPy, so that roundings do not add up; wide differences, so that they stay small."""
    jax = pytest.importorskip("jax")
    lower, upper = np.full(2, -2.0), np.full(2, 4.0)

    def fun(x: Any) -> Any:
        f = x[0] ** 4 + (x[1] - x[0]) ** 2 + x[0] + kink * abs(x[1] - 2.0)
        if noise:  # between probes the phase grows by 2 or 4
            xp = np if isinstance(f, np.ndarray) else jax.numpy
            f = f * (1.0 + noise * xp.sin(x[0] / 3e-6 + x[1] / 1.5e-6))
        return f, [1 - x[0] * x[1]], [x[0] ** 2 + x[1] - 3]

    def end_of(search: LocalSearch, task: Task, wanted: Any) -> LocalSearch:
        coroutine = step(search, task, wanted)
        request = next(coroutine)
        while True:
            points = points_of(fun, request.x, 1e-4)
            try:
                request = coroutine.send(choose(request.wanted, points, forgotten(points)))
            except StopIteration as end:
                return end.value

    task = Task(lower, upper, 1000)
    with jax.enable_x64(True):
        there = Task(jax.numpy.asarray(lower), jax.numpy.asarray(upper), 1000)

        @jax.jit
        def compiled(values: Any, wanted: Any) -> Any:
            return leaves(end_of(rebuilt(values), there, wanted))

        difference = 1e-6 if noise else 1e-2
        search = LocalSearch.begin(points_of(fun, np.array([[3.0, 3.0]]), 1e-4), task, difference=difference)
        moves = 0
        for _ in range(1 if noise else 12):  # later points differ by rounding, and so by noise
            before = {name: jax.numpy.asarray(value) for name, value in leaves(search).items()}
            theirs, still = compiled(before, True), compiled(before, False)
            after = end_of(search, task, np.True_)
            for name, value in leaves(after).items():
                np.testing.assert_allclose(theirs[name], value, rtol=1e-6, atol=1e-8, err_msg=name)
                assert bits(still[name]) == bits(leaves(search)[name]), name
            moves += bool((after.point.x != search.point.x).any())
            search = after
        assert search.difference > 1e-5 if noise else moves > 4


# Noise


def test_noise_is_the_highest_difference_of_points_on_a_line_by_hand() -> None:
    def plain(x: Any) -> Any:
        return 0 * x[0] + np.array([7.0, 1.0, 2.0, 4.0])[: len(x[0])], [x[0] ** 2, x[0]], [x[0] ** 3]

    line = points_of(plain, np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0], [4.0, 5.0]]), 0.0)
    rows = [line.take(slice(k, k + 1)) for k in range(4)]
    # 7 - 2 + 2, 1 - 8 + 9, 0, 1 - 16 + 27; and 4 - 3 * 2 + 3 * 1 - 7, 0, 0, 64 - 81 + 24 - 1.
    np.testing.assert_allclose(noise_at(rows[:3]), np.array([7, 2, 0, 12]) / np.sqrt(6.0), atol=1e-14)
    np.testing.assert_allclose(noise_at(rows), np.array([6, 0, 0, 6]) / np.sqrt(20.0), atol=1e-14)
    assert noise_at([rows[0], rows[1], rows[3]]).tolist() == [0, 0, 0, 0], "their spaces differ"
    assert noise_at([rows[0], rows[1], forgotten(rows[2])]).tolist() == [0, 0, 0, 0], "one has no values"


@pytest.mark.parametrize("order", [2, 3])
def test_noise_of_many_lines_is_that_of_their_values(order: int) -> None:
    rng = np.random.default_rng(1)

    def noisy(x: Any) -> Any:
        return 3 * x[0] + rng.normal(0.0, 0.5, x.shape[1]), [rng.normal(0.0, 2.0, x.shape[1])], []

    at = np.arange(1.0 + order)[:, None]
    found = []
    for _ in range(4000):
        line = points_of(noisy, at, 0.0)
        found.append(noise_at([line.take(slice(k, k + 1)) for k in range(1 + order)]))
    np.testing.assert_allclose(np.sqrt((np.array(found) ** 2).mean(axis=0)), [0.5, 2.0], rtol=0.05)


def test_the_distance_for_noise_is_by_the_largest_share_of_a_slope() -> None:
    def plain(x: Any) -> Any:
        return 2 * x[0] + x[1], [100 * x[1], 0 * x[0]], []

    task = Task(np.zeros(2), np.array([10.0, 1.0]), 100)  # slopes 20 and 100 per width, and none
    point = points_of(plain, np.full((1, 2), 0.5), 0.0)
    measured = points_of(plain, probes(point.x[0], task, 1e-3), 0.0)
    for noise, share in ([2e-5, 1e-6, 5.0], 1e-6), ([2e-5, 4e-4, 5.0], 4e-6), ([1e9, 0, 0], np.inf):
        expected = min(2 * np.sqrt(share), NOISIEST)
        assert distance_for(np.array(noise), measured, point, widths(task)) == pytest.approx(expected)
    assert distance_for(np.zeros(3), measured, point, widths(task)) == 0


def noisily(fun: Function, size: float) -> Function:
    """The function with noise of so much of the objective, fixed by the point."""

    def noisy(x: Any) -> Any:
        f, g, h = fun(x)
        return f * (1.0 + size * np.sin(1e9 * (x * np.arange(1.0, len(x) + 1.0)[:, None]).sum(axis=0))), g, h

    return noisy


def test_smooth_problems_get_no_wider_differences_in_boxes_of_any_width() -> None:
    for name, (fun, box, x0) in SMOOTH.items():
        for wider in 1.0, 1e3:
            walked = walk(fun, wider * np.array(box), x0)
            assert {float(search.difference) for search in walked.searches} == {DIFFERENCE}, name


@pytest.mark.parametrize("size", [1e-8, 1e-6, 1e-4])
def test_noise_is_noticed_and_does_little_harm(size: float) -> None:
    """Without that, searches end where the noise of differences outweighs the slope, nearly where they begin."""

    def bowl(x: Any) -> Any:
        return 10 + ((x - 0.3) ** 2).sum(axis=0) + x[0] * x[1] / 2, [1 - x[0] - x[1]], []

    best, blind, seeing = 10.3425, [], []
    for k in range(8):
        x0 = 3 * np.cos(k + np.arange(4.0))
        fun, task = noisily(bowl, size), Task(np.full(4, -5.0), np.full(4, 5.0), 1000)
        for measuring, found in (False, blind), (True, seeing):
            search, cost = begun(fun, x0, task, measuring), 0
            while not search.over and cost < 200:
                search, asks = stepped(search, fun, task)
                cost += sum(int(ask.wanted.sum()) for ask in asks)
            found.append(bowl(search.best.x.T)[0][0] - best)
        assert 10 * DIFFERENCE < search.difference <= NOISIEST
    assert np.median(seeing) < 30 * size
    assert size < 1e-7 or np.median(blind) > 30 * np.median(seeing)


def test_a_noisy_search_asks_for_its_derivatives_again_and_counts_them() -> None:
    task = Task(np.full(3, -5.0), np.full(3, 5.0), 1000)
    fun = noisily(lambda x: (10 + (x**2).sum(axis=0), [], []), 1e-5)
    search, asks = stepped(begun(fun, [3.0, -2.0, 1.0], task, measuring=True), fun, task)
    costs = [int(ask.wanted.sum()) for ask in asks]
    assert costs == [3, 1, 1, 3, 1], "derivatives, a second and a third difference, derivatives again, a trial"
    steps = np.diagonal(asks[3].x) - np.array([3.0, -2.0, 1.0])
    np.testing.assert_allclose(steps, 10 * float(search.difference), rtol=1e-6)
    assert steps[0] > 1e-3


def test_rounding_of_values_is_no_noise() -> None:
    """Neither of large values, nor of a constraint that hardly changes and holds with much room."""
    for g in (lambda x: 1e-3 * x.sum(axis=0) - 1e6), (lambda x: 1e-9 * x.sum(axis=0) - 1.0):
        for offset in 0.0, 1e6:

            def fun(x: Any, g: Any = g, offset: float = offset) -> Any:
                return offset + (x[0] - 0.3) ** 2 + 5 * (x[1] + 0.7) ** 2 + 20 * (x[2] - 1.1) ** 2, [g(x)], []

            walked = walk(fun, [(-5, 5)] * 3, [3.0, -2.0, 0.5])
            assert {float(search.difference) for search in walked.searches} == {DIFFERENCE}
            assert walked.end.best.f[0] - offset < max(1e-12, 1e-13 * offset)


def test_noise_of_an_inequality_counts_only_if_slopes_lead_to_its_border() -> None:
    def plain(room: float) -> Function:
        return lambda x: (x[0], [0.01 * x[1] - room], [])

    task = Task(np.zeros(2), np.ones(2), 100)
    for room, share in (0.0, 1e-4), (0.005, 1e-4), (100.0, 1e-8):
        point = points_of(plain(room), np.full((1, 2), 0.5), 0.0)
        point = replace(point, g=np.array([[-room]]))
        measured = points_of(plain(room), probes(point.x[0], task, 1e-3), 0.0)
        measured = replace(measured, g=np.array([[-room], [-room + 1e-5]]))
        found = distance_for(np.array([0.0, 1e-6]), measured, point, np.ones(2))
        assert found == pytest.approx(2 * np.sqrt(share), rel=1e-6)


def test_noise_is_measured_along_the_variable_that_changes_most_values() -> None:
    """Noise that no other variable moves: the first does nothing."""

    def fun(x: Any) -> Any:
        return 10 + x[1] ** 2 * (1 + 1e-5 * np.sin(1e9 * x[1])), [1 - x[1]], []

    task = Task(np.full(2, -5.0), np.full(2, 5.0), 1000)
    search, asks = stepped(begun(fun, [3.0, -2.0], task, measuring=True), fun, task)
    assert asks[1].x[0, 0] == 3.0 and asks[1].x[0, 1] != -2.0 and search.difference > 1e-4


def test_noise_of_a_constraint_is_noticed_where_the_objective_is_level() -> None:
    def fun(x: Any) -> Any:
        return 0 * x[0], [1 - x[1] + 1e-6 * np.sin(1e9 * (x[0] + 2 * x[1]))], []

    task = Task(np.full(2, -5.0), np.full(2, 5.0), 1000)
    search, _ = stepped(begun(fun, [3.0, -2.0], task, measuring=True), fun, task)
    assert search.difference > 1e-5


# Kinks


def sharp(x: Any) -> Any:
    """Four kinks and a constraint; the least value is 2.5, at (0.5, 0.5, 0.5, 1)."""
    kinks = 5 * abs(x[0] + x[1] - 1) + 20 * abs(x[0] - 2 * x[1] + x[2]) + abs(x[2] - x[0]) + 3 * abs(x[3] - x[1])
    return kinks + x[3] ** 2, [1.5 - x[0] - x[3]], []


def test_a_search_comes_to_the_bottom_of_kinks() -> None:
    starts = np.random.default_rng(1).uniform(-5, 5, (9, 4))
    errors = [walk(sharp, [(-5, 5)] * 4, start.tolist()).end.best.f[0] - 2.5 for start in starts]
    assert np.median(errors) < 0.1 and min(errors) > -1e-9


def refused_twice(fun: Any) -> tuple[LocalSearch, Task]:
    """A search in a box of width 1 after trials 0.3 and 0.09 away from 0.32; its model of `fun` is a line."""
    task = Task(np.zeros(1), np.ones(1), 100)
    penalty = np.asarray(LEAST_PENALTY)
    search = replace(begun(fun, [0.32], task), radius=np.asarray(0.3), penalty=penalty, next_penalty=penalty)
    search = replace(search, model=replace(search.model, B=1e-6 * np.eye(1)))
    first, _ = stepped(search, fun, task)
    assert not first.kinked and first.shortened == 0 and first.point.x == 0.32
    np.testing.assert_allclose([first.reach, first.radius], [0.3, 0.09], rtol=1e-6)
    return stepped(first, fun, task)[0], task


def test_a_model_whose_error_falls_like_the_distance_shows_a_kink_and_moves_are_shortened() -> None:
    """The merit function is |x - 0.3|: the trials promise falls of 0.3 and 0.09, and it rises by 0.26 and 0.05."""

    def fun(x: Any) -> Any:
        return 5 * abs(x[0] - 0.3), [], []

    search, task = refused_twice(fun)  # errors of 0.56 and 0.14: a power of 1.15
    np.testing.assert_allclose(search.error, 0.14, rtol=1e-5)
    assert search.kinked and search.shortened == 1 and search.point.x == 0.32
    move = 0.5 * 0.09 / 0.14 * 0.09
    np.testing.assert_allclose(search.shorter, -move, rtol=1e-5)
    np.testing.assert_allclose(search.radius, 0.09, rtol=1e-6)
    moved, asks = stepped(search, fun, task)
    np.testing.assert_allclose(moved.point.x, 0.32 - move, rtol=1e-5)
    np.testing.assert_allclose(moved.radius, OPEN * move, rtol=1e-5)
    assert moved.shortened == 0 and moved.error == 0.0 and [int(ask.wanted.sum()) for ask in asks] == [0, 1]


def test_a_model_whose_error_falls_like_the_square_shows_no_kink() -> None:
    """The merit function is 25 (x - 0.3)^2, by errors of 2.25 and 0.2025."""
    search, _ = refused_twice(lambda x: (100 * (x[0] - 0.3) ** 2, [], []))
    np.testing.assert_allclose([search.error, search.radius], [0.2025, 0.027], rtol=1e-4)
    assert not search.kinked and search.shortened == 0


def test_where_there_are_kinks_curvature_across_them_is_not_scaled_down() -> None:
    """B has curvature 1 along both; along the first 0.5 is measured. All of B is halved, or only that."""
    B, s, y = np.eye(2), np.array([1.0, 0.0]), np.array([0.5, 0.0])
    np.testing.assert_allclose(damped_update(B, s, y), np.diag([0.5, 0.5]))
    np.testing.assert_allclose(damped_update(B, s, y, np.True_), np.diag([0.5, 1.0]))


def test_a_move_that_is_being_shortened_is_judged_by_one_penalty() -> None:
    def fun(x: Any) -> Any:
        return 5 * abs(x[0] - 0.3), [], []

    search, task = refused_twice(fun)
    search = replace(search, next_penalty=np.asarray(7.0), shorter=np.asarray([0.5]))  # away from the minimum: in vain
    again, _ = stepped(search, fun, task)
    assert again.shortened == 2 and again.penalty == LEAST_PENALTY
    moved, _ = stepped(replace(again, shorter=np.asarray([-0.01])), fun, task)
    assert moved.shortened == 0 and moved.penalty == 7.0


# Push


def test_a_search_that_pushes_ignores_the_constraints_but_remembers_feasible_points() -> None:
    def beyond(x: Any) -> Any:
        return ((x - 0.3) ** 2).sum(axis=0), [x[0] + 0.5], [x[1] - 1.0]

    task = Task(np.full(2, -5.0), np.full(2, 5.0), 1000)
    point = points_of(beyond, np.array([[-2.0, 1.0]]), float(task.tolerance))
    search = LocalSearch.begin(point, task, pushing=True)
    while not search.over:
        search, _ = stepped(search, beyond, task)
    np.testing.assert_allclose(search.point.x[0], [0.3, 0.3], atol=1e-5)
    assert not search.point.feasible[0] and search.best.feasible[0]
    assert search.best.f[0] <= point.f[0]
