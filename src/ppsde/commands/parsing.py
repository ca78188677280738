"""Reading of arguments: a parser with errors of one line, settings as NAME=VALUE, and problems by name."""

from __future__ import annotations

import argparse
import ast
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from ..lookup import did_you_mean
from ..problem import Problem
from ..suites.named import from_file, from_suite, split_target
from .exit_status import WRONG


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, name the help to look at, and guess what was meant."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        self._words = list(sys.argv[1:] if args is None else args)
        return super().parse_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        wrong = re.search(r"invalid choice: '([^']*)'", message)
        known: list[str] = []
        if message.startswith("unrecognized arguments: "):
            word, known = message.removeprefix("unrecognized arguments: ").split()[0], self._options()
        elif wrong is not None:
            word, known = wrong[1], re.findall(r"[\w.-]+", message.partition("choose from")[2])
        hint = did_you_mean(word.partition("=")[0], known) if known else ""
        print(f"ppsde: error: {message}{hint} (see `{self.prog} --help`)", file=sys.stderr)
        raise SystemExit(WRONG)

    def _options(self) -> list[str]:
        """Return the options of the command that the words on the command line name."""
        parser: argparse.ArgumentParser = self
        for word in getattr(self, "_words", []):
            parser = subcommands(parser).get(word, parser)
        return [option for action in parser._actions for option in action.option_strings]


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of the commands below a command, by name."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


class Renamed(argparse.Action):
    """An old spelling of an option: it says the new one, and adds its values, with commas between, to it."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        new = f"--{self.dest.replace('_', '-')}"
        print(f"ppsde: {option_string} is called {new}, which may be repeated", file=sys.stderr)
        convert = self.const or str
        try:
            found = [convert(part) for part in str(values).split(",")]
        except (ValueError, argparse.ArgumentTypeError):
            parser.error(f"argument {option_string}: expected values with commas between; got {values!r}")
        setattr(namespace, self.dest, [*(getattr(namespace, self.dest) or []), *found])


def whole(text: str) -> int:
    """Return the whole number that a text says, also as 1e4."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        number = 0.5
    if not number.is_integer():
        raise argparse.ArgumentTypeError(f"expected a whole number; got {text!r}")
    return int(number)


def again(*more: str) -> str:
    """Return the command line of this process as one would type it, with further words."""
    return shlex.join(["ppsde", *sys.argv[1:], *more])


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
        return whole(text)
    except argparse.ArgumentTypeError:
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
