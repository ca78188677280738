"""Functions that misbehave, in a file of their own: worker processes import it, and with it NumPy alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def raises(x):
    raise RuntimeError("the mesh collapsed")


def exits(x):
    raise SystemExit(3)


def unprintable(x):
    raise Unprintable


MASKED = np.ma.array([0.5], mask=[True])
# What the function does at a bad point, and the words on it.
BAD: dict[str, tuple[Callable[[np.ndarray], Any], str]] = {
    "raises": (raises, "RuntimeError: the mesh collapsed"),
    "exits": (exits, "SystemExit: 3"),
    "unprintable": (unprintable, "Unprintable: its text raises RuntimeError"),
    "nan": (lambda x: (np.nan, [x[0]], []), "NotFinite: f is nan"),
    "infinite constraint": (lambda x: (1.0, [-np.inf], []), "NotFinite: g[0] is -inf"),
    "complex": (lambda x: (1j, [x[0]], []), "MalformedValue: the objective must be real numbers; got complex numbers"),
    "four values": (
        lambda x: (1.0, [x[0]], [], 2.0),
        "MalformedValue: the function must return f or a tuple (f, g, h); got a tuple of 4",
    ),
    "wrong shape": (lambda x: ([1.0, 2.0], [x[0]], []), "MalformedValue: the objective must be one number"),
    "two constraints": (
        lambda x: (1.0, [x[0], x[1]], []),
        "MalformedValue: the function must return 1 inequalities and 0 equalities; got 2 and 0",
    ),
    "ragged": (lambda x: (1.0, [[1.0], [2.0, 3.0]], []), "MalformedValue: g must be real numbers in a regular shape"),
    "masked objective": (lambda x: (MASKED[0], [x[0]], []), "MalformedValue: the objective must be real numbers; got"),
    "masked constraint": (lambda x: (1.0, MASKED, []), "MalformedValue: g must be real numbers; got masked values"),
}


def good(x):
    return float(((x - 0.3) ** 2).sum()), [0.5 - x[0] - x[1]], []


def bad_in_a_corner(name: str) -> Callable[[np.ndarray], Any]:
    """A function that misbehaves where x[0] > 1.2, and nowhere else."""
    misbehave = BAD[name][0]
    return lambda x: misbehave(x) if float(x[0]) > 1.2 else good(x)
