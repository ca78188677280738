"""`ppsde suites`: import official benchmark data, and draw problems."""

from __future__ import annotations

from argparse import Namespace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .exit_status import FOUND
from .parsing import add_dimension, command, instance


def add(group: Any) -> None:
    """Add the commands to the group."""
    parser = command(
        group, "suites", "import benchmark data, draw problems", "Benchmark suites.", "ppsde suites plot C15"
    )
    tasks = parser.add_subparsers(metavar="WHAT", required=True)
    task = command(
        tasks,
        "import",
        "read the organisers' archive of the CEC2017 suite",
        "Read the CEC2017 organisers' archive (a folder or .zip of their MATLAB or text\n"
        "files), check it and store what the suite needs; from then on its official\n"
        "instances can be used.",
        "ppsde suites import ~/Downloads/CEC2017.zip",
    )
    task.add_argument("path", type=Path, metavar="PATH", help="the folder or .zip file")
    task.add_argument("--to", type=Path, metavar="DIR", help="where to store it (default: your data folder)")
    task.set_defaults(run=import_data)
    task = command(
        tasks,
        "plot",
        "draw a problem over two variables",
        "Draw the objective's contours and the feasible set over two variables, to a\n.png, .svg or .pdf file.",
        "ppsde suites plot C15 -o c15.svg",
        "ppsde suites plot C05 --dimension 10 --instance 2",
        "ppsde suites plot ten-bar-truss --suite cec2020rw --design",
    )
    task.add_argument("name", metavar="NAME", help="the problem, see `ppsde list problems SUITE`")
    task.add_argument("--suite", default="cec2017", help="its suite (default: %(default)s)")
    add_dimension(task, "number of variables (default: 2 where it is free)")
    task.add_argument("--instance", type=instance, metavar="I", help="a number, or official")
    task.add_argument("--design", action="store_true", help="draw the best known design itself, of suite cec2020rw")
    task.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: NAME.png")
    task.set_defaults(run=plot)


def import_data(arguments: Namespace) -> int:
    from ..suites.cec2017_data import VARIABLE, import_archive, user_directory

    written = import_archive(arguments.path, arguments.to)
    print(f"written: {written}")
    if written.parent.resolve() != user_directory().resolve():
        print(f"to use it, set the environment variable {VARIABLE} to {written.parent}")
    return FOUND


def plot(arguments: Namespace) -> int:
    from ..suites import get
    from ..suites.named import from_suite
    from ..suites.picture import draw_problem

    if find_spec("matplotlib") is None:
        raise ValueError("drawing needs matplotlib: pip install matplotlib")
    free = bool(get(arguments.suite).dimensions)
    dimension = 2 if free and arguments.dimension is None else arguments.dimension
    problem = from_suite(arguments.suite, arguments.name, dimension, arguments.instance)
    output = arguments.output or Path(f"{arguments.name}.png")
    if arguments.design:
        from ..suites.cec2020rw_designs import draw_design

        print(f"written: {draw_design(problem, output)}")
        return FOUND
    print(f"written: {draw_problem(problem, output)}")
    return FOUND
