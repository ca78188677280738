"""The engineering suite: the classical constrained design problems, as a table of formulas, boxes and best points.

Each formula names its source and, where the literature has several versions, the one used. Variables that may take
only listed values are rounded inside the formula, so that every point of the box may be evaluated; the problem's
properties say which, under "discrete". Best known points were found by multi-start gradient search on these
formulas, or by enumeration where all variables are listed; their values hold to about ten digits and are no worse than
the published values of the same version. They are drawn back from the constraints by a few units of rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..problem import Optimum, Problem
from . import Suite
from . import engineering_formulas as formulas


@dataclass(frozen=True)
class Design:
    """One row of the table: `discrete` gives the variables that the formula rounds, and how; `best` is feasible."""

    formula: Callable[..., Any]
    variables: dict[str, tuple[float, float]]
    constraints: tuple[str, ...]
    best: tuple[float, ...]
    value: float
    status: str = "best known"
    discrete: dict[str, str] = field(default_factory=dict)


DESIGNS: dict[str, Design] = {
    "welded-beam": Design(
        formulas.welded_beam,
        {"weld": (0.1, 2), "length": (0.1, 10), "height": (0.1, 10), "width": (0.1, 2)},
        ("shear stress", "bending stress", "weld thickness", "cost", "least weld", "deflection", "buckling"),
        best=(0.2057296397860791, 3.4704886656280145, 9.036623910357637, 0.20572963978607983),
        value=1.7248523085973693,
    ),
    "pressure-vessel": Design(
        formulas.pressure_vessel,
        {"shell": (0.0625, 6.1875), "head": (0.0625, 6.1875), "radius": (10, 200), "length": (10, 200)},
        ("shell thickness", "head thickness", "volume", "length"),
        best=(0.8125, 0.4375, 42.098445595854876, 176.63659584244047),
        value=6059.714335048453,
        discrete={"shell": "multiples of 0.0625", "head": "multiples of 0.0625"},
    ),
    "pressure-vessel-continuous": Design(
        formulas.pressure_vessel_continuous,
        {"shell": (0.0625, 6.1875), "head": (0.0625, 6.1875), "radius": (10, 200), "length": (10, 200)},
        ("shell thickness", "head thickness", "volume", "length"),
        best=(0.7781686413751101, 0.38464916262790333, 40.31961872409882, 200.0),
        value=5885.332773616514,
    ),
    "three-bar-truss": Design(
        formulas.three_bar_truss,
        {"outer": (0, 1), "middle": (0, 1)},
        ("stress 1", "stress 2", "stress 3"),
        best=(0.7886751345934236, 0.4082482904677943),
        value=263.89584337646863,
    ),
    "cantilever-beam": Design(
        formulas.cantilever_beam,
        {"side1": (0.01, 100), "side2": (0.01, 100), "side3": (0.01, 100), "side4": (0.01, 100), "side5": (0.01, 100)},
        ("deflection",),
        best=(6.016015894150814, 5.30917385741851, 4.494329573320283, 3.501474970423536, 2.152665329672101),
        value=1.3399563605990792,
        status="proved",
    ),
    "stepped-cantilever": Design(
        formulas.stepped_cantilever,
        {
            "width1": (1, 5),
            "height1": (30, 65),
            "width2": (2.4, 3.1),
            "height2": (45, 60),
            "width3": (2.4, 3.1),
            "height3": (45, 60),
            "width4": (1, 5),
            "height4": (30, 65),
            "width5": (1, 5),
            "height5": (30, 65),
        },
        (
            "stress 1",
            "stress 2",
            "stress 3",
            "stress 4",
            "stress 5",
            "deflection",
            "slenderness 1",
            "slenderness 2",
            "slenderness 3",
            "slenderness 4",
            "slenderness 5",
        ),
        best=(
            3.0,
            60.0,
            3.1,
            55.0,
            2.6,
            50.0,
            2.2808874166960886,
            45.61774833392173,
            1.7497570119380061,
            34.99514023876009,
        ),
        value=64578.19401693754,
        discrete={
            "width1": "whole numbers",
            "height1": "whole numbers",
            "width2": "2.4, 2.6, 2.8, 3.1",
            "height2": "45, 50, 55, 60",
            "width3": "2.4, 2.6, 2.8, 3.1",
            "height3": "45, 50, 55, 60",
        },
    ),
    "tubular-column": Design(
        formulas.tubular_column,
        {"diameter": (2, 14), "thickness": (0.2, 0.8)},
        ("yield stress", "buckling", "least diameter", "largest diameter", "least thickness", "largest thickness"),
        best=(5.451156234254868, 0.2919654771436779),
        value=26.499496891515513,
    ),
    "corrugated-bulkhead": Design(
        formulas.corrugated_bulkhead,
        {"width": (0, 100), "depth": (0, 100), "length": (0, 100), "thickness": (0, 5)},
        ("section modulus", "moment of inertia", "plate width", "plate length", "least thickness", "depth"),
        best=(57.69230769230783, 34.14762034867453, 57.692307692307786, 1.050000000000004),
        value=6.842958010080802,
    ),
    "reinforced-concrete-beam": Design(
        formulas.reinforced_concrete_beam,
        {"steel": (6, 8.4), "depth": (28, 40), "width": (5, 10)},
        ("depth to width", "bending moment"),
        best=(6.32, 34.0, 8.5),
        value=359.20799999999997,
        status="proved",
        discrete={"steel": "6, 6.16, 6.32, 6.6, 7, 7.11, 7.2, 7.8, 7.9, 8, 8.4", "depth": "whole numbers"},
    ),
    "i-beam-deflection": Design(
        formulas.i_beam_deflection,
        {"width": (10, 50), "height": (10, 80), "web": (0.9, 5), "flange": (0.9, 5)},
        ("area", "stress"),
        best=(50.0, 80.0, 0.9, 2.3217922606924635),
        value=0.01307411890522334,
    ),
    "tension-spring": Design(
        formulas.tension_spring,
        {"wire": (0.05, 2), "coil": (0.25, 1.3), "turns": (2, 15)},
        ("deflection", "shear stress", "surge frequency", "outer diameter"),
        best=(0.051689061082763194, 0.3567177397994295, 11.288965751614338),
        value=0.012665232788319837,
    ),
    "speed-reducer": Design(
        formulas.speed_reducer,
        {
            "face": (2.6, 3.6),
            "module": (0.7, 0.8),
            "teeth": (17, 28),
            "length1": (7.3, 8.3),
            "length2": (7.3, 8.3),
            "shaft1": (2.9, 3.9),
            "shaft2": (5, 5.5),
        },
        (
            "tooth bending",
            "tooth contact",
            "deflection 1",
            "deflection 2",
            "stress 1",
            "stress 2",
            "pitch",
            "least face",
            "largest face",
            "fit 1",
            "fit 2",
        ),
        best=(3.500000000000009, 0.7, 17.0, 7.3, 7.715319911478258, 3.350214666096455, 5.286654464980226),
        value=2994.4710661468284,
        discrete={"teeth": "whole numbers"},
    ),
    "gear-train": Design(
        formulas.gear_train,
        {"driven1": (12, 60), "driver1": (12, 60), "driver2": (12, 60), "driven2": (12, 60)},
        (),
        best=(43.0, 16.0, 19.0, 49.0),
        value=2.7008571488865134e-12,
        status="proved",
        discrete={
            "driven1": "whole numbers",
            "driver1": "whole numbers",
            "driver2": "whole numbers",
            "driven2": "whole numbers",
        },
    ),
    "piston-lever": Design(
        formulas.piston_lever,
        {"height": (0.05, 500), "offset": (0.05, 500), "bore": (0.05, 500), "reach": (0.05, 120)},
        ("force balance", "bending moment", "piston stroke", "clearance"),
        best=(0.05, 2.041513589918187, 4.083027179836225, 120.0),
        value=8.412698323107028,
    ),
    "multiple-disc-clutch-brake": Design(
        formulas.multiple_disc_clutch_brake,
        {"inner": (60, 80), "outer": (90, 110), "thickness": (1, 3), "force": (600, 1000), "discs": (2, 9)},
        ("ring width", "length", "pressure", "pressure times speed", "speed", "stopping time", "torque", "time sign"),
        best=(70.0, 90.0, 1.0, 810.0, 3.0),
        value=0.31365661053440497,
        status="proved",
        discrete={
            "inner": "whole numbers",
            "outer": "whole numbers",
            "thickness": "multiples of 0.5",
            "force": "multiples of 10",
            "discs": "whole numbers",
        },
    ),
    "hydrostatic-thrust-bearing": Design(
        formulas.hydrostatic_thrust_bearing,
        {"outer": (1, 16), "recess": (1, 16), "viscosity": (1e-06, 1.6e-05), "flow": (1, 16)},
        ("load", "pressure", "heating", "film thickness", "radii", "entrance loss", "contact pressure"),
        best=(5.95578049532215, 5.389013045776196, 5.358697265744146e-06, 2.2696559633928572),
        value=1625.442759080428,
    ),
    "heat-exchanger": Design(
        formulas.heat_exchanger,
        {
            "area1": (100, 10000),
            "area2": (1000, 10000),
            "area3": (1000, 10000),
            "warm1": (10, 1000),
            "warm2": (10, 1000),
            "hot1": (10, 1000),
            "hot2": (10, 1000),
            "hot3": (10, 1000),
        },
        ("balance 1", "balance 2", "balance 3", "exchange 1", "exchange 2", "exchange 3"),
        best=(
            579.3066844241437,
            1359.970668053277,
            5109.970668051607,
            182.0176995810164,
            295.60117327794757,
            217.9823004189796,
            286.4165263030676,
            395.6011732779447,
        ),
        value=7049.2480205290285,
    ),
    "gas-transmission-compressor": Design(
        formulas.gas_transmission_compressor,
        {"length": (20, 50), "ratio": (1, 10), "diameter": (20, 50), "slack": (0.1, 60)},
        ("compression",),
        best=(50.0, 1.1782839518449328, 24.592590114135234, 0.3883530711753034),
        value=2964895.4173391797,
    ),
    "himmelblau": Design(
        formulas.himmelblau,
        {"x1": (78, 102), "x2": (33, 45), "x3": (27, 45), "x4": (27, 45), "x5": (27, 45)},
        ("first high", "first low", "second high", "second low", "third high", "third low"),
        best=(78.00000000000001, 33.0, 29.995256025681634, 45.0, 36.77581290578818),
        value=-30665.53867178331,
    ),
    "process-synthesis": Design(
        formulas.process_synthesis,
        {"amount": (0, 1.6), "unit": (0, 1)},
        ("demand", "capacity"),
        best=(0.5, 1.0),
        value=2.0,
        status="proved",
        discrete={"unit": "0 or 1"},
    ),
    "process-synthesis-seven": Design(
        formulas.process_synthesis_seven,
        {"x1": (0, 1.2), "x2": (0, 1.8), "x3": (0, 2.5), "y1": (0, 1), "y2": (0, 1), "y3": (0, 1), "y4": (0, 1)},
        ("g1", "g2", "g3", "g4", "g5", "g6", "g7", "g8", "g9"),
        best=(0.19999999999999912, 0.7999999999999984, 1.9078784028338889, 1.0, 1.0, 0.0, 1.0),
        value=4.579582402436717,
        discrete={"y1": "0 or 1", "y2": "0 or 1", "y3": "0 or 1", "y4": "0 or 1"},
    ),
}


EVALUATIONS_PER_VARIABLE = 20_000


def build(name: str, dimension: int | None = None) -> Problem:
    """Return one design problem; each has a fixed dimension, the only one that `dimension` may be.

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
    """Return 20000 evaluations per variable, as in the CEC2017 suite; this suite has no official rule."""
    return EVALUATIONS_PER_VARIABLE * dimension


SUITE = Suite(
    name="engineering",
    description="classical constrained design problems: beams, vessels, springs, gears, bearings, processes",
    names=tuple(DESIGNS),
    build=build,
    budget=budget,
)
