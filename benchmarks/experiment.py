"""The published experiment, for the documents: how long it takes, our means, and the ranks of the field.

    python -m benchmarks.experiment --device gpu --write       # some ten minutes on one H200
    python -m benchmarks.experiment --device cpu --dimension 10 --problem C01,C02 --runs 2 --budget-per-variable 100 \\
        --output build/try                                     # a try of some minutes

Each step is a command `ppsde reproduce`, to which other arguments are passed on, and which shows its progress. Stores
go to the folder `--output`, another one for other arguments; the same command resumes. The three times are measured
together: if that was interrupted, it begins again. `--write` makes the records `experiment` (times of PPS-DE alone),
`field` with `field.csv` (the means of what each original program would report) and `ranks` (by the best points).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from ppsde import published
from ppsde.batch import device_of
from ppsde.experiments import Store
from ppsde.reports.agreement import JUDGED
from ppsde.reports.published import COLUMN_OF
from ppsde.reports.study import Study, gather
from ppsde.stats import competition_ranks

from .records import FOLDER, ROOT, save

ZERO = 1e-8  # objectives and violations nearer to 0 count as 0
PRESETS = ("pps-de", "pps-de-published")
RIVALS = tuple(name for name in COLUMN_OF if name not in PRESETS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "gpu"), default="gpu")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "experiment", help="default: build/experiment")
    parser.add_argument("--write", action="store_true", help="make the records of the documents")
    asked, others = parser.parse_known_args()
    others += ["--device", asked.device]
    asked.output.mkdir(parents=True, exist_ok=True)
    seconds = times(asked.output, others)
    field = asked.output / "field"
    reproduced(asked.output, "--method", "all", "--report", "original", "-o", field, *others)
    with Store(field / "reproduce.db") as store:
        ranks = field_ranks(gather(store, None))
    for how, took in seconds.items():
        print(f"{took:8.1f} s {how}")
    for row in ranks:
        print(*row.values())
    if asked.write:
        command = " ".join(["python -m benchmarks.experiment", *others, "--write"])
        device = device_of(asked.device).device_kind
        save("experiment", seconds, command=command, methods=["pps-de"], device=device)
        (FOLDER / "field.csv").write_bytes((field / "reproduce.csv").read_bytes())
        save("field", {}, command=command, methods=COLUMN_OF, device=device)
        save("ranks", ranks, command=command, methods=COLUMN_OF, device=device)


def times(output: Path, others: list[str]) -> dict[str, float]:
    """Return the seconds of PPS-DE's runs from nothing, with programs from the cache, and with nothing left to do."""
    done, alone = output / "seconds.json", output / "alone"
    if not done.exists():
        for folder in (alone, output / "programs"):
            shutil.rmtree(folder, ignore_errors=True)
        steps: dict[str, list[object]] = {
            "from nothing": [],
            "with programs from the cache": ["--seed", 1],
            "with every run in its store": [],
        }
        seconds = {how: reproduced(output, *more, "-o", alone, *others) for how, more in steps.items()}
        done.write_text(json.dumps(seconds), encoding="utf-8")
    found: dict[str, float] = json.loads(done.read_text(encoding="utf-8"))
    return found


def reproduced(output: Path, *words: object) -> float:
    """Run `ppsde reproduce` with a cache of programs of its own; return the seconds that it took."""
    environment = {**os.environ, "PPSDE_CACHE": str(output / "programs")}
    command = ["reproduce", *map(str, words)]
    print(f"ppsde {' '.join(command)}", file=sys.stderr, flush=True)
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "ppsde", *command], env=environment, check=True, stdout=sys.stderr)
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
