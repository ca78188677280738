"""`ppsde solve`: search for the best feasible point of one problem."""

from __future__ import annotations

import json
import secrets
import shlex
import sys
from argparse import SUPPRESS, Namespace
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..algorithms import ALGORITHMS, DEFAULT
from ..checkpoints.checkpoint import peek
from ..display.progress import times
from ..engines.ending import ERROR, FAILED, INTERRUPTED, TIME_UP
from ..files import refuse_foreign, write_own, write_own_picture
from ..lookup import Table
from ..minimize import CHECKPOINT_EVERY, minimize, resume
from ..parts.handling import RULES
from ..problem import Optimum, Problem
from . import exit_status
from .parsing import Renamed, add_dimension, add_seed, again, command, instance, opened, settings_of, whole
from .text import plain, print_json, printable, table

if TYPE_CHECKING:
    from ..result import ConstraintReport

PICTURES = (".png", ".svg", ".pdf")
ON_FAILURE = "penalise"  # unless given
FIXED = (
    *("max_evaluations", "seed", "target", "tol"),
    *("eval_timeout", "on_failure", "checkpoint", "asynchronous"),
)  # in a checkpoint
REASONS_SHOWN = 3  # of failures, on the terminal
FAILURES_WRITTEN = 100  # in the JSON file


def add(group: Any) -> None:
    """Add the command to the group."""
    parser = command(
        group,
        "solve",
        "solve one problem and print the result",
        "Minimise one problem: a ppsde.Problem in a Python file, a function there that\n"
        "makes one, or a problem of a suite. Progress is shown on standard error, the\n"
        "result on standard output.\n\n" + exit_status.EXPLAINED,
        "ppsde solve beam.py:problem --seed 1",
        "ppsde solve engineering:welded-beam --json beam.json",
        "ppsde solve engineering:welded-beam --json - --quiet | jq .fun",
        "ppsde solve cec2017:C05 --dimension 30 --method pps-de --option pbest=8",
        "ppsde solve beam.py:problem --workers 4 --eval-timeout 60 --on-failure retry:1",
        "ppsde solve beam.py:problem --workers 8 --asynchronous",
        "ppsde solve beam.py:problem --checkpoint beam.ppsde",
        "ppsde solve beam.py:problem --resume beam.ppsde --workers 4",
    )
    parser.add_argument("problem", metavar="FILE.py:NAME | SUITE:NAME", help="the problem")
    parser.add_argument("--method", help=f"see `ppsde list algorithms` (default: {DEFAULT})")
    parser.add_argument("--max-evaluations", type=whole, metavar="N", help="the budget (default: 20000 per variable)")
    parser.add_argument("--budget", action=Renamed, dest="max_evaluations", type=whole, help=SUPPRESS)
    parser.add_argument(
        "--target",
        type=float,
        metavar="F",
        help="stop at a feasible point with an objective <= F (--target=F if negative)",
    )
    parser.add_argument(
        "--tol",
        type=float,
        metavar="T",
        help="stop when the method has converged to T (0: never; default: 1e-8 if it can)",
    )
    add_seed(parser, "the same seed gives the same result (default: drawn)")
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="a setting of the method; may be repeated"
    )
    add_dimension(parser, "number of variables, of a suite's problem")
    parser.add_argument("--instance", type=instance, metavar="I", help="a number, or official, of a suite's problem")
    parser.add_argument("--workers", type=whole, default=1, metavar="N", help="processes that evaluate (-1: all cores)")
    parser.add_argument(
        "--asynchronous", action="store_true", help="give every worker a point as soon as it is free; none waits"
    )
    parser.add_argument("--eval-timeout", type=float, metavar="S", help="kill an evaluation after S seconds")
    parser.add_argument("--on-failure", metavar="WHAT", help=f"penalise, retry:N or raise (default: {ON_FAILURE})")
    parser.add_argument("--max-time", type=float, metavar="S", help="stop after S seconds")
    parser.add_argument("--checkpoint", type=Path, metavar="FILE", help="save the run there, a new file, to be resumed")
    parser.add_argument(
        "--checkpoint-every",
        type=float,
        default=CHECKPOINT_EVERY,
        metavar="S",
        help="seconds between two saves; 0 saves every generation (default: %(default)g)",
    )
    parser.add_argument("--resume", type=Path, metavar="FILE", help="resume the run that is saved there")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the result there; - for standard output")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="also draw the run, to .png, .svg or .pdf")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.set_defaults(run=solve)


def solve(arguments: Namespace) -> int:
    """Run the command and return its exit status."""
    about = _settings(arguments)
    to_stdout = arguments.json is not None and str(arguments.json) == "-"
    for path in (None if to_stdout else arguments.json, arguments.plot):
        if path is not None and not path.parent.is_dir():
            raise ValueError(f"there is no folder {str(path.parent)!r} to write {path.name} into")
    if arguments.json is not None:
        refuse_foreign(arguments.json, "json")
    if arguments.plot is not None:
        _check_picture(arguments.plot)
    from ..result import Result  # not before: it loads SciPy

    with opened(arguments.problem, arguments.dimension, arguments.instance) as problem:
        error: BaseException | None = None
        try:
            result = _result(arguments, problem, about)
        except BaseException as raised:  # the best point until then is still worth printing
            found = getattr(raised, "result", None)
            if not isinstance(found, Result) or isinstance(raised, KeyboardInterrupt):
                raise
            error, result = raised, found
        said = sys.stderr if to_stdout else sys.stdout
        print(describe(problem, result), file=said)
        took = times(result.seconds, result.eval_seconds_mean, result.eval_seconds_max)
        print(f"\n  {about['method']}, seed {about['seed']}, {took}", file=said, flush=True)
        if result.status in (INTERRUPTED, TIME_UP, ERROR) and (arguments.resume or arguments.checkpoint) is not None:
            print(f"  to resume: {_resuming(arguments)}", file=said, flush=True)
        elif result.status == INTERRUPTED:
            same = f"{again(arguments)} --checkpoint FILE"
            print(f"  not saved; a run that can be resumed: {same}", file=said, flush=True)
        if to_stdout:
            print_json(as_data(problem, result, **about, seconds=result.seconds))
        elif arguments.json is not None:
            data = as_data(problem, result, **about, seconds=result.seconds)
            write_own(arguments.json, json.dumps(data, indent=1, allow_nan=False, ensure_ascii=False) + "\n", "json")
        if arguments.plot is not None:
            write_own_picture(arguments.plot, result.plot())
        if error is not None:
            raise error
    return status_of(result)


def _resuming(arguments: Namespace) -> str:
    """Return the command that resumes the run: without what the checkpoint stores, with all else that was given."""
    words = ["ppsde", "solve", arguments.problem, "--resume", str(arguments.resume or arguments.checkpoint)]
    if arguments.method is not None and not is_of_the_package(arguments.method, ALGORITHMS):
        words += ["--method", arguments.method]
    rule = settings_of(arguments.option).get("rule")
    if isinstance(rule, str) and not is_of_the_package(rule.partition("(")[0], RULES):
        words += ["--option", f"rule={rule}"]
    for name in ("dimension", "instance", "max_time", "json", "plot"):
        value = getattr(arguments, name)
        if value is not None:
            words += [f"--{name.replace('_', '-')}", str(value)]
    if arguments.workers != 1:
        words += ["--workers", str(arguments.workers)]
    if arguments.checkpoint_every != CHECKPOINT_EVERY:
        words += ["--checkpoint-every", f"{arguments.checkpoint_every:g}"]
    return shlex.join([*words, *(["--quiet"] if arguments.quiet else [])])


def is_of_the_package(name: str, table: Table) -> bool:
    """Return whether a name is one of this package, and not of a file or an entry point."""
    return name in table and table.package_of(name) is None


def _settings(arguments: Namespace) -> dict[str, Any]:
    """Return method, options and seed, of the command line or of the run that is resumed."""
    if arguments.resume is None:
        seed = secrets.randbelow(2**32) if arguments.seed is None else arguments.seed
        return {"method": arguments.method or DEFAULT, "options": settings_of(arguments.option), "seed": seed}
    for name in FIXED:
        if getattr(arguments, name) not in (None, [], False):
            raise ValueError(f"--{name.replace('_', '-')} cannot be given with --resume: the run has its own")
    method, rule = _own_code(arguments)
    run, facts = peek(arguments.resume, method, rule)
    algorithm: Any = run.algorithm  # a dataclass of settings
    usual = ALGORITHMS.find(method or facts["method"])
    settings = {field.name: getattr(algorithm, field.name) for field in fields(algorithm)}
    options = {name: value for name, value in settings.items() if value != getattr(usual, name)}
    return {"method": facts["method"], "options": options, "seed": run.seed}


def _own_code(arguments: Namespace) -> tuple[str | None, dict[str, Any]]:
    """Return the method and the rule to resume with: those of one's own must be named again, others must not."""
    method, rule = arguments.method, settings_of(arguments.option)
    if set(rule) - {"rule"}:
        raise ValueError("--option cannot be given with --resume, but for a rule of your own: the run has its own")
    if method is not None and is_of_the_package(method, ALGORITHMS):
        raise ValueError("--method cannot be given with --resume, but for one of your own: the run has its own")
    return method, rule


def _result(arguments: Namespace, problem: Any, about: dict[str, Any]) -> Any:
    common = {
        "progress": not arguments.quiet,
        "workers": arguments.workers,
        "max_time": arguments.max_time,
        "checkpoint_every": arguments.checkpoint_every,
    }
    if arguments.resume is not None:
        method, rule = _own_code(arguments)
        return resume(arguments.resume, problem, method=method, options=rule, **common)

    return minimize(
        problem,
        method=about["method"],
        max_evaluations=arguments.max_evaluations,
        target=arguments.target,
        tol=arguments.tol,
        rng=about["seed"],
        options=about["options"],
        eval_timeout=arguments.eval_timeout,
        on_failure=arguments.on_failure or ON_FAILURE,
        checkpoint=arguments.checkpoint,
        asynchronous=arguments.asynchronous,
        **common,
    )


def status_of(result: Any) -> int:
    """Return the exit status of a result."""
    if result.status == INTERRUPTED:
        return exit_status.INTERRUPTED
    if result.status == FAILED or 0 < result.nfev == result.n_failed:
        return exit_status.ALL_FAILED
    return exit_status.FOUND if result.feasible else exit_status.NOTHING_FEASIBLE


def _check_picture(path: Path) -> None:
    """Raise ValueError before the run, not hours later, if the picture cannot be drawn."""
    if path.suffix.lower() not in PICTURES:
        raise ValueError(f"the picture's file must end in .png, .svg or .pdf; got {str(path)!r}")
    if find_spec("matplotlib") is None:
        raise ValueError("drawing needs matplotlib: pip install matplotlib")
    refuse_foreign(path, path.suffix.lower()[1:])


# --- the result as text ----------------------------------------------------------------------------------------------


def describe(problem: Problem, result: Any) -> str:
    """Return the result as lines of text: objective, violation, every constraint by name, every variable."""
    lines = [
        f"{printable(problem.name)}: {'FEASIBLE' if result.feasible else 'NOT FEASIBLE'}, {printable(result.message)}",
        f"  objective    {result.fun:.10g}",
    ]
    if problem.optimum is not None:
        lines.append(f"  optimum      {_against(problem.optimum, result, problem.maximize)}")
    lines.append(f"  violation    {result.violation:.4g}")
    failed = f", {result.n_failed:,} of them failed" if result.n_failed else ""
    lines.append(f"  evaluations  {result.nfev:,} in {result.nit:,} generation{'s' * (result.nit != 1)}{failed}")
    reasons = Counter(printable(failure.reason) for failure in result.failures).most_common(REASONS_SHOWN)
    lines += [f"    failed     {count:,} x {reason}" for reason, count in reasons]
    if result.n_calls != result.nfev:
        lines.append(f"  calls        {result.n_calls:,} of the function")
    if result.constraints:
        lines += ["", *_indented(_constraints(result.constraints))]
    lines += ["", *_indented(_variables(problem, result.x))]
    return "\n".join(lines)


def _against(optimum: Optimum, result: Any, maximised: bool) -> str:
    text = f"{optimum.value:.10g} ({optimum.status})"
    if optimum.violation > 0:
        return f"{text}, mean violation {optimum.violation:.4g}"
    gap = optimum.value - result.fun if maximised else result.fun - optimum.value
    return f"{text}, gap {gap:.3g}" if result.feasible else text


def _constraints(reports: Sequence[ConstraintReport]) -> str:
    rows = [
        (
            f"{report.slack:.4g}",
            "active" if report.active else "",
            f"violated by {report.violation:.4g}" if report.violation > 0 else "holds",
            printable(report.name),
        )
        for report in reports
    ]
    return table(("slack", "", "status", "constraint"), rows, right="slack")


def _variables(problem: Problem, x: np.ndarray) -> str:
    at = [
        "at its lower bound" if v == low else "at its upper bound" if v == high else ""
        for v, low, high in zip(x, problem.lower, problem.upper, strict=True)
    ]
    chosen = problem.chosen
    rows = [
        (printable(name), printable(value) if isinstance(value, str) else f"{value:.10g}", "" if j in chosen else at[j])
        for j, (name, value) in enumerate(problem.named(x).items())
    ]
    return table(("variable", "value", ""), rows, right="value")


def _indented(text: str) -> list[str]:
    return ["  " + line for line in text.splitlines()]


# --- the result as JSON ----------------------------------------------------------------------------------------------


def as_data(problem: Problem, result: Any, **about: Any) -> dict[str, Any]:
    """Return the result as plain data for strict JSON; numbers that are not finite are null."""
    optimum = problem.optimum
    data = {
        "ppsde": __version__,
        **about,
        "problem": {
            "name": problem.name,
            "dimension": problem.dimension,
            "lower": problem.lower,
            "upper": problem.upper,
            "tolerance": problem.tolerance,
            "maximize": problem.maximize,
            "properties": problem.properties,
            "optimum": None
            if optimum is None
            else {"value": optimum.value, "status": optimum.status, "violation": optimum.violation},
        },
        "status": result.status,
        "message": result.message,
        "feasible": result.feasible,
        "x": result.x,
        "variables": problem.named(result.x),
        "fun": result.fun,
        "violation": result.violation,
        "maxcv": result.maxcv,
        "constraints": [{"name": name, "violation": v} for name, v in result.constr_violation.items()],
        "nfev": result.nfev,
        "nit": result.nit,
        "n_failed": result.n_failed,
        "n_calls": result.n_calls,
        "limited_by": result.limited_by,
        "eval_seconds": {"mean": result.eval_seconds_mean, "max": result.eval_seconds_max},
        "failures": [vars(failure) for failure in result.failures[:FAILURES_WRITTEN]],
        "history": result.history,
    }
    found: dict[str, Any] = plain(data)
    return found
