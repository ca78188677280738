"""The CEC2006 suite: g01 to g24 of the special session on constrained real-parameter optimisation.

J. J. Liang, T. P. Runarsson, E. Mezura-Montes, M. Clerc, P. N. Suganthan, C. A. Coello Coello and K. Deb, *Problem
definitions and evaluation criteria for the CEC 2006 special session on constrained real-parameter optimization*,
Nanyang Technological University, 2006.

Deviations
----------
The report's formulas divide by zero, or take log 0, at single points of some boxes (g02, g08, g14, g20); there the
limit is used where one exists and a finite value otherwise. g12, feasible in any of 729 balls, is one inequality: the
least of the 729. Quotients in g16 that cancel are cancelled.

Checked against
---------------
The best values of the report, met to 1e-7 by points that are feasible with its tolerance of 1e-4 on equalities; g22 has
a point that is better than the report's by 0.118; g20 has no feasible point, its optimum here is the report's point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..problem import Optimum, Problem
from . import Suite
from . import cec2006_formulas as formulas
from .cec2006_optima import BEST, PUBLISHED

Pairs = Sequence[tuple[float, float]]

# name: (formula, kind of objective, number of inequalities, number of equalities, box)
TABLE: dict[str, tuple[Callable[..., Any], str, int, int, Pairs]] = {
    "g01": (formulas.g01, "quadratic", 9, 0, [(0, 1)] * 9 + [(0, 100)] * 3 + [(0, 1)]),
    "g02": (formulas.g02, "nonlinear", 2, 0, [(0, 10)] * 20),
    "g03": (formulas.g03, "polynomial", 0, 1, [(0, 1)] * 10),
    "g04": (formulas.g04, "quadratic", 6, 0, [(78, 102), (33, 45), (27, 45), (27, 45), (27, 45)]),
    "g05": (formulas.g05, "cubic", 2, 3, [(0, 1200), (0, 1200), (-0.55, 0.55), (-0.55, 0.55)]),
    "g06": (formulas.g06, "cubic", 2, 0, [(13, 100), (0, 100)]),
    "g07": (formulas.g07, "quadratic", 8, 0, [(-10, 10)] * 10),
    "g08": (formulas.g08, "nonlinear", 2, 0, [(0, 10)] * 2),
    "g09": (formulas.g09, "polynomial", 4, 0, [(-10, 10)] * 7),
    "g10": (formulas.g10, "linear", 6, 0, [(100, 10000)] + [(1000, 10000)] * 2 + [(10, 1000)] * 5),
    "g11": (formulas.g11, "quadratic", 0, 1, [(-1, 1)] * 2),
    "g12": (formulas.g12, "quadratic", 1, 0, [(0, 10)] * 3),
    "g13": (formulas.g13, "nonlinear", 0, 3, [(-2.3, 2.3)] * 2 + [(-3.2, 3.2)] * 3),
    "g14": (formulas.g14, "nonlinear", 0, 3, [(0, 10)] * 10),
    "g15": (formulas.g15, "quadratic", 0, 2, [(0, 10)] * 3),
    "g16": (
        formulas.g16,
        "nonlinear",
        38,
        0,
        [(704.4148, 906.3855), (68.6, 288.88), (0, 134.75), (193, 287.0966), (25, 84.1988)],
    ),
    "g17": (
        formulas.g17,
        "nonlinear",
        0,
        4,
        [(0, 400), (0, 1000), (340, 420), (340, 420), (-1000, 1000), (0, 0.5236)],
    ),
    "g18": (formulas.g18, "quadratic", 13, 0, [(-10, 10)] * 8 + [(0, 20)]),
    "g19": (formulas.g19, "nonlinear", 5, 0, [(0, 10)] * 15),
    "g20": (formulas.g20, "linear", 6, 14, [(0, 10)] * 24),
    "g21": (
        formulas.g21,
        "linear",
        1,
        5,
        [(0, 1000), (0, 40), (0, 40), (100, 300), (6.3, 6.7), (5.9, 6.4), (4.5, 6.25)],
    ),
    "g22": (
        formulas.g22,
        "linear",
        1,
        19,
        [(0, 20000)]
        + [(0, 1e6)] * 3
        + [(0, 4e7)] * 3
        + [(100, 299.99), (100, 399.99), (100.01, 300), (100, 400), (100, 600)]
        + [(0, 500)] * 3
        + [(0.01, 300), (0.01, 400)]
        + [(-4.7, 6.25)] * 5,
    ),
    "g23": (
        formulas.g23,
        "linear",
        2,
        4,
        [(0, 300), (0, 300), (0, 100), (0, 200), (0, 100), (0, 300), (0, 100), (0, 200), (0.01, 0.03)],
    ),
    "g24": (formulas.g24, "linear", 2, 0, [(0, 3), (0, 4)]),
}


def build(name: str, dimension: int | None = None) -> Problem:
    """Return one of g01 to g24; each has a fixed dimension, the only one that `dimension` may be."""
    formula, kind, n_ineq, n_eq, pairs = TABLE[name]
    if dimension is not None and dimension != len(pairs):
        raise ValueError(f"{name} has dimension {len(pairs)}; got {dimension}")
    value, status, violation, x = BEST[name]
    return Problem(
        formula,
        pairs,
        n_ineq=n_ineq,
        n_eq=n_eq,
        vectorized=True,
        name=name,
        constraint_names=[f"g{i + 1}" for i in range(n_ineq)] + [f"h{i + 1}" for i in range(n_eq)],
        optimum=Optimum(value, status, violation, np.array(x, float)),
        properties={
            "objective": kind,
            "published_value": PUBLISHED[name],
            "source": "Liang et al. 2006",
            "summary": _summary(formula),
        },
    )


def _summary(formula: Callable[..., Any]) -> str:
    return (formula.__doc__ or "").strip().splitlines()[0]


def budget(dimension: int) -> int:
    """Return the evaluations per run of the report: half a million whatever the dimension."""
    return 500_000


SUITE = Suite(
    name="cec2006",
    description="g01-g24 of the CEC2006 special session on constrained real-parameter optimisation",
    names=tuple(TABLE),
    build=build,
    budget=budget,
)
