"""The formulas of RC15 to RC33 of the CEC2020 real-world suite: machine elements and structures."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np

from ..arrays import Array, each_matrix, namespace, repeated_while
from ..problem import FGH
from .cec2020rw_processes import times, whole, with_whole
from .engineering_formulas import away_from_zero, clutch_limits, pressure_vessel_continuous

TINY = 1e-30  # stands for a divisor that is 0 at single points of a box
LARGE = 1e6  # stands for a constraint without a real, finite value


def listed(numbers: Array, values: np.ndarray) -> Array:
    """Return the values that whole numbers from 1 on stand for."""
    xp = namespace(numbers)
    return xp.asarray(values)[xp.clip(numbers.astype(int) - 1, 0, len(values) - 1)]


def speed_reducer(x: Array) -> FGH:
    """Weight of a gear box (Golinski 1970), teeth not rounded, constraints not divided by their limits."""
    xp = namespace(x)
    face, module, teeth, length1, length2, shaft1, shaft2 = x.T
    f = (
        0.7854 * face * module**2 * (3.3333 * teeth**2 + 14.9334 * teeth - 43.0934)
        - 1.508 * face * (shaft1**2 + shaft2**2)
        + 7.477 * (shaft1**3 + shaft2**3)
        + 0.7854 * (length1 * shaft1**2 + length2 * shaft2**2)
    )
    pitch = module * teeth
    g = [
        27 - face * module**2 * teeth,
        397.5 - face * pitch**2,
        1.93 - pitch * shaft1**4 / length1**3,
        1.93 - pitch * shaft2**4 / length2**3,
        10 * xp.sqrt(16.91e6 + (745 * length1 / pitch) ** 2) / shaft1**3 - 1100,
        10 * xp.sqrt(157.5e6 + (745 * length2 / pitch) ** 2) / shaft2**3 - 850,
        pitch - 40,
        5 - face / module,
        face / module - 12,
        1.5 * shaft1 - length1 + 1.9,
        1.1 * shaft2 - length2 + 1.9,
    ]
    return f, xp.stack(g, axis=1), x[:, :0]


def refrigeration(x: Array) -> FGH:
    """Cost of an industrial refrigeration system (Paul and Tay 1987; as in Pant et al. 2009)."""
    xp = namespace(x)
    x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14 = x.T
    low = x8**1.8812 * x12**0.3424
    f = (
        63098.88 * x2 * x4 * x12
        + 5441.5 * x2**2 * x12
        + 115055.5 * x2**1.664 * x6
        + 6172.27 * x2**2 * x6
        + 63098.88 * x1 * x3 * x11
        + 5441.5 * x1**2 * x11
        + 115055.5 * x1**1.664 * x5
        + 6172.27 * x1**2 * x5
        + 140.53 * x1 * x11
        + 281.29 * x3 * x11
        + 70.26 * x1**2
        + 281.29 * x1 * x3
        + 281.29 * x3**2
        + 14437 * low * x10 * x1**2 * x7 / (x14 * x9)
        + 20470.2 * x7**2.893 * x11**0.316 * x1**2
    )
    g = [
        1.524 / x7 - 1,
        1.524 / x8 - 1,
        0.07789 * x1 - 2 * x9 / x7 - 1,
        7.05305 * x1**2 * x10 / (x9 * x8 * x2 * x14) - 1,
        0.0833 * x14 / x13 - 1,
        0.04771 * x10 * low - 1,
        0.0488 * x9 * x7**1.893 * x11**0.316 - 1,
        0.0099 * x1 / x3 - 1,
        0.0193 * x2 / x4 - 1,
        0.0298 * x1 / x5 - 1,
        47.136 * x2**0.333 * x12 / x10 - 1.333 * x8 * x13**2.1195 + 62.08 * x13**2.1195 * x8**0.2 / (x12 * x10) - 1,
        0.056 * x2 / x6 - 1,
        2 / x9 - 1,
        2 / x10 - 1,
        x12 / x11 - 1,
    ]
    return f, xp.stack(g, axis=1), x[:, :0]


def pressure_vessel(x: Array) -> FGH:
    """Cost of a cylindrical vessel (Kannan and Kramer 1994), the first two variables counts of 0.0625, rounded."""
    xp = namespace(x)
    return pressure_vessel_continuous(xp.concatenate([0.0625 * whole(x[:, :2]), x[:, 2:]], axis=1))


def welded_beam(x: Array) -> FGH:
    """Cost of a welded beam (Rao 1996) with five constraints and the organisers' bending, inertia and buckling."""
    xp = namespace(x)
    weld, length, height, width = x.T
    load, overhang, young, shear_modulus = 6000.0, 14.0, 30e6, 12e6
    arm2 = length**2 / 4 + ((weld + height) / 2) ** 2
    arm = xp.sqrt(arm2)
    direct = load / (math.sqrt(2) * weld * length)
    torsion = load * (overhang + length / 2) * arm / (2 * math.sqrt(2) * weld * length * arm2)
    shear = xp.sqrt(direct**2 + direct * torsion * length / arm + torsion**2)
    bending = 6 * load * overhang / (width * height**2)
    deflection = 6 * load * overhang**3 / (young * height**2 * width)
    slenderness = height / (2 * overhang) * math.sqrt(young / (4 * shear_modulus))
    buckling = 4.013 * young * height * width**3 / (math.sqrt(30) * overhang**2) * (1 - slenderness)
    f = 1.10471 * weld**2 * length + 0.04811 * height * width * (14 + length)
    g = [shear - 13600, bending - 30000, weld - width, deflection - 0.25, load - buckling]
    return f, xp.stack(g, axis=1), x[:, :0]


def clutch_brake(x: Array) -> FGH:
    """Mass of a disc brake (Osyczka 1992), nothing rounded, with the organisers' speed and units."""
    inner, outer, thickness, force, discs = x.T
    ring, cubes = outer**2 - inner**2, outer**3 - inner**3
    speed = math.pi * 250 / 30 * (2 / 3 * cubes / (outer**2 * inner**2))
    pressure = force / (math.pi * ring)
    braking = 2 / 3 * 0.6 * force * discs * cubes / ring
    stopping = 55 * (math.pi * 250 / 30) / (braking + 3)
    mass = math.pi * ring * thickness * (discs + 1) * 7.8e-6
    return mass, clutch_limits(inner, outer, thickness, discs, pressure, speed, stopping, braking), x[:, :0]


PLANETS = np.array([3.0, 4, 5])
GEAR_MODULES = np.array([1.75, 2, 2.25, 2.5, 2.75, 3])


def planetary_gear_train(x: Array) -> FGH:
    """Largest error of three ratios of a planetary gear (Simionescu et al. 2006), all nine variables rounded."""
    xp = namespace(x)
    numbers = whole(xp.abs(x))
    n1, n2, n3, n4, n5, n6 = numbers[:, :6].T
    planets = listed(numbers[:, 6], PLANETS)
    module1, module2 = listed(numbers[:, 7], GEAR_MODULES), listed(numbers[:, 8], GEAR_MODULES)
    ratios = [
        n6 / n4 - 3.11,
        n6 * (n1 * n3 + n2 * n4) / (n1 * n3 * (n6 - n4)) - 1.84,
        3.11 - n2 * n6 / (n1 * n3),
    ]
    outer, inner = n6 - n3, n4 + n5  # sides of a triangle; without its angle the distance has no value
    cosine = (outer**2 + inner**2 - (n3 + n5) ** 2) / xp.where(outer == 0, TINY, 2 * outer * inner)
    angle = 2 * math.pi / planets - xp.arccos(xp.clip(cosine, -1, 1))
    distance = (n3 + n5 + 2.5) ** 2 - (outer**2 + inner**2 - 2 * outer * inner * xp.cos(angle))
    spread = xp.sin(math.pi / planets)
    g = [
        module2 * (n6 + 2.5) - 220,
        module1 * (n1 + n2) + module1 * (n2 + 2) - 220,
        module2 * (n4 + n5) + module2 * (n5 + 2) - 220,
        xp.abs(module1 * (n1 + n2) - module2 * (n6 - n3)) - module1 - module2,
        n2 + 2.5 - (n1 + n2) * spread,
        n3 + 2.5 - (n6 - n3) * spread,
        n5 + 2.5 - (n4 + n5) * spread,
        xp.where(xp.abs(cosine) <= 1, distance, LARGE),
        2 * n3 + n4 + 5 - n6,
        n4 + 2 * n5 + 5 - n6,
    ]
    h = xp.fmod(n6 - n4, planets)
    return xp.max(xp.stack(ratios, axis=1), axis=1), xp.stack(g, axis=1), h[:, None]


PULLEY_RATIOS = np.array([750.0, 450, 250, 150]) / 350


def step_cone_pulley(x: Array) -> FGH:
    """Weight of a pulley of four steps (Rao 1996), of 350 turns a minute and 0.75 hp."""
    xp = namespace(x)
    diameter, width = x[:, :4] * 1e-3, x[:, 4] * 1e-3
    distance = 3.0
    f = 7200 * width * math.pi / 4 * xp.sum(diameter**2 * (1 + PULLEY_RATIOS**2), axis=1)
    belt = math.pi * diameter / 2 * (1 + PULLEY_RATIOS) + (PULLEY_RATIOS - 1) ** 2 * diameter**2 / (4 * distance)
    belt = belt + 2 * distance
    wrap = 0.35 * (math.pi - 2 * xp.arcsin((PULLEY_RATIOS - 1) * diameter / (2 * distance)))
    speed = math.pi * diameter * (350 * PULLEY_RATIOS) / 60
    power = 1.75e6 * 8e-3 * width[:, None] * (1 - xp.exp(-wrap)) * speed
    g = [2 - xp.exp(wrap), 0.75 * 745.6998 - power]
    return f, xp.concatenate(g, axis=1), belt[:, :1] - belt[:, 1:]


STROKE = 99.9999  # of the actuator of the gripper
NOT_REAL = 1e4  # stands for a value of the gripper that is not real


def robot_gripper(x: Array) -> FGH:
    """Difference of the largest and the least force of a gripper along its stroke (Osyczka et al. 1999).

    Both are found by bounded minimisation in one variable. Links that do not meet have complex angles; the minimiser
    compares real parts, and values that end complex are replaced by 1e4.
    """
    xp = namespace(x)
    a, b, c, e, offset, length, delta = x.T

    def force(stroke: Array) -> tuple[Array, Array]:
        """Return the real and the imaginary part."""
        near = length - stroke
        reach = xp.sqrt(near**2 + e**2)
        u, v = _arccos((a**2 + near**2 + e**2 - b**2) / (2 * a * reach))
        s, t = _arccos((b**2 + near**2 + e**2 - a**2) / (2 * b * reach))
        top_real, top_imaginary = xp.sin(u + s) * xp.cosh(v + t), xp.cos(u + s) * xp.sinh(v + t)
        tilt = u + xp.arctan(e / near)
        real, imaginary = xp.cos(tilt) * xp.cosh(v), -xp.sin(tilt) * xp.sinh(v)
        size = 2 * c * xp.maximum(real**2 + imaginary**2, TINY)
        scale = 100 * b / size
        return (
            scale * (top_real * real + top_imaginary * imaginary),
            scale * (top_imaginary * real - top_real * imaginary),
        )

    # Both searches in one: a row for the least force, a row for the largest.
    sign = xp.stack([xp.ones_like(length), -xp.ones_like(length)])
    real, imaginary = force(_bounded_minimum(lambda stroke: sign * force(stroke)[0], sign, STROKE))
    f = xp.where(imaginary[1] == imaginary[0], real[1] - real[0], NOT_REAL)

    def opening(near: Array) -> tuple[Array, Array]:
        """Return the opening of the gripper with the actuator that near, and whether it is real."""
        reach = xp.sqrt(near**2 + e**2)
        cosine = (b**2 + near**2 + e**2 - a**2) / (2 * b * reach)
        angle = xp.arccos(xp.clip(cosine, -1, 1)) - xp.arctan(e / near)
        return 2 * (e + offset + c * xp.sin(angle + delta)), xp.abs(cosine) <= 1

    (closed, closed_real), (opened, opened_real) = opening(length - STROKE), opening(length)
    g = [
        xp.where(closed_real, closed - 50, NOT_REAL),
        xp.where(closed_real, -closed, NOT_REAL),
        xp.where(opened_real, 100 - opened, NOT_REAL),
        xp.where(opened_real, opened - 150, NOT_REAL),
        length**2 + e**2 - (a + b) ** 2,
        b**2 - (a - e) ** 2 - (length - STROKE) ** 2,
        STROKE - length,
    ]
    return f, xp.stack(g, axis=1), x[:, :0]


def _arccos(cosine: Array) -> tuple[Array, Array]:
    """Return the real and the imaginary part of the angle, positive beyond 1 and negative beyond -1."""
    xp = namespace(cosine)
    return xp.arccos(xp.clip(cosine, -1, 1)), xp.sign(cosine) * xp.arccosh(xp.maximum(xp.abs(cosine), 1.0))


def _bounded_minimum(function: Callable[[Array], Array], like: Array, high: float) -> Array:
    """Return where a function of one variable is least in [0, high], for all elements of an array at once.

    Golden sections and parabolas (Brent 1973; Forsythe, Malcolm and Moler 1977), to 1e-4, at most 500 steps.
    """
    xp = namespace(like)
    golden, root_of_epsilon = 0.5 * (3 - math.sqrt(5)), 2.0**-26
    start = xp.full_like(like, golden * high)
    zero = xp.zeros_like(like)
    f_start = function(start)

    def tolerance(best: Array) -> Array:
        return root_of_epsilon * xp.abs(best) + 1e-4 / 3

    def unfinished(low: Array, top: Array, best: Array) -> Array:
        return xp.abs(best - 0.5 * (low + top)) > 2 * tolerance(best) - 0.5 * (top - low)

    def going(state: tuple[Array, ...]) -> Array:
        low, top, best, *_, count = state
        return xp.any(unfinished(low, top, best)) & (count < 499)

    def step(state: tuple[Array, ...]) -> tuple[Array, ...]:
        # v, w and best are the third, second and first best places; d is the last move, e the move before it.
        low, top, best, w, v, f_best, f_w, f_v, d, e, count = state
        active = unfinished(low, top, best)
        middle, least = 0.5 * (low + top), tolerance(best)
        r, q = (best - w) * (f_best - f_v), (best - v) * (f_best - f_w)
        p, q = (best - v) * q - (best - w) * r, 2 * (q - r)
        p, q = xp.where(q > 0, -p, p), xp.abs(q)
        inside = (xp.abs(p) < xp.abs(0.5 * q * e)) & (p > q * (low - best)) & (p < q * (top - best))
        # Two places give no parabola: p and q are 0 then, but compiled only nearly so, by fused products.
        parabola = (xp.abs(e) > least) & inside & (v != w)
        move = p / xp.where(parabola, q, 1.0)
        near_an_end = (best + move - low < 2 * least) | (top - best - move < 2 * least)
        move = xp.where(near_an_end, least * xp.where(middle >= best, 1.0, -1.0), move)
        section = xp.where(best >= middle, low - best, top - best)
        e_new = xp.where(parabola, d, section)
        d_new = xp.where(parabola, move, golden * section)
        x = best + xp.where(d_new >= 0, 1.0, -1.0) * xp.maximum(xp.abs(d_new), least)
        f_x = function(x)
        better = f_x <= f_best
        second = ~better & ((f_x <= f_w) | (w == best))
        third = ~better & ~second & ((f_x <= f_v) | (v == best) | (v == w))
        moved = (
            xp.where(better, xp.where(x >= best, best, low), xp.where(x < best, x, low)),
            xp.where(better, xp.where(x >= best, top, best), xp.where(x < best, top, x)),
            xp.where(better, x, best),
            xp.where(better, best, xp.where(second, x, w)),
            xp.where(better | second, w, xp.where(third, x, v)),
            xp.where(better, f_x, f_best),
            xp.where(better, f_best, xp.where(second, f_x, f_w)),
            xp.where(better | second, f_w, xp.where(third, f_x, f_v)),
            d_new,
            e_new,
        )
        return (*(xp.where(active, new, old) for new, old in zip(moved, state[:-1], strict=True)), count + 1)

    first = (zero, zero + high, start, start, start, f_start, f_start, f_start, zero, zero, xp.asarray(0))
    return repeated_while(going, step, first)[2]


def thrust_bearing(x: Array) -> FGH:
    """Power lost in a hydrostatic thrust bearing (Siddall 1982), with the organisers' shifts by 1e-5."""
    xp = namespace(x)
    outer, recess, viscosity, flow = x.T
    density, gravity = 0.0307, 386.4
    power = (xp.log10(xp.log10(8.122e6 * viscosity + 0.8)) - 10.04) / -3.55
    heating = 2 * (10**power - 560)
    friction = away_from_zero(9336 * flow * density * 0.5 * heating, TINY)
    film = (2 * math.pi * 750 / 60) ** 2 * 2 * math.pi * viscosity / friction * (outer**4 / 4 - recess**4 / 4) - 1e-5
    film = away_from_zero(film, TINY)
    radii = xp.log(outer / recess)
    pressure = 6 * viscosity * flow / (math.pi * film**3) * radii
    ring = outer**2 - recess**2
    load = math.pi * pressure / 2 * ring / away_from_zero(radii - 1e-5, TINY)
    g = [
        101000 - load,
        pressure - 1000,
        heating - 50,
        0.001 - film,
        recess - outer,
        density / (gravity * away_from_zero(pressure, TINY)) * (flow / (2 * math.pi * outer * film)) - 0.001,
        load / away_from_zero(math.pi * ring + 1e-5, TINY) - 5000,
    ]
    return (flow * pressure / 0.7 + friction) / 12, xp.stack(g, axis=1), x[:, :0]


GEAR_WIDTHS = np.array([3.175, 5.715, 8.255, 12.7])
GEAR_PLACES = 12.7 * np.arange(1, 10)
PITCH_LIMITS = (1.812, 0.945, 0.646, 0.504, 0.0)  # teeth per length, between neighbours for each width
WIDTH_SIGNS = (-1, 1, -1, 1)


def gear_box(x: Array) -> FGH:
    """Volume of a gear box of four stages (Pomrehn and Papalambros 1995), all 22 variables rounded.

    Constraints of gears in one place, which have no distance, are 1e6. As in the organisers' code, two of the limits
    of the pitch (g79, g80) use the pinions of the stages before.
    """
    xp = namespace(x)
    numbers = whole(x)
    pinion, gear = numbers[:, 0:8:2], numbers[:, 1:8:2]  # teeth (n, 4)
    width = listed(numbers[:, 8:12], GEAR_WIDTHS)
    across, up = listed(numbers[:, 12:17], GEAR_PLACES), listed(numbers[:, 17:22], GEAR_PLACES)
    distance = xp.sqrt((across[:, 1:] - across[:, :1]) ** 2 + (up[:, 1:] - up[:, :1]) ** 2)
    apart = distance > 0
    safe = xp.where(apart, distance, 1.0)
    teeth = pinion + gear
    f = math.pi / 1000 * xp.sum(width * distance**2 * (pinion**2 + gear**2) / teeth**2, axis=1)

    ratios = [xp.ones_like(gear[:, 0])]  # by which the stages before slow down
    for stage in range(3):
        ratios.append(ratios[-1] * (gear[:, stage] / pinion[:, stage]))
    load = 366000 / (math.pi * 5000) * xp.stack(ratios, axis=1) + 2 * distance * pinion / teeth
    angle = math.radians(20)
    factors = 55.9 * 1.5 * 1.6
    bending = load * (teeth**2 / (4 * width * safe**2 * pinion)) - 2090 * 0.2 / (0.0167 * factors)
    most = (3290 / 464) ** 2 * (math.sin(angle) * math.cos(angle)) / (0.0334 * factors)
    contact = load * (teeth**3 / (4 * width * safe**2 * gear * pinion**2)) - most
    meshing = 1.4 * math.pi * math.cos(angle) + math.sin(angle) * teeth / 2
    for count in (pinion, gear):
        meshing = meshing - count * xp.sqrt(math.sin(angle) ** 2 / 4 + 1 / count + (1 / count) ** 2)

    # Places of pinions and gears inside the box: each pinion but the first sits at the gear it drives.
    pinion_radius, gear_radius = (pinion + 2) * distance / teeth, (gear + 2) * distance / teeth
    inside = []
    for radius, first in ((pinion_radius, 0), (gear_radius, 1)):
        for place in (across, up):
            at = xp.concatenate([place[:, first : first + 1], place[:, 2:]], axis=1)
            inside += [at + radius - 127, radius - at]

    most_teeth, least_teeth = [], []
    for k, sign in enumerate(WIDTH_SIGNS):
        others = [width - other for j, other in enumerate(GEAR_WIDTHS) if j != k]
        this_width = others[0] * others[1] * others[2] * sign  # 0 for gears of another width
        most_teeth.append((PITCH_LIMITS[k + 1] * distance - teeth) * this_width)
        counted = teeth
        if k == 2:
            counted = gear + xp.concatenate([pinion[:, :2], pinion[:, 1:3]], axis=1)
        least_teeth.append((counted - PITCH_LIMITS[k] * distance) * this_width)

    speed = 5000 * xp.prod(pinion, axis=1) / xp.prod(gear, axis=1)
    g = [
        xp.where(apart, bending, LARGE),
        xp.where(apart, contact, LARGE),
        meshing,
        25.4 - 2 * distance * pinion / teeth,
        25.4 - 2 * distance * gear / teeth,
        *inside,
        *most_teeth,
        *least_teeth,
        xp.stack([245 - speed, speed - 255], axis=1),
    ]
    return f, xp.concatenate(g, axis=1), x[:, :0]


TRUSS_NODES = 9.144 * np.array([[2, 1], [2, 0], [1, 1], [1, 0], [0, 1], [0, 0]])  # m; the last two are fixed
TRUSS_BARS = np.array([[3, 5], [1, 3], [4, 6], [2, 4], [3, 4], [1, 2], [4, 5], [3, 6], [2, 3], [1, 4]]) - 1
TRUSS_DENSITY, TRUSS_YOUNG, TRUSS_ADDED_MASS = 2770.0, 6.98e10, 454.0
TRUSS_LENGTHS = np.linalg.norm(np.diff(TRUSS_NODES[TRUSS_BARS], axis=1)[:, 0], axis=1)


def _truss_matrices() -> tuple[np.ndarray, np.ndarray]:
    """Return stiffness and mass of each bar per area (bars, 8, 8), in the eight free directions."""
    stiffness, mass = np.zeros((2, 10, 12, 12))
    for bar, (start, end) in enumerate(TRUSS_BARS):
        direction = (TRUSS_NODES[end] - TRUSS_NODES[start]) / TRUSS_LENGTHS[bar]
        both = np.concatenate([-direction, direction])
        places = np.array([2 * start, 2 * start + 1, 2 * end, 2 * end + 1])
        stiffness[bar][np.ix_(places, places)] = TRUSS_YOUNG / TRUSS_LENGTHS[bar] * np.outer(both, both)
        shares = np.kron([[2, 1], [1, 2]], np.eye(2)) / 6
        mass[bar][np.ix_(places, places)] = TRUSS_DENSITY * TRUSS_LENGTHS[bar] * shares
    return stiffness[:, :8, :8], mass[:, :8, :8]


TRUSS_STIFFNESS, TRUSS_MASS = _truss_matrices()


def ten_bar_truss(x: Array) -> FGH:
    """Weight of a truss of ten bars whose first three natural frequencies are bounded (Grandhi and Venkayya 1988)."""
    xp = namespace(x)
    stiffness = _combined(x, TRUSS_STIFFNESS)
    mass = _combined(x, TRUSS_MASS) + TRUSS_ADDED_MASS * np.eye(8)
    squares = each_matrix(_squared_frequencies, stiffness, mass)
    frequency = xp.sqrt(squares[:, :3]) / (2 * math.pi)
    return TRUSS_DENSITY * xp.sum(TRUSS_LENGTHS * x, axis=1), np.array([7.0, 15, 20]) / frequency - 1, x[:, :0]


def _squared_frequencies(stiffness: Array, mass: Array) -> Array:
    """Return the eigenvalues of stiffness by mass, smallest first, for a pair of matrices or stacks of them."""
    xp = namespace(stiffness)
    half = xp.linalg.cholesky(mass)
    left = xp.linalg.solve(half, stiffness)
    both = xp.linalg.solve(half, xp.swapaxes(left, -1, -2))
    return xp.linalg.eigvalsh(0.5 * (both + xp.swapaxes(both, -1, -2)))


def _combined(weights: Array, matrices: np.ndarray) -> Array:
    """Return the weighted sums (n, k, k) of matrices (m, k, k), with weights (n, m)."""
    m, k, _ = matrices.shape
    return times(weights, matrices.reshape(m, k * k)).reshape(-1, k, k)


def rolling_bearing(x: Array) -> FGH:
    """Load that a ball bearing bears (Gupta et al. 2007), minimised as in the organisers' code, balls rounded."""
    xp = namespace(x)
    pitch, ball, balls, inner, outer, least, most, epsilon, e, chi = with_whole(x, 2, 3).T
    outside, bore, width = 160.0, 90.0, 30.0
    # The organisers' cosine with its two equal squares cancelled; theirs is 0 / 0 at one ball diameter.
    angle = 2 * math.pi - 2 * xp.arccos((1.5 * ball - 17.5) / (125 - ball))
    gamma = ball / pitch
    curvature = inner * (2 * outer - 1) / (outer * (2 * inner - 1))
    factor = 37.91 * (1 + (1.04 * ((1 - gamma) / (1 + gamma)) ** 1.72 * curvature**0.41) ** (10 / 3)) ** -0.3
    factor = factor * (gamma**0.3 * (1 - gamma) ** 1.39 / (1 + gamma) ** (1 / 3))
    factor = factor * (2 * inner / (2 * inner - 1)) ** 0.41
    g = [
        balls - 1 - angle / (2 * xp.arcsin(gamma)),
        least * (outside - bore) - 2 * ball,
        2 * ball - most * (outside - bore),
        chi * width - ball,
        0.5 * (outside + bore) - pitch,
        pitch - (0.5 + e) * (outside + bore),
        epsilon * ball - 0.5 * (outside - pitch - ball),
        0.515 - inner,
        0.515 - outer,
    ]
    f = factor * balls ** (2 / 3) * xp.where(ball > 25.4, 3.647 * ball**1.4, ball**1.8)
    return f, xp.stack(g, axis=1), x[:, :0]


WIRES = np.array(
    [
        *(0.009, 0.0095, 0.0104, 0.0118, 0.0128, 0.0132, 0.014, 0.015, 0.0162, 0.0173, 0.018, 0.020, 0.023, 0.025),
        *(0.028, 0.032, 0.035, 0.041, 0.047, 0.054, 0.063, 0.072, 0.080, 0.092, 0.0105, 0.120, 0.135, 0.148),
        *(0.162, 0.177, 0.192, 0.207, 0.225, 0.244, 0.263, 0.283, 0.307, 0.331, 0.362, 0.394, 0.4375, 0.500),
    ]
)  # inches; the 25th is 0.0105 in the organisers' code, 0.105 in the literature


def compression_spring(x: Array) -> FGH:
    """Volume of wire of a compression spring (Sandgren 1990), turns rounded, wire from a list of 42."""
    xp = namespace(x)
    turns, coil, wire = whole(x[:, 0]), x[:, 1], listed(whole(x[:, 2]), WIRES)
    index = coil / wire
    stress = (4 * index - 1) / (4 * index - 4) + 0.615 * wire / coil
    stiffness = 11.5e6 * wire**4 / (8 * turns * coil**3)
    solid = 1.05 * (turns + 2) * wire
    free = 1000 / stiffness + solid
    preload = 300 / stiffness
    g = [
        8000 * stress * coil / (math.pi * wire**3) - 189000,
        free - 14,
        0.2 - wire,
        coil - 3,
        3 - index,
        preload - 6,
        preload + 700 / stiffness + solid - free,  # identically 0, but for rounding
        1.25 - 700 / stiffness,
    ]
    return math.pi**2 * coil * wire**2 * (turns + 2) / 4, xp.stack(g, axis=1), x[:, :0]


def gear_train(x: Array) -> FGH:
    """Squared error of a gear ratio (Sandgren 1990), numbers of teeth not rounded; no constraints."""
    driver1, driver2, driven1, driven2 = x.T
    return (1 / 6.931 - driver1 * driver2 / (driven1 * driven2)) ** 2, x[:, :0], x[:, :0]


ROWS, COLUMNS = 10, 3  # of elements of the beam
BEAM_LOAD = -10000.0


def _beam_matrices() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return stiffness of an element (8, 8), its eight directions (30, 8), and weights of the filter (30, 30)."""
    young, poisson = 206e6, 0.3
    k = np.array([1 / 2 - poisson / 6, 1 / 8 + poisson / 8, -1 / 4 - poisson / 12, -1 / 8 + 3 * poisson / 8])
    k = np.concatenate([k, [-1 / 4 + poisson / 12, -1 / 8 - poisson / 8, poisson / 6, 1 / 8 - 3 * poisson / 8]])
    order = ["01234567", "10765432", "27056341", "36507214", "45670123", "54321076", "63412705", "72143650"]
    element = young / (1 - poisson**2) * k[np.array([[int(j) for j in row] for row in order])]
    directions = []
    for column, row in product(range(COLUMNS), range(ROWS)):
        left = (ROWS + 1) * column + row
        corners = (left, left + ROWS + 1, left + ROWS + 2, left + 1)
        directions.append([2 * corner + axis for corner in corners for axis in (0, 1)])
    places = np.array(list(product(range(COLUMNS), range(ROWS))))
    apart = np.linalg.norm(places[:, None] - places[None, :], axis=2)
    near = np.maximum(0, 1.5 - apart) * (np.abs(places[:, None] - places[None, :]).max(axis=2) <= 1)
    return element, np.array(directions), near / near.sum(axis=1, keepdims=True)


BEAM_ELEMENT, BEAM_DIRECTIONS, BEAM_FILTER = _beam_matrices()
BEAM_FIXED = 2 * (ROWS + 1)  # the first directions, those of the left edge
BEAM_FREE = 2 * (ROWS + 1) * (COLUMNS + 1) - BEAM_FIXED


def _beam_stiffness() -> np.ndarray:
    """Return the stiffness of each element (30, 66, 66) in the free directions."""
    stiffness = np.zeros((len(BEAM_DIRECTIONS), BEAM_FIXED + BEAM_FREE, BEAM_FIXED + BEAM_FREE))
    for part, places in zip(stiffness, BEAM_DIRECTIONS, strict=True):
        part[np.ix_(places, places)] = BEAM_ELEMENT
    return stiffness[:, BEAM_FIXED:, BEAM_FIXED:]


BEAM_STIFFNESS = _beam_stiffness()


def beam_topology(x: Array) -> FGH:
    """Compliance of a beam of 30 elements of variable density (Sigmund 2001); constrained by filtered sensitivities."""
    xp = namespace(x)
    load = xp.zeros((len(x), BEAM_FREE, 1)) + BEAM_LOAD * (np.arange(BEAM_FREE) == BEAM_FREE - 1)[:, None]
    moved = each_matrix(xp.linalg.solve, _combined(x**3, BEAM_STIFFNESS), load)[:, :, 0]
    moved = xp.concatenate([xp.zeros((len(x), BEAM_FIXED)), moved], axis=1)[:, BEAM_DIRECTIONS]  # (n, 30, 8)
    energy = xp.sum(xp.matmul(moved, BEAM_ELEMENT) * moved, axis=2)
    sensitivity = -3 * x**2 * energy
    return xp.sum(x**3 * energy, axis=1), times(x * sensitivity, BEAM_FILTER.T) / x, x[:, :0]
