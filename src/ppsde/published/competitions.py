"""Published results of two competitions: the scores of CEC 2026, and the entries of CEC 2020 problem by problem.

The CEC 2026 numbers are those of the organisers' comparison slides. `RDE26` was measured: its authors' program, run
again on the corrected CEC2017 problems. `UDE_III` is printed in the report of its successor, UDE-IV. The CEC 2020
numbers are computed from the 25 runs of each entry that the organisers made public with their ranking program; EnMODE's
are those that it submitted last. Scores computed from them are the published ones to within 2e-4, except that FCHA has
0.8835 in place of 0.8755.
"""

from __future__ import annotations

import csv
import math
from functools import lru_cache
from importlib import resources
from types import MappingProxyType
from typing import NamedTuple


class Score(NamedTuple):
    """A score of accuracy and speed among the eight entries, larger is better, and the sum of the places."""

    score: int
    places: int


CEC2026 = MappingProxyType(
    {
        "RDE26-CSOP": Score(192_754, 55),
        "RDEx-CSOP": Score(158_971, 105),
        "RDEx-CASK": Score(145_189, 111),
        "DE-2LS": Score(143_146, 124),
        "AEBDE": Score(133_596, 134),
        "UDE-III": Score(119_536, 148),
        "UDE-IV": Score(111_680, 158),
        "CL-SRDE": Score(109_526, 173),
    }
)


class Rerun(NamedTuple):
    """The mean of the final objectives of 25 runs, and the share of them that ended feasible."""

    mean: float
    feasible: float


RDE26 = MappingProxyType(  # D = 30, 600,000 evaluations
    {
        "C01": Rerun(5e-29, 1.0),
        "C02": Rerun(6e-29, 1.0),
        "C03": Rerun(317, 1.0),
        "C04": Rerun(13.9, 1.0),
        "C05": Rerun(3e-30, 1.0),
        "C06": Rerun(6.0, 0.64),
        "C07": Rerun(-819, 1.0),
        "C08": Rerun(-2.84e-4, 1.0),
        "C09": Rerun(-2.666e-3, 1.0),
        "C10": Rerun(-1.03e-4, 1.0),
        "C11": Rerun(-657, 0.0),
        "C12": Rerun(9.54, 1.0),
        "C13": Rerun(1e-27, 1.0),
        "C14": Rerun(1.415, 1.0),
        "C15": Rerun(5.498, 1.0),
        "C16": Rerun(20.3, 1.0),
        "C17": Rerun(0.84, 0.0),
        "C18": Rerun(36.2, 0.16),
        "C19": Rerun(0.0, 0.0),
        "C20": Rerun(1.31, 1.0),
        "C21": Rerun(26.6, 1.0),
        "C22": Rerun(9e-26, 1.0),
        "C23": Rerun(1.409, 1.0),
        "C24": Rerun(5.498, 1.0),
        "C25": Rerun(23.7, 1.0),
        "C26": Rerun(0.82, 0.0),
        "C27": Rerun(35.5, 0.0),
        "C28": Rerun(-7.3, 0.0),
    }
)

UDE_III = MappingProxyType(  # D = 30, 600,000 evaluations; the shares are printed for some problems only
    {
        "C01": Rerun(1.6e-28, math.nan),
        "C03": Rerun(92.2, math.nan),
        "C04": Rerun(6.5, math.nan),
        "C05": Rerun(0.16, math.nan),
        "C06": Rerun(0.0, math.nan),
        "C07": Rerun(-673, math.nan),
        "C12": Rerun(3.99, math.nan),
        "C13": Rerun(0.48, math.nan),
        "C14": Rerun(1.409, math.nan),
        "C15": Rerun(2.356, math.nan),
        "C16": Rerun(0.0, math.nan),
        "C18": Rerun(36.55, math.nan),
        "C20": Rerun(1.85, math.nan),
        "C21": Rerun(9.28, math.nan),
        "C22": Rerun(25.6, math.nan),
        "C23": Rerun(1.450, math.nan),
        "C24": Rerun(2.356, math.nan),
        "C25": Rerun(0.25, math.nan),
        "C27": Rerun(37.7, math.nan),
    }
)

CEC2020_TOTALS = MappingProxyType(  # the published scores, smaller is better
    {
        "SASS": 0.0802,
        "COLSHADE": 0.1161,
        "sCMAgES": 0.1742,
        "EnMODE": 0.1986,
        "BPMAgES": 0.2347,
        "VMCH": 0.2836,
        "DEQL": 0.5660,
        "FCHA": 0.8755,
    }
)


RUNS = 25  # of every entry on every problem


class Entry(NamedTuple):
    """Objective and violation of the best run, the mean and the median run of 25; NaN where nothing was delivered."""

    best: tuple[float, float]
    mean: tuple[float, float]
    median: tuple[float, float]
    feasible: float  # share of the runs


@lru_cache(maxsize=1)
def cec2020rw() -> MappingProxyType[tuple[str, str], Entry]:
    """Return the results of the CEC 2020 entries by (problem, entry).

    Examples
    --------
    >>> cec2020rw()["RC01", "SASS"].median
    (189.31163, 0.0)
    """
    text = resources.files(__package__).joinpath("cec2020rw.csv").read_text(encoding="utf-8")
    found = {}
    for row in csv.DictReader(text.splitlines()):
        best, mean, median = (_pair(row, kind) for kind in ("best", "mean", "median"))
        found[row["problem"], row["entry"]] = Entry(best, mean, median, float(row["feasible"] or math.nan))
    return MappingProxyType(found)


def _pair(row: dict[str, str], kind: str) -> tuple[float, float]:
    return float(row[f"{kind}_f"] or math.nan), float(row[f"{kind}_violation"] or math.nan)
