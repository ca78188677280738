"""Generated problems with proved optima, on which a method can be judged that was not chosen on them.

A shape phi, at least 0 and 0 at a random point, is turned at random and tilted: f = phi + c'(x - x*). Inequalities
s (q(x) - a'(x - x*)) <= 0 with q >= 0 and q(x*) = 0 hold the tilt, because c is a positive sum of their a: wherever
they hold, f >= phi >= 0 = f(x*), however bent they are. Others do not touch x*, and equalities pass through it.
Constraints have sizes s from 0.01 to 1000.

The instance is the seed of all random numbers: 1 is for development, the others are set aside.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ppsde.problem import Optimum, Problem
from ppsde.suites import Suite

WIDTH = 5.0  # the box is [-WIDTH, WIDTH] in each variable
DIMENSIONS = (3, 8, 20)


def powers(d: int, largest: float) -> np.ndarray:
    """Return d numbers from 1 to the largest, in equal ratios."""
    return largest ** (np.arange(d) / max(d - 1, 1))


def ellipsoid(z: np.ndarray) -> np.ndarray:
    return (powers(z.shape[1], 1e6) * z**2).sum(axis=1) * 1e-3


def cigar(z: np.ndarray) -> np.ndarray:
    return 1e-2 * z[:, 0] ** 2 + 1e2 * (z[:, 1:] ** 2).sum(axis=1)


def valley(z: np.ndarray) -> np.ndarray:
    y = 0.5 * z + 1.0
    return (100.0 * (y[:, 1:] - y[:, :-1] ** 2) ** 2 + (1.0 - y[:, :-1]) ** 2).sum(axis=1)


def flat(z: np.ndarray) -> np.ndarray:
    return (np.abs(z) ** (2.0 + 4.0 * np.arange(z.shape[1]) / max(z.shape[1] - 1, 1))).sum(axis=1)


def kinks(z: np.ndarray) -> np.ndarray:
    return (powers(z.shape[1], 1e2) * np.abs(z)).sum(axis=1)


def pyramid(z: np.ndarray) -> np.ndarray:
    return 10.0 * np.abs(powers(z.shape[1], 10.0) * z).max(axis=1)


def ripples(z: np.ndarray) -> np.ndarray:
    return (z**2 + 1.0 - np.cos(2.0 * np.pi * z)).sum(axis=1)


def holes(z: np.ndarray) -> np.ndarray:
    return (2.0 * z**2 + 10.0 - 10.0 * np.cos(2.0 * np.pi * z)).sum(axis=1)


def funnels(z: np.ndarray) -> np.ndarray:
    other = ((z - 2.5) ** 2).sum(axis=1) + 0.5 * z.shape[1]
    return np.minimum((z**2).sum(axis=1) * 2.0, other) + 0.3 * (1.0 - np.cos(3.0 * z)).sum(axis=1)


def curved(z: np.ndarray) -> np.ndarray:
    s = z.sum(axis=1)
    return np.expm1(np.clip((z**2).sum(axis=1) / 10.0, 0.0, 50.0)) + (s + 0.3 * z[:, 0] ** 2) ** 2


SHAPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    shape.__name__: shape for shape in (ellipsoid, cigar, valley, flat, kinks, pyramid, ripples, holes, funnels, curved)
}
KINDS = ("few", "many", "equal")  # constraints


def build(name: str, dimension: int | None = None, instance: int = 1) -> Problem:
    """Return the problem SHAPE-KIND-D of an instance."""
    shape, kind, size = name.split("-")
    d = int(size)
    if dimension not in (None, d):
        raise ValueError(f"{name} has dimension {d}; got {dimension}")
    rng = np.random.default_rng([instance, list(SHAPES).index(shape), KINDS.index(kind), d])
    best = rng.uniform(-0.6 * WIDTH, 0.6 * WIDTH, d)
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    active, idle, equal = {"few": (2, 1, 0), "many": (d, d, 0), "equal": (1, 2, max(1, d // 3))}[kind]

    def units(n: int) -> np.ndarray:
        rows = rng.normal(size=(n, d))
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    a, b, e = units(active), units(idle), units(equal)
    bent_a = 10.0 ** rng.uniform(-3.0, -0.5) * rng.random((active, d))
    bent_e = rng.normal(0.0, 0.2, (equal, d))
    tilt = 10.0 ** rng.uniform(-0.5, 1.5, active) @ a
    room = rng.uniform(0.2, 3.0, idle)
    s_a, s_b, s_e = (10.0 ** rng.uniform(-2.0, 3.0, n) for n in (active, idle, equal))
    if kind == "many":
        bent_a = np.zeros_like(bent_a)
    base = 10.0 ** rng.uniform(-1.0, 3.0)

    def fun(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        y = x - best
        square = y**2
        f = base + SHAPES[shape](y @ turn) + y @ tilt
        held = s_a * (square @ bent_a.T - y @ a.T)
        others = s_b * (y @ b.T + 0.02 * square.sum(axis=1, keepdims=True) - room)
        h = s_e * (y @ e.T + square @ bent_e.T)
        return f, np.concatenate([held, others], axis=1), h

    return Problem(
        fun,
        [(-WIDTH, WIDTH)] * d,
        n_ineq=active + idle,
        n_eq=equal,
        vectorized=True,
        name=name,
        optimum=Optimum(base, "proved", x=best),
    )


SUITE = Suite(
    name="generated",
    description="generated problems with proved optima",
    names=tuple(f"{shape}-{kind}-{d}" for d in DIMENSIONS for shape in SHAPES for kind in KINDS),
    build=build,
    budget=lambda d: 1000 * d,
)
