"""Where the problems of a plan come from: a suite, or a Python file of the user's."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..named_problems import from_file, from_suite
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
        yield from_suite(source.suite, source.name, dimension, instance)
        return
    if dimension is not None:
        raise ValueError(f"dimensions must not be given for {source.short}; a problem of a file has its own")
    if instance is not None:
        raise ValueError(f"instance must not be given for {source.short}; a problem of a file has none")
    assert source.path is not None
    with from_file(Path(source.path), source.name) as problem:
        yield problem
