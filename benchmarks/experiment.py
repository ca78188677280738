"""The published experiment, for the documents: how long it takes, our means, and the ranks of the field.

    python -m benchmarks.experiment --device gpu       # some ten minutes on one H200

Each step is a command `ppsde reproduce`, to which other arguments are passed on. Stores go to `build/experiment`; the
same command resumes, but then its times are too short. It writes the records `experiment` (times of PPS-DE alone),
`field` with `field.csv` (the means of what each original program would report) and `ranks` (by the best points).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time

from ppsde import published
from ppsde.batch import device_of
from ppsde.experiments import Store
from ppsde.reports.agreement import JUDGED
from ppsde.reports.published import COLUMN_OF
from ppsde.reports.study import Study, gather
from ppsde.stats import competition_ranks

from .records import FOLDER, ROOT, save

OUTPUT = ROOT / "build" / "experiment"
ZERO = 1e-8  # objectives and violations nearer to 0 count as 0
PRESETS = ("pps-de", "pps-de-published")
RIVALS = tuple(name for name in COLUMN_OF if name not in PRESETS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "gpu"), default="gpu")
    asked, others = parser.parse_known_args()
    others += ["--device", asked.device]
    made = {
        "command": " ".join(["python -m benchmarks.experiment", *others]),
        "device": device_of(asked.device).device_kind,
    }
    alone = OUTPUT / "alone"
    seconds = {
        "from nothing": reproduced("-o", alone, *others),
        "with programs from the cache": reproduced("--seed", 1, "-o", alone, *others),
        "with every run in its store": reproduced("-o", alone, *others),
    }
    save("experiment", seconds, methods=["pps-de"], **made)
    field = OUTPUT / "field"
    seconds = {"all methods": reproduced("--method", "all", "--report", "original", "-o", field, *others)}
    (FOLDER / "field.csv").write_bytes((field / "reproduce.csv").read_bytes())
    save("field", seconds, methods=COLUMN_OF, **made)
    with Store(field / "reproduce.db") as store:
        save("ranks", field_ranks(gather(store, None)), methods=COLUMN_OF, **made)


def reproduced(*words: object) -> float:
    """Run `ppsde reproduce` with a cache of programs of its own; return the seconds that it took."""
    environment = {**os.environ, "PPSDE_CACHE": str(OUTPUT / "programs")}
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "ppsde", "reproduce", *map(str, words)], env=environment, check=True)
    return round(time.perf_counter() - began, 1)


def field_ranks(study: Study) -> list[dict[str, object]]:
    """Return the competition's ranks of each preset of PPS-DE among the seven rivals, on all and on judged problems."""
    found: list[dict[str, object]] = []
    for preset in PRESETS:
        for dimension in published.DIMENSIONS:
            for kind in ("all", "judged"):
                cells = {
                    problem.name: {name: study.outcomes[problem.label][name] for name in (preset, *RIVALS)}
                    for problem in study.problems
                    if problem.dimension == dimension and (kind == "all" or problem.name in JUDGED)
                }
                if cells:
                    rows = competition_ranks(cells, zero=ZERO).rows()
                    found += [{"preset": preset, "dimension": dimension, "problems": kind, **row} for row in rows]
    return found


if __name__ == "__main__":
    main()
