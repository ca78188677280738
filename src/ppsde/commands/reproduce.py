"""`ppsde reproduce`: the published experiment as a study, beside its printed table."""

from __future__ import annotations

from argparse import SUPPRESS, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..files import refuse_foreign, write_own
from .exit_status import FOUND, INTERRUPTED
from .parsing import Renamed, again, command, instance, whole
from .text import heading, table

if TYPE_CHECKING:
    from ..experiments import Plan


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
        "dimensions take less than one.",
        "ppsde reproduce --dimension 10",
        "ppsde reproduce --method all --dimension 10 --dimension 30 --report original",
    )
    parser.add_argument(
        "--dimension", action="append", type=whole, metavar="D", help="may be repeated (default: all three)"
    )
    parser.add_argument("--dimensions", action=Renamed, dest="dimension", const=whole, help=SUPPRESS)
    parser.add_argument("--runs", type=whole, default=25, metavar="N", help="default: %(default)s")
    parser.add_argument("--method", default="pps-de", metavar="NAME,..", help="default: %(default)s; or all")
    parser.add_argument("--problem", action="append", metavar="C01", help="may be repeated (default: all 28)")
    parser.add_argument("--problems", action=Renamed, dest="problem", help=SUPPRESS)
    parser.add_argument(
        "--evaluations", type=whole, default=20_000, metavar="N", help="per run and variable (default: %(default)s)"
    )
    parser.add_argument("--seed", type=whole, default=0, metavar="S", help="default: %(default)s")
    parser.add_argument("--instance", type=instance, default="official", metavar="I", help="default: %(default)s")
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
        "-o", "--output", type=Path, default=Path("reproduce"), metavar="DIR", help="default: %(default)s"
    )
    parser.set_defaults(run=reproduce)


def reproduce(arguments: Namespace) -> int:
    """Run what is missing, then compare; the exit status says whether all runs are done."""
    from ..experiments import Store, run
    from ..reports import published
    from ..reports.page import page
    from ..reports.study import gather

    plan = published_plan(arguments)
    arguments.output.mkdir(parents=True, exist_ok=True)
    path = arguments.store or arguments.output / "reproduce.db"
    for kind in ("csv", "html"):
        refuse_foreign(arguments.output / f"reproduce.{kind}", kind)
    summary = run(plan, path, workers=arguments.workers, progress=True)
    print(f"{path}: {summary.done:,} of {summary.runs:,} runs done, {summary.seconds:.1f} s")
    if summary.interrupted:
        print(f"interrupted; to resume: {again()}")
        return INTERRUPTED
    with Store(path) as store:
        study = gather(store, summary.plan)
    cells = published.comparisons(study, arguments.report, any_experiment=True)
    for title, block in published.blocks(cells).items():
        print(heading(f"\n{title}"))
        lines = [published.line(cell) for cell in block]
        print(table(published.HEADERS, lines, right=" ".join(published.HEADERS[1:8])))
    print("", *published.total_lines(cells), sep="\n")
    files = {
        arguments.output / "reproduce.csv": published.as_csv(cells),
        arguments.output / "reproduce.html": page(study, compared=published.section(cells, arguments.report)),
    }
    for file, text in files.items():
        write_own(file, text, file.suffix[1:])
    print("written:", ", ".join(map(str, files)))
    return FOUND


def published_plan(arguments: Namespace) -> Plan:
    """Return the published experiment as a plan, with the changes that the arguments ask for."""
    from .. import published
    from ..algorithms import ALGORITHMS
    from ..experiments import Plan
    from ..experiments.workers import preferred_device
    from ..reports.published import COLUMN_OF

    methods = arguments.method.split(",")
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
        instance=arguments.instance,
        runs=arguments.runs,
        budget_per_variable=arguments.evaluations,
        seed=arguments.seed,
        record=1,  # the table needs only the end of each run
        engine="compiled",
        device=arguments.device or preferred_device(),
    )
