"""`ppsde solve`: search for the best feasible point of one problem."""

from __future__ import annotations

import secrets
from argparse import Namespace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..algorithms import make
from ..checkpoints.checkpoint import peek
from ..engines.ending import ERROR, FAILED, INTERRUPTED, TIME_UP
from ..evaluation.values import EvaluationError
from ..minimize import CHECKPOINT_EVERY, minimize, resume
from ..result import times
from . import exit_status, text
from .parsing import command, instance, opened, settings_of

PICTURES = (".png", ".svg", ".pdf")
METHOD, ON_FAILURE = "pps-de", "penalise"  # unless given
FIXED = ("method", "max_evaluations", "seed", "option", "eval_timeout", "on_failure", "checkpoint")  # in a checkpoint


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
        "ppsde solve beam.py:problem --checkpoint beam.ppsde",
        "ppsde solve beam.py:problem --resume beam.ppsde --workers 4",
    )
    parser.add_argument("target", metavar="FILE.py:NAME | SUITE:NAME", help="the problem")
    parser.add_argument("--method", help=f"see `ppsde list algorithms` (default: {METHOD})")
    parser.add_argument("--max-evaluations", type=int, metavar="N", help="the budget (default: 20000 per variable)")
    parser.add_argument("--seed", type=int, metavar="N", help="the same seed gives the same result (default: drawn)")
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="a setting of the method; may be repeated"
    )
    parser.add_argument("--dimension", type=int, metavar="D", help="number of variables, of a suite's problem")
    parser.add_argument("--instance", type=instance, metavar="I", help="a number, or official, of a suite's problem")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes that evaluate (-1: all cores)")
    parser.add_argument("--eval-timeout", type=float, metavar="S", help="kill an evaluation after S seconds")
    parser.add_argument("--on-failure", metavar="WHAT", help=f"penalise, retry:N or raise (default: {ON_FAILURE})")
    parser.add_argument("--max-time", type=float, metavar="S", help="stop after S seconds")
    parser.add_argument("--checkpoint", type=Path, metavar="FILE", help="keep the run there, a new file, to be resumed")
    parser.add_argument(
        "--checkpoint-every",
        type=float,
        default=CHECKPOINT_EVERY,
        metavar="S",
        help="seconds between two states there; 0 keeps every generation (default: %(default)g)",
    )
    parser.add_argument("--resume", type=Path, metavar="FILE", help="go on with the run that is kept there")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the result there")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="also draw the run, to .png, .svg or .pdf")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.set_defaults(run=solve)


def solve(arguments: Namespace) -> int:
    """Run the command; the exit status says what came out."""
    about = _settings(arguments)
    for path in (arguments.json, arguments.plot):
        if path is not None and not path.parent.is_dir():
            raise ValueError(f"there is no folder {str(path.parent)!r} to write {path.name} into")
    if arguments.plot is not None:
        _check_picture(arguments.plot)
    with opened(arguments.target, arguments.dimension, arguments.instance) as problem:
        error = None
        try:
            result = _result(arguments, problem, about)
        except EvaluationError as raised:  # what was found until then is worth as much as ever
            error, result = raised, raised.result
        print(text.describe(problem, result))
        took = times(result.seconds, result.eval_seconds_mean, result.eval_seconds_max)
        print(f"\n  {about['method']}, seed {about['seed']}, {took}", flush=True)
        kept = arguments.resume or arguments.checkpoint
        if kept is not None and result.status in (INTERRUPTED, TIME_UP, ERROR):
            print(f"  to go on: ppsde solve {arguments.target} --resume {kept}", flush=True)
        if arguments.json is not None:
            text.write(arguments.json, text.as_data(problem, result, **about, seconds=result.seconds))
        if arguments.plot is not None:
            result.plot().savefig(arguments.plot, dpi=150)
        if error is not None:
            raise error
    return status_of(result)


def _settings(arguments: Namespace) -> dict[str, Any]:
    """Method, options and seed: those of the command line, or of the run that is resumed."""
    if arguments.resume is None:
        seed = secrets.randbelow(2**32) if arguments.seed is None else arguments.seed
        return {"method": arguments.method or METHOD, "options": settings_of(arguments.option), "seed": seed}
    for name in FIXED:
        if getattr(arguments, name) not in (None, []):
            raise ValueError(f"--{name.replace('_', '-')} cannot be given with --resume: the run has its own")
    run, told = peek(arguments.resume)
    usual = vars(make(str(told.get("method"))))
    options = {name: value for name, value in vars(run.algorithm).items() if value != usual[name]}
    return {"method": told["method"], "options": options, "seed": run.seed}


def _result(arguments: Namespace, problem: Any, about: dict[str, Any]) -> Any:
    common = {
        "progress": not arguments.quiet,
        "workers": arguments.workers,
        "max_time": arguments.max_time,
        "checkpoint_every": arguments.checkpoint_every,
    }
    if arguments.resume is not None:
        return resume(arguments.resume, problem, **common)

    return minimize(
        problem,
        method=about["method"],
        max_evaluations=arguments.max_evaluations,
        rng=about["seed"],
        options=about["options"],
        eval_timeout=arguments.eval_timeout,
        on_failure=arguments.on_failure or ON_FAILURE,
        checkpoint=arguments.checkpoint,
        **common,
    )


def status_of(result: Any) -> int:
    """The exit status that tells what came out."""
    if result.status == INTERRUPTED:
        return exit_status.INTERRUPTED
    if result.status == FAILED or result.nfev == result.n_failed:
        return exit_status.ALL_FAILED
    return exit_status.FOUND if result.feasible else exit_status.NOTHING_FEASIBLE


def _check_picture(path: Path) -> None:
    """Before the run: a picture that cannot be drawn is not to be found out hours later."""
    if path.suffix.lower() not in PICTURES:
        raise ValueError(f"the picture's file must end in .png, .svg or .pdf; got {str(path)!r}")
    if find_spec("matplotlib") is None:
        raise ValueError("drawing needs matplotlib: pip install 'ppsde[report]'")
