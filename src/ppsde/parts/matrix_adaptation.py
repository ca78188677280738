"""Matrix adaptation: a normal law of offspring whose mean, matrix and step size learn from the best of them.

Beyer and Sendhoff, "Simplify Your Covariance Matrix Adaptation Evolution Strategy", IEEE Transactions on Evolutionary
Computation 21 (2017); the learning rates are those of eMAg-ES, as are the numbers of its steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..arrays import Array, mended, namespace, when

LARGEST_ENTRY = 1e12  # of the matrix; beyond, it is reset
LEAST_SIGMA = 1e-200  # so that dividing by it stays possible


@dataclass(frozen=True)
class Recombination:
    """Weights of the mu best offspring, and the learning rates."""

    weights: np.ndarray  # (mu,), falling, their sum 1
    mu_w: float  # the number of equally weighted parents that would be worth as much
    c_sigma: float  # rate of the path
    c_1: float  # rate of the matrix towards the path
    c_mu: float  # rate of the matrix towards the offspring

    @property
    def mu(self) -> int:
        return len(self.weights)


@lru_cache(maxsize=64)
def recombination(mu: float, d: int) -> Recombination:
    """Weights proportional to ln(mu + 1/2) - ln i, and learning rates, for mu parents in d variables."""
    raw = np.log(mu + 0.5) - np.log(np.arange(1, mu + 1))
    weights = raw / raw.sum()
    mu_w = float(1.0 / (weights**2).sum())
    c_1 = 2.0 / ((d + 1.3) ** 2 + mu_w)
    c_mu = min(1.0 - c_1, 2.0 * (mu_w - 2.0 + 1.0 / mu_w) / ((d + 2.0) ** 2 + mu_w))
    return Recombination(weights, mu_w, (mu_w + 2.0) / (d + mu_w + 5.0), c_1, c_mu)


@dataclass(frozen=True)
class Mutation:
    """The normal law of offspring: x = mean + sigma M z, with z standard normal."""

    mean: Array  # (d,)
    M: Array  # (d, d)
    path: Array  # (d,), where the steps of the last generations led, as z
    sigma: Array

    @classmethod
    def fresh(cls, mean: Array, sigma: float) -> Mutation:
        xp: Any = namespace(mean)
        d = mean.shape[0]
        return cls(mean, xp.eye(d), xp.zeros(d), xp.asarray(float(sigma)))

    def directions(self, z: Array) -> Array:
        """M z for the rows of z (n, d)."""
        return z @ self.M.T

    def points(self, directions: Array) -> Array:
        return self.mean + self.sigma * directions

    def traced_back(self, x: Array, moved: Array, z: Array, directions: Array) -> tuple[Array, Array]:
        """z and directions (n, d); those of the `moved` (n,) points are what leads to the rows of x (n, d)."""
        xp = namespace(x)
        column = moved[:, None]
        traced = xp.where(column, (x - self.mean) / self.sigma, directions)
        return mended(moved, lambda: xp.where(column, self._sources(traced), z), z), traced

    def _sources(self, directions: Array) -> Array:
        """The z that give the directions (n, d); NaN, so that the matrix is reset, if M has no inverse."""
        try:
            return namespace(directions).linalg.solve(self.M, directions.T).T
        except np.linalg.LinAlgError:  # JAX raises nothing
            return directions * np.nan

    def learn(self, z: Array, directions: Array, valid: Array, by: Recombination, largest_sigma: float) -> Mutation:
        """The law after a generation; rows of z and directions (n, d) are sorted best first.

        Rows that are not `valid` (n,) do not count; where none is, nothing changes.
        """
        xp = namespace(z)
        w = xp.where(valid[: by.mu], by.weights, 0.0)
        total = w.sum()
        w = w / xp.where(total > 0, total, 1.0)
        return when(total > 0, lambda: self._learn(w, z[: by.mu], directions[: by.mu], by, largest_sigma), self)

    def _learn(self, w: Array, z: Array, directions: Array, by: Recombination, largest_sigma: float) -> Mutation:
        xp = namespace(z)
        d = self.mean.shape[0]
        c_s, c_1, c_mu = by.c_sigma, by.c_1, by.c_mu
        path = (1 - c_s) * self.path + np.sqrt(by.mu_w * c_s * (2 - c_s)) * (w @ z)  # step 5
        towards_path = xp.outer(self.M @ path, path)
        towards_offspring = (w[:, None] * directions).T @ z
        M = (1 - c_1 / 2 - c_mu / 2) * self.M + c_1 / 2 * towards_path + c_mu / 2 * towards_offspring  # step 6
        sound = (xp.abs(M) <= LARGEST_ENTRY).all()  # false for NaN
        M, path = xp.where(sound, M, xp.eye(d)), xp.where(sound, path, 1.0)
        growth = xp.exp(c_s / 2 * (path @ path / d - 1))  # step 7
        mean = self.mean + self.sigma * (w @ directions)  # step 4
        return Mutation(
            mean=xp.where(xp.isfinite(mean), mean, self.mean),  # it may overflow
            M=M,
            path=path,
            sigma=xp.clip(self.sigma * growth, LEAST_SIGMA, largest_sigma),
        )
