"""Records of what was measured, in `docs/measured`: values, the command that made them, the machine, and the methods.

Of each method that ran a record has a fingerprint, the outcome of three short runs, and of the benchmark a digest of
its files. `python docs/measured.py` writes the tables and sentences of the pages from the records. A test fails where a
page shows something else, and where a method has another fingerprint, or a benchmark another digest, than in a record:
then the record is older than what made it, and its command must be run again. Where a benchmark has changed, but not
what it measures, `python docs/measured.py --same NAME` says so.

A record with a `commit` has numbers that a document had at that commit. Its command has not been run since, and the
page says so. Its fingerprints are those of that commit, so that a method which has changed since is noticed, too; it
has no digest. Methods that it names as `changed` are known to have done so, and the page names them.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import subprocess
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

import ppsde
from ppsde.parts.handling import reads_constraints
from ppsde.testing import LOWER, UPPER, equalities

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "measured"
FRONT = "ppsde.scipy"  # in the place of a method


def save(
    name: str,
    values: Any,
    *,
    command: str,
    methods: Iterable[str],
    device: str = "",
    again: Collection[str] | None = None,
    program: Any = None,
) -> None:
    """Write a record.

    Parameters
    ----------
    name : str
        Of the record.
    values
        Plain data.
    command : str
        Makes the record.
    methods : iterable of str
        The methods that ran, with their options if need be: "shade:rule=cw".
    device : str, optional
        The accelerator that was used.
    again : collection of str, optional
        Those of the methods that ran now, if only some did. The others keep their fingerprints, and the record its
        digest, since values that were not measured again are as old as before.
    program : optional
        In the place of the digest of the files that the command names.
    """
    before = load(name) if again is not None and name in names() else {}
    kept = {method: found for method, found in before.get("methods", {}).items() if method not in (again or ())}
    made_by = program or before.get("program") or digest_of(command)
    record = {
        **({"program": made_by} if made_by else {}),
        "command": command,
        "date": today(),
        "machine": machine(device),
        "methods": {method: kept.get(method) or fingerprint(method) for method in methods},
        "values": values,
    }
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def today() -> str:
    return datetime.now(UTC).date().isoformat()


def revision() -> str:
    """Return the commit of this checkout."""
    asked = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def load(name: str) -> dict[str, Any]:
    """Return a record."""
    record: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return record


def values_of(name: str) -> Any:
    """Return the values of a record, None if there is none."""
    return load(name)["values"] if name in names() else None


def names() -> list[str]:
    """Return the names of all records."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def outdated(name: str) -> list[str]:
    """Return the methods that have changed since a record was made, but for those that it names as changed."""
    return [method for method in changed_since(name) if method not in load(name).get("changed", ())]


def changed_since(name: str) -> list[str]:
    """Return the methods that have changed since a record was made."""
    return [method for method, before in load(name)["methods"].items() if not alike(fingerprint(method), before)]


def is_of_another_program(name: str) -> bool:
    """Return whether the files of the benchmark have changed since a record was made."""
    record = load(name)
    return isinstance(record.get("program"), str) and record["program"] != digest_of(record["command"])


def digest_of(command: str | None) -> str | None:
    """Return a digest of the benchmark that a command names, layout aside; None if it names none.

    Of a package it is of all files but `report.py`, which shows what was measured.
    """
    named = re.search(r"benchmarks\.(\w+)", command or "")
    if named is None:
        return None
    path = ROOT / "benchmarks" / named[1]
    files = sorted(path.glob("*.py")) if path.is_dir() else [path.with_suffix(".py")]
    return digest("".join(file.read_text(encoding="utf-8") for file in files if file.name != "report.py"))


def digest(code: str) -> str:
    """Return a digest of code that does not depend on its layout."""
    return hashlib.sha256("".join(code.split()).encode()).hexdigest()[:16]


def stamp(name: str, program: Any) -> None:
    """Write into a record which program it is of, and nothing else."""
    record = {"program": program, **{key: value for key, value in load(name).items() if key != "program"}}
    (FOLDER / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def alike(first: str, second: str) -> bool:
    """Return whether two fingerprints differ by rounding only, which may be another on another processor."""
    ours, theirs = (np.array(text.split(), float) for text in (first, second))
    return ours.shape == theirs.shape and np.allclose(ours, theirs, rtol=1e-3, atol=1e-6)


@cache
def fingerprint(method: str) -> str:
    """Return the best objective at some places of short runs of a method, or of SciPy's front; results change it.

    A method may have options behind it, "shade:rule=cw".
    """
    beam = ppsde.suites.get("engineering").problem("welded-beam")
    if method == FRONT:
        from scipy.optimize import Bounds, NonlinearConstraint  # not in each process of the gauntlet

        limits = NonlinearConstraint(lambda x: beam.evaluate(x[None])[1][0], -np.inf, 0)
        found = ppsde.scipy.differential_evolution(
            lambda x: beam.evaluate(x[None])[0][0], Bounds(beam.lower, beam.upper), constraints=limits, rng=1, maxiter=9
        )
        return f"{found.fun:.5g} {found.nfev}"
    small = ppsde.Problem(equalities, (LOWER, UPPER), vectorized=True)
    rugged = ppsde.suites.get("cec2006").problem("g02")
    # Differences enlarge rounding, and iterations enlarge it further: only the first ones are the same everywhere.
    name, *pairs = method.split(":")
    options = dict(pair.split("=", 1) for pair in pairs)
    budgets = (60, 60, 100) if reads_constraints(ppsde.ALGORITHMS[name]) else (500, 500, 1000)
    runs = [
        ppsde.minimize(problem, method=name, options=options, max_evaluations=budget, rng=1)
        for problem, budget in zip((small, beam, rugged), budgets, strict=True)
    ]
    return " ".join(f"{f:.5g}" for run in runs for f in run.history["f"][_places(len(run.history["f"]))])


def _places(count: int) -> list[int]:
    """Return up to six places of a history of so many rows, its last one included."""
    return sorted({(count - 1) * k // 5 for k in range(6)})


def machine(device: str = "") -> str:
    """Return where, and with which versions, this process runs."""
    found = {"Python": platform.python_version()}
    for title, package in {"NumPy": "numpy", "SciPy": "scipy", "JAX": "jax"}.items():
        try:
            found[title] = version(package)
        except PackageNotFoundError:
            continue
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cores = "1 core" if count == 1 else f"{count} cores"
    load = [f"load {os.getloadavg()[0]:.0f}"] if hasattr(os, "getloadavg") else []  # other programs take time, too
    return ", ".join([*filter(None, [device]), cores, *load, *(" ".join(pair) for pair in found.items())])


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(map(str, cells))} |\n" for cells in lines)
