"""The formulas of g01 to g24 of the CEC2006 suite, each as f, g, h of the rows of x; letters as in the report."""

from __future__ import annotations

import math

import numpy as np

from ..arrays import Array, namespace
from ..problem import FGH


def g01(x: Array) -> FGH:
    """Quadratic, nine linear inequalities (Floudas and Pardalos 1987)."""
    xp = namespace(x)
    x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, _ = x.T
    first = x[:, :4]
    f = 5 * xp.sum(first, axis=1) - 5 * xp.sum(first**2, axis=1) - xp.sum(x[:, 4:], axis=1)
    g = [
        2 * x1 + 2 * x2 + x10 + x11 - 10,
        2 * x1 + 2 * x3 + x10 + x12 - 10,
        2 * x2 + 2 * x3 + x11 + x12 - 10,
        x10 - 8 * x1,
        x11 - 8 * x2,
        x12 - 8 * x3,
        x10 - 2 * x4 - x5,
        x11 - 2 * x6 - x7,
        x12 - 2 * x8 - x9,
    ]
    return f, xp.stack(g, axis=1), x[:, :0]


def g02(x: Array) -> FGH:
    """Keane's bump with 20 variables (Keane 1994); the objective is unbounded towards the origin."""
    xp = namespace(x)
    squares = xp.cos(x) ** 2
    weighted = xp.sum(xp.arange(1, x.shape[1] + 1) * x**2, axis=1)
    length = xp.sqrt(xp.maximum(weighted, xp.finfo(x.dtype).tiny))  # the origin itself divides by zero
    f = -xp.abs((xp.sum(squares**2, axis=1) - 2 * xp.prod(squares, axis=1)) / length)
    g = [0.75 - xp.prod(x, axis=1), xp.sum(x, axis=1) - 7.5 * x.shape[1]]
    return f, xp.stack(g, axis=1), x[:, :0]


def g03(x: Array) -> FGH:
    """Product on a sphere (Michalewicz et al. 1996)."""
    xp = namespace(x)
    f = -xp.prod(math.sqrt(x.shape[1]) * x, axis=1)
    return f, x[:, :0], xp.sum(x**2, axis=1)[:, None] - 1


def g04(x: Array) -> FGH:
    """Himmelblau's quadratic with six two-sided inequalities (Himmelblau 1972)."""
    xp = namespace(x)
    x1, x2, x3, x4, x5 = x.T
    f = 5.3578547 * x3**2 + 0.8356891 * x1 * x5 + 37.293239 * x1 - 40792.141
    u = 85.334407 + 0.0056858 * x2 * x5 + 0.0006262 * x1 * x4 - 0.0022053 * x3 * x5
    v = 80.51249 + 0.0071317 * x2 * x5 + 0.0029955 * x1 * x2 + 0.0021813 * x3**2
    w = 9.300961 + 0.0047026 * x3 * x5 + 0.0012547 * x1 * x3 + 0.0019085 * x3 * x4
    return f, xp.stack([u - 92, -u, v - 110, 90 - v, w - 25, 20 - w], axis=1), x[:, :0]


def g05(x: Array) -> FGH:
    """Optimal power flow, cubic with three equalities (Hock and Schittkowski 1981, problem 74)."""
    xp = namespace(x)
    x1, x2, x3, x4 = x.T
    f = 3 * x1 + 1e-6 * x1**3 + 2 * x2 + (2e-6 / 3) * x2**3
    g = [x3 - x4 - 0.55, x4 - x3 - 0.55]
    h = [
        1000 * xp.sin(-x3 - 0.25) + 1000 * xp.sin(-x4 - 0.25) + 894.8 - x1,
        1000 * xp.sin(x3 - 0.25) + 1000 * xp.sin(x3 - x4 - 0.25) + 894.8 - x2,
        1000 * xp.sin(x4 - 0.25) + 1000 * xp.sin(x4 - x3 - 0.25) + 1294.8,
    ]
    return f, xp.stack(g, axis=1), xp.stack(h, axis=1)


def g06(x: Array) -> FGH:
    """Cubic between two circles, with a thin feasible crescent (Floudas and Pardalos 1987)."""
    xp = namespace(x)
    x1, x2 = x.T
    f = (x1 - 10) ** 3 + (x2 - 20) ** 3
    g = [100 - (x1 - 5) ** 2 - (x2 - 5) ** 2, (x1 - 6) ** 2 + (x2 - 5) ** 2 - 82.81]
    return f, xp.stack(g, axis=1), x[:, :0]


def g07(x: Array) -> FGH:
    """Convex quadratic with eight inequalities (Hock and Schittkowski 1981, problem 113)."""
    xp = namespace(x)
    x1, x2, x3, x4, x5, x6, x7, x8, x9, x10 = x.T
    f = (
        x1**2
        + x2**2
        + x1 * x2
        - 14 * x1
        - 16 * x2
        + (x3 - 10) ** 2
        + 4 * (x4 - 5) ** 2
        + (x5 - 3) ** 2
        + 2 * (x6 - 1) ** 2
        + 5 * x7**2
        + 7 * (x8 - 11) ** 2
        + 2 * (x9 - 10) ** 2
        + (x10 - 7) ** 2
        + 45
    )
    g = [
        4 * x1 + 5 * x2 - 3 * x7 + 9 * x8 - 105,
        10 * x1 - 8 * x2 - 17 * x7 + 2 * x8,
        -8 * x1 + 2 * x2 + 5 * x9 - 2 * x10 - 12,
        3 * (x1 - 2) ** 2 + 4 * (x2 - 3) ** 2 + 2 * x3**2 - 7 * x4 - 120,
        5 * x1**2 + 8 * x2 + (x3 - 6) ** 2 - 2 * x4 - 40,
        x1**2 + 2 * (x2 - 2) ** 2 - 2 * x1 * x2 + 14 * x5 - 6 * x6,
        0.5 * (x1 - 8) ** 2 + 2 * (x2 - 4) ** 2 + 3 * x5**2 - x6 - 30,
        -3 * x1 + 6 * x2 + 12 * (x9 - 8) ** 2 - 7 * x10,
    ]
    return f, xp.stack(g, axis=1), x[:, :0]


def g08(x: Array) -> FGH:
    """Ratio of sines, many local optima (Schoenauer and Xanthakis 1993)."""
    xp = namespace(x)
    x1, x2 = x.T
    # (sin(2 pi x1) / x1)^3 by sinc, which has its limit at x1 = 0; at the origin, without a limit, f is 0.
    ratio = (2 * math.pi * xp.sinc(2 * x1)) ** 3
    total = xp.where(x1 + x2 > 0, x1 + x2, 1.0)
    f = -ratio * xp.sin(2 * math.pi * x2) / total
    g = [x1**2 - x2 + 1, 1 - x1 + (x2 - 4) ** 2]
    return f, xp.stack(g, axis=1), x[:, :0]


def g09(x: Array) -> FGH:
    """Polynomial of degree six (Hock and Schittkowski 1981, problem 100)."""
    xp = namespace(x)
    x1, x2, x3, x4, x5, x6, x7 = x.T
    f = (
        (x1 - 10) ** 2
        + 5 * (x2 - 12) ** 2
        + x3**4
        + 3 * (x4 - 11) ** 2
        + 10 * x5**6
        + 7 * x6**2
        + x7**4
        - 4 * x6 * x7
        - 10 * x6
        - 8 * x7
    )
    g = [
        2 * x1**2 + 3 * x2**4 + x3 + 4 * x4**2 + 5 * x5 - 127,
        7 * x1 + 3 * x2 + 10 * x3**2 + x4 - x5 - 282,
        23 * x1 + x2**2 + 6 * x6**2 - 8 * x7 - 196,
        4 * x1**2 + x2**2 - 3 * x1 * x2 + 2 * x3**2 + 5 * x6 - 11 * x7,
    ]
    return f, xp.stack(g, axis=1), x[:, :0]


def g10(x: Array) -> FGH:
    """Heat exchangers, linear objective with bilinear inequalities (Avriel and Williams 1971)."""
    xp = namespace(x)
    x1, x2, x3, x4, x5, x6, x7, x8 = x.T
    g = [
        0.0025 * (x4 + x6) - 1,
        0.0025 * (x5 + x7 - x4) - 1,
        0.01 * (x8 - x5) - 1,
        -x1 * x6 + 833.33252 * x4 + 100 * x1 - 83333.333,
        -x2 * x7 + 1250 * x5 + x2 * x4 - 1250 * x4,
        -x3 * x8 + 1250000 + x3 * x5 - 2500 * x5,
    ]
    return x1 + x2 + x3, xp.stack(g, axis=1), x[:, :0]


def g11(x: Array) -> FGH:
    """Distance to a parabola (Maa and Shanblatt 1992)."""
    x1, x2 = x.T
    return x1**2 + (x2 - 1) ** 2, x[:, :0], (x2 - x1**2)[:, None]


def g12(x: Array) -> FGH:
    """Feasible in any of 9 x 9 x 9 small balls around whole numbers (Koziel and Michalewicz 1999)."""
    xp = namespace(x)
    f = -(100 - xp.sum((x - 5) ** 2, axis=1)) / 100
    nearest = xp.clip(xp.round(x), 1, 9)  # the least of the 729 constraints is that of the nearest centre
    return f, xp.sum((x - nearest) ** 2, axis=1)[:, None] - 0.0625, x[:, :0]


def g13(x: Array) -> FGH:
    """Exponential of a product, three equalities (Hock and Schittkowski 1981, problem 80)."""
    xp = namespace(x)
    x1, x2, x3, x4, x5 = x.T
    h = [xp.sum(x**2, axis=1) - 10, x2 * x3 - 5 * x4 * x5, x1**3 + x2**3 + 1]
    return xp.exp(xp.prod(x, axis=1)), x[:, :0], xp.stack(h, axis=1)


G14_C = np.array([-6.089, -17.164, -34.054, -5.914, -24.721, -14.986, -24.1, -10.708, -26.662, -22.179])


def g14(x: Array) -> FGH:
    """Chemical equilibrium (Himmelblau 1972); the report asks x > 0, here x log x is 0 at 0."""
    xp = namespace(x)
    x1, x2, x3, x4, x5, x6, x7, x8, x9, x10 = x.T
    total = xp.sum(x, axis=1, keepdims=True)
    logs = xp.log(xp.where(x > 0, x, 1.0)) - xp.log(xp.where(total > 0, total, 1.0))
    h = [
        x1 + 2 * x2 + 2 * x3 + x6 + x10 - 2,
        x4 + 2 * x5 + x6 + x7 - 1,
        x3 + x7 + x8 + 2 * x9 + x10 - 1,
    ]
    return xp.sum(x * (G14_C + logs), axis=1), x[:, :0], xp.stack(h, axis=1)


def g15(x: Array) -> FGH:
    """Quadratic on a circle in space (Himmelblau 1972)."""
    xp = namespace(x)
    x1, x2, x3 = x.T
    f = 1000 - x1**2 - 2 * x2**2 - x3**2 - x1 * x2 - x1 * x3
    h = [xp.sum(x**2, axis=1) - 25, 8 * x1 + 14 * x2 + 7 * x3 - 56]
    return f, x[:, :0], xp.stack(h, axis=1)


G16_LOWEST = np.array(
    [
        *(213.1, 17.505, 11.275, 214.228, 7.458, 0.961, 1.612, 0.146, 107.99),
        *(922.693, 926.832, 18.766, 1072.163, 8961.448, 0.063, 71084.33, 2802713.0),
    ]
)
G16_HIGHEST = np.array(
    [
        *(405.23, 1053.6667, 35.03, 665.585, 584.463, 265.916, 7.046, 0.222, 273.366),
        *(1286.105, 1444.046, 537.141, 3247.039, 26844.086, 0.386, 140000.0, 12146108.0),
    ]
)


def g16(x: Array) -> FGH:
    """Wood-pulp process with 17 bounded state variables y (Himmelblau 1972)."""
    xp = namespace(x)
    x1, x2, x3, x4, x5 = x.T
    y1 = x2 + x3 + 41.6
    c1 = 0.024 * x4 - 4.62
    y2 = 12.5 / c1 + 12
    c2 = 0.0003535 * x1**2 + 0.5311 * x1 + 0.08705 * y2 * x1
    c3 = 0.052 * x1 + 78 + 0.002377 * y2 * x1
    y3 = c2 / c3
    y4 = 19 * y3
    c4 = 0.04782 * (x1 - y3) + 0.1956 * (x1 - y3) ** 2 / x2 + 0.6376 * y4 + 1.594 * y3
    c5 = 100 * x2
    c6 = x1 - y3 - y4
    c7 = 0.95 - c4 / c5
    y5 = c6 * c7
    y6 = x1 - y5 - y4 - y3
    c8 = 0.995 * (y5 + y4)
    y7 = c8 / y1
    y8 = c8 / 3798
    c9 = y7 - 0.0663 * 3798 / y1 - 0.3153  # the report's y7 / y8 is 3798 / y1
    y9 = 96.82 / c9 + 0.321 * y1
    y10 = 1.29 * y5 + 1.258 * y4 + 2.29 * y3 + 1.71 * y6
    y11 = 1.71 * x1 - 0.452 * y4 + 0.58 * y3
    c10 = 12.3 / 752.3
    c11 = 1.75 * y2 * 0.995 * x1
    c12 = 0.995 * y10 + 1998
    y12 = c10 * x1 + c11 / c12
    y13 = c12 - 1.75 * y2
    c17 = y9 + x5
    y14 = 3623 + 64.4 * x2 + 58.4 * x3 + 146312 / c17
    c13 = 0.995 * y10 + 60.8 * x2 + 48 * x4 - 0.1121 * y14 - 5095
    y15 = y13 / c13
    y16 = 148000 - 331000 * y15 + 40 * y13 - 61 * y15 * y13
    c14 = 2324 * y10 - 28740000 * y2
    y17 = 14130000 - 1328 * y10 - 531 * y11 + c14 / c12
    c15 = c13 - y13 / 0.52  # the report's y13 / y15 is c13
    c16 = 1.104 - 0.72 * y15
    f = (
        0.000117 * y14
        + 0.1365
        + 0.00002358 * y13
        + 0.000001502 * y16
        + 0.0321 * y12
        + 0.004324 * y5
        + 0.0001 * c15 / c16
        + 37.48 * y2 / c12
        - 0.0000005843 * y17
    )
    y = xp.stack([y1, y2, y3, y4, y5, y6, y7, y8, y9, y10, y11, y12, y13, y14, y15, y16, y17], axis=1)
    first = [0.28 / 0.72 * y5 - y4, x3 - 1.5 * x2, 3496 * y2 / c12 - 21, 110.6 + y1 - 62212 / c17]
    # The report alternates lower and upper limits: y1 low, y1 high, y2 low, ...
    limits = xp.stack([G16_LOWEST - y, y - G16_HIGHEST], axis=2).reshape(x.shape[0], 2 * len(G16_LOWEST))
    return f, xp.concatenate([xp.stack(first, axis=1), limits], axis=1), x[:, :0]


def g17(x: Array) -> FGH:
    """Optimal power flow with cost that jumps (Himmelblau 1972)."""
    xp = namespace(x)
    x1, x2, x3, x4, x5, x6 = x.T
    a, b = 1.48477, 1.47588
    f1 = xp.where(x1 < 300, 30.0, 31.0) * x1
    f2 = xp.where(x2 < 100, 28.0, xp.where(x2 < 200, 29.0, 30.0)) * x2
    mixed, square3, square4 = x3 * x4 / 131.078, 0.90798 * x3**2 / 131.078, 0.90798 * x4**2 / 131.078
    h = [
        -x1 + 300 - mixed * xp.cos(a - x6) + square3 * math.cos(b),
        -x2 - mixed * xp.cos(a + x6) + square4 * math.cos(b),
        -x5 - mixed * xp.sin(a + x6) + square4 * math.sin(b),
        200 - mixed * xp.sin(a - x6) + square3 * math.sin(b),
    ]
    return f1 + f2, x[:, :0], xp.stack(h, axis=1)


def g18(x: Array) -> FGH:
    """Largest hexagon of unit diameter (Himmelblau 1972)."""
    xp = namespace(x)
    x1, x2, x3, x4, x5, x6, x7, x8, x9 = x.T
    f = -0.5 * (x1 * x4 - x2 * x3 + x3 * x9 - x5 * x9 + x5 * x8 - x6 * x7)
    g = [
        x3**2 + x4**2 - 1,
        x9**2 - 1,
        x5**2 + x6**2 - 1,
        x1**2 + (x2 - x9) ** 2 - 1,
        (x1 - x5) ** 2 + (x2 - x6) ** 2 - 1,
        (x1 - x7) ** 2 + (x2 - x8) ** 2 - 1,
        (x3 - x5) ** 2 + (x4 - x6) ** 2 - 1,
        (x3 - x7) ** 2 + (x4 - x8) ** 2 - 1,
        x7**2 + (x8 - x9) ** 2 - 1,
        x2 * x3 - x1 * x4,
        -x3 * x9,
        x5 * x9,
        x6 * x7 - x5 * x8,
    ]
    return f, xp.stack(g, axis=1), x[:, :0]


G19_A = np.array(
    [
        [-16, 2, 0, 1, 0],
        [0, -2, 0, 0.4, 2],
        [-3.5, 0, 2, 0, 0],
        [0, -2, 0, -4, -1],
        [0, -9, -2, 1, -2.8],
        [2, 0, -4, 0, 0],
        [-1, -1, -1, -1, -1],
        [-1, -2, -3, -2, -1],
        [1, 2, 3, 4, 5],
        [1, 1, 1, 1, 1],
    ]
)
G19_B = np.array([-40, -2, -0.25, -4, -4, -1, -40, -60, 5, 1])
G19_C = np.array(
    [
        [30.0, -20, -10, 32, -10],
        [-20, 39, -6, -31, 32],
        [-10, -6, 10, -6, -10],
        [32, -31, -6, 39, -20],
        [-10, 32, -10, -20, 30],
    ]
)
G19_D = np.array([4.0, 8, 10, 6, 2])
G19_E = np.array([-15.0, -27, -36, -18, -12])


def g19(x: Array) -> FGH:
    """The Shell dual, cubic with five inequalities (Himmelblau 1972)."""
    xp = namespace(x)
    z, w = x[:, :10], x[:, 10:]
    # Sums of products rather than matrix products, whose rounding may depend on the number of rows.
    cw = xp.sum(G19_C * w[:, :, None], axis=1)
    az = xp.sum(G19_A * z[:, :, None], axis=1)
    f = xp.sum(cw * w, axis=1) + 2 * xp.sum(G19_D * w**3, axis=1) - xp.sum(G19_B * z, axis=1)
    return f, -2 * cw - 3 * G19_D * w**2 - G19_E + az, x[:, :0]


G20_A = np.tile([0.0693, 0.0577, 0.05, 0.2, 0.26, 0.55, 0.06, 0.1, 0.12, 0.18, 0.1, 0.09], 2)
G20_B = np.array([44.094, 58.12, 58.12, 137.4, 120.9, 170.9, 62.501, 84.94, 133.425, 82.507, 46.07, 60.097])
G20_C = np.array([123.7, 31.7, 45.7, 14.7, 84.7, 27.7, 49.7, 7.1, 2.1, 17.7, 0.85, 0.64])
G20_D = np.array([31.244, 36.12, 34.784, 92.7, 82.7, 91.6, 56.708, 82.7, 80.8, 64.517, 49.4, 49.1])
G20_E = np.array([0.1, 0.3, 0.4, 0.3, 0.6, 0.3])
G20_K = 0.7302 * 530 * 14.7 / 40
G20_LIMITED = np.array([0, 1, 2, 6, 7, 8])  # the substances that the six inequalities bound


def g20(x: Array) -> FGH:
    """Blending of multi-component liquids and gas (Himmelblau 1972); as published it has no feasible point.

    The six inequalities ask a ratio of sums of non-negative numbers to be at most 0, so twelve variables vanish.
    """
    xp = namespace(x)
    liquid, gas = x[:, :12] / G20_B, x[:, 12:] / G20_B
    liquids, gases = xp.sum(liquid, axis=1, keepdims=True), xp.sum(gas, axis=1, keepdims=True)
    total = xp.sum(x, axis=1, keepdims=True)
    # An empty mixture has no fractions; its numerators are all 0, so any divisor gives 0.
    fractions = liquid / xp.where(liquids > 0, liquids, 1.0), gas / xp.where(gases > 0, gases, 1.0)
    balance = xp.sum(x[:, :12] / G20_D, axis=1, keepdims=True) + G20_K * gases - 1.671
    g = (x[:, G20_LIMITED] + x[:, G20_LIMITED + 12]) / (total + G20_E)
    h = [fractions[1] - G20_C / 40 * fractions[0], total - 1, balance]
    return xp.sum(G20_A * x, axis=1), g, xp.concatenate(h, axis=1)


def g21(x: Array) -> FGH:
    """Heat exchangers with logarithmic temperatures (Epperly 1995)."""
    xp = namespace(x)
    x1, x2, x3, x4, x5, x6, x7 = x.T
    g = -x1 + 35 * x2**0.6 + 35 * x3**0.6
    h = [
        -300 * x3 + 7500 * x5 - 7500 * x6 - 25 * x4 * x5 + 25 * x4 * x6 + x3 * x4,
        100 * x2 + 155.365 * x4 + 2500 * x7 - x2 * x4 - 25 * x4 * x7 - 15536.5,
        -x5 + xp.log(900 - x4),
        -x6 + xp.log(x4 + 300),
        -x7 + xp.log(700 - 2 * x4),
    ]
    return x1, g[:, None], xp.stack(h, axis=1)


def g22(x: Array) -> FGH:
    """Heat exchangers, 19 equalities over eight orders of magnitude (Epperly 1995)."""
    xp = namespace(x)
    x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15, x16, x17, x18, x19, x20, x21, x22 = x.T
    g = -x1 + x2**0.6 + x3**0.6 + x4**0.6
    h = [
        x5 - 1e5 * x8 + 1e7,
        x6 + 1e5 * x8 - 1e5 * x9,
        x7 + 1e5 * x9 - 5e7,
        x5 + 1e5 * x10 - 3.3e7,
        x6 + 1e5 * x11 - 4.4e7,
        x7 + 1e5 * x12 - 6.6e7,
        x5 - 120 * x2 * x13,
        x6 - 80 * x3 * x14,
        x7 - 40 * x4 * x15,
        x8 - x11 + x16,
        x9 - x12 + x17,
        -x18 + xp.log(x10 - 100),
        -x19 + xp.log(300 - x8),
        -x20 + xp.log(x16),
        -x21 + xp.log(400 - x9),
        -x22 + xp.log(x17),
        -x8 - x10 + x13 * x18 - x13 * x19 + 400,
        x8 - x9 - x11 + x14 * x20 - x14 * x21 + 400,
        x9 - x12 - 4.60517 * x15 + x15 * x22 + 100,
    ]
    return x1, g[:, None], xp.stack(h, axis=1)


def g23(x: Array) -> FGH:
    """Haverly's pooling problem (Xia 1996)."""
    xp = namespace(x)
    x1, x2, x3, x4, x5, x6, x7, x8, x9 = x.T
    f = -9 * x5 - 15 * x8 + 6 * x1 + 16 * x2 + 10 * (x6 + x7)
    g = [x9 * x3 + 0.02 * x6 - 0.025 * x5, x9 * x4 + 0.02 * x7 - 0.015 * x8]
    h = [x1 + x2 - x3 - x4, 0.03 * x1 + 0.01 * x2 - x9 * (x3 + x4), x3 + x6 - x5, x4 + x7 - x8]
    return f, xp.stack(g, axis=1), xp.stack(h, axis=1)


def g24(x: Array) -> FGH:
    """Two separate feasible regions (Floudas et al. 1999)."""
    xp = namespace(x)
    x1, x2 = x.T
    g = [
        -2 * x1**4 + 8 * x1**3 - 8 * x1**2 + x2 - 2,
        -4 * x1**4 + 32 * x1**3 - 88 * x1**2 + 96 * x1 + x2 - 36,
    ]
    return -x1 - x2, xp.stack(g, axis=1), x[:, :0]
