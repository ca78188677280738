"""One run of one job by one library, in this process; what it told goes out as a line of JSON."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, replace
from typing import TextIO

import numpy as np

from .jobs import JOBS, Told
from .libraries import LIBRARIES
from .task import Counted, NotOffered


def told_by(job: str, library: str, seed: int) -> Told:
    """Run it, whatever it does."""
    task = JOBS[job].task
    counted = Counted(task.f, task.rows)
    if task.workers == 1:
        task = replace(task, f=counted)
    try:
        answer = LIBRARIES[library].solve(task, seed)
    except NotOffered as error:
        return Told("not offered", str(error))
    except Exception as error:
        return Told("raised", f"{type(error).__name__}: {error}", points=counted.points)
    return Told(
        "answered",
        x=None if answer.x is None else tuple(float(v) for v in np.ravel(answer.x)),
        fun=None if answer.fun is None else float(answer.fun),
        success=None if answer.success is None else bool(answer.success),
        nfev=None if answer.nfev is None else int(answer.nfev),
        points=counted.points,
    )


def main(job: str, library: str, seed: int) -> None:
    out = _own_standard_output()
    told = told_by(job, library, seed)
    print(json.dumps(asdict(told)), file=out, flush=True)
    out.close()
    os._exit(0)  # some libraries leave threads and processes behind that would be waited for


def _own_standard_output() -> TextIO:
    """The standard output for the answer alone; whatever libraries print goes to the standard error."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return out
