"""The printed rank rows of the PPS-DE publication, from its printed means."""

from __future__ import annotations

import numpy as np
import pytest

from ppsde import published
from ppsde.stats import average_ranks, published_average_ranks

PROBLEMS = [f"C{k:02d}" for k in range(1, 29)]
TIE_BROKEN = {10: [], 30: [(PROBLEMS.index("C09"), published.COLUMNS.index("PPS-DE"))], 50: []}


def means(dimension: int) -> np.ndarray:
    cells = published.cells()
    return np.array([[cells[dimension, problem, name].mean for name in published.COLUMNS] for problem in PROBLEMS])


def printed(dimension: int) -> np.ndarray:
    return np.array([published.ranks()[dimension, name] for name in published.COLUMNS])


@pytest.mark.parametrize("dimension", published.DIMENSIONS)
def test_every_printed_rank_is_reproduced_to_four_decimals(dimension: int) -> None:
    ranks = published_average_ranks(means(dimension), favoured=TIE_BROKEN[dimension])
    assert np.abs(ranks - printed(dimension)).max() <= 0.5e-4
    assert len(ranks) == 8


def test_at_30_variables_the_broken_tie_is_what_the_printed_ranks_need() -> None:
    assert np.abs(published_average_ranks(means(30)) - printed(30)).max() > 0.1


def test_with_missing_means_ranked_worst_the_ranks_are_others_and_another_leads_at_30_variables() -> None:
    tables = {d: np.where(np.abs(means(d)) < 1e-9, 0.0, means(d)) for d in published.DIMENSIONS}
    apart = max(np.abs(average_ranks(tables[d]) - printed(d)).max() for d in published.DIMENSIONS)
    assert round(apart, 2) == 0.57
    assert published.COLUMNS[np.argmin(average_ranks(tables[30]))] == "IUDE"


def test_the_recipe_by_hand() -> None:
    # Row 1: 0 and 1e-10 tie (1.5 each), 4 is third. Row 2: NaN counts as 1000, before 2000 and behind 3.
    assert published_average_ranks([[0.0, 1e-10, 4.0], [np.nan, 2000.0, 3.0]]).tolist() == [1.75, 2.25, 2.0]
