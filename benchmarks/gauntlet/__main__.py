"""Run the jobs of the gauntlet and print the table of verdicts; the exit status is 1 if this library fails a job.

With --write each verdict goes to the record `gauntlet` as soon as it is known, with a digest of the code that it rests
on; verdicts that are not asked for stay.
`python docs/measured.py` puts the table of all of them into docs/trust.md.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from ..records import digest, load, names, save, values_of
from .jobs import JOBS, LEAKED, Answer, Attempt, Counted, Meter, NotOffered, Task, Verdict
from .libraries import LIBRARIES

OURS, METHOD = "ppsde", "pps-sqp"
ROOT = Path(__file__).parents[2]  # the folder that `benchmarks` is imported from
LONGEST = 120  # characters of a cell of the table


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gauntlet", description=__doc__)
    parser.add_argument("--library", action="append", choices=tuple(LIBRARIES), help="this one only; may be repeated")
    parser.add_argument("--job", action="append", choices=tuple(JOBS), help="this one only; may be repeated")
    parser.add_argument("--patience", type=float, default=1.0, help="multiplies the time limits (default %(default)g)")
    parser.add_argument("--write", action="store_true", help="store the verdicts in the record of the documents")
    parser.add_argument("--run", nargs=3, metavar=("JOB", "LIBRARY", "SEED"), help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.run:
        job, library, seed = asked.run
        answer_and_exit(job, library, int(seed))
    wanted = asked.library or list(LIBRARIES)
    found_versions = {name: version for name, version in versions().items() if name in wanted}
    jobs = asked.job or list(JOBS)
    installed = [name for name, version in found_versions.items() if version]

    def after(job: str, library: str, verdict: Verdict) -> None:
        _print_verdict(job, library, verdict)
        if asked.write:
            keep(job, library, verdict, found_versions[library])

    found = verdicts(installed, jobs, asked.patience, after)
    print(f"{table(found, found_versions, jobs)}\n\n{rules(jobs)}")
    return int(any(not found[job, OURS].passed for job in jobs if (job, OURS) in found))


def versions() -> dict[str, str | None]:
    """Return the version of each library, None where it is not installed."""
    return {name: library.version() for name, library in LIBRARIES.items()}


def _print_verdict(job: str, library: str, verdict: Verdict) -> None:
    print(f"{job} by {library}: {'pass' if verdict.passed else 'fail'}: {verdict.words}", file=sys.stderr, flush=True)


# --- running: each run in a process of its own, which is killed when its time is up ---------------------------------


def verdicts(
    libraries: Sequence[str], jobs: Sequence[str], patience: float, after: Callable[[str, str, Verdict], Any]
) -> dict[tuple[str, str], Verdict]:
    """Run and judge every job by every library, one after another; `after` is called with each verdict."""
    found = {}
    runs: dict[tuple[str, str], list[Attempt]] = {}  # for jobs that judge the same
    for job in jobs:
        for library in libraries:
            same = JOBS[job].like or job
            runs[same, library] = runs.get((same, library)) or attempts(same, library, patience)
            found[job, library] = JOBS[job].judge(runs[same, library])
            after(job, library, found[job, library])
    return found


def attempts(job: str, library: str, patience: float = 1.0) -> list[Attempt]:
    """Run one job by one library, once for each of the job's seeds; `patience` multiplies the time of each run."""
    return [attempt(job, library, seed, JOBS[job].seconds * patience) for seed in JOBS[job].seeds]


def verdict_on(job: str, library: str, patience: float = 1.0) -> Verdict:
    """Run one job by one library and judge it."""
    return verdicts([library], [job], patience, lambda *verdict: None)[job, library]


def attempt(job: str, library: str, seed: int, seconds: float) -> Attempt:
    """Run one job by one library in a process of its own and return its answer, or how it ended without one."""
    command = [sys.executable, "-m", __package__, "--run", job, library, str(seed)]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    with tempfile.TemporaryFile() as answer:  # not a pipe, whose end a worker left behind could hold open
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=answer,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": path},
        )
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            return Attempt("hung", f"killed after {seconds:g} s")
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # its workers too: they are in the session it began
            process.wait()
        answer.seek(0)
        out = answer.read()
    if process.returncode < 0:
        return Attempt("died", f"killed by {signal.Signals(-process.returncode).name}")
    lines = out.splitlines()
    try:
        fields = json.loads(lines[0])
    except (IndexError, ValueError):
        return Attempt("died", f"exit status {process.returncode} without an answer")
    fields["leaked"] |= len(lines) > 1  # two processes answered
    return Attempt(**{**fields, "x": None if fields["x"] is None else tuple(fields["x"])})


def answer_and_exit(job: str, library: str, seed: int) -> None:
    """Run one job by one library in this process, print its answer as a line of JSON and end the process."""
    out = _own_standard_output()
    print(json.dumps(asdict(attempt_here(job, library, seed))), file=out, flush=True)
    out.close()
    os._exit(0)  # some libraries leave threads and processes behind that would be waited for


def attempt_here(job: str, library: str, seed: int) -> Attempt:
    """Run one job by one library in this process, whatever it does."""
    task = JOBS[job].task
    meter = Meter(task.solved)
    try:
        answer = _study(library) if job == "study" else LIBRARIES[library].solve(metered(task, meter), seed)
    except NotOffered as error:
        return Attempt("not offered", str(error))
    except Exception as error:
        return Attempt("raised", f"{type(error).__name__}: {error}", points=meter.evaluations)
    if task.forks:
        time.sleep(1.0)  # a second process shows itself by then
    return Attempt(
        "answered",
        x=None if answer.x is None else tuple(float(v) for v in np.ravel(answer.x)),
        fun=None if answer.fun is None else float(answer.fun),
        success=None if answer.success is None else bool(answer.success),
        nfev=None if answer.nfev is None else int(answer.nfev),
        points=meter.evaluations,
        solved_after=meter.solved_after,
        leaked=bool(LEAKED[0]),
    )


def metered(task: Task, meter: Meter) -> Task:
    """Return the task with its functions counted, unless workers evaluate them."""
    if task.workers > 1:
        return task
    named = {"f": task.f, "g": task.g, "h": task.h}
    counted = {what: Counted(function, what, task.rows, meter) for what, function in named.items() if function}
    return replace(task, **counted)  # type: ignore[arg-type]


def _study(library: str) -> Answer:
    study = LIBRARIES[library].study
    if study is None:
        raise NotOffered("studies")
    return study()


def _own_standard_output() -> TextIO:
    """Reserve the standard output for the answer; whatever libraries print goes to the standard error."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return out


# --- the table, in Markdown -----------------------------------------------------------------------------------------


def table(
    found: Mapping[tuple[str, str], Verdict], versions: Mapping[str, str | None], jobs: Sequence[str] = tuple(JOBS)
) -> str:
    """Return a row for each job and a column for each library; a library that is not installed says so."""
    heads = [f"{LIBRARIES[name].title} {version or ''}".strip() for name, version in versions.items()]
    lines = [_line(["job", *heads]), _line(["---"] * (len(heads) + 1))]
    for job in jobs:
        lines.append(_line([JOBS[job].title, *(_cell(found.get((job, name))) for name in versions)]))
    return "\n".join(lines)


def rules(jobs: Sequence[str] = tuple(JOBS)) -> str:
    """Return the rule of each job, a line each."""
    return "\n".join(f"- {JOBS[job].title}: {JOBS[job].rule}." for job in jobs)


def keep(job: str, library: str, verdict: Verdict, version: str | None) -> None:
    """Put a verdict into the record."""
    values = values_of("gauntlet") or {"versions": {}, "verdicts": {}}
    values["versions"][library] = version
    values["verdicts"].setdefault(job, {})[library] = [verdict.passed, verdict.words]
    program = load("gauntlet")["program"] if "gauntlet" in names() else {}
    program.setdefault(job, {})[library] = program_of(job, library)
    command, again = "python -m benchmarks.gauntlet --patience 2 --write", [METHOD] if library == OURS else []
    save("gauntlet", values, command=command, methods=[METHOD], again=again, program=program)


def program_of(job: str, library: str) -> str:
    """Return a digest of the code that a verdict rests on: the job, its judge, and the caller of the library."""
    here = Path(__file__).parent
    return digest(reached(here / "jobs.py", "JOBS", job) + reached(here / "libraries.py", "LIBRARIES", library))


def programs(values: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the digests, as they are today, of all verdicts of a record."""
    return {job: {name: program_of(job, name) for name in verdicts} for job, verdicts in values["verdicts"].items()}


def reached(path: Path, table: str, key: str) -> str:
    """Return the code of an entry of a table, and of everything in its file that it calls."""
    source = path.read_text(encoding="utf-8")
    parts: dict[str, ast.AST] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            parts[node.name] = node
        for target in node.targets if isinstance(node, ast.Assign) else []:
            for name in ast.walk(target):
                if isinstance(name, ast.Name):
                    parts[name.id] = node
    entries = parts[table].value  # type: ignore[attr-defined]
    (entry,) = (value for name, value in zip(entries.keys, entries.values, strict=True) if name.value == key)
    found, waiting = {key: entry}, [entry]
    while waiting:
        for node in ast.walk(waiting.pop()):
            if isinstance(node, ast.Name) and node.id in parts and node.id not in found:
                found[node.id] = parts[node.id]
                waiting.append(parts[node.id])
    return "".join(f"{name} {ast.get_source_segment(source, node)}" for name, node in sorted(found.items()))


def text(values: Mapping[str, Any]) -> str:
    """Return the table and the rules of a record."""
    found = {
        (job, library): Verdict(*verdict)
        for job, by_library in values["verdicts"].items()
        for library, verdict in by_library.items()
    }
    jobs = [job for job in JOBS if job in values["verdicts"]]
    versions = {library: values["versions"][library] for library in LIBRARIES if library in values["versions"]}
    return f"{table(found, versions, jobs)}\n\n{rules(jobs)}\n"


def _cell(verdict: Verdict | None) -> str:
    if verdict is None:
        return "not installed"
    words = " ".join(verdict.words.split()).replace("|", "\\|")
    if len(words) > LONGEST:
        words = words[: LONGEST - 3] + "..."
    if words == "not offered":
        return words
    return f"{'pass' if verdict.passed else '**fail**'}: {words}"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    sys.exit(main())
