"""The Bayesian signed-rank test: closed forms, and loops over the same draws."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import beta

from ppsde.stats import bayesian_signed_rank

HALF = np.sqrt(0.5)


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("prior", [0.5, 2.0])
def test_equal_differences_have_a_closed_form(n: int, prior: float) -> None:
    """With z = -3 throughout, the prior's weight w is Beta(prior, n), and the shares depend on w alone."""
    far = bayesian_signed_rank(
        np.zeros(n), np.full(n, 3.0), rope=1, prior=prior
    )  # only pairs 0, 0 are in the rope: w^2
    assert far.first == pytest.approx(beta.cdf(HALF, prior, n), abs=0.01)
    assert far.equivalent == pytest.approx(1 - beta.cdf(HALF, prior, n), abs=0.01)
    near = bayesian_signed_rank(np.zeros(n), np.full(n, 3.0), rope=2, prior=prior)  # pairs 0, z too: 1 - (1 - w)^2
    assert near.first == pytest.approx(beta.cdf(1 - HALF, prior, n), abs=0.01)
    assert far.second == near.second == 0.0


def test_shares_are_those_of_loops_over_the_same_draws() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=7), rng.normal(size=7)
    z = [*(first - second), 0.0]
    draws = np.random.default_rng(4).dirichlet([*np.ones(7), 0.5], 400)
    wins = np.zeros(3)
    for w in draws:
        share = [0.0, 0.0, 0.0]
        for i, j in itertools.product(range(8), repeat=2):
            share[0 if z[i] + z[j] < -0.4 else 2 if z[i] + z[j] > 0.4 else 1] += w[i] * w[j]
        wins[int(np.argmax(share))] += 1
    test = bayesian_signed_rank(first, second, rope=0.2, samples=400, seed=4)
    assert [test.first, test.equivalent, test.second] == pytest.approx(wins / 400)
    assert min(test.first, test.equivalent, test.second) > 0  # or the loops would show little


def test_probabilities_are_those_of_a_published_example() -> None:
    """Naive Bayes and C4.5 on 54 data sets (Benavoli and others, JMLR 18 (2017) 77): mean accuracies, the first less
    the second, in percent. With a rope of 1 the manual of baycomp prints 0.230, 0.0067 and 0.763 and, elsewhere, 0.231,
    0.0067 and 0.762, by 50,000 draws."""
    differences = [
        -2.7, -5.83, 6.14, 0.49, -7.33, -0.07, -0.07, 1.66, -11.4, 2.87, -0.38, 10.46, 0.52, 0.0, 5.12, 3.84, -0.87,
        -0.71, -0.27, -11.65, 1.8, 0.0, 8.73, -1.43, -23.17, -2.53, -4.24, -6.88, 13.58, -3.23, 7.25, -0.9, 0.94, -1.67,
        6.19, -3.0, -3.36, -3.36, -4.03, 2.04, -0.44, -3.03, -1.84, 1.25, -4.47, -15.6, -0.46, -17.75, 5.1, 3.98, 7.98,
        2.16, 0.54, 1.37,
    ]  # fmt: skip
    test = bayesian_signed_rank(np.negative(differences), np.zeros(54), rope=1)  # larger accuracies are better
    assert (test.first, test.equivalent, test.second) == pytest.approx((0.2307, 0.0067, 0.7626), abs=0.006)


def test_the_two_algorithms_may_change_places() -> None:
    rng = np.random.default_rng(1)
    first, second = np.round(rng.normal(size=12), 1), np.round(rng.normal(size=12), 1)
    one, two = (bayesian_signed_rank(*pair, rope=0.1) for pair in ((first, second), (second, first)))
    assert (one.first, one.equivalent, one.second) == (two.second, two.equivalent, two.first)


def test_a_difference_at_the_edge_of_the_rope_is_equivalent() -> None:
    edge = bayesian_signed_rank([0.5] * 9, [0.3] * 9, rope=0.2)  # 0.5 - 0.3 > 0.2 in no decimal arithmetic
    assert edge.equivalent == 1.0
    assert bayesian_signed_rank([0.3] * 9, [0.1] * 9, rope=0.2) == edge


def test_many_equal_results_are_equivalent_where_a_p_value_only_fails_to_reject() -> None:
    rng = np.random.default_rng(0)
    base = rng.normal(size=30)
    assert bayesian_signed_rank(base, base + 0.01 * rng.normal(size=30), rope=0.1).equivalent > 0.99


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"first": [1.0], "second": [1.0, 2.0]}, "one shape"),
        ({"first": [float("nan")]}, "finite values"),
        ({"rope": -1}, "rope must be"),
        ({"prior": 0}, "prior must be"),
        ({"samples": 0}, "samples must be"),
    ],
)
def test_wrong_arguments_are_refused(wrong: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        bayesian_signed_rank(**{"first": [1.0], "second": [2.0], "rope": 0.1, **wrong})
