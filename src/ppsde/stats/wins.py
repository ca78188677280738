"""Wins, ties and losses of one algorithm against each of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .outcomes import Cells, algorithms_of
from .rank_sum import rank_sum
from .ranks import checked_alpha, checked_control, checked_names, checked_table
from .tables import Row

SIGNS = {1: "+", 0: "=", -1: "-"}


@dataclass(frozen=True)
class WinTieLoss:
    """How a control did against each other algorithm on each problem."""

    control: str
    problems: tuple[str, ...]
    algorithms: tuple[str, ...]  # the others
    marks: np.ndarray  # (problems, algorithms), 1 where the control is better, 0 tie, -1 where it is worse

    def rows(self) -> list[Row]:
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

    def problem_rows(self) -> list[Row]:
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
