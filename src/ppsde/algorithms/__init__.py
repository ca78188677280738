"""One paper per file, and the table of them."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from .aga_pps import AGAPPS
from .c2ode import C2oDE
from .code_de import CoDE
from .emages import EMAgES
from .epsde import EPSDE
from .iude import IUDE
from .jade import JADE
from .jde import JDE
from .lshade import LSHADE
from .lshade44 import LSHADE44
from .lshade44_ide import LSHADE44IDE
from .pps_de import PPSDE, PUBLISHED
from .sade import SaDE
from .shade import SHADE
from .ude import UDE

ALGORITHMS: dict[str, Any] = {  # name -> the algorithm with its default settings
    "pps-de": PPSDE(),
    "pps-de-published": PUBLISHED,
    "aga-pps": AGAPPS(),
    "lshade44": LSHADE44(),
    "lshade44-ide": LSHADE44IDE(),
    "ude": UDE(),
    "iude": IUDE(),
    "emag-es": EMAgES(),
    "c2ode": C2oDE(),
    "code": CoDE(),
    "l-shade": LSHADE(),
    "shade": SHADE(),
    "jade": JADE(),
    "sade": SaDE(),
    "epsde": EPSDE(),
    "jde": JDE(),
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
