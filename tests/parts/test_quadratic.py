"""The elastic quadratic program by hand, beside SciPy's SLSQP, in both namespaces, and with numbers of all sizes."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from scipy import optimize

from ppsde.parts import quadratic
from ppsde.parts.quadratic import ElasticProgram, longest, solver


def program(
    B: Any,
    c: Any,
    rows: Any = (),
    right: Any = (),
    penalty: float = 100.0,
    lower: float | Any = -5.0,
    upper: float | Any = 5.0,
) -> ElasticProgram:
    """A program with the constraints `rows` d <= `right`."""
    n = len(c)
    return ElasticProgram(
        np.array(B, float),
        np.array(c, float),
        np.array(rows, float).reshape(-1, n),
        -np.array(right, float),
        np.float64(penalty),
        np.broadcast_to(np.array(lower, float), n),
        np.broadcast_to(np.array(upper, float), n),
    )


def close(found: Any, expected: Any, within: float = 1e-6) -> None:
    np.testing.assert_allclose(found, expected, rtol=within, atol=within)


# By hand


def test_without_constraints_the_minimum_of_the_quadratic_is_found() -> None:
    d, multipliers = program([[2, 1], [1, 2]], [-4, -5]).solve()
    close(d, [1, 2])  # 2 + 2 = 4, 1 + 4 = 5
    assert multipliers.shape == (0,)


def test_a_bound_stops_the_way_to_the_minimum() -> None:
    # With d1 = 1 at its bound, d2 minimises d2^2 - 4 d2.
    d, _ = program([[2, 1], [1, 2]], [-4, -5], upper=[0.5, 5]).solve()
    close(d, [0.5, 2.25])  # 0.5 + 2 d2 = 5
    d, _ = program([[1, 0], [0, 1]], [9, -9], lower=-2, upper=3).solve()
    close(d, [-2, 3])


def test_an_active_constraint_has_the_multiplier_by_hand() -> None:
    # 1/2 |d|^2 with d1 + 2 d2 >= 5: d = m (1, 2) with 5 m = 5.
    active = program(np.eye(2), [0, 0], [[-1, -2], [1, 0]], [-5, 4])
    d, multipliers = active.solve()
    close(d, [1, 2])
    close(multipliers, [1, 0])
    assert active.value(np.array([1.0, 2.0])) == 2.5 and active.missed(np.array([1.0, 2.0])) == 0
    assert active.missed(np.array([5.0, -1.0])) == 2 + 1
    assert active.value(np.array([5.0, -1.0])) == 13 + 100 * 3


def test_constraints_that_cannot_be_met_have_the_penalty_as_multiplier() -> None:
    # d <= -1 and d >= 1: each point between misses them by 2 together; among those 0 is the best.
    both = program([[1]], [0.0], [[1], [-1]], [-1, -1], penalty=7)
    d, multipliers = both.solve()
    close(d, [0])
    close(multipliers, [7, 7])
    # d >= 9 in a box up to 5: the bound stops it.
    d, multipliers = program([[1]], [0.0], [[-1]], [-9], penalty=7).solve()
    close(d, [5])
    close(multipliers, [7])


def test_a_small_penalty_gives_way_to_the_objective() -> None:
    # d >= 3 with penalty 2: d - 2 = 0 before the constraint is met.
    d, multipliers = program([[1]], [0.0], [[-1]], [-3], penalty=2).solve()
    close(d, [2])
    close(multipliers, [2])


def test_an_equality_is_two_rows_whose_multipliers_differ_by_its_own() -> None:
    # Nearest to the origin with d1 + d2 = 2: d = (1, 1), multiplier -1 of d1 + d2 - 2.
    d, multipliers = program(np.eye(2), [0, 0], [[1, 1], [-1, -1]], [2, -2]).solve()
    close(d, [1, 1])
    assert multipliers[0] - multipliers[1] == pytest.approx(-1, abs=1e-6)


def test_a_constraint_without_gradient_changes_nothing() -> None:
    d, multipliers = program(np.eye(2), [-1, -2], [[0, 0], [0, 0]], [1, 1]).solve()
    close(d, [1, 2])
    close(multipliers, [0, 0])


def test_a_program_that_is_not_needed_makes_no_round() -> None:
    d, multipliers = program([[2, 1], [1, 2]], [-4, -5], [[1, 0]], [0.0], lower=[-1, 0], upper=[2, 1]).solve(False)
    assert d.tolist() == [0.5, 0.5], "the middle of the box"
    assert multipliers.tolist() == [50.0]


def test_a_program_ends_where_rounding_allows_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearly parallel rows with large multipliers: without the test for that many more rounds are made, for nothing."""
    made = []
    turn = ElasticProgram._round
    monkeypatch.setattr(ElasticProgram, "_round", lambda self, at: (made.append(1), turn(self, at))[1])
    few, many = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        a = rng.normal(size=6)
        rows = np.array([a, -a, a + 1e-7 * rng.normal(size=6)])
        hard = program(np.diag(10.0 ** np.arange(-8, 4, 2)), rng.normal(size=6), rows, [1.0, -1.0, 1.0], penalty=1e6)
        made.clear()
        d, multipliers = hard.solve()
        few.append(len(made))
        made.clear()
        with monkeypatch.context() as patch:
            patch.setattr(quadratic, "SMALL", 0.0)
            refined, _ = hard.solve()
        many.append(len(made))
        slope = hard.B @ d + hard.c + hard.A.T @ multipliers
        left = abs(slope[abs(d) < 5.0 - 1e-6]).max()  # of stationarity, by rounding; no more can be lost than this:
        assert float(hard.value(d) - hard.value(refined)) <= left * abs(d - refined).sum() + 1e-6
    assert max(few) < 20 < max(many)


def test_the_longest_part_leaves_values_positive() -> None:
    assert longest(np.array([1.0, 2.0]), np.array([-4.0, -4.0])) == 0.25
    assert longest(np.array([1.0, 2.0]), np.array([3.0, -1.0])) == 1.0
    assert longest(np.array([1.0]), np.array([0.0])) == 1.0
    assert longest(np.zeros(0), np.zeros(0)) == 1.0


def test_equations_without_solution_give_nan() -> None:
    assert np.isnan(solver(np.zeros((2, 2)))(np.ones(2))).all()
    close(solver(np.array([[2.0, 0.0], [0.0, 4.0]]))(np.array([2.0, 2.0])), [1, 0.5])


# Beside SLSQP, which sees the slacks as variables


def random_program(rng: np.random.Generator, n: int, m: int) -> ElasticProgram:
    M = rng.normal(size=(n, n))
    return ElasticProgram(
        M @ M.T + 0.1 * np.eye(n),
        3 * rng.normal(size=n),
        rng.normal(size=(m, n)),
        rng.normal(size=m),
        np.float64(10 ** rng.uniform(0, 2)),
        -rng.uniform(0.1, 2, n),
        rng.uniform(0.1, 2, n),
    )


def by_slsqp(p: ElasticProgram) -> np.ndarray:
    n, m = len(p.c), len(p.b)
    wide = np.hstack([p.A, -np.eye(m)])
    start = np.concatenate([np.zeros(n), np.maximum(p.b, 0)])
    found = optimize.minimize(
        lambda v: 0.5 * v[:n] @ p.B @ v[:n] + p.c @ v[:n] + p.penalty * v[n:].sum(),
        start,
        jac=lambda v: np.concatenate([p.B @ v[:n] + p.c, np.full(m, p.penalty)]),
        bounds=[*zip(p.lower, p.upper, strict=True), *[(0, None)] * m],
        constraints={"type": "ineq", "fun": lambda v: -(wide @ v + p.b), "jac": lambda v: -wide},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 300},
    )
    d: np.ndarray = np.clip(found.x[:n], p.lower, p.upper)
    return d


@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 3), (4, 1), (5, 5), (8, 12)])
def test_no_value_is_above_that_of_slsqp(n: int, m: int) -> None:
    rng = np.random.default_rng(100 * n + m)
    for _ in range(30):
        p = random_program(rng, n, m)
        d, multipliers = p.solve()
        ours, theirs = p.value(d), p.value(by_slsqp(p))
        assert ours <= theirs + 1e-7 * max(1, abs(theirs))
        assert (multipliers >= 0).all() and (multipliers <= p.penalty).all()


def test_a_program_on_which_the_rounds_go_in_a_circle_is_nearly_solved() -> None:
    """Predictor and corrector may alternate without progress, on one of some thousand programs."""
    rng = np.random.default_rng(55)
    p = [random_program(rng, 5, 5) for _ in range(25)][-1]
    ours, theirs = p.value(p.solve()[0]), p.value(by_slsqp(p))
    assert theirs == pytest.approx(-1.768153, abs=1e-6) and ours == pytest.approx(theirs, rel=0.01)


def test_solution_and_multipliers_meet_the_conditions_of_a_minimum() -> None:
    """Stationary but for the bounds; the penalty where a constraint is missed, nothing where there is room."""
    rng = np.random.default_rng(5)
    missed, roomy, active = 0, 0, 0
    for _ in range(60):
        p = random_program(rng, 4, 5)
        d, multipliers = p.solve()
        slope, left = p.B @ d + p.c + p.A.T @ multipliers, p.A @ d + p.b
        free = (d > p.lower + 1e-5) & (d < p.upper - 1e-5)
        close(slope[free], 0, 1e-4)
        assert (slope[d <= p.lower + 1e-5] > -1e-4).all() and (slope[d >= p.upper - 1e-5] < 1e-4).all()
        close(multipliers[left > 1e-4], p.penalty, 1e-3)
        close(multipliers[left < -1e-4], 0, 1e-3)
        missed, roomy = missed + (left > 1e-4).sum(), roomy + (left < -1e-4).sum()
        active += (abs(left) < 1e-5).sum()
    assert min(missed, roomy, active) > 20, "all kinds were seen"


# Both namespaces


def test_numpy_and_jax_solve_alike() -> None:
    jax = pytest.importorskip("jax")
    rng = np.random.default_rng(6)
    with jax.enable_x64(True):

        @jax.jit
        def solve(columns: Any, needed: Any) -> Any:
            return ElasticProgram(*columns).solve(needed)

        for m in (0, 3):
            for _ in range(15):
                p = random_program(rng, 4, m)
                columns = tuple(jax.numpy.asarray(getattr(p, field.name)) for field in fields(p))
                for found, expected in zip(solve(columns, True), p.solve(), strict=True):
                    assert isinstance(found, jax.Array)
                    close(found, expected)
                for found, expected in zip(solve(columns, False), p.solve(False), strict=True):
                    close(found, expected, 1e-14)


# Numbers of all sizes


def test_the_solution_of_an_ill_scaled_program_is_finite_and_in_the_box() -> None:
    rng = np.random.default_rng(7)
    better = 0
    for _ in range(400):
        n, m = rng.integers(1, 7), rng.integers(0, 9)
        M = rng.normal(size=(n, n)) * 10 ** rng.uniform(-4, 4, n)
        B = M @ M.T + 10 ** rng.uniform(-10, 0) * np.eye(n)
        A = rng.normal(size=(m, n)) * 10 ** rng.uniform(-6, 6, (m, 1))
        A[rng.random(m) < 0.2] = 0.0
        A[m // 2 :] = -A[: m - m // 2]  # opposite rows, as of equalities
        p = ElasticProgram(
            B,
            rng.normal(size=n) * 10 ** rng.uniform(-3, 3),
            A,
            rng.normal(size=m) * 10 ** rng.uniform(-6, 6, m),
            np.float64(10 ** rng.uniform(1, 8)),
            -(10 ** rng.uniform(-9, 0, n)),
            10 ** rng.uniform(-12, 0, n),
        )
        d, multipliers = p.solve()
        assert np.isfinite(d).all() and np.isfinite(multipliers).all()
        assert (d >= p.lower).all() and (d <= p.upper).all()
        better += p.value(d) <= p.value(np.zeros(n)) + 1e-9 * abs(p.value(np.zeros(n)))
    assert better > 360, "and seldom worse than not to move"
