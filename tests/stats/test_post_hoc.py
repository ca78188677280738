"""Nemenyi and Holm: by hand, against scikit-posthocs, and the quantiles that the literature prints."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppsde.stats import average_ranks, holm, holm_all_pairs, holm_control, nemenyi


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
    pairs = holm_all_pairs(values)
    upper = np.triu_indices(values.shape[1], 1)
    assert np.allclose(pairs.p, oracle.posthoc_siegel_friedman(values).to_numpy()[upper])
    assert np.allclose(pairs.p_holm, oracle.posthoc_siegel_friedman(values, p_adjust="holm").to_numpy()[upper])


def test_against_a_control_only_its_own_pairs_are_corrected_for() -> None:
    values = table(2)
    control = holm_control(values, "A3")
    pairs = holm_all_pairs(values)
    of_the_control = [k for k in range(10) if "A3" in (pairs.first[k], pairs.second[k])]
    assert control.first == ("A3",) * 4
    assert control.second == ("A1", "A2", "A4", "A5")
    assert control.p == pytest.approx(pairs.p[of_the_control])
    assert control.p_holm == pytest.approx(holm(pairs.p[of_the_control]))
    assert (control.p_holm <= pairs.p_holm[of_the_control]).all()


def test_z_is_negative_where_the_first_is_better_and_by_hand() -> None:
    values = [[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]]
    assert average_ranks(values).tolist() == [1.25, 2.0, 2.75]
    z = holm_control(values, 0).z  # the standard deviation is sqrt(3 * 4 / (6 * 4))
    assert z == pytest.approx([-0.75 * np.sqrt(2), -1.5 * np.sqrt(2)])


@pytest.mark.parametrize("control", ["A9", 3, -1, True])
def test_an_unknown_control_is_refused(control: object) -> None:
    with pytest.raises(ValueError, match=f"got {control!r}"):
        holm_control([[1.0, 2.0, 3.0]], control)  # type: ignore[arg-type]


@pytest.mark.parametrize("p", [[0.5, 1.5], [-0.1], [float("nan")], [[0.5]]])
def test_what_is_no_list_of_p_values_is_refused(p: list) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm(p)


def test_a_level_outside_the_unit_interval_is_refused() -> None:
    with pytest.raises(ValueError, match="got 5"):
        nemenyi([[1.0, 2.0]], alpha=5)
