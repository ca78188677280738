"""`ppsde bench export`: a study as files for other programs."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from . import exit_status
from .parsing import command


def add(tasks: Any) -> None:
    """Add the command to those of `ppsde bench`."""
    task = command(
        tasks,
        "export",
        "a study as files for other programs",
        "Write the runs of a study as result files of the CEC competitions (cec), as a\n"
        "folder for IOHanalyzer and iohinspector (ioh), or as Parquet tables (parquet,\n"
        "needs pyarrow).",
        "ppsde bench export study.db --format cec -o results",
    )
    task.add_argument("store", type=Path, metavar="STORE")
    task.add_argument("--format", required=True, metavar="F", help="cec, ioh or parquet")
    task.add_argument("-o", "--output", type=Path, required=True, metavar="DIR", help="the folder to write to")
    task.add_argument("--plan", type=int, metavar="N", help="only the N-th plan that was run into it")
    task.set_defaults(run=export)


def export(arguments: Namespace) -> int:
    """Write the files."""
    from ..experiments import Store
    from ..reports.export import export as write

    with Store(arguments.store) as store:
        written = write(store, arguments.format, arguments.output, arguments.plan)
    print(f"written: {arguments.output}, {len(written)} files")
    return exit_status.FOUND
