"""A study as files for other programs: result files of the CEC competitions, files of IOHprofiler, Parquet tables."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..experiments import Store, StoredRun
from ..experiments.store import chosen_plan
from ..files import MADE_BY, write_own
from ..stats import Records
from .figures import unused


@dataclass(frozen=True)
class Group:
    """The runs that go into one file: those of an algorithm on a problem in one dimension."""

    algorithm: str  # by label
    suite: str | None  # None for a problem of a file
    problem: str
    dimension: int


def groups(store: Store, plan: int | None) -> dict[Group, list[StoredRun]]:
    """Return every finished run, failed ones included, by group, in the order of the plan."""
    found: dict[Group, list[StoredRun]] = {}
    for result in store.results(plan):
        group = Group(result.algorithm, result.job.suite, result.problem, result.dimension)
        found.setdefault(group, []).append(result)
    return found


def along(result: StoredRun) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return evaluations, best feasible objective so far and least violation so far, (points,) each.

    These are the recorded points and the end of the run, which usually is a recorded point too; a failed run has none.
    The objective is infinite before the first feasible point.
    """
    if not result.ok:
        return np.empty(0, np.int64), np.empty(0), np.empty(0)
    names = ("evaluations", "f", "violation")
    made, f, violation = (np.append(result.record.get(name, np.empty(0)), getattr(result, name)) for name in names)
    records = Records(made, [f], [violation])
    there = ~np.isnan(made)
    return made[there].astype(np.int64), records.feasible_f[0, there], records.least_violation[0, there]


def cec_files(store: Store, plan: int | None, folder: Path) -> Iterator[Path]:
    """Write ALGORITHM_F1_D10.txt: per line a number of evaluations, then objective and violation of each run.

    The objective is that of the best feasible point so far, NaN before the first; the violation is the least so far in
    the search's measure, infinite before anything is recorded. A failed run has NaN and infinity throughout. Numbers
    have as many digits as it takes to read the same ones back.
    """
    found = groups(store, plan)
    folder.mkdir(parents=True, exist_ok=True)
    taken: set[str] = set()
    for group, results in found.items():
        name = unused(f"{unused(group.algorithm, ())}_F{number_in(group.problem)}_D{group.dimension}", taken)
        taken.add(name)
        job = results[0].job
        at = np.ceil(np.linspace(0, job.budget, job.record + 1)[1:])
        columns = [column.tolist() for result in results for column in _known_at(result, at)]
        lines = [" ".join([f"{made:.0f}", *map(repr, row)]) for made, *row in zip(at, *columns, strict=True)]
        path = folder / f"{name}.txt"
        write_own(path, "\n".join(lines) + "\n", "txt")
        yield path


def _known_at(result: StoredRun, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return objective and violation after so many evaluations, (rows,) each."""
    made, f, violation = along(result)
    last = np.searchsorted(made, at, side="right")  # 0 before the first
    best = np.append(np.inf, f)[last]
    return np.where(np.isfinite(best), best, np.nan), np.append(np.inf, violation)[last]


def number_in(name: str) -> str:
    """Return the number that a name ends with, such as 1 for C01; else the name, in plain letters.

    Examples
    --------
    >>> number_in("C01"), number_in("welded-beam")
    ('1', 'welded-beam')
    """
    found = re.fullmatch(r"[A-Za-z]+0*([1-9][0-9]*)", name)
    return found.group(1) if found else unused(name, ())


VERSION = "0.3.5"  # of the format; readers ask for 0.3.3 at least
COLUMNS = ("evaluations", "raw_y", "violation")
LARGEST_ID = 2**16 - 1  # the largest number of a function that readers can hold

# They stand for the objective while a run has no feasible point, and for other missing numbers: JSON has no
# infinity. They alternate from run to run, because iohinspector leaves out a line that repeats the objective of the
# line before, even if a new run begins there: of runs without a feasible point only the first would be seen.
LARGEST = math.nextafter(math.inf, 0)
NOTHING = (LARGEST, math.nextafter(LARGEST, 0))


def ioh_files(store: Store, plan: int | None, folder: Path) -> Iterator[Path]:
    """Write a folder per algorithm: a JSON file per problem, and its runs in a .dat file per dimension."""
    found = groups(store, plan)
    ids = _ids((group.suite, group.problem) for group in found)
    folder.mkdir(parents=True, exist_ok=True)
    folders: dict[str, str] = {}
    indices: dict[Path, dict[str, Any]] = {}
    for group, results in found.items():
        if group.algorithm not in folders:
            folders[group.algorithm] = unused(group.algorithm, set(folders.values()))
        top = folder / folders[group.algorithm]
        id = ids[group.suite, group.problem]
        title = f"f{id}_{unused(group.problem, ())}"
        data = f"data_{title}/IOHprofiler_f{id}_DIM{group.dimension}.dat"
        traces = [_trace(result, NOTHING[k % 2]) for k, result in enumerate(results)]
        (top / data).parent.mkdir(parents=True, exist_ok=True)
        write_own(top / data, "".join(map(_block, traces)), "dat")
        yield top / data
        runs = [_ioh_run(result, trace) for result, trace in zip(results, traces, strict=True)]
        index = indices.setdefault(top / f"IOHprofiler_{title}.json", _index(group, id))
        index["scenarios"].append({"dimension": group.dimension, "path": data, "runs": runs})
    for path, index in indices.items():
        write_own(path, json.dumps(index, indent=1, allow_nan=False) + "\n", "json")
        yield path


def _ids(problems: Iterable[tuple[str | None, str]]) -> dict[tuple[str | None, str], int]:
    """Number the problems: by the number that a name ends with; a free number where there is none or it is used."""
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


def _trace(result: StoredRun, nothing: float) -> dict[int, tuple[float, float]]:
    """Return objective and violation by evaluations, from 1 on: iohinspector takes 1 as the beginning of a run."""
    known = {1: (nothing, nothing)}
    for made, f, violation in zip(*(column.tolist() for column in along(result)), strict=True):
        known[made] = (_finite(f, nothing), _finite(violation, nothing))
    if not result.ok and result.evaluations > 1:
        known[result.evaluations] = (nothing, nothing)
    return known


def _block(trace: dict[int, tuple[float, float]]) -> str:
    """Return the lines of a run, with a header first: IOHanalyzer takes the header as the beginning of a run."""
    lines = [" ".join(COLUMNS), *(f"{made} {f!r} {violation!r}" for made, (f, violation) in trace.items())]
    return "\n".join(lines) + "\n"


def _ioh_run(result: StoredRun, trace: dict[int, tuple[float, float]]) -> dict[str, Any]:
    """Return the entry of a run in the index. Its best point counts as found where its values were first recorded."""
    instance = result.job.instance if isinstance(result.job.instance, int) else 0
    at_last = trace[max(trace)]
    found = min(made for made, known in trace.items() if known == at_last)
    x = [_finite(value, LARGEST) for value in result.x.tolist()]
    best = {"evals": min(found, result.evaluations), "y": at_last[0], "x": x}
    return {"instance": instance, "evals": result.evaluations, "best": best, "run": result.run}


def _index(group: Group, id: int) -> dict[str, Any]:
    """Return the index of an algorithm on a problem, without any dimension yet."""
    return {
        "version": VERSION,
        "suite": group.suite or "none",
        "function_id": id,
        "function_name": group.problem,
        "maximization": False,
        "algorithm": {"name": group.algorithm, "info": f"ppsde {__version__}"},
        "run_attributes": ["run"],
        "attributes": list(COLUMNS),
        "scenarios": [],
    }


def _finite(value: float, otherwise: float) -> float:
    return value if math.isfinite(value) else otherwise


KEY = {"algorithm": "string", "problem": "string", "dimension": "int64", "run": "int64"}
RUNS = {
    **KEY,
    "f": "float64",
    "violation": "float64",
    "competition_violation": "float64",
    "feasible": "bool_",
    "evaluations": "int64",
    "status": "string",
    "message": "string",
    "x": "list of float64",
    "method": "string",
    "suite": "string",
    "instance": "string",
    "seed": "int64",
    "budget": "int64",
    "engine": "string",
    "device": "string",
}
RECORDS = {**KEY, "evaluations": "int64", "f": "float64", "violation": "float64"}


def parquet_files(store: Store, plan: int | None, folder: Path) -> list[Path]:
    """Write runs.parquet, a row per run, and records.parquet, a row per recorded point of each run.

    Types are the same whatever a study holds. `suite` and `instance` are null where a problem has none.
    """
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise ValueError("the format parquet needs pyarrow: pip install pyarrow") from None
    runs: dict[str, list[Any]] = {name: [] for name in RUNS}
    records: dict[str, list[Any]] = {name: [] for name in RECORDS}
    for result in store.results(plan):
        for name, value in _run(result).items():
            runs[name].append(value)
        for name, values in _points(result).items():
            records[name].extend(values)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for title, types, columns in (("runs", RUNS, runs), ("records", RECORDS, records)):
        fields = [(name, _type(arrow, kind)) for name, kind in types.items()]
        schema = arrow.schema(fields, metadata={"about": MADE_BY})
        path = folder / f"{title}.parquet"
        table = arrow.BufferOutputStream()
        parquet.write_table(arrow.Table.from_pydict(columns, schema=schema), table)
        write_own(path, table.getvalue().to_pybytes(), "parquet")
        written.append(path)
    return written


def _type(arrow: Any, kind: str) -> Any:
    return arrow.list_(arrow.float64()) if kind == "list of float64" else getattr(arrow, kind)()


def _run(result: StoredRun) -> dict[str, Any]:
    """Return the row of a run, failed or not."""
    job = result.job
    asked = {name: getattr(job, name) for name in ("method", "suite", "seed", "budget", "engine", "device")}
    other = {"x": result.x.tolist(), "instance": None if job.instance is None else str(job.instance)}
    given = {name: getattr(result, name) for name in RUNS if name not in asked and name not in other}
    return {name: _encodable(value) for name, value in {**given, **asked, **other}.items()}


def _encodable(value: Any) -> Any:
    """Return a value; if it is text, with escapes in place of characters that UTF-8 cannot encode."""
    return value.encode(errors="backslashreplace").decode() if isinstance(value, str) else value


def _points(result: StoredRun) -> dict[str, list[Any]]:
    """Return the rows of the points recorded along a run, without parts of the budget in which no generation ended."""
    record = result.record
    made = record.get("evaluations", np.empty(0))
    there = ~np.isnan(made)
    key = {name: [_encodable(getattr(result, name))] * int(there.sum()) for name in KEY}
    values = {name: record[name][there].tolist() if there.any() else [] for name in ("f", "violation")}
    return {**key, "evaluations": made[there].astype(np.int64).tolist(), **values}


WRITERS = {"cec": cec_files, "ioh": ioh_files, "parquet": parquet_files}


def export(store: Store, kind: str, folder: Path, plan: int | None = None) -> list[Path]:
    """Write the study in one of the formats and return the files written.

    Parameters
    ----------
    store : Store
    kind : 'cec', 'ioh' or 'parquet'
    folder : path
        Made if missing. Files of the same names are replaced, others stay.
    plan : int, optional
        As in `gather`.
    """
    if kind not in WRITERS:
        raise ValueError(f"format must be one of {', '.join(WRITERS)}; got {kind!r}")
    return list(WRITERS[kind](store, chosen_plan(store, plan), folder))
