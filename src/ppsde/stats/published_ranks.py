"""How the printed rank rows of the PPS-DE publication come about."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .ranks import checked_table, rank_rows

ZERO = 1e-9  # means nearer to 0 than this are ranked as 0
NOT_PRINTED = 1000.0  # what a mean printed as NaN is ranked as


def published_average_ranks(means: ArrayLike, *, favoured: Sequence[tuple[int, int]] = ()) -> np.ndarray:
    """Average ranks by the recipe that reproduces the rank rows printed with the published PPS-DE tables.

    The rows are headed Friedman aligned ranks; they are plain average ranks. All 24 come out to four decimals when
    means nearer to 0 than 1e-9 are set to 0, NaN is replaced by 1000, ties are averaged, and, at D = 30, the tie of
    seven algorithms on C09 is broken in favour of PPS-DE. A recipe to check those numbers with, not one to use: 1000 is
    better than many a mean beside it, and infeasible means count like any others. `average_ranks` ranks NaN worst.

    Parameters
    ----------
    means : array_like, (problems, algorithms)
    favoured : sequence of (row, column)
        Entries that are ranked before those they are tied with.

    Returns
    -------
    array, (algorithms,)

    Examples
    --------
    >>> published_average_ranks([[1e-12, 0.0, 5.0], [float("nan"), 2000.0, 7.0]]).tolist()
    [1.75, 2.25, 2.0]
    >>> published_average_ranks([[1.0, 1.0, 1.0]], favoured=[(0, 2)]).tolist()
    [2.5, 2.5, 1.0]
    """
    table = checked_table(means)
    table = np.where(np.abs(table) < ZERO, 0.0, table)
    table = np.where(np.isnan(table), NOT_PRINTED, table)
    for row, column in favoured:
        table[row, column] = np.nextafter(table[row, column], -np.inf)
    return rank_rows(table).mean(axis=0)
