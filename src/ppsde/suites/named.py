"""Problems by name, from a suite or from a Python file of the user."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from ..problem import Problem
from . import get


def from_suite(suite: str, name: str, dimension: int | None, instance: int | str | None) -> Problem:
    """Return a problem of a suite; ValueError for an `instance` where the suite has none."""
    table = get(suite)
    if instance is None:
        return table.problem(name, dimension)
    if "instance" not in inspect.signature(table.build).parameters:
        raise ValueError(f"instance must not be given: the problems of suite {suite!r} have no instances")
    return table.problem(name, dimension, instance=instance)


@contextmanager
def from_file(path: Path, name: str) -> Iterator[Problem]:
    """Give the problem of that name in a file, or the one that a function of that name returns.

    Inside the `with` block, modules of the file's folder can be imported.
    """
    with _loaded(path) as module:
        yield _problem(module, name, str(path))


@contextmanager
def _loaded(path: Path) -> Iterator[ModuleType]:
    if not path.is_file():
        raise ValueError(f"there is no file {str(path)!r}")
    # A file must not replace a loaded module of the same name.
    name = path.stem if path.stem not in sys.modules else f"_ppsde_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None  # always so for a name that ends in .py
    module = importlib.util.module_from_spec(spec)
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    sys.modules[name] = module
    try:
        try:
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as error:
            raise ValueError(f"{path} cannot be loaded: {_in_words(error, path)}") from error
        yield module
    finally:
        sys.modules.pop(name, None)
        if folder in sys.path:
            sys.path.remove(folder)


def _problem(module: ModuleType, name: str, place: str) -> Problem:
    if not hasattr(module, name):
        there = [key for key, value in vars(module).items() if isinstance(value, Problem)]
        raise ValueError(f"{place} has no {name!r}; " + (f"it has {', '.join(there)}" if there else "nor any Problem"))
    value: Any = getattr(module, name)
    if isinstance(value, Problem):
        return value
    if not callable(value):
        raise ValueError(f"{place}:{name} must be a ppsde.Problem or make one; it is a {type(value).__name__}")
    try:
        made = value()
    except Exception as error:
        raise ValueError(f"{place}:{name}() failed: {_in_words(error, Path(place))}") from error
    if not isinstance(made, Problem):
        raise ValueError(f"{place}:{name}() must return a ppsde.Problem; it returned a {type(made).__name__}")
    return made


def _in_words(error: BaseException, path: Path) -> str:
    """Return the error and, where known, the line of the file it came from."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename) == path]
    where = f" (line {lines[-1]})" if lines else ""
    return f"{type(error).__name__}: {error}{where}"
