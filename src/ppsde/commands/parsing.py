"""Reading of arguments: a parser with errors of one line, settings as NAME=VALUE, and problems by name."""

from __future__ import annotations

import argparse
import ast
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from ..lookup import did_you_mean, place_in
from ..problem import Problem
from ..suites.named import from_file, from_suite, split_target
from .exit_status import WRONG


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, name the help to look at, and guess what was meant."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        self._words = list(sys.argv[1:] if args is None else args)
        arguments = super().parse_args(args, namespace)
        arguments.words = self._words
        return arguments

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
    """An old spelling of an option: it says the new one, and gives its value, or adds its values, to it."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        several = isinstance(values, list)
        more = ", which may be repeated" if several else ""
        print(f"ppsde: {option_string} is called --{self.dest.replace('_', '-')}{more}", file=sys.stderr)
        setattr(namespace, self.dest, [*(getattr(namespace, self.dest) or []), *values] if several else values)


class Several:
    """Reads the values of an option that may be repeated and may have commas between values, each by `convert`."""

    def __init__(self, convert: Callable[[str], Any] = str) -> None:
        self.convert = convert

    def __call__(self, text: str) -> list[Any]:
        place = place_in(text)
        parts = [text] if place is not None and place.path.is_file() else text.split(",")  # a comma in a file's name
        if not all(part.strip() for part in parts):
            raise argparse.ArgumentTypeError(f"expected values with commas between; got {text!r}")
        return [self.convert(part.strip()) for part in parts]


def add_several(parser: Any, option: str, old: str, help: str, metavar: str, convert: Any = str) -> None:
    """Add an option whose values may be repeated or have commas between, and an old spelling of it."""
    name, read = option.lstrip("-"), Several(convert)
    parser.add_argument(option, action="extend", type=read, metavar=metavar, help=f"{help}; may be repeated")
    parser.add_argument(old, action=Renamed, dest=name, type=read, help=argparse.SUPPRESS)


def add_seed(parser: Any, help: str) -> None:
    """Add the option of the seed, and the word that Python's arguments have for it."""
    parser.add_argument("--seed", type=whole, metavar="N", help=help)
    parser.add_argument("--rng", action=Renamed, dest="seed", type=whole, help=argparse.SUPPRESS)


def add_dimension(parser: Any, help: str) -> None:
    """Add the option of the dimension, and its spelling where there are several."""
    parser.add_argument("--dimension", type=whole, metavar="D", help=help)
    parser.add_argument("--dimensions", action=Renamed, dest="dimension", type=whole, help=argparse.SUPPRESS)


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


def again(arguments: argparse.Namespace) -> str:
    """Return the command line that was parsed, as one would type it."""
    return shlex.join(["ppsde", *arguments.words])


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
