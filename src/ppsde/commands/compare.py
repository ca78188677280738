"""`ppsde compare`: what got better and what got worse from one study, or version, to another."""

from __future__ import annotations

import json
from argparse import Namespace
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ..files import refuse_foreign, write_own
from . import exit_status
from .parsing import command, whole
from .text import heading, plain, print_json, printable, table


def add(group: Any) -> None:
    """Add the command to the group."""
    parser = command(
        group,
        "compare",
        "what got better or worse between two studies",
        "Compare two versions of an algorithm problem by problem: runs paired by seed,\n"
        "feasible runs first, intervals, and a correction for the number of problems.\n"
        "Versions are two stores, two plans of one store, or two algorithms of one.",
        "ppsde compare old.db new.db",
        "ppsde compare study.db --before shade --after pps-de -o changes.html",
        "ppsde compare old.db new.db --fail-on-worse --json changes.json",
    )
    parser.add_argument("old", type=Path, metavar="STORE", help="the study before, or with both versions")
    parser.add_argument("new", type=Path, nargs="?", metavar="STORE2", help="the study after")
    parser.add_argument("--before", metavar="NAME", help="the algorithm before (default: all that both have)")
    parser.add_argument("--after", metavar="NAME", help="the algorithm after")
    parser.add_argument("--plans", type=whole, nargs=2, metavar=("N", "M"), help="two plans of one store, by number")
    parser.add_argument("--level", type=float, default=0.05, metavar="P", help="of significance (default: 0.05)")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.html", help="also write a page")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the numbers there; - for standard output")
    parser.add_argument("--fail-on-worse", action="store_true", help="exit status 1 if a problem got worse")
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> int:
    """Compare; return the exit status."""
    from ..experiments import Store
    from ..reports.compare import compare_page, compared, versions

    to_stdout = arguments.json is not None and str(arguments.json) == "-"
    if arguments.output is not None:
        refuse_foreign(arguments.output, "html")
    if arguments.json is not None and not to_stdout:
        refuse_foreign(arguments.json, "json")
    with ExitStack() as stack:
        paths = [arguments.old] + ([arguments.new] if arguments.new is not None else [])
        stores = [stack.enter_context(Store(path)) for path in paths]
        plans = None if arguments.plans is None else tuple(arguments.plans)
        pairs = versions(stores, plans, arguments.before, arguments.after)
        found = [compared(*pair, arguments.level) for pair in pairs]
    data = {"ppsde": "compare", "comparisons": [one.data() for one in found]}
    if to_stdout:
        print_json(data)
    else:
        for one in found:
            _show(one)
    if arguments.json is not None and not to_stdout:
        write_own(arguments.json, json.dumps(plain(data), indent=1, allow_nan=False) + "\n", "json")
        print(f"written: {arguments.json}")
    if arguments.output is not None:
        write_own(arguments.output, compare_page(found), "html")
        if not to_stdout:
            print(f"written: {arguments.output}")
    worse = any(one.count("worse") for one in found)
    return exit_status.WORSE if worse and arguments.fail_on_worse else exit_status.FOUND


def _show(one: Any) -> None:
    from ..reports.compare import COLUMNS, VERDICTS, cells

    print(heading(printable(f"{one.before} before, {one.after} after: {one.headline}")))
    for text in (*one.facts, *one.notes):
        print(printable(text))
    for verdict in VERDICTS:
        rows = [[printable(text) for text in cells(found)] for found in one.ordered() if found.verdict == verdict]
        if rows:
            print()
            print(heading(verdict))
            print(table(COLUMNS, rows))
    print()
