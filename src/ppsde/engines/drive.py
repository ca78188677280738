"""The host loop: evaluate the points that a run wants, give it their values, and end by the budget or an event."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from math import inf
from time import monotonic
from typing import Any, Protocol

from ..evaluation import evaluator_for
from ..evaluation.evaluate import NO_COSTS, NO_LIMITS, Costs, Evaluate, Hopeless, Limits
from ..evaluation.values import EvaluationError, EvaluatorLost, Failure, Noted
from ..problem import Problem
from .ending import ERROR, FAILED, INTERRUPTED, SPENT, STOPPED, TIME_UP, Ending
from .run import Run


class Log(Protocol):
    """A checkpoint, as far as the loop knows it."""

    def known(self, request: int) -> Mapping[int, Noted]:
        """The rows of a request that finished before the run was resumed."""

    def note(self, request: int, row: int, noted: Noted) -> None:
        """Store a row of a request that has finished."""

    def write(self, run: Run, failures: Sequence[Failure], costs: Costs, *, now: bool = False) -> bool:
        """Store the run, if it is time, or `now`."""


class Interrupted(Exception):
    """The user asked to stop."""


class TimeIsUp(Exception):
    """The run has taken all the time it may."""


def drive(
    run: Run,
    problem: Problem,
    limits: Limits = NO_LIMITS,
    *,
    workers: Any = 1,
    after_generation: Callable[[], Any] | None = None,
    checkpoint: Callable[[], AbstractContextManager[Log | None]] = nullcontext,
    earlier: Costs = NO_COSTS,
    failures: Sequence[Failure] = (),
    interruptible: bool = False,
) -> Ending:
    """Drive a run to its end; the one loop behind `minimize`, `resume`, `solve_batch`, studies and the contract.

    Parameters
    ----------
    run : Run
    problem : Problem
        Its function takes points of the box that is searched.
    limits : Limits
    workers : int, Executor, Dask Client or callable like map
    after_generation : callable, optional
        Called after the start and after each generation; it may raise StopIteration to end the run.
    checkpoint : callable
        Opens the checkpoint; called when the evaluator is ready.
    earlier, failures
        Counters and failures from before the run was resumed.
    interruptible : bool
        Whether Ctrl-C and SIGTERM end the run with the status 'interrupted'.

    Raises
    ------
    EvaluationError
        If the failure policy says so, or the evaluator is lost; its `ending` is where the run stands.
    """
    began = monotonic()
    with (
        evaluator_for(problem, workers, limits.eval_timeout, limits.eval_memory) as evaluator,
        checkpoint() as log,
        noticed() if interruptible else nullcontext() as interrupts,
    ):
        evaluate = Evaluate(evaluator, limits, problem.counts, earlier, failures)
        deadline = inf if limits.max_time is None else began + limits.max_time

        def check() -> None:
            if interrupts is not None and interrupts.count:
                raise Interrupted
            if monotonic() >= deadline:
                raise TimeIsUp

        def ending(status: int) -> Ending:
            return _ending(run, problem, evaluate, status, monotonic() - began)

        try:
            status = _loop(run, evaluate, check, after_generation, log)
            if log is not None:
                log.write(run, evaluate.failures, evaluate.costs(), now=True)
        except EvaluationError as error:
            error.ending = ending(ERROR)
            raise
        except EvaluatorLost as error:
            lost = EvaluationError(str(error))
            lost.ending = ending(ERROR)
            raise lost from error
        except KeyboardInterrupt as error:  # raised by the function itself, or the second time that the user asked
            if not interruptible or isinstance(error, Insisted):
                raise
            status = INTERRUPTED
        return ending(status)


def _loop(
    run: Run,
    evaluate: Evaluate,
    check: Callable[[], None],
    after_generation: Callable[[], Any] | None,
    log: Log | None,
) -> int:
    """Give the run values until it ends; the status says why it ended."""
    generation = -1
    try:
        while run.wanted is not None:
            check()
            if log is None:
                values = evaluate(run.wanted, check=check)
            else:
                note, known = partial(log.note, run.requests), log.known(run.requests)
                values = evaluate(run.wanted, check=check, note=note, known=known)
            run.supply(values.f, values.g, values.h)
            if log is not None:
                log.write(run, evaluate.failures, evaluate.costs())
            if after_generation is not None and run.state is not None and run.state.generation != generation:
                generation = run.state.generation
                try:
                    after_generation()
                except StopIteration:
                    return STOPPED
    except Interrupted:
        return INTERRUPTED
    except TimeIsUp:
        return TIME_UP
    except Hopeless:
        return FAILED
    return SPENT


def _ending(run: Run, problem: Problem, evaluate: Evaluate, status: int, seconds: float) -> Ending:
    """The ending of a run, with the points that were evaluated in a request that is not complete."""
    mean, longest = evaluate.seconds_each()
    return run.ending(
        status,
        evaluate.unfinished_points(problem.tolerance),
        failures=tuple(evaluate.failures),
        constraint_names=problem.constraint_names or evaluate.names,
        calls=evaluate.calls,
        seconds=seconds,
        eval_seconds_mean=mean,
        eval_seconds_max=longest,
    )


class Insisted(KeyboardInterrupt):
    """The user has asked again."""


class Interrupts:
    """Counts how often the user has asked to stop."""

    def __init__(self) -> None:
        self.count = 0

    @property
    def asked(self) -> bool:
        return self.count > 0

    def __call__(self, number: int, frame: Any) -> None:
        self.count += 1
        if self.count > 1:
            raise Insisted


@contextmanager
def noticed() -> Iterator[Interrupts]:
    """Count Ctrl-C and SIGTERM inside the block instead of ending the process; the second one raises `Insisted`.

    Only the main thread can; elsewhere nothing is changed. A signal that is ignored, as it is in the background of a
    shell, stays ignored. Afterwards the handlers are those of before.
    """
    interrupts = Interrupts()
    before: dict[int, Any] = {}
    try:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) not in (signal.SIG_IGN, None):  # None: a handler that is not Python's
                    before[number] = signal.signal(number, interrupts)
        yield interrupts
    finally:
        for changed, handler in before.items():
            signal.signal(changed, handler)
