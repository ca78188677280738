"""PPS-SQP: the purse by hand, what its generations draw and ask for, exact budgets, known optima, and its end."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ppsde
from ppsde import testing
from ppsde.algorithm import Ask, Task
from ppsde.algorithms.pps_de import PPSDE
from ppsde.algorithms.pps_sqp import (
    BOLD,
    DE,
    DOUBT,
    EARLY,
    ES,
    KINDS,
    LEAST_TRUST,
    LOCAL,
    MEMBER,
    NARROW,
    NEAR,
    NEW,
    PPSSQP,
    PUSH,
    Purse,
    State,
    pulled,
)
from ppsde.arrays import bits
from ppsde.engines.ending import CONVERGED
from ppsde.engines.run import Run
from ppsde.parts.push_pull import Stage
from ppsde.parts.sqp import FIRST_PENALTY, FIRST_RADIUS, LocalSearch
from ppsde.population import TOLERANCE, Population, choose, evaluated, forgotten
from ppsde.streams import NumpyStream, Tape
from ppsde.suites import get

METHOD = "pps-sqp"
TASK = Task(np.full(2, -5.0), np.full(2, 5.0), 5000)


def sphere(x: Any) -> Any:
    return ((x - 0.3) ** 2).sum()


def halfplane(x: Any) -> Any:
    """A sum of squares beyond a plane; picklable and cheap."""
    return (x**2).sum(), [1.0 - x[0] - x[1]], []


# Draws


class Counting:
    """A stream that counts the numbers that are drawn."""

    def __init__(self, seed: int) -> None:
        self._stream, self.uniforms, self.normals = NumpyStream(seed), 0, 0

    def uniform(self, *shape: int) -> Any:
        self.uniforms += int(np.prod(shape))
        return self._stream.uniform(*shape)

    def normal(self, *shape: int) -> Any:
        self.normals += int(np.prod(shape))
        return self._stream.normal(*shape)


def rows(x: Any) -> Population:
    xp = np if isinstance(x, np.ndarray) else pytest.importorskip("jax").numpy
    g = 1.0 - x.sum(axis=1, keepdims=True)
    return evaluated(x, (x**2).sum(axis=1), g, xp.zeros((len(x), 0)), 1e-4)


def end_of(coroutine: Any, asked: list[Any] | None = None, rows: Any = rows) -> Any:
    """The end of a coroutine on `rows`; the points that it wanted are added to `asked`."""
    request = next(coroutine)
    while True:
        if isinstance(request, Ask):
            points = rows(request.x)
            answer = choose(request.wanted, points, forgotten(points))
            wanted = request.wanted
        else:
            answer, wanted = rows(request), np.ones(len(request), bool)
        if asked is not None:
            asked.append(request.x[wanted] if isinstance(request, Ask) else request)
        try:
            request = coroutine.send(answer)
        except StopIteration as end:
            return end.value


@pytest.mark.parametrize(("n", "d"), [(8, 1), (9, 2), (20, 3), (41, 10)])
def test_a_generation_of_pps_de_draws_and_asks_for_as_much_as_it_says(n: int, d: int) -> None:
    task = Task(np.full(d, -5.0), np.full(d, 5.0), 5000)
    settings = PPSDE(population_size=n)
    state = end_of(settings.start(task, NumpyStream(1)))
    for seed in range(3):
        stream, asked = Counting(seed), []
        state = end_of(settings.generation(state, task, stream), asked)
        assert stream.uniforms == settings.numbers(n, d)
        assert stream.normals == sum(map(len, asked)) == settings.evaluations(n)


def test_every_generation_draws_as_many_numbers_whoever_s_turn_it_is() -> None:
    state = end_of(PPSSQP().start(TASK, NumpyStream(1)))
    drawn, spent = set(), []
    for k in range(150):
        stream = Counting(k)
        state = end_of(PPSSQP().generation(state, TASK, stream))
        drawn.add((stream.uniforms, stream.normals))
        spent.append(state.purse.spent.tolist())
    assert len(drawn) == 1 and min(spent[-1]) > 0 and spent[0][ES] == 0


# The purse

EARLY_PURSE = Purse.full()
LATE = replace(Purse.full(), spent=np.array([EARLY * 2 * 16 - 30, 20, 10]))  # 16 times as old as early


def test_the_first_evaluations_belong_to_the_local_search() -> None:
    assert EARLY_PURSE.shares(TASK).tolist() == [1, 0, 0]
    distrusted = replace(EARLY_PURSE, trust=np.array([0.25, 1.0, 1.0]))
    assert distrusted.shares(TASK).tolist() == [1, 0, 0]


def test_later_shares_by_hand() -> None:
    # 0.9 * 16^-0.25 = 0.45; of the rest, 0.55, a tenth for ES.
    np.testing.assert_allclose(LATE.shares(TASK), [0.45, 0.495, 0.055], rtol=1e-13)
    weighted = np.array([0.45 * 0.5, 0.495, 0.055 * 0.25])
    found = replace(LATE, trust=np.array([0.5, 1.0, 0.25])).shares(TASK)
    np.testing.assert_allclose(found, weighted / weighted.sum(), rtol=1e-13)


def test_the_prospect_of_de_by_hand() -> None:
    long = replace(TASK, max_evaluations=EARLY * 2 * 16)
    assert LATE.prospect(long) == pytest.approx(0.9 * 0.55)
    doubted = replace(LATE, trust=np.array([0.5, 1, 1])).prospect(long)
    assert doubted == pytest.approx(0.9 * 0.55 / (0.5 * 0.45 + 0.55))
    assert LATE.prospect(replace(TASK, max_evaluations=50)) == pytest.approx(0.9 * 0.1)


def test_it_is_the_turn_of_those_who_can_pay_half_or_of_the_nearest_to_that() -> None:
    costs = np.array([10.0, 40.0, 8.0])
    for credit, expected in [
        ([0.0, 0.0, 0.0], [True, False, False]),
        ([5.0, 20.0, 3.9], [True, True, False]),
        ([4.9, 19.0, 3.0], [False, False, False]),
        ([-9.0, -8.0, -9.0], [False, True, False]),
    ]:
        turns = replace(EARLY_PURSE, credit=np.array(credit)).turns(costs).tolist()
        nearest = int(np.argmax(np.array(credit) / costs))
        assert turns == [holds or k == nearest for k, holds in enumerate(expected)]
    assert replace(EARLY_PURSE, credit=np.array([4.9, 19.0, 3.0])).turns(costs).tolist() == [True, False, False]


def test_evaluations_are_taken_from_one_and_credited_to_all() -> None:
    after = LATE.pay(DE, np.asarray(40), np.True_, TASK)
    np.testing.assert_allclose(after.credit, [40 * 0.45, 40 * 0.495 - 40, 40 * 0.055], rtol=1e-12)
    assert after.spent.tolist() == [EARLY * 2 * 16 - 30, 60, 10] and after.gained.tolist() == [False, True, False]
    assert after.pay(DE, np.asarray(1), np.False_, TASK).gained.tolist() == [False, True, False]


def test_shares_sum_to_one_and_credits_to_nothing() -> None:
    rng = np.random.default_rng(1)
    purse = Purse.full()
    for _ in range(300):
        search = int(rng.integers(3))
        purse = purse.pay(search, np.asarray(int(rng.integers(1, 60))), np.bool_(rng.random() < 0.3), TASK)
        purse = purse.reckon(search, np.bool_(rng.random() < 0.5))
        assert purse.shares(TASK).sum() == pytest.approx(1) and (purse.shares(TASK) >= 0).all()
        assert purse.credit.sum() == pytest.approx(0, abs=1e-8)
        assert (purse.trust >= LEAST_TRUST).all() and (purse.trust <= 1).all()
    assert purse.trust[LOCAL] < 1


def test_trust_by_hand() -> None:
    purse = replace(EARLY_PURSE, trust=np.array([0.4, 0.4, 0.26]), gained=np.array([True, False, False]))
    assert purse.reckon(LOCAL, np.False_).trust.tolist() == [0.4, 0.4, 0.26]
    after = purse.reckon(LOCAL, np.True_)
    assert after.trust.tolist() == [0.4 * BOLD, 0.4, 0.26] and not after.gained.any()
    assert after.reckon(LOCAL, np.True_).trust[LOCAL] == pytest.approx(0.8 * DOUBT[LOCAL])
    assert purse.reckon(ES, np.True_).trust.tolist() == [0.4, 0.4, LEAST_TRUST]
    assert replace(purse, trust=np.full(3, 0.9)).reckon(LOCAL, np.True_).trust[LOCAL] == 1.0


def test_each_search_spends_its_share() -> None:
    state = end_of(PPSSQP().start(TASK, NumpyStream(1)))
    owed = state.purse.spent * 1.0
    for k in range(250):
        before = state.purse
        state = end_of(PPSSQP().generation(state, TASK, NumpyStream(1, 0, k + 1)))
        owed += (state.purse.spent.sum() - before.spent.sum()) * before.shares(TASK)
    assert state.purse.spent.sum() > 5 * EARLY and state.purse.spent.min() > 20
    assert (abs(state.purse.spent - owed) < 60).all(), "to within a generation or two"


# Budgets and first points


@pytest.mark.filterwarnings("ignore:max_evaluations=. is too few:UserWarning")
@pytest.mark.parametrize("method", ["pps-sqp", "sqp"])
@pytest.mark.parametrize("d", [1, 4])
def test_every_small_budget_is_spent_exactly(method: str, d: int) -> None:
    for budget in (*range(1, 31), *range(33, 61, 3)):
        calls = []

        def counted(x: np.ndarray, calls: list[np.ndarray] = calls) -> Any:
            calls.append(x.copy())
            return (x**2).sum(), [1.0 - x[0]], []

        result = ppsde.minimize(counted, [(-5, 5)] * d, method=method, max_evaluations=budget, rng=budget, tol=0)
        assert len(calls) == result.nfev == budget
        assert (abs(np.array(calls)) <= 5).all()


@pytest.mark.parametrize("method", ["pps-sqp", "sqp"])
def test_x0_is_asked_for_first_and_the_search_begins_there(method: str) -> None:
    calls = []

    def counted(x: np.ndarray) -> Any:
        calls.append(x.copy())
        return halfplane(x)

    ppsde.minimize(counted, [(-5, 5)] * 3, method=method, max_evaluations=30, rng=1, x0=[2.0, 3.0, -1.0], tol=0)
    assert calls[0].tolist() == [2.0, 3.0, -1.0]
    moved = np.array(calls[1:4]) - calls[0]
    assert ((moved != 0) == np.eye(3, dtype=bool)).all() and abs(moved).max() < 1e-5, "its derivatives come next"
    doubled = calls[0] + 2.0 * (np.array(calls[1:4]) - calls[0])
    assert abs(doubled - calls[4]).max(axis=1).min() < 1e-9, "then one that shows noise"
    assert abs(calls[5] - calls[0]).max() > 0.1, "and then the first trial"


@pytest.mark.parametrize("method", ["pps-sqp", "sqp"])
def test_values_of_x0_that_are_known_cost_nothing(method: str) -> None:
    calls = []

    def counted(x: np.ndarray) -> Any:
        calls.append(x.copy())
        return halfplane(x)

    x0 = np.array([2.0, 3.0])
    common: dict[str, Any] = {"method": method, "rng": 1, "x0": x0, "tol": 0}
    known = ppsde.minimize(counted, [(-5, 5)] * 2, max_evaluations=40, x0_values=halfplane(x0), **common)
    seen = [x.tolist() for x in calls]
    assert len(calls) == known.nfev == 40 and x0.tolist() not in seen
    calls.clear()
    asked = ppsde.minimize(counted, [(-5, 5)] * 2, max_evaluations=41, **common)
    assert [x.tolist() for x in calls[1:]] == seen and bits(asked.x) == bits(known.x)


def test_without_x0_the_first_points_are_a_part_of_the_population() -> None:
    asked: list[Any] = []
    state: State = end_of(PPSSQP().start(TASK, NumpyStream(1)), asked)
    assert [len(x) for x in asked] == [16] and state.population.size == 20 and not state.complete
    assert state.purse.spent.tolist() == [0, 16, 0] and state.population.valid.sum() == 16
    few: list[Any] = []
    end_of(PPSSQP().start(replace(TASK, max_evaluations=50), NumpyStream(1)), few)
    assert [len(x) for x in few] == [6]


def test_the_first_turn_of_de_completes_the_first_population() -> None:
    state: State = end_of(PPSSQP().start(TASK, NumpyStream(1)))
    first = state.population.x[~state.population.valid]
    owed = replace(state, purse=replace(state.purse, credit=np.array([-99.0, 99.0, -99.0])))
    asked: list[Any] = []
    after: State = end_of(PPSSQP().generation(owed, TASK, NumpyStream(1, 0, 1)), asked)
    wanted = np.concatenate(asked)
    assert sorted(wanted.tolist()) == sorted(first.tolist()) and after.complete and after.population.valid.all()
    assert after.purse.spent.tolist() == [0, 20, 0] and after.de.generation == 0


# Cycles of DE


def later(state: State, rows: Any, cycles: int = 0) -> State:
    """The state after two generations of DE alone; the first completes the population, in that many cycles later."""
    for k in (1, 2):
        state = replace(state, purse=replace(state.purse, credit=np.array([-999.0, 999.0, -999.0])))
        state = end_of(PPSSQP().generation(state, TASK, NumpyStream(1, 0, k)), rows=rows)
        if k == 1 and cycles:  # a later cycle, from its push on
            de = state.de
            cycle = replace(de.cycle, number=de.cycle.number + cycles)
            state = replace(state, de=replace(de, cycle=cycle, stage=Stage.fresh(PPSDE().switch_window)))
    return state


@pytest.mark.parametrize(("bound", "cycles"), [(99.0, [True, False, False]), (-9.0, [False, False, True])])
def test_a_third_of_the_cycles_has_no_push_the_first_of_them_where_much_is_feasible(
    bound: float, cycles: list[bool]
) -> None:
    def rows(x: Any) -> Population:
        return evaluated(x, (x**2).sum(axis=1), (x.sum(axis=1) - bound)[:, None], np.zeros((len(x), 0)), 0.0)

    first: State = end_of(PPSSQP().start(TASK, NumpyStream(1)), rows=rows)
    states = [later(first, rows, cycle) for cycle in range(3)]
    assert [bool(state.de.stage.pull) for state in states] == cycles
    assert states[0].de.cycle.number % 2 == 0, "the first cycle is one without a reseeding"


def test_sizes_of_constraints_follow_the_push_and_stay_in_the_pull() -> None:
    factor = 1.0

    def rows(x: Any) -> Population:
        return evaluated(x, (x**2).sum(axis=1), factor * (x.sum(axis=1) + 9.0)[:, None], np.zeros((len(x), 0)), 0.0)

    first: State = end_of(PPSSQP().start(TASK, NumpyStream(1)), rows=rows)
    push, pull = later(first, rows), later(first, rows, 2)
    assert not push.de.stage.pull and pull.de.stage.pull
    factor = 1000.0  # as if the population had moved to where the constraint is steep
    for state, follows in ((push, True), (pull, False)):
        after = later(state, rows)
        assert after.sizes > 10 * state.sizes if follows else after.sizes == state.sizes


def test_a_rule_takes_the_place_of_push_and_pull_and_may_draw() -> None:
    problem = get("cec2006").problem("g06")
    found = [
        ppsde.minimize(problem, method=METHOD, options={"rule": rule}, max_evaluations=2000, rng=1, tol=0)
        for rule in ("stochastic-ranking", "feasibility", None)
    ]
    assert all(result.success and result.fun == pytest.approx(problem.optimum.value, rel=1e-6) for result in found)
    assert len({result.history["evolved"].tobytes() + result.history["f"].tobytes() for result in found}) == 3


# Push


def beyond(x: Any) -> Population:
    """Squares whose minimum, at 0, is infeasible."""
    return evaluated(x, (x**2).sum(axis=1), 1.0 - x[:, :1], np.zeros((len(x), 0)), 1e-4)


def test_a_local_search_that_pushed_is_pulled_back_from_its_end() -> None:
    search = LocalSearch.begin(beyond(np.array([[3.0, 2.0]])), TASK, pushing=True)
    begun = replace(search, point=beyond(np.zeros((1, 2))), over=np.True_)
    pull = pulled(begun, TASK)
    assert not pull.pushing and not pull.over and (pull.point.x == 0.0).all() and (pull.best.x == [3.0, 2.0]).all()
    for other in (
        replace(begun, over=np.False_),
        replace(begun, pushing=np.False_),
        replace(begun, point=search.point),
    ):
        assert pulled(other, TASK) is other, "still under way, no push, or a feasible end"


def test_the_first_evolution_strategy_pushes_and_the_second_begins_where_it_ended() -> None:
    settings, spent = PPSSQP(), np.array([4000, 500, 0])
    state = end_of(settings.start(TASK, NumpyStream(1)), rows=beyond)
    state = replace(state, purse=replace(state.purse, spent=spent))
    for k in range(1, 400):
        before = state
        state = replace(state, purse=replace(state.purse, credit=np.array([-500.0, -500.0, 1000.0])))
        state = end_of(settings.generation(state, TASK, NumpyStream(1, 0, k)), rows=beyond)
        if state.cloud.count == 1:
            assert state.cloud.pushing
        else:
            break
    assert state.cloud.count == 2 and not state.cloud.pushing
    assert abs(before.cloud.leader.x).max() < 1e-3, "it ended at the minimum without constraints"
    assert before.cloud.leader.violation[0] > 0.0, "which it stores with its violation"
    assert state.best.feasible[0] and state.best.f[0] >= 1.0 - 1e-9


def test_the_best_point_is_improved_before_points_near_it_if_no_search_has_ended_there() -> None:
    settings, d = PPSSQP(), 2
    state = end_of(settings.start(TASK, NumpyStream(1)))
    later = replace(state, turn=np.int64(KINDS.index(NEAR)), purse=replace(state.purse, spent=np.array([4000, 500, 0])))
    u = np.linspace(0.2, 0.8, 3 + 2 * d)
    kind, _, made, radius, _ = settings._next_start(later, TASK, u)
    assert kind == NEAR and (made == later.best.x[0]).all() and radius == NARROW
    ended = later.visits.add(later.best.x[0], later.best.x[0], np.False_, TASK)
    kind, _, made, *_ = settings._next_start(replace(later, visits=ended), TASK, u)
    assert kind == NEAR and (made != later.best.x[0]).any()


def test_a_best_point_of_another_search_comes_before_all_turns_but_once() -> None:
    settings, u = PPSSQP(), np.linspace(0.2, 0.8, 7)
    state = end_of(settings.start(TASK, NumpyStream(1)))
    state = replace(state, turn=np.int64(KINDS.index(NEW)), purse=replace(state.purse, spent=np.array([4000, 500, 0])))
    kind, _, made, *_ = settings._next_start(state, TASK, u)
    assert kind == NEAR and (made == state.best.x[0]).all()
    begun = state.visits.add(state.best.x[0], state.best.x[0] + 1.0, np.True_, TASK)
    assert settings._next_start(replace(state, visits=begun), TASK, u)[0] == NEW, "one that began there was given up"
    early = replace(state, purse=replace(state.purse, spent=np.array([50, 20, 0])))
    assert settings._next_start(early, TASK, u)[0] == MEMBER


def test_new_points_and_every_second_member_are_begun_at_with_care() -> None:
    settings, u = PPSSQP(), np.linspace(0.2, 0.8, 7)
    state = end_of(settings.start(TASK, NumpyStream(1)))
    known = state.visits.add(state.best.x[0], state.best.x[0], np.False_, TASK)

    def begun(turn: int, spent: int) -> tuple[int, float, float]:
        at = replace(
            state, turn=np.int64(turn), visits=known, purse=replace(state.purse, spent=np.array([spent, 0, 0]))
        )
        kind, _, _, radius, penalty = settings._next_start(at, TASK, u)
        return int(kind), float(radius), float(penalty)

    bold, careful = (FIRST_RADIUS, FIRST_PENALTY), (0.1, 100.0)
    assert [begun(turn, 4000)[1:] for turn in range(8) if KINDS[turn] == MEMBER] == [bold, careful]
    assert [begun(turn, 4000)[1:] for turn in range(8) if KINDS[turn] == NEW] == [careful, careful]
    assert begun(3, 4000) == (PUSH, *bold)
    assert {begun(turn, 100) for turn in range(8)} == {(MEMBER, *bold)}, "not among the first 100 D evaluations"


# Both namespaces


def test_numpy_and_jax_make_the_same_generations_of_each_search() -> None:
    """The contract sees the first generations only, which are those of the local search."""
    jax = pytest.importorskip("jax")
    from ppsde.engines.tracing import as_tree

    settings = PPSSQP(difference=1e-2)
    # The task and the problem of the contract, so that it is the same program, compiled once.
    task = Task(testing.LOWER, testing.UPPER, 1000, tol=1e-8)

    def rows(x: Any) -> Population:
        return evaluated(x, *testing.equalities(x), TOLERANCE)

    with jax.enable_x64(True), np.errstate(all="ignore"):
        there = replace(task, lower=jax.numpy.asarray(task.lower), upper=jax.numpy.asarray(task.upper))

        @jax.jit
        def generation(state: Any, draws: Any) -> Any:
            return as_tree(end_of(settings.generation(state, there, Tape(draws, jax.numpy.asarray)), rows=rows))

        state = end_of(settings.start(task, NumpyStream(1)), rows=rows)
        state = replace(state, purse=replace(state.purse, spent=np.array([4000, 500, 200])))
        for k in range(1, 9):
            credit = np.full(3, -500.0)
            credit[[DE, ES, LOCAL, DE, ES, DE, LOCAL, ES][k - 1]] = 1000.0
            state = replace(state, purse=replace(state.purse, credit=credit))
            tape = Tape.record(NumpyStream(1, 0, k))
            before = jax.tree.map(jax.numpy.asarray, as_tree(state))
            state = end_of(settings.generation(state, task, tape), rows=rows)
            theirs, ours = jax.tree.leaves(generation(before, tape.draws)), jax.tree.leaves(as_tree(state))
            for a, b in zip(ours, theirs, strict=True):
                np.testing.assert_allclose(b, a, rtol=1e-7, atol=1e-10, err_msg=f"generation {k}")
        assert state.purse.spent[DE] > 500 + 2 * 40 and state.purse.spent[ES] > 200 and state.cloud.age == 3


# Known optima


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("name", ["g04", "g06", "g07", "g24"])
def test_textbook_problems_are_solved_with_a_hundred_evaluations_per_variable(name: str, seed: int) -> None:
    problem = get("cec2006").problem(name)
    assert problem.optimum is not None and problem.optimum.value is not None
    budget = 100 * len(problem.lower)
    result = ppsde.minimize(problem, method=METHOD, max_evaluations=budget, rng=seed, tol=0)
    assert result.success and result.fun - problem.optimum.value < 1e-4 * max(1.0, abs(problem.optimum.value))


def test_noise_in_the_objective_is_survived() -> None:
    problem = get("cec2006").problem("g04")
    assert problem.optimum is not None and problem.optimum.value is not None
    rng = np.random.default_rng(1)

    def noisy(x: np.ndarray) -> Any:
        f, g, h = problem.fun(x[None])
        return float(f[0]) * (1 + 1e-6 * rng.normal()), g[0], h[0]

    bounds = list(zip(problem.lower, problem.upper, strict=True))
    result = ppsde.minimize(noisy, bounds, method=METHOD, max_evaluations=5000, rng=1, tol=0)
    value = float(problem.fun(result.x[None])[0][0])
    assert result.success and value - problem.optimum.value < 1e-3 * abs(problem.optimum.value)


def test_units_of_constraints_do_not_matter() -> None:
    problem = get("cec2006").problem("g07")

    def run(factor: float) -> tuple[np.ndarray, Any]:
        asked = []

        def scaled(x: np.ndarray) -> Any:
            asked.append(x.copy())
            f, g, h = problem.fun(x[None])
            return f[0], factor * g[0], h[0]

        bounds = list(zip(problem.lower, problem.upper, strict=True))
        result = ppsde.minimize(scaled, bounds, method=METHOD, max_evaluations=1000, rng=1, tol=0)
        return np.array(asked), result

    plain, by_two, by_million = run(1.0), run(2.0**20), run(1e6)
    assert plain[0].tobytes() == by_two[0].tobytes(), "a power of 2 changes no rounding"
    np.testing.assert_allclose(by_million[0][:31], plain[0][:31], atol=1e-4)
    assert by_million[1].fun == pytest.approx(plain[1].fun, rel=1e-6)


# The end


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_run_on_the_sphere_ends_by_itself(seed: int) -> None:
    result = ppsde.minimize(sphere, [(-5, 5)] * 3, method=METHOD, max_evaluations=20_000, rng=seed)
    assert result.status == CONVERGED and result.message.startswith("converged") and result.nfev < 600
    assert result.fun < 1e-10


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_run_on_the_tension_spring_ends_by_itself(seed: int) -> None:
    problem = get("engineering").problem("tension-spring")
    assert problem.optimum is not None
    result = ppsde.minimize(problem, method=METHOD, max_evaluations=20_000, rng=seed)
    assert result.status == CONVERGED and result.message.startswith("converged") and result.nfev < 3000
    assert result.success and result.fun == pytest.approx(problem.optimum.value, rel=1e-5)


def test_a_run_whose_tol_is_zero_spends_its_budget() -> None:
    result = ppsde.minimize(sphere, [(-5, 5)] * 2, method=METHOD, max_evaluations=700, rng=1, tol=0)
    assert result.nfev == 700
    assert ppsde.minimize(sphere, [(-5, 5)] * 2, method=METHOD, max_evaluations=700, rng=1).status == CONVERGED


# Workers


def test_bits_do_not_depend_on_workers() -> None:
    common: dict[str, Any] = {"method": METHOD, "max_evaluations": 600, "rng": 1, "tol": 0}
    alone = ppsde.minimize(halfplane, [(-5, 5)] * 2, **common)
    with ThreadPoolExecutor(2) as pool:
        together = ppsde.minimize(halfplane, [(-5, 5)] * 2, workers=pool, **common)
    processes = ppsde.minimize(halfplane, [(-5, 5)] * 2, workers=2, **common)
    assert bits(alone.x) == bits(together.x) == bits(processes.x)
    assert all(bits(v) == bits(together.history[k]) for k, v in alone.history.items() if k != "seconds")


# Settings


@pytest.mark.parametrize("options", [{"population_size": 7}, {"difference": 0.0}, {"difference": 0.2}])
def test_settings_out_of_range_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        PPSSQP(**options)


def test_the_size_of_the_population_follows_the_budget_within_limits() -> None:
    def size(d: int, budget: int, **options: Any) -> int:
        task = Task(np.zeros(d), np.ones(d), budget)
        return int(end_of(PPSSQP(**options).start(task, NumpyStream(1))).population.size)

    assert [size(2, budget) for budget in (50, 100, 1000, 15_000, 10**6)] == [8, 10, 20, 30, 40]
    assert size(20, 10**6) == 100 and size(2, 10**6, population_size=13) == 13


@pytest.mark.parametrize(("budget", "warned"), [(7, True), (8, False)])
@pytest.mark.parametrize("method", ["pps-sqp", "sqp"])
def test_a_budget_too_small_for_a_move_is_warned_of(method: str, budget: int, warned: bool) -> None:
    said = (
        pytest.warns(UserWarning, match="max_evaluations=7 is too few for .*: it needs 8") if warned else nullcontext()
    )
    with said:
        result = ppsde.minimize(lambda x: (x**2).sum(), [(-1, 1)] * 3, method=method, max_evaluations=budget, rng=1)
    assert result.nfev == budget


def test_a_search_that_goes_on_with_the_constraints_has_the_differences_that_it_had() -> None:
    point = evaluated(np.array([[3.0, 2.0]]), np.array([24.0]), np.array([[1.0]]), np.zeros((1, 0)), 1e-4)
    search = replace(LocalSearch.begin(point, TASK, pushing=True, difference=1e-3), over=np.True_)
    again = pulled(search, TASK)
    assert not again.over and again.difference == 1e-3 and not again.measuring


def test_searches_near_the_best_point_use_the_differences_of_the_last_one_and_others_measure() -> None:
    def noisy(x: np.ndarray) -> Any:
        f = 10 + ((x - 0.3) ** 2).sum()
        return f * (1 + 1e-5 * np.sin(1e9 * (x @ np.arange(1.0, 4.0)))), [1 - x[0] - x[1]], []

    seen: dict[bool, set[tuple[bool, bool]]] = {True: set(), False: set()}
    run, last = Run(PPSSQP(), Task(np.full(3, -5.0), np.full(3, 5.0), 3000), seed=1, tolerance=TOLERANCE), None
    while run.wanted is not None:
        state, f = run.state, [noisy(x) for x in run.wanted]
        run.supply(np.array([a for a, _, _ in f]), np.array([b for _, b, _ in f]), np.zeros((len(f), 0)))
        if last is not None and state is not None and last.search.over and not state.search.over:
            seen[bool(state.alone)].add((bool(state.search.measuring), bool(state.search.difference > 1e-6)))
        last = state
    assert seen == {True: {(True, True)}, False: {(False, True)}}


@pytest.mark.parametrize("method", ["pps-sqp", "sqp"])
def test_noise_of_a_millionth_costs_little_without_any_option(method: str) -> None:
    def noisy(x: np.ndarray) -> Any:
        f = 10 + ((x - 0.3) ** 2).sum() + x[0] * x[1] / 2
        return f * (1 + 1e-6 * np.sin(1e9 * (x @ np.arange(1.0, 5.0)))), [1 - x[0] - x[1]], []

    for seed in range(3):
        result = ppsde.minimize(noisy, [(-5, 5)] * 4, method=method, max_evaluations=400, rng=seed)
        assert result.success and result.fun < 10.3425 + 1e-4
