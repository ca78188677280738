"""Classical design problems of beams, columns, trusses and vessels, each as f, g, h of the rows of x."""

from __future__ import annotations

import math

import numpy as np

from ..arrays import Array, namespace

Outcome = tuple[Array, Array, Array]  # f (n,), g (n, p), h (n, q)

SMALLEST_DIVISOR = 1e-12  # keeps the formulas finite where a published box touches a division by zero


def welded_beam(x: Array) -> Outcome:
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


def pressure_vessel_continuous(x: Array) -> Outcome:
    """Cost of a cylindrical vessel with domed ends (Kannan and Kramer 1994), any thickness allowed."""
    xp = namespace(x)
    shell, head, radius, length = x.T
    f = 0.6224 * shell * radius * length + 1.7781 * head * radius**2 + 3.1661 * shell**2 * length
    f = f + 19.84 * shell**2 * radius
    volume = math.pi * radius**2 * length + 4 / 3 * math.pi * radius**3
    g = [0.0193 * radius - shell, 0.00954 * radius - head, 1296000 - volume, length - 240]
    return f, xp.stack(g, axis=1), x[:, :0]


def pressure_vessel(x: Array) -> Outcome:
    """Cost of a cylindrical vessel (Kannan and Kramer 1994), both thicknesses rounded to multiples of 0.0625."""
    xp = namespace(x)
    thicknesses = 0.0625 * xp.round(x[:, :2] / 0.0625)
    return pressure_vessel_continuous(xp.concatenate([thicknesses, x[:, 2:]], axis=1))


def three_bar_truss(x: Array) -> Outcome:
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


def cantilever_beam(x: Array) -> Outcome:
    """Weight of a cantilever of five hollow square sections (Fleury and Braibant 1986)."""
    xp = namespace(x)
    return 0.0624 * xp.sum(x, axis=1), xp.sum(CANTILEVER_WEIGHTS / x**3, axis=1)[:, None] - 1, x[:, :0]


STEP_WIDTHS = np.array([2.4, 2.6, 2.8, 3.1])
STEP_HEIGHTS = np.array([45.0, 50, 55, 60])


def stepped_cantilever(x: Array) -> Outcome:
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
    """The listed value nearest to each number of `column` (n,), the lower one when two are as near."""
    xp = namespace(column)
    return xp.asarray(values)[xp.argmin(xp.abs(column[:, None] - values), axis=1)]


def tubular_column(x: Array) -> Outcome:
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


def corrugated_bulkhead(x: Array) -> Outcome:
    """Weight of a corrugated bulkhead of a tanker (Kvalie, Moe and Moses 1966; as in Ravindran et al. 2006)."""
    xp = namespace(x)
    width, depth, length, thickness = x.T
    span = width + xp.sqrt(xp.abs(length**2 - depth**2))
    f = 5.885 * thickness * (width + length) / xp.maximum(span, SMALLEST_DIVISOR)
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


def reinforced_concrete_beam(x: Array) -> Outcome:
    """Cost of a simply supported concrete beam (Amir and Hasegawa 1989), steel from a list, depth a whole number."""
    xp = namespace(x)
    steel, depth, width = nearest(x[:, 0], STEEL_AREAS), xp.round(x[:, 1]), x[:, 2]
    g = [depth / width - 4, 180 + 7.375 * steel**2 / width - steel * depth]
    return 29.4 * steel + 0.6 * depth * width, xp.stack(g, axis=1), x[:, :0]


def i_beam_deflection(x: Array) -> Outcome:
    """Deflection of an I-beam of limited area (Gold and Krishnamurty 1997), stress limit 6 kN/cm2."""
    xp = namespace(x)
    width, height, web, flange = x.T
    clear = height - 2 * flange
    f = 5000 / (web * clear**3 / 12 + width * flange**3 / 6 + width * flange * (height - flange) ** 2 / 2)
    vertical = 180000 * height / (web * clear**3 + 2 * width * flange * (4 * flange**2 + 3 * height * clear))
    lateral = 15000 * width / (clear * web**3 + 2 * flange * width**3)
    return f, xp.stack([2 * width * flange + web * clear - 300, vertical + lateral - 6], axis=1), x[:, :0]
