"""Constrained single-objective black-box optimisation: PPS-DE and its field."""

from . import suites
from .algorithms import ALGORITHMS
from .batch import BatchResult, solve_batch
from .minimize import minimize
from .optimizer import Optimizer
from .problem import Optimum, Problem

__version__ = "0.1.0"
__all__ = ["ALGORITHMS", "BatchResult", "Optimizer", "Optimum", "Problem", "minimize", "solve_batch", "suites"]
