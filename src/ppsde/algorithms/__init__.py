"""A table of algorithms by name, of which each is imported when it is first asked for: few are in one program.

One paper per file, and the table of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import fields, replace
from importlib import import_module
from typing import Any


class Table(MutableMapping[str, Any]):
    """Name -> the algorithm with its default settings; one may be added.

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
        self._held: dict[str, Any] = dict(places)  # a place until the algorithm is asked for, then the algorithm

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
