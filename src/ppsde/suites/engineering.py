"""The engineering suite: the classical constrained design problems that people try first.

Each formula names its source and, where the literature has several versions, the one taken. Variables that may take
only listed values are rounded inside the formula, so that every point of the box may be evaluated; the problem's
properties say which, under "discrete". Best known points were found by multi-start gradient search on these very
formulas, or by enumeration where all variables are listed; their values hold to about ten digits and are no worse than
the published values of the same version. They are drawn back from the constraints by a few units of rounding.
"""

from __future__ import annotations

import numpy as np

from ..problem import Optimum, Problem
from .engineering_table import DESIGNS
from .suite import Suite

EVALUATIONS_PER_VARIABLE = 20_000


def build(name: str, dimension: int | None = None) -> Problem:
    """One design problem; each has its own dimension, which is all that `dimension` may ask for.

    Examples
    --------
    >>> beam = build("welded-beam")
    >>> beam.dimension, beam.n_ineq, round(beam.optimum.value, 6)
    (4, 7, 1.724852)
    """
    design = DESIGNS[name]
    if dimension is not None and dimension != len(design.variables):
        raise ValueError(f"{name} has dimension {len(design.variables)}; got {dimension}")
    return Problem(
        design.formula,
        list(design.variables.values()),
        n_ineq=len(design.constraints),
        n_eq=0,
        vectorized=True,
        name=name,
        constraint_names=design.constraints,
        optimum=Optimum(design.value, design.status, x=np.array(design.best, float)),
        properties={
            "variables": tuple(design.variables),
            "discrete": dict(design.discrete),
            "source": (design.formula.__doc__ or "").strip(),
        },
    )


def budget(dimension: int) -> int:
    """The suite has no official rule; as in the CEC2017 suite, 20000 evaluations per variable."""
    return EVALUATIONS_PER_VARIABLE * dimension


SUITE = Suite(
    name="engineering",
    description="classical constrained design problems: beams, vessels, springs, gears, bearings, processes",
    names=tuple(DESIGNS),
    build=build,
    budget=budget,
)
