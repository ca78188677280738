"""Leases: no job twice, none left to the dead."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from experiments.studies import LINUX, a_job, a_row

from ppsde.experiments import Store
from ppsde.experiments.database import StoreError
from ppsde.experiments.leases import LEASE, Leases, Runner, is_alive, this_runner
from ppsde.experiments.rows import ROW, packed, sealed

JOBS = [a_job(seed=seed, runs=(0,)) for seed in range(4)]
CANDIDATES = [(job.id, 1) for job in JOBS]
IDS = [job.id for job in JOBS]


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "study.db", writable=True, make=True) as made:
        made.add_plan({}, [("mine", job) for job in JOBS])
        yield made


def elsewhere(name: str) -> Runner:
    return Runner(name, f"machine {name}", 1, "")


def finish(leases: Leases, job: str) -> bool:
    row = a_row(next(one for one in JOBS if one.id == job), 0, np.random.default_rng(1))
    return leases.finish(job, [(0, False, sealed(ROW, packed(row)))], {"finished": 1.0})


def test_what_one_has_another_does_not_get(store: Store) -> None:
    first, second = Leases(store.database, elsewhere("a")), Leases(store.database, elsewhere("b"))
    assert first.claim(CANDIDATES, 3).taken == IDS[:3]
    assert second.claim(CANDIDATES, 3).taken == IDS[3:]
    assert second.claim(CANDIDATES, 3).taken == []


def test_what_is_finished_is_told_and_not_given_again(store: Store) -> None:
    first, second = Leases(store.database, elsewhere("a")), Leases(store.database, elsewhere("b"))
    first.claim(CANDIDATES)
    assert finish(first, IDS[0])
    claim = second.claim(CANDIDATES)
    assert (claim.taken, claim.finished) == ([IDS[1]], [IDS[0]])


def test_who_leaves_gives_everything_back(store: Store) -> None:
    first, second = Leases(store.database, elsewhere("a")), Leases(store.database, elsewhere("b"))
    first.claim(CANDIDATES, 4)
    first.leave()
    assert second.claim(CANDIDATES, 4).taken == IDS


def test_a_lease_ends_when_no_sign_of_life_has_come(store: Store) -> None:
    clock = Clock()
    first, second = (Leases(store.database, elsewhere(name), clock) for name in "ab")
    first.claim(CANDIDATES, 4)
    clock.now += 0.9 * LEASE
    assert second.claim(CANDIDATES).taken == []
    first.sign_of_life()
    clock.now += 0.9 * LEASE
    assert second.claim(CANDIDATES).taken == []
    clock.now += 0.2 * LEASE
    assert second.claim(CANDIDATES).taken == [IDS[0]]


def test_who_was_taken_for_dead_cannot_store_what_another_is_doing(store: Store) -> None:
    clock = Clock()
    first, second = (Leases(store.database, elsewhere(name), clock) for name in "ab")
    first.claim(CANDIDATES)
    clock.now += 2 * LEASE
    second.claim(CANDIDATES)
    assert not finish(first, IDS[0])
    assert store.database.rows("SELECT count(*) FROM results") == [(0,)]
    assert finish(second, IDS[0])
    assert not finish(first, IDS[0]), "also when the other has finished"
    assert store.database.rows("SELECT count(*) FROM results") == [(1,)]


def test_the_jobs_of_a_runner_that_could_not_write_that_it_leaves_are_free_for_the_next_of_its_process(
    store: Store,
) -> None:
    first, second = Leases(store.database), Leases(store.database)
    assert first.claim(CANDIDATES, 4).taken == IDS
    assert second.claim(CANDIDATES, 4).taken == [], "it is still at work"
    store.database.rows("PRAGMA query_only = 1")
    with pytest.raises(StoreError):
        first.leave()
    store.database.rows("PRAGMA query_only = 0")
    assert second.claim(CANDIDATES, 4).taken == IDS


@pytest.mark.skipif(not LINUX, reason="processes as Linux shows them")
def test_the_jobs_of_a_process_that_was_killed_are_free_at_once(store: Store) -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    here = this_runner()
    stat = Path(f"/proc/{process.pid}/stat").read_text()
    other = Runner("other", here.place, process.pid, stat.rpartition(")")[2].split()[19])
    assert Leases(store.database, other).claim(CANDIDATES, 4).taken == IDS
    mine = Leases(store.database, here)
    assert mine.claim(CANDIDATES, 4).taken == []
    process.kill()
    while Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
        pass
    assert mine.claim(CANDIDATES, 4).taken == IDS, "also before anyone has waited for the process"
    process.communicate()


@pytest.mark.skipif(not LINUX, reason="processes as Linux shows them")
def test_a_process_number_that_is_used_again_does_not_keep_the_dead_alive() -> None:
    here = this_runner()
    assert is_alive(here.pid, here.born)
    assert not is_alive(here.pid, str(int(here.born) - 1)), "that of a process which began earlier"
