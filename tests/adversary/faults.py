"""Writes that fail, at random places of whatever this package writes: a script of its own.

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
import os
import random
import shutil
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from experiments.studies import a_job, contents, entries_of
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


class Saved(Scenario):
    """An `Optimizer` that is saved after every generation."""

    def act(self, folder: Path, chance: random.Random) -> None:
        search = ppsde.Optimizer(BOX, method="jde", max_evaluations=BUDGET, rng=3, options={"population_size": 6})
        self.saved = 0
        while not search.done:
            x = search.ask()
            search.tell(x, ((x - 1.0) ** 2).sum(axis=1))
            search.save(folder / "search.ppsde")
            self.saved = search.result.nfev

    def check(self, folder: Path, error: BaseException | None) -> list[str]:
        wrong = [f"left behind: {file.name}" for file in folder.iterdir() if file.name != "search.ppsde"]
        if not (folder / "search.ppsde").exists():
            return wrong + ["the file is missing"] * (self.saved > 0)
        found = ppsde.Optimizer.load(folder / "search.ppsde").result.nfev
        return wrong + [f"{found} evaluations are there, {self.saved} were saved"] * (found < self.saved)


class Study(Scenario):
    """A study that is run by the command, and run again without faults."""

    def __init__(self, ready: Path) -> None:
        self.store = ready / "undisturbed.db"
        assert called(self.arguments(self.store)) == (0, "")
        self.rows = contents(self.store)

    def arguments(self, store: Path) -> list[Any]:
        words = ["bench", "run", "--problem", "cec2006:g06,cec2006:g24", "--method", "jde,shade", "--runs", 2]
        return [*words, "--budget", 60, "--record", 3, "--engine", "host", "--workers", 1, "--quiet", "--store", store]

    def act(self, folder: Path, chance: random.Random) -> None:
        self.status, self.said = called(self.arguments(folder / "study.db"))

    def check(self, folder: Path, error: BaseException | None) -> list[str]:
        path = folder / "study.db"
        wrong = said_badly(self.status, self.said, error) + (damages(path) if path.exists() else [])
        there = contents(path) if path.exists() else {}
        wrong += ["another row is there"] * (not there.items() <= self.rows.items())
        wrong += ["rows are missing, and nothing was said"] * (self.status == 0 and there != self.rows)
        if called(self.arguments(path)) != (0, "") or contents(path) != self.rows or damages(path):
            wrong.append("run again, the study does not end as the undisturbed one")
        return wrong


class Programs(Scenario):
    """A compiled program that is stored for later processes."""

    def act(self, folder: Path, chance: random.Random) -> None:
        from compiled_programs import stored_in

        os.environ["PPSDE_CACHE"] = str(folder / "programs")
        with stored_in(None):
            self.compile()

    def compile(self) -> None:
        import jax

        from ppsde.engines.program_cache import remembered

        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        with remembered():  # a new function each time, which JAX does not know yet
            assert jax.jit(lambda x: 3.0 * x + 0.125)(2.0) == 6.125

    def check(self, folder: Path, error: BaseException | None) -> list[str]:
        from compiled_programs import stored_in

        wrong = [] if error is None else [f"an error was not caught: {error!r}"]
        with warnings.catch_warnings(record=True) as said, stored_in(None):
            warnings.simplefilter("always")
            self.compile()
            self.compile()
        os.environ["PPSDE_CACHE"] = ""
        return wrong + [f"said afterwards: {one.message}" for one in said]


def said_badly(status: int, said: str, error: BaseException | None) -> list[str]:
    """What is wrong with the end of a command."""
    wrong = [] if error is None else [f"an error was not caught: {error!r}"]
    if status not in (0, 2) or (status == 2) != bool(said):
        wrong.append(f"status {status}, {said!r}")
    if said.count("\n") > 1 or "Traceback" in said:
        wrong.append(f"not a sentence: {said!r}")
    return wrong


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
        wrong = said_badly(self.status, self.said, error)
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
        return ["bench", "report", self.store, "-o", folder / "report.html", "--tables", folder / "tables"]


class Figures(Command):
    def arguments(self, folder: Path) -> list[Any]:
        return ["bench", "report", self.store, "-o", folder / "report.html", "--figures", folder / "figures"]


class Compare(Command):
    def arguments(self, folder: Path) -> list[Any]:
        words = ["compare", self.store, "--before", "jde", "--after", "shade"]
        return [*words, "-o", folder / "changes.html", "--json", folder / "changes.json"]


class Export(Command):
    format = "cec"

    def arguments(self, folder: Path) -> list[Any]:
        return ["bench", "export", self.store, "--format", self.format, "-o", folder / self.format]


class Ioh(Export):
    format = "ioh"


class Parquet(Export):
    format = "parquet"


class Solve(Command):
    def arguments(self, folder: Path) -> list[Any]:
        words = ["solve", "cec2006:g24", "--method", "jde", "--seed", 1, "--max-evaluations", 200, "--quiet"]
        return [*words, "--json", folder / "run.json", "--plot", folder / "run.png"]


class Picture(Command):
    def arguments(self, folder: Path) -> list[Any]:
        return ["suites", "plot", "g24", "--suite", "cec2006", "-o", folder / "g24.png"]


class Design(Command):
    def arguments(self, folder: Path) -> list[Any]:
        return ["suites", "plot", "ten-bar-truss", "--suite", "cec2020rw", "--design", "-o", folder / "design.svg"]


class Import(Command):
    """An archive of the organisers that becomes a file of this package."""

    def __init__(self, ready: Path) -> None:
        from suites.test_cec2017_data import write_matlab

        from ppsde.suites.cec2017_data import SHAPES

        chance = np.random.default_rng(1)
        self.archive = ready / "archive"
        write_matlab(self.archive, {key: chance.uniform(-3, 3, shape) for key, shape in SHAPES.items()})
        super().__init__(ready)

    def arguments(self, folder: Path) -> list[Any]:
        return ["suites", "import", self.archive, "--to", folder / "data"]


class Reproduce(Command):
    """A comparison with what was published, of a study that was run before."""

    def __init__(self, ready: Path) -> None:
        words = ["reproduce", "--problem", "C01", "--runs", 2, "--budget-per-variable", 60, "--instance", 1]
        self.words = [*words, "--method", "pps-de", "--dimension", 10]
        assert called([*self.words, "-o", ready / "run"])[0] == 0
        self.run = ready / "run" / "reproduce.db"
        super().__init__(ready)

    def arguments(self, folder: Path) -> list[Any]:
        return [*self.words, "--from", self.run, "-o", folder / "again"]


class Merge(Command):
    def arguments(self, folder: Path) -> list[Any]:
        return ["bench", "merge", folder / "new.db", self.store]

    def act(self, folder: Path, chance: random.Random) -> None:
        self.before = False
        self.status, self.said = called(self.arguments(folder))

    def check(self, folder: Path, error: BaseException | None) -> list[str]:
        there = folder / "new.db"
        return super().check(folder, error) + (damages(there) if there.exists() else [])


class Repair(Merge):
    def arguments(self, folder: Path) -> list[Any]:
        return ["bench", "repair", self.store, "-o", folder / "new.db"]


class Careless(Scenario):
    """A program that writes its file in place, of which half may be missing: something to be found."""

    def act(self, folder: Path, chance: random.Random) -> None:
        with (folder / "numbers").open("wb", buffering=100) as file:
            for k in range(100):
                file.write(bytes([k]) * 100)

    def check(self, folder: Path, error: BaseException | None) -> list[str]:
        return ["half a file"] * ((folder / "numbers").stat().st_size < 10_000)


def called(arguments: list[Any]) -> tuple[int, str]:
    """The status of `ppsde` and what it says on standard error."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        status = ppsde_command([*map(str, arguments)])
    return status, said.getvalue()


SCENARIOS: dict[str, Callable[[Path], Scenario]] = {
    "checkpoint": Checkpoint,
    "journal": Journal,
    "store": InStore,
    "report": Report,
    "export": Export,
    "merge": Merge,
    "optimizer": Saved,
    "study": Study,
    "programs": Programs,
    "ioh": Ioh,
    "parquet": Parquet,
    "solve": Solve,
    "repair": Repair,
    "figures": Figures,
    "compare": Compare,
    "picture": Picture,
    "design": Design,
    "import": Import,
    "reproduce": Reproduce,
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
        assert wrong == [] and writes[name] > 1, (name, wrong, writes)
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
