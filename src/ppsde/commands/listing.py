"""`ppsde list`: the algorithms, the suites, and the problems of a suite."""

from __future__ import annotations

import dataclasses
import inspect
import sys
import textwrap
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from ..problem import Problem
from ..suites.named import from_suite
from .exit_status import FOUND
from .parsing import command, instance
from .text import heading, printable, table, width

LONGEST_FACT = 16  # letters of a fact that still fits a table


def add(group: Any) -> None:
    """Add the commands to the group."""
    parser = command(
        group,
        "list",
        "list algorithms, suites or problems",
        "List the algorithms, suites or problems.",
        "ppsde list suites",
    )
    kinds = parser.add_subparsers(metavar="WHAT", required=True)
    listing = command(
        kinds,
        "algorithms",
        "the methods of `solve`",
        "The methods of `solve --method`.",
        "ppsde list algorithms --verbose",
    )
    listing.add_argument("--verbose", action="store_true", help="also their settings, with defaults and meanings")
    listing.set_defaults(run=list_algorithms)
    listing = command(kinds, "suites", "the benchmark suites", "The suites of problems.", "ppsde list suites")
    listing.set_defaults(run=list_suites)
    listing = command(
        kinds,
        "problems",
        "the problems of a suite",
        "The problems of a suite: D variables in a box, g inequalities, h equalities,\nand the best value known.",
        "ppsde list problems engineering",
        "ppsde list problems cec2017 --dimension 30",
    )
    listing.add_argument("suite", metavar="SUITE", help="see `ppsde list suites`")
    listing.add_argument("--dimension", type=int, metavar="D", help="number of variables")
    listing.add_argument("--instance", type=instance, metavar="I", help="a number, or official")
    listing.add_argument("--verbose", action="store_true", help="every bound, constraint and property")
    listing.set_defaults(run=list_problems)


def list_algorithms(arguments: Namespace) -> int:
    from ..algorithms import ALGORITHMS, settings_of

    print(table(("method", "title"), [(name, _title(algorithm)) for name, algorithm in ALGORITHMS.items()]))
    if arguments.verbose:
        for name, algorithm in ALGORITHMS.items():
            rows = [(s.name, repr(s.default), f"{s.meaning} ({s.type})".strip()) for s in settings_of(algorithm)]
            print(f"\n{heading(f'settings of {name}')}\n{table(('--option', 'default', 'meaning'), rows)}")
    return FOUND


def _title(algorithm: Any) -> str:
    """Return the first line of the algorithm's file (one paper, one file), and the settings that this entry changes."""
    title = (inspect.getdoc(sys.modules[algorithm.__module__]) or "").partition("\n")[0]
    usual = type(algorithm)()
    names = [field.name for field in dataclasses.fields(algorithm)]
    changed = [f"{n}={getattr(algorithm, n)}" for n in names if getattr(algorithm, n) != getattr(usual, n)]
    return f"{title} With {', '.join(changed)}" if changed else title


def list_suites(arguments: Namespace) -> int:
    from ..suites import SUITES, get

    suites = [get(name) for name in SUITES]
    print(
        table(("suite", "problems", "about"), [(s.name, str(len(s.names)), s.description) for s in suites], "problems")
    )
    return FOUND


def list_problems(arguments: Namespace) -> int:
    from ..suites import MissingData, get

    suite = get(arguments.suite)
    problems: list[Problem] = []
    missing: dict[str, list[str]] = {}  # problems without their data, by what the error says
    for name in suite.names:
        try:
            problems.append(
                from_suite(suite.name, name, arguments.dimension if suite.dimensions else None, arguments.instance)
            )
        except MissingData as error:
            missing.setdefault(str(error), []).append(name)
    if not suite.dimensions:  # each has its own dimension: show those that have the one asked for
        problems = [p for p in problems if arguments.dimension in (None, p.dimension)]
        if not problems:
            raise ValueError(f"no problem of suite {suite.name!r} has {arguments.dimension} variables")
    print(heading(textwrap.fill(suite.description, width())))
    if arguments.verbose:
        print("\n".join(_in_full(problem) for problem in problems))
        _print_missing(missing)
        return FOUND
    facts = [_facts(problem) for problem in problems]
    common = [fact for fact in facts[0] if all(fact in others for others in facts)] if len(facts) > 1 else []
    if common:
        print(f"all: {', '.join(common)}")
    rows = [
        (
            printable(p.properties.get("problem", p.name)),
            str(p.dimension),
            _box(p),
            _count(p.n_ineq),
            _count(p.n_eq),
            _optimum(p),
            ", ".join(fact for fact in mine if fact not in common),
        )
        for p, mine in zip(problems, facts, strict=True)
    ]
    headers = ("name", "D", "box", "g", "h", "best value", "properties")
    columns = len(headers) if any(row[-1] for row in rows) else len(headers) - 1
    print(table(headers[:columns], [row[:columns] for row in rows], "D g h"))
    _print_missing(missing)
    return FOUND


def _print_missing(missing: dict[str, list[str]]) -> None:
    for reason, names in missing.items():
        print(textwrap.fill(f"not shown: {', '.join(names)}; {reason}", width()))


def _count(number: int | None) -> str:
    return "?" if number is None else str(number)


def _box(problem: Problem) -> str:
    pairs = set(zip(problem.lower.tolist(), problem.upper.tolist(), strict=True))
    low, high = problem.lower.min(), problem.upper.max()
    return f"[{low:g}, {high:g}]" if len(pairs) == 1 else f"{low:g} .. {high:g}"


def _optimum(problem: Problem) -> str:
    best = problem.optimum
    if best is None:
        return "not known"
    return f"{best.value:.6g} " + ("infeasible" if best.status == "infeasible problem" else best.status)


def _facts(problem: Problem) -> list[str]:
    """Return the properties that are short enough for a table and not in its columns."""
    facts = []
    for key, value in problem.properties.items():
        if isinstance(value, bool):
            if not (key == "feasible" and value):  # worth a word only where it does not hold
                facts.append(key if value else f"not {key}")
        elif key in ("suite", "problem") or value in ("", "nothing", "none"):
            continue
        elif isinstance(value, str | int) and len(str(value)) <= LONGEST_FACT:
            facts.append(f"{key} {value}")
    return facts


def _in_full(problem: Problem) -> str:
    lines = [heading(f"\n{problem.name}"), f"  best value       {_optimum(problem)}"]
    lines += [f"  {key:16s} {_text(value)}" for key, value in problem.properties.items()]
    names: Sequence[str] = problem.constraint_names or ()
    lines += [f"  {'g <= 0' if j < (problem.n_ineq or 0) else 'h = 0':16s} {printable(n)}" for j, n in enumerate(names)]
    pairs = list(zip(problem.lower, problem.upper, strict=True))
    if len(set(pairs)) == 1:
        return "\n".join([*lines, f"  x                {len(pairs)} variables in [{pairs[0][0]:g}, {pairs[0][1]:g}]"])
    return "\n".join([*lines, *(f"  {f'x[{j}]':16s} [{low:g}, {high:g}]" for j, (low, high) in enumerate(pairs))])


def _text(value: Any) -> str:
    return printable(", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value))
