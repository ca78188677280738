"""A clock that jumps, a home that cannot be written to, and the kernel of a notebook."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from experiments.studies import LINUX, a_job, a_row, contents

from ppsde.experiments import Store
from ppsde.experiments.leases import Leases, Runner
from ppsde.experiments.repair import damages
from ppsde.experiments.rows import ROW, packed, sealed


@pytest.mark.parametrize("seed", range(5))
def test_runners_whose_clocks_jump_store_each_run_once_and_the_same(seed: int, tmp_path: Path) -> None:
    """Three runners on machines of their own: each of them may lose a lease at any moment, or its life."""
    chance = random.Random(seed)
    jobs = [a_job(problem={"suite": "s", "name": f"P{k}"}, runs=(0,)) for k in range(12)]
    rows = {job.id: a_row(job, 0, np.random.default_rng(k)) for k, job in enumerate(jobs)}
    path = tmp_path / "study.db"
    with Store(path, writable=True, make=True) as store:
        store.add_plan({"runs": 1}, [("mine", job) for job in jobs])
        times = dict.fromkeys("abc", 1e6)

        def joined(name: str, life: int) -> Leases:
            runner = Runner(f"{name}{life}", f"machine {name}", 1, "")
            return Leases(store.database, runner, clock=lambda: times[name])

        lives = dict.fromkeys("abc", 0)
        runners = {name: joined(name, 0) for name in "abc"}
        held: dict[str, list[str]] = {name: [] for name in "abc"}
        for _ in range(5000):
            name = chance.choice("abc")
            times[name] += chance.choice([1.0, 1.0, 20.0, 3600.0, -3600.0, -20.0])
            deed = chance.random()
            if deed < 0.4:
                held[name] += runners[name].claim([(job.id, 1) for job in jobs]).taken
            elif deed < 0.9 and held[name]:
                job = held[name].pop(chance.randrange(len(held[name])))
                entry = sealed(ROW, packed(rows[job]))
                runners[name].finish(job, [(0, False, entry)], {"finished": times[name]})
            elif deed > 0.98:  # it dies, and another begins there
                lives[name] += 1
                runners[name], held[name] = joined(name, lives[name]), []
            if store.database.rows("SELECT count(*) FROM results") == [(len(jobs),)]:
                break
    assert contents(path) == {(job, 0): row.content() for job, row in rows.items()}
    assert damages(path) == []


@pytest.mark.slow
@pytest.mark.skipif(not LINUX, reason="a folder that not even root can write to")
@pytest.mark.parametrize("home", ["/proc", "/dev/null", "/proc/nowhere"])
def test_a_home_that_cannot_be_written_to_changes_nothing(home: str, tmp_path: Path) -> None:
    pytest.importorskip("jax")
    code = (
        "import ppsde\n"
        "problem = ppsde.suites.get('cec2017').problem('C01', 2, instance=1)\n"
        "found = ppsde.solve_batch(problem, method='jde', runs=1, max_evaluations=200, rng=1)\n"
        "print(found.f.tobytes().hex())\n"
    )
    hidden = ("PPSDE_CACHE", "XDG_CACHE_HOME", "JAX_COMPILATION_CACHE_DIR")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    said = []
    for folder in (str(tmp_path), home):
        words = [sys.executable, "-W", "error", "-c", code]
        done = subprocess.run(words, env={**environment, "HOME": folder}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        said.append(done.stdout)
    assert said[0] == said[1] != ""


# Cells of a notebook, and what each prints.
CELLS = {
    """import os, signal, subprocess
import ppsde
BOX = [(-1, 1)] * 2
common = {"max_evaluations": 150, "rng": 2, "method": "jde"}
def plain(x):
    return float((x**2).sum())
alone, two = (ppsde.minimize(plain, BOX, **common, workers=workers) for workers in (1, 2))
print((alone.x == two.x).all(), two.nfev)""": "True 150",
    """def dies(x):
    return os._exit(3) if x[0] < -0.6 else plain(x)
result = ppsde.minimize(dies, BOX, **common, workers=2)
print(result.success, {failure.status for failure in result.failures})""": "True {'crashed'}",
    """def forks(x):
    if x[0] < -0.6 and os.fork() == 0:
        os.execvp("no-such-solver", ["no-such-solver"])
    return plain(x)
result = ppsde.minimize(forks, BOX, **common, workers=2, eval_timeout=20)
print(result.success, result.fun == plain(result.x))""": "True True",
    """calls = []
def interrupted(x):
    calls.append(x)
    if len(calls) == 60:
        os.kill(os.getpid(), signal.SIGINT)
    return plain(x)
result = ppsde.minimize(interrupted, BOX, **common)
print(result.message, result.n_calls)""": "interrupted 60",
    """def stops(x):
    if len(calls) == 120:
        raise GeneratorExit
    return interrupted(x)
try:
    ppsde.minimize(stops, BOX, **common)
except GeneratorExit as error:
    print(error.result.n_calls)""": "61",
    """left = subprocess.run(["pgrep", "-P", str(os.getpid())], capture_output=True, text=True).stdout.split()
print(left)""": "[]",
}


@pytest.mark.slow
@pytest.mark.skipif(not LINUX, reason="processes as Linux shows them")
@pytest.mark.filterwarnings("default")  # of the libraries that run the notebook
def test_attacks_in_the_kernel_of_a_notebook_are_survived() -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in CELLS])
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    printed = ["".join(output.get("text", "") for output in cell.outputs).strip() for cell in notebook.cells]
    assert printed == list(CELLS.values())
