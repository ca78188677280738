"""One paper per file, and the table of them."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from .jade import JADE
from .lshade import LSHADE
from .lshade44 import LSHADE44
from .lshade44_ide import LSHADE44IDE
from .pps_de import PPSDE, PUBLISHED
from .shade import SHADE

ALGORITHMS: dict[str, Any] = {  # name -> the algorithm with its default settings
    "pps-de": PPSDE(),
    "pps-de-published": PUBLISHED,
    "lshade44": LSHADE44(),
    "lshade44-ide": LSHADE44IDE(),
    "l-shade": LSHADE(),
    "shade": SHADE(),
    "jade": JADE(),
}


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
