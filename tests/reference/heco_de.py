"""HECO-DE as a reading copy: slow, literal, a member at a time; the oracle of the fast version."""

from __future__ import annotations

import math
from dataclasses import asdict
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from .lshade44 import ReferenceLSHADE44
from .single_points import Point, in_order


class ReferenceHECODE(ReferenceLSHADE44):
    """Trials, counts and memories are those of LSHADE44, with the drawn members in place of the population."""

    def __init__(self, settings: Any, *args: Any) -> None:
        super().__init__(SimpleNamespace(**asdict(settings), CR_deviation=0.1, randrl="ranked"), *args)
        self.rows = settings.subproblems  # for which draws are made

    def start(self, rng: Any) -> None:
        self.everyone = self.points_anywhere(self.N_init, rng)
        self.FES = self.N_init

    def most_archived(self, N: int) -> int:
        return super().most_archived(self.settings.subproblems)

    def generation(self, rng: Any) -> None:
        S, L = self.settings, self.settings.subproblems
        self.G += 1
        u = rng.uniform(self.N_init)
        drawn = sorted(range(len(self.everyone)), key=lambda k: u[k])[:L]
        f_best = in_order(self.everyone)[0].f
        ranked = sorted(range(L), key=lambda k: e(self.everyone[drawn[k]], f_best))
        drawn, i = [drawn[k] for k in ranked], [k + 1 for k in ranked]
        self.population = [self.everyone[k] for k in drawn]
        y, k, F, CR = self.trials(self.draws(rng))
        children = [self.judge(y_k) for y_k in y]
        self.FES += L
        t = min(self.FES / self.max_evaluations, 1.0)
        scale = [scaled([o(p, f_best) for p in [*self.population, *children]]) for o in (e, f_of, v_of)]
        sums: dict[int, float] = {}
        for m, p in enumerate([*self.population, *children]):
            i_m = i[m % L]
            late, early = t ** (S.bias * i_m), (1 - t) ** (S.bias * i_m)
            w = late, (1 - i_m / L) * early, i_m / L * early
            sums[m] = math.inf if p.failed else sum(w_o * o[m] for w_o, o in zip(w, scale, strict=True))
        at = {id(p): m for m, p in enumerate([*self.population, *children])}

        def succeeds(child: Point, parent: Point) -> bool:
            return not child.failed and sums[at[id(child)]] <= sums[at[id(parent)]]

        def gain(child: Point, parent: Point) -> float:
            return sums[at[id(parent)]] - sums[at[id(child)]]

        after = self.select(children, k, F, CR, succeeds, gain, rng.uniform(self.rows))
        for place, p in zip(drawn, after, strict=True):
            self.everyone[place] = p
        f_best = in_order(self.everyone)[0].f
        N_new = math.ceil(
            self.N_init - (self.N_init - L) * Fraction(min(self.FES, self.max_evaluations), self.max_evaluations)
        )
        self.everyone = sorted(self.everyone, key=lambda p: (e(p, f_best), p.failed))[:N_new]


def e(p: Point, f_best: float) -> float:
    return abs(p.f - f_best) + p.phi if p.f < math.inf else math.inf


def f_of(p: Point, f_best: float) -> float:
    return p.f


def v_of(p: Point, f_best: float) -> float:
    return p.phi


def scaled(values: list[float]) -> list[float]:
    """From 0 to 1; infinite values count as the largest."""
    known = [v for v in values if v < math.inf] or [0.0]
    width = max(known) - min(known) or 1.0
    return [(v - min(known)) / width if v < math.inf else 1.0 for v in values]
