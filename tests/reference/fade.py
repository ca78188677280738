"""FADE as a reading copy: slow, literal, a point at a time; the oracle of the fast version."""

from __future__ import annotations

import math
from typing import Any

from .differential_evolution import ReferenceDE, binomial
from .literal_run import Vector
from .single_points import Point, draw_others

SETS = ("small", "medium", "big")
# Width and centres of the fuzzy sets.
D11, D12, F_OUT = (0.25, (0.05, 0.5, 0.9)), (0.35, (0.01, 0.5, 0.9)), (0.5, (0.3, 0.6, 0.9))
D21, D22, CR_OUT = (0.5, (0.1, 0.8, 1.5)), (0.5, (0.1, 0.8, 1.5)), (0.35, (0.4, 0.7, 1.0))
# If PC is .. and FC is .. then the parameter is ..
RULES = [
    ("small", "small", "small"),
    ("small", "medium", "medium"),
    ("small", "big", "big"),
    ("medium", "small", "medium"),
    ("medium", "medium", "medium"),
    ("medium", "big", "big"),
    ("big", "small", "big"),
    ("big", "medium", "big"),
    ("big", "big", "big"),
]


def belongs(value: float, sets: tuple[float, tuple[float, ...]], name: str) -> float:
    width, centres = sets
    return math.exp(-((value - centres[SETS.index(name)]) ** 2) / (2 * width**2))


def inferred(first: float, second: float, sets_1: Any, sets_2: Any, output: Any, largest: float) -> float:
    """The centroid of the largest of the conclusions, each cut off at the strength of its rule."""
    above = below = 0.0
    for k in range(101):
        value = k * largest / 100
        share = 0.0
        for if_first, if_second, then in RULES:
            strength = min(belongs(first, sets_1, if_first), belongs(second, sets_2, if_second))
            share = max(share, min(strength, belongs(value, output, then)))
        above += value * share
        below += share
    return above / below


class ReferenceFADE(ReferenceDE):
    def begin(self, rng: Any) -> None:
        self.F, self.CR = self.settings.F, self.settings.CR

    def generation(self, rng: Any) -> None:
        self.before = self.population
        super().generation(rng)

    def trials(self, rng: Any) -> list[Vector]:
        u_parents = rng.uniform(3, self.NP)
        u_certain = rng.uniform(self.NP)
        u_cross = rng.uniform(self.NP, self.d)
        u_repair = rng.uniform(self.NP, self.d) if self.settings.repair == "resample" else [None] * self.NP
        made = []
        for i in range(self.NP):
            x1, x2, x3 = (self.population[r].x for r in draw_others(u_parents[:, i], self.NP, i))
            v = [x1[j] + self.F * (x2[j] - x3[j]) for j in range(self.d)]
            x = self.population[i].x
            y = binomial(v, x, self.CR, u_cross[i], math.floor(u_certain[i] * self.d))
            made.append(self.in_box(self.settings.repair, y, x, u_repair[i]))
        return made

    def learn(self, won: list[bool]) -> None:
        pairs: list[tuple[Point, Point]] = list(zip(self.population, self.before, strict=True))
        known = [(new.f, old.f) for new, old in pairs if math.isfinite(new.f) and math.isfinite(old.f)]
        PC = math.sqrt(sum((a - b) ** 2 for new, old in pairs for a, b in zip(new.x, old.x, strict=True)) / self.NP)
        FC = math.sqrt(sum((a - b) ** 2 for a, b in known) / self.NP)
        d11, d12 = (1 - (1 + change) * math.exp(-change) for change in (PC, FC))
        self.F = inferred(d11, d12, D11, D12, F_OUT, 2.0)
        self.CR = inferred(2 * d11, 2 * d12, D21, D22, CR_OUT, 1.0)
