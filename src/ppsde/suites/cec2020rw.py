"""The CEC2020 real-world suite: RC01 to RC57, constrained problems of industry, machines, power and cattle feed.

A. Kumar, G. Wu, M. Z. Ali, R. Mallipeddi, P. N. Suganthan, S. Das, *A test-suite of non-convex constrained optimization
problems from the real-world and some baseline results*, Swarm and Evolutionary Computation 56 (2020) 100693; boxes and
formulas as in the organisers' MATLAB code of 5 March 2020, which differs from the printed report in places.

The box belongs to the search, the rounding to the formula: a listed variable may be any number of the box. Seventeen
problems need the organisers' matrices, see `cec2020rw_data`; the others need nothing.

Deviations (the organisers' code / here / because)
--------------------------------------------------
placeholders  problems without equalities or inequalities return a 0 in their place / none / it is no constraint. RC31
              declares one of each, both 0 / none
counts        RC17, RC21 and RC44 return 4, 8 and 91 inequalities and declare 3, 7 and 105 / those returned / they are
              what must hold; only `nu` divides by the declared counts, as the competition's results do
RC02          the box ends at 2.05 * 10^6 as MATLAB computes it, 2049999.9999999998 / the same / it is theirs
RC22          g8 is 1e6 for all rows of a population as soon as one has no angle / for that row / a row's value must not
              depend on other rows
RC24          MATLAB's `fminbnd` on values that may be complex / the same method on their real parts / a search along
              complex numbers has no meaning; such points end as 1e4 in both
RC20, RC25, RC34 to RC43, RC51 to RC54
              single points divide by 0 (no bars, equal radii, a voltage of 0, no feed) / by a tiny number / NaN is no
              value
RC28          an angle by a quotient that is 0 / 0 at one diameter / with equal terms cancelled / the value is the same

The following are as in the code, though the literature has them otherwise: RC12 has (x1 - 1)^22, RC15 and RC17 do not
round teeth and turns, RC21 has its own speed and rounds nothing, RC26 exchanges two numbers of teeth in g79 and g80,
RC28 is minimised, RC30 has a wire of 0.0105 in the place of 0.105, RC31 rounds nothing, RC44 leaves the last turbine
out of the distances.

Checked against values of the organisers' code at six points per problem: all agree to 1e-10 of max(1, |value|), and
to 1e-10 of each value but for equalities of RC34 to RC39 that are small differences of large currents. RC30's g7 is 0
but for rounding.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..arrays import Array
from ..population import competition_violation
from ..problem import FGH, Optimum, Problem
from . import Suite
from . import cec2020rw_feed as feed
from . import cec2020rw_machines as machines
from . import cec2020rw_power as power
from . import cec2020rw_processes as processes
from . import engineering_formulas as engineering
from .cec2020rw_data import load
from .cec2020rw_optima import BEST, PUBLISHED, points

Pairs = Sequence[tuple[float, float]]
WHOLE = "whole numbers"


@dataclass(frozen=True)
class Entry:
    """One row of the table: `formula` is the function; in `GRIDS` and `RATIONS` it makes it of the organisers' data."""

    alias: str  # the name for people
    formula: Callable[..., Any]
    box: Pairs
    inequalities: tuple[str, ...] = ()
    equalities: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()  # their names, where they have any
    discrete: dict[str, str] = field(default_factory=dict)  # by name or x1, x2, ...: how the formula rounds it


def numbered(word: str, count: int, first: int = 1) -> tuple[str, ...]:
    """Return names such as ('balance 1', 'balance 2')."""
    return tuple(f"{word} {k}" for k in range(first, first + count))


def at_buses(words: Sequence[str], first: int, last: int) -> tuple[str, ...]:
    """Return the names of constraints that every bus has."""
    return tuple(f"{word}, bus {k}" for word in words for k in range(first, last + 1))


CURRENTS = ("current, real part", "current, imaginary part")
POWERS = (*CURRENTS, "active power", "reactive power")
CASES = ("amount 2", "amount 1", "amount 3", "amount 4", "share of the first 17", "share", "sum of the last 26")
RATION = tuple(f"{side} {quantity}" for quantity in CASES for side in ("least", "largest"))
GEAR_BOX = (
    *(
        f"{word}, stage {k}"
        for word in ("bending", "contact", "meshing", "pinion size", "gear size")
        for k in range(1, 5)
    ),
    *(
        f"{wheel} inside, {side}, stage {k}"
        for wheel in ("pinion", "gear")
        for side in ("right", "left", "top", "bottom")
        for k in range(1, 5)
    ),
    *(
        f"{limit} pitch of width {w}, stage {k}"
        for limit in ("largest", "least")
        for w in range(1, 5)
        for k in range(1, 5)
    ),
    "least speed",
    "largest speed",
)

PROCESSES = {
    "RC01": Entry(
        "heat-exchangers-two",
        processes.heat_exchanger_network_two,
        [(0, 10), (0, 200), (0, 100), (0, 200), (1000, 2e6), (0, 600), (100, 600), (100, 600), (100, 900)],
        equalities=("exchange 1", "exchange 2", *numbered("balance", 4), "mean 1", "mean 2"),
        variables=("area1", "area2", "heat1", "mean1", "heat2", "mean2", "middle", "out1", "out2"),
    ),
    "RC02": Entry(
        "heat-exchangers-three",
        processes.heat_exchanger_network_three,
        [(1e4, 0.819e6), (1e4, 1.131e6), (1e4, 2049999.9999999998)]
        + [(0, 0.05074)] * 3
        + [(100, 200), (100, 300), (100, 300), (100, 300), (100, 400)],
        equalities=(*numbered("cold balance", 3), *numbered("hot balance", 3), *numbered("mean", 3)),
        variables=("heat1", "heat2", "heat3", "mean1", "mean2", "mean3", "warm1", "warm2", "out1", "out2", "out3"),
    ),
    "RC03": Entry(
        "alkylation",
        processes.alkylation,
        [(1000, 2000), (0, 100), (2000, 4000), (0, 100), (0, 100), (0, 20), (0, 200)],
        numbered("g", 14),
        variables=("olefin", "acid", "yield", "strength", "octane", "ratio", "performance"),
    ),
    "RC04": Entry(
        "reactor-network",
        processes.reactor_network,
        [(0, 1)] * 4 + [(1e-5, 16)] * 2,
        ("volume",),
        numbered("balance", 4),
        variables=("a1", "a2", "b1", "b2", "volume1", "volume2"),
    ),
    "RC05": Entry(
        "haverly-pooling",
        processes.haverly_pooling,
        [(0, 100), (0, 200), (0, 100), (0, 100), (0, 100), (0, 100), (0, 200), (0, 100), (0, 200)],
        ("sulphur 1", "sulphur 2"),
        ("pool", "product 1", "product 2", "sulphur of the pool"),
        variables=("sold1", "sold2", "bought_a", "bought_b", "direct1", "direct2", "pooled1", "pooled2", "sulphur"),
    ),
    "RC06": Entry(
        "sharp-separation",
        processes.blending_pooling_separation,
        [
            (0.0, u)
            for u in (
                *(90, 150, 90, 150, 90, 90, 150, 90, 90, 90, 150, 150, 90, 90, 150, 90, 150, 90, 150, 90),
                *(1, 1.2, 1, 1, 1, 0.5, 1, 1, 0.5, 0.5, 0.5, 1.2, 0.5, 1.2, 1.2, 0.5, 1.2, 1.2),
            )
        ],
        equalities=(
            "feed",
            *numbered("split", 4),
            *numbered("separator balance", 6),
            *numbered("mixer balance", 9),
            *numbered("sum of fractions", 6),
            *numbered("empty fraction", 6),
        ),
    ),
    "RC07": Entry(
        "nonsharp-separation",
        processes.nonsharp_separation,
        [
            (0.849999 if k in (24, 26, 28, 31) else 0.0, u)
            for k, u in enumerate(
                [35, 90, 90, 140, 90]
                + [35] * 7
                + [90] * 3
                + [35] * 5
                + [1] * 4
                + [30, 1, 30, 1, 30, 1, 1, 30, 1, 1, 30, 1, 30]
                + [1] * 11,
                start=1,
            )
        ],
        equalities=(
            "feed",
            *numbered("split", 4),
            *numbered("recovery", 4),
            *numbered("component flow", 6),
            *numbered("separator balance", 6),
            *numbered("mixer balance", 6),
            *numbered("sum of fractions", 6),
            *numbered("empty fraction", 2),
            *numbered("demand", 3),
        ),
    ),
    "RC08": Entry(
        "process-synthesis",
        processes.process_synthesis_two,
        [(0, 1.6), (-0.51, 1.49)],
        ("demand", "capacity"),
        discrete={"x2": "-1, 0, 1"},
    ),
    "RC09": Entry(
        "process-synthesis-three",
        processes.process_synthesis_and_design,
        [(0.5, 1.4), (0.5, 1.4), (-0.51, 1.49)],
        ("choice",),
        ("conversion",),
        discrete={"x3": "-1, 0, 1"},
    ),
    "RC10": Entry(
        "flow-sheeting",
        processes.process_flow_sheeting,
        [(0.2, 1), (-2.22554, -1), (-0.51, 1.49)],
        numbered("g", 3),
        discrete={"x3": "-1, 0, 1"},
    ),
    "RC11": Entry(
        "two-reactors",
        processes.two_reactors,
        [(0, 20), (0, 20), (0, 10), (0, 10), (-0.51, 1.49), (-0.51, 1.49), (0, 40)],
        ("volume 1", "volume 2", "feed 1", "feed 2"),
        ("one reactor", "product", "feed", "product of the reactor used"),
        variables=("feed1", "feed2", "volume1", "volume2", "use1", "use2", "feed"),
        discrete={"use1": "-1, 0, 1", "use2": "-1, 0, 1"},
    ),
    "RC12": Entry(
        "process-synthesis-seven",
        processes.process_synthesis_seven,
        [(0, 100)] * 3 + [(-0.51, 1.49)] * 4,
        numbered("g", 9),
        variables=("x1", "x2", "x3", "y1", "y2", "y3", "y4"),
        discrete=dict.fromkeys(("y1", "y2", "y3", "y4"), "-1, 0, 1"),
    ),
    "RC13": Entry(
        "process-design",
        processes.process_design,
        [(27, 45)] * 3 + [(77.51, 102.49), (32.51, 45.49)],
        numbered("g", 3),
        variables=("x1", "x2", "x3", "y1", "y2"),
        discrete={"y1": WHOLE, "y2": WHOLE},
    ),
    "RC14": Entry(
        "batch-plant",
        processes.batch_plant,
        [(0.51, 3.49)] * 3 + [(250, 2500)] * 3 + [(6, 20), (4, 16), (40, 700), (10, 450)],
        ("hours", *numbered("volume", 3), *numbered("time of product 1,", 3), *numbered("time of product 2,", 3)),
        variables=(
            *("units1", "units2", "units3", "volume1", "volume2", "volume3"),
            *("time1", "time2", "batch1", "batch2"),
        ),
        discrete={"units1": WHOLE, "units2": WHOLE, "units3": WHOLE},
    ),
}

MACHINES = {
    "RC15": Entry(
        "speed-reducer",
        machines.speed_reducer,
        [(2.6, 3.6), (0.7, 0.8), (17, 28), (7.3, 8.3), (7.3, 8.3), (2.9, 3.9), (5, 5.5)],
        (
            *("tooth bending", "tooth contact", "deflection 1", "deflection 2", "stress 1", "stress 2", "pitch"),
            *("least face", "largest face", "fit 1", "fit 2"),
        ),
        variables=("face", "module", "teeth", "length1", "length2", "shaft1", "shaft2"),
    ),
    "RC16": Entry("refrigeration", machines.refrigeration, [(0.001, 5)] * 14, numbered("g", 15)),
    "RC17": Entry(
        "tension-spring",
        engineering.tension_spring,
        [(0.05, 2), (0.25, 1.3), (2, 15)],
        ("deflection", "shear stress", "surge frequency", "outer diameter"),
        variables=("wire", "coil", "turns"),
    ),
    "RC18": Entry(
        "pressure-vessel",
        machines.pressure_vessel,
        [(0.51, 99.49), (0.51, 99.49), (10, 200), (10, 200)],
        ("shell thickness", "head thickness", "volume", "length"),
        variables=("shell", "head", "radius", "length"),
        discrete={"shell": "whole numbers of 0.0625", "head": "whole numbers of 0.0625"},
    ),
    "RC19": Entry(
        "welded-beam",
        machines.welded_beam,
        [(0.125, 2), (0.1, 10), (0.1, 10), (0.1, 2)],
        ("shear stress", "bending stress", "weld thickness", "deflection", "buckling"),
        variables=("weld", "length", "height", "width"),
    ),
    "RC20": Entry(
        "three-bar-truss",
        engineering.three_bar_truss,
        [(0, 1)] * 2,
        numbered("stress", 3),
        variables=("outer", "middle"),
    ),
    "RC21": Entry(
        "clutch-brake",
        machines.clutch_brake,
        [(60, 80), (90, 110), (1, 3), (0, 1000), (2, 9)],
        ("ring width", "length", "pressure", "pressure times speed", "speed", "stopping time", "torque", "time sign"),
        variables=("inner", "outer", "thickness", "force", "discs"),
    ),
    "RC22": Entry(
        "planetary-gear-train",
        machines.planetary_gear_train,
        [
            *((16.51, 96.49), (13.51, 54.49), (13.51, 51.49), (16.51, 46.49), (13.51, 51.49), (47.51, 124.49)),
            *((0.51, 3.49), (0.51, 6.49), (0.51, 6.49)),
        ],
        (
            *numbered("size", 3),
            "concentric",
            *("planets 2 apart", "planets 3 apart", "planets 5 apart", "planets 3 and 5 apart"),
            *("planet 3 off wheel 4", "planet 5 off wheel 6"),
        ),
        ("assembly",),
        variables=("n1", "n2", "n3", "n4", "n5", "n6", "planets", "module1", "module2"),
        discrete={
            **dict.fromkeys(("n1", "n2", "n3", "n4", "n5", "n6"), WHOLE),
            "planets": "1 to 3 for 3, 4, 5",
            **dict.fromkeys(("module1", "module2"), "1 to 6 for 1.75, 2, 2.25, 2.5, 2.75, 3"),
        },
    ),
    "RC23": Entry(
        "step-cone-pulley",
        machines.step_cone_pulley,
        [(0, 60), (0, 60), (0, 90), (0, 90), (0, 90)],
        (*numbered("tension", 4), *numbered("power", 4)),
        numbered("belt length", 3, first=2),
        variables=("diameter1", "diameter2", "diameter3", "diameter4", "width"),
    ),
    "RC24": Entry(
        "robot-gripper",
        machines.robot_gripper,
        [(10, 150), (10, 150), (100, 200), (0, 50), (10, 150), (100, 300), (1, 3.14)],
        ("closed", "closed sign", "opened", "widest", "reach", "closed reach", "stroke"),
        variables=("a", "b", "c", "e", "f", "length", "delta"),
    ),
    "RC25": Entry(
        "thrust-bearing",
        machines.thrust_bearing,
        [(1, 16), (1, 16), (1e-6, 16e-6), (1, 16)],
        ("load", "pressure", "heating", "film thickness", "radii", "entrance loss", "contact pressure"),
        variables=("outer", "recess", "viscosity", "flow"),
    ),
    "RC26": Entry(
        "gear-box",
        machines.gear_box,
        [(6.51, 76.49)] * 8 + [(0.51, 4.49)] * 4 + [(0.51, 9.49)] * 10,
        GEAR_BOX,
        variables=(
            *(f"{wheel}{k}" for k in range(1, 5) for wheel in ("pinion", "gear")),
            *(f"width{k}" for k in range(1, 5)),
            *(f"{axis}{place}" for axis in "xy" for place in ("_pinion", "1", "2", "3", "4")),
        ),
        discrete={
            **{f"{wheel}{k}": WHOLE for k in range(1, 5) for wheel in ("pinion", "gear")},
            **{f"width{k}": "1 to 4 for 3.175, 5.715, 8.255, 12.7" for k in range(1, 5)},
            **{f"{axis}{p}": "1 to 9 times 12.7" for axis in "xy" for p in ("_pinion", "1", "2", "3", "4")},
        },
    ),
    "RC27": Entry(
        "ten-bar-truss",
        machines.ten_bar_truss,
        [(0.645e-4, 50e-4)] * 10,
        numbered("frequency", 3),
        variables=tuple(f"area{k}" for k in range(1, 11)),
    ),
    "RC28": Entry(
        "rolling-bearing",
        machines.rolling_bearing,
        [
            *((125, 150), (10.5, 31.5), (4.51, 50.49), (0.515, 0.6), (0.515, 0.6), (0.4, 0.5), (0.6, 0.7)),
            *((0.3, 0.4), (0.02, 0.1), (0.6, 0.85)),
        ],
        (
            *("number of balls", "least ball", "largest ball", "width", "least pitch", "largest pitch"),
            *("outer ring", "inner curvature", "outer curvature"),
        ),
        variables=("pitch", "ball", "balls", "inner", "outer", "least", "most", "epsilon", "e", "chi"),
        discrete={"balls": WHOLE},
    ),
    "RC29": Entry(
        "gas-compressor",
        engineering.gas_transmission_compressor,
        [(20, 50), (1, 10), (20, 50), (0.1, 60)],
        ("compression",),
        variables=("length", "ratio", "diameter", "slack"),
    ),
    "RC30": Entry(
        "compression-spring",
        machines.compression_spring,
        [(0.51, 70.49), (0.6, 3), (0.51, 42.49)],
        (
            *("shear stress", "free length", "least wire", "outer diameter", "spring index", "preload"),
            *("identity", "working deflection"),
        ),
        variables=("turns", "coil", "wire"),
        discrete={"turns": WHOLE, "wire": "1 to 42, places in the list of wires"},
    ),
    "RC31": Entry(
        "gear-train",
        machines.gear_train,
        [(12, 60)] * 4,
        variables=("driver1", "driver2", "driven1", "driven2"),
    ),
    "RC32": Entry(
        "himmelblau",
        engineering.himmelblau,
        [(78, 102), (33, 45), (27, 45), (27, 45), (27, 45)],
        ("first high", "first low", "second high", "second low", "third high", "third low"),
    ),
    "RC33": Entry("beam-topology", machines.beam_topology, [(0.001, 1)] * 30, numbered("sensitivity", 30)),
}

ONES = [(-1.0, 1.0)]
GRIDS = {
    "RC34": Entry("phase-balancing", power.phase_balancing, ONES * 118, (), at_buses(POWERS, 4, 30)),
    "RC35": Entry("generator-sizing", power.generator_sizing, ONES * 153, (), at_buses(POWERS, 2, 38)),
    "RC36": Entry("capacitor-sizing", power.generator_and_capacitor_sizing, ONES * 158, (), at_buses(POWERS, 2, 38)),
    "RC37": Entry("power-flow-loss", power.power_flow_loss, ONES * 116 + [(0, 1)] * 10, (), at_buses(POWERS, 2, 30)),
    "RC38": Entry("power-flow-cost", power.power_flow_cost, ONES * 116 + [(0, 1)] * 10, (), at_buses(POWERS, 2, 30)),
    "RC39": Entry(
        "power-flow-both", power.power_flow_cost_and_loss, ONES * 116 + [(0, 1)] * 10, (), at_buses(POWERS, 2, 30)
    ),
    "RC40": Entry("microgrid-island", power.islanded_flow, ONES * 74 + [(0, 2)] * 2, (), at_buses(CURRENTS, 1, 38)),
    "RC41": Entry("microgrid-connected", power.connected_flow, ONES * 74, (), at_buses(CURRENTS, 2, 38)),
    "RC42": Entry(
        "droop-active", power.droop_active, ONES * 74 + [(0, 2)] * 2 + [(0, 500)] * 10, (), at_buses(CURRENTS, 1, 38)
    ),
    "RC43": Entry(
        "droop-reactive", power.droop_both, ONES * 74 + [(0, 2)] * 2 + [(0, 500)] * 10, (), at_buses(CURRENTS, 1, 38)
    ),
}

RATIONS = {
    **{
        f"RC{50 + k}": Entry(
            f"beef-ration-{k}", partial(feed.beef_ration, case=k), [(0, 10)] * 59, RATION, ("given quantity",)
        )
        for k in feed.BEEF_CASES
    },
    **{
        f"RC{54 + k}": Entry(
            f"dairy-ration-{k}", partial(feed.dairy_ration, case=k), [(0, 10)] * 64, (), numbered("given quantity", 6)
        )
        for k in feed.DAIRY_CASES
    },
}

TABLE: dict[str, Entry] = {
    **PROCESSES,
    **MACHINES,
    **GRIDS,
    "RC44": Entry(
        "wind-farm",
        power.wind_farm,
        [(40, 1960)] * 30,
        tuple(f"distance {i}-{j}" for i in range(1, 15) for j in range(i + 1, 15)),
        variables=tuple(f"{axis}{k}" for k in range(1, 16) for axis in "xy"),
    ),
    **{
        f"RC{45 + k}": Entry(
            f"inverter-{levels}",
            inverter,
            [(0, 90)] * len(inverter.switches),
            numbered("order", len(inverter.switches) - 1),
            ("fundamental",),
        )
        for k, (levels, inverter) in enumerate(power.INVERTERS.items())
    },
    **RATIONS,
}
NEEDS_DATA = (*GRIDS, *RATIONS)
DECLARED = {"RC17": 3, "RC21": 7, "RC44": 105}  # numbers of constraints, where they are not those returned
RUNS = 25  # per problem, by the rules
CLASSES = ((10, 100_000), (30, 200_000), (50, 400_000), (150, 800_000))  # up to that many variables, evaluations


def build(name: str, dimension: int | None = None, *, data: str | os.PathLike[str] | None = None) -> Problem:
    """Return one of RC01 to RC57; each has a fixed dimension, the only one that `dimension` may be.

    Parameters
    ----------
    name : 'RC01' .. 'RC57'
        `Suite.problem` also takes the name for people, such as 'gear-train'.
    data : path, optional
        Folder of the organisers' data, which RC34 to RC43 and RC51 to RC57 need; it comes before the environment
        variable PPSDE_CEC2020RW and the other places that are searched.

    Examples
    --------
    >>> train = build("RC31")
    >>> train.name, train.dimension, train.evaluate([[16.0, 19.0, 43.0, 49.0]])[0] < 1e-11
    ('RC31 gear-train', 4, array([ True]))
    """
    entry = TABLE[name]
    if dimension is not None and dimension != len(entry.box):
        raise ValueError(f"{name} has dimension {len(entry.box)}; got {dimension}")
    function: Callable[[Array], FGH] = entry.formula(load(data)) if name in NEEDS_DATA else entry.formula
    value, status, violation = BEST[name]
    return Problem(
        function,
        entry.box,
        n_ineq=len(entry.inequalities),
        n_eq=len(entry.equalities),
        vectorized=True,
        name=f"{name} {entry.alias}",
        constraint_names=(*entry.inequalities, *entry.equalities),
        optimum=Optimum(value, status, violation, points().get(name)),
        properties={
            "suite": "cec2020rw",
            "variables": entry.variables or tuple(f"x{k + 1}" for k in range(len(entry.box))),
            "discrete": dict(entry.discrete),
            "published_value": PUBLISHED[name],
            "source": (function.__doc__ or "").strip().splitlines()[0],
        },
    )


def nu(name: str, g: Array, h: Array) -> Array:
    """Return the competition's mean violation (n,): as `competition_violation`, but by the declared number.

    Examples
    --------
    >>> import numpy as np
    >>> float(nu("RC17", np.array([[-1.0, 3.0, 0.0, 0.0]]), np.empty((1, 0)))[0])
    1.0
    """
    count = g.shape[-1] + h.shape[-1]
    return competition_violation(g, h) * (count / DECLARED.get(name, count or 1))


def budget(dimension: int) -> int:
    """Return the competition's number of evaluations per run."""
    return next((evaluations for most, evaluations in CLASSES if dimension <= most), 1_000_000)


SUITE = Suite(
    name="cec2020rw",
    description="CEC2020 real-world constrained problems: plants, machines, power, cattle feed",
    names=tuple(TABLE),
    build=build,
    budget=budget,
    aliases={entry.alias: name for name, entry in TABLE.items()},
)
