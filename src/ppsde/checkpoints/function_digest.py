"""A digest of a function by which a resumed run notices that its function has changed."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from functools import partial
from numbers import Number
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any

import numpy as np


def function_digest(*things: Any) -> str:
    """Return a text that differs between functions whose code, or the numbers that it uses, differ.

    That of a function counts, and of the functions beside it or around it that it calls. Of global variables and of
    those around it only numbers count that it does not change: a folder's name, a list of calls or a table may differ
    from time to time. Data passed as such, as `args` of a function, counts whole. A wrapper that names its function as
    `__wrapped__`, such as those of functools, counts as that function. Comments, names of
    local variables and places do not count. Versions of Python compile differently, so that of this one comes first.

    Examples
    --------
    >>> def shifted(by):
    ...     return lambda x: (x - by) ** 2
    >>> function_digest(shifted(1)) == function_digest(shifted(1))
    True
    >>> function_digest(shifted(1)) == function_digest(shifted(2))
    False
    """
    seen: dict[int, int] = {}  # functions described so far, by their code: they may call one another
    text = "\n".join(_described(thing, seen) for thing in things)
    return f"{sys.implementation.cache_tag} {hashlib.sha256(text.encode(errors='backslashreplace')).hexdigest()}"


def _described(thing: Any, seen: dict[int, int]) -> str:
    if thing is None or isinstance(thing, str | bytes | Number | np.generic):
        return repr(thing)
    if isinstance(thing, np.ndarray):
        data = repr(thing.tolist()).encode(errors="backslashreplace") if thing.dtype.hasobject else thing.tobytes()
        return f"{thing.dtype} {thing.shape} {hashlib.sha256(data).hexdigest()}"
    if isinstance(thing, Mapping):
        return f"{{{', '.join(f'{key!r}: {_described(value, seen)}' for key, value in thing.items())}}}"
    if isinstance(thing, tuple | list):
        return f"({', '.join(_described(part, seen) for part in thing)})"
    if callable(wrapped := getattr(thing, "__wrapped__", None)) and wrapped is not thing:
        return _described(wrapped, seen)
    if isinstance(thing, partial):
        return _described((thing.func, thing.args, thing.keywords), seen)
    if isinstance(thing, MethodType):
        return _described(thing.__func__, seen)
    if isinstance(thing, FunctionType):
        return _described_function(thing, seen)
    if callable(thing) and isinstance(call := type(thing).__call__, FunctionType):
        return _described_function(call, seen)
    kind = thing if hasattr(thing, "__qualname__") else type(thing)
    return f"{getattr(kind, '__module__', None)}.{kind.__qualname__}"


def _described_function(function: FunctionType, seen: dict[int, int]) -> str:
    if id(function.__code__) in seen:
        return f"function {seen[id(function.__code__)]}"
    seen[id(function.__code__)] = len(seen)
    read, changed = _variables(function.__code__)
    around = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    used: dict[str, Any] = {}
    for name in sorted(read - changed):
        cell = around.get(name)
        if cell is None:
            value = function.__globals__.get(name)
            beside = getattr(value, "__module__", None) == function.__module__
        else:
            value, beside = (None if cell == CellType() else cell.cell_contents), True  # it may be empty yet
        if isinstance(value, Number | np.generic) or (
            beside and isinstance(value, FunctionType | MethodType | partial)
        ):
            used[name] = value
    given = *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()
    parts = [_described_code(function.__code__), *(f"{name}={_described(value, seen)}" for name, value in used.items())]
    return " ".join([*parts, *(repr(value) for value in given if isinstance(value, Number))])


def _described_code(code: CodeType) -> str:
    constants = [
        _described_code(one)
        if isinstance(one, CodeType)
        else repr(sorted(map(repr, one)) if isinstance(one, frozenset) else one)
        for one in code.co_consts
    ]
    return f"{code.co_code.hex()} {code.co_names} [{', '.join(constants)}]"


def _variables(code: CodeType) -> tuple[set[str], set[str]]:
    """Return the variables of a module or around a function that its code reads, and those that it changes."""
    import dis

    read, changed = set(), set()
    for one in dis.get_instructions(code):
        if one.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF"):
            read.add(str(one.argval))
        elif one.opname in ("STORE_GLOBAL", "STORE_DEREF", "DELETE_GLOBAL", "DELETE_DEREF"):
            changed.add(str(one.argval))
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            more, less = _variables(inner)
            read |= more
            changed |= less
    return read, changed
