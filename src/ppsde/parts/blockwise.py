"""A rule for blocks of trials: each block is judged as a population of its own."""

from __future__ import annotations

from dataclasses import dataclass

from ..arrays import namespace
from ..population import Scores
from .rules import Keys, Points, Rule


@dataclass(frozen=True)
class Blockwise:
    """A rule that treats members differently treats row k of every block of `size` rows like member k."""

    rule: Rule
    size: int

    def keys(self, points: Points) -> Keys:
        xp = namespace(points.f)
        blocks = [slice(k, k + self.size) for k in range(0, points.f.shape[0], self.size)]
        keys = [self.rule.keys(Scores(points.f[block], points.violation[block])) for block in blocks]
        first, second = (xp.concatenate(column) for column in zip(*keys, strict=True))
        return first, second
