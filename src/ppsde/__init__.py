"""Constrained single-objective black-box optimisation: PPS-DE and its field."""

from . import suites
from .algorithms import ALGORITHMS
from .minimize import minimize
from .optimizer import Optimizer
from .problem import Optimum, Problem

__version__ = "0.1.0"
__all__ = ["ALGORITHMS", "Optimizer", "Optimum", "Problem", "minimize", "suites"]
