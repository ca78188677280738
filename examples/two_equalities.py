"""Two equalities with several feasible branches: the nearest point to the origin with x0 + x1 = 1 and x0 x2 = 0.5.

Run it with `ppsde solve examples/two_equalities.py:problem`.
"""

import numpy as np

import ppsde


def fun(x):
    """Objective, inequalities and equalities of the rows of x (n, 3)."""
    h = np.stack([x[:, 0] + x[:, 1] - 1.0, x[:, 0] * x[:, 2] - 0.5], axis=1)
    return (x**2).sum(axis=1), np.empty((len(x), 0)), h


problem = ppsde.Problem(
    fun,
    bounds=[(-5, 5)] * 3,
    n_ineq=0,
    n_eq=2,
    vectorized=True,
    name="two equalities",
    constraint_names=["x0 + x1 = 1", "x0 x2 = 0.5"],
    # Both equalities are missed by all of the tolerance, 1e-4; what is left is a function of x0 alone.
    optimum=ppsde.Optimum(1.0672287626999, "proved"),
)
