"""`ppsde solve`: search for the best feasible point of one problem."""

from __future__ import annotations

import ast
import secrets
from argparse import Namespace
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..durations import times
from ..evaluation.outcome import EvaluationError
from . import exit_status, outcome
from .parsing import command, instance
from .target import opened

PICTURES = (".png", ".svg", ".pdf")


def add(group: Any) -> None:
    """Add the command to the group."""
    parser = command(
        group,
        "solve",
        "solve one problem and print what was found",
        "Minimise one problem: a ppsde.Problem in a Python file, a function there that\n"
        "makes one, or a problem of a suite. Progress is shown on standard error, the\n"
        "result on standard output.\n\n" + exit_status.EXPLAINED,
        "ppsde solve beam.py:problem --seed 1",
        "ppsde solve engineering:welded-beam --json beam.json",
        "ppsde solve cec2017:C05 --dimension 30 --instance 2 --option pbest=8",
        "ppsde solve beam.py:problem --workers 4 --eval-timeout 60 --on-failure retry:1",
    )
    parser.add_argument("target", metavar="FILE.py:NAME | SUITE:NAME", help="the problem")
    parser.add_argument("--method", default="pps-de", help="see `ppsde list algorithms` (default: %(default)s)")
    parser.add_argument("--max-evaluations", type=int, metavar="N", help="the budget (default: 20000 per variable)")
    parser.add_argument("--seed", type=int, metavar="N", help="the same seed gives the same result (default: drawn)")
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="a setting of the method; may be repeated"
    )
    parser.add_argument("--dimension", type=int, metavar="D", help="number of variables, of a suite's problem")
    parser.add_argument("--instance", type=instance, metavar="I", help="a number, or official, of a suite's problem")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes that evaluate (-1: all cores)")
    parser.add_argument("--eval-timeout", type=float, metavar="S", help="kill an evaluation after S seconds")
    parser.add_argument(
        "--on-failure", default="penalise", metavar="WHAT", help="penalise, retry:N or raise (default: %(default)s)"
    )
    parser.add_argument("--max-time", type=float, metavar="S", help="stop after S seconds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the result there")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="also draw the run, to .png, .svg or .pdf")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.set_defaults(run=solve)


def solve(arguments: Namespace) -> int:
    """Run the command; the exit status says what came out."""
    from ..minimize import minimize

    options = _options(arguments.option)
    seed = secrets.randbelow(2**32) if arguments.seed is None else arguments.seed
    for path in (arguments.json, arguments.plot):
        if path is not None and not path.parent.is_dir():
            raise ValueError(f"there is no folder {str(path.parent)!r} to write {path.name} into")
    if arguments.plot is not None:
        _check_picture(arguments.plot)
    with opened(arguments.target, arguments.dimension, arguments.instance) as problem:
        error = None
        try:
            result = minimize(
                problem,
                method=arguments.method,
                max_evaluations=arguments.max_evaluations,
                rng=seed,
                options=options,
                progress=not arguments.quiet,
                workers=arguments.workers,
                eval_timeout=arguments.eval_timeout,
                on_failure=arguments.on_failure,
                max_time=arguments.max_time,
            )
        except EvaluationError as raised:  # what was found until then is worth as much as ever
            error, result = raised, raised.result
        print(outcome.describe(problem, result))
        took = times(result.seconds, result.eval_seconds_mean, result.eval_seconds_max)
        print(f"\n  {arguments.method}, seed {seed}, {took}", flush=True)
        if arguments.json is not None:
            about = {"method": arguments.method, "options": options, "seed": seed, "seconds": result.seconds}
            outcome.write(arguments.json, outcome.as_data(problem, result, **about))
        if arguments.plot is not None:
            result.plot().savefig(arguments.plot, dpi=150)
        if error is not None:
            raise error
    return status_of(result)


def status_of(result: Any) -> int:
    """The exit status that tells what came out."""
    from ..result import FAILED, INTERRUPTED

    if result.status == INTERRUPTED:
        return exit_status.INTERRUPTED
    if result.status == FAILED or result.nfev == result.n_failed:
        return exit_status.ALL_FAILED
    return exit_status.FOUND if result.feasible else exit_status.NOTHING_FEASIBLE


def _options(pairs: Sequence[str]) -> dict[str, Any]:
    """Settings by name; values are read as Python's, anything else is text."""
    options = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not (name and equals):
            raise ValueError(f"--option expects NAME=VALUE; got {pair!r}")
        try:
            options[name] = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            options[name] = {"true": True, "false": False, "none": None}.get(text.lower(), text)
    return options


def _check_picture(path: Path) -> None:
    """Before the run: a picture that cannot be drawn is not to be found out hours later."""
    if path.suffix.lower() not in PICTURES:
        raise ValueError(f"the picture's file must end in .png, .svg or .pdf; got {str(path)!r}")
    if find_spec("matplotlib") is None:
        raise ValueError("drawing needs matplotlib: pip install 'ppsde[report]'")
