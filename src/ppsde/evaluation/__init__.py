"""From a user's callable to values an algorithm can use, with failures as outcomes."""

from .outcome import EvaluationError, EvaluatorLost, Failure, Outcome

__all__ = ["EvaluationError", "EvaluatorLost", "Failure", "Outcome"]
