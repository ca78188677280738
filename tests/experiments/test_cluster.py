"""Studies on a Dask cluster: the rows of one machine, whatever dies, and named refusals."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from experiments.clusters import Host, a_cluster, disturbed, rows_in
from experiments.studies import LINUX, command, contents
from processes import alive, all_gone, marked

from ppsde.experiments import Plan, Store, run
from ppsde.experiments.cluster import Cluster, DaskWorker

pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.skipif(not LINUX, reason="processes as Linux shows them"),
    pytest.mark.filterwarnings("default"),  # the cluster's own are not ours to mend
]

ODD = """
import os
import time
from pathlib import Path

import ppsde

HERE = Path(__file__).parent


def dies(x):
    os._exit(7)


def waits(x):
    (HERE / "begun").touch()
    while not (HERE / "go").exists():
        time.sleep(0.05)
    return float(x @ x)


BOX = [(-1, 1)] * 2
dying = ppsde.Problem(dies, BOX)
waiting = ppsde.Problem(waits, BOX)
negative = ppsde.Problem(lambda x: float(x @ x) if x[0] > 0 else 1 / 0, BOX)
"""
SMALL: dict[str, Any] = {"runs": 1, "budget": 90, "record": 5, "engine": "host"}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with a_cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found


def odd(folder: Path, *names: str) -> Plan:
    (folder / "odd.py").write_text(ODD)
    problems = [f"odd.py:{name}" for name in names]
    return Plan(["jde"], problems=problems, folder=folder, **SMALL)


def test_rows_are_those_of_one_machine_also_of_runs_that_fail(host: Host, tmp_path: Path) -> None:
    plan = odd(tmp_path, "negative", "dying")
    assert run(plan, tmp_path / "alone.db").failed == 1
    summary = run(plan, tmp_path / "study.db", dask=host.address)
    assert (summary.done, summary.failed, summary.interrupted) == (2, 1, False)
    assert contents(tmp_path / "study.db") == contents(tmp_path / "alone.db")
    with Store(tmp_path / "study.db") as store:
        results = list(store.results())
        account = store.account(results[0].job.id)
    assert {result.message for result in results} == {"", "the process ended with exit status 7"}
    assert account is not None and account["seconds"] > 0 and account["host"]
    assert run(plan, tmp_path / "study.db", dask=host.address).done == 2, "nothing is done again"


def test_killed_workers_change_no_row(host: Host, tmp_path: Path) -> None:
    disturbed(tmp_path, host, runs=20, kills={"worker": 2}, seed=1)


@pytest.mark.slow
def test_killed_workers_clients_and_schedulers_change_no_row(tmp_path: Path) -> None:
    with a_cluster(tmp_path, workers=4) as host:
        seen = disturbed(tmp_path, host, runs=1000, kills={"worker": 20, "client": 3, "scheduler": 1}, seed=2)
    assert seen["workers killed"] == 20 and seen["clients"] == 4
    print(seen)


@pytest.mark.slow
def test_a_worker_that_says_nothing_any_more_changes_no_row(tmp_path: Path) -> None:
    with a_cluster(tmp_path, DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL="10s") as host:
        disturbed(tmp_path, host, runs=30, kills={"stopped worker": 1}, seed=4)


@pytest.mark.slow
def test_jobs_of_a_client_that_is_gone_end(host: Host, tmp_path: Path) -> None:
    odd(tmp_path, "waiting")
    argv = ("bench", "run", "--problem", tmp_path / "odd.py:waiting", "--method", "jde", "--runs", 4, "--budget", 20)
    argv = (*argv, "--record", 5, "--store", tmp_path / "study.db", "--dask", host.address, "--quiet")
    with marked() as mark:
        client = command(*argv)
        while not (tmp_path / "begun").exists():
            assert client.poll() is None, client.communicate()
            time.sleep(0.05)
        with Store(tmp_path / "study.db") as store:
            assert store.database.rows("SELECT count(*) FROM leases") == [(4,)]
        assert alive(mark) != []
        client.kill()
        client.communicate()
        assert all_gone(mark)
    (tmp_path / "go").touch()
    client = command(*argv)
    out, err = client.communicate(timeout=60)
    assert (client.returncode, err) == (0, "") and "4 of 4 runs done" in out


@pytest.mark.slow
def test_other_versions_are_refused_by_name(tmp_path: Path) -> None:
    """A worker that finds another description of NumPy before the real one."""
    folder = tmp_path / "other" / "numpy-1.0.1.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 1.0.1\n")
    path = ":".join([str(folder.parent), *sys.path])
    with (
        a_cluster(tmp_path, workers=1, PYTHONPATH=path) as host,
        pytest.raises(ValueError, match=r"the Dask worker on .* has other versions .* numpy 1\.0\.1 \(here \d"),
    ):
        run(odd(tmp_path, "negative"), tmp_path / "study.db", dask=host.address)
    assert contents(tmp_path / "study.db") == {}


@pytest.mark.slow
def test_a_job_that_takes_its_dask_workers_along_fails_after_a_bounded_number_of_them(tmp_path: Path) -> None:
    text = "import os, signal, ppsde\nfrom pathlib import Path\n\ndef fun(x):\n"
    text += "    with open(Path(__file__).with_name('deaths'), 'a') as file:\n        file.write('.')\n"
    text += (
        "    os.kill(os.getppid(), signal.SIGKILL)\n    os._exit(1)\n\nproblem = ppsde.Problem(fun, [(-1, 1)] * 2)\n"
    )
    (tmp_path / "deadly.py").write_text(text)
    plan = Plan(["jde"], problems=["deadly.py:problem"], folder=tmp_path, **SMALL)
    with a_cluster(tmp_path, workers=1, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0") as host:
        assert run(plan, tmp_path / "study.db", dask=host.address).failed == 1
    with Store(tmp_path / "study.db") as store:
        (result,) = store.results()
    assert result.message == "each of the 1 Dask workers that had it died"
    assert (tmp_path / "deaths").read_text() == ".."


@pytest.mark.slow
def test_a_scheduler_that_is_gone_is_named_and_nothing_finished_is_lost(tmp_path: Path) -> None:
    odd(tmp_path, "waiting")
    argv = ("bench", "run", "--problem", tmp_path / "odd.py:waiting", "--method", "jde", "--runs", 4, "--budget", 20)
    argv = (*argv, "--record", 5, "--store", tmp_path / "study.db", "--quiet", "--dask")
    impatient = "import os; os.environ['DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT'] = '1s'\n"
    with a_cluster(tmp_path, workers=1) as host:
        client = command(*argv, host.address, first=impatient)
        while not (tmp_path / "begun").exists():
            assert client.poll() is None, client.communicate()
            time.sleep(0.05)
        host.kill()
        out, err = client.communicate(timeout=60)
        assert (client.returncode, out) == (2, "") and "the Dask cluster is lost" in err and err.count("\n") == 1
        again = command(*argv, host.address, first=impatient)
        out, err = again.communicate(timeout=60)
        assert (again.returncode, out) == (2, "") and "there is no Dask scheduler at" in err and err.count("\n") == 1
    with Store(tmp_path / "study.db") as store:
        assert store.database.rows("SELECT * FROM leases") == []


@pytest.mark.slow
def test_a_result_that_is_lost_with_its_worker_is_waited_for_without_haste(host: Host) -> None:
    from distributed import Client

    with Client(host.address, set_as_default=False) as client:
        cluster = Cluster(client, 1, gpu=False)
        future = client.submit(list, [({"kind": "something"}, [])], pure=False)
        future.result()
        future._state.lose()  # as Dask does when the worker that has it dies
        cluster._in_flight[future.key] = future, DaskWorker(cluster._events, "host")
        cluster._events.put(future)
        began = time.process_time()
        time.sleep(2.0)
        spent = time.process_time() - began
        assert cluster.messages.empty()
        future._state.finish()
        assert cluster.messages.get(timeout=60)[1] == {"kind": "something"}
        cluster.close()
    assert spent < 0.5


# The first evaluation of all waits, so that one job is left when the others are done.
FIRST_WAITS = """
import os
import time
from pathlib import Path

import ppsde

HERE = Path(__file__).parent


def fun(x):
    try:
        os.close(os.open(HERE / "begun", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        time.sleep(0.0025)
    else:
        while not (HERE / "go").exists():
            time.sleep(0.02)
    return (x[0] - 0.3) ** 2 + x[1] ** 2, [0.5 - x[0] - x[1]], []


problem = ppsde.Problem(fun, [(-2, 2)] * 2)
"""


@pytest.mark.slow
def test_workers_that_come_and_go_while_a_study_runs_change_no_row(tmp_path: Path) -> None:
    """A cluster without workers, which starts up to four when there are jobs, and ends those that have none left."""
    from distributed import Client, LocalCluster

    (tmp_path / "mine.py").write_text(FIRST_WAITS)
    plan = Plan(["jde", "pps-de"], problems=["mine.py:problem"], folder=tmp_path, **{**SMALL, "runs": 20})
    (tmp_path / "go").touch()
    assert run(plan, tmp_path / "alone.db", workers=2).done == 40
    (tmp_path / "go").unlink()
    (tmp_path / "begun").unlink()
    counts = [0]
    with (
        LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        cluster.adapt(minimum=0, maximum=4, interval="100ms", wait_count=2, target_duration="1s")
        assert client.nthreads() == {}

        def let_go_when_one_is_left() -> None:
            while max(counts) < 2 or counts[-1] > 1:
                counts.append(len(cluster.scheduler.workers))
                time.sleep(0.02)
            (tmp_path / "go").touch()

        watch = threading.Thread(target=let_go_when_one_is_left)
        watch.start()
        summary = run(plan, tmp_path / "study.db", dask=client)
        watch.join()
        while client.nthreads():  # one that is kept would be no adaptive cluster
            time.sleep(0.1)
    assert (summary.done, summary.failed) == (40, 0) and 2 <= max(counts) <= 4
    assert contents(tmp_path / "study.db") == contents(tmp_path / "alone.db")


@pytest.mark.slow
def test_gpu_jobs_wait_for_a_worker_with_a_gpu(tmp_path: Path) -> None:
    jax = pytest.importorskip("jax")
    if jax.default_backend() == "gpu":
        pytest.skip("for machines without one")
    with (
        a_cluster(tmp_path, workers=1, gpus=1) as host,
        pytest.raises(ValueError, match="there is no device 'gpu' here"),
    ):
        run(Plan(**ON_A_GPU), tmp_path / "study.db", dask=host.address)
    assert rows_in(tmp_path / "study.db") == 0


ON_A_GPU: dict[str, Any] = {
    "algorithms": ["jde"],
    "suite": "cec2006",
    "problems": ["g06"],
    "runs": 75,  # three requests of 25
    "budget": 60,
    "device": "gpu",
}
# JAX takes the CPU for a GPU, in the workers whose environment says so.
PRETENDED = """
import os

if "PRETENDED_GPU" in os.environ:
    import jax

    found = jax.devices
    jax.devices = lambda kind=None: found("cpu" if kind == "gpu" else kind)
"""


def begun_and_ended(dask_worker: Any) -> list[int]:
    """How many tasks of a study a Dask worker was doing at a time, whenever that changed."""
    busy, counts = set(), []
    for key, before, *after in [entry[:4] for entry in dask_worker.state.log if str(entry[0]).startswith("ppsde-")]:
        if "executing" in after and before != "executing":
            busy.add(key)
        elif before == "executing":
            busy.discard(key)
        counts.append(len(busy))
    return counts


@pytest.mark.slow
def test_gpu_jobs_go_to_workers_with_a_gpu_one_request_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("jax")
    from distributed import Client, Nanny, Scheduler, SpecCluster

    (tmp_path / "sitecustomize.py").write_text(PRETENDED)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    workers = {
        name: {"cls": Nanny, "options": {"nthreads": 2, "resources": resources, "env": environment}}
        for name, resources, environment in (
            ("plain", {}, {}),
            ("first", {"GPU": 1}, {"PRETENDED_GPU": "1"}),
            ("second", {"GPU": 1}, {"PRETENDED_GPU": "1"}),
        )
    }
    scheduler = {"cls": Scheduler, "options": {"dashboard_address": ":0"}}
    with (
        SpecCluster(workers=workers, scheduler=scheduler, silence_logs=50) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        summary = run(Plan(**ON_A_GPU), tmp_path / "study.db", dask=client)
        names = {address: worker["name"] for address, worker in client.scheduler_info()["workers"].items()}
        counts = {names[address]: found for address, found in client.run(begun_and_ended).items()}
    assert (summary.done, summary.failed) == (75, 0)
    assert counts["plain"] == [] and max(counts["first"]) == max(counts["second"]) == 1
    assert counts["first"].count(1) + counts["second"].count(1) >= 3


@pytest.mark.slow
@pytest.mark.parametrize(("workers", "words"), [(0, "for Dask workers"), (1, "for Dask workers with the resource GPU")])
def test_the_display_says_which_workers_a_study_waits_for(workers: int, words: str, tmp_path: Path) -> None:
    pytest.importorskip("jax")
    script = f"from ppsde.experiments import Plan, run\nrun(Plan(**{ON_A_GPU}), 'study.db', progress=True, dask="
    with a_cluster(tmp_path, workers=workers) as host:
        client = subprocess.Popen(
            [sys.executable, "-c", f"{script}{host.address!r})"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
        )
        assert client.stderr is not None
        line = client.stderr.readline()
        client.send_signal(signal.SIGINT)
        client.communicate(timeout=60)
    assert line.rstrip().endswith(f"waiting {words}")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"dask": 3}, "dask must be the address of a scheduler, 'local' or a Client; got 3"),
        ({"dask": "node1"}, "'local' or the address of a scheduler, such as tcp://node1:8786; got 'node1'"),
        ({"dask": "tcp://127.0.0.1:1", "workers": 2}, "workers must not be given with a Dask cluster"),
    ],
)
def test_a_bad_argument_is_named(arguments: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=words):
        run(odd(tmp_path, "negative"), tmp_path / "study.db", **arguments)
