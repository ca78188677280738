"""The formulas of RC01 to RC14 of the CEC2020 real-world suite: chemical plants and the choice of process units."""

from __future__ import annotations

import numpy as np

from ..arrays import Array, namespace
from ..problem import FGH
from .engineering_formulas import process_synthesis


def whole(x: Array) -> Array:
    """Return the nearest whole numbers, halves away from zero (NumPy's `round` sends them to the even number)."""
    xp = namespace(x)
    size = xp.abs(x)
    below = xp.floor(size)
    return xp.sign(x) * (below + (size - below >= 0.5))


def with_whole(x: Array, first: int, last: int | None = None) -> Array:
    """Return the rows with the columns from `first` to before `last` rounded."""
    xp = namespace(x)
    pieces = [x[:, :first], whole(x[:, first:last])]
    return xp.concatenate(pieces if last is None else [*pieces, x[:, last:]], axis=1)


def columns(x: Array, *numbers: int) -> Array:
    """Return some columns, numbered from 1 as in the report."""
    return x[:, np.array(numbers) - 1]


def times(rows: Array, matrix: np.ndarray) -> Array:
    """Return the product of each row with a matrix; in NumPy no row depends on the number of rows."""
    xp = namespace(rows)
    if xp is np:  # one product per row: a product of the whole would sum in an order that depends on their number
        return np.matmul(rows[:, None, :], matrix)[:, 0, :]
    return xp.matmul(rows, matrix, precision="highest")


# --- industrial chemical processes ----------------------------------------------------------------------------------

GUARD = 1e-8  # keeps the logarithms of temperature differences finite


def heat_exchanger_network_two(x: Array) -> FGH:
    """Cost of two heat exchangers (Floudas 1999)."""
    xp = namespace(x)
    area1, area2, heat1, mean1, heat2, mean2, middle, out1, out2 = x.T
    h = [
        200 * area1 * mean1 - heat1,
        200 * area2 * mean2 - heat2,
        heat1 - 1e4 * (middle - 100),
        heat2 - 1e4 * (300 - middle),
        heat1 - 1e4 * (600 - out1),
        heat2 - 1e4 * (900 - out2),
        # 600 - middle is never negative; `abs` keeps compilers from adding the guard to 600 first.
        mean1 * (xp.log(xp.abs(out1 - 100) + GUARD) - xp.log(xp.abs(600 - middle) + GUARD)) - out1 + middle + 500,
        mean2 * (xp.log(xp.abs(out2 - middle) + GUARD) - np.log(600)) - out2 + middle + 600,
    ]
    return 35 * area1**0.6 + 35 * area2**0.6, x[:, :0], xp.stack(h, axis=1)


EXCHANGE_RATES = np.array([120.0, 80, 40])


def heat_exchanger_network_three(x: Array) -> FGH:
    """Area of three heat exchangers in a row (Floudas 1999); infinite where a mean temperature difference is 0."""
    xp = namespace(x)
    heat, mean = x[:, :3], x[:, 3:6]
    heat1, heat2, heat3 = heat.T
    mean1, mean2, mean3 = mean.T
    warm1, warm2, out1, out2, out3 = x[:, 6:].T
    area = xp.where(mean > 0, heat / (EXCHANGE_RATES * xp.where(mean > 0, mean, 1.0)), np.inf)
    h = [
        heat1 - 1e4 * (warm1 - 100),
        heat2 - 1e4 * (warm2 - warm1),
        heat3 - 1e4 * (500 - warm2),
        heat1 - 1e4 * (300 - out1),
        heat2 - 1e4 * (400 - out2),
        heat3 - 1e4 * (600 - out3),
        mean1 * (xp.log(xp.abs(out1 - 100) + GUARD) - xp.log(300 - warm1 + GUARD)) - out1 - warm1 + 400,
        mean2 * (xp.log(xp.abs(out2 - warm1) + GUARD) - xp.log(xp.abs(400 - warm2) + GUARD))
        - out2
        + warm1
        - warm2
        + 400,
        mean3 * (xp.log(xp.abs(out3 - warm2) + GUARD) - np.log(100)) - out3 + warm2 + 100,
    ]
    return xp.sum(area**0.6, axis=1), x[:, :0], xp.stack(h, axis=1)


def alkylation(x: Array) -> FGH:
    """Loss of an alkylation unit (Sauer et al. 1964; as in Andrei 2013)."""
    xp = namespace(x)
    olefin, acid, yielded, strength, octane, ratio, performance = x.T
    f = -1.715 * olefin - 0.035 * olefin * ratio - 4.0565 * yielded - 10 * acid + 0.063 * yielded * octane
    strong = yielded * strength
    g = [
        0.0059553571 * ratio**2 * olefin + 0.88392857 * yielded - 0.1175625 * ratio * olefin - olefin,
        1.1088 * olefin + 0.1303533 * olefin * ratio - 0.0066033 * olefin * ratio**2 - yielded,
        6.66173269 * ratio**2 + 172.39878 * octane - 56.596669 * strength - 191.20592 * ratio - 10000,
        1.08702 * ratio + 0.32175 * strength - 0.03762 * ratio**2 - octane + 56.85075,
        0.006198 * performance * strong + 2462.3121 * acid - 25.125634 * acid * strength - strong,
        161.18996 * strong + 5000 * acid * strength - 489510 * acid - strong * performance,
        0.33 * performance - octane + 44.333333,
        0.022556 * octane - 0.007595 * performance - 1,
        0.00061 * yielded - 0.0005 * olefin - 1,
        0.819672 * olefin - yielded + 0.819672,
        24500 * acid - 250 * acid * strength - strong,
        1020.4082 * strength * acid + 1.2244898 * strong - 100000 * acid,
        6.25 * olefin * ratio + 6.25 * olefin - 7.625 * yielded - 100000,
        1.22 * yielded - ratio * olefin - olefin + 1,
    ]
    return f, xp.stack(g, axis=1), x[:, :0]


def reactor_network(x: Array) -> FGH:
    """Product of two reactors in a row, negated (Ryoo and Sahinidis 1995)."""
    xp = namespace(x)
    a1, a2, b1, b2, volume1, volume2 = x.T
    k1, k3 = 0.09755988, 0.0391908
    h = [
        a1 + k1 * a2 * volume1 - 1,
        a2 - a1 + 0.99 * k1 * a2 * volume2,
        b1 + a1 + k3 * b1 * volume1 - 1,
        b2 - b1 + a2 - a1 + 0.9 * k3 * b2 * volume2,
    ]
    g = xp.sqrt(volume1) + xp.sqrt(volume2) - 4
    return -b2, g[:, None], xp.stack(h, axis=1)


def haverly_pooling(x: Array) -> FGH:
    """Loss of a pool of oils with limited sulphur (Haverly 1978)."""
    xp = namespace(x)
    sold1, sold2, bought_a, bought_b, direct1, direct2, pooled1, pooled2, sulphur = x.T
    f = 6 * bought_a + 16 * bought_b + 10 * (direct1 + direct2) - 9 * sold1 - 15 * sold2
    g = [sulphur * pooled1 + 2 * direct1 - 2.5 * sold1, sulphur * pooled2 + 2 * direct2 - 1.5 * sold2]
    h = [
        pooled1 + pooled2 - bought_a - bought_b,
        sold1 - pooled1 - direct1,
        sold2 - pooled2 - direct2,
        sulphur * (pooled1 + pooled2) - 3 * bought_a - bought_b,
    ]
    return f, xp.stack(g, axis=1), xp.stack(h, axis=1)


DEMANDED = np.array([30.0, 50, 30])  # of the three components in the second product


def _splits(x: Array) -> Array:
    """Return the five balances of flows that blending and separation share."""
    feeds, tops1, bottoms1, tops2, bottoms2 = x[:, :4], x[:, 5:8], x[:, 8:12], x[:, 13:17], x[:, 17:20]
    xp = namespace(x)
    divided = [part[:, 0] - xp.sum(part[:, 1:], axis=1) for part in (tops1, bottoms1, tops2, bottoms2)]
    return xp.stack([xp.sum(feeds, axis=1) - 300, *divided], axis=1)


def _second_product(x: Array, top1: Array, bottom1: Array, top2: Array, bottom2: Array) -> Array:
    """Return how far the components of the second product (n, 3) miss the demand."""
    feed, by_top1, by_bottom1, by_top2, by_bottom2 = (x[:, j, None] for j in (2, 6, 10, 15, 18))
    return feed / 3 + by_top1 * top1 + by_bottom1 * bottom1 + by_top2 * top2 + by_bottom2 * bottom2 - DEMANDED


def blending_pooling_separation(x: Array) -> FGH:
    """Cost of two sharp separators of three components (Floudas 1999)."""
    xp = namespace(x)
    f = 0.9979 + 0.00432 * x[:, 4] + 0.01517 * x[:, 12]
    first, second = x[:, 20:29].reshape(-1, 3, 3), x[:, 29:38].reshape(-1, 3, 3)  # (n, component, stream)
    feed1, top1, bottom1 = (first[:, :, j] for j in range(3))
    feed2, top2, bottom2 = (second[:, :, j] for j in range(3))
    flow1, flow2 = x[:, 4, None] * feed1, x[:, 12, None] * feed2
    h = [
        _splits(x),
        flow1 - x[:, 5, None] * top1 - x[:, 8, None] * bottom1,
        flow2 - x[:, 13, None] * top2 - x[:, 17, None] * bottom2,
        x[:, 0, None] / 3 + x[:, 14, None] * top2 - flow1,
        x[:, 1, None] / 3 + x[:, 9, None] * bottom1 - flow2,
        _second_product(x, top1, bottom1, top2, bottom2),
        xp.sum(first, axis=1) - 1,
        xp.sum(second, axis=1) - 1,
        columns(x, 25, 28, 23, 37, 32, 35),  # components that a sharp separator sends the other way
    ]
    return f, x[:, :0], xp.concatenate(h, axis=1)


SEPARATION_COST = np.array(
    [
        [0.23947, -0.0139904, 0.0093514, 0.0077308, -0.0005719, 0.0042656],
        [0.75835, -0.0661588, 0.0338147, 0.0373349, 0.0016371, 0.0288996],
    ]
)


def nonsharp_separation(x: Array) -> FGH:
    """Cost of separating propane, isobutane and n-butane, not sharply (Aggarwal and Floudas 1990)."""
    xp = namespace(x)
    cost1, cost2 = SEPARATION_COST
    f = cost1[0] + (cost1[1] + xp.sum(cost1[2:] * columns(x, 24, 28, 33, 34), axis=1)) * x[:, 4]
    f = f + cost2[0] + (cost2[1] + xp.sum(cost2[2:] * columns(x, 26, 31, 38, 39), axis=1)) * x[:, 12]
    # Fractions and flows (n, 3) of propane, isobutane and n-butane.
    feed1, top1, bottom1 = columns(x, 33, 34, 36), columns(x, 21, 42, 43), columns(x, 41, 23, 44)
    feed2, top2, bottom2 = columns(x, 38, 39, 40), columns(x, 45, 22, 48), columns(x, 46, 47, 30)
    flow1, flow2 = columns(x, 25, 29, 35), columns(x, 37, 27, 32)
    recovered = columns(x, 6, 14, 9, 18) * columns(x, 21, 22, 23, 30)
    streams = (feed1, top1, bottom1, feed2, top2, bottom2)
    h = [
        _splits(x),
        recovered - columns(x, 24, 26, 28, 31) * columns(x, 25, 27, 29, 32),
        flow1 - x[:, 4, None] * feed1,
        flow2 - x[:, 12, None] * feed2,
        flow1 - x[:, 5, None] * top1 - x[:, 8, None] * bottom1,
        flow2 - x[:, 13, None] * top2 - x[:, 17, None] * bottom2,
        x[:, 0, None] / 3 + x[:, 14, None] * top2 - flow1,
        x[:, 1, None] / 3 + x[:, 9, None] * bottom1 - flow2,
        xp.stack([xp.sum(stream, axis=1) - 1 for stream in streams], axis=1),
        columns(x, 43, 46),
        _second_product(x, top1, bottom1, top2, bottom2),
    ]
    return f, x[:, :0], xp.concatenate(h, axis=1)


# --- process synthesis and design -----------------------------------------------------------------------------------


def process_synthesis_two(x: Array) -> FGH:
    """Choice of one process unit (Kocis and Grossmann 1988), the second variable rounded to -1, 0 or 1."""
    return process_synthesis(with_whole(x, 1))


def process_synthesis_and_design(x: Array) -> FGH:
    """Choice of one process unit with an equality (Kocis and Grossmann 1988), the third variable rounded."""
    xp = namespace(x)
    x1, x2, y = with_whole(x, 2).T
    return 2 * x1 + x2 - y, (x2 - x1 + y)[:, None], (x1 - 2 * xp.exp(-x2))[:, None]


def process_flow_sheeting(x: Array) -> FGH:
    """Choice of one process unit (Floudas 1995), the third variable rounded."""
    xp = namespace(x)
    x1, x2, y = with_whole(x, 2).T
    g = [-xp.exp(x1 - 0.2) - x2, x2 + 1.1 * y + 1, x1 - y - 0.2]
    return 0.8 - 0.7 * y + 5 * (x1 - 0.5) ** 2, xp.stack(g, axis=1), x[:, :0]


def two_reactors(x: Array) -> FGH:
    """Choice of one of two reactors (Kocis and Grossmann 1989), the fifth and sixth variable rounded."""
    xp = namespace(x)
    feed1, feed2, volume1, volume2, use1, use2, feed = with_whole(x, 4, 6).T
    made1 = 0.9 * (1 - xp.exp(-0.5 * volume1)) * feed1
    made2 = 0.8 * (1 - xp.exp(-0.4 * volume2)) * feed2
    g = [volume1 - 10 * use1, volume2 - 10 * use2, feed1 - 20 * use1, feed2 - 20 * use2]
    h = [use1 + use2 - 1, made1 + made2 - 10, feed1 + feed2 - feed, made1 * use1 + made2 * use2 - 10]
    f = 7.5 * use1 + 5.5 * use2 + 7 * volume1 + 6 * volume2 + 5 * feed
    return f, xp.stack(g, axis=1), xp.stack(h, axis=1)


def process_synthesis_seven(x: Array) -> FGH:
    """Choice of four process units (Yuan et al. 1988), with (x1 - 1)^22; infinite where the last is rounded to -1."""
    xp = namespace(x)
    x1, x2, x3, y1, y2, y3, y4 = with_whole(x, 3).T
    f = (y1 - 1) ** 2 + (y2 - 1) ** 2 + (y3 - 1) ** 2 + (x1 - 1) ** 22 + (x2 - 2) ** 2 + (x3 - 3) ** 2
    f = xp.where(y4 > -1, f - xp.log(xp.maximum(y4 + 1, 1.0)), np.inf)
    g = [
        x1 + x2 + x3 + y1 + y2 + y3 - 5,
        y3**2 + x1**2 + x2**2 + x3**2 - 5.5,
        x1 + y1 - 1.2,
        x2 + y2 - 1.8,
        x3 + y3 - 2.5,
        x1 + y4 - 1.2,
        y2**2 + x2**2 - 1.64,
        y3**2 + x3**2 - 4.25,
        y2**2 + x3**2 - 4.64,
    ]
    return f, xp.stack(g, axis=1), x[:, :0]


def process_design(x: Array) -> FGH:
    """Himmelblau's problem, maximised with two variables rounded (Floudas 1995)."""
    xp = namespace(x)
    x1, x2, x3, y1, y2 = with_whole(x, 3).T
    f = -5.357854 * x1**2 - 0.835689 * y1 * x3 - 37.29329 * y1 + 40792.141
    g = [
        85.334407 + 0.0056858 * y2 * x3 + 0.0006262 * y1 * x2 - 0.0022053 * y1**2 * x3 - 92,
        80.51249 + 0.0071317 * y2 * x3 + 0.0029955 * y1 * x2 + 0.0021813 * x1**2 - 110,
        9.300961 + 0.0047026 * y1 * x2 + 0.0012547 * y1 * x1 + 0.0019085 * x1 * x2 - 25,
    ]
    return f, xp.stack(g, axis=1), x[:, :0]


BATCH_SIZES = np.array([[2.0, 3, 4], [4.0, 6, 3]])  # (product, stage)
BATCH_TIMES = np.array([[8.0, 20, 8], [16.0, 4, 4]])


def batch_plant(x: Array) -> FGH:
    """Cost of a batch plant of three stages and two products (Kocis and Grossmann 1988), units rounded."""
    xp = namespace(x)
    units, volumes = whole(x[:, :3]), x[:, 3:6]
    time1, time2, batch1, batch2 = x[:, 6:].T
    hours = 40000 * time1 / batch1 + 20000 * time2 / batch2 - 6000
    g = [
        hours[:, None],
        BATCH_SIZES[0] * batch1[:, None] + BATCH_SIZES[1] * batch2[:, None] - volumes,
        BATCH_TIMES[0] - units * time1[:, None],
        BATCH_TIMES[1] - units * time2[:, None],
    ]
    return 250 * xp.sum(units * volumes**0.6, axis=1), xp.concatenate(g, axis=1), x[:, :0]
