"""Methods, rules and suites of a user's own in a study: their names in a job, their places, the digest of their code.

A job names them without folders, so that a study can move; a worker gets their places on its machine beside the job.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..algorithms import ALGORITHMS
from ..lookup import Table, code_digest, origin_of, place_in
from ..parts.handling import RULES, parsed


@dataclass(frozen=True)
class Named:
    """A method, rule or suite of a plan."""

    text: str  # as in a job: a name, FILE.py:NAME without the folder, or MODULE:NAME
    here: str  # the same with the folder, by which it is found on this machine

    @classmethod
    def of(cls, thing: Any, table: Table, folder: Path, what: str) -> Named:
        """Return the name of a thing: of a text, a class, a function or a global object; ValueError if it has none."""
        if isinstance(thing, str) and table.added(thing) is not None:
            return cls.of(table.added(thing), table, folder, what)
        if not isinstance(thing, str):
            table.find(thing)
            thing = origin_of(thing, what)
        place = place_in(thing)
        if place is None:
            table.find(thing)
            return cls(thing, thing)
        path = (folder / place.path.expanduser()).resolve()
        return cls(place.short, f"{path}:{place.name}")


def method_of(thing: Any, folder: Path) -> tuple[Named, dict[str, Any]]:
    """Return the name of a method, and the settings that an object of one has."""
    if isinstance(thing, str) and ALGORITHMS.added(thing) is not None:
        thing = ALGORITHMS.added(thing)
    if isinstance(thing, str):
        return Named.of(thing, ALGORITHMS, folder, "method"), {}
    kind = thing if isinstance(thing, type) else type(thing)
    algorithm = ALGORITHMS.find(thing)
    settings = {} if isinstance(thing, type) else {entry.name: getattr(algorithm, entry.name) for entry in fields(kind)}
    for name, known in ALGORITHMS.known():
        if ALGORITHMS.added(name) is None and type(known) is kind:
            return Named(name, name), settings
    return Named.of(kind, ALGORITHMS, folder, f"algorithm {kind.__name__}"), settings


def rule_of(rule: Any, folder: Path) -> tuple[Named, str]:
    """Return the name of a rule, and its parameters as a text such as '(weight=100)'."""
    if isinstance(rule, str):
        name, _ = parsed(rule)
        return Named.of(name, RULES, folder, "rule"), rule[len(name) :].strip()
    if isinstance(rule, type) or hasattr(rule, "__qualname__"):  # a class, or a function
        return Named.of(rule, RULES, folder, f"rule {rule.__qualname__}"), ""
    kind = type(rule)
    named = Named.of(kind, RULES, folder, f"rule {kind.__name__}")
    given = {entry.name: getattr(rule, entry.name) for entry in fields(kind)} if is_dataclass(kind) else {}
    for key, value in given.items():
        if not (value is None or isinstance(value, bool | int | float | str)):
            raise ValueError(f"rule {kind.__name__} in a study must have plain settings; {key} is {value!r}")
    return named, f"({', '.join(f'{key}={value!r}' for key, value in given.items())})" if given else ""


def code_of(named: Named, table: Table, roots: Sequence[str]) -> str | None:
    """Return what identifies the code of a thing: a digest, or package and version; None if it is of this package."""
    place = place_in(named.here)
    if place is not None:
        return code_digest(place.path, roots)
    if ":" not in named.here:
        return table.package_of(named.here)
    module = named.here.rpartition(":")[0]
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ValueError(f"the code of {named.here!r} cannot be found")
    return code_digest(Path(spec.origin), roots, spec.parent or "")


def code_in(method: str, rule: Any, places: Mapping[str, str], roots: Sequence[str]) -> dict[str, str]:
    """Return the code of a job's method and rule, by their names in the job, as far as it is not of this package."""
    texts: list[tuple[str, Table]] = [(method, ALGORITHMS)]
    if isinstance(rule, str):
        texts.append((parsed(rule)[0], RULES))
    found = {text: code_of(Named(text, places.get(text, text)), table, roots) for text, table in texts}
    return {text: code for text, code in found.items() if code is not None}


def found_here(text: Any, places: Mapping[str, str]) -> Any:
    """Return a method or the text of a rule as it is found on this machine."""
    if not isinstance(text, str):
        return text
    name, bracket, rest = text.partition("(")
    return f"{places.get(name, name)}{bracket}{rest}"
