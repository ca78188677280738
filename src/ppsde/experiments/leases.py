"""Leases: who does which job, so that no job is done twice and none is left to a runner that is gone."""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .database import Database, Execute, drop, put
from .rows import ACCOUNT

LEASE = 60.0  # seconds after its last sign of life that a runner's jobs are given to others
SIGN_OF_LIFE = 10.0  # seconds between two


@dataclass(frozen=True)
class Runner:
    """One program that works on a store."""

    id: str
    place: str  # the machine, as far as process numbers mean the same
    pid: int
    born: str  # when the process began: process numbers are used again


@dataclass(frozen=True)
class Claim:
    """What came of asking for jobs."""

    taken: list[str]  # ours from now on
    finished: list[str]  # done already, by whomever


class Leases:
    """What one runner does with the leases of a store."""

    def __init__(
        self, database: Database, runner: Runner | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._database = database
        self._clock = clock
        self.runner = runner or this_runner()

    def sign_of_life(self) -> None:
        """Say that this runner is alive; its leases hold for another while."""
        with self._database.writing() as execute:
            self._sign(execute)

    def claim(self, candidates: Iterable[tuple[str, int]], most: int = 1) -> Claim:
        """Take the first free jobs of the candidates, given by id and number of runs, at most so many."""
        taken: list[str] = []
        finished: list[str] = []
        with self._database.writing() as execute:
            self._bury_the_dead(execute)
            self._sign(execute)
            for job, runs in candidates:
                if len(taken) == most:
                    break
                (done,) = execute("SELECT count(*) FROM results WHERE job = ?", job).fetchone()
                if done >= runs:
                    finished.append(job)
                elif not execute("SELECT 1 FROM leases WHERE job = ?", job).fetchone():
                    execute("INSERT INTO leases VALUES (?, ?)", job, self.runner.id)
                    taken.append(job)
        return Claim(taken, finished)

    def finish(self, job: str, rows: Sequence[tuple[int, bytes]], account: bytes) -> bool:
        """Put the rows of a job, run number and entry, into the store, and give the lease up.

        False, and nothing is stored, if the lease was lost meanwhile. A row that is there already, kept by a repair
        that lost others of its job, stays.
        """
        with self._database.writing() as execute:
            held = execute("SELECT runner FROM leases WHERE job = ?", job).fetchone()
            if held != (self.runner.id,):
                return False
            there = {run for (run,) in execute("SELECT run FROM results WHERE job = ?", job).fetchall()}
            for run, entry in rows:
                if run not in there:
                    put(execute, entry)
            for (number,) in execute("SELECT number FROM accounts WHERE job = ?", job).fetchall():
                drop(execute, number, ACCOUNT)
            put(execute, account)
            execute("DELETE FROM leases WHERE job = ?", job)
            self._sign(execute)
        return True

    def leave(self) -> None:
        """Give every lease up."""
        with self._database.writing() as execute:
            _forget(execute, self.runner.id)

    def _sign(self, execute: Execute) -> None:
        r = self.runner
        row = (r.id, r.place, r.pid, r.born, self._clock() + LEASE)
        execute("INSERT OR REPLACE INTO runners VALUES (?, ?, ?, ?, ?)", *row)

    def _bury_the_dead(self, execute: Execute) -> None:
        """Free the jobs of runners whose time is over, and of those whose process is gone."""
        for id, place, pid, born, expires in execute("SELECT * FROM runners").fetchall():
            gone = place == self.runner.place and not is_alive(pid, born)
            if id != self.runner.id and (gone or expires < self._clock()):
                _forget(execute, id)


def _forget(execute: Execute, runner: str) -> None:
    execute("DELETE FROM leases WHERE runner = ?", runner)
    execute("DELETE FROM runners WHERE runner = ?", runner)


def this_runner() -> Runner:
    """This process."""
    pid = os.getpid()
    return Runner(secrets.token_hex(8), this_place(), pid, _born(pid))


def is_alive(pid: int, born: str) -> bool:
    """Whether a process of this machine is still there, and is the one that began then."""
    if os.name != "posix":
        return True  # not known; its leases end by themselves
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return _born(pid) == born


def _born(pid: int) -> str:
    """When a process began, in the words of the system; 'ended' for one that only waits to be buried."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "ended" if fields[0] in "ZX" else fields[19]


def this_place() -> str:
    """The machine since it was started, and the space of process numbers within it."""
    machine = [socket.gethostname(), "", ""]
    with suppress(OSError):
        machine[1] = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        machine[2] = str(Path("/proc/self/ns/pid").readlink())
    return " ".join(machine)
