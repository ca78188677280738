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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from ..algorithms import make
from ..problem import Problem
from ..request import Request
from .code import found_here


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
    raise ValueError(f"{name} must be made of numbers, text, true and false; got {type(value).__name__}")


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
OPTIONAL = ("eval_timeout", "code")  # part of the content only if they are given


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
    code: Mapping[str, str] | None = None  # of a method or rule that is not of this package, by its name: a digest
    places: Mapping[str, str] = field(default_factory=dict)  # where these are on this machine; not part of the content

    @property
    def content(self) -> str:
        """The job as canonical JSON."""
        return self.content_of(self.runs)

    def content_of(self, runs: Iterable[int]) -> str:
        """Return the content of the job of other runs of the same cell."""
        before, after = self._around
        return f"{before}[{','.join(map(str, runs))}]{after}"

    @cached_property
    def _around(self) -> tuple[str, str]:
        """The canonical JSON before and after the run numbers."""
        data = {
            key: getattr(self, key) for key in KEYS + OPTIONAL if key not in OPTIONAL or getattr(self, key) is not None
        }
        before, after = ({key: data[key] for key in data if side(key)} for side in ("runs".__gt__, "runs".__lt__))
        return f'{canonical(before)[:-1]},"runs":', f",{canonical(after)[1:]}"

    @cached_property
    def id(self) -> str:
        return digest(self.content)

    @cached_property
    def cell(self) -> str:
        """The digest of everything but the run numbers: jobs of one cell are runs of one experiment."""
        return digest(self.content_of(()))

    def with_runs(self, runs: tuple[int, ...]) -> Job:
        """Return the job of other runs of the same cell; what they share is there once."""
        other = object.__new__(type(self))
        vars(other).update(vars(self), runs=runs, cell=self.cell, _around=self._around)
        vars(other).pop("id", None)
        return other

    @property
    def kind(self) -> str:
        """The kind of worker that does it: 'host', or the device of compiled jobs."""
        return "host" if self.engine == "host" else self.device

    @property
    def program(self) -> str:
        """The key of its compiled program, which it shares with the jobs that differ in problem, seed or runs only."""
        code = [] if self.code is None else [self.code]
        return canonical([self.method, self.settings, self.dimension, self.budget, self.record, self.kind, *code])

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
        options = {name: _hashable(value) for name, value in self.settings.items()}
        if "rule" in options:
            options["rule"] = found_here(options["rule"], self.places)
        return make(found_here(self.method, self.places), options)

    def request(self, problem: Problem, run: int) -> Request:
        """The request of one of its runs on the host."""
        return Request(problem, self.algorithm(), None, self.budget, self.seed, number=run, tol=0.0)

    @classmethod
    def from_content(cls, text: str, places: Mapping[str, str] | None = None) -> Job:
        """Return the job of a canonical JSON text; ValueError if it is none."""
        data = json.loads(text)
        if not isinstance(data, dict) or set(data) - set(OPTIONAL) != set(KEYS):
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
        seconds, code = data.get("eval_timeout", 1.0), data.get("code", {"": ""})
        if type(seconds) is not float or not 0 < seconds < math.inf:
            raise ValueError("eval_timeout of a job must be a number of seconds")
        if not isinstance(code, dict) or not code or not all(isinstance(value, str) for value in code.values()):
            raise ValueError("code of a job must be digests by name")
        job = cls(**{**data, "runs": tuple(runs)}, places=places or {})
        if job.content != text:
            raise ValueError("a job must be canonical JSON")
        return job


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value
