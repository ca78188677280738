"""Problems g01 to g12 of the CEC2006 suite, each as f, g, h of the rows of x; letters as in the report."""

from __future__ import annotations

import math

from ..arrays import Array, namespace

Outcome = tuple[Array, Array, Array]  # f (n,), g (n, p), h (n, q)


def g01(x: Array) -> Outcome:
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


def g02(x: Array) -> Outcome:
    """Keane's bump with 20 variables (Keane 1994); the objective is unbounded towards the origin."""
    xp = namespace(x)
    squares = xp.cos(x) ** 2
    weighted = xp.sum(xp.arange(1, x.shape[1] + 1) * x**2, axis=1)
    length = xp.sqrt(xp.maximum(weighted, xp.finfo(x.dtype).tiny))  # the origin itself divides by zero
    f = -xp.abs((xp.sum(squares**2, axis=1) - 2 * xp.prod(squares, axis=1)) / length)
    g = [0.75 - xp.prod(x, axis=1), xp.sum(x, axis=1) - 7.5 * x.shape[1]]
    return f, xp.stack(g, axis=1), x[:, :0]


def g03(x: Array) -> Outcome:
    """Product on a sphere (Michalewicz et al. 1996)."""
    xp = namespace(x)
    f = -xp.prod(math.sqrt(x.shape[1]) * x, axis=1)
    return f, x[:, :0], xp.sum(x**2, axis=1)[:, None] - 1


def g04(x: Array) -> Outcome:
    """Himmelblau's quadratic with six two-sided inequalities (Himmelblau 1972)."""
    xp = namespace(x)
    x1, x2, x3, x4, x5 = x.T
    f = 5.3578547 * x3**2 + 0.8356891 * x1 * x5 + 37.293239 * x1 - 40792.141
    u = 85.334407 + 0.0056858 * x2 * x5 + 0.0006262 * x1 * x4 - 0.0022053 * x3 * x5
    v = 80.51249 + 0.0071317 * x2 * x5 + 0.0029955 * x1 * x2 + 0.0021813 * x3**2
    w = 9.300961 + 0.0047026 * x3 * x5 + 0.0012547 * x1 * x3 + 0.0019085 * x3 * x4
    return f, xp.stack([u - 92, -u, v - 110, 90 - v, w - 25, 20 - w], axis=1), x[:, :0]


def g05(x: Array) -> Outcome:
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


def g06(x: Array) -> Outcome:
    """Cubic between two circles, with a thin feasible crescent (Floudas and Pardalos 1987)."""
    xp = namespace(x)
    x1, x2 = x.T
    f = (x1 - 10) ** 3 + (x2 - 20) ** 3
    g = [100 - (x1 - 5) ** 2 - (x2 - 5) ** 2, (x1 - 6) ** 2 + (x2 - 5) ** 2 - 82.81]
    return f, xp.stack(g, axis=1), x[:, :0]


def g07(x: Array) -> Outcome:
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


def g08(x: Array) -> Outcome:
    """Ratio of sines, many local optima (Schoenauer and Xanthakis 1993)."""
    xp = namespace(x)
    x1, x2 = x.T
    # (sin(2 pi x1) / x1)^3 by sinc, which has its limit at x1 = 0; at the origin, without a limit, f is 0.
    ratio = (2 * math.pi * xp.sinc(2 * x1)) ** 3
    total = xp.where(x1 + x2 > 0, x1 + x2, 1.0)
    f = -ratio * xp.sin(2 * math.pi * x2) / total
    g = [x1**2 - x2 + 1, 1 - x1 + (x2 - 4) ** 2]
    return f, xp.stack(g, axis=1), x[:, :0]


def g09(x: Array) -> Outcome:
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


def g10(x: Array) -> Outcome:
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


def g11(x: Array) -> Outcome:
    """Distance to a parabola (Maa and Shanblatt 1992)."""
    x1, x2 = x.T
    return x1**2 + (x2 - 1) ** 2, x[:, :0], (x2 - x1**2)[:, None]


def g12(x: Array) -> Outcome:
    """Feasible in any of 9 x 9 x 9 small balls around whole numbers (Koziel and Michalewicz 1999)."""
    xp = namespace(x)
    f = -(100 - xp.sum((x - 5) ** 2, axis=1)) / 100
    nearest = xp.clip(xp.round(x), 1, 9)  # the least of the 729 constraints is that of the nearest centre
    return f, xp.sum((x - nearest) ** 2, axis=1)[:, None] - 0.0625, x[:, :0]
