"""Constraints as SciPy has them: the same objects, another solver."""

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint

import ppsde

result = ppsde.minimize(
    lambda x: (x[0] - 2) ** 2 + (x[1] - 1) ** 2,
    Bounds([-3, -3], [3, 3]),
    constraints=[
        NonlinearConstraint(lambda x: x[0] ** 2 - x[1], -np.inf, 0),
        LinearConstraint([[1, 1]], -np.inf, 2),
    ],
    rng=1,
)
print(result)
