"""Ranks of algorithms within problems: 1 is the smallest value, ties get their mean, a missing value is worst."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike


def rank_rows(values: ArrayLike) -> np.ndarray:
    """Rank each row of a table (problems, algorithms); smaller values are better.

    NaN and -inf, which no algorithm should gain by, are ranked behind every number, +inf included; several share the
    mean of their ranks.

    Examples
    --------
    >>> rank_rows([[0.2, 0.1, 0.2], [float("nan"), 5.0, 7.0]]).tolist()
    [[2.5, 1.0, 2.5], [3.0, 1.0, 2.0]]
    """
    from scipy.stats import rankdata

    table = checked_table(values)
    missing = ~(table > -np.inf)
    distinct, index = np.unique(np.where(missing, 0.0, table), return_inverse=True)
    return rankdata(np.where(missing, len(distinct), index.reshape(table.shape)), axis=1)


def average_ranks(values: ArrayLike) -> np.ndarray:
    """The mean rank of each algorithm over the problems, (algorithms,): Friedman's average ranks.

    Examples
    --------
    >>> average_ranks([[0.2, 0.1, 0.2], [float("nan"), 5.0, 7.0]]).tolist()
    [2.75, 1.0, 2.25]
    """
    return rank_rows(values).mean(axis=0)


def checked_table(values: ArrayLike, *, problems: int = 1, algorithms: int = 1) -> np.ndarray:
    """Values as floats (problems, algorithms), at least so many."""
    table = np.asarray(values, dtype=float)
    if table.ndim != 2 or table.shape[0] < problems or table.shape[1] < algorithms:
        raise ValueError(
            f"values must have shape (problems, algorithms), at least ({problems}, {algorithms}); got {table.shape}"
        )
    return table


def checked_names(algorithms: Sequence[str] | None, count: int) -> tuple[str, ...]:
    """The names of the columns; A1, A2, .. if not given."""
    names = tuple(f"A{k + 1}" for k in range(count)) if algorithms is None else tuple(map(str, algorithms))
    if len(names) != count or len(set(names)) != count:
        raise ValueError(f"algorithms must be {count} different names; got {names}")
    return names


def checked_control(control: str | int, names: tuple[str, ...]) -> int:
    """The column of the algorithm that the others are compared with."""
    if isinstance(control, str) and control in names:
        return names.index(control)
    if isinstance(control, int) and not isinstance(control, bool) and 0 <= control < len(names):
        return control
    raise ValueError(f"control must be one of {names} or a column from 0 to {len(names) - 1}; got {control!r}")


def checked_alpha(alpha: float) -> float:
    """A level of significance."""
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1; got {alpha!r}")
    return float(alpha)
