"""Runs killed without warning, again and again, and resumed until they end. A script, for a process of its own.

    python killing.py FOLDER KILLS SEED WORKERS EVERY

A line of JSON per run tells how it ended: how often it was killed, whether its result has the bits of the unbroken
run, and how many evaluations were finished in all. Each life of a run is a fork, so that it costs no start of Python.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import ppsde

BUDGET = 180
SECONDS = 0.001  # of an evaluation
BOX = [(-3.0, 4.0)] * 3


class Slow:
    """A constrained function that takes its time, fails now and then, and counts its calls in a file."""

    def __init__(self, calls: Path | None) -> None:
        self._calls = calls

    def __call__(self, x: np.ndarray) -> Any:
        if self._calls is not None:
            time.sleep(SECONDS)
            file = os.open(self._calls, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(file, x.tobytes())  # appended whole, whoever else writes
            os.close(file)
        if np.sin(37.0 * x.sum()) > 0.9:
            raise RuntimeError(f"no values at {x[0]:.3f}")
        return ((x - 1.0) ** 2).sum(), [1.0 - (x**2).sum()], [x[0] * x[1] - 0.5]


def digest(result: Any) -> str:
    """Of everything in a result that is not a time."""
    told = hashlib.sha256()
    numbers = [result.x, result.fun, result.violation, result.nfev, result.nit, result.n_failed, result.status]
    numbers += list(result.history.values()) + list(vars(result.population).values())
    for number in numbers:
        told.update(np.ascontiguousarray(number).tobytes())
    for failure in result.failures:
        told.update(failure.x.tobytes() + f"{failure.status} {failure.kind} {failure.message}".encode())
    told.update(" ".join(result.history).encode())
    return told.hexdigest()


def life(path: Path, calls: Path, ended: Path, workers: int, every: float) -> None:
    """Begin the run, or go on with it, in this process."""
    common: dict[str, Any] = {"workers": workers, "checkpoint_every": every}
    if path.exists():
        result = ppsde.resume(path, Slow(calls), **common)
    else:
        options = {"population_size": 8}
        result = ppsde.minimize(
            Slow(calls), BOX, method="pps-de", max_evaluations=BUDGET, rng=7, options=options, checkpoint=path, **common
        )
    part = ended.with_name(f"part-of-{ended.name}")  # a kill may come between a file's first moment and its content
    part.write_text(digest(result))
    part.replace(ended)


def outlived(process: int, seconds: float) -> bool:
    """Whether the process ended by itself; it is killed after so many seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        gone, status = os.waitpid(process, os.WNOHANG)
        if gone:
            if status:
                raise RuntimeError(f"a run ended by itself with status {status}")
            return True
        time.sleep(0.0005)
    os.kill(process, signal.SIGKILL)
    return os.waitpid(process, 0)[1] != signal.SIGKILL


def main(folder: Path, kills: int, seed: int, workers: int, every: float) -> None:
    unbroken = digest(
        ppsde.minimize(Slow(None), BOX, method="pps-de", max_evaluations=BUDGET, rng=7, options={"population_size": 8})
    )
    chance = random.Random(seed)
    longest = 1.0
    number = 0
    while kills > 0:
        path, calls, ended = (folder / f"{number}.{kind}" for kind in ("ppsde", "calls", "ended"))
        killed = 0
        while not ended.exists():
            began = time.monotonic()
            process = os.fork()
            if not process:
                life(path, calls, ended, workers, every)
                os._exit(0)
            if outlived(process, chance.uniform(0.0, 0.7 * longest) if kills > 0 else 60.0):
                longest = time.monotonic() - began if not killed else longest
            else:
                killed, kills = killed + 1, kills - 1
        points = np.frombuffer(calls.read_bytes()).reshape(-1, len(BOX))
        report = {
            "killed": killed,
            "same": ended.read_text() == unbroken,
            "finished": len(points),
            "points": len(np.unique(points, axis=0)),
            "left": sorted(file.name for file in folder.iterdir() if file.name.startswith((f"{number}.", "."))),
        }
        print(json.dumps(report), flush=True)
        number += 1


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]))
