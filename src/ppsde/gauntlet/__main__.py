"""`python -m ppsde.gauntlet`: run the jobs and print the table; exit status 1 if this library fails one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .child import main as run_one
from .jobs import JOBS, Verdict
from .libraries import LIBRARIES
from .running import verdicts, versions
from .table import rules, table

OURS = "ppsde"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m ppsde.gauntlet", description=__doc__)
    parser.add_argument("--library", action="append", choices=tuple(LIBRARIES), help="this one only; may be repeated")
    parser.add_argument("--job", action="append", choices=tuple(JOBS), help="this one only; may be repeated")
    parser.add_argument("--patience", type=float, default=1.0, help="multiplies the time limits (default %(default)g)")
    parser.add_argument("--run", nargs=3, metavar=("JOB", "LIBRARY", "SEED"), help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.run:
        job, library, seed = asked.run
        run_one(job, library, int(seed))
    wanted = asked.library or list(LIBRARIES)
    there = {name: version for name, version in versions().items() if name in wanted}
    jobs = asked.job or list(JOBS)
    found = verdicts([name for name in there if there[name]], jobs, asked.patience, _tell)
    print(table(found, there, jobs))
    print()
    print(rules())
    return int(any(not found[job, OURS].passed for job in jobs if (job, OURS) in found))


def _tell(job: str, library: str, verdict: Verdict) -> None:
    print(f"{job} by {library}: {'pass' if verdict.passed else 'fail'}: {verdict.words}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
