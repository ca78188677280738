"""Ask and tell in any order: answers in parts, late, repeated and failed, points of one's own, several searches."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ppsde
from ppsde.engines.searches import OVERTAKEN

BOX = [(-5.0, 5.0)] * 3
BUDGET = 150
METHODS = ["pps-sqp", "pps-de", "jde", "emag-es"]


def rows(x: np.ndarray) -> Any:
    """The sum of squares beyond a plane, on a second plane: 1.125."""
    return (x**2).sum(axis=1), 1.0 - x[:, :1], x[:, 1:2] - x[:, 2:3] - 0.5


def an_optimizer(method: str = "pps-sqp", budget: int = BUDGET, **more: Any) -> ppsde.Optimizer:
    return ppsde.Optimizer(BOX, method=method, n_ineq=1, n_eq=1, max_evaluations=budget, rng=1, **more)


def tell(optimizer: ppsde.Optimizer, x: np.ndarray) -> None:
    optimizer.tell(x, *rows(x))


class Worker:
    """A caller who asks and answers at random, and notes what must hold: the best, the counts, the points asked for."""

    def __init__(self, seed: int, file: Path | None = None) -> None:
        self.rng, self.file = np.random.default_rng(seed), file
        self.out: list[np.ndarray] = []
        self.told: list[np.ndarray] = []
        self.asked = self.answered = self.failed = 0
        self.best = (np.inf, np.inf)

    def step(self, optimizer: ppsde.Optimizer) -> ppsde.Optimizer:
        what = self.rng.choice(["ask", "answer", "answer", "answer", "fail", "repeat", "own", "save"])
        if what == "ask" and not optimizer.done:
            n = int(self.rng.integers(1, 12))
            x = optimizer.ask(n)
            assert len(x) == min(n, BUDGET - self.asked)
            self.asked += len(x)
            self.out += list(x)
        elif what == "answer" and self.out:
            k = int(self.rng.integers(1, 1 + min(5, len(self.out))))
            picked = [self.out.pop(int(self.rng.integers(len(self.out)))) for _ in range(k)]
            self._tell(optimizer, np.array(picked))
            self.answered += k
        elif what == "fail" and self.out and self.rng.random() < 0.3:
            x = self.out.pop(int(self.rng.integers(len(self.out))))
            optimizer.tell(x, np.nan)
            self.answered += 1
            self.failed += 1
        elif what == "repeat" and self.told:
            before, x = optimizer.result.nfev, self.told[int(self.rng.integers(len(self.told)))]
            again = optimizer._searches.awaited(x)  # some methods ask for a point twice; then it is no repetition
            tell(optimizer, x[None])
            assert optimizer.result.nfev == before or again
        elif what == "own" and self.rng.random() < 0.1:
            self._tell(optimizer, self.rng.uniform(-5, 5, (1, 3)))
        elif what == "save" and self.file is not None:
            optimizer.save(self.file)
            return ppsde.Optimizer.load(self.file)
        return optimizer

    def _tell(self, optimizer: ppsde.Optimizer, x: np.ndarray) -> None:
        tell(optimizer, x)
        self.told += list(x)
        for f, g, h in zip(*rows(x), strict=True):
            self.best = min(self.best, (max(0.0, g[0]) + max(0.0, abs(h[0]) - 1e-4), f))


def work(method: str, seed: int, file: Path | None = None) -> tuple[ppsde.Optimizer, Worker]:
    """Search with random orders of answers; return the search when it is done and nothing is out."""
    optimizer, worker = an_optimizer(method, tol=0 if method == "pps-sqp" else None), Worker(seed, file)
    for _ in range(20_000):
        optimizer = worker.step(optimizer)
        if optimizer.done and not worker.out:
            return optimizer, worker
        violation, f = worker.best
        if violation < np.inf:
            found = optimizer.result
            assert found.fun == f and found.violation == violation
    raise AssertionError("the search does not end")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_lost_whatever_the_order(method: str, seed: int) -> None:
    optimizer, worker = work(method, seed)
    result = optimizer.result
    assert worker.asked == worker.answered == result.nfev == BUDGET  # the budget, exactly
    assert result.n_failed == worker.failed and (result.violation, result.fun) == worker.best
    assert np.all(np.diff(result.history["evaluations"]) >= 0)


@pytest.mark.parametrize("method", ["pps-sqp", "jde"])
def test_the_same_order_gives_the_same_bits_also_if_saved_in_between(method: str, tmp_path: Path) -> None:
    plain, one = work(method, 4)
    again, two = work(method, 4)
    saved, three = work(method, 4, tmp_path / "search.ppsde")
    for other, worker in ((again, two), (saved, three)):
        assert np.array_equal(one.told, worker.told) and one.best == worker.best
        assert repr(other.result) == repr(plain.result)


@pytest.mark.parametrize("method", ppsde.ALGORITHMS)
def test_every_method_goes_on_with_eight_points_out(method: str, tmp_path: Path) -> None:
    """The oldest point is answered last; saved and loaded in the middle, and copied."""
    optimizer = an_optimizer(method, 200)
    queue: list[np.ndarray] = []
    asked = 0
    while not optimizer.done or queue:
        if not optimizer.done:
            x = optimizer.ask(8 - len(queue)) if len(queue) < 8 else np.empty((0, 3))
            asked += len(x)
            queue += list(x)
            assert len(queue) == 8 or asked == 200
        x = queue.pop(-1 if len(queue) > 1 and len(queue) % 3 else 0)
        tell(optimizer, x[None])
        if asked == 100:
            optimizer.save(tmp_path / "search.ppsde")
            optimizer = pickle.loads(pickle.dumps(ppsde.Optimizer.load(tmp_path / "search.ppsde")))
    assert asked == optimizer.result.nfev == 200


def test_a_generation_told_in_parts_is_the_generation() -> None:
    whole, parts = an_optimizer("pps-de", 200), an_optimizer("pps-de", 200)
    while not whole.done:
        x = whole.ask()
        whole.tell(*rows(x))
        half = parts.ask(len(x))
        assert np.array_equal(half, x)
        for k in (slice(len(x) // 2, None), slice(0, len(x) // 2)):
            tell(parts, half[k])
    assert parts.done and repr(parts.result) == repr(whole.result)


def test_the_rest_of_a_generation_can_be_told_without_x() -> None:
    whole, mixed = an_optimizer("pps-de", 120), an_optimizer("pps-de", 120)
    while not whole.done:
        whole.tell(*rows(whole.ask()))
        tell(mixed, mixed.ask(5)[::2])
        rest = mixed.ask()
        mixed.tell(*rows(rest))
    assert repr(mixed.result) == repr(whole.result)


def test_a_search_that_waits_lets_others_begin_and_goes_on_first_when_it_can() -> None:
    optimizer = an_optimizer("jde", 1000, options={"population_size": 20})
    x = optimizer.ask(20)
    further = optimizer.ask(3)
    assert not (further[:, None] == x).all(axis=2).any()
    tell(optimizer, x)
    again = optimizer.ask(20)
    single = an_optimizer("jde", 1000, options={"population_size": 20})
    single.tell(*rows(single.ask()))
    assert np.array_equal(again, single.ask())


def test_a_point_that_never_comes_back_does_not_stop_its_search() -> None:
    optimizer = an_optimizer("jde", 1000, options={"population_size": 20})
    x = optimizer.ask(20)
    tell(optimizer, x[1:])
    for _ in range(2 * OVERTAKEN):
        assert np.array_equal(optimizer.ask(), x[:1])  # the first search waits for it
        tell(optimizer, optimizer.ask(1))
    assert len(optimizer.ask()) == 20 and optimizer.result.n_failed == 1
    nfev = optimizer.result.nfev
    optimizer.tell(x[0], -100.0, [-1.0], [0.0])  # late, and the best
    assert optimizer.result.fun == -100.0 and optimizer.result.n_failed == 0 and optimizer.result.nfev == nfev


def test_late_answers_are_taken_when_the_search_is_done() -> None:
    optimizer = an_optimizer("jde", 100, target=1e9)
    x = optimizer.ask(2)
    optimizer.tell(x[0], 5.0, [0.0], [0.0])
    assert optimizer.done and optimizer.result.limited_by == "target"
    optimizer.tell(x[1], 4.0, [0.0], [0.0])
    optimizer.tell([0.0, 0.0, 0.0], 3.0, [0.0], [0.0])  # a point of one's own
    assert optimizer.result.fun == 3.0 and optimizer.result.nfev == 2


def test_points_of_ones_own_cost_nothing_and_are_in_the_first_population() -> None:
    own = np.array([[1.0, 0.25, -0.25], [2.0, 1.0, 0.0]])
    optimizer = an_optimizer("jde", 300)
    tell(optimizer, own)
    assert optimizer.result.nfev == 0 and optimizer.result.fun == 1.125
    by_x0 = an_optimizer("jde", 300, x0=own, x0_values=rows(own))
    while not by_x0.done:
        assert np.array_equal(optimizer.ask(), by_x0.ask())
        optimizer.tell(*rows(optimizer.ask()))
        by_x0.tell(*rows(by_x0.ask()))
    assert optimizer.result.fun == by_x0.result.fun <= 1.125 and optimizer.result.nfev == 300


def test_a_search_begins_with_points_that_are_injected_later() -> None:
    optimizer = an_optimizer("sqp", 400)
    tell(optimizer, optimizer.ask(3))
    own = np.array([1.001, 0.26, -0.24])
    optimizer.tell(own, *(part[0] for part in rows(own[None])))
    found = []
    for _ in range(10):
        x = optimizer.ask(8)
        found += list(x)
        tell(optimizer, x)
    assert min(np.abs(x - own).max() for x in found) < 1e-3  # derivatives are measured there
    assert optimizer.result.fun < 1.127


@pytest.mark.parametrize(("method", "reach"), [("pps-sqp", 1e-3), ("jade", 1.0)])
def test_a_better_point_of_ones_own_is_followed_also_by_a_single_worker(method: str, reach: float) -> None:
    own = np.array([[2.0, 3.0, 2.5]])
    options: dict[str, Any] = {"tol": 0} if method == "pps-sqp" else {"options": {"population_size": 8}}
    near = []
    for told in (False, True):
        optimizer = an_optimizer(method, 400, **options)
        tell(optimizer, optimizer.ask(1))
        if told:
            tell(optimizer, own)
        found = []
        for _ in range(100):
            found.append(optimizer.ask(1))
            tell(optimizer, found[-1])
        near.append(sum(np.abs(x - own).max() < reach for x in found))
        assert optimizer.result.nfev == 101
    assert near[1] >= near[0] + 3, near


def test_a_point_that_is_wanted_but_not_out_is_answered_too() -> None:
    optimizer = an_optimizer("jde", 300)
    x = optimizer.ask()
    tell(optimizer, x[7:8])
    assert optimizer.result.nfev == 1 and len(optimizer.ask()) == len(x) - 1
    assert not (optimizer.ask(99)[: len(x) - 1] == x[7]).all(axis=1).any()


def test_if_everything_fails_the_search_says_so() -> None:
    optimizer = an_optimizer("pps-sqp", 5000)
    while not optimizer.done:
        x = optimizer.ask(8)
        optimizer.tell(x, np.full(len(x), np.nan))
    assert optimizer.result.limited_by == "failures" and 100 <= optimizer.result.nfev <= 108
    assert optimizer.result.n_failed == optimizer.result.nfev


WRONG: list[tuple[tuple[Any, ...], str]] = [
    (([1.0, 2.0], 3.0, [0.0], [0.0]), r"x must be one point \(3,\) or rows \(k, 3\); got \(2,\)"),
    (([[1.0, 2.0]], [3.0], [[0.0]], [[0.0]]), r"x must be one point \(3,\) or rows \(k, 3\); got \(1, 2\)"),
    (([1.0, 2.0, 9.0], 3.0, [0.0], [0.0]), "x must lie inside the bounds; point 0 does not"),
    (([1.0, 2.0, np.nan], 3.0, [0.0], [0.0]), "x must lie inside the bounds"),
    ((["a", "b", "c"], 3.0, [0.0], [0.0]), "x must be real numbers"),
    (([[1.0, 2.0, 3.0]] * 2, [3.0], None, None), r"f of 2 points must have shape \(2,\); got \(1,\)"),
    (([1.0, 2.0, 3.0], 3.0, None, None), r"expected 1 inequalities and 1 equalities; got \(0, 0\)"),
    (([1.0, 2.0, 3.0], 3.0, [0.0, 1.0], [0.0]), r"expected 1 inequalities and 1 equalities; got \(2, 1\)"),
    (([1.0, 2.0, 3.0], 3.0j, [0.0], [0.0]), "the objective must be real numbers; got complex"),
]


@pytest.mark.parametrize(("arguments", "words"), WRONG)
def test_bad_input_is_one_clear_sentence_and_nothing_is_lost(arguments: tuple[Any, ...], words: str) -> None:
    optimizer, other = an_optimizer("jde"), an_optimizer("jde")
    x = optimizer.ask(5)
    other.ask(5)
    with pytest.raises(ValueError, match=words) as caught:
        optimizer.tell(*arguments)
    assert "\n" not in str(caught.value)
    tell(optimizer, x)
    tell(other, x)
    assert repr(optimizer.result) == repr(other.result) and optimizer.result.nfev == 5
    assert np.array_equal(optimizer.ask(9), other.ask(9))


def test_other_values_for_a_point_are_refused_with_all_that_was_told_beside_it() -> None:
    optimizer = an_optimizer("jde")
    x = optimizer.ask(4)
    tell(optimizer, x[:2])
    tell(optimizer, x[:2])
    f, g, h = rows(x)
    with pytest.raises(ValueError, match="point 1 was told before with other values"):
        optimizer.tell(x[[2, 1, 3]], f[[2, 0, 3]], g[[2, 1, 3]], h[[2, 1, 3]])
    with pytest.raises(ValueError, match="point 1 was told before with other values"):
        optimizer.tell(x[[2, 2]], [1.0, 2.0], [[0.0]] * 2, [[0.0]] * 2)
    assert optimizer.result.nfev == 2
    tell(optimizer, x)
    assert optimizer.result.nfev == 4


@pytest.mark.parametrize("n", [0, -1, 2.5, "3", True])
def test_a_number_of_points_that_is_none_is_refused(n: Any) -> None:
    with pytest.raises(ValueError, match="n must be an int >= 1"):
        an_optimizer("jde").ask(n)


def test_one_variable_is_no_special_case() -> None:
    optimizer = ppsde.Optimizer([(-5.0, 5.0)], max_evaluations=60, method="jde", rng=1)
    while not optimizer.done:
        x = optimizer.ask(4)
        optimizer.tell(x, x[:, 0] ** 2)
    assert optimizer.result.nfev == 60 and optimizer.result.fun < 0.1


def test_what_a_search_prints_says_what_is_out() -> None:
    optimizer = an_optimizer("jde", 300, options={"population_size": 20})
    optimizer.ask(4)
    assert repr(optimizer) == "Optimizer: 0 of 300 evaluations, wants 20 points, 4 points are out"
