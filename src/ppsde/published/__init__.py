"""The published PPS-DE experiment as numbers: means and standard deviations of 25 runs, and the printed rank rows.

As printed in "Embedding Push and Pull Search in the Framework of Differential Evolution for Solving Constrained
Single-objective Optimization Problems" (arXiv 1812.06381): 28 problems, D = 10, 30, 50, eight algorithms. The means
take no account of feasibility; `UNJUDGED` says which cells cannot be compared with.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import lru_cache
from importlib import resources
from types import MappingProxyType
from typing import NamedTuple

DIMENSIONS = (10, 30, 50)
RUNS = 25
EVALUATIONS_PER_VARIABLE = 20_000
COLUMNS = ("PPS-DE", "AGA-PPS", "LSHADE44+IDE", "LSHADE44", "UDE", "IUDE", "eMAg-ES", "C2oDE")

# Problems whose published cells cannot be compared with, and why.
UNJUDGED = MappingProxyType(
    {
        **dict.fromkeys(("C17", "C19", "C26", "C28"), "no feasible point exists"),
        **dict.fromkeys(("C18", "C27"), "published from code that used the constraint of the first row for all"),
    }
)

# Published means of every algorithm that lie below the feasible optimum: our mean is judged by the best known value.
BELOW_THE_OPTIMUM = ("C11",)

# Printed means that have lost their minus sign: these optima are negative, and the digits are theirs.
LOST_SIGNS = frozenset((10, problem, "AGA-PPS") for problem in ("C08", "C09", "C10", "C11"))


class Cell(NamedTuple):
    mean: float
    std: float


@lru_cache(maxsize=1)
def cells() -> MappingProxyType[tuple[int, str, str], Cell]:
    """Return mean and standard deviation by (dimension, problem, algorithm); NaN where the publication prints it."""
    return MappingProxyType(
        {
            (int(row["dim"]), row["problem"], row["algorithm"]): Cell(float(row["mean"]), float(row["std"]))
            for row in _rows("tables.csv")
        }
    )


def meant(dimension: int, problem: str, algorithm: str) -> Cell:
    """Return a cell as its authors must have meant it: with a lost minus sign put back.

    Examples
    --------
    >>> cells()[10, "C09", "AGA-PPS"].mean, meant(10, "C09", "AGA-PPS").mean
    (0.00498, -0.00498)
    """
    key = dimension, problem, algorithm
    cell = cells()[key]
    return cell._replace(mean=-cell.mean) if key in LOST_SIGNS else cell


@lru_cache(maxsize=1)
def ranks() -> MappingProxyType[tuple[int, str], float]:
    """Return the printed average rank by (dimension, algorithm)."""
    rows = _rows("friedman.csv")
    return MappingProxyType({(int(row["dim"]), row["algorithm"]): float(row["rank"]) for row in rows})


def _rows(name: str) -> Iterator[dict[str, str]]:
    text = resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
    return csv.DictReader(text.splitlines())
