"""Comparisons of average ranks: by hand, against other programs, and the numbers that the literature prints."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from ppsde.stats import (
    against_control,
    all_pairs,
    average_ranks,
    bergmann_hommel,
    finner,
    friedman,
    friedman_aligned,
    hochberg,
    holm,
    hommel,
    nemenyi,
    quade,
    rank_intervals,
    shaffer,
)


def table(seed: int, problems: int = 12, algorithms: int = 5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.round(rng.normal(size=(problems, algorithms)) + 0.4 * np.arange(algorithms), 1)  # rounded: some ties


def test_the_critical_difference_uses_the_quantiles_of_the_literature() -> None:
    """Table 5a of Demsar, JMLR 7 (2006), at 0.05 and 0.10."""
    at_5 = {2: 1.960, 3: 2.343, 4: 2.569, 5: 2.728, 6: 2.850, 7: 2.949, 8: 3.031, 9: 3.102, 10: 3.164}
    at_10 = {2: 1.645, 3: 2.052, 4: 2.291, 5: 2.459, 6: 2.589, 7: 2.693, 8: 2.780, 9: 2.855, 10: 2.920}
    for alpha, printed in ((0.05, at_5), (0.10, at_10)):
        for k, q in printed.items():
            test = nemenyi(np.zeros((14, k)), alpha=alpha)
            assert test.critical_difference == pytest.approx(q * np.sqrt(k * (k + 1) / (6 * 14)), abs=6e-4)


@pytest.mark.parametrize("seed", range(3))
def test_nemenyi_is_that_of_scikit_posthocs(seed: int) -> None:
    oracle = pytest.importorskip("scikit_posthocs")
    values = table(seed)
    expected = oracle.posthoc_nemenyi_friedman(values).to_numpy()
    assert np.allclose(nemenyi(values).p, expected, rtol=1e-6, atol=1e-9)


def test_nemenyi_differs_exactly_where_p_is_below_the_level() -> None:
    rows = nemenyi(table(1, problems=30), alpha=0.05).rows()
    assert len(rows) == 10
    assert {row["differ"] for row in rows} == {True, False}
    for row in rows:
        assert row["differ"] == (row["p"] < 0.05)  # type: ignore[operator]


def test_holm_by_hand() -> None:
    # In order 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1: 0.02, 0.03, 0.06, 0.04, which may not fall below 0.06.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.9]).tolist() == [1.0, 1.0]
    assert holm([]).tolist() == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.randoms())
def test_holm_keeps_the_order_lies_between_p_and_m_p_and_ignores_positions(p: list, random: object) -> None:
    adjusted = holm(p)
    assert (adjusted >= p).all()
    assert (adjusted <= np.minimum(1, len(p) * np.array(p))).all()
    assert (np.diff(adjusted[np.argsort(p)]) >= 0).all()
    places = list(range(len(p)))
    random.shuffle(places)  # type: ignore[attr-defined]
    assert holm([p[k] for k in places]).tolist() == adjusted[places].tolist()


@pytest.mark.parametrize("seed", range(3))
def test_holm_of_all_pairs_is_that_of_scikit_posthocs(seed: int) -> None:
    oracle = pytest.importorskip("scikit_posthocs")
    values = table(seed)
    pairs = all_pairs(values)
    upper = np.triu_indices(values.shape[1], 1)
    assert np.allclose(pairs.p, oracle.posthoc_siegel_friedman(values).to_numpy()[upper])
    assert np.allclose(pairs.adjusted, oracle.posthoc_siegel_friedman(values, p_adjust="holm").to_numpy()[upper])


def test_against_a_control_only_its_own_pairs_are_corrected_for() -> None:
    values = table(2)
    control = against_control(values, "A3")
    pairs = all_pairs(values)
    of_the_control = [k for k in range(10) if "A3" in (pairs.first[k], pairs.second[k])]
    assert control.first == ("A3",) * 4
    assert control.second == ("A1", "A2", "A4", "A5")
    assert control.p == pytest.approx(pairs.p[of_the_control])
    assert control.adjusted == pytest.approx(holm(pairs.p[of_the_control]))
    assert (control.adjusted <= pairs.adjusted[of_the_control]).all()


def test_z_is_negative_where_the_first_is_better_and_by_hand() -> None:
    values = [[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]]
    assert average_ranks(values).tolist() == [1.25, 2.0, 2.75]
    z = against_control(values, 0).z  # the standard deviation is sqrt(3 * 4 / (6 * 4))
    assert z == pytest.approx([-0.75 * np.sqrt(2), -1.5 * np.sqrt(2)])


@pytest.mark.parametrize("control", ["A9", 3, -1, True])
def test_an_unknown_control_is_refused(control: object) -> None:
    with pytest.raises(ValueError, match=f"got {control!r}"):
        against_control([[1.0, 2.0, 3.0]] * 2, control)  # type: ignore[arg-type]


@pytest.mark.parametrize("p", [[0.5, 1.5], [-0.1], [float("nan")], [[0.5]]])
def test_what_is_no_list_of_p_values_is_refused(p: list) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm(p)


def test_a_level_outside_the_unit_interval_is_refused() -> None:
    with pytest.raises(ValueError, match="got 5"):
        nemenyi([[1.0, 2.0]] * 2, alpha=5)


# --- Garcia, Fernandez, Luengo, Herrera, Information Sciences 180 (2010) 2044: four classifiers on 24 data sets ------

CLASSIFIERS = ("PDFC", "NNEP", "IS-CHC+1NN", "FH-GBML")
ACCURACY = np.array(
    [
        [0.752, 0.773, 0.785, 0.795], [0.727, 0.748, 0.724, 0.713], [0.736, 0.716, 0.585, 0.638],
        [0.994, 0.861, 0.880, 0.791], [0.508, 0.553, 0.575, 0.515], [0.535, 0.536, 0.513, 0.471],
        [0.967, 0.871, 0.954, 0.532], [0.831, 0.807, 0.819, 0.768], [0.745, 0.702, 0.719, 0.705],
        [0.709, 0.572, 0.669, 0.607], [0.722, 0.728, 0.725, 0.732], [0.967, 0.947, 0.953, 0.960],
        [0.832, 0.752, 0.802, 0.691], [0.998, 0.992, 0.482, 0.910], [0.963, 0.963, 0.954, 0.926],
        [0.982, 0.953, 0.932, 0.630], [0.978, 0.773, 0.834, 0.849], [0.854, 0.787, 0.841, 0.779],
        [0.965, 0.984, 0.995, 0.947], [0.924, 0.887, 0.861, 0.804], [0.929, 0.942, 0.931, 0.921],
        [0.837, 0.643, 0.602, 0.554], [0.972, 0.956, 0.944, 0.922], [0.958, 0.959, 0.964, 0.964],
    ]
)  # fmt: skip

# Published with the data: average ranks, then p of FH-GBML, IS-CHC+1NN and NNEP against PDFC, unadjusted and adjusted.
PRINTED_RANKS = {
    "friedman": (1.7708333, 2.4791667, 2.4791667, 3.2708333),
    "aligned": (29.333333, 46.791667, 46.979167, 70.895833),
    "quade": (1.3883333, 2.5383333, 2.5916667, 3.4816667),
}
PRINTED_P = {
    "friedman": {
        "p": (5.699411623331527e-5, 0.057346851901366444, 0.057346851901366444),
        "holm": (1.709823486999458e-4, 0.11469, 0.11469),
        "hochberg": (1.709823486999458e-4, 0.057346851901366444, 0.057346851901366444),
        "hommel": (1.70982e-4, 0.05735, 0.05735),
        "finner": (1.70973e-4, 0.08477, 0.08477),
    },
    "aligned": {
        "p": (2.3602680011265347e-7, 0.02821169615547655, 0.029930144495582865),
        "holm": (7.080804003379604e-7, 0.0564233923109531, 0.0564233923109531),
        "hochberg": (7.080804003379604e-7, 0.029930144495582865, 0.029930144495582865),
        "hommel": (7.080804003379604e-7, 0.029930144495582865, 0.029930144495582865),
        "finner": (7.080802332248837e-7, 0.04201766339344748, 0.04201766339344748),
    },
    "quade": {
        "p": (6.0169565469205524e-5, 0.0210913960895442, 0.02751561423586023),
        "holm": (1.8050869640761657e-4, 0.0421827921790884, 0.0421827921790884),
        "hochberg": (1.8050869640761657e-4, 0.02751561423586023, 0.02751561423586023),
        "hommel": (1.8050869640761657e-4, 0.02751561423586023, 0.02751561423586023),
        "finner": (1.804978354955633e-4, 0.03146968542314532, 0.03146968542314532),
    },
}


@pytest.mark.parametrize(("ranks", "test"), [("friedman", friedman), ("quade", quade)])
def test_average_ranks_are_those_published_with_the_data(ranks: str, test: object) -> None:
    assert test(-ACCURACY, CLASSIFIERS).average_ranks == pytest.approx(PRINTED_RANKS[ranks], abs=1e-6)  # type: ignore[operator]


def test_published_aligned_ranks_miss_ties_that_rounding_hides() -> None:
    """The published ranks are those of floats, in which some equal distances differ by rounding; ours are exact."""
    apart = -ACCURACY - (-ACCURACY).mean(axis=1, keepdims=True)
    by_floats = scipy.stats.rankdata(apart).reshape(ACCURACY.shape).mean(axis=0)
    assert by_floats == pytest.approx(PRINTED_RANKS["aligned"], abs=1e-6)
    exactly = scipy.stats.rankdata(np.round(4000 * apart)).reshape(ACCURACY.shape).mean(axis=0)  # whole numbers
    test = friedman_aligned(-ACCURACY)
    assert test.average_ranks == pytest.approx(exactly)
    assert test.average_ranks == pytest.approx(PRINTED_RANKS["aligned"], abs=0.03)
    assert test.test_rows()[0]["statistic"] == pytest.approx(22.26, abs=0.01)  # by floats, in the program STAC


@pytest.mark.parametrize("ranks", ["friedman", "quade"])
@pytest.mark.parametrize("correction", ["holm", "hochberg", "hommel", "finner"])
def test_comparisons_with_a_control_are_those_published_with_the_data(ranks: str, correction: str) -> None:
    test = against_control(-ACCURACY, "PDFC", CLASSIFIERS, ranks=ranks, correction=correction)
    assert test.second == ("NNEP", "IS-CHC+1NN", "FH-GBML")
    assert test.p[::-1] == pytest.approx(PRINTED_P[ranks]["p"], rel=1e-6)
    assert test.adjusted[::-1] == pytest.approx(PRINTED_P[ranks][correction], rel=1e-4)


@pytest.mark.parametrize("correction", ["holm", "hochberg", "hommel", "finner"])
def test_comparisons_by_aligned_ranks_are_those_published_but_for_the_ties(correction: str) -> None:
    n, k = ACCURACY.shape
    apart = np.array(PRINTED_RANKS["aligned"])[:0:-1] - PRINTED_RANKS["aligned"][0]
    p = 2 * scipy.stats.norm.sf(apart / np.sqrt(k * (k * n + 1) / 6))
    assert p == pytest.approx(PRINTED_P["aligned"]["p"], rel=1e-5)  # the variance that was used, whatever was printed
    test = against_control(-ACCURACY, "PDFC", CLASSIFIERS, ranks="aligned", correction=correction)
    assert test.p[::-1] == pytest.approx(p, rel=0.02)
    assert test.adjusted[::-1] == pytest.approx(PRINTED_P["aligned"][correction], rel=0.02)
    again = friedman_aligned(-ACCURACY).average_ranks
    assert test.z == pytest.approx((again[0] - again[1:]) / np.sqrt(k * (k * n + 1) / 6))


# --- corrections ----------------------------------------------------------------------------------------------------

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=8)
LIBRARY = {"holm": holm, "simes-hochberg": hochberg, "hommel": hommel}


@pytest.mark.slow  # statsmodels takes long to import
@pytest.mark.parametrize("name", LIBRARY)
@given(p=P_VALUES)
def test_corrections_are_those_of_statsmodels(name: str, p: list) -> None:
    oracle = pytest.importorskip("statsmodels.stats.multitest")
    assert LIBRARY[name](p) == pytest.approx(oracle.multipletests(p, method=name)[1], abs=1e-12)


def closed_test(p: list[float], of_set: object) -> list[float]:
    """Adjust by the closed test: the largest p of any set that the hypothesis is in."""
    sets = [s for size in range(1, len(p) + 1) for s in itertools.combinations(range(len(p)), size)]
    return [max(min(1.0, of_set(sorted(p[k] for k in s))) for s in sets if i in s) for i in range(len(p))]  # type: ignore[operator]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_holm_and_hommel_are_the_closed_tests_of_bonferroni_and_of_simes(p: list) -> None:
    assert holm(p) == pytest.approx(closed_test(p, lambda q: len(q) * q[0]))
    simes = closed_test(p, lambda q: min(len(q) * value / (rank + 1) for rank, value in enumerate(q)))
    assert hommel(p) == pytest.approx(simes)


@given(P_VALUES, st.floats(0.001, 0.999))
def test_hochberg_rejects_what_his_procedure_rejects(p: list, alpha: float) -> None:
    ordered, m = sorted(p), len(p)
    limit = max((q for i, q in enumerate(ordered) if q * (m - i) <= alpha), default=-1.0)
    assert (hochberg(p) <= alpha).tolist() == [q <= limit for q in p]


def test_finner_by_hand() -> None:
    # 1 - 0.99^3, 1 - 0.97^1.5, 1 - 0.96; the last may not fall below the one before.
    assert finner([0.01, 0.04, 0.03]) == pytest.approx([1 - 0.99**3, 1 - 0.97**1.5, 1 - 0.97**1.5])
    assert finner([1.0, 0.0]).tolist() == [1.0, 0.0]


def test_shaffer_and_bergmann_hommel_are_those_of_another_program() -> None:
    """Five classifiers on the 30 data sets of Garcia and Herrera, JMLR 9 (2008) 2677: p-values of pairs by t-tests, and
    adjusted, as printed in the manual of the R package scmamp."""
    p = [1.174850e-03, 3.341698e-01, 2.843421e-10, 1.845167e-02, 2.265711e-02]
    p += [2.197407e-03, 3.742777e-01, 9.226472e-08, 1.643229e-01, 7.793722e-05]
    printed = [7.049103e-03, 6.683396e-01, 2.843421e-09, 0.0738066768, 9.062842e-02]
    printed += [1.318444e-02, 0.6683396134, 5.535883e-07, 0.4929687992, 0.0004676233]
    sharper = [7.049103e-03, 6.683396e-01, 2.843421e-09, 0.0553550076, 6.797132e-02]
    sharper += [8.789629e-03, 0.6683396134, 5.535883e-07, 0.1643229331, 0.0003117489]
    assert shaffer(p) == pytest.approx(printed, rel=1e-6)
    assert bergmann_hommel(p) == pytest.approx(sharper, rel=1e-6)


def exhaustive_sets(k: int) -> list[set[int]]:
    """Return all sets of pairs that can be exactly the equal ones, found among all sets by testing transitivity."""
    pairs = list(itertools.combinations(range(k), 2))
    found = []
    for mask in range(1, 2 ** len(pairs)):
        chosen = {pair for n, pair in enumerate(pairs) if mask >> n & 1}
        if all(
            ((a, b) in chosen) + ((b, c) in chosen) + ((a, c) in chosen) != 2
            for a, b, c in itertools.combinations(range(k), 3)
        ):
            found.append({pairs.index(pair) for pair in chosen})
    return found


SETS = {k: exhaustive_sets(k) for k in (2, 3, 4, 5)}


@given(st.data())
def test_bergmann_hommel_and_shaffer_by_all_sets_of_pairs(data: st.DataObject) -> None:
    k = data.draw(st.integers(2, 5))
    p = data.draw(st.lists(st.floats(0, 1), min_size=k * (k - 1) // 2, max_size=k * (k - 1) // 2))
    adjusted = bergmann_hommel(p)
    for i in range(len(p)):
        assert adjusted[i] == pytest.approx(min(1.0, max(len(s) * min(p[j] for j in s) for s in SETS[k] if i in s)))
    sizes = {0, *map(len, SETS[k])}
    factors = [max(size for size in sizes if size <= left) for left in range(len(p), 0, -1)]
    stepped = np.minimum(np.maximum.accumulate(np.sort(p) * factors), 1)
    assert np.sort(shaffer(p)) == pytest.approx(stepped)
    assert (adjusted <= shaffer(p) + 1e-12).all()
    assert (shaffer(p) <= holm(p)).all()


def test_bergmann_hommel_of_eight_algorithms_and_of_too_many() -> None:
    p = np.random.default_rng(0).random(28) ** 4
    assert (bergmann_hommel(p) <= shaffer(p) + 1e-12).all()
    with pytest.raises(ValueError, match="at most 10 algorithms; got 11"):
        bergmann_hommel(np.full(55, 0.5))


@pytest.mark.parametrize("correction", [shaffer, bergmann_hommel])
def test_corrections_of_all_pairs_refuse_what_is_not_all_pairs(correction: object) -> None:
    with pytest.raises(ValueError, match="an entry for each pair of algorithms"):
        correction([0.1] * 4)  # type: ignore[operator]


# --- pairs by aligned and by Quade's ranks --------------------------------------------------------------------------


def permuted(values: np.ndarray) -> list[np.ndarray]:
    return [np.array(t) for t in itertools.product(*(itertools.permutations(row) for row in values.tolist()))]


@pytest.mark.parametrize("ranks", ["friedman", "aligned", "quade"])
@pytest.mark.parametrize("values", [[[1, 2, 6], [2, 5, 8.5], [1, 3, 15]], [[0, 0, 3], [1, 2, 3], [4, 4, 4.5]]])
def test_the_variance_over_permutations_is_found_by_permuting(ranks: str, values: list) -> None:
    test = {"friedman": friedman, "aligned": friedman_aligned, "quade": quade}[ranks]
    apart = [np.subtract(*test(table).average_ranks[:2]) for table in permuted(np.array(values))]
    assert np.mean(apart) == pytest.approx(0, abs=1e-12)
    pairs = all_pairs(values, ranks=ranks, variance="permutations")
    observed = np.subtract(*test(values).average_ranks[:2])
    assert pairs.z[0] == pytest.approx(observed / np.std(apart))


def test_the_published_variance_of_quade_is_too_large_from_four_algorithms_on() -> None:
    values = np.random.default_rng(3).normal(size=(9, 5))
    published, exact = (all_pairs(values, ranks="quade", variance=name).z for name in ("published", "permutations"))
    assert (exact / published) ** 2 == pytest.approx((5 - 1) / 2)


def test_equal_algorithms_have_p_1_and_unknown_words_are_refused() -> None:
    equal = np.ones((4, 3))
    for ranks in PRINTED_P:
        for variance in ("published", "permutations"):
            assert all_pairs(equal, ranks=ranks, variance=variance).adjusted.tolist() == [1.0, 1.0, 1.0]
    for wrong in ({"ranks": "mean"}, {"correction": "none"}, {"variance": "sample"}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be"):
            all_pairs(equal, **wrong)
    with pytest.raises(ValueError, match="got 'shaffer'"):
        against_control(equal, 0, correction="shaffer")


# --- bootstrap ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ranks", "test"), [("friedman", friedman), ("aligned", friedman_aligned), ("quade", quade)])
def test_intervals_are_those_of_all_draws_of_few_problems(ranks: str, test: object) -> None:
    values = np.array([[1.0, 2.0, 6.0], [5.0, 2.0, 8.5], [1.0, 15.0, 3.0], [2.0, 3.0, 2.5]])
    draws = itertools.product(range(4), repeat=4)
    every = np.array([test(values[list(rows)]).average_ranks for rows in draws])  # type: ignore[operator]
    low, high = np.quantile(every, [0.1, 0.9], axis=0)
    found = rank_intervals(values, ranks=ranks, level=0.8, resamples=20_000)
    assert found.average_ranks == pytest.approx(test(values).average_ranks)  # type: ignore[operator]
    steps = np.array([np.diff(np.unique(column)).max() for column in every.T])  # a quantile may fall one step aside
    assert (np.abs(found.low - low) <= steps).all()
    assert (np.abs(found.high - high) <= steps).all()


def test_intervals_are_those_of_scipy() -> None:
    values = table(5, problems=40)
    ranks = average_ranks(values)
    found = rank_intervals(values, resamples=20_000)
    for k in range(values.shape[1]):
        one = scipy.stats.rankdata(values, axis=1)[:, k]
        oracle = scipy.stats.bootstrap((one,), np.mean, n_resamples=20_000, method="percentile", rng=1)
        assert (found.low[k], found.high[k]) == pytest.approx(tuple(oracle.confidence_interval), abs=0.03)
        assert found.low[k] < ranks[k] < found.high[k]


@pytest.mark.parametrize("wrong", [{"level": 95}, {"resamples": 0}, {"ranks": "mean"}])
def test_intervals_of_wrong_arguments_are_refused(wrong: dict) -> None:
    with pytest.raises(ValueError, match=r"must lie between 0 and 1|>= 1|ranks must be"):
        rank_intervals([[1.0, 2.0], [2.0, 1.0]], **wrong)


@pytest.mark.parametrize("test", [nemenyi, all_pairs, lambda values: against_control(values, 0), rank_intervals])
def test_one_problem_is_not_enough_for_a_test(test: object) -> None:
    with pytest.raises(ValueError, match=r"at least \(2, 2\); got \(1, 3\)"):
        test([[1.0, 2.0, 3.0]])  # type: ignore[operator]
