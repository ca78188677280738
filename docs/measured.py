"""Write measured numbers into the documents, between marks: `python docs/measured.py`, or some of them by name.

`python docs/measured.py spring limits` takes a minute, `rules` a quarter of an hour; `rules=pareto,cw` measures these
rows and leaves the others as they are. Whoever changes a method runs it again; the slow tests fail where a document
shows other numbers than this program finds.
"""

from __future__ import annotations

import math
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import ppsde
from ppsde.parts.handling import RULES
from ppsde.population import TOLERANCE
from ppsde.suites.named import from_file
from ppsde.testing import LOWER, UPPER, equalities

ROOT = Path(__file__).resolve().parents[1]
CODE = re.compile(r"^```python\n(.*?)^```\n", re.M | re.S)
NEAR = 1e-6  # of the optimum: reached


def filled(text: str) -> str:
    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False) + "\n"


def spring() -> str:
    """Return how often the example of the README reaches its value, and after how many evaluations."""
    given: dict[str, Any] = {}
    exec(CODE.findall((ROOT / "README.md").read_text(encoding="utf-8"))[0], given)
    runs = [ppsde.minimize(given["spring"], [(0.05, 2), (0.25, 1.3), (2, 15)], rng=seed) for seed in range(1, 11)]
    reached = sum(f"{run.fun:.6f}" == f"{given['result'].fun:.6f}" and run.feasible for run in runs)
    how_many = "all" if reached == len(runs) else f"of {len(runs)}, {reached}"
    return filled(f"The seeds 1 to 10 {how_many} reach this value, after {evaluations(runs)} evaluations.")


def limits() -> str:
    """Return how often runs of several lengths find the best of several branches, and how long easy ones take."""
    with from_file(ROOT / "examples" / "two_equalities.py", "problem") as problem:
        counts, seeds = [], range(20)
        for budget in (50, 100, 150, 200):
            runs = [ppsde.minimize(problem, max_evaluations=budget, rng=seed) for seed in seeds]
            counts.append((budget, reached(runs, problem.optimum.value)))
        whole = [ppsde.minimize(problem, rng=seed) for seed in seeds]
    shown = ", ".join(f"{count} with {budget}" for budget, count in counts)

    def plane(x: Any) -> Any:
        return (x**2).sum(), [1 - x.sum()], []

    easy = [ppsde.minimize(plane, [(-5, 5)] * 2, rng=seed) for seed in range(1, 6)]
    gap = rounded_up(max(run.fun - 0.5 for run in easy))
    return (
        filled(
            f"`examples/two_equalities.py` is such a problem. Of the seeds 0 to 19, {shown} evaluations reach its "
            f"optimum. With the default budget {reached(whole, problem.optimum.value)} do, and the runs end by "
            f"themselves after {evaluations(whole)}. Run several seeds, compare them, keep the best."
        )
        + "\n"
        + filled(
            "Smooth problems with one optimum need less: minimising `x0^2 + x1^2` with `x0 + x1 >= 1`, seeds 1 to 5 "
            f"end within {gap} of the optimum, 0.5, after {evaluations(easy)} evaluations."
        )
    )


def rounded_up(value: float) -> str:
    """Return a positive number with one digit, no smaller than it is."""
    unit = 10.0 ** math.floor(math.log10(value))
    return f"{math.ceil(value / unit) * unit:.0e}"


def reached(runs: Iterable[Any], optimum: float) -> int:
    return sum(run.feasible and run.fun - optimum <= NEAR for run in runs)


def evaluations(runs: Iterable[Any]) -> str:
    counts = [run.nfev for run in runs]
    return f"{min(counts)} to {max(counts)}"


ENGINEERING = ("welded-beam", "tension-spring", "speed-reducer", "pressure-vessel", "heat-exchanger")


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


def rules(some: Sequence[str] = tuple(RULES)) -> str:
    """Return the table of rules on some problems; only some are measured, the rows of others are as they were."""
    problems = rule_problems()
    known = [f"{problem.optimum.value:.6g}" for problem in problems.values()]
    lines = [["rule", *problems], ["---"] * (1 + len(problems)), ["best known", *known]]
    rows = {line.split("`")[1]: line for line in shown("rules").splitlines() if line.startswith("| `")}
    for rule in some:
        cells = [f"`{rule}`", *(rule_cell(rule, p) for p in problems.values())]
        rows[rule] = f"| {' | '.join(cells)} |"
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines) + "".join(
        f"{rows[rule]}\n" for rule in RULES if rule in rows
    )


NUMBERS: dict[str, tuple[Path, Callable[..., str]]] = {
    "spring": (ROOT / "README.md", spring),
    "limits": (ROOT / "docs" / "results.md", limits),
    "rules": (ROOT / "docs" / "rules.md", rules),
}


def marks(name: str) -> tuple[str, str]:
    return f"<!-- docs/measured.py {name} -->\n", f"<!-- end of {name} -->\n"


def shown(name: str) -> str:
    """Return the text between the marks of a document."""
    begin, end = marks(name)
    return NUMBERS[name][0].read_text(encoding="utf-8").split(begin)[1].split(end)[0]


def write(wanted: str) -> None:
    """Measure, and put the text between the marks of its document; `wanted` is a name, or NAME=SOME,OTHERS."""
    name, _, some = wanted.partition("=")
    path, measure = NUMBERS[name]
    begin, end = marks(name)
    text = measure(some.split(",")) if some else measure()
    before, rest = path.read_text(encoding="utf-8").split(begin)  # it may have changed meanwhile
    path.write_text(before + begin + text + end + rest.split(end)[1], encoding="utf-8")


if __name__ == "__main__":
    for wanted in sys.argv[1:] or NUMBERS:
        write(wanted)
