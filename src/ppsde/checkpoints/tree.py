"""Trees of dataclasses, as plain arrays by name and a description of plain JSON that puts them together again.

A leaf comes back as what it was: an array, a NumPy number or a Python one, of the same type and with the same bits.
A description names classes, but cannot bring any: it is rebuilt from classes that the caller already has, and what is
made of others is not described in the first place.
"""

from __future__ import annotations

import typing
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np

from .container import CheckpointError

DEEPEST = 50  # trees in trees
_NUMBERS: dict[str, type] = {"float": float, "complex": complex}  # stored as arrays: JSON has no NaN and no -0.0


def flatten(tree: Any, name: str, arrays: dict[str, np.ndarray], classes: Mapping[str, type], depth: int = 0) -> Any:
    """The description of a tree; its numbers go into `arrays` under names that begin with `name`."""
    if depth > DEEPEST:
        raise CheckpointError(f"{name} cannot be stored: it is nested deeper than {DEEPEST}")
    kind = type(tree)
    if tree is None or kind in (bool, str):
        return tree
    if kind is int:
        return {"int": str(tree)}
    if kind in (tuple, list):
        return {kind.__name__: [flatten(v, f"{name}[{k}]", arrays, classes, depth + 1) for k, v in enumerate(tree)]}
    if is_dataclass(kind):
        if classes.get(class_name(kind)) is not kind:
            raise CheckpointError(f"{name} cannot be stored: its declared type does not tell of {class_name(kind)}")
        named = [(field.name, getattr(tree, field.name)) for field in fields(kind)]
        described = {n: flatten(v, f"{name}.{n}", arrays, classes, depth + 1) for n, v in named}
        return {"class": class_name(kind), "fields": described}
    form = "array" if kind is np.ndarray else "number" if isinstance(tree, np.generic) else kind.__name__
    if form not in ("array", "number", *_NUMBERS):
        raise CheckpointError(f"{name} cannot be stored: {kind.__name__} is neither numbers, text nor a dataclass")
    arrays[name] = np.asarray(tree)
    return {form: name}


def rebuild(description: Any, arrays: Mapping[str, np.ndarray], classes: Mapping[str, type], depth: int = 0) -> Any:
    """The tree that was described. `classes` are those it may be made of, by name."""
    if depth > DEEPEST:
        raise CheckpointError(f"a description is nested deeper than {DEEPEST}")
    if description is None or isinstance(description, bool | str):
        return description
    if not isinstance(description, dict):
        raise CheckpointError(f"a description cannot be a {type(description).__name__}")
    if set(description) == {"class", "fields"}:
        return _object(description["class"], description["fields"], arrays, classes, depth)
    if len(description) != 1:
        raise CheckpointError("a description must say one thing")
    ((form, value),) = description.items()
    if form in ("tuple", "list") and isinstance(value, list):
        parts = [rebuild(part, arrays, classes, depth + 1) for part in value]
        return tuple(parts) if form == "tuple" else parts
    if not isinstance(value, str):
        raise CheckpointError(f"a description holds {ascii(form)[:80]} of a {type(value).__name__}")
    if form == "int":
        return _int(value)
    if form not in ("array", "number", *_NUMBERS):
        raise CheckpointError(f"a description holds {ascii(form)[:80]}, which is no form of a value")
    if value not in arrays:
        raise CheckpointError(f"there is no array {value[:80]!a}")
    array = arrays[value]
    if form == "array":
        return array
    if array.ndim:
        raise CheckpointError(f"{value[:80]!a} must be one number; it has shape {array.shape}")
    return array[()] if form == "number" else _python_number(array, _NUMBERS[form])


def class_name(kind: type) -> str:
    """The name a class goes by in a description."""
    return f"{kind.__module__}.{kind.__qualname__}"


def classes_within(roots: Iterable[Any]) -> dict[str, type]:
    """The dataclasses that trees are made of, by name: of those given as objects or classes, and of their fields.

    What a field may hold is known from its declared type and, in an object, from what it holds.
    """
    found: dict[str, type] = {}
    waiting = list(roots)
    while waiting:
        thing = waiting.pop()
        kind = thing if isinstance(thing, type) else type(thing)
        if isinstance(thing, tuple | list):
            waiting += thing
        elif is_dataclass(kind):
            if not isinstance(thing, type):
                waiting += [getattr(thing, field.name) for field in fields(kind)]
            if class_name(kind) not in found:
                found[class_name(kind)] = kind
                waiting += _declared(kind)
    return found


@cache
def _declared(kind: Any) -> list[type]:
    """The classes in the declared types of a dataclass's fields, such as A and B of `A | tuple[B, ...]`."""
    try:
        waiting = list(typing.get_type_hints(kind).values())
    except (NameError, TypeError, AttributeError):  # declared with names that exist for type checkers only
        return []
    classes = []
    while waiting:
        hint = waiting.pop()
        waiting += typing.get_args(hint) if typing.get_origin(hint) is not typing.Literal else ()
        if isinstance(hint, type) and is_dataclass(hint):
            classes.append(hint)
    return classes


def _object(name: Any, parts: Any, arrays: Mapping[str, np.ndarray], classes: Mapping[str, type], depth: int) -> Any:
    if not isinstance(name, str) or name not in classes:
        raise CheckpointError(f"{ascii(name)[:120]} is no class of this algorithm")
    kind: Any = classes[name]
    names = [field.name for field in fields(kind)]
    if not isinstance(parts, dict) or set(parts) != set(names):
        raise CheckpointError(f"{name} must have the fields {', '.join(names)}")
    tree = object.__new__(kind)
    for field in names:  # as they were, without what the class does to new ones
        object.__setattr__(tree, field, rebuild(parts[field], arrays, classes, depth + 1))
    return tree


def _int(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = None
    if number is None or str(number) != text:
        raise CheckpointError(f"{text[:80]!a} is no whole number")
    return number


def _python_number(array: np.ndarray, kind: type) -> Any:
    if array.dtype != kind:
        raise CheckpointError(f"a {kind.__name__} must be stored as {np.dtype(kind)}; got {array.dtype}")
    return array.item()
