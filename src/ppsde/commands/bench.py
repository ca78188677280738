"""`ppsde bench`: run a study, join stores, repair one, report or export its results. Status and watch: watch.py."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentTypeError, Namespace
from pathlib import Path
from typing import Any

from ..files import refuse_foreign, write_own
from . import exit_status, watch
from .parsing import Renamed, add_seed, add_several, again, command, instance, settings_of, whole
from .text import printable

DAMAGES_SHOWN = 10


def add(group: Any) -> None:
    """Add the commands to the group."""
    parser = command(
        group,
        "bench",
        "run studies: algorithms x problems x runs",
        "Studies: many runs of several algorithms on several problems. Their results are\n"
        "in a store, which survives kills and can be used by several programs at once.",
        "ppsde bench run plan.toml --store study.db",
        "ppsde bench status study.db",
    )
    tasks = parser.add_subparsers(metavar="WHAT", required=True)
    _add_run(tasks)
    watch.add_status(tasks)
    task = command(
        tasks,
        "merge",
        "join stores into a new one",
        "Join stores, such as the shards of a study. A run that several of them have must\n"
        "be equal in all, to the last bit.",
        "ppsde bench merge study.db shard1.db shard2.db",
    )
    task.add_argument("output", type=Path, metavar="NEW", help="the store to write")
    task.add_argument("inputs", type=Path, nargs="+", metavar="STORE", help="the stores to join")
    task.set_defaults(run=merge)
    task = command(
        tasks,
        "repair",
        "save what is intact in a damaged store",
        "Write a new store with everything that is intact in a damaged one, which is not\n"
        "changed. Running the plan again makes the lost runs.",
        "ppsde bench repair damaged.db -o repaired.db",
    )
    task.add_argument("store", type=Path, metavar="STORE")
    task.add_argument("-o", "--output", type=Path, required=True, metavar="NEW", help="the store to write")
    task.set_defaults(run=repair)
    add_report(tasks)
    add_export(tasks)
    watch.add_watch(tasks)


def _add_run(tasks: Any) -> None:
    task = command(
        tasks,
        "run",
        "run a study, or resume one",
        "Run a plan into a store: all runs that are not there yet. The plan is a TOML\n"
        "file, or is given by options; options replace what the file says. Several of\n"
        "these may run on one store. After Ctrl-C all finished runs are in the store.",
        "ppsde bench run plan.toml --store study.db",
        "ppsde bench run plan.toml --store part1.db --shard 1/4",
        "ppsde bench run plan.toml --store study.db --dask tcp://node1:8786",
        "ppsde bench run --suite cec2017 --problem C01 --problem C05 --method pps-de \\\n"
        "      --dimension 10 --runs 5 --store study.db",
    )
    task.add_argument("plan", nargs="?", type=Path, metavar="PLAN.toml", help="the plan")
    task.add_argument("--store", type=Path, required=True, metavar="FILE", help="where results go; made if missing")
    add_several(task, "--method", "--methods", "an algorithm", "NAME")
    task.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="a setting of every --method")
    task.add_argument("--suite", help="see `ppsde list suites`; all of its problems unless some are named")
    add_several(task, "--problem", "--problems", "a name, SUITE:NAME or FILE.py:NAME", "NAME")
    add_several(task, "--dimension", "--dimensions", "number of variables", "D", whole)
    task.add_argument("--instance", type=instance, metavar="I", help="a number, or official")
    task.add_argument("--runs", type=whole, metavar="N", help="of each algorithm on each problem (default: 25)")
    task.add_argument("--budget", type=whole, metavar="N", help="evaluations per run (default: the suite's)")
    task.add_argument("--max-evaluations", action=Renamed, dest="budget", type=whole, help=SUPPRESS)
    task.add_argument("--budget-per-variable", type=whole, metavar="N", help="evaluations per run and variable")
    add_seed(task, "of the study (default: 0)")
    task.add_argument("--record", type=whole, metavar="N", help="points recorded along each run (default: 200)")
    task.add_argument("--engine", metavar="E", help="auto, host or compiled (default: auto)")
    task.add_argument("--device", metavar="D", help="cpu or gpu, for the compiled engine (default: cpu)")
    task.add_argument(
        "--eval-timeout", type=float, metavar="S", help="kill an evaluation after S seconds (host engine)"
    )
    task.add_argument("--workers", type=whole, metavar="N", help="processes (default: one per core)")
    task.add_argument("--dask", metavar="ADDRESS", help="do the jobs on a Dask cluster: tcp://HOST:PORT, or local")
    task.add_argument("--shard", type=_shard, default=(1, 1), metavar="I/N", help="only the I-th of N parts")
    task.add_argument("--retry-failed", action="store_true", help="repeat failed runs")
    task.add_argument("--quiet", action="store_true", help="show no progress")
    task.set_defaults(run=run)


def run(arguments: Namespace) -> int:
    """Run a study; return the exit status, which says whether it is complete."""
    from ..experiments import Plan
    from ..experiments import run as run_study

    changes = _changes(arguments)
    plan = Plan.of(changes) if arguments.plan is None else Plan.read(arguments.plan, **changes)
    summary = run_study(
        plan,
        arguments.store,
        workers=arguments.workers,
        dask=arguments.dask,
        shard=arguments.shard,
        retry_failed=arguments.retry_failed,
        progress=not arguments.quiet,
    )
    failed = f", {summary.failed:,} of them failed" if summary.failed else ""
    print(f"{arguments.store}: {summary.done:,} of {summary.runs:,} runs done{failed}, {summary.seconds:.1f} s")
    if summary.interrupted:
        print(f"interrupted; to resume: {again(arguments)}")
        return exit_status.INTERRUPTED
    return exit_status.ALL_FAILED if 0 < summary.done == summary.failed else exit_status.FOUND


def _changes(arguments: Namespace) -> dict[str, Any]:
    """Return the keys of a plan that the options give."""
    settings = settings_of(arguments.option)
    if isinstance(settings.get("rule"), str):
        settings["rule"] = _from_here(settings["rule"])
    if settings and not arguments.method:
        raise ValueError("--option needs --method: it is a setting of the methods named there")
    given = {
        "algorithms": arguments.method and [{"method": _from_here(m), "options": settings} for m in arguments.method],
        "suite": arguments.suite and _from_here(arguments.suite),
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
    changes = {name: value for name, value in given.items() if value is not None}
    if "budget" in changes or "budget_per_variable" in changes:  # one replaces the other
        changes = {"budget": None, "budget_per_variable": None, **changes}
    if "suite" in changes and "problems" not in changes:
        changes["problems"] = None
    return changes


def _from_here(text: str) -> str:
    """Return FILE.py:NAME with the file relative to the current folder, not to the folder of the plan."""
    file, found, name = text.partition(".py:")
    return f"{Path(file).absolute()}.py:{name}" if found else text


def _shard(text: str) -> tuple[int, int]:
    try:
        part, parts = map(int, text.split("/"))
    except ValueError:
        raise ArgumentTypeError(f"expected I/N, such as 2/4; got {text!r}") from None
    return part, parts


def merge(arguments: Namespace) -> int:
    """Join stores into a new one."""
    from ..experiments.repair import merge as join

    brought = join(arguments.output, arguments.inputs)
    for path, rows in zip(arguments.inputs, brought, strict=True):
        print(f"{path}: {rows:,} runs")
    print(f"written: {arguments.output}, {sum(brought):,} runs")
    return exit_status.FOUND


def repair(arguments: Namespace) -> int:
    """Write what is intact in a damaged store to a new one."""
    from ..experiments.repair import repair as repaired

    found = repaired(arguments.store, arguments.output)
    print("damage found:" if found.damages else "no damage found")
    for text in found.damages[:DAMAGES_SHOWN]:
        print(f"  {printable(text)}")
    print(f"written: {arguments.output}, {found.rows:,} runs of {found.jobs:,} jobs, {found.plans:,} plans")
    if found.unknown:
        print(f"{found.unknown:,} runs are of jobs that are lost; running their plan into it brings the jobs back")
    return exit_status.FOUND


# --- report and export ----------------------------------------------------------------------------------------------


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
    task.add_argument("--plan", type=whole, metavar="N", help="only the N-th plan that was run into it")
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
        "the results of a study as one page",
        "Write a page that needs no other file: who wins and how surely, tables, curves,\n"
        "ranks, scores, our means beside the published ones, and the provenance of it\n"
        "all. A study may be reported while it is still running.",
        "ppsde bench report study.db",
        "ppsde bench report study.db -o report.html --figures figures --tables tables",
    )
    task.add_argument("store", type=Path, metavar="STORE")
    task.add_argument("-o", "--output", type=Path, metavar="FILE.html", help="the page (default: STORE.html)")
    task.add_argument("--title", metavar="TEXT", help="of the page (default: made of the algorithms and problems)")
    task.add_argument(
        "--reference", metavar="NAME", help="the algorithm that others are marked against (default: the best ranked)"
    )
    task.add_argument("--figures", type=Path, metavar="DIR", help="figures as SVG, and PDF with matplotlib")
    task.add_argument("--tables", type=Path, metavar="DIR", help="tables as CSV and LaTeX")
    task.add_argument("--plan", type=whole, metavar="N", help="only the N-th plan that was run into it")
    task.set_defaults(run=report)


def report(arguments: Namespace) -> int:
    """Write the report."""
    from ..experiments import Store
    from ..reports import published
    from ..reports.figures import draw, write_figures
    from ..reports.findings import find
    from ..reports.page import assemble
    from ..reports.study import gather
    from ..reports.tables import paper_tables, tables, write_tables

    output = arguments.output or arguments.store.with_suffix(".html")
    if arguments.output is None and output == arguments.store:
        raise ValueError(f"the store is called {arguments.store}; give -o, the page to write")
    refuse_foreign(output, "html")
    with Store(arguments.store) as store:
        study = gather(store, arguments.plan, arguments.title)
    findings = find(study, arguments.reference)
    figures = draw(study, findings)
    found = tables(study, findings, figures)
    compared = published.section(published.comparisons(study))
    write_own(output, assemble(study, findings, figures, found, compared), "html")
    print(printable(findings.headline))
    for text in findings.caveats:
        print(printable(text))
    print(f"written: {output}")
    if arguments.figures is not None:
        written = write_figures(figures, arguments.figures, study.algorithms)
        print(f"written: {arguments.figures}, {len(written)} figures")
    if arguments.tables is not None:
        written = write_tables(found, paper_tables(study, findings), arguments.tables)
        print(f"written: {arguments.tables}, {len(written)} tables")
    return exit_status.FOUND
