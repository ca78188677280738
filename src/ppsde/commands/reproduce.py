"""`ppsde reproduce`: the published experiment, or a competition, as a study beside the printed results."""

from __future__ import annotations

from argparse import SUPPRESS, Namespace
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ..files import refuse_foreign, write_own
from .exit_status import FOUND, INTERRUPTED
from .parsing import Renamed, Several, add_seed, add_several, again, command, instance, whole
from .text import heading, table

if TYPE_CHECKING:
    from ..experiments import Plan
    from ..reports.study import Study


def add(group: Any) -> None:
    """Add the command to the group."""
    parser = command(
        group,
        "reproduce",
        "run the published experiment again and compare",
        "Run the published comparison (28 problems, 25 runs, 20000 D evaluations) with one\n"
        "or more methods into a store, print our means beside the published ones with\n"
        "feasibility, and write a CSV file and a page. After Ctrl-C or a kill the same\n"
        "command resumes. It needs JAX, and the official CEC2017 data unless another\n"
        "--instance is named. On a laptop D = 10 takes minutes, on a GPU all three\n"
        "dimensions take less than one.\n"
        "With --competition a competition is rerun instead, by default with all methods:\n"
        "cec2026 (28 problems, D = 30, U-score and accuracy and speed) or cec2020rw (57\n"
        "real-world problems, their own budgets and score, beside the eight entries).",
        "ppsde reproduce --dimension 10",
        "ppsde reproduce --method all --dimension 10,30 --report original",
        "ppsde reproduce --competition cec2026 --device gpu -o cec2026",
        "ppsde reproduce --competition cec2020rw --method sass,colshade,pps-sqp -o cec2020rw",
        "ppsde reproduce --competition cec2026 --device gpu --from a.db,b.db -o cec2026",
    )
    parser.add_argument("--competition", choices=("cec2026", "cec2020rw"), help="rerun a competition")
    several = partial(add_several, parser)
    several("--method", "--methods", "default: pps-de, all in a competition", "NAME")
    several("--problem", "--problems", "default: all", "C01")
    several("--dimension", "--dimensions", "default: all three, 30 in cec2026", "D", whole)
    parser.add_argument("--runs", type=whole, default=25, metavar="N", help="default: %(default)s")
    parser.add_argument(
        "--budget-per-variable", type=whole, metavar="N", help="evaluations (default: 20000, or the suite's)"
    )
    parser.add_argument("--evaluations", action=Renamed, dest="budget_per_variable", type=whole, help=SUPPRESS)
    parser.add_argument(
        "--record", type=whole, default=200, metavar="N", help="points recorded per run of a competition (default: 200)"
    )
    add_seed(parser, "of the study (default: 0)")
    parser.add_argument("--instance", type=instance, metavar="I", help="of the CEC2017 problems (default: official)")
    parser.add_argument(
        "--report",
        choices=("best", "original"),
        default="best",
        help="the best point ever evaluated, or that of the original program (default: %(default)s)",
    )
    parser.add_argument("--device", choices=("cpu", "gpu"), help="default: the one JAX prefers")
    parser.add_argument("--workers", type=whole, metavar="N", help="threads on a CPU (default: one per core)")
    parser.add_argument("--store", type=Path, metavar="FILE", help="where results go (default: DIR/reproduce.db)")
    parser.add_argument(
        "--from",
        action="extend",
        type=Several(Path),
        dest="stores",
        metavar="STORE",
        help="run nothing, compare what these stores have; may be repeated",
    )
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("reproduce"), metavar="DIR", help="default: %(default)s"
    )
    parser.set_defaults(run=reproduce)


def reproduce(arguments: Namespace) -> int:
    """Run what is missing, then compare; the exit status says whether all runs are done."""
    from ..experiments import Store, run
    from ..reports.study import gather

    plan = competition_plan(arguments) if arguments.competition else published_plan(arguments)
    if arguments.stores:
        for name in ("store", "workers"):
            if getattr(arguments, name) is not None:
                raise ValueError(f"{name} must not be given with --from: nothing is run")
    arguments.output.mkdir(parents=True, exist_ok=True)
    for kind in ("csv", "html"):
        refuse_foreign(arguments.output / f"reproduce.{kind}", kind)
    seconds = None
    if arguments.stores:
        study = _joined(plan, arguments.stores)
        print(f"{', '.join(map(str, arguments.stores))}: {study.runs:,} of {study.wanted:,} runs")
    else:
        path = arguments.store or arguments.output / "reproduce.db"
        summary = run(plan, path, workers=arguments.workers, progress=True)
        seconds = summary.seconds
        print(f"{path}: {summary.done:,} of {summary.runs:,} runs done, {seconds:.1f} s")
        if summary.interrupted:
            print(f"interrupted; to resume: {again(arguments)}")
            return INTERRUPTED
        with Store(path) as store:
            study = gather(store, summary.plan)
    if arguments.competition:
        texts = _competition(arguments.competition, study, seconds)
    else:
        texts = _published(arguments.report, study)
    files = {arguments.output / f"reproduce.{kind}": text for kind, text in texts.items()}
    for file, text in files.items():
        write_own(file, text, file.suffix[1:])
    print("written:", ", ".join(map(str, files)))
    return FOUND


def _joined(plan: Plan, stores: Sequence[Path]) -> Study:
    """Return the study of a plan with the runs of it that stores have."""
    from ..experiments import Store
    from ..experiments.plan import expanded
    from ..experiments.repair import merge
    from ..reports.study import gather

    with TemporaryDirectory() as folder:
        path = Path(folder) / "joined.db"
        merge(path, stores)
        with Store(path, writable=True) as store:
            number = store.add_plan(plan.as_data(), [(one.label, one.job) for one in expanded(plan)])
            study = gather(store, number)
    if not study.runs:
        raise ValueError(
            f"no run of {', '.join(map(str, stores))} is of this plan, on device {plan.device!r} with {plan.record} "
            f"points recorded and seed {plan.seed}"
        )
    return study


def _published(report: str, study: Study) -> dict[str, str]:
    """Print our means beside the published ones; return the CSV file and the page."""
    from ..reports import published
    from ..reports.page import page

    cells = published.comparisons(study, report, any_experiment=True)
    for title, block in published.blocks(cells).items():
        print(heading(f"\n{title}"))
        lines = [published.line(cell) for cell in block]
        print(table(published.HEADERS, lines, right=" ".join(published.HEADERS[1:8])))
    print("", *published.total_lines(cells), sep="\n")
    return {"csv": published.as_csv(cells), "html": page(study, compared=published.section(cells, report))}


def _competition(name: str, study: Study, seconds: float | None) -> dict[str, str]:
    """Print the tables of a competition, but for the long one; return the CSV file and the page."""
    from ..reports.competitions import rerun
    from ..reports.findings import find
    from ..reports.page import page

    findings = find(study)
    found = rerun(name, study, findings)
    if seconds is not None:
        found = replace(found, lines=[*found.lines, f"{seconds:.0f} s in this call"])
    for each in (one for kind, one in found.tables.items() if kind != "problems"):
        print(heading(f"\n{each.title}"))
        lines = [[f"{value:.5g}" if isinstance(value, float) else str(value) for value in row] for row in each.rows]
        print(table(each.columns, lines))
    print("", *found.lines, sep="\n")
    return {"csv": found.as_csv(), "html": page(study, compared=found.section(), findings=findings)}


def competition_plan(arguments: Namespace) -> Plan:
    """Return a competition as a plan, with the changes that the arguments ask for."""
    from ..algorithms import ALGORITHMS
    from ..experiments import Plan
    from ..experiments.workers import preferred_device

    methods = arguments.method or ["all"]
    real_world = arguments.competition == "cec2020rw"
    for name in ("dimension", "instance"):
        if real_world and getattr(arguments, name) is not None:
            raise ValueError(f"{name} must not be given with competition cec2020rw: each of its problems has its own")
    budget = arguments.budget_per_variable if real_world else arguments.budget_per_variable or 20_000
    return Plan(
        list(ALGORITHMS) if methods == ["all"] else methods,
        suite="cec2020rw" if real_world else "cec2017",
        problems=arguments.problem,
        dimensions=None if real_world else arguments.dimension or [30],
        instance=None if real_world else arguments.instance or "official",
        runs=arguments.runs,
        budget_per_variable=budget,
        rng=arguments.seed or 0,
        record=arguments.record,
        engine="auto",
        device=arguments.device or preferred_device(),
    )


def published_plan(arguments: Namespace) -> Plan:
    """Return the published experiment as a plan, with the changes that the arguments ask for."""
    from .. import published
    from ..algorithms import ALGORITHMS
    from ..experiments import Plan
    from ..experiments.workers import preferred_device
    from ..reports.published import COLUMN_OF

    methods = arguments.method or ["pps-de"]
    if methods == ["all"]:
        methods = [name for name in COLUMN_OF if name in ALGORITHMS]
    for method in methods:
        if method not in COLUMN_OF:
            raise ValueError(f"method {method!r} has no published column; expected one of {', '.join(COLUMN_OF)}")
    dimensions = arguments.dimension or list(published.DIMENSIONS)
    for dimension in dimensions:
        if dimension not in published.DIMENSIONS:
            raise ValueError(f"dimension must be among {published.DIMENSIONS}; got {dimension}")
    return Plan(
        methods,
        suite="cec2017",
        problems=arguments.problem,
        dimensions=dimensions,
        instance=arguments.instance or "official",
        runs=arguments.runs,
        budget_per_variable=arguments.budget_per_variable or published.EVALUATIONS_PER_VARIABLE,
        rng=arguments.seed or 0,
        record=1,  # the table needs only the end of each run
        engine="compiled",
        device=arguments.device or preferred_device(),
    )
