"""A worker process: requests arrive on standard input, rows leave on the original standard output.

A message is a line of JSON, followed by as many bytes as its `sizes` say. At the end of the input the runner is gone,
and the worker ends too, whatever it is doing.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from queue import SimpleQueue
from typing import Any, BinaryIO

import numpy as np

from ..engines.compiled import Program, float64, why_not_traceable
from ..engines.drive import drive
from ..engines.ending import Endings, thinned
from ..evaluation.evaluate import Limits
from ..evaluation.values import error_text, shorter
from ..problem import Problem
from .code import code_in
from .job import Job, canonical
from .plan import LARGEST_BLOCK, Source, opened
from .rows import Row, constraints_at, failed_row, packed, row_of


def host_rows(job: Job, problem: Problem, progress: Callable[[int], None]) -> Iterator[Row]:
    """Yield the row of each run of a job on the host engine; `progress` is called with the evaluations made so far."""
    for k, number in enumerate(job.runs):
        yield _host_row(job, number, problem, progress, k * job.budget)


def _host_row(job: Job, number: int, problem: Problem, progress: Callable[[int], None], before: int) -> Row:
    run = job.request(problem, number).run()

    def after_generation() -> None:
        progress(before + run.evaluations)

    ending = drive(run, problem.searched, Limits(eval_timeout=job.eval_timeout), after_generation=after_generation)
    record = thinned(ending.history, job.budget, job.record)
    return row_of(job, number, ending, problem.units, record, failed_evaluations=np.array(ending.failed, np.int64))


def compiled_program(job: Job, problems: Sequence[Problem]) -> Program:
    """Compile the program of a job, for all problems that jobs like it have.

    On a GPU all of them are in every call, wanted or not: which way a device adds up depends on what is there. A call
    does the runs of one job of each.
    """
    import jax

    device, searched = jax.devices(job.device)[0], [problem.searched for problem in problems]
    return Program(job.algorithm(), searched, job.budget, job.record, device, workers=1, most=LARGEST_BLOCK)


def compiled_rows(
    program: Program,
    jobs: Sequence[Job],
    problems: Sequence[Problem],
    beside: Sequence[Problem],
    progress: Callable[[int], None] = lambda evaluations: None,
) -> list[list[Row]]:
    """Return the rows of jobs that differ in their problems only; `beside` are the problems of the program."""
    numbers = [next(k for k, other in enumerate(beside) if other is problem) for problem in problems]
    ended = 0

    def done(runs: int) -> None:
        nonlocal ended
        ended += runs
        progress(ended * jobs[0].budget)

    found = program(np.array(jobs[0].runs), jobs[0].seed, numbers, done)
    return [_compiled_rows(*one) for one in zip(jobs, problems, found, strict=True)]


def _compiled_rows(job: Job, problem: Problem, endings: Endings) -> list[Row]:
    rows = []
    for k, run in enumerate(job.runs):
        with float64():  # a user's function may be of JAX's own, and must not fall back to 32 bits
            ending = endings.ending(k, partial(constraints_at, problem.searched))
        rows.append(row_of(job, run, ending, problem.units, ending.history))
    return rows


PROGRESS_EVERY = 0.5  # seconds
MOST_PROGRAMS = {"cpu": 4, "gpu": 32}  # in memory; jobs arrive sorted by program, some programs ahead

Send = Callable[..., None]


def main(threads: int, key: str) -> None:
    """Serve requests, `threads` of them at a time, until the input ends; messages begin with the key."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the runner handles Ctrl-C
    send = _sender(_private_output(), key.encode())
    requests: SimpleQueue[dict[str, Any]] = SimpleQueue()
    threading.Thread(target=_listen, args=(_private_input(), requests), daemon=True).start()
    send({"kind": "ready"})
    bench = Bench(send)

    def work() -> None:
        while True:
            bench.do(requests.get())

    for _ in range(threads - 1):
        threading.Thread(target=work, daemon=True).start()
    work()  # a user's function may insist on the main thread


def probe() -> None:
    """Answer why JAX cannot trace the problem whose source is on standard input; null if it can."""
    question = json.load(sys.stdin)
    output = _private_output()
    with opened(Source.from_data(question["source"]), question["dimension"], question["instance"]) as problem:
        output.write(json.dumps(why_not_traceable(problem.searched)).encode())
        output.flush()


def backend() -> None:
    """Answer which kind of device JAX prefers; 'cpu' if there is no JAX."""
    try:
        import jax

        preferred = jax.default_backend()
    except ImportError:
        preferred = "cpu"
    print(json.dumps(preferred))


class Bench:
    """Does jobs, with the problems opened and the programs compiled so far."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._lock = threading.RLock()  # around problems and programs
        self._stack = ExitStack()
        self._problems: dict[tuple[Any, ...], Problem] = {}
        self._checked: set[str] = set()  # code of methods and rules that is that of the jobs
        self._programs: dict[str, Future[Program]] = {}
        self._compiling = 0  # programs
        self._ahead = ThreadPoolExecutor()  # compiles programs before their first job arrives
        self._gpu = threading.Lock()  # one program at a time runs on it, while others are compiled

    def do(self, request: dict[str, Any]) -> None:
        """Do the jobs of a request, and send their rows.

        `beside` in a request are the problems of the compiled program, those of its jobs among them; `ahead` are those
        of the programs to compile next, meanwhile.
        """
        jobs = [_job(one) for one in request["jobs"]]
        try:
            problems = [self._problem(one, job) for one, job in zip(request["jobs"], jobs, strict=True)]
        except Exception as error:
            self._send({"kind": "fatal", "message": str(error)})
            return
        for beside in request["ahead"]:
            self._compile_ahead(beside)
        if jobs[0].kind == "gpu":
            self._side_by_side(jobs, problems, request["beside"])
            return
        for job, problem in zip(jobs, problems, strict=True):
            self._one(job, problem, request["beside"])

    def _one(self, job: Job, problem: Problem, beside: Sequence[dict[str, Any]]) -> None:
        began, rows, compiling = time.perf_counter(), [], 0.0
        try:
            if job.engine == "host":
                rows = list(host_rows(job, problem, self._progress(job)))
            else:
                program, problems = self._program(job, beside), self._problems_of(beside)
                compiling = time.perf_counter() - began
                rows = compiled_rows(program, [job], [problem], problems, self._progress(job))[0]
        except Exception as error:
            rows = _failures(job, error)
        self._finished(job, rows, time.perf_counter() - began - compiling, compiling)

    def _side_by_side(self, jobs: Sequence[Job], problems: Sequence[Problem], beside: Sequence[dict[str, Any]]) -> None:
        import jax

        device = jobs[0].device
        try:
            jax.devices(device)
        except RuntimeError as error:  # no fault of the runs
            self._send({"kind": "fatal", "message": f"there is no device {device!r} here: {error}"})
            return
        began = ready = time.perf_counter()
        try:
            program, together = self._program(jobs[0], beside), self._problems_of(beside)
            with self._gpu:
                ready = time.perf_counter()
                found = compiled_rows(program, jobs, problems, together)
        except Exception as error:
            found = [_failures(job, error) for job in jobs]
        ended = time.perf_counter()
        for job, rows in zip(jobs, found, strict=True):
            self._finished(job, rows, (ended - ready) / len(jobs), (ready - began) / len(jobs))

    def _finished(self, job: Job, rows: Sequence[Row], seconds: float, compiling: float) -> None:
        payloads = [packed(row) for row in rows]
        self._send(
            {
                "kind": "done",
                "job": job.id,
                "runs": [row.run for row in rows],
                "failed": [row.failed for row in rows],
                "seconds": seconds,
                "compile_seconds": compiling,
                "device": _device(job),
            },
            payloads,
        )

    def _progress(self, job: Job) -> Callable[[int], None]:
        due = time.monotonic() + PROGRESS_EVERY

        def progress(evaluations: int) -> None:
            nonlocal due
            now = time.monotonic()
            if now >= due:
                due = now + PROGRESS_EVERY
                self._send({"kind": "progress", "job": job.id, "evaluations": evaluations})

        return progress

    def _problem(self, described: dict[str, Any], job: Job) -> Problem:
        """Return the problem of a job, opened once; ValueError if its code has changed since the jobs were made."""
        source = Source.from_data(described["source"])
        choice = (None, None) if source.path is not None else (job.dimension, job.instance)
        key = (source, *choice)
        with self._lock:
            if job.code is not None and canonical(job.code) not in self._checked:
                if code_in(job.method, job.settings.get("rule"), job.places, source.roots) != dict(job.code):
                    raise ValueError(f"{', '.join(job.code)} has changed since the study was started; start it again")
                self._checked.add(canonical(job.code))
            if key not in self._problems:
                problem = self._stack.enter_context(opened(source, *choice))
                if source.identity(problem) != dict(job.problem):
                    raise ValueError(f"{source} has changed since the study was started; start it again")
                self._problems[key] = problem
            return self._problems[key]

    def _problems_of(self, described: Sequence[dict[str, Any]]) -> list[Problem]:
        return [self._problem(one, _job(one)) for one in described]

    def _program(self, job: Job, beside: Sequence[dict[str, Any]]) -> Program:
        """Return the program of a job, for all problems in `beside`; threads may call it together."""
        return self._compiled(job, lambda: compiled_program(job, self._problems_of(beside)))

    def _compile_ahead(self, beside: Sequence[dict[str, Any]]) -> None:
        job = _job(beside[0])
        with self._lock:
            if job.program not in self._programs:
                self._ahead.submit(self._program, job, beside)  # its jobs will meet an error again

    def _compiled(self, job: Job, compile: Callable[[], Program]) -> Program:
        """Return the program of a job, compiled by the first thread that needs it; an error is raised in all."""
        with self._lock:
            first = job.program not in self._programs
            future = self._programs.setdefault(job.program, Future())
            while len(self._programs) > MOST_PROGRAMS[job.kind]:
                del self._programs[next(iter(self._programs))]
        if first:
            self._count_compiling(1)
            try:
                future.set_result(compile())
            except BaseException as error:
                future.set_exception(error)
            self._count_compiling(-1)
        return future.result()

    def _count_compiling(self, more: int) -> None:
        with self._lock:
            self._compiling += more
            self._send({"kind": "compiling", "programs": self._compiling})


def _job(described: dict[str, Any]) -> Job:
    return Job.from_content(described["content"], described["places"])


def _device(job: Job) -> str:
    """Return the device of a job, in words."""
    if job.engine == "host":
        return "cpu"
    import jax

    return f"{job.device} ({jax.devices(job.device)[0].device_kind}, JAX)"


def _failures(job: Job, error: Exception) -> list[Row]:
    message = shorter(f"{type(error).__name__}: {error_text(error)}")
    return [failed_row(job.id, run, job.dimension, message) for run in job.runs]


def _private_output() -> BinaryIO:
    """Return the standard output, for messages alone; the output of a user's function is discarded."""
    return os.fdopen(_moved(1, os.O_WRONLY), "wb")


def _private_input() -> BinaryIO:
    """Return the standard input, for requests alone; a user's function that reads it finds it empty."""
    return os.fdopen(_moved(0, os.O_RDONLY), "rb")


def _moved(descriptor: int, flags: int) -> int:
    """Return another descriptor of the same file, which forked processes do not keep, and free the number."""
    moved = os.dup(descriptor)
    nowhere = os.open(os.devnull, flags)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
    os.register_at_fork(after_in_child=partial(os.close, moved))
    return moved


def _sender(output: BinaryIO, key: bytes) -> Send:
    """Return a function that sends messages: a line with the key, a checksum and the message, then the blobs."""
    lock = threading.Lock()

    def send(message: dict[str, Any], blobs: Sequence[bytes] = ()) -> None:
        body = json.dumps({**message, "sizes": [len(blob) for blob in blobs]}).encode() + b"\n"
        head = b"%s %08x %s" % (key, zlib.crc32(b"".join(blobs), zlib.crc32(body)), body)
        try:
            with lock:
                output.writelines([head, *blobs])
                output.flush()
        except OSError:  # the runner is gone
            os._exit(1)

    return send


def _listen(stream: BinaryIO, requests: SimpleQueue[dict[str, Any]]) -> None:
    for line in _lines(stream):
        requests.put(json.loads(line))
    os._exit(0)


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    while line := stream.readline():
        if not line.endswith(b"\n"):
            return  # cut off
        yield line
