"""Problems by name: SUITE:NAME, FILE.py:NAME, or FILE.py:SUITE:NAME for a problem of a suite in a file."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from ..lookup import did_you_mean, execute, importable, in_words, place_in
from ..problem import Problem
from . import SUITES, Suite, get


def from_suite(suite: str | Suite, name: str, dimension: int | None, instance: int | str | None) -> Problem:
    """Return a problem of a suite; ValueError for an `instance` where the suite has none."""
    table = get(suite)
    if instance is None:
        return table.problem(name, dimension)
    if "instance" not in inspect.signature(table.build).parameters:
        raise ValueError(f"instance must not be given: the problems of suite {table.name!r} have no instances")
    return table.problem(name, dimension, instance=instance)


def split_target(text: str) -> tuple[str | None, str | None, str]:
    """Return suite, file and name of a problem, of which suite or file is None; ValueError if the text names none.

    Examples
    --------
    >>> split_target("cec2017:C01"), split_target("beam.py:problem"), split_target("tiny.py:SUITE:circle")
    (('cec2017', None, 'C01'), (None, 'beam.py', 'problem'), ('tiny.py:SUITE', None, 'circle'))
    """
    place, colon, name = text.rpartition(":")
    if not (place and colon and name):
        raise ValueError(f"expected FILE.py:NAME or SUITE:NAME, such as cec2017:C01; got {text!r}")
    if place in SUITES or place_in(place) is not None:
        return place, None, name
    if not place.endswith(".py"):
        known = ", ".join(SUITES)
        raise ValueError(f"{place!r} is neither a .py file nor a suite ({known}){did_you_mean(place, SUITES)}")
    return None, place, name


@contextmanager
def from_file(path: Path, name: str) -> Iterator[Problem]:
    """Give the problem of that name in a file, or the one that a function of that name returns.

    Inside the `with` block, modules of the file's folder can be imported.
    """
    # A file must not replace a loaded module of the same name.
    module_name = path.stem if path.stem not in sys.modules else f"_ppsde_{path.stem}"
    with importable(path.resolve().parent):
        module = execute(path, module_name, path)
        try:
            yield _problem(module, name, str(path))
        finally:
            sys.modules.pop(module_name, None)


def _problem(module: ModuleType, name: str, place: str) -> Problem:
    if not hasattr(module, name):
        there = [key for key, value in vars(module).items() if isinstance(value, Problem)]
        raise ValueError(f"{place} has no {name!r}; " + (f"it has {', '.join(there)}" if there else "nor any Problem"))
    value: Any = getattr(module, name)
    if isinstance(value, Problem):
        return value
    if not callable(value):
        raise ValueError(f"{place}:{name} must be a ppsde.Problem or make one; its type is {type(value).__name__}")
    try:
        made = value()
    except Exception as error:
        raise ValueError(f"{place}:{name}() failed: {in_words(error, Path(place))}") from error
    if not isinstance(made, Problem):
        raise ValueError(f"{place}:{name}() must return a ppsde.Problem; the type is {type(made).__name__}")
    return made
