"""Comparisons of two algorithms: rank-sum test and A12, signed-rank test, wins, ties and losses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from .outcomes import Cells, Outcomes, algorithms_of, as_outcomes, positions
from .post_hoc import holm
from .ranks import checked_alpha, checked_control, checked_names, checked_table, decimals, order_of
from .tables import TableRow

# Lower ends of a small, a medium and a large effect by Vargha and Delaney, as distance from 0.5.
MAGNITUDES = ((0.21, "large"), (0.14, "medium"), (0.06, "small"), (0.0, "negligible"))


@dataclass(frozen=True)
class RankSum:
    """Two samples of runs compared by rank."""

    n_first: int
    n_second: int
    A12: float  # chance that a run of the first is better than one of the second
    magnitude: str
    U: float  # pairs of runs in which the first is better, ties half
    p: float  # two-sided

    def rows(self) -> list[TableRow]:
        return [asdict(self)]


def a12(first: Outcomes | ArrayLike, second: Outcomes | ArrayLike) -> float:
    """The chance that a run of the first algorithm is better than one of the second, ties counted half.

    0.5 says that neither is better, 1 that every run of the first is better than every run of the second.

    Parameters
    ----------
    first, second : Outcomes, or array_like (runs,) of objectives of feasible runs
        Compared in the order feasible by objective, infeasible by violation, failed last. The original measure is for
        values to be maximised; here better means smaller.

    References
    ----------
    Vargha, Delaney, Journal of Educational and Behavioral Statistics 25 (2000) 101.

    Examples
    --------
    >>> a12([1.0, 2.0], [2.0, 3.0])
    0.875
    >>> a12([1.0, float("nan")], [2.0, 3.0])
    0.5
    """
    one, two = as_outcomes(first), as_outcomes(second)
    return _pairs_won(one, two) / (one.n * two.n)


def rank_sum(first: Outcomes | ArrayLike, second: Outcomes | ArrayLike) -> RankSum:
    """Wilcoxon's rank-sum test (Mann and Whitney's U) of two samples of runs, by `scipy.stats.mannwhitneyu`.

    Parameters
    ----------
    first, second : Outcomes, or array_like (runs,) of objectives of feasible runs
        Independent runs of two algorithms on one problem, compared as in `a12`. Infeasible and failed runs stay in the
        sample, behind the others.

    Returns
    -------
    RankSum
        The p-value is exact where one of the samples has at most 8 runs and nothing is tied; else from the normal
        distribution with corrections for ties and continuity; 1 where all runs are equal.

    Examples
    --------
    >>> from ppsde.stats import as_text
    >>> test = rank_sum([1.0, 2.0, 2.5, 4.0], Outcomes([0.0, 9.0, 8.0, 7.0], [0.5, 0.0, 0.0, 0.0]))
    >>> print(as_text(test.rows()))
    n_first  n_second  A12  magnitude   U         p
          4         4    1  large      16  0.028571
    """
    from scipy.stats import mannwhitneyu

    one, two = as_outcomes(first), as_outcomes(second)
    a, b = positions(one, two)
    equal = np.ptp(np.concatenate([a, b])) == 0
    p = 1.0 if equal else float(mannwhitneyu(a, b, alternative="two-sided").pvalue)
    won = _pairs_won(one, two)
    effect = won / (one.n * two.n)
    return RankSum(one.n, two.n, effect, magnitude(effect), won, p)


def magnitude(effect: float) -> str:
    """Return the size of an effect A12 in the words of Vargha and Delaney.

    Examples
    --------
    >>> magnitude(0.5), magnitude(0.6), magnitude(0.3), magnitude(1.0)
    ('negligible', 'small', 'medium', 'large')
    """
    return next(word for limit, word in MAGNITUDES if abs(effect - 0.5) >= limit)


def _pairs_won(one: Outcomes, two: Outcomes) -> float:
    """Count the pairs of runs in which the first is better, ties half: the rank sum of the second, corrected."""
    _, places = positions(one, two)
    return float(places.sum() - two.n * (two.n + 1) / 2)


ZEROS = ("zsplit", "pratt", "wilcox")


@dataclass(frozen=True)
class SignedRank:
    """Two algorithms compared problem by problem."""

    n: int  # problems
    n_zero: int  # problems on which they are equal
    R_plus: float  # ranks of the problems on which the first is better
    R_minus: float  # ranks of the problems on which the second is better
    p: float  # two-sided

    def rows(self) -> list[TableRow]:
        return [asdict(self)]


def signed_rank(first: ArrayLike, second: ArrayLike, *, zeros: str = "zsplit") -> SignedRank:
    """Wilcoxon's signed-rank test of two algorithms on the same problems, by `scipy.stats.wilcoxon`.

    Parameters
    ----------
    first, second : array_like, (problems,)
        One value per problem, such as a mean; smaller is better. A missing value (NaN or -inf) is worse than any
        other by more than all finite differences; two missing values are equal.
    zeros : "zsplit", "pratt" or "wilcox"
        How problems on which both are equal count. "zsplit" ranks them with the others and gives half their
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
    used = d[d != 0] if zeros == "wilcox" else d
    r = rankdata(np.abs(used))
    half = r[used == 0].sum() / 2 if zeros == "zsplit" else 0.0
    p = float(wilcoxon(d, zero_method=zeros).pvalue) if d.any() else 1.0
    plus, minus = r[used < 0].sum() + half, r[used > 0].sum() + half
    return SignedRank(d.size, int((d == 0).sum()), float(plus), float(minus), p)


def signed_rank_rows(
    values: ArrayLike, control: str | int, algorithms: Sequence[str] | None = None, *, zeros: str = "zsplit"
) -> list[TableRow]:
    """Compare every other algorithm with a control by the signed-rank test, corrected by Holm; a row each.

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
    """Return the sign of first minus second times the place of its size, 0 where equal; missing values come last.

    Equal sizes share a place, exactly: see `decimals`. The test looks at ranks alone, so places serve as well.
    """
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if a.ndim != 1 or a.shape != b.shape or not a.size:
        raise ValueError(f"first and second must have one shape (problems,); got {a.shape} and {b.shape}")
    lost_a, lost_b = ~(a > -np.inf), ~(b > -np.inf)
    lost, finite = lost_a | lost_b, np.isfinite(a) & np.isfinite(b)
    apart = decimals(np.where(finite, a, 0.0)) - decimals(np.where(finite, b, 0.0))
    place = order_of(np.array([*np.abs(apart), Fraction(0)], dtype=object))[:-1]
    beyond = place.max() + 1
    place = np.select([lost, finite], [beyond + 1, place], beyond)
    sign = np.where(lost, lost_a.astype(int) - lost_b, (a > b).astype(int) - (a < b))
    return np.asarray(sign * place, dtype=float)


SIGNS = {1: "+", 0: "=", -1: "-"}


@dataclass(frozen=True)
class WinTieLoss:
    """Wins, ties and losses of a control against each other algorithm on each problem."""

    control: str
    problems: tuple[str, ...]
    algorithms: tuple[str, ...]  # the others
    marks: np.ndarray  # (problems, algorithms), 1 where the control is better, 0 tie, -1 where it is worse

    def rows(self) -> list[TableRow]:
        """A row per algorithm: the problems on which the control won, tied and lost."""
        return [
            {
                "control": self.control,
                "against": algorithm,
                "wins": int((self.marks[:, k] == 1).sum()),
                "ties": int((self.marks[:, k] == 0).sum()),
                "losses": int((self.marks[:, k] == -1).sum()),
            }
            for k, algorithm in enumerate(self.algorithms)
        ]

    def problem_rows(self) -> list[TableRow]:
        """A row per problem, with +, = or - by algorithm."""
        return [
            {"problem": problem, **{name: SIGNS[int(mark)] for name, mark in zip(self.algorithms, marks, strict=True)}}
            for problem, marks in zip(self.problems, self.marks, strict=True)
        ]


def win_tie_loss(
    values: ArrayLike,
    control: str | int,
    algorithms: Sequence[str] | None = None,
    problems: Sequence[str] | None = None,
    *,
    tolerance: float = 0.0,
) -> WinTieLoss:
    """Compare single values, such as means, problem by problem.

    Parameters
    ----------
    values : array_like, (problems, algorithms)
        Smaller is better. A missing value (NaN or -inf) loses against any other; two tie.
    control : str or int
        A name or a column.
    algorithms, problems : sequences of str, optional
    tolerance : float
        Values no further apart than this are a tie.

    Examples
    --------
    >>> from ppsde.stats import as_text
    >>> print(as_text(win_tie_loss([[1.0, 2.0], [3.0, 3.0], [float("nan"), 9.0]], "new", ["new", "old"]).rows()))
    control  against  wins  ties  losses
    new      old         1     1       1
    """
    if not 0 <= tolerance < np.inf:
        raise ValueError(f"tolerance must be a finite number >= 0; got {tolerance!r}")
    table = checked_table(values, algorithms=2)
    names = checked_names(algorithms, table.shape[1])
    column = checked_control(control, names)
    labels = tuple(f"P{k + 1}" for k in range(len(table))) if problems is None else tuple(map(str, problems))
    if len(labels) != len(table):
        raise ValueError(f"problems must be {len(table)} names; got {len(labels)}")
    table = np.where(table > -np.inf, table, np.nan)
    own, others = table[:, [column]], np.delete(table, column, axis=1)
    missing = np.isnan(others).astype(int) - np.isnan(own)  # 1 where only the other is missing
    with np.errstate(invalid="ignore"):
        near = (own == others) | (np.abs(own - others) <= tolerance)  # the first also where both are infinite
    marks = np.where(near, 0, (own < others).astype(int) - (own > others))
    marks = np.where(np.isnan(own) | np.isnan(others), missing, marks)
    return WinTieLoss(names[column], labels, tuple(np.delete(names, column).tolist()), marks)


def significant_wins(cells: Cells, control: str, *, alpha: float = 0.05) -> WinTieLoss:
    """Compare samples of runs, problem by problem, by the rank-sum test.

    A problem is won or lost where the test is significant, in the direction of A12, and tied otherwise. Runs are
    compared feasibility first; see `rank_sum`. The level is that of each single test.

    Parameters
    ----------
    cells : mapping of problem to mapping of algorithm to Outcomes
    control : str
    alpha : float

    Examples
    --------
    >>> from ppsde.stats import Outcomes, as_text
    >>> low, high = Outcomes([1.0, 2.0, 3.0, 4.0]), Outcomes([5.0, 6.0, 7.0, 8.0])
    >>> infeasible = Outcomes([0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0])
    >>> cells = {"C01": {"new": low, "old": high}, "C02": {"new": infeasible, "old": high}}
    >>> print(as_text(significant_wins(cells, "new").problem_rows()))
    problem  old
    C01      +
    C02      -
    """
    names = algorithms_of(cells)
    if control not in names:
        raise ValueError(f"control must be one of {names}; got {control!r}")
    level = checked_alpha(alpha)
    others = tuple(name for name in names if name != control)
    marks = np.zeros((len(cells), len(others)), dtype=int)
    for i, by_algorithm in enumerate(cells.values()):
        for k, other in enumerate(others):
            test = rank_sum(by_algorithm[control], by_algorithm[other])
            marks[i, k] = int(np.sign(test.A12 - 0.5)) if test.p < level else 0
    return WinTieLoss(control, tuple(cells), others, marks)
