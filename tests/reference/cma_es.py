"""CMA-ES as a reading copy: slow, literal, a point at a time; the oracle of the fast version.

Offspring are ranked by the feasibility rule. Roots of matrices are SciPy's.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import inv, sqrtm

from .literal_run import LiteralRun
from .single_points import in_order


class ReferenceCMAES(LiteralRun):
    def start(self, rng: Any) -> None:
        d = self.d
        self.n = self.settings.population_size or 4 + math.floor(3 * math.log(d))
        self.G = 0
        self.mu = self.n // 2
        raw = [math.log((self.n + 1) / 2) - math.log(i) for i in range(1, self.mu + 1)]
        self.w = [value / sum(raw) for value in raw]
        self.population = in_order(self.points_anywhere(self.n, rng))
        w = self.weights() or [1 / self.mu] * self.mu
        units = [self.unit(p.x) for p in self.population]
        self.m = [sum(w[i] * units[i][j] for i in range(self.mu)) for j in range(d)]
        self.sigma = self.settings.sigma
        self.C = np.eye(d)
        self.p_c, self.p_sigma = np.zeros(d), np.zeros(d)

    def unit(self, x: list[float]) -> list[float]:
        return [(x[j] - self.lower[j]) / (self.upper[j] - self.lower[j]) for j in range(self.d)]

    def weights(self) -> list[float] | None:
        """The weights of the first offspring that have values, their sum 1; None if there are none."""
        w = [0.0 if p.failed else w_i for p, w_i in zip(self.population, self.w, strict=False)]
        return [value / sum(w) for value in w] if sum(w) > 0 else None

    def generation(self, rng: Any) -> None:
        d = self.d
        z = rng.normal(self.n, d)
        A = np.real(sqrtm(self.C))
        made = []
        for i in range(self.n):
            u = [float(self.m[j] + self.sigma * (A @ z[i])[j]) for j in range(d)]
            u = [folded(value) for value in u]
            x = [min(self.lower[j] + u[j] * (self.upper[j] - self.lower[j]), self.upper[j]) for j in range(d)]
            made.append((self.judge(x), u))
        made.sort(key=lambda pair: (pair[0].phi, pair[0].f))
        self.population = [point for point, _ in made]
        self.G += 1
        w = self.weights()
        if w is not None:
            self.learn(w, [u for _, u in made], A)

    def learn(self, w: list[float], units: list[list[float]], A: Any) -> None:
        d = self.d
        mu_eff = 1 / sum(value**2 for value in self.w)
        c_sigma = (mu_eff + 2) / (d + mu_eff + 5)
        d_sigma = 1 + 2 * max(0.0, math.sqrt((mu_eff - 1) / (d + 1)) - 1) + c_sigma
        c_c = (4 + mu_eff / d) / (d + 4 + 2 * mu_eff / d)
        c_1 = 2 / ((d + 1.3) ** 2 + mu_eff)
        c_mu = min(1 - c_1, 2 * (mu_eff - 2 + 1 / mu_eff) / ((d + 2) ** 2 + mu_eff))
        chi = math.sqrt(d) * (1 - 1 / (4 * d) + 1 / (21 * d**2))

        y = [(np.array(units[i]) - self.m) / self.sigma for i in range(self.mu)]
        y_w = sum(w[i] * y[i] for i in range(self.mu))
        self.p_sigma = (1 - c_sigma) * self.p_sigma + math.sqrt(c_sigma * (2 - c_sigma) * mu_eff) * (inv(A) @ y_w)
        length = float(np.linalg.norm(self.p_sigma))
        h = 1 if length / math.sqrt(1 - (1 - c_sigma) ** (2 * self.G)) < (1.4 + 2 / (d + 1)) * chi else 0
        self.p_c = (1 - c_c) * self.p_c + h * math.sqrt(c_c * (2 - c_c) * mu_eff) * y_w
        C = (1 - c_1 - c_mu) * self.C
        C = C + c_1 * (np.outer(self.p_c, self.p_c) + (1 - h) * c_c * (2 - c_c) * self.C)
        self.C = C + c_mu * sum(w[i] * np.outer(y[i], y[i]) for i in range(self.mu))
        self.m = [sum(w[i] * units[i][j] for i in range(self.mu)) for j in range(d)]
        self.sigma *= math.exp(min(c_sigma / d_sigma * (length / chi - 1), 1.0))


def folded(u: float) -> float:
    """Mirrored at 0 or 1, by the distance less whole units."""
    if u < 0:
        return -u % 1.0
    return 1.0 - (u - 1.0) % 1.0 if u > 1 else u
