"""Repairs: by hand, inside the box whatever happens, and alike in both namespaces."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from statistics_of_draws import EXTREMES, LEVEL, p_of_law

from ppsde.engines.compiled import float64
from ppsde.parts.repairs import REPAIRS, clamp, fold, midpoint, mirrored, mirrored_or_put, reflect, resample

# Repairs: by hand, inside untouched, and inside always.


LOWER, UPPER = np.array([0.0, -1.0]), np.array([2.0, 4.0])


def one(repair: str, v: float, low: float, high: float, parent: float, u: float) -> float:
    arrays = (np.array([[value]]) for value in (v, low, high, parent, u))
    v_, low_, high_, parent_, u_ = arrays
    return float(REPAIRS[repair](v_, low_[0], high_[0], parent_, u_)[0, 0])


def test_clamp_by_hand() -> None:
    v = np.array([[-0.5, 4.5], [2.5, -7.0]])
    assert clamp(v, LOWER, UPPER, v, v).tolist() == [[0.0, 4.0], [2.0, -1.0]]


def test_midpoint_by_hand() -> None:
    v, parents = np.array([[-0.5, 4.5], [2.5, -7.0]]), np.array([[1.0, 3.0], [0.5, 2.0]])
    # (0 + 1) / 2, (4 + 3) / 2; (2 + 0.5) / 2, (-1 + 2) / 2
    assert midpoint(v, LOWER, UPPER, parents, v).tolist() == [[0.5, 3.5], [1.25, 0.5]]


def test_reflect_by_hand() -> None:
    # On [0, 2]: -0.5 -> 0.5; 2.5 -> 1.5; 5 -> -1 -> 1; -3.5 -> 3.5 -> 0.5. On [-1, 4]: 4.5 -> 3.5; -7 -> 5 -> 3.
    v = np.array([[-0.5, 4.5], [2.5, -7.0], [5.0, 0.0], [-3.5, 4.0]])
    assert reflect(v, LOWER, UPPER, v, v).tolist() == [[0.5, 3.5], [1.5, 3.0], [1.0, 0.0], [0.5, 4.0]]


def test_resample_by_hand() -> None:
    v, u = np.array([[-0.5, 4.5], [1.0, -7.0]]), np.array([[0.25, 0.5], [0.9, 0.1]])
    # 0 + 0.25 * 2, -1 + 0.5 * 5; inside, -1 + 0.1 * 5
    assert resample(v, LOWER, UPPER, v, u).tolist() == [[0.5, 1.5], [1.0, -0.5]]


moderate = st.floats(-1e6, 1e6)


@pytest.mark.parametrize("repair", REPAIRS)
@given(ends=st.tuples(moderate, moderate), v=st.floats(-1e12, 1e12), share=st.floats(0, 1), u=st.floats(0, EXTREMES[1]))
@example(ends=(1.0, 5e-324), v=0.0, share=0.0, u=0.0)  # the smallest number of all has no half
def test_the_result_is_inside_and_inside_is_untouched(
    repair: str, ends: tuple[float, float], v: float, share: float, u: float
) -> None:
    low, high = min(ends), max(ends)
    parent = min(max(low + share * (high - low), low), high)
    result = one(repair, v, low, high, parent, u)
    assert low <= result <= high
    if low <= v <= high:
        assert result == v


@pytest.mark.parametrize("repair", REPAIRS)
def test_a_box_without_width_has_one_point(repair: str) -> None:
    for v in (-3.0, 1.5, 7.0):
        assert one(repair, v, 1.5, 1.5, 1.5, 0.3) == 1.5


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("repair", REPAIRS)
def test_the_widest_boxes_are_not_left(repair: str) -> None:
    """A box may have any finite width, and mutants of its points may overflow."""
    for low, high, v in [(-8e307, 8e307, -9e307), (-8e307, 8e307, np.inf), (1e308, 1.7e308, 1.75e308)]:
        assert low <= one(repair, v, low, high, high, 0.5) <= high


def test_huge_components_are_mirrored_and_halved_exactly_too() -> None:
    # On [-8, 8] scaled by 2^1000: 10 -> 6, -9 -> -7; half way from 6 to 8 and from 6 to -8.
    far = 2.0**1000
    assert one("reflect", 10 * far, -8 * far, 8 * far, 0.0, 0.5) == 6 * far
    assert one("reflect", -9 * far, -8 * far, 8 * far, 0.0, 0.5) == -7 * far
    assert one("midpoint", 10 * far, -8 * far, 8 * far, 6 * far, 0.5) == 7 * far
    assert one("midpoint", -9 * far, -8 * far, 8 * far, 6 * far, 0.5) == -1 * far


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_infinite_goes_to_the_bound_it_crossed_or_as_the_repair_says() -> None:
    expected = {"clamp": (-1.0, 4.0), "reflect": (-1.0, 4.0), "midpoint": (0.5, 3.0), "resample": (1.5, 1.5)}
    for repair in REPAIRS:  # the parent is 2, u is 0.5
        results = tuple(one(repair, v, -1.0, 4.0, 2.0, 0.5) for v in (-np.inf, np.inf))
        assert results == expected[repair]


def test_reflection_of_a_far_spread_uniform_sample_is_uniform() -> None:
    v = np.random.default_rng(1).uniform(-10.0, 14.0, (20_000, 1))  # on [0, 2] six waves
    v = reflect(v, np.array([0.0]), np.array([2.0]), v, v)
    assert p_of_law(v / 2.0, lambda q: q) > LEVEL


def test_resampling_is_uniform_wherever_the_component_was() -> None:
    rng = np.random.default_rng(2)
    v = rng.choice([-9.0, 5.0], (20_000, 1))
    result = resample(v, np.array([-3.0]), np.array([1.0]), v, rng.random(v.shape))
    assert p_of_law((result + 3.0) / 4.0, lambda q: q) > LEVEL
    assert p_of_law((clamp(v, np.array([-3.0]), np.array([1.0]), v, v) + 3.0) / 4.0, lambda q: q) < LEVEL


# Folding into the box, by hand and at its limits.


def one_folded(v: float, low: float, high: float) -> float:
    return float(fold(np.array([[v]]), np.array([low]), np.array([high]))[0, 0])


def test_folding_by_hand() -> None:
    # On [0, 2]: -0.5 -> 0.5; 2.5 -> 1.5; 5 is 3 beyond, less a width 1 -> 2 - 1 = 1; -3.5 -> 1.5 -> 1.5; -2 -> 0.
    # On [-1, 4]: 4.5 -> 3.5; -7 is 6 below, less a width 1 -> 0; 9 is 5 beyond, a whole width -> 4.
    v = np.array([[-0.5, 4.5], [2.5, -7.0], [5.0, 0.0], [-3.5, 4.0], [-2.0, 9.0]])
    assert fold(v, LOWER, UPPER).tolist() == [[0.5, 3.5], [1.5, 0.0], [1.0, 0.0], [1.5, 4.0], [0.0, 4.0]]


@given(ends=st.tuples(moderate, moderate), v=st.floats(-1e12, 1e12))
def test_a_folded_point_is_inside_and_inside_is_untouched(ends: tuple[float, float], v: float) -> None:
    low, high = min(ends), max(ends)
    result = one_folded(v, low, high)
    assert low <= result <= high
    if low <= v <= high:
        assert result == v


def test_folding_into_a_box_without_width_gives_its_one_point() -> None:
    assert [one_folded(v, 1.5, 1.5) for v in (-3.0, 1.5, 7.0)] == [1.5, 1.5, 1.5]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_infinite_goes_to_its_bound() -> None:
    assert [one_folded(v, -1.0, 4.0) for v in (-np.inf, np.inf)] == [-1.0, 4.0]
    assert -8e307 <= one_folded(1.7e308, -8e307, 8e307) <= 8e307


def test_both_namespaces_agree() -> None:
    jax = pytest.importorskip("jax")
    v = np.random.default_rng(1).uniform(-20.0, 20.0, (200, 2))
    with jax.enable_x64(True):
        np.testing.assert_allclose(fold(jax.numpy.asarray(v), LOWER, UPPER), fold(v, LOWER, UPPER), rtol=1e-13)


# Mirrored once at the bound, by hand.


LOW, HIGH = np.array([0.0, 0.0, -4.0, 0.0]), np.array([10.0, 10.0, 4.0, 10.0])


def test_mirrored_by_hand() -> None:
    v = np.array([[-3.0, 12.0, 3.0, 10.0], [-11.0, 25.0, -4.5, 0.0]])
    # -11 is mirrored to 11, beyond the other bound, and 25 to -5.
    assert mirrored(v, LOW, HIGH).tolist() == [[3.0, 8.0, 3.0, 10.0], [10.0, 0.0, -3.5, 0.0]]


def test_mirrored_or_put_by_hand() -> None:
    v = np.array([[-3.0, 12.0, 3.0, 10.0]] * 4)
    below, above = np.array([True, True, False, False]), np.array([True, False, True, False])
    assert mirrored_or_put(v, LOW, HIGH, below, above).tolist() == [
        [3.0, 8.0, 3.0, 10.0],
        [3.0, 10.0, 3.0, 10.0],
        [10.0, 8.0, 3.0, 10.0],  # below the box and not mirrored: put on the upper bound, too
        [10.0, 10.0, 3.0, 10.0],
    ]


def test_what_is_mirrored_out_of_the_other_side_is_put_on_the_lower_bound() -> None:
    yes = np.array([True])
    v = np.array([[-11.0, 25.0, 13.0, 5.0]])
    assert mirrored_or_put(v, LOW, HIGH, yes, yes).tolist() == [[0.0, 0.0, -4.0, 5.0]]


def test_whatever_comes_ends_in_the_box_and_what_is_inside_is_not_touched() -> None:
    rng = np.random.default_rng(1)
    v = rng.normal(0.0, 20.0, (300, 4))
    v[0], v[1] = np.inf, -np.inf
    below, above = rng.random(300) < 0.5, rng.random(300) < 0.5
    inside = (v >= LOW) & (v <= HIGH)
    for repaired in (mirrored(v, LOW, HIGH), mirrored_or_put(v, LOW, HIGH, below, above)):
        assert ((repaired >= LOW) & (repaired <= HIGH)).all()
        assert (repaired[inside] == v[inside]).all()


def test_jax_gives_the_same_points() -> None:
    pytest.importorskip("jax")
    import jax.numpy as jnp

    rng = np.random.default_rng(2)
    v, below, above = rng.normal(0.0, 20.0, (50, 4)), rng.random(50) < 0.5, rng.random(50) < 0.5
    with float64():
        box = jnp.asarray(LOW), jnp.asarray(HIGH)
        np.testing.assert_allclose(mirrored(jnp.asarray(v), *box), mirrored(v, LOW, HIGH), rtol=1e-14)
        theirs = mirrored_or_put(jnp.asarray(v), *box, jnp.asarray(below), jnp.asarray(above))
        np.testing.assert_allclose(theirs, mirrored_or_put(v, LOW, HIGH, below, above), rtol=1e-14)
