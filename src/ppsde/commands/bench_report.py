"""`ppsde bench report`: what a study says, as one page, with its figures and tables as files where wanted."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from . import exit_status
from .parsing import command
from .tables import printable


def add(tasks: Any) -> None:
    """Add the command to those of `ppsde bench`."""
    task = command(
        tasks,
        "report",
        "what a study says, as one page",
        "Write a page that needs nothing else: who wins and how surely, tables, curves,\n"
        "ranks, scores, and where it all comes from. A study may be reported while it is\n"
        "still being run.",
        "ppsde bench report study.db -o report.html",
        "ppsde bench report study.db -o report.html --figures figures --tables tables",
    )
    task.add_argument("store", type=Path, metavar="STORE")
    task.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.html", help="the page to write")
    task.add_argument("--figures", type=Path, metavar="DIR", help="figures as SVG, and PDF with matplotlib")
    task.add_argument("--tables", type=Path, metavar="DIR", help="tables as CSV and LaTeX")
    task.add_argument("--plan", type=int, metavar="N", help="only the N-th plan that was run into it")
    task.set_defaults(run=report)


def report(arguments: Namespace) -> int:
    """Write the report."""
    from ..experiments import Store
    from ..reports.figures import draw, write_figures
    from ..reports.findings import find
    from ..reports.page import assemble
    from ..reports.study import gather
    from ..reports.tables import paper_table, tables, write_tables

    with Store(arguments.store) as store:
        study = gather(store, arguments.plan)
    findings = find(study)
    figures = draw(study, findings)
    found = tables(study, findings, figures)
    arguments.output.write_text(assemble(study, findings, figures, found), encoding="utf-8")
    print(printable(findings.headline))
    for text in findings.caveats:
        print(printable(text))
    print(f"written: {arguments.output}")
    if arguments.figures is not None:
        written = write_figures(figures, arguments.figures, study.algorithms)
        print(f"written: {arguments.figures}, {len(written)} figures")
    if arguments.tables is not None:
        written = write_tables(found, paper_table(study, findings), arguments.tables)
        print(f"written: {arguments.tables}, {len(written)} tables")
    return exit_status.FOUND
