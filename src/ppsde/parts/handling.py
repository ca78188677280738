"""Constraint handling as a setting: a table of techniques by name; a technique gives the rule of each generation.

A technique is a frozen dataclass of arrays (perhaps none) that an algorithm stores in its state:

    handling = first_handling(name, points)               # at the start, from the first population
    rule = state.handling.rule(population, elapsed, rng)  # in a generation
    rows = state.handling.rank(rule, population, rng)     # best first
    accepted = accepts(rule, trials, population)          # and `gain`, `best_of`, from parts/rules.py
    handling = state.handling.after(survivors, elapsed)   # for the next state

`elapsed` is the share of the budget used, from 0 to 1. Rows without values (failed, cut, or the dead rows of a
shrinking population) take no part in any average or quantile. Every technique judges by `violation`, the sum that
drives the search, and by nothing else of the constraints.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..arrays import Array, namespace
from ..population import Population
from ..streams import Stream
from . import epsilon, penalties
from .ensemble import Ensemble
from .push_pull import PushAndPull
from .rules import Death, Epsilon, Feasibility, Fixed, Penalty, Rule
from .stochastic import Stochastic
from .tradeoff import AdaptiveTradeOff

STATIC_LEVEL = 1e-4  # the tolerance of equalities in the CEC suites, here of the whole violation
STATIC_WEIGHT = 1e3


@runtime_checkable
class Handling(Protocol):
    """A technique in some state."""

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> Rule:
        """The rule of this generation, for the population and for the trials of its members, row for row.

        Where there are more rows, row k is judged as member k modulo n: blocks of trials, one block after another.
        """

    def rank(self, rule: Rule, population: Population, rng: Stream) -> Array:
        """The rows (n,) of the population best first, under a rule of this generation."""

    def after(self, population: Population, elapsed: Array) -> Handling:
        """The next state, from the population at the end of a generation, or from the first one."""


# Each technique in its first state, given the namespace of its arrays.
TECHNIQUES: dict[str, Callable[[Any], Handling]] = {
    "feasibility": lambda xp: Fixed(Feasibility()),
    "epsilon": epsilon.Closing.fresh,
    "epsilon-static": lambda xp: Fixed(Epsilon(xp.asarray(STATIC_LEVEL))),
    "epsilon-adaptive": epsilon.AdaptiveEpsilon.fresh,
    "epsilon-quantile": lambda xp: epsilon.Quantile(),
    "stochastic-ranking": lambda xp: Stochastic(),
    "static-penalty": lambda xp: Fixed(Penalty(xp.asarray(STATIC_WEIGHT))),
    "dynamic-penalty": penalties.Dynamic.fresh,
    "adaptive-penalty": penalties.AdaptivePenalty.fresh,
    "self-adaptive-penalty": lambda xp: penalties.SelfAdaptive(),
    "death-penalty": lambda xp: Fixed(Death()),
    "push-and-pull": PushAndPull.fresh,
    "adaptive-trade-off": lambda xp: AdaptiveTradeOff(),
    "ensemble": Ensemble.fresh,
}


def handling_of(name: str, xp: Any = np) -> Handling:
    """The technique of that name, in its first state.

    Examples
    --------
    >>> handling_of("feasibility")
    Fixed(always=Feasibility())
    """
    return TECHNIQUES[name](xp)


def first_handling(name: str, points: Population) -> Handling:
    """The technique of that name after the first population."""
    xp = namespace(points.f)
    return handling_of(name, xp).after(points, xp.asarray(0.0))


def first_ranked(fresh: Handling, points: Population, rng: Stream) -> tuple[Population, Handling]:
    """The first population ranked by a technique in its first state, and the technique after it."""
    beginning = namespace(points.f).asarray(0.0)
    rule = fresh.rule(points, beginning, rng)
    return points.take(fresh.rank(rule, points, rng)), fresh.after(points, beginning)


def check_rule(settings: Any) -> None:
    """Raise ValueError unless the setting `rule` is the name of a technique."""
    if not isinstance(settings.rule, str) or settings.rule not in TECHNIQUES:
        raise ValueError(f"rule must be one of {', '.join(map(repr, TECHNIQUES))}; got {settings.rule!r}")
