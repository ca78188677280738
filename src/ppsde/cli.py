"""The command line: runs a command, returns its exit status and prints an error as one line."""

from __future__ import annotations

import argparse
import io
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

from . import __version__
from .commands import bench, compare, completion, exit_status, listing, reproduce, solve, suites
from .commands.parsing import Parser
from .commands.text import printable


def parser() -> Parser:
    """Return the parser of all commands."""
    top = Parser(
        prog="ppsde",
        description="Constrained single-objective black-box optimisation.",
        epilog=f"{exit_status.EXPLAINED}\n\nexample:\n  ppsde solve cec2017:C05",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"ppsde {__version__}")
    group = top.add_subparsers(metavar="COMMAND", required=True)
    for module in (solve, listing, suites, reproduce, bench, compare, completion):
        module.add(group)
    top.set_defaults(top=top)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a name may have characters that the output has not
    try:
        arguments = parser().parse_args(argv)
    except SystemExit as end:  # --help, --version, and arguments that cannot be read
        return int(end.code or 0)
    usual, warnings.formatwarning = warnings.formatwarning, _warning
    try:
        status: int = arguments.run(arguments)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        print("ppsde: interrupted", file=sys.stderr)
        return exit_status.INTERRUPTED
    except BrokenPipeError:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # so that flushing at the end does not fail again
        return exit_status.OUTPUT_CLOSED
    except Exception as error:
        if arguments.traceback:
            traceback.print_exc()
        print(f"ppsde: error: {_in_one_line(error)}", file=sys.stderr)
        return exit_status.WRONG
    finally:
        warnings.formatwarning = usual


def _warning(message: Warning | str, *_: Any, **__: Any) -> str:
    return f"ppsde: warning: {printable(str(message))}\n"


def _in_one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return printable(f"{error.filename}: {error.strerror}")
    if isinstance(error, ValueError):  # its message is written for users
        return printable(str(error))
    return printable(f"{type(error).__name__}: {error} (--traceback shows where)")
