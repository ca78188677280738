"""SciPy's tests L1 to L9 of constrained `differential_evolution`, run with ours and with SciPy's, seed after seed.

python -m benchmarks.scipy_problems [SEEDS] [L1,L5]

The test code is that of the installed SciPy. Only its seeds are replaced, an assertion that fails does not end a test,
and calls of nonlinear constraints are counted, polishing included. A test is solved if all of its assertions hold. L1
makes three runs; only the last has nonlinear constraints, two functions, whose calls are added. The rows are
stored in the record `scipy`, which docs/bridges.md shows; those of other tests stay.
"""

import ast
import sys
import warnings
from importlib.resources import files
from statistics import mean

import numpy as np
import scipy.optimize

import ppsde.scipy

from .records import FRONT, save, values_of


class AsCalls(ast.NodeTransformer):
    """Writes `assert condition` as a call, which can be replaced."""

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        call = ast.Call(ast.Name("assert_", ast.Load()), [node.test], [])
        return ast.fix_missing_locations(ast.copy_location(ast.Expr(call), node))


class Counted(scipy.optimize.NonlinearConstraint):
    """A constraint whose calls are counted, those of all of them together."""

    calls = 0

    def __init__(self, fun, *args, **kwargs):
        def counted(x):
            Counted.calls += 1
            return fun(x)

        super().__init__(counted, *args, **kwargs)


def tests() -> dict:
    """Return the names in SciPy's test module."""
    path = files("scipy.optimize") / "tests" / "test__differential_evolution.py"
    names = {"__name__": "scipy_tests"}
    exec(compile(AsCalls().visit(ast.parse(path.read_text())), str(path), "exec"), names)
    return names


def outcome(names: dict, test: str, function, seed: int) -> tuple[bool, int]:
    """Return whether a test passes with a function and a seed, and how often it calls constraints."""
    failed = []

    def check(condition, *_):
        if not np.all(condition):
            failed.append("assert")

    def check_close(actual, expected, **kwargs):
        try:
            np.testing.assert_allclose(actual, expected, **kwargs)
        except AssertionError as error:
            failed.append(str(error))

    def seeded(*args, **kwargs):
        return function(*args, **{**kwargs, "rng": seed})

    names.update(differential_evolution=seeded, NonlinearConstraint=Counted, assert_=check, assert_allclose=check_close)
    Counted.calls = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(names["TestDifferentialEvolutionSolver"](), f"test_{test}")()
    return not failed, Counted.calls


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    problems = sys.argv[2].split(",") if len(sys.argv) > 2 else [f"L{k}" for k in range(1, 10)]
    names = tests()
    rows = values_of("scipy") or {}
    for problem in problems:
        ours, theirs = (
            [outcome(names, problem, function, seed) for seed in range(seeds)]
            for function in (ppsde.scipy.differential_evolution, scipy.optimize.differential_evolution)
        )
        rows[problem] = {
            "seeds": seeds,
            "solved here": sum(good for good, _ in ours),
            "most calls": max(calls for _, calls in ours),
            "solved by SciPy": sum(good for good, _ in theirs),
            "its mean calls": round(mean(calls for _, calls in theirs)),
        }
        print(problem, rows[problem], flush=True)
        save("scipy", dict(sorted(rows.items())), command="python -m benchmarks.scipy_problems", methods=[FRONT])


if __name__ == "__main__":
    main()
