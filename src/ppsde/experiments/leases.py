"""Leases: which runner does which job, so that no job is done twice and none waits for a runner that is gone."""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .database import Database, Execute, drop, put
from .rows import ACCOUNT, ROW, account_entry

LEASE = 60.0  # seconds after a runner's last sign of life until its jobs are given to others
SIGN_OF_LIFE = 10.0  # seconds between two signs of life

_at_work: set[str] = set()  # the runners of this process that have not left


@dataclass(frozen=True)
class Runner:
    """One program that works on a store."""

    id: str
    place: str  # the machine, since its last start, and the space of process numbers in it
    pid: int
    born: str  # when the process began, since process numbers are used again


@dataclass(frozen=True)
class Claim:
    """The answer to a request for jobs."""

    taken: list[str]  # leased to this runner
    finished: list[str]  # done already, by any runner
    busy: list[str]  # leased to others


class Leases:
    """The leases of a store, as one runner uses them."""

    def __init__(
        self, database: Database, runner: Runner | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._database = database
        self._clock = clock
        self.runner = runner or this_runner()

    def sign_of_life(self) -> None:
        """Extend the leases of this runner by `LEASE` seconds."""
        with self._database.writing() as execute:
            self._sign(execute)

    def claim(self, candidates: Iterable[tuple[str, int]], most: int = 1) -> Claim:
        """Lease the first free jobs of the candidates, each an id and its number of runs, at most `most` of them."""
        taken: list[str] = []
        finished: list[str] = []
        busy: list[str] = []
        with self._database.writing() as execute:
            self._free_lost_jobs(execute)
            self._sign(execute)
            for job, runs in candidates:
                if len(taken) == most:
                    break
                (done,) = execute("SELECT count(*) FROM results WHERE job = ?", job).fetchone()
                if done >= runs:
                    finished.append(job)
                elif execute("SELECT 1 FROM leases WHERE job = ?", job).fetchone():
                    busy.append(job)
                else:
                    execute("INSERT INTO leases VALUES (?, ?)", job, self.runner.id)
                    taken.append(job)
        return Claim(taken, finished, busy)

    def finish(self, job: str, rows: Sequence[tuple[int, bool, bytes]], account: Mapping[str, Any]) -> bool:
        """Store the rows of a job, each a run number, whether it failed and its entry, and end the lease.

        False, and nothing is stored, if the lease was lost meanwhile. A row that is there already stays: a repair may
        have lost other rows of the job.
        """
        with self._database.writing() as execute:
            held = execute("SELECT runner FROM leases WHERE job = ?", job).fetchone()
            if held != (self.runner.id,):
                return False
            there = {run for (run,) in execute("SELECT run FROM results WHERE job = ?", job).fetchall()}
            for run, failed, entry in rows:
                if run not in there:
                    put(execute, ROW, (job, run, int(failed)), entry)
            for (number,) in execute("SELECT number FROM accounts WHERE job = ?", job).fetchall():
                drop(execute, ACCOUNT, number)
            put(execute, ACCOUNT, (job, account["finished"]), account_entry({**account, "job": job}))
            execute("DELETE FROM leases WHERE job = ?", job)
            self._sign(execute)
        return True

    def leave(self) -> None:
        """End all leases of this runner; if they cannot be written, the next runner of this process does it."""
        _at_work.discard(self.runner.id)
        with self._database.writing() as execute:
            _forget(execute, self.runner.id)

    def _sign(self, execute: Execute) -> None:
        r = self.runner
        row = (r.id, r.place, r.pid, r.born, self._clock() + LEASE)
        execute("INSERT OR REPLACE INTO runners VALUES (?, ?, ?, ?, ?)", *row)

    def _free_lost_jobs(self, execute: Execute) -> None:
        """End the leases of runners that gave no sign of life in time, have left, or whose process is gone."""
        me = self.runner
        for id, place, pid, born, expires in execute("SELECT * FROM runners").fetchall():
            left = (pid, born) == (me.pid, me.born) and id not in _at_work
            gone = place == me.place and (left or not is_alive(pid, born))
            if id != self.runner.id and (gone or expires < self._clock()):
                _forget(execute, id)


def _forget(execute: Execute, runner: str) -> None:
    execute("DELETE FROM leases WHERE runner = ?", runner)
    execute("DELETE FROM runners WHERE runner = ?", runner)


def this_runner() -> Runner:
    """Return this process as a runner."""
    pid, id = os.getpid(), secrets.token_hex(8)
    _at_work.add(id)
    return Runner(id, this_place(), pid, _born(pid))


def is_alive(pid: int, born: str) -> bool:
    """Return whether the process of this machine that began at `born` still exists."""
    if os.name != "posix":
        return True  # not known; its leases end by time
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return _born(pid) == born


def _born(pid: int) -> str:
    """Return when a process began, as the system writes it; 'ended' for a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "ended" if fields[0] in "ZX" else fields[19]


def this_place() -> str:
    """Return a name for this machine since its last start, and for the space of process numbers in it."""
    machine = [socket.gethostname(), "", ""]
    with suppress(OSError):
        machine[1] = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        machine[2] = str(Path("/proc/self/ns/pid").readlink())
    return " ".join(machine)
