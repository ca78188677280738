"""A program that uses the installed package, as its users write it; type checkers read it from outside.

Every `assert_type` says which type an editor shows there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_type

import numpy as np

import ppsde
from ppsde.experiments import Plan, Store
from ppsde.optimizer import Optimizer
from ppsde.reports import find, gather, page
from ppsde.result import Result
from ppsde.stats import Change, Outcomes, change, friedman
from ppsde.suites import Suite, get


def beam(x: np.ndarray) -> tuple[float, list[float], list[float]]:
    return float(x[0] ** 2 + x[1]), [float(1 - x[0] - x[1])], []


def solve(bounds: Sequence[tuple[float, float]]) -> float:
    result = ppsde.minimize(beam, bounds, max_evaluations=500, rng=1)
    assert_type(result, Result)
    assert_type(result.feasible, bool)
    return result.fun


def ask_and_tell() -> Result:
    problem = ppsde.Problem(beam, [(0.0, 1.0), (0.0, 1.0)], n_ineq=1, n_eq=0)
    optimizer = ppsde.Optimizer(problem, method="pps-de", max_evaluations=200, rng=1)
    assert_type(optimizer, Optimizer)
    return optimizer.result


def compare(before: list[float], after: list[float]) -> str:
    found = change(Outcomes(before), after, paired=True)
    assert_type(found, Change)
    assert_type(found.chance, float)
    return f"{found.p:.3f}, {friedman([before, after]).p:.3f}"


def report(path: str) -> str:
    plan = Plan(["pps-de"], suite="engineering", runs=2)
    with Store(path) as store:
        study = gather(store)
    findings = find(study)
    assert_type(findings.order, list[str])
    return f"{plan.runs} {findings.headline} {len(page(study))}"


def beams() -> Suite:
    suite = get("engineering")
    assert_type(suite.names, tuple[str, ...])
    return suite
