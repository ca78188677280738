"""Compare methods of this library and installed peers on open suites; see `--help`."""

from __future__ import annotations

import argparse
import inspect
import os
import re
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures.process import BrokenProcessPool
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import ppsde

from ..records import save
from .peers import PEERS
from .problems import suite_of
from .report import HEAD, Study, draw, harm_table, lines_of, losses_table, medians_table, stopping_table, table
from .runs import Job, complete, method_of, stored

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
SUITES = ("cec2006", "engineering", "cec2017", "generated")
EXAMPLES = """
examples:
  python -m benchmarks.quality                               the default method and all peers, both fixed suites
  python -m benchmarks.quality --budgets 100 --seeds 3 --methods pps-de emag-es --peers slsqp
  python -m benchmarks.quality --methods pps-de pps-de:patience=60 --peers --losses pps-de
  python -m benchmarks.quality --suites cec2006 --only 'g0[1-4]' --figure shares.svg
  python -m benchmarks.quality --suites cec2017 --dimension 10 --instance 3 --budgets 1000
  python -m benchmarks.quality --budgets 1000 30000 --peers --compiled 10000   large budgets in a tenth of the time
  python -m benchmarks.quality --noise 1e-6 --budgets 100 --write      the record `noise-100` of the documents
  python -m benchmarks.quality --suites generated --instance 2 3 4 5   the generated problems that are set aside
  python -m benchmarks.quality --report                      tables of what is stored so far; nothing is run

The file of results identifies runs by names, budgets and seeds: after a change of a method use a new file, or copy
the lines of the peers into it.
"""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: error: {message}", file=sys.stderr)
        raise SystemExit(2)


def parser() -> Parser:
    made = Parser(
        prog="python -m benchmarks.quality",
        description="Compare methods of ppsde and installed peers on open suites of constrained problems. Every run is "
        "a line of a file, so a killed run goes on where it stopped.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = made.add_argument
    default = inspect.signature(ppsde.minimize).parameters["method"].default
    add(
        "--suites", nargs="+", default=list(SUITES[:2]), metavar="SUITE", help=f"of {', '.join(SUITES)} (the first two)"
    )
    add(
        "--budgets",
        nargs="+",
        type=int,
        default=[100, 1000, 10000],
        metavar="N",
        help="evaluations per variable (default 100 1000 10000)",
    )
    add("--seeds", type=int, default=10, metavar="N", help="runs with seeds 1 to N (default %(default)s)")
    add(
        "--methods",
        nargs="*",
        default=[default],
        metavar="NAME",
        help=f"names of ppsde.ALGORITHMS, with options as NAME:key=value:key=value (default {default})",
    )
    add("--peers", nargs="*", metavar="NAME", help=f"of {', '.join(PEERS)} (default: those that are installed)")
    add("--only", metavar="REGEX", help="problems whose name matches")
    add("--dimension", type=int, default=10, metavar="D", help="of cec2017 (default %(default)s)")
    add("--instance", nargs="+", type=int, default=[1], metavar="N", help="of cec2017 and generated (default 1)")
    add(
        "--noise", type=float, default=0.0, metavar="SIZE", help="relative noise on f, fixed by the point, such as 1e-6"
    )
    add("--staircase", action="store_true", help="f rounded down to multiples of 1e-3 max(1, |best known|)")
    add("--stopping", action="store_true", help="also run the methods with their own stopping rule")
    add(
        "--compiled",
        type=int,
        metavar="N",
        help="make the runs of the methods with N or more evaluations per variable as compiled programs: other random "
        "numbers, and much faster where budgets are large; peers run as ever",
    )
    add("--workers", type=int, default=os.cpu_count() or 1, metavar="N", help="processes (default: one per core)")
    add("-o", "--output", type=Path, default=Path("quality.jsonl"), metavar="FILE", help="default %(default)s")
    add("--report", action="store_true", help="run nothing; report the runs of this command that are stored")
    add("--table", type=Path, metavar="FILE", help="write the tables to this file too")
    add("--figure", type=Path, metavar="FILE", help="draw shares over budgets, as .svg, .pdf or .png")
    add(
        "--write",
        action="store_true",
        help="store the lines of each budget in a record of the documents: quality-N, noise-N, staircase-N or, of "
        "generated problems alone, generated-N",
    )
    add("--medians", action="store_true", help="add a table of the median errors per problem")
    add("--losses", action="append", default=[], metavar="NAME", help="list where this solver fails; may be repeated")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    asked_by = parser()
    asked = asked_by.parse_args(arguments)
    try:
        jobs = jobs_of(asked)
        if asked.write and asked.noise and asked.staircase:
            raise ValueError("write must not be given with both noise and staircase: a record has one of them")
        if asked.write and "generated" in asked.suites and (len(asked.suites) > 1 or asked.noise or asked.staircase):
            raise ValueError("write with the suite generated needs this suite alone, without noise and staircase")
        check_outputs(asked, jobs)
        if asked.report:
            found = stored(asked.output)
            rows = {job: found[job] for job in jobs if job in found}
        else:
            rows = complete(asked.output, jobs, asked.workers)
    except (ValueError, OSError) as error:
        asked_by.error(str(error))
    except BrokenProcessPool:
        print(f"a process died; the same command goes on from {asked.output}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"interrupted; the same command goes on from {asked.output}", file=sys.stderr)
        return 130
    if not rows:
        asked_by.error(f"{asked.output} has none of these runs")
    study = Study(rows)
    parts = [table(study), harm_table(study), stopping_table(study)]
    parts += [medians_table(study)] if asked.medians else []
    parts += [losses_table(study, solver) for solver in asked.losses]
    text = "\n\n".join(filter(None, parts))
    print(text)
    if asked.table:
        asked.table.write_text(text + "\n")
    if asked.write:
        command = command_of(sys.argv[1:] if arguments is None else arguments)
        methods = dict.fromkeys(name.partition(":")[0] for name in asked.methods)
        plain = "generated" if asked.suites == ["generated"] else "quality"
        kind = "noise" if asked.noise else "staircase" if asked.staircase else plain
        for multiple in study.multiples:
            lines = [line[: len(HEAD)] for line in lines_of(study) if line[1] == f"{multiple} D"]
            save(f"{kind}-{multiple}", lines, command=command, methods=methods)
    if asked.figure:
        draw(study, asked.figure)
    return 0


def command_of(arguments: Sequence[str]) -> str:
    """Return the command for a document, without the file of results."""
    text = " ".join(["python -m benchmarks.quality", *arguments])
    return re.sub(r" (?:-o|--output)[ =]?\S+", "", text)


def jobs_of(asked: argparse.Namespace) -> list[Job]:
    """Return the runs that are asked for, small budgets first; ValueError if a name or number is wrong."""
    solvers = [(name, stopping) for name in asked.methods for stopping in (False, True)[: 1 + asked.stopping]]
    for name in asked.methods:
        method_of(name)
    solvers += [(name, False) for name in peers_of(asked.peers)]
    if not solvers:
        raise ValueError("there is nothing to run: no method and no peer")
    if asked.compiled is not None and asked.compiled < 1:
        raise ValueError(f"--compiled must be at least 1; got {asked.compiled}")
    if asked.compiled is not None and (asked.noise or asked.staircase):
        raise ValueError("--compiled must not be given with --noise or --staircase, which are not array code for JAX")
    if asked.staircase and "cec2017" in asked.suites:
        raise ValueError("--staircase needs best known values, which instances of cec2017 do not have")
    for name in ("seeds", "workers", "dimension"):
        if getattr(asked, name) < 1:
            raise ValueError(f"--{name} must be at least 1; got {getattr(asked, name)}")
    if min(asked.budgets) < 1:
        raise ValueError(f"--budgets must be at least 1; got {min(asked.budgets)}")
    if not 0 <= asked.noise < 1:
        raise ValueError(f"--noise must be in [0, 1); got {asked.noise}")
    problems = list(problems_of(asked))
    return [
        Job(
            *(suite, problem, dimension, instance, asked.noise, asked.staircase, multiple, solver, stopping, seed),
            compiled=asked.compiled is not None and multiple >= asked.compiled and solver not in PEERS,
        )
        for multiple in sorted(set(asked.budgets))
        for seed in range(1, asked.seeds + 1)
        for suite, problem, dimension, instance in problems
        for solver, stopping in dict.fromkeys(solvers)
    ]


def problems_of(asked: argparse.Namespace) -> Iterable[tuple[str, str, int | None, int | None]]:
    """Return suite, name, dimension and instance of each problem."""
    try:
        wanted = re.compile(asked.only or "")
    except re.error as error:
        raise ValueError(f"--only: {asked.only!r} is not a regular expression: {error}") from None
    numbered = {"cec2017": asked.dimension, "generated": None}  # suites with instances, and the dimension to choose
    found = [
        (suite, name, numbered.get(suite), instance)
        for suite in dict.fromkeys(asked.suites)
        for instance in (dict.fromkeys(asked.instance) if suite in numbered else [None])
        for name in suite_of(suite).names
        if wanted.search(name)
    ]
    if not found:
        raise ValueError(f"--only: no problem matches {asked.only!r}")
    return found


def peers_of(names: Sequence[str] | None) -> list[str]:
    """Return the peers asked for that are installed, all of them by default; those left out are named."""
    for name in names or ():
        if name not in PEERS:
            raise ValueError(f"unknown peer {name!r}; expected one of {', '.join(PEERS)}")
    wanted = list(PEERS if names is None else names)
    for name in wanted:
        if not PEERS[name].installed():
            print(f"{name} is left out: {PEERS[name].package} is not installed", file=sys.stderr)
    return [name for name in wanted if PEERS[name].installed()]


def check_outputs(asked: argparse.Namespace, jobs: Sequence[Job]) -> None:
    """Raise ValueError, before anything is run, if a figure or a list that is asked for is not possible."""
    labels = list(dict.fromkeys(job.label for job in jobs))
    for name in asked.losses:
        if name not in labels:
            raise ValueError(f"--losses: {name!r} is not run; expected one of {', '.join(labels)}")
    if asked.figure and find_spec("matplotlib") is None:
        raise ValueError("--figure needs matplotlib: pip install 'ppsde[report]'")
    for path in (asked.output, asked.table, asked.figure):
        if path and not path.absolute().parent.is_dir():
            raise ValueError(f"there is no folder {path.parent}")


if __name__ == "__main__":
    if any(os.environ.get(variable) != value for variable, value in ONE_THREAD.items()):
        # NumPy reads these when it is loaded. With more threads it is no faster here, and last bits differ.
        os.execve(sys.executable, sys.orig_argv, os.environ | ONE_THREAD)
    sys.exit(main())
