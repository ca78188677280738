"""One paper per file, the table of them by name, and their settings.

An algorithm is imported when its name is first looked up: most programs use few.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import fields, replace
from importlib import import_module
from typing import Any, NamedTuple


class Table(MutableMapping[str, Any]):
    """A mapping from name to the algorithm with its default settings, to which others may be added.

    Parameters
    ----------
    places : dict
        For each name "MODULE:WHAT", a module beside this one and in it a class, or an instance of one.

    Examples
    --------
    >>> table = Table({"jde": "jde:JDE"})
    >>> table["jde"] == type(table["jde"])()
    True
    """

    def __init__(self, places: dict[str, str]) -> None:
        self._held: dict[str, Any] = dict(places)  # a place until it is looked up, then the algorithm

    def __getitem__(self, name: str) -> Any:
        held = self._held[name]
        if isinstance(held, str):
            module, _, what = held.partition(":")
            found = getattr(import_module(f".{module}", __package__), what)
            held = self._held[name] = found() if isinstance(found, type) else found
        return held

    def __setitem__(self, name: str, algorithm: Any) -> None:
        self._held[name] = algorithm

    def __delitem__(self, name: str) -> None:
        del self._held[name]

    def __contains__(self, name: object) -> bool:
        return name in self._held  # without making it, as the inherited one does

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def __repr__(self) -> str:
        return f"<algorithms: {', '.join(self)}>"


ALGORITHMS = Table(
    {
        "pps-sqp": "pps_sqp:PPSSQP",
        "sqp": "sqp:MultistartSQP",
        "pps-de": "pps_de:PPSDE",
        "pps-de-published": "pps_de:PUBLISHED",
        "aga-pps": "aga_pps:AGAPPS",
        "lshade44": "lshade44:LSHADE44",
        "lshade44-ide": "lshade44_ide:LSHADE44IDE",
        "ude": "ude:UDE",
        "iude": "iude:IUDE",
        "emag-es": "emages:EMAgES",
        "c2ode": "c2ode:C2oDE",
        "code": "code_de:CoDE",
        "l-shade": "lshade:LSHADE",
        "shade": "shade:SHADE",
        "jade": "jade:JADE",
        "sade": "sade:SaDE",
        "epsde": "epsde:EPSDE",
        "jde": "jde:JDE",
    }
)


DEFAULT = "pps-sqp"  # the method of `minimize`, `Optimizer`, `ppsde solve` and the SciPy front, unless one is named


def make(method: str, options: Mapping[str, Any] | None = None) -> Any:
    """The algorithm of that name with the given settings."""
    if not isinstance(method, str) or method not in ALGORITHMS:
        raise ValueError(f"unknown method {method!r}; expected one of {', '.join(ALGORITHMS)}")
    algorithm = ALGORITHMS[method]
    known = [field.name for field in fields(algorithm)]
    for name in options or {}:
        if name not in known:
            raise ValueError(f"unknown option {name!r} of {method}; it has {', '.join(known)}")
    return replace(algorithm, **(options or {}))


class Setting(NamedTuple):
    """A setting of an algorithm."""

    name: str
    default: Any
    type: str  # as annotated, or the values that it may have
    meaning: str  # one line; empty if the docstring does not give it


def settings_of(algorithm: Any) -> list[Setting]:
    """The settings of an algorithm, an instance; meanings come from the section "Parameters" of its class's docstring.

    Examples
    --------
    >>> settings_of(ALGORITHMS["code"])[0]
    Setting(name='population_size', default=30, type='int', meaning='NP, the number of members.')
    """
    meanings = _parameters(type(algorithm).__doc__ or "")
    return [
        Setting(f.name, getattr(algorithm, f.name), _type_name(f.type), meanings.get(f.name, ""))
        for f in fields(algorithm)
    ]


def _type_name(annotation: Any) -> str:
    name = getattr(annotation, "__name__", str(annotation))
    return f"one of {name[8:-1]}" if name.startswith("Literal[") else name


def _parameters(docstring: str) -> dict[str, str]:
    """The descriptions in the section "Parameters" of a docstring in numpydoc's form, by name."""
    _, _, section = inspect.cleandoc(docstring).partition("Parameters\n----------\n")
    found: dict[str, str] = {}
    name = ""
    for line in section.splitlines():
        if line.startswith("---"):  # another section, whose title was taken for a name
            break
        if line and not line.startswith(" "):
            name = line.partition(":")[0].strip()
        elif name:
            found[name] = f"{found.get(name, '')} {line.strip()}".strip()
    return found
