"""Writes that fail, at random places of checkpoint, journal, store, report and export: a script of its own.

    LD_PRELOAD=faults.so python faults.py FOLDER CASES SEED [SCENARIO ...]

A line of JSON per finding, and one at the end with the number of cases in which a write failed, by kind. Failing means
EIO or ENOSPC, once or from then on, of write, pwrite, fsync, fdatasync, ftruncate, rename or link (`faults.c`).
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import io
import json
import random
import shutil
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from experiments.studies import a_job, entries_of
from killing import digest

import ppsde
from ppsde.cli import main as ppsde_command
from ppsde.experiments import Plan, Store, run
from ppsde.experiments.repair import damages

BOX = [(-3.0, 4.0)] * 2
BUDGET, STOP = 60, 40
SHIM: Any = ctypes.CDLL(None)  # this process, with the library that was loaded before all others


class Killed(BaseException):
    """Ends a run as a kill does."""


class Function:
    """A function that counts its calls, and how many of them ended before the first write failed."""

    def __init__(self, stop: int = 10**9) -> None:
        self.calls, self.before, self.stop = 0, 0, stop

    def __call__(self, x: np.ndarray) -> Any:
        if self.calls >= self.stop:
            raise Killed
        if not SHIM.faults_failed():
            self.before = self.calls
        self.calls += 1
        return ((x - 1.0) ** 2).sum(), [1.0 - (x**2).sum()], []


def searched(fun: Function, **more: Any) -> Any:
    options = {"population_size": 6}
    return ppsde.minimize(fun, BOX, method="jde", options=options, max_evaluations=BUDGET, rng=3, **more)


class Scenario:
    """Something that writes into a folder: `act` under faults, then `check` returns what is wrong, in words."""

    faults: tuple[Any, ...]

    def __init__(self, ready: Path) -> None:
        """Make what is needed once, in a folder without faults."""

    def act(self, folder: Path, chance: random.Random) -> None:
        raise NotImplementedError

    def check(self, folder: Path, error: BaseException | None) -> list[str]:
        raise NotImplementedError


class Checkpoint(Scenario):
    every = 0.0

    def __init__(self, ready: Path) -> None:
        self.whole = digest(searched(Function()))

    def act(self, folder: Path, chance: random.Random) -> None:
        self.fun = Function(STOP)
        with contextlib.suppress(Killed):
            searched(self.fun, checkpoint=folder / "run.ppsde", checkpoint_every=self.every)

    def check(self, folder: Path, error: BaseException | None) -> list[str]:
        path = folder / "run.ppsde"
        if error is not None:
            return [] if self.fun.calls == 0 else [f"a run ended with {error!r}"]
        if not path.exists():
            return ["there is no checkpoint"]
        again = Function()
        wrong = [] if digest(ppsde.resume(path, again)) == self.whole else ["the resumed run has other bits"]
        if again.calls > BUDGET - self.fun.before:
            wrong.append(f"{self.fun.before} were finished before, and {again.calls} of {BUDGET} were evaluated again")
        return wrong


class Journal(Checkpoint):
    every = 1e6


class InStore(Scenario):
    """Entries added one by one, as a runner does."""

    def __init__(self, ready: Path) -> None:
        jobs = [a_job(problem={"suite": "s", "name": f"P{k}"}, runs=(0,)) for k in range(4)]
        self.entries = list(entries_of(jobs, np.random.default_rng(1), (60, 2000)))

    def act(self, folder: Path, chance: random.Random) -> None:
        self.added: list[bytes] = []
        with Store(folder / "study.db", writable=True, make=True) as store:
            for entry in self.entries:
                store.add_entries([entry])
                self.added.append(entry)

    def check(self, folder: Path, error: BaseException | None) -> list[str]:
        path = folder / "study.db"
        if not path.exists():
            return ["entries are lost"] if self.added else []
        wrong = list(damages(path))
        with Store(path) as store:
            there = [entry for (entry,) in store.database.rows("SELECT entry FROM entries")]
        wrong += ["a finished entry is lost"] * (not set(self.added) <= set(there))
        wrong += ["an entry is there that was not written"] * (not set(there) <= set(self.entries))
        if error is None and len(there) < len(self.entries):
            wrong.append("entries are missing, and nothing was said")
        with Store(path, writable=True) as store:  # and it goes on
            store.add_entries([entry for entry in self.entries if entry not in there])
        return wrong + damages(path)


class Command(Scenario):
    """A command that writes files, over those of an earlier call or into an empty folder."""

    def arguments(self, folder: Path) -> list[Any]:
        raise NotImplementedError

    def __init__(self, ready: Path) -> None:
        self.store = ready / "study.db"
        if not self.store.exists():
            problems = ["cec2006:g06", "cec2006:g24"]
            run(Plan(["jde", "shade"], problems=problems, runs=2, budget=60, record=3, engine="host"), self.store)
        self.original = self.store.read_bytes()
        self.complete = ready / type(self).__name__
        self.complete.mkdir()
        assert called(self.arguments(self.complete)) == (0, "")

    def act(self, folder: Path, chance: random.Random) -> None:
        self.before = chance.random() < 0.5
        if self.before:
            SHIM.faults_end()
            shutil.copytree(self.complete, folder, dirs_exist_ok=True)
            SHIM.faults_begin(*self.faults)
        self.status, self.said = called(self.arguments(folder))

    def check(self, folder: Path, error: BaseException | None) -> list[str]:
        wrong = [] if error is None else [f"an error was not caught: {error!r}"]
        if self.status not in (0, 2) or (self.status == 2) != bool(self.said):
            wrong.append(f"status {self.status}, {self.said!r}")
        if self.said.count("\n") > 1 or "Traceback" in self.said:
            wrong.append(f"not a sentence: {self.said!r}")
        for file in (one for one in self.complete.rglob("*") if one.is_file()):
            twin = folder / file.relative_to(self.complete)
            if twin.exists():
                wrong += [f"{twin.name} is not complete"] * (twin.stat().st_size < 0.9 * file.stat().st_size)
            elif self.before or self.status == 0:
                wrong.append(f"{twin.name} is missing")
        left = [file.name for file in folder.rglob("*") if file.name.endswith(".unfinished")]
        wrong += [f"left behind: {left}"] * bool(left)
        return wrong + ["the store was changed"] * (self.store.read_bytes() != self.original)


class Report(Command):
    def arguments(self, folder: Path) -> list[Any]:
        return ["report", self.store, "-o", folder / "report.html", "--tables", folder / "tables"]


class Export(Command):
    def arguments(self, folder: Path) -> list[Any]:
        return ["export", self.store, "--format", "cec", "-o", folder / "cec"]


class Merge(Command):
    def arguments(self, folder: Path) -> list[Any]:
        return ["merge", folder / "new.db", self.store]

    def act(self, folder: Path, chance: random.Random) -> None:
        self.before = False
        self.status, self.said = called(self.arguments(folder))

    def check(self, folder: Path, error: BaseException | None) -> list[str]:
        there = folder / "new.db"
        return super().check(folder, error) + (damages(there) if there.exists() else [])


class Careless(Scenario):
    """A program that writes its file in place, of which half may be missing: something to be found."""

    def act(self, folder: Path, chance: random.Random) -> None:
        with (folder / "numbers").open("wb", buffering=100) as file:
            for k in range(100):
                file.write(bytes([k]) * 100)

    def check(self, folder: Path, error: BaseException | None) -> list[str]:
        return ["half a file"] * ((folder / "numbers").stat().st_size < 10_000)


def called(arguments: list[Any]) -> tuple[int, str]:
    """The status of `ppsde bench` and what it says on standard error."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        status = ppsde_command(["bench", *map(str, arguments)])
    return status, said.getvalue()


SCENARIOS: dict[str, Callable[[Path], Scenario]] = {
    "checkpoint": Checkpoint,
    "journal": Journal,
    "store": InStore,
    "report": Report,
    "export": Export,
    "merge": Merge,
}
WRONG = {"careless": Careless}  # by name only


def tried(scenario: Scenario, folder: Path, chance: random.Random, faults: tuple[Any, ...]) -> tuple[int, list[str]]:
    """How many calls wrote, and what is wrong after the scenario with these faults."""
    folder.mkdir()
    scenario.faults = (str(folder).encode(), *faults)
    error: BaseException | None = None
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        SHIM.faults_begin(*scenario.faults)
        try:
            scenario.act(folder, chance)
        except BaseException as raised:
            error = raised
        finally:
            calls = SHIM.faults_end()
    wrong = [] if error is None or isinstance(error, OSError | ValueError) else [f"not for users: {error!r}"]
    wrong += [f"a warning without words: {one.message!r}" for one in warned if not str(one.message)]
    if error is not None and len(str(error)) < 10:
        wrong.append(f"an error without words: {error!r}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wrong += scenario.check(folder, error)
    except Exception as raised:
        wrong.append(f"afterwards: {raised!r}")
    shutil.rmtree(folder)
    return calls, wrong


def main(folder: Path, cases: int, seed: int, names: list[str]) -> None:
    SHIM.faults_begin.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_int, ctypes.c_int]
    SHIM.faults_end.restype = SHIM.faults_failed.restype = ctypes.c_long
    ready = folder / "ready"
    ready.mkdir()
    chance = random.Random(seed)
    scenarios = {name: {**SCENARIOS, **WRONG}[name](ready) for name in names or SCENARIOS}
    writes = {}
    for name, scenario in scenarios.items():
        writes[name], wrong = tried(scenario, folder / "case", chance, (0, 0, 0))
        assert wrong == [] and writes[name] > 3, (name, wrong, writes)
    seen: Counter[str] = Counter()
    for number in range(cases):
        name = list(scenarios)[number % len(scenarios)]
        faults = chance.randint(1, writes[name]), chance.choice([errno.EIO, errno.ENOSPC]), chance.random() < 0.5
        _, wrong = tried(scenarios[name], folder / "case", chance, faults)
        seen[name] += SHIM.faults_failed() > 0
        for words in wrong:
            print(json.dumps({"scenario": name, "faults": faults, "wrong": words}), flush=True)
    print(json.dumps({"failed writes": seen, "writes": writes}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
