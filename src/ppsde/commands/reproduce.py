"""`ppsde reproduce`: the published experiment run again, beside its printed table."""

from __future__ import annotations

import argparse
import platform
import sys
import time
from argparse import Namespace
from pathlib import Path
from typing import Any

from .exit_status import FOUND
from .parsing import command, instance
from .text import heading, table


def add(group: Any) -> None:
    """Add the command to the group."""
    parser = command(
        group,
        "reproduce",
        "run the published experiment again and compare",
        "Run the published comparison (28 problems, 25 runs, 20000 D evaluations) with one\n"
        "or more methods, print our means beside the published ones with feasibility, and\n"
        "write a CSV file and a page. It needs JAX, and the official CEC2017 data unless\n"
        "another --instance is named. On a laptop D = 10 takes minutes, on a GPU all three\n"
        "dimensions take less than one.",
        "ppsde reproduce --dimensions 10",
        "ppsde reproduce --method all --dimensions 10,30 --report original --device gpu",
    )
    parser.add_argument("--dimensions", type=numbers, default=(10, 30, 50), metavar="D,..", help="default: 10,30,50")
    parser.add_argument("--runs", type=int, default=25, metavar="N", help="default: %(default)s")
    parser.add_argument("--method", default="pps-de", metavar="NAME,..", help="default: %(default)s; or all")
    parser.add_argument("--problems", metavar="C01,..", help="default: all 28")
    parser.add_argument(
        "--evaluations", type=int, default=20_000, metavar="N", help="per run and variable (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="default: %(default)s")
    parser.add_argument("--instance", type=instance, default="official", metavar="I", help="default: %(default)s")
    parser.add_argument(
        "--report",
        choices=("best", "original"),
        default="best",
        help="the best point ever evaluated, or what the original program reports (default: %(default)s)",
    )
    parser.add_argument("--device", choices=("cpu", "gpu"), help="default: the one JAX prefers")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("reproduce"), metavar="DIR", help="default: %(default)s"
    )
    parser.set_defaults(run=reproduce)


def numbers(text: str) -> tuple[int, ...]:
    """Whole numbers with commas between."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected numbers such as 10,30; got {text!r}") from None


def reproduce(arguments: Namespace) -> int:
    from ..algorithms import ALGORITHMS
    from ..reproduction.running import COLUMN_OF, Experiment, run
    from ..reproduction.text import HEADERS, as_csv, line, total_lines

    began = time.perf_counter()
    every = [name for name in COLUMN_OF if name in ALGORITHMS]
    chosen: dict[str, Any] = {"problems": arguments.problems.split(",")} if arguments.problems else {}
    experiment = Experiment(
        methods=every if arguments.method == "all" else arguments.method.split(","),
        dimensions=arguments.dimensions,
        runs=arguments.runs,
        evaluations_per_variable=arguments.evaluations,
        seed=arguments.seed,
        instance=arguments.instance,
        report=arguments.report,
        device=arguments.device,
        **chosen,
    )
    arguments.output.mkdir(parents=True, exist_ok=True)
    for outcome in run(experiment, say=lambda text: print(text, file=sys.stderr, flush=True)):
        rows = outcome.latest
        print(heading(f"\n{rows[0].method} beside {rows[0].column}, D = {rows[0].dimension}"))
        print(table(HEADERS, [line(row) for row in rows], right=" ".join(HEADERS[1:8])), flush=True)
        _write(arguments.output / "reproduce.csv", as_csv(outcome.rows))  # after each block: an interrupt loses little
        _write_page(arguments, outcome)
    seconds = time.perf_counter() - began
    print()
    print("\n".join(total_lines(outcome.rows)))
    rate = outcome.evaluations / max(outcome.run_seconds, 1e-9) / 1e6
    print(
        f"{outcome.evaluations:,} evaluations in {seconds:.1f} s: {outcome.compile_seconds:.1f} s to compile, "
        f"{outcome.run_seconds:.1f} s to run ({rate:.3g} million per second)"
    )
    print(f"written: {arguments.output / 'reproduce.csv'}, {arguments.output / 'reproduce.html'}")
    return FOUND


def _write_page(arguments: Namespace, outcome: Any) -> None:
    from .. import __version__
    from ..engines.compiled import device_of
    from ..reproduction.page import page

    experiment = outcome.experiment
    provenance = {
        "command": " ".join(["ppsde", *sys.argv[1:]]),
        "versions": f"ppsde {__version__}, Python {platform.python_version()}",
        "device": str(getattr(device_of(arguments.device), "device_kind", arguments.device)),
        "runs": f"{experiment.runs} per cell, {experiment.evaluations_per_variable} evaluations per variable, "
        f"seed {experiment.seed}, instance {experiment.instance}",
        "reported": "the best point ever evaluated" if experiment.report == "best" else "as the original program does",
        "seconds": f"{outcome.compile_seconds:.1f} to compile, {outcome.run_seconds:.1f} to run",
    }
    _write(arguments.output / "reproduce.html", page(outcome.rows, provenance))


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
