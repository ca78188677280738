"""`ppsde solve`: search for the best feasible point of one problem."""

from __future__ import annotations

import ast
import secrets
import signal
import threading
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

from . import exit_status, outcome
from .parsing import command, instance
from .target import opened


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
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the result there")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.set_defaults(run=solve)


def solve(arguments: Namespace) -> int:
    """Run the command; the exit status says what came out."""
    from ..minimize import minimize

    options = _options(arguments.option)
    seed = secrets.randbelow(2**32) if arguments.seed is None else arguments.seed
    if arguments.json is not None and not arguments.json.parent.is_dir():
        raise ValueError(f"there is no folder {str(arguments.json.parent)!r} to write {arguments.json.name} into")
    with opened(arguments.target, arguments.dimension, arguments.instance) as problem, _sigterm_as_interrupt():
        begun = monotonic()
        result = minimize(
            problem,
            method=arguments.method,
            max_evaluations=arguments.max_evaluations,
            rng=seed,
            options=options,
            progress=not arguments.quiet,
        )
        seconds = monotonic() - begun
        print(outcome.describe(problem, result))
        print(f"\n  {arguments.method}, seed {seed}, {seconds:.1f} s", flush=True)
        if arguments.json is not None:
            about = {"method": arguments.method, "options": options, "seed": seed, "seconds": seconds}
            outcome.write(arguments.json, outcome.as_data(problem, result, **about))
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


@contextmanager
def _sigterm_as_interrupt() -> Iterator[None]:
    """A polite request to end is treated as Ctrl-C is: the best so far is printed."""
    if threading.current_thread() is not threading.main_thread():  # signals can be handled there only
        yield
        return

    def interrupt(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
