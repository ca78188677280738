"""Where the problems of a plan come from: a suite, or a Python file of the user's."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from ..problem import Problem
from ..suites import SUITES, get


@dataclass(frozen=True)
class Source:
    """What names a problem: `name` in `suite`, or `name` in the file at `path`."""

    name: str
    suite: str | None = None
    path: str | None = None

    def __str__(self) -> str:
        return f"{self.suite or self.path}:{self.name}"

    @property
    def short(self) -> str:
        """The name in tables: of a file only its last part."""
        return self.name if self.path is None else f"{Path(self.path).name}:{self.name}"

    def identity(self, problem: Problem) -> dict[str, Any]:
        """What makes it this problem and no other: a file's name and content, not the folder it lies in."""
        if self.path is not None:
            content = hashlib.sha256(Path(self.path).read_bytes()).hexdigest()
            return {"file": Path(self.path).name, "name": self.name, "sha256": content}
        version = problem.properties.get("version")
        named: dict[str, Any] = {"suite": self.suite, "name": self.name}
        return named if version is None else {**named, "version": version}


def source_of(text: Any, suite: str | None, folder: Path) -> Source:
    """The source that a text names: NAME (in `suite`), SUITE:NAME or FILE.py:NAME; files are sought from `folder`."""
    if not isinstance(text, str) or not text:
        raise ValueError(f"problems must be names, SUITE:NAME or FILE.py:NAME; got {text!r}")
    place, colon, name = text.rpartition(":")
    if not colon:
        if suite is None:
            raise ValueError(f"problems: {text!r} needs a suite: give suite, or write SUITE:NAME or FILE.py:NAME")
        place = suite
    if place in SUITES:
        names = get(place).names
        if name not in names:
            raise ValueError(f"problems: suite {place!r} has no {name!r}; it has {names[0]} .. {names[-1]}")
        return Source(name, suite=place)
    if not place.endswith(".py") or not name:
        raise ValueError(f"problems: {place!r} is neither a .py file nor a suite ({', '.join(SUITES)})")
    path = folder / place
    if not path.is_file():
        raise ValueError(f"problems: there is no file {str(path)!r}")
    return Source(name, path=str(path.resolve()))


@contextmanager
def opened(source: Source, dimension: int | None = None, instance: int | str | None = None) -> Iterator[Problem]:
    """The problem; the folder of its file can be imported from while it is open."""
    if source.suite is not None:
        yield _of_suite(source.suite, source.name, dimension, instance)
        return
    if dimension is not None:
        raise ValueError(f"dimensions must not be given for {source.short}; a problem of a file has its own")
    if instance is not None:
        raise ValueError(f"instance must not be given for {source.short}; a problem of a file has none")
    assert source.path is not None
    with _loaded(Path(source.path)) as module:
        yield _of_module(module, source.name, Path(source.path))


def _of_suite(suite: str, name: str, dimension: int | None, instance: int | str | None) -> Problem:
    table = get(suite)
    if instance is None:
        return table.problem(name, dimension)
    if "instance" not in inspect.signature(table.build).parameters:
        raise ValueError(f"instance must not be given; the problems of suite {suite!r} have none")
    return table.problem(name, dimension, instance=instance)


@contextmanager
def _loaded(path: Path) -> Iterator[ModuleType]:
    # A file called like a module that is loaded already must not take its place.
    name = path.stem if path.stem not in sys.modules else f"_ppsde_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None  # always so for a name that ends in .py
    module = importlib.util.module_from_spec(spec)
    folder = str(path.parent)
    sys.path.insert(0, folder)
    sys.modules[name] = module
    try:
        try:
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as error:
            raise ValueError(f"{path} cannot be loaded: {_what(error, path)}") from error
        yield module
    finally:
        sys.modules.pop(name, None)
        if folder in sys.path:
            sys.path.remove(folder)


def _of_module(module: ModuleType, name: str, path: Path) -> Problem:
    value: Any = getattr(module, name, None)
    if value is None:
        there = [key for key, held in vars(module).items() if isinstance(held, Problem)]
        raise ValueError(f"{path} has no {name!r}; it has {', '.join(there) or 'no Problem'}")
    if isinstance(value, Problem):
        return value
    if not callable(value):
        raise ValueError(f"{path}:{name} must be a ppsde.Problem or make one; it is a {type(value).__name__}")
    try:
        made = value()
    except Exception as error:
        raise ValueError(f"{path}:{name}() failed: {_what(error, path)}") from error
    if not isinstance(made, Problem):
        raise ValueError(f"{path}:{name}() must return a ppsde.Problem; it returned a {type(made).__name__}")
    return made


def _what(error: BaseException, path: Path) -> str:
    """The error and, where known, the line of the file it came from."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename) == path]
    where = f" (line {lines[-1]})" if lines else ""
    return f"{type(error).__name__}: {error}{where}"
