"""`ppsde bench watch`: how a study stands, again and again, in the terminal or as a page on this machine."""

from __future__ import annotations

import os
import sys
import time
from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from . import exit_status
from .parsing import command
from .text import printable

PULSE = 0.1  # seconds within which a signal is heeded
EVERY = 2.0
FAILURES_TOLD = 3


def add(tasks: Any) -> None:
    """Add the command to those of `ppsde bench`."""
    task = command(
        tasks,
        "watch",
        "watch a study while it is run",
        "Show how a study stands, again and again, until it is done or Ctrl-C. With\n"
        "--web the whole report is served to this machine and renews itself.",
        "ppsde bench watch study.db",
        "ppsde bench watch study.db --web --port 8080",
    )
    task.add_argument("store", type=Path, metavar="STORE")
    task.add_argument("--plan", type=int, metavar="N", help="only the N-th plan that was run into it")
    task.add_argument("--once", action="store_true", help="show it once")
    task.add_argument(
        "--every", type=_seconds, default=EVERY, metavar="S", help="seconds between two looks (default: 2)"
    )
    task.add_argument("--web", action="store_true", help="serve the report on this machine")
    task.add_argument("--port", type=_port, metavar="N", help="where, with --web (default: any that is free)")
    task.set_defaults(run=watch)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ArgumentTypeError(f"expected seconds > 0; got {text!r}")
    return seconds


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 <= int(text) <= 65535:
        raise ArgumentTypeError(f"expected a number from 0 to 65535; got {text!r}")
    return int(text)


def watch(arguments: Namespace) -> int:
    """Watch until the study is done, or until interrupted, which is no failure here."""
    from ..interrupts import noticed

    if arguments.web and arguments.once:
        raise ValueError("--web and --once cannot go together")
    if arguments.port is not None and not arguments.web:
        raise ValueError("--port needs --web")
    with noticed() as interrupts:
        if arguments.web:
            return _serve(arguments, interrupts)
        with _screen() as screen:
            while True:
                text, done = picture(arguments.store, arguments.plan)
                screen.show(text)
                due = time.monotonic() + arguments.every
                while not (done or arguments.once or interrupts.asked) and time.monotonic() < due:
                    time.sleep(PULSE)
                if done or arguments.once or interrupts.asked:
                    return exit_status.FOUND


def _serve(arguments: Namespace, interrupts: Any) -> int:
    from ..reports.serving import served

    with served(arguments.store, arguments.plan, arguments.port or 0) as address:
        print(f"{address} shows {arguments.store} until Ctrl-C", flush=True)
        while not interrupts.asked:
            time.sleep(PULSE)
    return exit_status.FOUND


def picture(path: Path, plan: int | None) -> tuple[str, bool]:
    """How a study stands, in lines, and whether all of it is done."""
    from ..experiments import Store
    from ..experiments.store import status_of
    from ..progress import clock
    from ..reports.study import chosen_plan
    from .bench import _grid

    with Store(path) as store:
        found = status_of(store, chosen_plan(store, plan))
    cells = found.cells
    done, wanted, failed = (sum(getattr(cell, name) for cell in cells) for name in ("done", "wanted", "failed"))
    share = found.evaluations / found.budget if found.budget else 1.0
    lines = [f"{printable(str(path))}: {done:,} of {wanted:,} runs done ({share:.0%}), {failed:,} failed"]
    if found.runners:
        running = sum(cell.running for cell in cells)
        pace = f", {found.rate:,.0f} evaluations/s" if found.rate else ""
        left = f", {clock(found.seconds_left)} left" if found.seconds_left is not None else ""
        lines.append(f"{found.runners} at work on it, {running:,} jobs in progress{pace}{left}")
    elif done < wanted:
        lines.append("no one is working on it; `ppsde bench run` goes on")
    lines += _grid(cells)
    latest = sorted(found.failures, key=lambda failure: failure.entry)[-FAILURES_TOLD:]
    lines += [printable(f"failed: {failure}") for failure in latest]
    return "\n".join(lines), done >= wanted


class Screen(Protocol):
    """Where a picture goes, in place of the one before."""

    def show(self, text: str) -> None: ...


@contextmanager
def _screen() -> Iterator[Screen]:
    """Rich on a terminal, escape codes without rich, and plain lines where there is no terminal."""
    if not sys.stdout.isatty() or os.environ.get("TERM") in (None, "dumb"):
        yield _Lines()
        return
    try:
        from rich.live import Live
        from rich.text import Text
    except ImportError:
        yield _Terminal()
        return

    with Live(auto_refresh=False, vertical_overflow="visible") as live:

        class _Rich:
            def show(self, text: str) -> None:
                live.update(Text.from_ansi(text), refresh=True)  # the head of the grid is bold

        yield _Rich()


class _Lines:
    """For files and pipes: a picture when it differs from the last."""

    def __init__(self) -> None:
        self._last = ""

    def show(self, text: str) -> None:
        if text != self._last:
            print(text, flush=True)
            self._last = text


class _Terminal:
    """The picture in place of the last one."""

    def show(self, text: str) -> None:
        print(f"\033[H\033[J{text}", flush=True)
