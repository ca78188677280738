"""The status of a study: counts, runners, rate and time left."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from experiments.studies import a_job, a_row, a_store

from ppsde.commands.watch import picture
from ppsde.experiments import Store
from ppsde.experiments.leases import Leases, Runner
from ppsde.experiments.rows import ROW, packed, sealed
from ppsde.experiments.store import CellStatus, new_store, status_of

JOBS = [a_job(problem={"suite": "cec2017", "name": name}) for name in ("C01", "C02", "C03")]


def test_cells_count_runs_done_failed_and_in_progress(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    a_store(path, JOBS)
    fourth = a_job(problem={"suite": "cec2017", "name": "C04"}, runs=(0, 1, 2))
    with Store(path, writable=True) as store:
        store.add_plan({}, [("mine", fourth)])
        # Jobs were finished at 1e9, 1e9 + 1 and 1e9 + 2, each with 2 runs of 1000 evaluations.
        leases = Leases(store.database, Runner("a", "elsewhere", 1, ""), clock=lambda: 1e9 + 5)
        leases.claim([(fourth.id, 3)])
        found = status_of(store, clock=lambda: 1e9 + 5)
        assert found.cells[0] == CellStatus("mine", "C01", 10, wanted=2, done=2, failed=0, running=0)
        assert found.cells[3] == CellStatus("mine", "C04", 10, wanted=3, done=0, failed=0, running=1)
        assert (found.runners, found.evaluations, found.budget) == (1, 6000, 9000)
        assert found.rate == pytest.approx(2 * 2000 / 5), "two jobs in the five seconds since the first was finished"
        assert found.seconds_left == pytest.approx(3000 / 800)
        late = status_of(store, clock=lambda: 1e9 + 1000)
        assert (late.runners, late.cells[3].running, late.rate, late.seconds_left) == (0, 0, None, None)


def test_failures_are_in_the_order_of_the_plan_whoever_was_done_first(tmp_path: Path) -> None:
    written = [(2, 1), (0, 1), (1, 0), (2, 0), (0, 0), (1, 1)]  # job and run
    path = tmp_path / "study.db"
    with new_store(path) as store:
        store.add_plan({}, [("mine", job) for job in JOBS])
        rng = np.random.default_rng(1)
        store.add_entries(sealed(ROW, packed(a_row(JOBS[job], run, rng, failed=True))) for job, run in written)
        found = status_of(store).failures
    in_plan = [(f"C0{job + 1}", run) for job in range(3) for run in range(2)]
    assert [(one.problem, one.run) for one in found] == in_plan
    late_first = sorted(found, key=lambda one: -one.entry)
    assert [(one.problem, one.run) for one in late_first] == [(f"C0{job + 1}", run) for job, run in reversed(written)]
    # Who looks on is told the latest ones.
    told = [line for line in picture(path, None)[0].splitlines() if line.startswith("failed: ")]
    assert told == [f"failed: mine, C0{job + 1}, D=10, run {run}: no luck" for job, run in written[-3:]]


def test_the_command_imports_no_report(tmp_path: Path) -> None:
    a_store(tmp_path / "study.db", JOBS)
    code = "import sys, ppsde.cli as c; c.main(['bench', 'status', 'study.db']); print(*sys.modules, sep=chr(10))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "6 of 6 runs done" in done.stdout
    assert [line for line in done.stdout.splitlines() if line.startswith(("ppsde.reports", "ppsde.stats"))] == []
