"""Classical design problems of process and chemical engineering, each as f, g, h of the rows of x."""

from __future__ import annotations

from ..arrays import Array, namespace

Outcome = tuple[Array, Array, Array]  # f (n,), g (n, p), h (n, q)


def heat_exchanger(x: Array) -> Outcome:
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


def gas_transmission_compressor(x: Array) -> Outcome:
    """Yearly cost of a gas pipeline with compressors (Beightler and Phillips 1976)."""
    length, ratio, diameter, slack = x.T
    f = (
        8.61e5 * length**0.5 * ratio * diameter ** (-2 / 3) * slack**-0.5
        + 3.69e4 * diameter
        + 7.72e8 * ratio**0.219 / length
        - 765.43e6 / length
    )
    return f, ((slack + 1) / ratio**2 - 1)[:, None], x[:, :0]


def himmelblau(x: Array) -> Outcome:
    """Himmelblau's nonlinear problem (Himmelblau 1972), the version with 0.0006262, the same as g04 of CEC2006."""
    xp = namespace(x)
    x1, x2, x3, x4, x5 = x.T
    f = 5.3578547 * x3**2 + 0.8356891 * x1 * x5 + 37.293239 * x1 - 40792.141
    first = 85.334407 + 0.0056858 * x2 * x5 + 0.0006262 * x1 * x4 - 0.0022053 * x3 * x5
    second = 80.51249 + 0.0071317 * x2 * x5 + 0.0029955 * x1 * x2 + 0.0021813 * x3**2
    third = 9.300961 + 0.0047026 * x3 * x5 + 0.0012547 * x1 * x3 + 0.0019085 * x3 * x4
    g = [first - 92, -first, second - 110, 90 - second, third - 25, 20 - third]
    return f, xp.stack(g, axis=1), x[:, :0]


def process_synthesis(x: Array) -> Outcome:
    """Choice of one process unit (Kocis and Grossmann 1988), the second variable rounded to 0 or 1."""
    xp = namespace(x)
    amount, unit = x[:, 0], xp.round(x[:, 1])
    return 2 * amount + unit, xp.stack([1.25 - amount**2 - unit, amount + unit - 1.6], axis=1), x[:, :0]


def process_synthesis_seven(x: Array) -> Outcome:
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
