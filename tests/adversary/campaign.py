"""Many random cases, by several processes: what was found, in a JSON file that a second call goes on from.

    PYTHONPATH=src python -m tests.adversary.campaign --cases 100000 --workers 15 --out cases.json

It needs NumPy and SciPy only; ways to evaluate that need other packages are counted as not tried. With --record the
counts go to the record `campaign` of the documents, with --record campaign-sample to that of a later, smaller sample.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import signal
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

BLOCK = 50  # cases that a process does before it reports
PATIENCE = 600  # seconds for one case; a search of 400 evaluations takes less than one
ONE_THREAD = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS": "cpu",
}


class Endless(BaseException):
    """Raised in a case that does not end."""


def stop(*_: Any) -> None:
    raise Endless(f"no end after {PATIENCE} seconds")


def end_with_parent() -> None:
    """Let this process end with its parent, however that ends: nobody would wait for its cases."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()


def block(first: int) -> dict[str, Any]:
    """Do the cases of a block, and return what was found, how they were solved, and the time."""
    from .driver import all_findings

    signal.signal(signal.SIGALRM, stop)
    began, found, ways = time.process_time(), {}, Counter()
    for number in range(first, first + BLOCK):
        signal.alarm(PATIENCE)
        try:
            words, way = all_findings(number)
        except Endless as error:
            words, way = [str(error)], "no end"
        signal.alarm(0)
        ways[way] += 1
        if words:
            found[str(number)] = words
    return {"first": first, "findings": found, "ways": ways, "cpu_seconds": time.process_time() - began}


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in ("numpy", "scipy", "jax", "cloudpickle", "distributed"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def summary(blocks: dict[int, dict[str, Any]], wanted: int) -> dict[str, Any]:
    ways: Counter[str] = sum((Counter(one["ways"]) for one in blocks.values()), Counter())
    findings = {number: words for _, one in sorted(blocks.items()) for number, words in one["findings"].items()}
    cpu = sum(one["cpu_seconds"] for one in blocks.values())
    cases = BLOCK * len(blocks)
    return {
        "cases": cases,
        "wanted": wanted,
        "with findings": len(findings),
        "ways": dict(sorted(ways.items())),
        "CPU seconds per 1,000 cases": round(1e3 * cpu / max(cases, 1), 1),
        "versions": versions(),
        "findings": findings,
        "blocks": [blocks[first] for first in sorted(blocks)],
    }


def write(path: Path, content: dict[str, Any]) -> None:
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    unfinished.replace(path)


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the number of the first one")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--record", nargs="?", const="campaign", help="store the counts for the documents")
    asked = parser.parse_args(words)
    blocks: dict[int, dict[str, Any]] = {}
    if asked.out.exists():
        blocks = {one["first"]: one for one in json.loads(asked.out.read_text(encoding="utf-8"))["blocks"]}
    os.environ.update(ONE_THREAD)
    firsts = range(asked.first - asked.first % BLOCK, asked.first + asked.cases, BLOCK)
    left = [first for first in firsts if first not in blocks]
    said = written = time.monotonic()
    spawn = multiprocessing.get_context("spawn")  # whose processes may have children
    with ProcessPoolExecutor(asked.workers, spawn, end_with_parent) as pool:
        for done in as_completed([pool.submit(block, first) for first in left]):
            one = done.result()
            blocks[one["first"]] = one
            for number, found in one["findings"].items():
                print(number, *found, sep="; ", flush=True)
            if time.monotonic() - written > 5:
                written = time.monotonic()
                write(asked.out, summary(blocks, asked.cases))
            if time.monotonic() - said > 60:
                said = time.monotonic()
                print(f"{BLOCK * len(blocks):,} cases", flush=True)
    found = summary(blocks, asked.cases)
    write(asked.out, found)
    counts = {name: found[name] for name in found if name not in ("findings", "blocks")}
    print(json.dumps(counts, indent=1))
    if asked.record:
        from benchmarks.records import revision, save

        which = f"--cases {asked.cases} --first {asked.first}" if asked.first else f"--cases {asked.cases}"
        command = f"python -m tests.adversary.campaign {which} --out cases.json --record"
        command += "" if asked.record == "campaign" else f" {asked.record}"
        save(asked.record, {**counts, "commit": revision()}, command=command, methods=())
    return int(found["with findings"] > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
