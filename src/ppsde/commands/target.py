"""The problem that an argument names: FILE.py:NAME, or SUITE:NAME."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..named_problems import from_file, from_suite
from ..problem import Problem
from ..suites import SUITES


@contextmanager
def opened(target: str, dimension: int | None = None, instance: int | str | None = None) -> Iterator[Problem]:
    """The problem named by `target`; the folder of its file can be imported from while it is open."""
    place, colon, name = target.rpartition(":")
    if not (place and colon and name):
        raise ValueError(f"expected FILE.py:NAME or SUITE:NAME, such as cec2017:C01; got {target!r}")
    if place in SUITES:
        yield from_suite(place, name, dimension, instance)
        return
    if not place.endswith(".py"):
        raise ValueError(f"{place!r} is neither a .py file nor a suite ({', '.join(SUITES)})")
    if dimension is not None or instance is not None:
        raise ValueError("--dimension and --instance are for problems of a suite; a file makes its own")
    with from_file(Path(place), name) as problem:
        yield problem
