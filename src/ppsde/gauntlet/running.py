"""Runs each job by each library, in a process of its own that is killed when its time is up."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

from .jobs import JOBS, Told, Verdict
from .libraries import LIBRARIES


def verdict_on(job: str, library: str, patience: float = 1.0) -> Verdict:
    """Run one job by one library, once for each of the job's seeds, and judge.

    `patience` multiplies the time that each run may take.
    """
    return JOBS[job].judge([told(job, library, seed, JOBS[job].seconds * patience) for seed in JOBS[job].seeds])


def verdicts(
    libraries: Sequence[str], jobs: Sequence[str], patience: float, after: Callable[[str, str, Verdict], Any]
) -> dict[tuple[str, str], Verdict]:
    """Run and judge all of them, one after another."""
    found = {}
    for job in jobs:
        for library in libraries:
            found[job, library] = verdict_on(job, library, patience)
            after(job, library, found[job, library])
    return found


def told(job: str, library: str, seed: int, seconds: float) -> Told:
    """What one run told, or how it ended without telling."""
    command = [sys.executable, "-m", "ppsde.gauntlet", "--run", job, library, str(seed)]
    with tempfile.TemporaryFile() as answer:  # not a pipe, whose end a worker left behind could hold open
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=answer, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            return Told("hung", f"killed after {seconds:g} s")
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # its workers too: they are in the session it began
            process.wait()
        answer.seek(0)
        out = answer.read()
    if process.returncode < 0:
        return Told("died", f"killed by {signal.Signals(-process.returncode).name}")
    try:
        fields = json.loads(out)
    except ValueError:
        return Told("died", f"exit status {process.returncode} without an answer")
    return Told(**{**fields, "x": None if fields["x"] is None else tuple(fields["x"])})


def versions() -> dict[str, str | None]:
    """The version of each library, None where it is not installed."""
    return {name: library.version() for name, library in LIBRARIES.items()}
