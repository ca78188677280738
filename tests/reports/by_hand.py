"""A study of five runs with round numbers, so that what other programs are to read can be written down by hand."""

from __future__ import annotations

from pathlib import Path

from reports.made_up import ACCOUNT, a_job, an_ended_run

from ppsde.experiments.rows import ROW, account_entry, failed_row, job_entry, packed, plan_entry, sealed
from ppsde.experiments.store import new_store

NAN = float("nan")


def a_store_by_hand(path: Path) -> Path:
    """`mine` on C05 in two variables, 100 evaluations, four records of each run.

    Run 0 becomes feasible and ends with its last record, run 1 never does, run 2 failed after 40 evaluations, run 3
    before the first, and run 4 gets better, and to its end, between its last record and the end of its budget.
    """
    job = a_job("mine", "C05", 5, dimension=2, budget=100, record=4)
    rows = [
        an_ended_run(
            job,
            0,
            100,
            [1.0, 2.0],
            3.5,
            0.0,
            [-1.0],
            {"evaluations": [NAN, 50, 75, 100], "f": [NAN, 2.0, 5.0, 3.5], "violation": [NAN, 0.25, 0.0, 0.0]},
        ),
        an_ended_run(
            job,
            1,
            100,
            [0.5, -0.5],
            7.0,
            0.125,
            [0.125],
            {"evaluations": [20, 40, 60, 100], "f": [9.0, 8.0, 8.0, 7.0], "violation": [2.0, 0.5, 0.125, 0.125]},
        ),
        failed_row(job.id, 2, 2, "no luck", 40),
        failed_row(job.id, 3, 2, "killed"),
        an_ended_run(
            job,
            4,
            95,
            [0.1, 0.0],
            0.1,
            0.0,
            [0.0],
            {"evaluations": [25, NAN, 70, NAN], "f": [6.0, NAN, 4.0, NAN], "violation": [0.0, NAN, 0.0, NAN]},
        ),
    ]
    with new_store(path) as store:
        store.add_entries([job_entry(job), plan_entry({"made": "by hand"}, [("mine", job.id)])[1]])
        store.add_entries(sealed(ROW, packed(row)) for row in rows)
        store.add_entries([account_entry({"job": job.id, "finished": 1e9, "seconds": 1.0, **ACCOUNT})])
    return path
