"""A job: some runs of one algorithm on one problem, identified by the digest of everything that can change its results.

Also the canonical JSON that is digested, and the provenance of results: versions, machine and command.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from ..algorithms import make
from ..problem import Problem
from ..request import Request, check_real


def canonical(value: Any) -> str:
    """Return the value as canonical JSON: keys sorted, no spaces, ASCII, numbers in their shortest exact form.

    Examples
    --------
    >>> canonical({"b": 0.1, "a": [1, None]})
    '{"a":[1,null],"b":0.1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def plain(value: Any, name: str) -> Any:
    """Return the value in the types that JSON has; `name` is used in the message if that cannot be."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        raise ValueError(f"{name} must be finite; got {value}")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [plain(item, name) for item in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: plain(item, name) for key, item in value.items()}
    raise ValueError(f"{name} must be made of numbers, text, true and false; got a {type(value).__name__}")


PACKAGES = ("numpy", "scipy", "jax", "jaxlib")


def provenance() -> dict[str, Any]:
    """Return versions, machine, process and command, for the account of each job."""
    from .. import __version__

    versions = {"ppsde": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {
        "versions": versions,
        "host": socket.gethostname(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "pid": os.getpid(),
        "command": [os.fsdecode(part) for part in sys.argv],
    }


KEYS = (
    *("method", "settings", "problem", "dimension", "instance", "seed"),
    *("runs", "budget", "record", "engine", "device"),
)
OPTIONAL = "eval_timeout"  # part of the content only if it is given


@dataclass(frozen=True, eq=False)
class Job:
    """Runs of one algorithm on one problem, with every setting."""

    method: str
    settings: Mapping[str, Any]
    problem: Mapping[str, Any]  # suite and name, or file, name and the digest of the file
    dimension: int
    instance: int | str | None
    seed: int
    runs: tuple[int, ...]
    budget: int
    record: int
    engine: str  # 'host' or 'compiled', which draw different random numbers
    device: str  # 'cpu' or 'gpu', which round differently
    eval_timeout: float | None = None  # seconds for one evaluation, on the host engine

    @cached_property
    def content(self) -> str:
        """The job as canonical JSON."""
        optional = {} if self.eval_timeout is None else {OPTIONAL: self.eval_timeout}
        return canonical({**{key: getattr(self, key) for key in KEYS}, "runs": list(self.runs), **optional})

    @cached_property
    def id(self) -> str:
        return digest(self.content)

    @cached_property
    def cell(self) -> str:
        """The digest of everything but the run numbers: jobs of one cell are runs of one experiment."""
        return digest(replace(self, runs=()).content)

    @property
    def kind(self) -> str:
        """The kind of worker that does it: 'host', or the device of compiled jobs."""
        return "host" if self.engine == "host" else self.device

    @property
    def program(self) -> str:
        """The key of its compiled program, which it shares with the jobs that differ in problem, seed or runs only."""
        return canonical([self.method, self.settings, self.dimension, self.budget, self.record, self.kind])

    @property
    def suite(self) -> str | None:
        return self.problem.get("suite")

    @property
    def problem_name(self) -> str:
        """The problem's name in tables."""
        return self.problem["name"] if self.suite is not None else f"{self.problem['file']}:{self.problem['name']}"

    def __str__(self) -> str:
        first, last = self.runs[0], self.runs[-1]
        runs = f"run {first}" if first == last else f"runs {first} to {last}"
        return f"{self.method} on {self.problem_name}, D={self.dimension}, seed {self.seed}, {runs} ({self.id[:12]})"

    def algorithm(self) -> Any:
        """Return the algorithm with its settings."""
        return make(self.method, self._options())

    def request(self, problem: Problem, run: int) -> Request:
        """The request of one of its runs on the host."""
        return Request(check_real(problem), self.method, self._options(), self.budget, self.seed, number=run, tol=0.0)

    def _options(self) -> dict[str, Any]:
        return {name: _hashable(value) for name, value in self.settings.items()}

    @classmethod
    def from_content(cls, text: str) -> Job:
        """Return the job of a canonical JSON text; ValueError if it is none."""
        data = json.loads(text)
        if not isinstance(data, dict) or set(data) - {OPTIONAL} != set(KEYS):
            raise ValueError(f"a job has {', '.join(KEYS)}")
        runs, problem = data["runs"], data["problem"]
        for key in ("dimension", "seed", "budget", "record"):
            if type(data[key]) is not int or data[key] < 0:
                raise ValueError(f"{key} of a job must be an int >= 0")
        if not isinstance(runs, list) or not runs or not all(type(run) is int and run >= 0 for run in runs):
            raise ValueError("runs of a job must be a list of ints >= 0")
        if not isinstance(problem, dict) or not all(isinstance(value, str) for value in problem.values()):
            raise ValueError("problem of a job must be named by texts")
        if "name" not in problem or ("suite" in problem) == ("file" in problem):
            raise ValueError("problem of a job must have a name and either a suite or a file")
        if not isinstance(data["instance"], int | str | None):
            raise ValueError("instance of a job must be a number, a text or null")
        if not isinstance(data["settings"], dict) or not isinstance(data["method"], str):
            raise ValueError("a job must have a method and its settings")
        seconds = data.get(OPTIONAL, 1.0)
        if type(seconds) is not float or not 0 < seconds < math.inf:
            raise ValueError(f"{OPTIONAL} of a job must be a number of seconds")
        job = cls(**{**data, "runs": tuple(runs)})
        if job.content != text:
            raise ValueError("a job must be canonical JSON")
        return job


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value
