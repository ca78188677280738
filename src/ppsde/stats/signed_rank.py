"""Wilcoxon's signed-rank test: two algorithms on the same problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike

from .holm import holm
from .ranks import checked_control, checked_names, checked_table
from .tables import Row

ZEROS = ("zsplit", "pratt", "wilcox")


@dataclass(frozen=True)
class SignedRank:
    """Two algorithms compared problem by problem."""

    n: int  # problems
    n_zero: int  # problems on which they are equal
    R_plus: float  # ranks of the problems on which the first is better
    R_minus: float  # ranks of the problems on which the second is better
    p: float  # two-sided

    def rows(self) -> list[Row]:
        return [asdict(self)]


def signed_rank(first: ArrayLike, second: ArrayLike, *, zeros: str = "zsplit") -> SignedRank:
    """Wilcoxon's signed-rank test of two algorithms on the same problems, by `scipy.stats.wilcoxon`.

    Parameters
    ----------
    first, second : array_like, (problems,)
        One value per problem, such as a mean; smaller is better. A missing value (NaN or -inf) is worse than any
        other by more than all finite differences; two missing values are equal.
    zeros : "zsplit", "pratt" or "wilcox"
        What becomes of problems on which both are equal. "zsplit" ranks them with the others and gives half their
        ranks to each side, the usual way in comparing algorithms; "pratt" ranks them and drops them afterwards;
        "wilcox" drops them first, which makes algorithms that are mostly equal look more different.

    Returns
    -------
    SignedRank
        The p-value is exact for up to 50 problems without zeros or ties; otherwise SciPy's choice, from the normal
        distribution or, for few problems in newer versions, from all changes of signs. It is 1 where all differences
        are zero.

    Examples
    --------
    >>> test = signed_rank([1.0, 2.0, 0.0, 4.0, 5.0], [2.0, 4.0, 3.0, 8.0, 0.0])
    >>> test.n_zero, test.R_plus, test.R_minus, test.p
    (0, 10.0, 5.0, 0.625)
    """
    from scipy.stats import rankdata, wilcoxon

    if zeros not in ZEROS:
        raise ValueError(f"zeros must be one of {ZEROS}; got {zeros!r}")
    d = _differences(first, second)
    kept = d[d != 0] if zeros == "wilcox" else d
    r = rankdata(np.abs(kept))
    half = r[kept == 0].sum() / 2 if zeros == "zsplit" else 0.0
    p = float(wilcoxon(d, zero_method=zeros).pvalue) if d.any() else 1.0
    plus, minus = r[kept < 0].sum() + half, r[kept > 0].sum() + half
    return SignedRank(d.size, int((d == 0).sum()), float(plus), float(minus), p)


def signed_rank_rows(
    values: ArrayLike, control: str | int, algorithms: Sequence[str] | None = None, *, zeros: str = "zsplit"
) -> list[Row]:
    """Every other algorithm against a control by the signed-rank test, corrected by Holm; a row each.

    Parameters
    ----------
    values : array_like, (problems, algorithms)
    control : str or int
        A name or a column; `R_plus` are the ranks of problems on which it is better.
    algorithms : sequence of str, optional
    zeros : str
        As in `signed_rank`.

    Examples
    --------
    >>> from ppsde.stats import as_text
    >>> values = [[1, 2, 1.5], [2, 4, 3], [0, 3, 3], [4, 8, 8], [5, 10, 0], [6, 12, 15]]
    >>> print(as_text(signed_rank_rows(values, "new", ["new", "old", "other"])))
    control  algorithm  n  n_zero  R_plus  R_minus        p  p holm
    new      old        6       0      21        0  0.03125  0.0625
    new      other      6       0      16        5   0.3125  0.3125
    """
    table = checked_table(values, algorithms=2)
    names = checked_names(algorithms, table.shape[1])
    column = checked_control(control, names)
    others = [k for k in range(len(names)) if k != column]
    tests = [signed_rank(table[:, column], table[:, k], zeros=zeros) for k in others]
    adjusted = holm([test.p for test in tests])
    return [
        {"control": names[column], "algorithm": names[k], **asdict(test), "p holm": float(p)}
        for k, test, p in zip(others, tests, adjusted, strict=True)
    ]


def _differences(first: ArrayLike, second: ArrayLike) -> np.ndarray:
    """First minus second, missing values as the largest differences."""
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if a.ndim != 1 or a.shape != b.shape or not a.size:
        raise ValueError(f"first and second must have one shape (problems,); got {a.shape} and {b.shape}")
    lost_a, lost_b = ~(a > -np.inf), ~(b > -np.inf)
    a, b = np.where(lost_a, 0.0, a), np.where(lost_b, 0.0, b)
    with np.errstate(invalid="ignore"):
        d = np.where(a == b, 0.0, a - b)  # also where both are +inf
    by_absence = lost_a.astype(float) - lost_b
    finite = np.abs(d[np.isfinite(d) & ~(lost_a | lost_b)])
    beyond = 2 * finite.max(initial=0.0) + 1
    d = np.where(np.isinf(d), np.sign(d) * beyond, d)
    return np.where(lost_a | lost_b, by_absence * 2 * beyond, d)
