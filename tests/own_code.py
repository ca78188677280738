"""A user's own algorithm, rule and suite, as files, and as an installed package with entry points."""

from __future__ import annotations

from pathlib import Path

METHOD = '''
"""A random search: as short as an algorithm can be."""

from dataclasses import dataclass
from typing import Any

from helper import FACTOR
from ppsde.arrays import namespace
from ppsde.parts.handling import check_rule, first_handling
from ppsde.parts.rules import accepts
from ppsde.parts.sizing import first_points
from ppsde.population import Population, choose


@dataclass(frozen=True)
class State:
    population: Population
    generation: Any
    handling: Any


@dataclass(frozen=True)
class Walk:
    """A random walk of each member.

    Parameters
    ----------
    size
        Number of members.
    step
        Width of a step, as a share of the box.
    rule
        Constraint-handling technique.
    """

    size: int = 6
    step: float = 0.1
    rule: Any = "feasibility"

    def __post_init__(self):
        check_rule(self)

    def start(self, task, rng):
        points = yield first_points(task, self.size, rng)
        return State(points, namespace(points.f).asarray(0), first_handling(self.rule, points, task))

    def generation(self, state, task, rng):
        parents = state.population
        xp = namespace(parents.f)
        rule = state.handling.rule(parents, xp.asarray(0.5), rng)
        width = FACTOR * self.step * (task.upper - task.lower)
        trials = yield xp.clip(parents.x + width * rng.normal(*parents.x.shape), task.lower, task.upper)
        survivors = choose(accepts(rule, trials, parents), trials, parents)
        return State(survivors, state.generation + 1, state.handling.after(survivors, xp.asarray(0.5)))

    def answer(self, state, best_member):
        return best_member

    def watch(self, state):
        return {}
'''

RULE = '''
"""A rule that weighs each constraint by itself."""

from dataclasses import dataclass

import numpy as np
from ppsde.arrays import namespace


@dataclass(frozen=True)
class Weighed:
    """The objective plus weights times the violations of single constraints."""

    first: float = 100.0
    others: float = 1.0
    tolerance: float = 1e-4

    needs_constraint_values = True

    def keys(self, points):
        xp = namespace(points.f)
        missed = xp.concatenate([xp.maximum(points.g, 0), xp.maximum(xp.abs(points.h) - self.tolerance, 0)], axis=1)
        weights = xp.asarray([self.first] + [self.others] * (missed.shape[1] - 1))
        penalty = xp.where(points.valid, (xp.where(points.valid[:, None], missed, 0.0) * weights).sum(axis=1), 0.0)
        return xp.where(points.valid, 0.0, np.inf), points.f + penalty
'''

SUITE = '''
"""One problem."""

import ppsde
from ppsde.suites import Suite


def fun(x):
    return x[:, 0] + x[:, 1], 1 - x[:, :1] * x[:, 1:], x[:, :0]


def build(name, dimension=None):
    return ppsde.Problem(fun, [(0.0, 5.0)] * 2, n_ineq=1, n_eq=0, vectorized=True, name=name)


SUITE = Suite("little", "one problem", ("corner",), build, lambda dimension: 300)
'''

HELPER = "FACTOR = 1.0\n"

PROBLEM = """
import ppsde


def cost(x):
    from limits import LIMIT

    return float(x.sum()), [LIMIT - x[0]], []


problem = ppsde.Problem(cost, [(0, 5)] * 2, name="mine")
"""


def written(folder: Path) -> Path:
    """Write the files into a folder and return it."""
    files = {"walk.py": METHOD, "weighed.py": RULE, "little.py": SUITE, "helper.py": HELPER, "mine.py": PROBLEM}
    for name, text in {**files, "limits.py": "LIMIT = 1.0\n"}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def installed(folder: Path, name: str = "walkers", entries: str | None = None, version: str = "1.2") -> Path:
    """Make the files of a folder an installed package with entry points, and return the folder."""
    usual = (
        "[ppsde.algorithms]\nrandom-walk = walk:Walk\n\n[ppsde.rules]\nweighed = weighed:Weighed\n\n"
        "[ppsde.suites]\nlittle = little:SUITE\n"
    )
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(usual if entries is None else entries, encoding="utf-8")
    return folder
