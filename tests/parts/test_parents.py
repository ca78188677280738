"""The three parents of a trial under every scheme: distinct always, and with the law the scheme names."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import get_args, get_type_hints

import numpy as np
import pytest
from statistics_of_draws import EXTREMES, LEVEL, p_of_counts, p_of_same_counts

from ppsde.algorithms.pps_de import PPSDE
from ppsde.parts.indices import trio

SCHEMES = get_args(get_type_hints(PPSDE)["parents"])

N, TOP = 10, 5
SIZE = 40_000
NO_GUIDE = -1


def drawn(scheme: str, i: int, is_rand: bool, guide: int, seed: int) -> np.ndarray:
    """r1, r2, r3 of many trials of one target, (3, SIZE)."""
    u = np.random.default_rng(seed).random((3, SIZE))
    return np.stack(trio(scheme, u, np.full(SIZE, i), np.full(SIZE, is_rand), np.full(SIZE, guide), N))


def redrawn(scheme: str, i: int, is_rand: bool, guide: int, seed: int) -> np.ndarray:
    """The same as the papers write it, by redrawing; (3, SIZE // 8)."""
    rng = np.random.default_rng(seed)

    def until(accept: Callable[[int], bool], below: int) -> int:
        while True:
            r = int(rng.integers(below))
            if accept(r):
                return r

    def parent(taken: set[int]) -> int:
        if scheme == "ranked-top":
            return until(lambda r: rng.random() < (N - (r + 1)) / N and r not in taken, TOP)
        if scheme == "ranked-rand" and is_rand:
            return until(lambda r: rng.random() < (N - (r + 1)) / N and r not in taken, N)
        return until(lambda r: r not in taken, N)

    rows = []
    for _ in range(SIZE // 8):
        r1 = guide if guide != NO_GUIDE else parent({i})
        r2 = parent({i, r1})
        r3 = until(lambda r, r1=r1, r2=r2: r not in (i, r1, r2), N)  # type: ignore[misc]
        trio_of_row = [r1, r2, r3]
        if scheme == "best-of-three" and is_rand:
            best = min(trio_of_row)
            others = [r for r in trio_of_row if r != best]
            rng.shuffle(others)
            trio_of_row = [best, *others]
        rows.append(trio_of_row)
    return np.array(rows).T


@pytest.mark.parametrize("scheme", SCHEMES)
def test_parents_are_distinct_whatever_the_draws(scheme: str) -> None:
    u = np.array(list(itertools.product([*EXTREMES, 0.25, 0.5, 0.75], repeat=3))).T
    m = u.shape[1]
    for n in (8, 9):
        for i, guide, is_rand in itertools.product(range(n), [NO_GUIDE, *range(n)], [False, True]):
            if guide == i:
                continue
            r1, r2, r3 = trio(scheme, u, np.full(m, i), np.full(m, is_rand), np.full(m, guide), n)
            rows = np.sort(np.stack([np.full(m, i), r1, r2, r3]), axis=0)
            assert (np.diff(rows, axis=0) > 0).all()
            assert rows.min() >= 0 and rows.max() < n
            if guide != NO_GUIDE and not (scheme == "best-of-three" and is_rand):
                assert (r1 == guide).all()


@pytest.mark.parametrize(("is_rand", "guide"), [(True, NO_GUIDE), (False, NO_GUIDE), (False, 3)])
@pytest.mark.parametrize("i", [1, 7])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_parents_have_the_law_of_the_redrawing(scheme: str, i: int, is_rand: bool, guide: int) -> None:
    fast, slow = drawn(scheme, i, is_rand, guide, seed=4), redrawn(scheme, i, is_rand, guide, seed=5)
    for role in range(3):
        if not (role == 0 and guide != NO_GUIDE):
            assert p_of_same_counts(fast[role], slow[role]) > LEVEL, f"r{role + 1}"
    # Pairs too, so that the law of one given another is seen.
    assert p_of_same_counts(fast[0] * N + fast[1], slow[0] * N + slow[1]) > LEVEL
    assert p_of_same_counts(fast[1] * N + fast[2], slow[1] * N + slow[2]) > LEVEL


def test_the_schemes_can_be_told_apart() -> None:
    bases = {scheme: drawn(scheme, 7, True, NO_GUIDE, seed=6)[0] for scheme in SCHEMES}
    for first, second in itertools.combinations(SCHEMES, 2):
        assert p_of_same_counts(bases[first], bases[second]) < LEVEL


def test_a_uniform_parent_is_any_other_member() -> None:
    allowed = [1, 1, 0, 1, 1, 1, 1, 1, 1, 1]
    for role in range(3):
        assert p_of_counts(drawn("uniform", 2, True, NO_GUIDE, seed=7)[role], allowed) > LEVEL


def test_rows_may_mix_strategies() -> None:
    """Each row is as if it stood alone."""
    rng = np.random.default_rng(8)
    m = 200
    u, i = rng.random((3, m)), rng.integers(0, N, m)
    is_rand, guide = rng.random(m) < 0.3, rng.integers(0, N, m)
    guide = np.where(is_rand | (guide == i), NO_GUIDE, guide)
    for scheme in SCHEMES:
        together = np.stack(trio(scheme, u, i, is_rand, guide, N))
        alone = [
            np.stack(trio(scheme, u[:, [k]], i[[k]], is_rand[[k]], guide[[k]], N))[:, 0].tolist() for k in range(m)
        ]
        assert together.T.tolist() == alone
