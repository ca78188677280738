"""Constraint handling as a setting: a table of techniques by name, each giving the rule of a generation.

A technique is a frozen dataclass of arrays (perhaps none) that an algorithm keeps in its state:

    rule = state.handling.rule(population, elapsed, rng)       # at the start of a generation
    rows = state.handling.rank(rule, population, rng)          # best first
    accepted = accepts(rule, trials, population)               # and `gain`, `best_of`, from parts/rules.py
    handling = state.handling.after(population, elapsed)       # for the next state, from the population that survived

`elapsed` is the share of the budget used, from 0 to 1. Rows without values (failed, cut, or the dead rows of a
shrinking population) take no part in any average or quantile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ..arrays import Array
from ..population import Population
from ..streams import Stream
from .epsilon_levels import Closing, Quantile
from .fixed import Fixed
from .rules import Epsilon, Feasibility, Penalty, Rule

STATIC_LEVEL = 1e-4  # what an equality may be missed by in the CEC suites, here for the whole violation
STATIC_WEIGHT = 1e3


class Handling(Protocol):
    """A technique in some state."""

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> Rule:
        """The rule of this generation, for the rows of the population and the trials made of them, row for row.

        Of points with more rows, row k is judged like row k modulo n: blocks of trials, one block after another.
        """

    def rank(self, rule: Rule, population: Population, rng: Stream) -> Array:
        """The rows (n,) of the population best first, under a rule of this generation."""

    def after(self, population: Population, elapsed: Array) -> Handling:
        """The next state, from the population at the end of a generation."""


# How each technique starts, given the size of the population and the namespace of its arrays.
TECHNIQUES: dict[str, Callable[[int, Any], Handling]] = {
    "feasibility": lambda n, xp: Fixed(Feasibility()),
    "epsilon": lambda n, xp: Closing.fresh(xp),
    "epsilon-static": lambda n, xp: Fixed(Epsilon(xp.asarray(STATIC_LEVEL))),
    "epsilon-quantile": lambda n, xp: Quantile(),
    "static-penalty": lambda n, xp: Fixed(Penalty(xp.asarray(STATIC_WEIGHT))),
}


def handling_of(name: str, n: int, xp: Any = np) -> Handling:
    """The technique of that name for a population of n rows, in its first state.

    Examples
    --------
    >>> handling_of("feasibility", 50)
    Fixed(always=Feasibility())
    """
    return TECHNIQUES[name](n, xp)


def check_rule(settings: Any) -> None:
    """The setting `rule` must be the name of a technique."""
    if settings.rule not in TECHNIQUES:
        raise ValueError(f"rule must be one of {', '.join(map(repr, TECHNIQUES))}; got {settings.rule!r}")
