"""`ppsde bench status` and `bench watch`: how much of a study is done, once or again and again."""

from __future__ import annotations

import os
import sys
import time
from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from . import exit_status
from .parsing import command, whole
from .text import GAP, heading, print_json, printable, table, width

if TYPE_CHECKING:
    from ..experiments.store import CellStatus, StudyStatus

PULSE = 0.1  # seconds within which a signal ends the command
EVERY = 2.0
FAILURES_LISTED = 10  # by `status`
FAILURES_WATCHED = 3  # by `watch`


def add_status(tasks: Any) -> None:
    """Add the command `status` to those of `ppsde bench`."""
    task = command(
        tasks,
        "status",
        "how much of a study is done",
        "Which runs of each algorithm on each problem are done, which failed, who is\n"
        "working on the study, and how long it will take.",
        "ppsde bench status study.db",
    )
    task.add_argument("store", type=Path, metavar="STORE")
    task.add_argument("--plan", type=whole, metavar="N", help="only the N-th plan that was run into it")
    task.add_argument("--json", action="store_true", help="as JSON, for other programs")
    task.set_defaults(run=status)


def add_watch(tasks: Any) -> None:
    """Add the command `watch` to those of `ppsde bench`."""
    task = command(
        tasks,
        "watch",
        "watch a study while it is running",
        "Show how much of a study is done, again and again, until all is done or Ctrl-C.\n"
        "With --web the whole report is served to this machine and updates itself.",
        "ppsde bench watch study.db",
        "ppsde bench watch study.db --web --port 8080",
    )
    task.add_argument("store", type=Path, metavar="STORE")
    task.add_argument("--plan", type=whole, metavar="N", help="only the N-th plan that was run into it")
    task.add_argument("--once", action="store_true", help="show it once")
    task.add_argument("--every", type=_seconds, default=EVERY, metavar="S", help="seconds between updates (default: 2)")
    task.add_argument("--web", action="store_true", help="serve the report on this machine")
    task.add_argument("--port", type=_port, metavar="N", help="where, with --web (default: any that is free)")
    task.set_defaults(run=watch)


# --- status -----------------------------------------------------------------------------------------------------------


def status(arguments: Namespace) -> int:
    """Print how much of a study is done."""
    from ..display.progress import clock
    from ..experiments import Store
    from ..experiments.store import chosen_plan, status_of

    with Store(arguments.store) as store:
        store.check_count()
        plans = len(store.plans())
        chosen = chosen_plan(store, arguments.plan)
        found = status_of(store, chosen)
    done, wanted, failed = _totals(found)
    if arguments.json:
        return print_json(
            {
                "store": str(arguments.store),
                "plan": chosen,
                "plans": plans,
                "runs": wanted,
                "done": done,
                "failed": failed,
                "runners": found.runners,
                "evaluations_per_second": found.rate,
                "seconds_left": found.seconds_left,
                "cells": [vars(cell) for cell in found.cells],
                "failures": [vars(failure) for failure in found.failures],
            }
        )
    of_plan = f", plan {chosen} of {plans}" if chosen is not None else ""
    print(heading(f"{printable(str(arguments.store))}{of_plan}: {done:,} of {wanted:,} runs done, {failed:,} failed"))
    runners = _runners(found)
    if runners:
        print(runners)
    if found.rate is not None and found.seconds_left is not None:
        print(f"{found.rate:,.0f} evaluations/s, {clock(found.seconds_left)} left")
    print("\n".join(_grid(found.cells)))
    if found.failures:
        print(heading("\nfailed"))
        for failure in found.failures[:FAILURES_LISTED]:
            print(printable(str(failure)))
        if len(found.failures) > FAILURES_LISTED:
            print(f"and {len(found.failures) - FAILURES_LISTED:,} more")
    return exit_status.FOUND


def _totals(found: StudyStatus) -> tuple[int, int, int]:
    """Return the runs done, wanted and failed."""
    cells = found.cells
    return sum(cell.done for cell in cells), sum(cell.wanted for cell in cells), sum(cell.failed for cell in cells)


def _runners(found: StudyStatus) -> str:
    """Return who is working on a study, in words; nothing if all is done."""
    done, wanted, _ = _totals(found)
    if found.runners:
        return f"{found.runners} at work on it, {sum(cell.running for cell in found.cells):,} jobs in progress"
    return "no one is working on it; `ppsde bench run` resumes it" if done < wanted else ""


def _grid(cells: Sequence[CellStatus]) -> list[str]:
    """Return tables of algorithms x problems, each with as many columns as fit."""
    algorithms = list(dict.fromkeys(cell.algorithm for cell in cells))
    rows = list(dict.fromkeys((cell.dimension, cell.problem) for cell in cells))
    text = {(cell.algorithm, cell.dimension, cell.problem): _cell(cell) for cell in cells}
    lines: list[str] = []
    while algorithms:
        shown = algorithms[:1]
        for more in algorithms[1:]:
            if _width([*shown, more], rows, text) > width():
                break
            shown.append(more)
        algorithms = algorithms[len(shown) :]
        body = [(str(d), printable(name), *(text.get((label, d, name), "") for label in shown)) for d, name in rows]
        lines += ["", table(("D", "problem", *map(printable, shown)), body)]
    return lines


def _width(shown: Sequence[str], rows: Sequence[tuple[int, str]], text: Mapping[tuple[str, int, str], str]) -> int:
    columns = [max(len(label), *(len(text.get((label, d, name), "")) for d, name in rows)) for label in shown]
    return 4 + max(len(name) for _, name in rows) + sum(columns) + len(GAP) * (len(columns) + 1)


def _cell(cell: CellStatus) -> str:
    failed = f", {cell.failed} failed" if cell.failed else ""
    return f"{cell.done}/{cell.wanted}{failed}{' running' if cell.running else ''}"


# --- watch ------------------------------------------------------------------------------------------------------------


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
    """Show the status until the study is done, or until a signal, which is no failure here."""
    from ..engines.drive import noticed

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
    """Return the status of a study in lines, and whether all of it is done."""
    from ..display.progress import clock
    from ..experiments import Store
    from ..experiments.store import chosen_plan, status_of

    with Store(path) as store:
        found = status_of(store, chosen_plan(store, plan))
    done, wanted, failed = _totals(found)
    share = found.evaluations / found.budget if found.budget else 1.0
    lines = [f"{printable(str(path))}: {done:,} of {wanted:,} runs done ({share:.0%}), {failed:,} failed"]
    runners = _runners(found)
    if runners:
        pace = f", {found.rate:,.0f} evaluations/s" if found.rate else ""
        left = f", {clock(found.seconds_left)} left" if found.seconds_left is not None else ""
        lines.append(runners + pace + left)
    lines += _grid(found.cells)
    latest = sorted(found.failures, key=lambda failure: failure.entry)[-FAILURES_WATCHED:]
    lines += [printable(f"failed: {failure}") for failure in latest]
    return "\n".join(lines), done >= wanted


class Screen(Protocol):
    """A place for pictures, each in place of the one before."""

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
    """Files and pipes: a picture is printed if it differs from the last."""

    def __init__(self) -> None:
        self._last = ""

    def show(self, text: str) -> None:
        if text != self._last:
            print(text, flush=True)
            self._last = text


class _Terminal:
    """A terminal without rich: a picture in place of the last one."""

    def show(self, text: str) -> None:
        print(f"\033[H\033[J{text}", flush=True)
