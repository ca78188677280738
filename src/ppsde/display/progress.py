"""Live displays of a run or a study on standard error: progress, speed and time left; and durations as text."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any, Protocol, TextIO

REFRESH = 0.1  # seconds between two updates on a terminal
NOTEBOOK_REFRESH = 0.25  # seconds between two updates in a notebook
LINE_EVERY = 5.0  # seconds between two lines in a file or pipe
STAGES = {0.0: "push", 1.0: "pull"}
SHORT = {"stage": "", "epsilon": "eps", "best": "f", "violation": "viol", "feasible": "feas", "failed": "fail"}


@dataclass(frozen=True)
class Status:
    """The progress of a run or a study, as text and numbers for a display."""

    title: str
    evaluations: int
    budget: int
    rate: float  # evaluations per second since the display began
    facts: tuple[tuple[str, str], ...]  # label and value, such as ("epsilon", "0.012")

    @property
    def share(self) -> float:
        """Share of the budget that is used."""
        return self.evaluations / self.budget

    @property
    def time_left(self) -> str:
        """Estimated time to the end, as m:ss or h:mm:ss."""
        return clock((self.budget - self.evaluations) / self.rate) if self.rate > 0 else "-:--"


class Advancing(Protocol):
    """A run, or several on one budget, as far as a display reads it."""

    @property
    def evaluations(self) -> int:
        """Evaluations made so far."""

    @property
    def failed(self) -> int:
        """Those of them that failed."""

    @property
    def task(self) -> Any:
        """Its `max_evaluations` is the budget."""

    @property
    def latest(self) -> Mapping[str, float]:
        """The last row of the history, by column; empty before the first generation is finished."""


Show = Callable[[Callable[[], Status]], None]


class View(Protocol):
    """A kind of display."""

    interval: float  # seconds between two updates

    def draw(self, status: Status) -> None:
        """Show the status."""

    def close(self) -> None:
        """End the display."""


@contextmanager
def live(enabled: bool) -> Iterator[Show]:
    """Yield a function `show(status)`, which may be called often: it calls `status()` only when an update is due.

    A display that cannot be written, for instance to a closed pipe, stops; it never ends a run or a study.
    """
    view: View | None = None
    due = 0.0
    last: Callable[[], Status] | None = None

    def draw() -> None:
        nonlocal view
        if view is not None and last is not None:
            try:
                view.draw(last())
            except (OSError, ValueError):  # closed, full, or its encoding lacks a character
                close()

    def close() -> None:
        nonlocal view
        if view is not None:
            closing, view = view, None
            with suppress(OSError, ValueError):
                closing.close()

    def show(status: Callable[[], Status]) -> None:
        nonlocal due, last
        last = status
        if view is not None and monotonic() >= due:
            draw()
            due = monotonic() + (view.interval if view is not None else 0.0)

    if enabled and sys.stderr is not None:
        with suppress(OSError, ValueError):
            view = view_of(sys.stderr)
    try:
        yield show
        draw()  # the final status, even if no update is due
    finally:
        close()


@contextmanager
def display(title: str, run: Advancing, enabled: bool, sign: float = 1.0) -> Iterator[Callable[[], None]]:
    """Yield a function to call after each generation of a run; it costs little unless an update is due.

    The objective is shown times `sign`.
    """
    begun, before = monotonic(), run.evaluations

    def status() -> Status:
        return status_of(title, run, monotonic() - begun, run.evaluations - before, sign)

    with live(enabled) as show:
        show(status)
        yield lambda: show(status)


def status_of(title: str, run: Advancing, seconds: float, evaluations: int, sign: float = 1.0) -> Status:
    """Return the status of a run; `evaluations` in `seconds` determine the rate."""
    latest = run.latest
    facts = []
    if "stage" in latest:
        facts.append(("stage", STAGES.get(latest["stage"], f"{latest['stage']:g}")))
    if "epsilon" in latest and latest.get("stage") != 0.0:  # the push does not use epsilon
        facts.append(("epsilon", f"{latest['epsilon']:.2e}"))
    if latest:
        facts.append(("best", f"{sign * latest['f']:.8g}"))
        facts.append(("violation", f"{latest['violation']:.3g}"))
        facts.append(("feasible", f"{latest['feasible_share']:.0%}"))
    if run.failed:
        facts.append(("failed", f"{run.failed:,}"))
    return Status(
        title="".join(letter if letter.isprintable() else "?" for letter in title)[:30],
        evaluations=run.evaluations,
        budget=run.task.max_evaluations,
        rate=evaluations / seconds if seconds > 0 else 0.0,
        facts=tuple(facts),
    )


def clock(seconds: float) -> str:
    """Return seconds as m:ss or h:mm:ss.

    Examples
    --------
    >>> clock(75), clock(3700)
    ('1:15', '1:01:40')
    """
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02d}:{second:02d}" if hours else f"{minute}:{second:02d}"


def view_of(stream: TextIO) -> View:
    """Return the display: in a notebook a widget, or a line without ipywidgets; elsewhere by the stream.

    A file or pipe gets lines; a terminal gets rich if it is installed, else one line.
    """
    if in_notebook():
        try:
            return Widget()
        except ImportError:
            return NotebookLine()
    if not stream.isatty():
        return Lines(stream)
    try:
        from rich.console import Console
    except ImportError:
        return OneLine(stream)
    console = Console(file=stream)
    return Rich(console) if console.is_terminal and not console.is_dumb_terminal else OneLine(stream)


class Lines:
    """Prints a line every few seconds, for files and pipes."""

    interval = LINE_EVERY

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def draw(self, status: Status) -> None:
        """Print the status as a line."""
        if status.evaluations or "waiting" in dict(status.facts):  # else there is nothing to show yet
            self._stream.write(text_of(status) + "\n")
            self._stream.flush()

    def close(self) -> None:
        """Do nothing."""


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


class Widget:
    """Shows a progress bar and a line of facts in a notebook, by ipywidgets."""

    interval = NOTEBOOK_REFRESH

    def __init__(self) -> None:
        from ipywidgets import FloatProgress, HBox, Label

        self._bar, self._label = FloatProgress(value=0.0, min=0.0, max=1.0), Label()
        self._box = HBox([self._bar, self._label])
        self._shown = False

    def draw(self, status: Status) -> None:
        """Update the bar and the facts."""
        from IPython.display import display as show

        self._bar.value, self._bar.description = status.share, status.title[:12]
        self._label.value = text_of(status)
        if not self._shown:
            show(self._box)
            self._shown = True

    def close(self) -> None:
        """Mark the bar as ended; it stays on the page."""
        self._bar.bar_style = "success" if self._bar.value >= 1 else "info"


class NotebookLine:
    """Updates one line in a notebook that has no ipywidgets."""

    interval = NOTEBOOK_REFRESH

    def __init__(self) -> None:
        self._handle: Any = None

    def draw(self, status: Status) -> None:
        """Replace the line by the status."""
        from IPython.display import display as show

        content = {"text/plain": text_of(status)}
        if self._handle is None:
            self._handle = show(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)

    def close(self) -> None:
        """Do nothing: the line stays."""


class OneLine:
    """Overwrites one line, for a terminal without rich."""

    interval = REFRESH

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def draw(self, status: Status) -> None:
        """Overwrite the line with the status."""
        width = shutil.get_terminal_size().columns - 1  # a full line would make some terminals scroll
        text = text_of(status)
        self._stream.write("\r" + (text if len(text) <= width else short_text_of(status, width)).ljust(width))
        self._stream.flush()

    def close(self) -> None:
        """End the line."""
        self._stream.write("\n")
        self._stream.flush()


class Rich:
    """Shows a progress bar and a line of facts, by rich."""

    interval = REFRESH

    def __init__(self, console: Any) -> None:
        from rich.live import Live

        # Output of the objective is printed above the display, but only if both are the same terminal.
        same = sys.stdout is not None and sys.stdout.isatty()
        self._live = Live(console=console, auto_refresh=False, redirect_stdout=same)
        self._live.start()

    def draw(self, status: Status) -> None:
        """Update the bar and the facts."""
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        bar = Table.grid(padding=(0, 1), expand=False)
        bar.add_row(
            Text(status.title, style="bold"),
            ProgressBar(total=status.budget, completed=status.evaluations, width=20),
            Text(_progress(status)),
        )
        facts = Text("  ", no_wrap=True, overflow="ellipsis")
        for label, value in status.facts:
            facts.append(f"{label} ", style="dim").append(f"{value}  ", style=_style(label, value))
        self._live.update(Group(bar, facts), refresh=True)

    def close(self) -> None:
        """End the display; its last state stays on the terminal."""
        self._live.stop()


def text_of(status: Status) -> str:
    """Return the status as one line of plain text."""
    return "  ".join([status.title, _progress(status), *(f"{label} {value}" for label, value in status.facts)])


def short_text_of(status: Status, width: int) -> str:
    """Return the status as a line of at most `width` letters: short labels, no rate, the title cut."""
    facts = " ".join(f"{SHORT.get(label, label)} {value}".strip() for label, value in status.facts)
    text = f" {status.share:.0%} {status.time_left} left  {facts}"
    return (status.title[: max(0, width - len(text))] + text)[:width]


def _progress(status: Status) -> str:
    return f"{status.share:.0%} of {status.budget:,}  {status.rate:,.0f}/s  {status.time_left} left"


def _style(label: str, value: str) -> str:
    if label == "stage":
        return "yellow" if value == "push" else "cyan"
    if label == "violation":
        return "green" if value == "0" else "red"
    if label == "failed":
        return "red"
    return ""


def duration(seconds: float) -> str:
    """Return a duration as text, in a suitable unit.

    Examples
    --------
    >>> duration(0.0000123), duration(0.0456), duration(7.26), duration(7260.0)
    ('12.3 us', '45.6 ms', '7.26 s', '2.02 h')
    """
    for limit, unit, scale in ((1e-3, "us", 1e6), (1.0, "ms", 1e3), (120.0, "s", 1.0), (7200.0, "min", 1 / 60)):
        if seconds < limit:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds / 3600:.3g} h"


def times(total: float, mean: float, longest: float) -> str:
    """Return the seconds of a run, per evaluation and of the longest evaluation (NaN if not known) as text.

    Examples
    --------
    >>> times(75.0, 0.0123, 0.5)
    '75 s; 12.3 ms per evaluation, 500 ms at most'
    """
    most = f", {duration(longest)} at most" if longest == longest else ""
    return f"{duration(total)}; {duration(mean)} per evaluation{most}"
