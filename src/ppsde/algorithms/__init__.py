"""One paper per file, and the table of them."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from .table import Table

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


def make(method: str, options: dict[str, Any] | None = None) -> Any:
    """The algorithm of that name with the given settings."""
    if not isinstance(method, str) or method not in ALGORITHMS:
        raise ValueError(f"unknown method {method!r}; expected one of {', '.join(ALGORITHMS)}")
    algorithm = ALGORITHMS[method]
    known = [field.name for field in fields(algorithm)]
    for name in options or {}:
        if name not in known:
            raise ValueError(f"unknown option {name!r} of {method}; it has {', '.join(known)}")
    return replace(algorithm, **(options or {}))
