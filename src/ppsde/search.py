"""A run from its next request to its result: evaluated, watched, and kept in a checkpoint if wanted."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import Any

from .checkpoints.checkpoint import Checkpoint
from .driving import drive, watch
from .durations import check_seconds
from .engines.run import Run
from .evaluation import evaluator_for
from .evaluation.evaluate import Account, Evaluate, policy_of
from .evaluation.values import EvaluationError, EvaluatorLost, Failure
from .interrupts import noticed
from .population import Population, evaluated
from .problem import Problem
from .status import ERROR
from .variables import Variables, in_user_space, tell_in_user_space

CHECKPOINT_EVERY = 1.0  # seconds: states are stored rarely enough to cost little, and the journal has the rest


@dataclass(frozen=True)
class Conditions:
    """Under which points are evaluated, and until when; what is not possible is a ValueError."""

    on_failure: str = "penalise"
    eval_timeout: float | None = None
    eval_memory: int | None = None
    max_time: float | None = None

    def __post_init__(self) -> None:
        policy_of(self.on_failure)
        for name in ("eval_timeout", "max_time"):
            check_seconds(name, getattr(self, name))
        memory = self.eval_memory
        if memory is not None:
            if isinstance(memory, bool) or not isinstance(memory, int) or memory < 1:
                raise ValueError(f"eval_memory must be a number of bytes, an int >= 1; got {memory!r}")
            if sys.platform != "linux":
                raise ValueError("eval_memory can be kept on Linux only")


def search(
    problem: Problem,
    variables: Variables | None,
    run: Run,
    conditions: Conditions,
    *,
    title: str,
    workers: Any,
    callback: Callable[[Any], Any] | None,
    progress: bool,
    checkpoint: Callable[[], AbstractContextManager[Checkpoint | None]] = nullcontext,
    earlier: tuple[Account, list[Failure]] | None = None,
) -> Any:
    """Take a run to its end and give the result.

    `checkpoint` is called once it is known that evaluations can be made; `earlier` is what the run had cost, and what
    had failed, before it was taken up again.
    """
    from .progress import display
    from .result import intermediate_of

    began = monotonic()
    with (
        evaluator_for(problem, workers, conditions.eval_timeout, conditions.eval_memory) as evaluator,
        checkpoint() as kept,
        noticed() as interrupts,
    ):
        evaluate = Evaluate(evaluator, policy_of(conditions.on_failure), problem.counts)
        if earlier is not None:
            evaluate.take_up(*earlier)
        check = watch(interrupts, inf if conditions.max_time is None else began + conditions.max_time)
        try:
            with display(title, run, progress) as show:

                def after_generation() -> None:
                    show()
                    if callback is not None:
                        callback(in_user_space(intermediate_of(run), variables))

                status = drive(run, evaluate, check, after_generation, kept)
                if kept is not None:
                    kept.write(run, evaluate.failures, vars(evaluate.account()), now=True)
        except EvaluationError as error:
            tell_in_user_space(error, variables)
            error.result = _result(problem, variables, run, evaluate, ERROR, monotonic() - began)
            raise
        except EvaluatorLost as error:
            lost = EvaluationError(str(error))
            lost.result = _result(problem, variables, run, evaluate, ERROR, monotonic() - began)
            raise lost from error
        return _result(problem, variables, run, evaluate, status, monotonic() - began)


def _result(
    problem: Problem, variables: Variables | None, run: Run, evaluate: Evaluate, status: int, seconds: float
) -> Any:
    from .result import Effort, result_of

    mean, longest = evaluate.seconds_each()
    effort = Effort(
        calls=evaluate.calls,
        seconds=seconds,
        eval_seconds_mean=mean,
        eval_seconds_max=longest,
        unfinished=_unfinished(run, evaluate, problem.tolerance),
    )
    names = problem.constraint_names or evaluate.names
    result = result_of(run, names, status, problem.tolerance, evaluate.failures, effort)
    return in_user_space(result, variables)


def _unfinished(run: Run, evaluate: Evaluate, tolerance: float) -> Population | None:
    """Points that were evaluated for a request that was not finished: the search never knew them, yet they count."""
    if run.wanted is None or not evaluate.unfinished:
        return None
    rows = sorted(evaluate.unfinished)
    return evaluated(run.wanted[rows], *evaluate.values([evaluate.unfinished[row] for row in rows]), tolerance)
