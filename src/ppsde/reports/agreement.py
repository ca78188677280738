"""Whether a method agrees with its printed column: tests of equivalence on the cells that can tell columns apart.

Two means are equivalent if they differ, at the level 0.05, by less than a region: one printed standard deviation, and
at least 1 % of the printed mean and 1e-8. The region comes from print alone, so that a spread of our own, such as one
infeasible run makes, widens nothing. Where other algorithms' printed columns pass the same test, passing says little: a
cell is telling if at most one of the seven others passes. A method is judged by its telling cells.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from .. import published
from ..stats import Equivalence, equivalence

REGION = 1.0  # in printed standard deviations
LEAST_SHARE = 0.01  # of the printed mean: it has three digits
NEGLIGIBLE = 1e-8
OTHERS = len(published.COLUMNS) - 1
MOST_PASSING = 1  # of the other columns, where a cell is telling
CHANCE = MOST_PASSING / OTHERS  # that a different column passes a telling cell, at most
ENOUGH = 2 / 3  # of the telling cells
JUDGED = tuple(name for k in range(1, 29) if (name := f"C{k:02d}") not in published.UNJUDGED)

# Methods whose settings were chosen by printed means, at these dimensions; what agrees there is a fit.
FITTED: dict[str, tuple[int, ...]] = {
    "pps-de-published": (10, 30),
    "aga-pps": (10,),
    "lshade44-ide": (10, 30, 50),
    "ude": (10,),
    "iude": (10,),
    "c2ode": (10, 30),
}
OTHER_ALGORITHMS = ("pps-de",)  # compared with a column that they are not meant to reproduce


def region_of(printed: published.Cell, deviations: float = REGION) -> float:
    """Return the largest difference from a printed mean that does not matter.

    Examples
    --------
    >>> [region_of(published.Cell(mean, std)) for mean, std in ((10.0, 2.0), (1000.0, 2.0), (0.0, 0.0))]
    [2.0, 10.0, 1e-08]
    """
    return max(deviations * printed.std, LEAST_SHARE * abs(printed.mean), NEGLIGIBLE)


def compared(
    mean: float, std: float, runs: int, printed: published.Cell, deviations: float = REGION
) -> Equivalence | None:
    """Return the test of a mean against a printed one; None if one of them is missing."""
    if not all(map(math.isfinite, (mean, std, *printed))) or runs < 2:
        return None
    region = region_of(printed, deviations)
    return equivalence((mean, std, runs), (*printed, published.RUNS), region=region)


@cache
def passing(dimension: int, problem: str, column: str, deviations: float = REGION) -> tuple[str, ...]:
    """Return the other printed columns whose cell is equivalent to that of a column."""
    printed = published.meant(dimension, problem, column)
    found = []
    for other in published.COLUMNS:
        if other != column:
            cell = published.meant(dimension, problem, other)
            test = compared(*cell, published.RUNS, printed, deviations)
            if test is not None and test.verdict == "equivalent":
                found.append(other)
    return tuple(found)


def is_telling(dimension: int, problem: str, column: str, deviations: float = REGION) -> bool:
    """Return whether a judged cell tells its column from the others: it is printed, and few of them pass."""
    if problem not in JUDGED or math.isnan(published.meant(dimension, problem, column).mean):
        return False
    return len(passing(dimension, problem, column, deviations)) <= MOST_PASSING


@dataclass(frozen=True)
class Agreement:
    """How a method agrees with its printed column at one dimension."""

    method: str  # its label
    base: str  # its name in the table of algorithms
    column: str
    dimension: int
    telling: int  # cells
    equivalent: int  # of them
    different: int
    nearest: str  # of the other columns, the one that passes most of the telling cells
    passed: int  # by it

    @property
    def p(self) -> float:
        """The chance, at most, that a different column passes as many of the telling cells."""
        from scipy.stats import binom

        return float(binom.sf(self.equivalent - 1, self.telling, CHANCE))

    @property
    def verdict(self) -> str:
        """Return the verdict in words.

        shown      equivalent on two thirds of the telling cells, and on more than any other column
        plausible  equivalent more often than chance explains (0.05), and than any other column
        not shown  neither
        a fit      its settings were chosen by these means, so that agreement proves nothing
        """
        if self.base in OTHER_ALGORITHMS:
            return "another algorithm"
        nearer = self.equivalent > self.passed and self.p < 0.05
        found = "shown" if nearer and self.equivalent >= ENOUGH * self.telling else "plausible" if nearer else None
        if self.dimension in FITTED.get(self.base, ()):
            return "a fit" if found else "not even a fit"
        return found or "not shown"


def agreement(method: str, base: str, column: str, dimension: int, verdicts_of: Mapping[str, str]) -> Agreement:
    """Return how a method agrees at one dimension, from the verdicts of the tests by judged problem."""
    telling = [problem for problem in JUDGED if is_telling(dimension, problem, column)]
    verdicts = [verdicts_of[problem] for problem in telling]
    others = [name for name in published.COLUMNS if name != column]
    counts = {name: sum(name in passing(dimension, problem, column) for problem in telling) for name in others}
    nearest = max(others, key=lambda name: counts[name])
    equivalent, different = (verdicts.count(word) for word in ("equivalent", "different"))
    return Agreement(method, base, column, dimension, len(telling), equivalent, different, nearest, counts[nearest])
