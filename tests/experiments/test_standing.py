"""How a study stands: counts, who is at work, rate and time left."""

from __future__ import annotations

from pathlib import Path

import pytest
from experiments.studies import a_job, a_store

from ppsde.experiments import Store
from ppsde.experiments.leases import Leases, Runner
from ppsde.experiments.standing import Cell, standing

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
        found = standing(store, clock=lambda: 1e9 + 5)
        assert found.cells[0] == Cell("mine", "C01", 10, wanted=2, done=2, failed=0, running=0)
        assert found.cells[3] == Cell("mine", "C04", 10, wanted=3, done=0, failed=0, running=1)
        assert (found.runners, found.evaluations, found.budget) == (1, 6000, 9000)
        assert found.rate == pytest.approx(2 * 2000 / 5), "two jobs in the five seconds since the first was finished"
        assert found.seconds_left == pytest.approx(3000 / 800)
        late = standing(store, clock=lambda: 1e9 + 1000)
        assert (late.runners, late.cells[3].running, late.rate, late.seconds_left) == (0, 0, None, None)
