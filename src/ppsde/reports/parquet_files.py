"""A study as Parquet tables: its runs, and what was recorded along them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..experiments import Result, Store

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
    """runs.parquet has a row per run, records.parquet a row per recorded point of each run.

    Types are the same whatever a study holds. `suite` and `instance` are null where a problem has none.
    """
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise ValueError("the format parquet needs pyarrow: pip install 'ppsde[parquet]'") from None
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
        schema = arrow.schema([(name, _type(arrow, kind)) for name, kind in types.items()])
        path = folder / f"{title}.parquet"
        parquet.write_table(arrow.Table.from_pydict(columns, schema=schema), path)
        written.append(path)
    return written


def _type(arrow: Any, kind: str) -> Any:
    return arrow.list_(arrow.float64()) if kind == "list of float64" else getattr(arrow, kind)()


def _run(result: Result) -> dict[str, Any]:
    """The row of a run, failed or not."""
    job = result.job
    asked = {name: getattr(job, name) for name in ("method", "suite", "seed", "budget", "engine", "device")}
    other = {"x": result.x.tolist(), "instance": None if job.instance is None else str(job.instance)}
    given = {name: getattr(result, name) for name in RUNS if name not in asked and name not in other}
    return {**given, **asked, **other}


def _points(result: Result) -> dict[str, list[Any]]:
    """The rows of what was recorded along a run; none of the parts of its budget in which no generation ended."""
    record = result.record
    made = record.get("evaluations", np.empty(0))
    there = ~np.isnan(made)
    key = {name: [getattr(result, name)] * int(there.sum()) for name in KEY}
    values = {name: record[name][there].tolist() if there.any() else [] for name in ("f", "violation")}
    return {**key, "evaluations": made[there].astype(np.int64).tolist(), **values}
