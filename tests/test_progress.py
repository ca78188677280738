"""The live display: what it shows, where, what it costs, and how it leaves the terminal."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest

from ppsde import Problem, minimize
from ppsde.display import progress
from ppsde.display.progress import Status, clock, display, short_text_of, status_of, text_of
from ppsde.engines.run import Run
from ppsde.request import Request

SHOW_A_RUN = """
import ppsde
def fun(x):
    if END == "raise" and len(seen) > 300:
        raise KeyboardInterrupt
    seen.append(x)
    return x[0] ** 2, [0.5 - x[0]], []
seen = []
problem = ppsde.Problem(fun, [(-2, 2)] * 2, name="parabola")
result = ppsde.minimize(problem, method="pps-de", max_evaluations=600, rng=1, progress=True)
"""


def a_run(budget: int = 400) -> Run:
    return Request(Problem(lambda x: 0.0, [(-1.0, 1.0)] * 2), "pps-de", max_evaluations=budget, seed=1).run()


def advance(run: Run) -> None:
    """One answer to what the run wants: minimise x0 with x0 >= 0.5."""
    assert run.wanted is not None
    run.supply(run.wanted[:, 0], 0.5 - run.wanted[:, :1], np.empty((len(run.wanted), 0)))


def on_a_terminal(code: str, tmp_path: Path, *, rich: bool) -> str:
    """Everything that the code sends to a terminal of 80 columns, its standard error."""
    pty = pytest.importorskip("pty")
    paths = [os.environ.get("PYTHONPATH")]
    if not rich:
        (tmp_path / "rich").mkdir()
        (tmp_path / "rich" / "__init__.py").write_text("raise ImportError('not here')\n")
        paths.insert(0, str(tmp_path))
    environment = {
        **{k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")},
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "TERM": "xterm",
        "COLUMNS": "80",
    }
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=theirs, stdout=subprocess.DEVNULL, stderr=theirs, env=environment
    )
    os.close(theirs)
    pieces = []
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # how Linux says that the other side is closed
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(ours)
    assert process.wait() == 0
    return b"".join(pieces).decode()


def test_nothing_is_shown_when_not_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    run = a_run()
    with display("quiet", run, enabled=False) as show:
        while run.wanted is not None:
            advance(run)
            show()
    assert capsys.readouterr() == ("", "")


def test_the_end_of_a_run_is_always_shown_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    minimize(Problem(lambda x: x[0], [(0, 1)], name="line"), method="pps-de", max_evaluations=123, rng=1, progress=True)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("line  100% of 123  ")
    assert "feasible 100%" in captured.err and captured.err.count("\n") == 1


def test_the_status_tells_what_the_history_holds() -> None:
    run = a_run(200)
    while run.wanted is not None:
        advance(run)
    status = status_of("test", run, seconds=4.0, evaluations=200)
    facts = dict(status.facts)
    assert (status.share, status.rate, status.time_left) == (1.0, 50.0, "0:00")
    assert facts["best"] == f"{run.history['f'][-1]:.8g}"
    assert facts["stage"] == {0.0: "push", 1.0: "pull"}[run.history["stage"][-1]]
    assert facts["feasible"] == f"{run.history['feasible_share'][-1]:.0%}"


def test_before_the_first_values_there_is_a_status_without_facts() -> None:
    status = status_of("test", a_run(), seconds=0.0, evaluations=0)
    assert status.facts == () and status.time_left == "-:--"


def test_time_left_is_what_the_rate_needs_for_the_rest() -> None:
    assert Status("t", 250, 1000, 10.0, ()).time_left == "1:15"
    assert [clock(s) for s in (0, 59.6, 3600)] == ["0:00", "1:00", "1:00:00"]


def test_a_hostile_title_cannot_steer_the_terminal() -> None:
    text = text_of(status_of("\033[2Jtitle\r\n" + "long " * 50, a_run(), 1.0, 0))
    assert text.isprintable() and "?[2Jtitle" in text and len(text) < 80


def test_a_narrow_terminal_still_shows_every_fact() -> None:
    facts = (("stage", "pull"), ("epsilon", "1.23e-05"), ("best", "-12345.678"), ("violation", "0.0123"))
    status = Status("a problem with a long name", 199_000, 200_000, 50.0, (*facts, ("feasible", "100%")))
    text = short_text_of(status, 79)
    assert len(text) <= 79
    assert all(value in text for _, value in status.facts)


def test_most_calls_only_look_at_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    monkeypatch.setattr(progress.Lines, "draw", lambda self, status: drawn.append(status))
    run = a_run()
    advance(run)
    with display("many calls", run, enabled=True) as show:
        show()
        begun = perf_counter()
        for _ in range(10_000):
            show()
        seconds = perf_counter() - begun
        during = len(drawn)
    assert seconds < 0.5  # 50 microseconds a call would still be a tenth of one generation
    assert during == 1 and len(drawn) == 2  # at the start and at the end


class Closed(io.StringIO):
    """A stream whose reader is gone."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


@pytest.mark.parametrize("terminal", [False, True])
def test_a_display_that_cannot_be_written_does_not_end_the_run(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Closed()
    stream.isatty = lambda: terminal  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "dumb")
    result = minimize(lambda x: x[0], [(0, 1)], method="pps-de", max_evaluations=100, rng=1, progress=True)
    assert result.nfev == 100


def test_an_exception_inside_passes_through_and_ends_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    stream.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "dumb")

    def fail(show: Callable[[], None]) -> None:
        show()
        raise ArithmeticError("inside")

    with pytest.raises(ArithmeticError, match="inside"), display("test", a_run(), enabled=True) as show:
        fail(show)
    assert stream.getvalue().startswith("\r") and stream.getvalue().endswith("\n")


@pytest.mark.skipif(os.name != "posix", reason="terminals as POSIX has them")
@pytest.mark.parametrize("end", ["spent", "raise"])
def test_with_rich_the_cursor_is_hidden_and_given_back_also_when_interrupted(end: str, tmp_path: Path) -> None:
    pytest.importorskip("rich")
    text = on_a_terminal(f"END = {end!r}\n" + SHOW_A_RUN, tmp_path, rich=True)
    assert text.count("\033[?25l") == text.count("\033[?25h") == 1
    assert text.rindex("\033[?25h") > text.rindex("parabola")
    assert ("100% of 600" in text and "stage" in text) == (end == "spent")


@pytest.mark.skipif(os.name != "posix", reason="terminals as POSIX has them")
@pytest.mark.parametrize("end", ["spent", "raise"])
def test_without_rich_one_line_is_rewritten_and_ended(end: str, tmp_path: Path) -> None:
    text = on_a_terminal(f"END = {end!r}\n" + SHOW_A_RUN, tmp_path, rich=False)
    assert text.count("\n") == 1 and text.endswith("\n")
    assert all(len(picture.rstrip("\r\n")) <= 79 for picture in text.split("\r"))
    assert "\033" not in text and "parabola" in text
