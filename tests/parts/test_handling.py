"""What holds for every technique: names, points without values, both namespaces, and states that a loop can carry."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from handmade import LOST, points
from hypothesis import given, note, settings
from hypothesis import strategies as st

from ppsde.parts.handling import RULES, Handling, check_rule, handling_of
from ppsde.parts.rules import Epsilon, Feasibility, Penalty, accepts, gain, ranking
from ppsde.population import Population, choose, evaluated
from ppsde.streams import JaxStream, NumpyStream

every_technique = pytest.mark.parametrize("name", RULES)


@dataclass(frozen=True)
class Settings:
    rule: Any


@every_technique
def test_a_known_name_passes_the_check(name: str) -> None:
    check_rule(Settings(name))


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("", f"unknown rule ''; expected one of {', '.join(RULES)}, or FILE.py:NAME"),
        ("Epsilon", f"unknown rule 'Epsilon'; expected one of {', '.join(RULES)}, or FILE.py:NAME; did you mean 'eps"),
        ("epsilon(0.1)", "rule must be NAME or NAME(parameter=value, ...); got 'epsilon(0.1)'"),
        ("epsilon(cp=open)", "rule must be NAME or NAME(parameter=value, ...); got 'epsilon(cp=open)'"),
        ("epsilon(cp=2", "rule must be NAME or NAME(parameter=value, ...); got 'epsilon(cp=2'"),
        ("epsilon(pc=2)", "unknown parameter 'pc' of rule 'epsilon'; it has theta, cp, closes"),
        ("death-penalty(weight=2)", "unknown parameter 'weight' of rule 'death-penalty'; it has none"),
        (
            "static-penalty(weight='much')",
            "rule \"static-penalty(weight='much')\" is not possible: could not convert string to float: 'much'",
        ),
        ("static-penalty(weight=[1])", "rule 'static-penalty(weight=[1])' is not possible: float() argument must be"),
        (3, "rule of type int must be a technique (with rule, rank and after), a rule (with keys), a class of one"),
        (None, "rule of type NoneType must be a technique"),
        ({"epsilon": 1}, "rule of type dict must be a technique"),
        (lambda xp: 3, "rule '<lambda>' is not possible: it gives int, neither a technique nor a rule"),
        ("nowhere.py:Rule", "there is no file 'nowhere.py'"),
    ],
)
def test_a_rule_that_is_none_is_an_error_of_one_sentence(rule: Any, message: str) -> None:
    with pytest.raises(ValueError) as error:
        check_rule(Settings(rule))
    assert str(error.value).startswith(message) and "\n" not in str(error.value)


def test_every_parameter_of_a_rule_has_an_effect() -> None:
    given = {"level": 0.7, "weight": 5.0, "window": 3, "start": 5.0, "probability": 0.1, "coins": False}
    given |= {"limits": (0.5, 1.0, 2.0), "weights": (1.0, 2.0, 3.0, 4.0)}
    for name in RULES:
        for parameter in RULES[name].parameters:
            other = handling_of(f"{name}({parameter}={given.get(parameter, 0.3)})")
            assert repr(other) != repr(handling_of(name)), (name, parameter)


class Objective:
    """A rule of a user's: the objective alone."""

    def keys(self, points: Any) -> Any:
        return np.where(points.valid, 0.0, np.inf), points.f


@pytest.mark.parametrize("given", [Objective, Objective(), lambda xp: Objective()])
def test_a_rule_can_be_a_class_an_object_or_a_function(given: Any) -> None:
    rule = handling_of(given).rule(points((0, 5), (1, 2)), np.asarray(0.5), NumpyStream(1))
    assert ranking(rule, points((0, 5), (1, 2), LOST)).tolist() == [1, 0, 2]


def test_the_fixed_techniques_are_the_rules_they_are_named_for() -> None:
    table = points((0.5, 1), (0, 5), (1e-4, 2), (2e-4, 0), LOST)
    rules = {"feasibility": Feasibility(), "epsilon-static": Epsilon(1e-4), "static-penalty": Penalty(1000.0)}
    for name, rule in rules.items():
        ours = handling_of(name).rule(table, np.asarray(0.5), NumpyStream(1))
        for a, b in zip(ours.keys(table), rule.keys(table), strict=True):
            assert a.tolist() == b.tolist()


# Points without values

number = st.sampled_from([0.0, 1e-9, 0.5, 1.0, 3.0, 1e6, 1e308])
bad = st.sampled_from([np.nan, np.inf, -np.inf])
row = st.one_of(
    st.tuples(number, number.map(lambda v: -v) | number | st.just(np.inf)),
    st.tuples(bad, number),
    st.tuples(number, st.sampled_from([np.nan, -np.inf])),
)


def valued(rows: list[tuple[float, float]]) -> Population:
    """Points as evaluation makes them of constraints g and objectives f."""
    g, f = np.array(rows).T
    return evaluated(np.zeros((len(f), 1)), f, g[:, None], np.zeros((len(f), 0)), 1e-4)


# Making an example takes longer than trying it, so each is tried with all techniques.


@settings(max_examples=60)
@given(data=st.data(), elapsed=st.sampled_from([0.0, 0.1, 0.5, 0.85, 1.0]), seed=st.integers(0, 9))
def test_points_without_values_come_last_and_are_never_accepted(data: st.DataObject, elapsed: float, seed: int) -> None:
    n = data.draw(st.integers(1, 7))
    same_size = st.lists(row, min_size=n, max_size=n)
    earlier, parents, trials = (valued(data.draw(same_size)) for _ in range(3))
    shares = data.draw(st.sampled_from([(), (0.0,), (0.05, 0.1), (0.3, 0.6)]))
    for name in RULES:
        note(name)
        assert_points_without_values_are_last(name, earlier, parents, trials, shares, np.asarray(elapsed), seed)


def assert_points_without_values_are_last(
    name: str,
    earlier: Population,
    parents: Population,
    trials: Population,
    shares: tuple[float, ...],
    now: np.ndarray,
    seed: int,
) -> None:
    rng, n = NumpyStream(seed), parents.size
    with np.errstate(all="ignore"):
        technique = handling_of(name)
        for share in shares:
            technique = technique.after(earlier, np.asarray(share))
        rule = technique.rule(parents, now, rng)
        rows = technique.rank(rule, parents, rng)
        accepted, gained = accepts(rule, trials, parents), gain(rule, trials, parents)
        by_keys = ranking(rule, parents)
        after = technique.after(choose(accepted, trials, parents), now)
        keys = rule.keys(parents)
    assert sorted(rows.tolist()) == list(range(n))
    for order in (rows, by_keys):
        assert not np.any(np.diff(parents.valid[order].astype(int)) > 0), "one without values before one with"
    assert not accepted[~trials.valid].any()
    assert accepted[trials.valid & ~parents.valid].all()
    assert (gained >= 0).all() and (gained < np.inf).all()
    assert not gained[~accepted | ~parents.valid].any()
    for key in keys:
        assert not np.isnan(key[parents.valid]).any()
    assert not any(np.isnan(np.asarray(leaf, float)).any() for leaf in leaves(after))


@given(f=st.floats(-1e6, 1e6), violation=st.floats(1e-3, 1e6))
def test_a_feasible_trial_of_lower_objective_is_always_accepted(f: float, violation: float) -> None:
    # Whatever a technique allows to the infeasible, nothing speaks against such a trial.
    parents = points((violation, f), (0, f), (2 * violation, f + 1), (violation / 2, f - 1))
    trials = points(*[(0.0, f - 2)] * 4)
    for name in RULES:
        rule = handling_of(name).rule(parents, np.asarray(0.3), NumpyStream(1))
        assert accepts(rule, trials, parents).all(), name


pair = st.tuples(st.sampled_from([0.0, 1e-12, 1.0]), st.sampled_from([-1e300, 0.0, 1.0]))


@given(trial=pair, parent=pair)
def test_the_death_penalty_never_accepts_an_infeasible_trial_for_a_feasible_parent(
    trial: tuple[float, float], parent: tuple[float, float]
) -> None:
    rule = handling_of("death-penalty").rule(points(parent), np.asarray(0.5), NumpyStream(1))
    accepted = bool(accepts(rule, points(trial), points(parent))[0])
    if parent[0] == 0.0:
        assert accepted == (trial[0] == 0.0 and trial[1] <= parent[1])
    else:
        assert accepted, "all that is infeasible is alike, and not better than anything"


# Both namespaces


class FromJax:
    """The draws of a JAX stream as NumPy arrays; those of one place are made once for all techniques."""

    def __init__(self, *place: int) -> None:
        self._place = place
        self._asked: tuple[tuple[str, tuple[int, ...]], ...] = ()

    def uniform(self, *shape: int) -> np.ndarray:
        return self._next("uniform", shape)

    def normal(self, *shape: int) -> np.ndarray:
        return self._next("normal", shape)

    def _next(self, law: str, shape: tuple[int, ...]) -> np.ndarray:
        self._asked += ((law, shape),)
        return from_jax(self._place, self._asked)


@cache
def from_jax(place: tuple[int, ...], asked: tuple[tuple[str, tuple[int, ...]], ...]) -> np.ndarray:
    """The last of the numbers that a JAX stream gives when asked for these, one after another."""
    stream = JaxStream.at(*place)
    return [np.asarray(getattr(stream, law)(*shape)) for law, shape in asked][-1]


SIZE, STEPS = 8, 41  # with 40, some steps would meet 0.2, 0.3 or 0.8 of the budget, up to rounding


def drawn(rng: Any, xp: Any, offset: Any) -> Population:
    """Points with random values, some feasible, some lost; better ones for a smaller offset."""
    u_f, u_v, u_lost = rng.uniform(3, SIZE)
    lost = u_lost < 0.1
    f = xp.where(lost, np.inf, 10.0 * u_f + offset)
    violation = xp.where(lost, np.inf, xp.where(u_v < 0.3, 0.0, u_v * (1.0 + offset)))
    return Population(xp.zeros((SIZE, 1)), f, violation, violation[:, None], xp.zeros((SIZE, 0)))


def step(k: Any, handling: Handling, population: Population, rng: Any, xp: Any) -> tuple[Handling, Population]:
    """A generation of a search without variation: random trials, survival and ranks by the technique."""
    elapsed = (k + 1.0) / STEPS
    rule = handling.rule(population, elapsed, rng)
    trials = drawn(rng, xp, 5.0 * (1.0 - elapsed))
    after = choose(accepts(rule, trials, population), trials, population)
    return handling.after(after, elapsed), after.take(handling.rank(rule, after, rng))


def leaves(tree: Any) -> list[Any]:
    if is_dataclass(tree):
        return [leaf for field in fields(tree) for leaf in leaves(getattr(tree, field.name))]
    return [tree]


@every_technique
def test_a_compiled_loop_carries_the_state_and_gives_what_numpy_gives(name: str) -> None:
    jax = pytest.importorskip("jax")
    from ppsde.engines.compiled import float64
    from ppsde.engines.tracing import as_tree

    with float64(), np.errstate(all="ignore"):
        jnp = jax.numpy

        def body(k: Any, carry: Any) -> Any:
            handling, population = step(k, *carry, JaxStream.at(5, 0, k + 1), jnp)
            return as_tree(handling), as_tree(population)

        @jax.jit
        def run() -> Any:
            first = drawn(JaxStream.at(5), jnp, 5.0)
            begun = handling_of(name, jnp).after(first, jnp.asarray(0.0))
            return jax.lax.fori_loop(0, STEPS, body, (as_tree(begun), as_tree(first)))

        traced, traced_population = run()
        population = drawn(FromJax(5), np, 5.0)
        begun = handling = handling_of(name).after(population, np.asarray(0.0))
        for k in range(STEPS):
            handling, population = step(k, handling, population, FromJax(5, 0, k + 1), np)
        for start, ours, theirs in zip(leaves(begun), leaves(handling), leaves(traced), strict=True):
            assert np.shape(start) == np.shape(ours) == np.shape(theirs)
            assert np.asarray(start).dtype == np.asarray(ours).dtype == np.asarray(theirs).dtype
            np.testing.assert_allclose(theirs, ours, rtol=1e-12)
        for ours, theirs in zip(leaves(population), leaves(traced_population), strict=True):
            np.testing.assert_allclose(theirs, ours, rtol=1e-12)
