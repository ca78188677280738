"""A module that a problem's file imports changes between two runs of a study; only public names are used here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ppsde.experiments import Store

PROBLEM = """
import ppsde
from helper import SHIFT

problem = ppsde.Problem(lambda x: float(((x - SHIFT) ** 2).sum()), [(-1, 1)] * 2)
"""


def test_runs_before_and_after_a_helper_changed_are_of_two_jobs(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PROBLEM)
    words = ["--problem", "mine.py:problem", "--method", "jde", "--budget", "60", "--engine", "host", "--quiet"]
    for shift, runs in ((0.0, 1), (5.0, 2)):
        (tmp_path / "helper.py").write_text(f"SHIFT = {shift}\n")
        command = [sys.executable, "-m", "ppsde", "bench", "run", *words, "--runs", str(runs), "--store", "study.db"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    with Store(tmp_path / "study.db") as store:
        found = {result.run: result.f for result in store.results(plan=2)}
    assert sorted(found) == [0, 1] and min(found.values()) > 30, "run 0 of the first plan is of another problem"
