"""Reading of arguments: a parser with errors of one line, settings as NAME=VALUE, and problems by name."""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from ..problem import Problem
from ..suites.named import from_file, from_suite, split_target
from .exit_status import WRONG


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line and name the help to look at."""

    def error(self, message: str) -> NoReturn:
        print(f"ppsde: error: {message} (see `{self.prog} --help`)", file=sys.stderr)
        raise SystemExit(WRONG)


def command(group: Any, name: str, title: str, description: str, *examples: str) -> Parser:
    """Add a command to a group of commands and return its parser."""
    parser: Parser = group.add_parser(
        name,
        help=title,
        description=description,
        epilog="\n  ".join(["example:" if len(examples) == 1 else "examples:", *examples]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--traceback", action="store_true", help="show where an error came from")
    return parser


def instance(text: str) -> int | str:
    """Return the instance of a suite's problems that a text names: a number, or the word official."""
    if text == "official":
        return text
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a number or 'official'; got {text!r}") from None


def settings_of(pairs: Sequence[str]) -> dict[str, Any]:
    """Return settings by name; values are Python literals, anything else is text."""
    found = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not (name and equals):
            raise ValueError(f"--option expects NAME=VALUE; got {pair!r}")
        try:
            found[name] = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            found[name] = {"true": True, "false": False, "none": None}.get(text.lower(), text)
    return found


@contextmanager
def opened(target: str, dimension: int | None = None, instance: int | str | None = None) -> Iterator[Problem]:
    """Give the problem named by `target`; inside the `with` block, modules of its file's folder can be imported."""
    suite, file, name = split_target(target)
    if suite is not None:
        yield from_suite(suite, name, dimension, instance)
        return
    if dimension is not None or instance is not None:
        raise ValueError("--dimension and --instance are for problems of a suite; a file makes its own")
    with from_file(Path(str(file)), name) as problem:
        yield problem
