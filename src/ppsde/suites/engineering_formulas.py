"""The formulas of the engineering suite (machines, processes, structures), each as f, g, h of the rows of x."""

from __future__ import annotations

import math

import numpy as np

from ..arrays import Array, namespace
from ..problem import FGH
from .cec2006_formulas import g04


def away_from_zero(divisor: Array, smallest: float) -> Array:
    """Return the divisor, or `smallest` with its sign where it is nearer to zero than that; 0 counts as positive."""
    xp = namespace(divisor)
    return xp.where(xp.abs(divisor) < smallest, xp.where(divisor < 0, -smallest, smallest), divisor)


def tension_spring(x: Array) -> FGH:
    """Weight of a tension or compression spring (Arora 1989; Belegundu 1982)."""
    xp = namespace(x)
    wire, coil, turns = x.T
    # A coil as narrow as its wire is no spring, but lies in the published box.
    curvature = away_from_zero(12566 * wire**3 * (coil - wire), 1e-12)
    g = [
        1 - coil**3 * turns / (71785 * wire**4),
        (4 * coil**2 - wire * coil) / curvature + 1 / (5108 * wire**2) - 1,
        1 - 140.45 * wire / (coil**2 * turns),
        (wire + coil) / 1.5 - 1,
    ]
    return (turns + 2) * coil * wire**2, xp.stack(g, axis=1), x[:, :0]


def speed_reducer(x: Array) -> FGH:
    """Weight of a gear box (Golinski 1970), number of teeth rounded, second shaft from 7.3 (not 7.8) long."""
    xp = namespace(x)
    face, module, _, length1, length2, shaft1, shaft2 = x.T
    teeth = xp.round(x[:, 2])
    f = (
        0.7854 * face * module**2 * (3.3333 * teeth**2 + 14.9334 * teeth - 43.0934)
        - 1.508 * face * (shaft1**2 + shaft2**2)
        + 7.4777 * (shaft1**3 + shaft2**3)
        + 0.7854 * (length1 * shaft1**2 + length2 * shaft2**2)
    )
    pitch = module * teeth
    g = [
        27 / (face * module * pitch) - 1,
        397.5 / (face * pitch**2) - 1,
        1.93 * length1**3 / (pitch * shaft1**4) - 1,
        1.93 * length2**3 / (pitch * shaft2**4) - 1,
        xp.sqrt((745 * length1 / pitch) ** 2 + 16.9e6) / (110 * shaft1**3) - 1,
        xp.sqrt((745 * length2 / pitch) ** 2 + 157.5e6) / (85 * shaft2**3) - 1,
        pitch / 40 - 1,
        5 * module / face - 1,
        face / (12 * module) - 1,
        (1.5 * shaft1 + 1.9) / length1 - 1,
        (1.1 * shaft2 + 1.9) / length2 - 1,
    ]
    return f, xp.stack(g, axis=1), x[:, :0]


def gear_train(x: Array) -> FGH:
    """Squared error of a gear ratio (Sandgren 1990), all four numbers of teeth rounded; no constraints."""
    driven1, driver1, driver2, driven2 = namespace(x).round(x).T
    return (1 / 6.931 - driver1 * driver2 / (driven1 * driven2)) ** 2, x[:, :0], x[:, :0]


def piston_lever(x: Array) -> FGH:
    """Oil volume when a lever is lifted to 45 degrees (Vanderplaats 1995), in the form of Gandomi et al. (2013)."""
    xp = namespace(x)
    height, offset, bore, reach = x.T
    load, lever, highest_moment, pressure = 10000.0, 240.0, 1.8e6, 1500.0
    sine = cosine = math.sqrt(0.5)
    lowered = xp.sqrt((reach - offset) ** 2 + height**2)
    lifted = xp.sqrt((reach * sine + height) ** 2 + (offset - reach * cosine) ** 2)
    arm = xp.abs(height * (offset - reach * cosine) - reach * (reach * sine + height)) / lowered
    force = math.pi * pressure * bore**2 / 4
    g = [
        load * lever * cosine - arm * force,
        load * (lever - reach) - highest_moment,
        1.2 * (lifted - lowered) - lowered,
        bore / 2 - offset,
    ]
    return math.pi * bore**2 / 4 * (lifted - lowered), xp.stack(g, axis=1), x[:, :0]


def multiple_disc_clutch_brake(x: Array) -> FGH:
    """Mass of a disc brake (Osyczka 1992), five listed sizes, in the form of Rao et al. (2011) with 8 constraints."""
    xp = namespace(x)
    inner, outer, discs = xp.round(x[:, 0]), xp.round(x[:, 1]), xp.round(x[:, 4])  # mm, mm, count
    thickness = 0.5 * xp.round(2 * x[:, 2])  # mm
    force = 10 * xp.round(x[:, 3] / 10)  # N
    ring = outer**2 - inner**2
    mean_radius = (outer**3 - inner**3) / ring
    braking = 2 / 3 * 0.5 * force * discs * mean_radius / 1000  # N m, friction 0.5
    pressure = force / (math.pi * ring)  # MPa
    speed = 2 * math.pi * 250 / 90 * mean_radius / 1000  # m/s at 250 turns a minute
    stopping = 55 * math.pi * 250 / (30 * (braking + 3))  # s
    mass = math.pi * ring * thickness * (discs + 1) * 7.8e-6
    return mass, clutch_limits(inner, outer, thickness, discs, pressure, speed, stopping, braking), x[:, :0]


def clutch_limits(
    inner: Array,
    outer: Array,
    thickness: Array,
    discs: Array,
    pressure: Array,
    speed: Array,
    stopping: Array,
    braking: Array,
) -> Array:
    """The constraints (n, 8) of the clutch brake, from its dimensions and what follows from them, each (n,)."""
    g = [
        20 - (outer - inner),
        (discs + 1) * (thickness + 0.5) - 30,
        pressure - 1,
        pressure * speed - 10,
        speed - 10,
        stopping - 15,
        1.5 * 40 - braking,
        -stopping,
    ]
    return namespace(inner).stack(g, axis=1)


def hydrostatic_thrust_bearing(x: Array) -> FGH:
    """Power lost in a thrust bearing in ft lb/s (Siddall 1982), in the form of Deb and Goyal (1997)."""
    xp = namespace(x)
    outer, recess, viscosity, flow = x.T
    density, gravity = 0.0307, 386.4
    reyn = (xp.log10(xp.log10(8.122e6 * viscosity + 0.8)) - 10.04) / -3.55
    heating = 2 * (10**reyn - 560)
    # Thick oil cools and equal radii leave no film, both inside the published box and both infeasible.
    friction = away_from_zero(9336 * flow * density * 0.5 * heating, 1e-6)
    film = (2 * math.pi * 750 / 60) ** 2 * 2 * math.pi * viscosity / friction * (outer**4 - recess**4) / 4
    film = away_from_zero(film, 1e-9)
    pressure = 6 * viscosity * flow / (math.pi * film**3) * xp.log(outer / recess)
    carried = 3 * viscosity * flow / film**3 * (outer**2 - recess**2)  # pi / 2 * pressure * difference / log
    entrance = density * flow / (2 * math.pi * gravity * outer * away_from_zero(pressure * film, 1e-12))
    g = [
        101000 - carried,
        pressure - 1000,
        heating - 50,
        0.001 - film,
        recess - outer,
        entrance - 0.001,
        3 * viscosity * flow / (math.pi * film**3) - 5000,  # load over area, the area cancelled
    ]
    return (flow * pressure / 0.7 + friction) / 12, xp.stack(g, axis=1), x[:, :0]


def heat_exchanger(x: Array) -> FGH:
    """Area of three heat exchangers in a row (Avriel and Williams 1971), the same as g10 of CEC2006."""
    xp = namespace(x)
    area1, area2, area3, warm1, warm2, hot1, hot2, hot3 = x.T
    g = [
        0.0025 * (warm1 + hot1) - 1,
        0.0025 * (warm2 - warm1 + hot2) - 1,
        0.01 * (hot3 - warm2) - 1,
        833.33252 * warm1 + area1 * (100 - hot1) - 83333.333,
        1250 * (warm2 - warm1) + area2 * (warm1 - hot2),
        1250000 - 2500 * warm2 + area3 * (warm2 - hot3),
    ]
    return area1 + area2 + area3, xp.stack(g, axis=1), x[:, :0]


def gas_transmission_compressor(x: Array) -> FGH:
    """Yearly cost of a gas pipeline with compressors (Beightler and Phillips 1976)."""
    length, ratio, diameter, slack = x.T
    f = (
        8.61e5 * length**0.5 * ratio * diameter ** (-2 / 3) * slack**-0.5
        + 3.69e4 * diameter
        + 7.72e8 * ratio**0.219 / length
        - 765.43e6 / length
    )
    return f, ((slack + 1) / ratio**2 - 1)[:, None], x[:, :0]


def himmelblau(x: Array) -> FGH:
    """Himmelblau's nonlinear problem (Himmelblau 1972), the version with 0.0006262, the same as g04 of CEC2006."""
    return g04(x)


def process_synthesis(x: Array) -> FGH:
    """Choice of one process unit (Kocis and Grossmann 1988), the second variable rounded to 0 or 1."""
    xp = namespace(x)
    amount, unit = x[:, 0], xp.round(x[:, 1])
    return 2 * amount + unit, xp.stack([1.25 - amount**2 - unit, amount + unit - 1.6], axis=1), x[:, :0]


def process_synthesis_seven(x: Array) -> FGH:
    """Choice of four process units (Yuan et al. 1988; as in Floudas 1995), the last four variables rounded to 0, 1."""
    xp = namespace(x)
    x1, x2, x3 = x[:, :3].T
    y1, y2, y3, y4 = xp.round(x[:, 3:]).T
    f = (y1 - 1) ** 2 + (y2 - 2) ** 2 + (y3 - 1) ** 2 - xp.log(y4 + 1)
    f = f + (x1 - 1) ** 2 + (x2 - 2) ** 2 + (x3 - 3) ** 2
    g = [
        y1 + y2 + y3 + x1 + x2 + x3 - 5,
        y3**2 + x1**2 + x2**2 + x3**2 - 5.5,
        y1 + x1 - 1.2,
        y2 + x2 - 1.8,
        y3 + x3 - 2.5,
        y4 + x1 - 1.2,
        y2**2 + x2**2 - 1.64,
        y3**2 + x3**2 - 4.25,
        y2**2 + x3**2 - 4.64,
    ]
    return f, xp.stack(g, axis=1), x[:, :0]


SMALLEST_DIVISOR = 1e-12  # keeps the formulas finite where a published box touches a division by zero


def welded_beam(x: Array) -> FGH:
    """Cost of a welded beam (Rao 1996), in the form of Coello (2000) with seven constraints and J having l^2 / 12."""
    xp = namespace(x)
    weld, length, height, width = x.T
    load, overhang, young, shear_modulus = 6000.0, 14.0, 30e6, 12e6
    arm = xp.sqrt(length**2 / 4 + ((weld + height) / 2) ** 2)
    polar = 2 * math.sqrt(2) * weld * length * (length**2 / 12 + ((weld + height) / 2) ** 2)
    direct = load / (math.sqrt(2) * weld * length)
    torsion = load * (overhang + length / 2) * arm / polar
    shear = xp.sqrt(direct**2 + direct * torsion * length / arm + torsion**2)
    bending = 6 * load * overhang / (width * height**2)
    deflection = 4 * load * overhang**3 / (young * height**3 * width)
    slenderness = height / (2 * overhang) * math.sqrt(young / (4 * shear_modulus))
    buckling = 4.013 * young * height * width**3 / (6 * overhang**2) * (1 - slenderness)
    f = 1.10471 * weld**2 * length + 0.04811 * height * width * (overhang + length)
    g = [
        shear - 13600,
        bending - 30000,
        weld - width,
        0.10471 * weld**2 + 0.04811 * height * width * (overhang + length) - 5,
        0.125 - weld,
        deflection - 0.25,
        load - buckling,
    ]
    return f, xp.stack(g, axis=1), x[:, :0]


def pressure_vessel_continuous(x: Array) -> FGH:
    """Cost of a cylindrical vessel with domed ends (Kannan and Kramer 1994), any thickness allowed."""
    xp = namespace(x)
    shell, head, radius, length = x.T
    f = 0.6224 * shell * radius * length + 1.7781 * head * radius**2 + 3.1661 * shell**2 * length
    f = f + 19.84 * shell**2 * radius
    volume = math.pi * radius**2 * length + 4 / 3 * math.pi * radius**3
    g = [0.0193 * radius - shell, 0.00954 * radius - head, 1296000 - volume, length - 240]
    return f, xp.stack(g, axis=1), x[:, :0]


def pressure_vessel(x: Array) -> FGH:
    """Cost of a cylindrical vessel (Kannan and Kramer 1994), both thicknesses rounded to multiples of 0.0625."""
    xp = namespace(x)
    thicknesses = 0.0625 * xp.round(x[:, :2] / 0.0625)
    return pressure_vessel_continuous(xp.concatenate([thicknesses, x[:, 2:]], axis=1))


def three_bar_truss(x: Array) -> FGH:
    """Weight of a symmetric three-bar truss under one load (Nowacki 1973)."""
    xp = namespace(x)
    outer, middle = x.T
    load, limit = 2.0, 2.0
    shared = xp.maximum(math.sqrt(2) * outer**2 + 2 * outer * middle, SMALLEST_DIVISOR)
    third = xp.maximum(math.sqrt(2) * middle + outer, SMALLEST_DIVISOR)
    g = [
        (math.sqrt(2) * outer + middle) / shared * load - limit,
        middle / shared * load - limit,
        load / third - limit,
    ]
    return 100 * (2 * math.sqrt(2) * outer + middle), xp.stack(g, axis=1), x[:, :0]


CANTILEVER_WEIGHTS = np.array([61.0, 37, 19, 7, 1])


def cantilever_beam(x: Array) -> FGH:
    """Weight of a cantilever of five hollow square sections (Fleury and Braibant 1986)."""
    xp = namespace(x)
    return 0.0624 * xp.sum(x, axis=1), xp.sum(CANTILEVER_WEIGHTS / x**3, axis=1)[:, None] - 1, x[:, :0]


STEP_WIDTHS = np.array([2.4, 2.6, 2.8, 3.1])
STEP_HEIGHTS = np.array([45.0, 50, 55, 60])


def stepped_cantilever(x: Array) -> FGH:
    """Volume of a cantilever of five steps (Thanedar and Vanderplaats 1995), the first three of listed sizes."""
    xp = namespace(x)
    columns = [xp.round(x[:, 0]), xp.round(x[:, 1])]
    columns += [nearest(x[:, j], STEP_WIDTHS if j % 2 == 0 else STEP_HEIGHTS) for j in range(2, 6)]
    size = xp.concatenate([xp.stack(columns, axis=1), x[:, 6:]], axis=1)
    width, height = size[:, 0::2], size[:, 1::2]  # (n, 5), from the wall to the tip
    load, young, step = 50000.0, 2e7, 100.0
    stress = 6 * load * step * np.array([5.0, 4, 3, 2, 1]) / (width * height**2)
    deflection = 4 * load * step**3 / young * xp.sum(CANTILEVER_WEIGHTS / (width * height**3), axis=1)
    g = [stress - 14000, deflection[:, None] - 2.7, height / width - 20]
    return step * xp.sum(width * height, axis=1), xp.concatenate(g, axis=1), x[:, :0]


def nearest(column: Array, values: np.ndarray) -> Array:
    """Return the listed value nearest to each number of `column` (n,), the lower one when two are as near."""
    xp = namespace(column)
    return xp.asarray(values)[xp.argmin(xp.abs(column[:, None] - values), axis=1)]


def tubular_column(x: Array) -> FGH:
    """Cost of a tubular column under compression (Rao 1996)."""
    xp = namespace(x)
    diameter, thickness = x.T
    load, yield_stress, young, length = 2500.0, 500.0, 0.85e6, 250.0
    area = math.pi * diameter * thickness
    g = [
        load / (area * yield_stress) - 1,
        8 * load * length**2 / (math.pi**2 * young * area * (diameter**2 + thickness**2)) - 1,
        2 / diameter - 1,
        diameter / 14 - 1,
        0.2 / thickness - 1,
        thickness / 0.8 - 1,
    ]
    return 9.8 * diameter * thickness + 2 * diameter, xp.stack(g, axis=1), x[:, :0]


def corrugated_bulkhead(x: Array) -> FGH:
    """Weight of a corrugated bulkhead of a tanker (Kvalie, Moe and Moses 1966; as in Ravindran et al. 2006)."""
    xp = namespace(x)
    width, depth, length, thickness = x.T
    span = width + xp.sqrt(xp.abs(length**2 - depth**2))
    f = 5.885 * thickness * (width + length) / xp.maximum(span, SMALLEST_DIVISOR)
    f = xp.where(span > SMALLEST_DIVISOR, f, np.inf)  # a bulkhead of no width has no weight per width
    g = [
        8.94 * span - thickness * depth * (0.4 * width + length / 6),
        2.2 * (8.94 * span) ** (4 / 3) - thickness * depth**2 * (0.2 * width + length / 12),
        0.0156 * width + 0.15 - thickness,
        0.0156 * length + 0.15 - thickness,
        1.05 - thickness,
        depth - length,
    ]
    return f, xp.stack(g, axis=1), x[:, :0]


STEEL_AREAS = np.array([6.0, 6.16, 6.32, 6.6, 7.0, 7.11, 7.2, 7.8, 7.9, 8.0, 8.4])


def reinforced_concrete_beam(x: Array) -> FGH:
    """Cost of a simply supported concrete beam (Amir and Hasegawa 1989), steel from a list, depth a whole number."""
    xp = namespace(x)
    steel, depth, width = nearest(x[:, 0], STEEL_AREAS), xp.round(x[:, 1]), x[:, 2]
    g = [depth / width - 4, 180 + 7.375 * steel**2 / width - steel * depth]
    return 29.4 * steel + 0.6 * depth * width, xp.stack(g, axis=1), x[:, :0]


def i_beam_deflection(x: Array) -> FGH:
    """Deflection of an I-beam of limited area (Gold and Krishnamurty 1997), stress limit 6 kN/cm2."""
    xp = namespace(x)
    width, height, web, flange = x.T
    clear = height - 2 * flange
    f = 5000 / (web * clear**3 / 12 + width * flange**3 / 6 + width * flange * (height - flange) ** 2 / 2)
    vertical = 180000 * height / (web * clear**3 + 2 * width * flange * (4 * flange**2 + 3 * height * clear))
    lateral = 15000 * width / (clear * web**3 + 2 * flange * width**3)
    return f, xp.stack([2 * width * flange + web * clear - 300, vertical + lateral - 6], axis=1), x[:, :0]
