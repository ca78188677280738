"""Kill -9 at any moment: the study goes on, and ends as if nothing had happened."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from experiments.studies import command, contents, without

from ppsde.experiments import Store
from ppsde.experiments.repair import damages

PLAN = """
algorithms = ["pps-de", "pps-de-published"]
problems = ["engineering:welded-beam", "engineering:tension-spring", "cec2006:g06", "cec2006:g24"]
runs = 3
budget = 700
record = 10
engine = "host"
"""


def study(folder: Path, store: Path, runs: int) -> subprocess.Popen[str]:
    (folder / "plan.toml").write_text(PLAN)
    return command("bench", "run", folder / "plan.toml", "--store", store, "--runs", runs, "--quiet", "--workers", 2)


def seconds_of(folder: Path, store: Path, runs: int) -> float:
    """What it takes to do what is left of a study."""
    began = time.monotonic()
    process = study(folder, store, runs)
    assert process.communicate(timeout=300)[1] == "" and process.returncode == 0
    return time.monotonic() - began


def wait_until_at_work(process: subprocess.Popen[str], store: Path) -> None:
    while process.poll() is None:
        if store.exists():
            with Store(store) as opened:
                if (process.pid,) in opened.database.rows("SELECT pid FROM runners"):
                    return
        time.sleep(0.01)


def kill_again_and_again(folder: Path, kills: int, runs: int, seed: int) -> tuple[int, list[int]]:
    """Kill a study so often at random moments; tells how many were finished, and the rows made before each kill."""
    undisturbed, store = folder / "undisturbed.db", folder / "killed.db"
    whole, nothing = seconds_of(folder, undisturbed, runs), seconds_of(folder, undisturbed, runs)
    work = (whole - nothing) / 6  # so that a study is killed several times before it is finished
    expected = contents(undisturbed)
    assert len(expected) == 8 * runs
    rng, finished, before, made = random.Random(seed), 0, 0, []
    while len(made) < kills:
        process = study(folder, store, runs)
        try:
            if len(made) % 2:
                wait_until_at_work(process, store)
                process.wait(timeout=rng.uniform(0.0, work))
            else:
                process.wait(timeout=rng.uniform(0.0, nothing + work))
        except subprocess.TimeoutExpired:
            process.kill()
        _, err = process.communicate()
        assert process.returncode in (0, -signal.SIGKILL) and err == ""
        rows = {}
        if store.exists():
            rows = contents(store)
            assert damages(store) == [] and rows.items() <= expected.items(), "what is there is right, always"
        if process.returncode == 0:
            assert rows == expected
            without(store)
            finished, before = finished + 1, 0
        else:
            made.append(len(rows) - before)
            before = len(rows)
    seconds_of(folder, store, runs)
    assert contents(store) == expected and damages(store) == []
    left = {file.name for file in folder.iterdir()} - {"plan.toml", "undisturbed.db", "killed.db"}
    assert all(".unfinished" in name for name in left)  # of stores that were being made
    return finished + 1, made


def test_a_study_killed_again_and_again_ends_like_an_undisturbed_one(tmp_path: Path) -> None:
    kill_again_and_again(tmp_path, kills=5, runs=3, seed=1)


@pytest.mark.slow
def test_a_study_killed_fifty_times_ends_like_an_undisturbed_one(tmp_path: Path) -> None:
    studies, made = kill_again_and_again(tmp_path, kills=50, runs=12, seed=2)
    print(f"50 kills in {studies} studies of 96 rows; rows made before each kill: {made}")
