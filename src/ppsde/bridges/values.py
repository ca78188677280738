"""What another library has to know of a problem: its values as plain arrays, and how many constraints it has."""

from __future__ import annotations

import numpy as np

from ..evaluation.values import row_values
from ..problem import Problem


def values_of(problem: Problem, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """f (n,), g (n, p), h (n, q) of the rows of x. Errors of the function pass through."""
    return row_values(problem.evaluate(x), len(x))


def counts_of(problem: Problem) -> tuple[int, int]:
    """How many inequalities and equalities; where the problem does not say, one evaluation in the middle of the box."""
    if problem.n_ineq is not None and problem.n_eq is not None:
        return int(problem.n_ineq), int(problem.n_eq)
    _, g, h = values_of(problem, (problem.lower / 2 + problem.upper / 2)[None])
    return g.shape[1], h.shape[1]
