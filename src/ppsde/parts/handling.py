"""Constraint handling as a setting: a table of techniques by name; a technique gives the rule of each generation.

The setting `rule` of an algorithm is a name of the table, FILE.py:NAME, the name of an entry point, or a technique or
rule itself. A text may have parameters: "static-penalty(weight=100)".

A technique is a frozen dataclass of arrays (perhaps none) that an algorithm stores in its state:

    handling = first_handling(self.rule, points, task)    # at the start, from the first population
    rule = state.handling.rule(population, elapsed, rng)  # in a generation
    rows = state.handling.rank(rule, population, rng)     # best first
    accepted = accepts(rule, trials, population)          # and `gain`, `best_of`, from parts/rules.py
    handling = state.handling.after(survivors, elapsed)   # for the next state

`elapsed` is the share of the budget used, from 0 to 1. Rows without values (failed, cut, or the dead rows of a
shrinking population) take no part in any average or quantile. Most techniques judge by `violation`, the sum that drives
the search. One that reads single constraints, `g` and `h` of points, has `needs_constraint_values`.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..algorithm import Task
from ..arrays import Array, is_setting, is_traced, namespace
from ..lookup import Table, did_you_mean, in_words
from ..population import Population
from ..streams import JaxStream, NumpyStream, Stream, root_key
from . import dominance, epsilon, penalties
from .cai_wang import CaiWang
from .ensemble import Ensemble
from .infeasibility_driven import InfeasibilityDriven
from .push_pull import PushAndPull
from .rules import Death, Epsilon, Feasibility, Fixed, Penalty, Rule
from .stochastic import Stochastic
from .tradeoff import AdaptiveTradeOff


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


RuleOrName = str | Handling | Rule  # also a class of these


@dataclass(frozen=True)
class Maker:
    """Makes a technique in its first state, from a namespace and parameters."""

    make: Callable[..., Any]  # of xp and the parameters; a technique, or a rule for every generation
    parameters: tuple[str, ...]
    needs_constraint_values: bool  # g and h of each point

    def __call__(self, xp: Any = np, **parameters: Any) -> Handling:
        made = self.make(xp, **parameters)
        if not is_technique(made) and is_rule(made):
            made = Fixed(made)
        if not is_technique(made):
            raise ValueError(f"it gives {type(made).__name__}, neither a technique nor a rule")
        technique: Handling = made
        return technique


def is_technique(thing: Any) -> bool:
    """Whether a thing, or a class, has the methods of a technique."""
    return all(callable(getattr(thing, name, None)) for name in ("rule", "rank", "after"))


def is_rule(thing: Any) -> bool:
    """Whether a thing, or a class, has the method of a rule."""
    return callable(getattr(thing, "keys", None)) and not isinstance(thing, Mapping)


def _checked(thing: Any, what: str) -> Maker:
    """The maker of a technique or rule: a class of one, an object, or a function of xp; ValueError if it is none."""
    reads = bool(getattr(thing, "needs_constraint_values", False))
    if isinstance(thing, Maker):
        return thing
    if isinstance(thing, type) and (is_technique(thing) or is_rule(thing)):
        fresh = getattr(thing, "fresh", None)
        if fresh is not None:
            return Maker(fresh, _parameters(fresh, thing)[1:], reads)
        return Maker(lambda xp, **parameters: thing(**parameters), _parameters(thing, thing), reads)
    if is_technique(thing) or is_rule(thing):
        return Maker(lambda xp: thing, (), reads)
    if callable(thing) and not isinstance(thing, type):
        return Maker(thing, _parameters(thing)[1:], reads)
    raise ValueError(
        f"{what} must be a technique (with rule, rank and after), a rule (with keys), a class of one, or a function "
        "of xp that makes one"
    )


def _parameters(function: Callable[..., Any], kind: Any = None) -> tuple[str, ...]:
    """The names of the parameters of a function; for further ones by keyword, those of the settings of its class."""
    found = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            found += [entry.name for entry in fields(kind) if is_setting(entry)] if is_dataclass(kind) else []
        elif parameter.kind is not parameter.VAR_POSITIONAL:
            found.append(parameter.name)
    return tuple(found)


def _static_epsilon(xp: Any, level: float = 1e-4) -> Fixed:
    """The level is the tolerance of equalities in the CEC suites, here of the whole violation."""
    return Fixed(Epsilon(xp.asarray(float(level))))


def _static_penalty(xp: Any, weight: float = 1e3) -> Fixed:
    return Fixed(Penalty(xp.asarray(float(weight))))


RULES = Table(
    "rule",
    "ppsde.rules",
    {
        "feasibility": Feasibility,
        "epsilon": epsilon.Closing,
        "epsilon-static": _static_epsilon,
        "epsilon-adaptive": epsilon.AdaptiveEpsilon,
        "epsilon-quantile": epsilon.Quantile,
        "stochastic-ranking": Stochastic,
        "static-penalty": _static_penalty,
        "level-penalty": penalties.LevelPenalty,
        "dynamic-penalty": penalties.Dynamic,
        "near-feasible-penalty": penalties.NearFeasible,
        "adaptive-penalty": penalties.AdaptivePenalty,
        "self-adaptive-penalty": penalties.SelfAdaptive,
        "death-penalty": Death,
        "push-and-pull": PushAndPull,
        "pareto": dominance.Pareto,
        "pareto-constraints": dominance.ParetoConstraints,
        "cw": CaiWang,
        "idea": InfeasibilityDriven,
        "adaptive-trade-off": AdaptiveTradeOff,
        "ensemble": Ensemble,
        "ensemble-of-three": Maker(partial(Ensemble.fresh, coins=False), ("tolerance",), True),
    },
    __package__,
    _checked,
)


def parsed(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the parameters in the text of a rule; ValueError if it cannot be read.

    Examples
    --------
    >>> parsed("static-penalty(weight=100)")
    ('static-penalty', {'weight': 100})
    """
    name, bracket, _ = text.partition("(")
    if not bracket:
        return text, {}
    try:
        call = ast.parse(re.sub(r"^[^(]*", "f", text, count=1), mode="eval").body
        if not isinstance(call, ast.Call) or call.args or any(word.arg is None for word in call.keywords):
            raise ValueError
        return name.strip(), {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (ValueError, SyntaxError):
        raise ValueError(f"rule must be NAME or NAME(parameter=value, ...); got {text!r}") from None


def maker_of(rule: Any) -> tuple[Maker, dict[str, Any]]:
    """The maker of a rule, of its text or as an object, and the parameters given; ValueError if it is none."""
    name, given = parsed(rule) if isinstance(rule, str) else (rule, {})
    maker: Maker = RULES.find(name)
    for parameter in given:
        if parameter not in maker.parameters:
            has = f"it has {', '.join(maker.parameters)}" if maker.parameters else "it has none"
            raise ValueError(
                f"unknown parameter {parameter!r} of rule {name!r}; {has}{did_you_mean(parameter, maker.parameters)}"
            )
    return maker, given


def handling_of(rule: Any, xp: Any = np, task: Task | None = None) -> Handling:
    """The technique of a rule, in its first state; a parameter `tolerance` that is not given is that of the task.

    Examples
    --------
    >>> handling_of("feasibility")
    Fixed(always=Feasibility())
    >>> handling_of("epsilon-quantile(theta=0.5)")
    Quantile(theta=0.5, cp=2.0, closes=0.8)
    """
    maker, given = maker_of(rule)
    if task is not None and "tolerance" in maker.parameters:
        given = {"tolerance": task.tolerance, **given}
    return maker(xp, **given)


def first_handling(rule: Any, points: Population, task: Task | None = None) -> Handling:
    """The technique of a rule after the first population."""
    xp = namespace(points.f)
    fresh = handling_of(rule, xp, task)
    check_own(fresh, points)
    return fresh.after(points, xp.asarray(0.0))


def first_ranked(fresh: Handling, points: Population, rng: Stream) -> tuple[Population, Handling]:
    """The first population ranked by a technique in its first state, and the technique after it."""
    check_own(fresh, points)
    beginning = namespace(points.f).asarray(0.0)
    rule = fresh.rule(points, beginning, rng)
    return points.take(fresh.rank(rule, points, rng)), fresh.after(points, beginning)


def is_own(fresh: Handling) -> bool:
    """Whether a technique, or the rule in it, is not of this package."""
    return not type(_inner(fresh)).__module__.startswith("ppsde.")


def _inner(fresh: Handling) -> Any:
    return fresh.always if isinstance(fresh, Fixed) else fresh


def check_own(fresh: Handling, points: Population) -> None:
    """Raise ValueError if a technique or rule that is not of this package cannot judge these points.

    It has a random stream of its own, so that this changes no result. While JAX traces a program there are no numbers
    to look at, only shapes.
    """
    if not is_own(fresh):
        return
    own, xp = _inner(fresh), namespace(points.f)
    known = not is_traced(points.f)
    what, n, beginning = f"rule {type(own).__name__!r}", points.size, xp.asarray(0.0)
    stream: Stream = NumpyStream(0) if xp is np else JaxStream(root_key(0))
    with _in_a_sentence(own, f"{what} fails"):
        rule = fresh.rule(points, beginning, stream)
        keys: Any = rule.keys(points)
    if not isinstance(keys, tuple) or [getattr(key, "shape", None) for key in keys] != [(n,), (n,)]:
        raise ValueError(f"{what}: its `keys` must return two arrays ({n},) for {n} points; got {_shape_of(keys)}")
    if known and points.valid.any() and any(np.isnan(key[points.valid]).all() for key in keys):
        raise ValueError(f"{what}: its `keys` must be numbers; one of the two is NaN for every point")
    if own is fresh:
        with _in_a_sentence(own, f"{what} fails"):
            rows, after = fresh.rank(rule, points, stream), fresh.after(points, beginning)
        if known and sorted(np.ravel(rows).tolist()) != list(range(n)):
            raise ValueError(
                f"{what}: its `rank` must return the rows 0 to {n - 1} in some order; got {np.asarray(rows)!r}"
            )
        if not is_technique(after):
            raise ValueError(f"{what}: its `after` must return a technique; got {type(after).__name__}")


def _shape_of(thing: Any) -> str:
    """The kind of a thing in words: arrays with their shapes, a tuple with its parts."""
    if isinstance(thing, tuple):
        return f"({', '.join(map(_shape_of, thing))})"
    shape = getattr(thing, "shape", None)
    return type(thing).__name__ if shape is None else f"an array {tuple(shape)}"


@contextmanager
def _in_a_sentence(own: Any, what: str) -> Iterator[None]:
    """Turn an error of a rule into a ValueError that begins with `what` and, if it is the user's, says the line."""
    try:
        yield
    except Exception as error:
        kind = own if isinstance(own, type) or inspect.isroutine(own) else type(own)
        file = getattr(sys.modules.get(kind.__module__), "__file__", None)
        ours = isinstance(error, ValueError) or kind.__module__.startswith("ppsde.")
        said = str(error) if ours else in_words(error, None if file is None else Path(file))
        raise ValueError(f"{what}: {said}") from error


def check_rule(settings: Any) -> None:
    """Raise ValueError unless the setting `rule` is a rule: a text, a technique, a rule, or a class of one."""
    rule = settings.rule
    maker, given = maker_of(rule)
    shown = rule if isinstance(rule, str) else getattr(rule, "__name__", type(rule).__name__)
    with _in_a_sentence(maker.make if isinstance(rule, str) else rule, f"rule {shown!r} is not possible"):
        maker(np, **given)
        hash(rule)


def reads_constraints(algorithm: Any) -> bool:
    """Whether an algorithm, or the rule it is set to, needs g and h of each point."""
    if getattr(algorithm, "needs_constraint_values", False):
        return True
    rule = getattr(algorithm, "rule", None)
    return rule is not None and maker_of(rule)[0].needs_constraint_values
