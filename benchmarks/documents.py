"""Small measurements that the documents show: `python -m benchmarks.documents`, or some of them by name.

`spring` and `limits` take a minute, `rules` a quarter of an hour; it stores each row as soon as it is measured, and
`rules=pareto,cw` measures these rows only.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import Any

import ppsde
from ppsde.parts.handling import RULES
from ppsde.population import TOLERANCE
from ppsde.suites.named import from_file
from ppsde.testing import LOWER, UPPER, equalities

from .records import ROOT, save, values_of

CODE = re.compile(r"^```python\n(.*?)^```\n", re.M | re.S)
NEAR = 1e-6  # of the optimum: reached
DEFAULT = "pps-sqp"
ENGINEERING = ("welded-beam", "tension-spring", "speed-reducer", "pressure-vessel", "heat-exchanger")


def spring() -> dict[str, Any]:
    """Return how often the example of the README reaches its value, and after how many evaluations."""
    given: dict[str, Any] = {}
    exec(CODE.findall((ROOT / "README.md").read_text(encoding="utf-8"))[0], given)
    runs = [ppsde.minimize(given["spring"], [(0.05, 2), (0.25, 1.3), (2, 15)], rng=seed) for seed in range(1, 11)]
    reached = sum(f"{run.fun:.6f}" == f"{given['result'].fun:.6f}" and run.feasible for run in runs)
    return {"runs": len(runs), "reached": reached, "evaluations": evaluations(runs)}


def limits() -> dict[str, Any]:
    """Return how often runs of several lengths find the best of several branches, and how long easy ones take."""
    with from_file(ROOT / "examples" / "two_equalities.py", "problem") as problem:
        best, seeds, counts = problem.optimum.value, range(20), {}
        for budget in (50, 100, 150, 200):
            runs = [ppsde.minimize(problem, max_evaluations=budget, rng=seed) for seed in seeds]
            counts[str(budget)] = reached(runs, best)
        whole = [ppsde.minimize(problem, rng=seed) for seed in seeds]

    def plane(x: Any) -> Any:
        return (x**2).sum(), [1 - x.sum()], []

    easy = [ppsde.minimize(plane, [(-5, 5)] * 2, rng=seed) for seed in range(1, 6)]
    return {
        "reached": counts,
        "whole": {"reached": reached(whole, best), "evaluations": evaluations(whole)},
        "easy": {"gap": max(run.fun - 0.5 for run in easy), "evaluations": evaluations(easy)},
    }


def reached(runs: Iterable[Any], optimum: float) -> int:
    return sum(run.feasible and run.fun - optimum <= NEAR for run in runs)


def evaluations(runs: Iterable[Any]) -> list[int]:
    counts = [run.nfev for run in runs]
    return [min(counts), max(counts)]


def rule_problems() -> dict[str, ppsde.Problem]:
    best = ppsde.Optimum(
        (3 - TOLERANCE) ** 2 / 4, "proved"
    )  # on the plane, moved by the tolerance towards (1, 1, 1, 1)
    problems = {"equalities": ppsde.Problem(equalities, (LOWER, UPPER), vectorized=True, optimum=best)}
    problems |= {name: ppsde.suites.get("engineering").problem(name) for name in ENGINEERING}
    return problems | {name: ppsde.suites.get("cec2006").problem(name) for name in ("g05", "g13")}


def rule_cell(rule: str, problem: ppsde.Problem) -> str:
    """Return the median of the feasible runs of SHADE with a rule, and how many there are if not all."""
    options = {"method": "shade", "options": {"rule": rule}, "max_evaluations": 50_000}
    runs = [ppsde.minimize(problem, rng=seed, **options) for seed in range(5)]
    found = [run.fun for run in runs if run.feasible]
    if not found:
        return "none"
    return f"{median(found):.6g}" + ("" if len(found) == len(runs) else f", {len(found)}/{len(runs)}")


def rules(some: Sequence[str] = tuple(RULES)) -> dict[str, dict[str, str]]:
    """Return the cells of rules on problems; only some are measured, those of others are as they were."""
    problems = rule_problems()
    rows = values_of("rules") or {}
    for rule in some:
        rows[rule] = {name: rule_cell(rule, problem) for name, problem in problems.items()}
        rows = {name: rows[name] for name in RULES if name in rows}
        print(rule, *rows[rule].values(), flush=True)
        store("rules", rows, [rule_method(rule)])
    return rows


def rule_method(rule: str) -> str:
    return f"shade:rule={rule}"


MEASURED: dict[str, tuple[Callable[..., Any], list[str]]] = {
    "spring": (spring, [DEFAULT]),
    "limits": (limits, [DEFAULT]),
    "rules": (rules, [rule_method(rule) for rule in RULES]),
}


def store(name: str, values: Any, again: Sequence[str] | None = None) -> None:
    save(name, values, command=f"python -m benchmarks.documents {name}", methods=MEASURED[name][1], again=again)


if __name__ == "__main__":
    for wanted in sys.argv[1:] or MEASURED:
        name, _, some = wanted.partition("=")
        measure = MEASURED[name][0]
        if some:
            measure(some.split(","))  # it stores what it has measured
        else:
            store(name, measure())
