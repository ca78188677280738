"""A study as result files of the CEC competitions: a text file per algorithm, problem and dimension."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..experiments import Result, Store
from .cells import along, cells
from .figures import unused


def cec_files(store: Store, plan: int | None, folder: Path) -> Iterator[Path]:
    """ALGORITHM_F1_D10.txt: a row per number of evaluations: that number, then objective and violation of each run.

    The objective is that of the best feasible point so far, NaN before the first; the violation is the least so far in
    the search's measure, infinite before anything is recorded. A failed run has NaN and infinity throughout. Numbers
    have as many digits as it takes to read the same ones back.
    """
    found = cells(store, plan)
    folder.mkdir(parents=True, exist_ok=True)
    taken: set[str] = set()
    for cell, results in found.items():
        name = unused(f"{unused(cell.algorithm, ())}_F{number_in(cell.problem)}_D{cell.dimension}", taken)
        taken.add(name)
        job = results[0].job
        at = np.ceil(np.linspace(0, job.budget, job.record + 1)[1:])
        columns = [column.tolist() for result in results for column in _known_at(result, at)]
        lines = [" ".join([f"{made:.0f}", *map(repr, row)]) for made, *row in zip(at, *columns, strict=True)]
        path = folder / f"{name}.txt"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        yield path


def _known_at(result: Result, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Objective and violation after so many evaluations, (rows,) each."""
    made, f, violation = along(result)
    last = np.searchsorted(made, at, side="right")  # 0 before the first
    best = np.append(np.inf, f)[last]
    return np.where(np.isfinite(best), best, np.nan), np.append(np.inf, violation)[last]


def number_in(name: str) -> str:
    """The number that a name ends with, such as 1 for C01; else the name, in plain letters.

    Examples
    --------
    >>> number_in("C01"), number_in("welded-beam")
    ('1', 'welded-beam')
    """
    found = re.fullmatch(r"[A-Za-z]+0*([1-9][0-9]*)", name)
    return found.group(1) if found else unused(name, ())
