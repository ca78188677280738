"""A small study from plan to report: PPS-DE and two rivals on six constrained benchmark problems.

Each step is the command that is printed above it. `make demo` runs this file; interrupted, it goes on where it was.
"""

import sys
from pathlib import Path

from ppsde.cli import main

FOLDER = Path("demo")
METHODS = ("pps-de", "lshade44", "iude")
PROBLEMS = ("C01", "C03", "C06", "C13", "C14", "C20")


def command(*words: str) -> None:
    print(f"\n$ ppsde {' '.join(words)}\n", flush=True)
    status = main(words)
    if status == 130:
        print("`make demo` goes on from here.")
    if status:
        sys.exit(status)


def repeated(flag: str, values: tuple[str, ...]) -> list[str]:
    return [word for value in values for word in (flag, value)]


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    store, report = str(FOLDER / "study.db"), str(FOLDER / "report.html")
    command(
        *("bench", "run", "--store", store, "--suite", "cec2017", "--instance", "1", "--dimension", "10"),
        *repeated("--method", METHODS),
        *repeated("--problem", PROBLEMS),
        *("--runs", "5", "--budget", "40000", "--seed", "1", "--engine", "host"),
    )
    command("bench", "status", store)
    command("bench", "report", store, "-o", report)
    print(f"\nThe report: open {Path(report).resolve().as_uri()} in a browser.")
