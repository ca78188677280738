"""Push and pull as a technique for any algorithm: the stages of `push_pull.py`, told of the budget instead of a count.

Deviations from "Push and pull search" (the publication says / we do / because)
  length of the push        until the objective stagnates / that, or 0.3 of the budget / small budgets
  generations               counted, of a known number / a share of the budget / populations may shrink, so that the
                            number is not known
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, namespace
from ..population import Population
from ..streams import Stream
from .census import filled
from .fixed import by_keys
from .push_pull import Stage
from .rules import Epsilon


@dataclass(frozen=True)
class Settings:
    """When the push ends and how the pull goes, as published, but for the limit of the push."""

    switch_window: int = 25
    switch_threshold: float = 1e-3
    switch_guard: float = 1e-6
    stagnation_of: str = "minimum"
    push_limit: float = 0.3
    push_growth: float = 0.0
    schedule: str = "improved"
    theta: float = 0.8  # unused by this schedule
    tau: float = 0.1
    alpha: float = 0.95
    cp: float = 2.0
    closes: float = 0.9
    pull_length: float = 0.0  # not before `closes`


SETTINGS = Settings()
LEAST = float(np.finfo(float).eps)  # the smallest share of the budget that counts as some


@dataclass(frozen=True)
class PushAndPull:
    """By the objective alone while its minimum falls, then by the improved epsilon."""

    stage: Stage
    generation: Array  # how many were made

    @classmethod
    def fresh(cls, xp: Any = np) -> PushAndPull:
        return cls(Stage.fresh(SETTINGS.switch_window, xp), xp.asarray(0))

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> Epsilon:
        return self.stage.rule

    rank = by_keys

    def after(self, population: Population, elapsed: Array) -> PushAndPull:
        G = self.generation + 1
        total = G / namespace(population.f).maximum(elapsed, LEAST)  # generations, if they go on as up to now
        return PushAndPull(self.stage.advance(G, 0, total, filled(population), SETTINGS), G)
