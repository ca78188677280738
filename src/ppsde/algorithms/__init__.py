"""One paper per file, the table of them by name, and their settings.

An algorithm is imported when its name is first looked up: most programs use few.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, NamedTuple

from ..lookup import Table, did_you_mean


def _checked(thing: Any, what: str) -> Any:
    """Return an algorithm, of a class the one with its default settings; ValueError if it is none."""
    if isinstance(thing, type):
        try:
            thing = thing()
        except TypeError as error:
            raise ValueError(f"{what} must have a default for every setting: {error}") from None
    missing = [name for name in ("start", "generation", "answer", "watch") if not callable(getattr(thing, name, None))]
    if not is_dataclass(thing) or missing:
        lacks = f"lacks {', '.join(missing)}" if missing else "is no dataclass"
        raise ValueError(
            f"{what} must be an algorithm, a dataclass with start, generation, answer and watch; it {lacks}"
        )
    return thing


ALGORITHMS = Table(
    "method",
    "ppsde.algorithms",
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
        "ude-iii": "ude_iii:UDEIII",
        "emag-es": "emages:EMAgES",
        "c2ode": "c2ode:C2oDE",
        "rdex": "rdex:RDEx",
        "rde26": "rdex:RDE26",
        "cl-srde": "cl_srde:CLSRDE",
        "sass": "sass:SASS",
        "colshade": "colshade:COLSHADE",
        "lshade-iepsilon": "lshade_iepsilon:LSHADEIEpsilon",
        "heco-de": "heco_de:HECODE",
        "enmode": "enmode:EnMODE",
        "code": "code_de:CoDE",
        "l-shade": "lshade:LSHADE",
        "shade": "shade:SHADE",
        "jade": "jade:JADE",
        "sade": "sade:SaDE",
        "epsde": "epsde:EPSDE",
        "jde": "jde:JDE",
        "fade": "fade:FADE",
        "cma-es": "cma_es:CMAES",
        "clpso": "clpso:CLPSO",
    },
    __name__,
    _checked,
)


DEFAULT = "pps-sqp"  # the method of `minimize`, `Optimizer`, `ppsde solve` and the SciPy front, unless one is named


def make(method: Any, options: Mapping[str, Any] | None = None) -> Any:
    """The algorithm of a name, of FILE.py:NAME, or a class or object of one, with the given settings."""
    algorithm = ALGORITHMS.find(method)
    known = [field.name for field in fields(algorithm) if field.init]
    for name in options or {}:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ValueError(f"unknown option {name!r} of {label_of(method)}; it has {', '.join(known)}{hint}")
    return replace(algorithm, **(options or {}))


def label_of(method: Any) -> str:
    """The name of a method in words: itself, or the class of an object.

    Examples
    --------
    >>> label_of("pps-de"), label_of(ALGORITHMS["jde"])
    ('pps-de', 'JDE')
    """
    if isinstance(method, str):
        return method
    kind = method if isinstance(method, type) else type(method)
    return kind.__name__


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
