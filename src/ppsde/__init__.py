"""Constrained single-objective black-box optimisation: PPS-SQP, PPS-DE and its field."""

from . import bridges, scipy, suites
from .algorithms import ALGORITHMS
from .batch import BatchResult, solve_batch
from .bridges import from_pygmo, from_pymoo, to_pygmo, to_pymoo
from .checkpoints.state_file import CheckpointError
from .evaluation import EvaluationError
from .minimize import minimize, resume
from .optimizer import Optimizer
from .parts.handling import RULES
from .problem import Optimum, Problem

__version__ = "0.2.0"
__all__ = [
    "ALGORITHMS",
    "RULES",
    "BatchResult",
    "CheckpointError",
    "EvaluationError",
    "Optimizer",
    "Optimum",
    "Problem",
    "bridges",
    "from_pygmo",
    "from_pymoo",
    "minimize",
    "resume",
    "scipy",
    "solve_batch",
    "suites",
    "to_pygmo",
    "to_pymoo",
]
