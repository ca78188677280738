"""Ask and tell."""

import copy
import pickle

import numpy as np
import pytest

import ppsde

BOX = [(-5.0, 5.0)] * 3


def test_asking_again_gives_the_same_points_until_tell_is_called():
    optimizer = ppsde.Optimizer(BOX, max_evaluations=100, rng=1)
    first = optimizer.ask()
    first[:] = 99.0  # what is handed out is a copy
    again = optimizer.ask()
    assert np.array_equal(again, optimizer.ask()) and np.abs(again).max() <= 5
    optimizer.tell(again.sum(axis=1))
    assert not np.array_equal(optimizer.ask()[: len(again)], again)


def test_the_result_can_be_looked_at_any_time():
    optimizer = ppsde.Optimizer(BOX, method="pps-de", n_ineq=1, max_evaluations=120, rng=1)
    assert optimizer.result.nfev == 0 and not optimizer.result.success and np.isnan(optimizer.result.fun)
    while not optimizer.done:
        x = optimizer.ask()
        optimizer.tell((x**2).sum(axis=1), g=x[:, 0])
    assert optimizer.result.nfev == 120 and optimizer.result.status == 0


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (([1.0], None, None), "must have shape (40,); got (1,)"),
        ((np.zeros(40), None, None), "expected 1 inequalities and 1 equalities; got (0, 0)"),
        ((np.zeros(40), np.zeros((40, 2)), np.zeros((40, 1))), "got (2, 1)"),
        ((np.zeros(40) * 1j, np.zeros((40, 1)), np.zeros((40, 1))), "complex"),
    ],
)
def test_wrong_values_are_refused_and_nothing_is_lost(values, words):
    optimizer = ppsde.Optimizer(BOX, method="pps-de", n_ineq=1, n_eq=1, max_evaluations=120, rng=1)
    before = optimizer.ask()
    with pytest.raises(ValueError) as caught:
        optimizer.tell(*values)
    assert words in str(caught.value)
    assert np.array_equal(optimizer.ask(), before) and optimizer.result.nfev == 0


def test_a_search_that_is_done_says_so():
    optimizer = ppsde.Optimizer(BOX, method="pps-de", max_evaluations=5, rng=1)
    optimizer.tell(optimizer.ask().sum(axis=1))
    assert optimizer.done
    with pytest.raises(ValueError, match="done"):
        optimizer.ask()
    with pytest.raises(ValueError, match="done"):
        optimizer.tell([1.0])


@pytest.mark.parametrize("counts", [{"n_ineq": -1}, {"n_eq": 1.5}, {"n_ineq": True}])
def test_wrong_counts_are_refused(counts):
    with pytest.raises(ValueError, match="must be an int >= 0"):
        ppsde.Optimizer(BOX, **counts)
    with pytest.raises(ValueError, match="must be an int >= 0"):
        ppsde.Problem(sum, BOX, **counts)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda optimizer: pickle.loads(pickle.dumps(optimizer))])
def test_a_copy_goes_on_as_the_original_does(copied):
    def step(optimizer):
        x = optimizer.ask()
        optimizer.tell((x**2).sum(axis=1), g=1 - x[:, :1])

    optimizer = ppsde.Optimizer([(-5, 5)] * 2, n_ineq=1, max_evaluations=300, method="pps-de", rng=1)
    for _ in range(3):
        step(optimizer)
    other = copied(optimizer)
    while not optimizer.done:
        step(optimizer)
    assert other.result.nfev == 120  # it has not moved
    while not other.done:
        step(other)
    assert np.array_equal(other.result.x, optimizer.result.x) and other.result.nfev == 300
