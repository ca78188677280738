"""The formulas of C01 to C20 of the CEC2017 constrained suite, for NumPy and jax.numpy, and two defective versions.

Each takes the shifted points `y` (n, D), and where the problem says so the transformed points `z = M y`, and returns
the objective (n,), the inequalities and the equalities, each a tuple of columns (n,). C21 to C28 are C12 to C19 at `z`.

Published tables rest on two defective versions of the suite, which are here to reproduce those tables:

`2016-matlab-batch`: the organisers' MATLAB code of 2016 with a whole population passed in one call. The chain term of
C18 and C27 is taken from the first row for every row, so a point's value depends on the points evaluated with it.

`2016-cpp`: the organisers' C++ code of 2016. C15 and C24 lack the absolute value, so their optimum is -5 pi / 4. The
equality of C09 pairs each odd-numbered component with the even-numbered one after it, from the second pair on:
h = sum over k = 2 .. D/2 of (y_{2k-1}^2 - y_{2k})^2. Two public copies of that code agree on this. A remark left in the
corrected code of 2024 gives the last pair as k = D/2 - 1; the code that people ran is followed here, not the remark.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import e, exp, pi
from typing import Any

import numpy as np

from ..arrays import Array, namespace

FGH = tuple[Array, tuple[Array, ...], tuple[Array, ...]]  # f, the g, the h


def squares_of_partial_sums(y: Array) -> Array:
    """Schwefel's problem 1.2: the sum over i of (y_1 + .. + y_i)^2."""
    partial = namespace(y).cumsum(y, axis=-1)
    return (partial * partial).sum(-1)


def rastrigin(y: Array) -> Array:
    return (y * y - 10.0 * namespace(y).cos(2.0 * pi * y) + 10.0).sum(-1)


def chain(y: Array) -> Array:
    """The sum over i of (y_i^2 - y_{i+1})^2; an empty sum where y has one column."""
    link = y[..., :-1] * y[..., :-1] - y[..., 1:]
    return (link * link).sum(-1)


def rosenbrock(y: Array) -> Array:
    rest = y[..., :-1] - 1.0
    return 100.0 * chain(y) + (rest * rest).sum(-1)


def neighbour_differences(y: Array) -> Array:
    difference = y[..., :-1] - y[..., 1:]
    return (difference * difference).sum(-1)


def half_integers(y: Array) -> Array:
    """Numbers of size 0.5 and more moved to the nearest half integer, ties away from zero; smaller ones as they are.

    `round` of NumPy sends ties to even, hence the floor.
    """
    xp = namespace(y)
    size = xp.abs(y)
    return xp.where(size < 0.5, y, xp.sign(y) * xp.floor(2.0 * size + 0.5) * 0.5)


def cosine_wells(y: Array, depth: float, frequency: float, level: float) -> Array:
    """The sum of y^2 - depth cos(frequency y) - level, the constraint of C01 to C03 and C05."""
    return (y * y - depth * namespace(y).cos(frequency * y) - level).sum(-1)


def c01(y: Array) -> FGH:
    return squares_of_partial_sums(y), (cosine_wells(y, 5000.0, 0.1 * pi, 4000.0),), ()


def c02(y: Array, z: Array) -> FGH:
    return squares_of_partial_sums(y), (cosine_wells(z, 5000.0, 0.1 * pi, 4000.0),), ()  # only the constraint turns


def c03(y: Array) -> FGH:
    f, g, _ = c01(y)
    return f, g, (-(y * namespace(y).sin(0.1 * pi * y)).sum(-1),)


def c04(y: Array) -> FGH:
    xp = namespace(y)
    return rastrigin(y), (-(y * xp.sin(2.0 * y)).sum(-1), (y * xp.sin(y)).sum(-1)), ()


def c05(y: Array, z1: Array, z2: Array) -> FGH:
    return rosenbrock(y), tuple(cosine_wells(z, 50.0, 2.0 * pi, 40.0) for z in (z1, z2)), ()


def c06(y: Array) -> FGH:
    xp = namespace(y)
    fast, slow = xp.sin(pi * y), (y * xp.sin(2.0 * xp.sqrt(xp.abs(y)))).sum(-1)
    f = (y * y + 20.0 * fast * fast).sum(-1)  # Rastrigin's function, as 1 - cos 2a = 2 sin^2 a: saves a sixth cosine
    h = (
        -(y * xp.sin(y)).sum(-1),
        (y * fast).sum(-1),
        -(y * xp.cos(y)).sum(-1),
        (y * xp.cos(pi * y)).sum(-1),
        slow,
        -slow,  # says the same again, and counts again
    )
    return f, (), h


def c07(y: Array) -> FGH:
    xp = namespace(y)
    h = (y - 100.0 * xp.cos(0.5 * y) + 100.0).sum(-1)
    return (y * xp.sin(y)).sum(-1), (), (h, -h)  # the second says the same again, and counts again


def c08(y: Array) -> FGH:
    return y.max(-1), (), (squares_of_partial_sums(y[..., 0::2]), squares_of_partial_sums(y[..., 1::2]))


def c09(y: Array) -> FGH:
    return y.max(-1), (y[..., 1::2].prod(-1),), (chain(y[..., 0::2]),)


def c10(y: Array) -> FGH:
    return y.max(-1), (), (squares_of_partial_sums(y), neighbour_differences(y))


def c11(y: Array) -> FGH:
    return y.sum(-1), (y.prod(-1),), (neighbour_differences(y),)


def c12(y: Array) -> FGH:
    return rastrigin(y), (4.0 - namespace(y).abs(y).sum(-1), (y * y).sum(-1) - 4.0), ()


def c13(y: Array) -> FGH:
    total = y.sum(-1)
    return rosenbrock(y), (rastrigin(y) - 100.0, total - 2.0 * y.shape[-1], 5.0 - total), ()


def c14(y: Array) -> FGH:
    """Ackley's function on the sphere of radius 2."""
    xp, d = namespace(y), y.shape[-1]
    square = y * y
    total = square.sum(-1)
    f = 20.0 - 20.0 * xp.exp(-0.2 * xp.sqrt(total / d)) - xp.exp(xp.cos(2.0 * pi * y).sum(-1) / d) + e
    return f, (square[..., 1:].sum(-1) + 1.0 - xp.abs(y[..., 0]),), (total - 4.0,)


def on_shells(f: Array, y: Array) -> FGH:
    """C15 with the objective given: it alone decides the equality."""
    xp = namespace(y)
    return f, ((y * y).sum(-1) - 100.0 * y.shape[-1],), (xp.cos(f) + xp.sin(f),)


def c15(y: Array) -> FGH:
    return on_shells(namespace(y).abs(y).max(-1), y)


def c16(y: Array) -> FGH:
    xp = namespace(y)
    f = xp.abs(y).sum(-1)
    u = xp.cos(f) + xp.sin(f)
    return f, ((y * y).sum(-1) - 100.0 * y.shape[-1],), (u * u - xp.exp(u) - 1.0 + e,)


def c17(y: Array) -> FGH:
    """Griewank's function; its constraints exclude each other."""
    xp, d = namespace(y), y.shape[-1]
    square = y * y
    total = square.sum(-1)
    waves = xp.cos(y / np.sqrt(np.arange(1, d + 1))).prod(-1)
    signs = xp.sign(xp.abs(y) - (total[..., None] - square) - 1.0)
    return total / 4000.0 - waves + 1.0, (1.0 - signs.sum(-1),), (total - 4.0 * d,)


def on_chain(links: Array, y: Array) -> FGH:
    """C18 with the chain term of its equality given."""
    xp = namespace(y)
    waves = xp.sin(pi * (y - 1.0)).prod(-1)
    g = (1.0 - xp.abs(y).sum(-1), (y * y).sum(-1) - 100.0 * y.shape[-1])
    return rastrigin(half_integers(y)), g, (100.0 * links + waves * waves,)


def c18(y: Array) -> FGH:
    return on_chain(chain(y), y)


def c19(y: Array) -> FGH:
    xp, d = namespace(y), y.shape[-1]
    square = y * y
    near = xp.exp(-0.2 * xp.sqrt(square[..., :-1] + square[..., 1:])).sum(-1)
    double = xp.sin(2.0 * y)
    # The division by exp(-5) makes the first constraint positive everywhere; every official version has it.
    g = (10.0 * (d - 1) / exp(-5.0) - 10.0 * near, (double * double).sum(-1) - 0.5 * d)
    return (xp.sqrt(xp.abs(y)) + 2.0 * xp.sin(square * y)).sum(-1), g, ()


def c20(y: Array) -> FGH:
    """A ring of neighbours; the distance itself, not its square, stands in the denominator."""
    xp = namespace(y)
    square = y * y
    r = xp.sqrt(square + xp.roll(square, -1, axis=-1))
    wave, spread = xp.sin(r), 1.0 + 0.001 * r
    f = (0.5 + (wave * wave - 0.5) / (spread * spread)).sum(-1)
    c = xp.cos(y.sum(-1))
    return f, (c * c - 0.25 * c - 0.125, xp.exp(c) - exp(0.25)), ()


CURRENT = "2024"  # the organisers' corrections of September 2024, on which MATLAB and C++ agree


def c18_chain_of_the_first_row(y: Array) -> FGH:
    return on_chain(chain(y)[:1], y)


def c09_pairs_across(y: Array) -> FGH:
    even = y[..., 1::2]
    odd = y[..., 0::2][..., : even.shape[-1]]
    link = (odd * odd - even)[..., 1:]
    return y.max(-1), (even.prod(-1),), ((link * link).sum(-1),)


def c15_without_absolute_value(y: Array) -> FGH:
    return on_shells(y.max(-1), y)


# Version -> formulas that differ from the current ones, by the problem that gives the formula its name.
HISTORICAL: Mapping[str, Mapping[str, Callable[..., FGH]]] = {
    "2016-matlab-batch": {"C18": c18_chain_of_the_first_row, "C27": c18_chain_of_the_first_row},
    "2016-cpp": {
        "C09": c09_pairs_across,
        "C15": c15_without_absolute_value,
        "C24": c15_without_absolute_value,
    },
}
VERSIONS = (CURRENT, *HISTORICAL)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The function of a problem: its formula at the shifted and transformed rows. It can be pickled and traced."""

    formula: Callable[..., FGH]
    shift: np.ndarray  # (d,)
    matrices: tuple[np.ndarray, ...]  # each (d, d)
    everything_rotated: bool

    def __call__(self, x: Array) -> tuple[Array, Array, Array]:
        xp = namespace(x)
        # NumPy sums rows in another order when they do not lie one after the other, hence order="C".
        y = np.subtract(x, self.shift, order="C") if xp is np else x - self.shift
        z = tuple(_transform(y, matrix) for matrix in self.matrices)
        f, g, h = self.formula(*z) if self.everything_rotated else self.formula(y, *z)
        return f, _columns(xp, g, f), _columns(xp, h, f)


def _transform(y: Array, matrix: np.ndarray) -> Array:
    """Return the rows M y of all rows y; in NumPy each is the same to the last bit whatever the other rows are."""
    xp = namespace(y)
    if xp is np:
        # One product per row: a product of the whole would sum in an order that depends on the number of rows.
        return np.matmul(y[:, None, :], matrix.T)[:, 0, :]
    return xp.matmul(y, matrix.T, precision="highest")


def _columns(xp: Any, columns: tuple[Array, ...], like: Array) -> Array:
    return xp.stack(columns, axis=-1) if columns else xp.zeros((*like.shape, 0), like.dtype)
