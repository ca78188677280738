"""A rule that stays: the technique of a run that judges by the same rule from its first generation to its last.

What most techniques share stands here too: ranks by the keys of the rule, and no state to move on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..arrays import Array
from ..population import Population
from ..streams import Stream
from .rules import Rule, ranking


def by_keys(technique: Any, rule: Rule, population: Population, rng: Stream) -> Array:
    """The `rank` of a technique that has no other order than its rule's."""
    return ranking(rule, population)


def unchanged(technique: Any, population: Population, elapsed: Array) -> Any:
    """The `after` of a technique that keeps nothing from one generation to the next."""
    return technique


@dataclass(frozen=True)
class Fixed:
    """The same rule in every generation."""

    always: Any  # a Rule, itself a frozen dataclass of arrays

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> Rule:
        rule: Rule = self.always
        return rule

    rank = by_keys
    after = unchanged
