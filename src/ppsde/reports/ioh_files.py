"""A study as files of IOHprofiler, for IOHanalyzer (R) and iohinspector (Python)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

from .. import __version__
from ..experiments import Result, Store
from .cec_files import number_in
from .cells import Cell, along, cells
from .figures import unused

VERSION = "0.3.5"  # of the format; readers ask for 0.3.3 at least
COLUMNS = ("evaluations", "raw_y", "violation")
LARGEST_ID = 2**16 - 1  # what readers hold of a function's number

# Stand for the objective while a run has no feasible point, and for other numbers that are not there: JSON has no
# infinity. They take turns from run to run, because iohinspector leaves out a line that repeats the objective of the
# line before, even if a new run begins there: of runs without a feasible point only the first would be seen.
LARGEST = math.nextafter(math.inf, 0)
NOTHING = (LARGEST, math.nextafter(LARGEST, 0))


def ioh_files(store: Store, plan: int | None, folder: Path) -> Iterator[Path]:
    """A folder per algorithm: a JSON file per problem, and its runs, one after another, in .dat files per dimension."""
    found = cells(store, plan)
    ids = _ids((cell.suite, cell.problem) for cell in found)
    folder.mkdir(parents=True, exist_ok=True)
    folders: dict[str, str] = {}
    indices: dict[Path, dict[str, Any]] = {}
    for cell, results in found.items():
        if cell.algorithm not in folders:
            folders[cell.algorithm] = unused(cell.algorithm, set(folders.values()))
        top = folder / folders[cell.algorithm]
        id = ids[cell.suite, cell.problem]
        title = f"f{id}_{unused(cell.problem, ())}"
        data = f"data_{title}/IOHprofiler_f{id}_DIM{cell.dimension}.dat"
        traces = [_trace(result, NOTHING[k % 2]) for k, result in enumerate(results)]
        (top / data).parent.mkdir(parents=True, exist_ok=True)
        (top / data).write_text("".join(map(_block, traces)), encoding="utf-8")
        yield top / data
        runs = [_run(result, trace) for result, trace in zip(results, traces, strict=True)]
        index = indices.setdefault(top / f"IOHprofiler_{title}.json", _index(cell, id))
        index["scenarios"].append({"dimension": cell.dimension, "path": data, "runs": runs})
    for path, index in indices.items():
        path.write_text(json.dumps(index, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        yield path


def _ids(problems: Iterable[tuple[str | None, str]]) -> dict[tuple[str | None, str], int]:
    """A number for each problem: the one that its name ends with, or, if it has none or it is taken, a free one."""
    ids: dict[tuple[str | None, str], int] = {}
    without = []
    for problem in dict.fromkeys(problems):
        number = number_in(problem[1])
        if number.isdecimal() and 1 <= int(number) <= LARGEST_ID and int(number) not in ids.values():
            ids[problem] = int(number)
        else:
            without.append(problem)
    for problem in without:
        ids[problem] = next(id for id in count(1) if id not in ids.values())
    return ids


def _trace(result: Result, nothing: float) -> dict[int, tuple[float, float]]:
    """Objective and violation by evaluations. It begins at 1, by which iohinspector knows that a run begins."""
    known = {1: (nothing, nothing)}
    for made, f, violation in zip(*(column.tolist() for column in along(result)), strict=True):
        known[made] = (_finite(f, nothing), _finite(violation, nothing))
    if not result.ok and result.evaluations > 1:
        known[result.evaluations] = (nothing, nothing)
    return known


def _block(trace: dict[int, tuple[float, float]]) -> str:
    """The lines of a run, its own header first, by which IOHanalyzer knows that a run begins."""
    lines = [" ".join(COLUMNS), *(f"{made} {f!r} {violation!r}" for made, (f, violation) in trace.items())]
    return "\n".join(lines) + "\n"


def _run(result: Result, trace: dict[int, tuple[float, float]]) -> dict[str, Any]:
    """What the index says of a run. Its best point counts as found where its numbers were first recorded."""
    instance = result.job.instance if isinstance(result.job.instance, int) else 0
    at_last = trace[max(trace)]
    found = min(made for made, known in trace.items() if known == at_last)
    x = [_finite(value, LARGEST) for value in result.x.tolist()]
    best = {"evals": min(found, result.evaluations), "y": at_last[0], "x": x}
    return {"instance": instance, "evals": result.evaluations, "best": best, "run": result.run}


def _index(cell: Cell, id: int) -> dict[str, Any]:
    """What the index says of an algorithm on a problem, before any of its dimensions."""
    return {
        "version": VERSION,
        "suite": cell.suite or "none",
        "function_id": id,
        "function_name": cell.problem,
        "maximization": False,
        "algorithm": {"name": cell.algorithm, "info": f"ppsde {__version__}"},
        "run_attributes": ["run"],
        "attributes": list(COLUMNS),
        "scenarios": [],
    }


def _finite(value: float, otherwise: float) -> float:
    return value if math.isfinite(value) else otherwise
