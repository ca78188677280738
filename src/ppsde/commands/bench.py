"""`ppsde bench export`: a study as files for other programs.

`ppsde bench report`: what a study says, as one page, with its figures and tables as files where wanted.

`ppsde bench`: run a study, see how it stands, join its parts, salvage what is damaged.
"""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from pathlib import Path
from typing import Any

from . import exit_status, watch
from .parsing import command, instance, settings_of
from .text import GAP, heading, printable, table, width


def add_export(tasks: Any) -> None:
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
    from ..reports.exports import export as write

    with Store(arguments.store) as store:
        written = write(store, arguments.format, arguments.output, arguments.plan)
    print(f"written: {arguments.output}, {len(written)} files")
    return exit_status.FOUND


def add_report(tasks: Any) -> None:
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
    from ..reports import published
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
    compared = published.section(published.comparisons(study))
    arguments.output.write_text(assemble(study, findings, figures, found, compared), encoding="utf-8")
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


FAILURES_TOLD = 10


def add(group: Any) -> None:
    """Add the commands to the group."""
    parser = command(
        group,
        "bench",
        "run studies: algorithms x problems x runs",
        "Studies: many runs of several algorithms on several problems, kept in a store\n"
        "that survives kills and can be run by several programs at once.",
        "ppsde bench run plan.toml --store study.db",
        "ppsde bench status study.db",
    )
    tasks = parser.add_subparsers(metavar="WHAT", required=True)
    _add_run(tasks)
    task = command(
        tasks,
        "status",
        "how a study stands",
        "What is done of each algorithm on each problem, what failed, who is working on\n"
        "it, and how long it will take.",
        "ppsde bench status study.db",
    )
    task.add_argument("store", type=Path, metavar="STORE")
    task.add_argument("--plan", type=int, metavar="N", help="only the N-th plan that was run into it")
    task.set_defaults(run=status)
    task = command(
        tasks,
        "merge",
        "join stores into a new one",
        "Join stores, such as the shards of a study. A run that several of them have must\n"
        "be the same in all, to the last bit.",
        "ppsde bench merge study.db shard1.db shard2.db",
    )
    task.add_argument("output", type=Path, metavar="NEW", help="the store to write")
    task.add_argument("inputs", type=Path, nargs="+", metavar="STORE", help="the stores to join")
    task.set_defaults(run=merge)
    task = command(
        tasks,
        "repair",
        "keep what is intact of a damaged store",
        "Write a sound store with everything that is intact in a damaged one, which is\n"
        "left as it is. Running the plan again does what was lost.",
        "ppsde bench repair damaged.db -o salvaged.db",
    )
    task.add_argument("store", type=Path, metavar="STORE")
    task.add_argument("-o", "--output", type=Path, required=True, metavar="NEW", help="the store to write")
    task.set_defaults(run=repair)
    add_report(tasks)
    add_export(tasks)
    watch.add(tasks)


def _add_run(tasks: Any) -> None:
    task = command(
        tasks,
        "run",
        "run a study, or go on with one",
        "Run a plan into a store: everything that is not there yet. The plan is a TOML\n"
        "file, or is stated by options; options take the place of what the file says.\n"
        "Several of these may run on one store. Ctrl-C keeps all that is finished.",
        "ppsde bench run plan.toml --store study.db",
        "ppsde bench run plan.toml --store part1.db --shard 1/4",
        "ppsde bench run --suite cec2017 --problem C01 --problem C05 --method pps-de \\\n"
        "      --dimension 10 --runs 5 --store study.db",
    )
    task.add_argument("plan", nargs="?", type=Path, metavar="PLAN.toml", help="the plan")
    task.add_argument("--store", type=Path, required=True, metavar="FILE", help="where results go; made if missing")
    task.add_argument("--method", action="append", metavar="NAME", help="an algorithm; may be repeated")
    task.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="a setting of every --method")
    task.add_argument("--suite", help="see `ppsde list suites`; all of its problems unless some are named")
    task.add_argument(
        "--problem", action="append", metavar="NAME", help="a name, SUITE:NAME or FILE.py:NAME; may be repeated"
    )
    task.add_argument("--dimension", action="append", type=int, metavar="D", help="may be repeated")
    task.add_argument("--instance", type=instance, metavar="I", help="a number, or official")
    task.add_argument("--runs", type=int, metavar="N", help="of each algorithm on each problem (default: 25)")
    task.add_argument("--budget", type=int, metavar="N", help="evaluations per run (default: the suite's)")
    task.add_argument("--budget-per-variable", type=int, metavar="N", help="evaluations per run and variable")
    task.add_argument("--seed", type=int, metavar="N", help="of the study (default: 0)")
    task.add_argument("--record", type=int, metavar="N", help="points kept along each run (default: 200)")
    task.add_argument("--engine", metavar="E", help="auto, host or compiled (default: auto)")
    task.add_argument("--device", metavar="D", help="cpu or gpu, for what is compiled (default: cpu)")
    task.add_argument(
        "--eval-timeout", type=float, metavar="S", help="kill an evaluation after S seconds (host engine)"
    )
    task.add_argument("--workers", type=int, metavar="N", help="processes (default: one per core)")
    task.add_argument("--shard", type=_shard, default=(1, 1), metavar="I/N", help="only the I-th of N parts")
    task.add_argument("--retry-failed", action="store_true", help="do failed runs again")
    task.add_argument("--quiet", action="store_true", help="show no progress")
    task.set_defaults(run=run)


def run(arguments: Namespace) -> int:
    """Run a study; the exit status says whether it is complete."""
    from ..experiments import Plan
    from ..experiments import run as run_study

    changes = _changes(arguments)
    plan = Plan.of(changes) if arguments.plan is None else Plan.read(arguments.plan, **changes)
    summary = run_study(
        plan,
        arguments.store,
        workers=arguments.workers,
        shard=arguments.shard,
        retry_failed=arguments.retry_failed,
        progress=not arguments.quiet,
    )
    failed = f", {summary.failed:,} of them failed" if summary.failed else ""
    print(f"{arguments.store}: {summary.done:,} of {summary.runs:,} runs done{failed}, {summary.seconds:.1f} s")
    if summary.interrupted:
        print("interrupted; the same command goes on")
        return exit_status.INTERRUPTED
    return exit_status.ALL_FAILED if 0 < summary.done == summary.failed else exit_status.FOUND


def _changes(arguments: Namespace) -> dict[str, Any]:
    """What the options say of the plan, in a plan's own words."""
    settings = settings_of(arguments.option)
    if settings and not arguments.method:
        raise ValueError("--option needs --method: it is a setting of the methods named there")
    stated = {
        "algorithms": arguments.method and [{"method": name, "options": settings} for name in arguments.method],
        "suite": arguments.suite,
        "problems": arguments.problem and [_from_here(text) for text in arguments.problem],
        "dimensions": arguments.dimension,
        "instance": arguments.instance,
        "runs": arguments.runs,
        "budget": arguments.budget,
        "budget_per_variable": arguments.budget_per_variable,
        "seed": arguments.seed,
        "record": arguments.record,
        "engine": arguments.engine,
        "device": arguments.device,
        "eval_timeout": arguments.eval_timeout,
    }
    changes = {name: value for name, value in stated.items() if value is not None}
    if "budget" in changes or "budget_per_variable" in changes:  # one takes the place of the other
        changes = {"budget": None, "budget_per_variable": None, **changes}
    if "suite" in changes and "problems" not in changes:
        changes["problems"] = None
    return changes


def _from_here(text: str) -> str:
    """Files named on the command line are sought from the current folder, whatever the plan's is."""
    place, colon, name = text.rpartition(":")
    return f"{Path(place).absolute()}:{name}" if colon and place.endswith(".py") else text


def _shard(text: str) -> tuple[int, int]:
    try:
        part, parts = map(int, text.split("/"))
    except ValueError:
        raise ArgumentTypeError(f"expected I/N, such as 2/4; got {text!r}") from None
    return part, parts


def status(arguments: Namespace) -> int:
    """Show how a study stands."""
    from ..experiments import Store
    from ..experiments.database import StoreError
    from ..experiments.store import status_of
    from ..progress import clock

    with Store(arguments.store) as store:
        store.check_count()
        plans = len(store.plans())
        chosen = arguments.plan
        try:
            found = status_of(store, chosen)
        except StoreError:
            if chosen is not None or plans < 2:
                raise
            chosen = plans  # plans that mean different things by one label: the last one is what is being done
            found = status_of(store, chosen)
    cells = found.cells
    done, wanted, failed = (sum(getattr(cell, name) for cell in cells) for name in ("done", "wanted", "failed"))
    of_plan = f", plan {chosen} of {plans}" if chosen is not None else ""
    print(heading(f"{printable(str(arguments.store))}{of_plan}: {done:,} of {wanted:,} runs done, {failed:,} failed"))
    if found.runners:
        running = sum(cell.running for cell in cells)
        print(f"{found.runners} at work on it, {running:,} jobs in progress")
    elif done < wanted:
        print("no one is working on it; `ppsde bench run` goes on")
    if found.rate is not None and found.seconds_left is not None:
        print(f"{found.rate:,.0f} evaluations/s, {clock(found.seconds_left)} left")
    print("\n".join(_grid(cells)))
    if found.failures:
        print(heading("\nfailed"))
        for failure in found.failures[:FAILURES_TOLD]:
            print(printable(str(failure)))
        if len(found.failures) > FAILURES_TOLD:
            print(f"and {len(found.failures) - FAILURES_TOLD:,} more")
    return exit_status.FOUND


def _grid(cells: Any) -> list[str]:
    """Algorithms x problems, as many columns beside each other as fit."""
    algorithms = list(dict.fromkeys(cell.algorithm for cell in cells))
    rows = list(dict.fromkeys((cell.dimension, cell.problem) for cell in cells))
    text = {(cell.algorithm, cell.dimension, cell.problem): _cell(cell) for cell in cells}
    lines: list[str] = []
    while algorithms:
        shown = algorithms[:1]
        for more in algorithms[1:]:
            if _width([*shown, more], rows, text) > width():
                break
            shown.append(more)
        algorithms = algorithms[len(shown) :]
        body = [(str(d), printable(name), *(text.get((label, d, name), "") for label in shown)) for d, name in rows]
        lines += ["", table(("D", "problem", *map(printable, shown)), body)]
    return lines


def _width(shown: Any, rows: Any, text: Any) -> int:
    columns = [max(len(label), *(len(text.get((label, d, name), "")) for d, name in rows)) for label in shown]
    return 4 + max(len(name) for _, name in rows) + sum(columns) + len(GAP) * (len(columns) + 1)


def _cell(cell: Any) -> str:
    failed = f", {cell.failed} failed" if cell.failed else ""
    return f"{cell.done}/{cell.wanted}{failed}{' running' if cell.running else ''}"


def merge(arguments: Namespace) -> int:
    """Join stores."""
    from ..experiments.repair import merge as join

    brought = join(arguments.output, arguments.inputs)
    for path, rows in zip(arguments.inputs, brought, strict=True):
        print(f"{path}: {rows:,} runs")
    print(f"written: {arguments.output}, {sum(brought):,} runs")
    return exit_status.FOUND


def repair(arguments: Namespace) -> int:
    """Salvage what is intact."""
    from ..experiments.repair import repair as salvage

    found = salvage(arguments.store, arguments.output)
    print("damage found:" if found.damages else "no damage found")
    for text in found.damages[:FAILURES_TOLD]:
        print(f"  {printable(text)}")
    print(f"written: {arguments.output}, {found.rows:,} runs of {found.jobs:,} jobs, {found.plans:,} plans")
    if found.unknown:
        print(f"{found.unknown:,} runs are of jobs that are lost; running their plan into it makes them known again")
    return exit_status.FOUND
