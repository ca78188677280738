"""A study as files for other programs: result files of the CEC competitions, IOHprofiler, Parquet."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..experiments import Result, Store
from ..stats import Records
from .curves import known_at
from .figures import unused
from .study import Problem, Study, chosen_plan, gather

FORMATS = ("cec", "ioh", "parquet")
NOTHING = 1.7976931348623157e308  # stands for the objective in IOHprofiler's files before a run is feasible


def export(store: Store, kind: str, folder: Path, plan: int | None = None) -> list[Path]:
    """Write the study in one of the formats; what was written is returned.

    Parameters
    ----------
    store : Store
    kind : 'cec', 'ioh' or 'parquet'
    folder : path
        Made if missing.
    plan : int, optional
        As in `gather`.
    """
    if kind not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}; got {kind!r}")
    if kind == "parquet":
        arrow = _arrow()
        folder.mkdir(parents=True, exist_ok=True)
        return _parquet(store, chosen_plan(store, plan), folder, *arrow)
    study = gather(store, plan)
    folder.mkdir(parents=True, exist_ok=True)
    return list(_cec(study, folder) if kind == "cec" else _ioh(store, chosen_plan(store, plan), study, folder))


# --- CEC ----------------------------------------------------------------------------------------------------------


def _cec(study: Study, folder: Path) -> Iterator[Path]:
    """ALGORITHM_F1_D10.txt: a row per number of evaluations: that number, then objective and violation of each run.

    The objective is that of the best feasible point so far, NaN before the first; the violation is the least so far.
    """
    taken: set[str] = set()
    for problem in study.problems:
        for algorithm, records in study.records[problem.label].items():
            name = unused(f"{unused(algorithm, ())}_F{number_in(problem.name)}_D{problem.dimension}", taken)
            taken.add(name)
            at = np.ceil(np.linspace(0, problem.budget, records.f.shape[1]))[1:]
            columns = [at]
            for f, violation in zip(*known_at(records, at), strict=True):
                columns += [np.where(np.isfinite(f), f, np.nan), violation]
            path = folder / f"{name}.txt"
            np.savetxt(path, np.column_stack(columns), fmt="%.15g")
            yield path


def number_in(name: str) -> str:
    """The number that a name ends with, such as 1 for C01; else the name, in plain letters.

    Examples
    --------
    >>> number_in("C01"), number_in("welded-beam")
    ('1', 'welded-beam')
    """
    found = re.fullmatch(r"[A-Za-z]+0*([1-9][0-9]*)", name)
    return found.group(1) if found else unused(name, ())


# --- IOHprofiler --------------------------------------------------------------------------------------------------


def _ioh(store: Store, plan: int | None, study: Study, folder: Path) -> Iterator[Path]:
    """A folder per algorithm: a JSON file per problem, and its runs, one after another, in .dat files per dimension."""
    functions = {name: k + 1 for k, name in enumerate(dict.fromkeys(p.name for p in study.problems))}
    points: dict[tuple[str, str, int], list[Result]] = {}
    for result in store.results(plan):
        points.setdefault((result.algorithm, result.problem, result.dimension), []).append(result)
    folders: dict[str, str] = {}
    for algorithm in study.algorithms:
        folders[algorithm] = unused(algorithm, set(folders.values()))
        for name, id in functions.items():
            chosen = [p for p in study.problems if p.name == name and algorithm in study.records[p.label]]
            if not chosen:
                continue
            title = f"f{id}_{unused(name, ())}"
            top = folder / folders[algorithm]
            (top / f"data_{title}").mkdir(parents=True, exist_ok=True)
            scenarios = []
            for problem in chosen:
                path = top / f"data_{title}" / f"IOHprofiler_f{id}_DIM{problem.dimension}.dat"
                path.write_text(_dat(study.records[problem.label][algorithm]), encoding="utf-8")
                yield path
                runs = [_run(result) for result in points[algorithm, name, problem.dimension]]
                relative = path.relative_to(top).as_posix()
                scenarios.append({"dimension": problem.dimension, "path": relative, "runs": runs})
            index = {
                "version": "0.3.5",
                "suite": _suite(points, algorithm, chosen[0]),
                "function_id": id,
                "function_name": name,
                "maximization": False,
                "algorithm": {"name": algorithm, "info": f"ppsde {__version__}"},
                "attributes": ["evaluations", "raw_y", "violation"],
                "scenarios": scenarios,
            }
            path = top / f"IOHprofiler_{title}.json"
            path.write_text(json.dumps(index, indent=1, allow_nan=False) + "\n", encoding="utf-8")
            yield path


def _dat(records: Records) -> str:
    lines = []
    f, violation = records.feasible_f, records.least_violation
    for k in range(records.runs):
        lines.append("evaluations raw_y violation")
        there = ~np.isnan(records.evaluations[k])
        if not there.any():  # a failed run: a line, so that the runs can be counted
            lines.append(f"0 {NOTHING!r} {NOTHING!r}")
        made = records.evaluations[k][there]
        for e, y, v in zip(made, f[k][there], violation[k][there], strict=True):
            lines.append(f"{int(e)} {_finite(y)!r} {_finite(v)!r}")
    return "\n".join(lines) + "\n"


def _run(result: Result) -> dict[str, Any]:
    y = result.f if result.ok and result.feasible else NOTHING
    instance = result.job.instance if isinstance(result.job.instance, int) else 0
    best = {"evals": result.evaluations, "y": _finite(y), "x": [_finite(value) for value in result.x.tolist()]}
    return {"instance": instance, "run": result.run, "evals": result.evaluations, "best": best}


def _suite(points: dict[tuple[str, str, int], list[Result]], algorithm: str, problem: Problem) -> str:
    return points[algorithm, problem.name, problem.dimension][0].job.suite or "none"


def _finite(value: float) -> float:
    return float(value) if math.isfinite(value) else NOTHING


# --- Parquet ------------------------------------------------------------------------------------------------------


def _arrow() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise ValueError("the format parquet needs pyarrow: pip install pyarrow") from None


def _parquet(store: Store, plan: int | None, folder: Path, arrow: Any, parquet: Any) -> list[Path]:
    """runs.parquet has a row per run, records.parquet a row per recorded point of each run."""
    runs: list[dict[str, Any]] = []
    records: list[dict[str, Any]] = []
    for result in store.results(plan):
        key = dict(zip(("algorithm", "problem", "dimension", "run"), result.key, strict=True))
        names = ("f", "violation", "competition_violation", "feasible", "evaluations", "status", "message")
        values = {name: getattr(result, name) for name in names}
        asked = {name: getattr(result.job, name) for name in ("method", "seed", "budget", "engine", "device")}
        instance = None if result.job.instance is None else str(result.job.instance)
        runs.append({**key, **values, "x": result.x.tolist(), **asked, "instance": instance})
        columns = result.record
        for k in range(len(columns.get("evaluations", ()))):
            point = {name: float(columns[name][k]) for name in ("evaluations", "f", "violation")}
            records.append({**key, **point})
    written = []
    for name, rows in (("runs", runs), ("records", records)):
        path = folder / f"{name}.parquet"
        parquet.write_table(arrow.Table.from_pylist(rows), path)
        written.append(path)
    return written
