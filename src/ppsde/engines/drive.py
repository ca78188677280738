"""The loop of the host engine: evaluate the points that a run wants and supply their values, until it ends."""

from __future__ import annotations

import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from math import inf
from time import monotonic
from typing import Any, Protocol

import numpy as np

from ..evaluation import evaluator_for
from ..evaluation.evaluate import NO_COSTS, NO_LIMITS, Costs, Evaluate, Hopeless, Limits
from ..evaluation.values import ASKED, EvaluationError, EvaluatorLost, Failure, Noted, Values, mark_of
from ..problem import Problem
from .ending import ERROR, FAILED, INTERRUPTED, STOPPED, TIME_UP, Ending
from .run import Run
from .searches import Searches

BEGUN = Noted(np.nan, np.empty(0), np.empty(0), 0.0, ASKED)  # the entry of a point whose evaluation begins


class Log(Protocol):
    """The methods of a checkpoint that the loop calls."""

    def known(self, request: int) -> Mapping[int, Noted]:
        """Return the rows of a request that finished before the run was resumed."""

    def events(self) -> Sequence[tuple[int, Noted]]:
        """Return number and entry of each point that was asked for or answered before the run was resumed, in order."""

    def disown(self, count: int) -> None:
        """Say that so many of these belong to points that the run does not ask for."""

    def note(self, request: int, row: int, noted: Noted) -> None:
        """Store one finished row of a request."""

    def write(self, run: Run | Searches, failures: Sequence[Failure], costs: Costs, *, now: bool = False) -> bool:
        """Store the run if it is time to, or if `now`; return whether it was stored."""


class Interrupted(Exception):
    """Raised when the user has asked to stop."""


class TimeIsUp(Exception):
    """Raised when the run has used its `max_time`."""


class Over(Exception):
    """Raised when a search is done while points are still evaluated."""


class Stopped(Exception):
    """Raised when the callback has asked to stop."""


def drive(
    run: Run | Searches,
    problem: Problem,
    limits: Limits = NO_LIMITS,
    *,
    workers: Any = 1,
    after_generation: Callable[[], Any] | None = None,
    checkpoint: Callable[[], AbstractContextManager[Log | None]] = nullcontext,
    earlier: Costs = NO_COSTS,
    failures: Sequence[Failure] = (),
    interruptible: bool = False,
    on_error: Callable[[BaseException, Ending], None] | None = None,
) -> Ending:
    """Drive a run to its end and return the ending; `minimize`, `resume`, `solve_batch`, studies and tests call it.

    Parameters
    ----------
    run : Run or Searches
        The points of `Searches` are evaluated one by one, as workers become free.
    problem : Problem
        Its function takes points of the searched box, `Request.searched`.
    limits : Limits
    workers : int, Executor, Dask Client or callable like map
    after_generation : callable, optional
        Called after the start and after each generation; it may return True or raise StopIteration to end the run.
    checkpoint : callable
        Called when the evaluator is ready; opens the checkpoint.
    earlier, failures
        Counters and failures from before the run was resumed.
    interruptible : bool
        Whether Ctrl-C and SIGTERM end the run with the status 'interrupted'.
    on_error : callable, optional
        Called with any exception that ends the run, before it passes out, and the ending of the run so far.

    Raises
    ------
    EvaluationError
        If an evaluation failed and the failure policy is 'raise', or if the evaluator is lost.
    """
    began = monotonic()
    with (
        evaluator_for(problem, workers, limits.eval_timeout, limits.eval_memory) as evaluator,
        checkpoint() as log,
        noticed() if interruptible else nullcontext() as interrupts,
    ):
        counts = problem.counts or run.counts
        evaluate = Evaluate(evaluator, limits, counts, earlier, failures, problem.constraint_names)
        deadline = inf if limits.max_time is None else began + limits.max_time

        def check() -> None:
            if interrupts is not None and interrupts.count:
                raise Interrupted
            if monotonic() >= deadline:
                raise TimeIsUp

        def ending(status: int | None) -> Ending:
            return _ending(run, problem, evaluate, status, monotonic() - began)

        try:
            status = _driven(run, evaluate, check, after_generation, log)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) and interruptible and not isinstance(error, Insisted):
                status = INTERRUPTED  # by the function itself
            else:
                if on_error is not None:
                    with suppress(Exception):  # the error itself says more
                        on_error(error, ending(ERROR))
                raise
        if status == INTERRUPTED and interrupts is not None and interrupts.runs > 1:
            raise KeyboardInterrupt("a run inside another one was interrupted")  # its result is not its value
        return ending(status)


def _driven(
    run: Run | Searches,
    evaluate: Evaluate,
    check: Callable[[], None],
    after_generation: Callable[[], Any] | None,
    log: Log | None,
) -> int | None:
    """Drive a run of either kind to its end and write the checkpoint; return the status, None if the run is over."""
    try:
        loop = _stream if isinstance(run, Searches) else _loop
        status = loop(run, evaluate, check, after_generation, log)  # type: ignore[arg-type]
        if log is not None:
            log.write(run, evaluate.failures, evaluate.costs(), now=True)
        return status
    except EvaluatorLost as error:
        raise EvaluationError(str(error)) from error


def _loop(
    run: Run,
    evaluate: Evaluate,
    check: Callable[[], None],
    after_generation: Callable[[], Any] | None,
    log: Log | None,
) -> int | None:
    """Supply values until the run ends; return the status, which says why, or None if the run itself is over."""
    generation = -1
    try:
        while run.wanted is not None:
            check()
            if log is None:
                values = evaluate(run.wanted, check=check)
            else:
                note, known = partial(log.note, run.requests), _known(run, log)
                values = evaluate(run.wanted, check=check, note=note, known=known)
            run.supply(values.f, values.g, values.h)
            if log is not None:
                log.write(run, evaluate.failures, evaluate.costs())
            if after_generation is not None and run.state is not None and run.state.generation != generation:
                generation = run.state.generation
                try:
                    if after_generation() is True:
                        return STOPPED
                except StopIteration:
                    return STOPPED
    except Interrupted:
        return INTERRUPTED
    except TimeIsUp:
        return TIME_UP
    except Hopeless:
        return FAILED
    return None


def _known(run: Run, log: Log) -> Mapping[int, Noted]:
    """Return the rows of the request that finished before; a method that has changed since may ask for other points."""
    found = log.known(run.requests)
    if not found or run.wanted is None:
        return found
    x = run.wanted
    known = {row: noted for row, noted in found.items() if row < len(x) and noted.mark in ("", mark_of(x[row]))}
    if len(known) < len(found):
        log.disown(len(found) - len(known))
    return known


def _stream(
    run: Searches,
    evaluate: Evaluate,
    check: Callable[[], None],
    after_generation: Callable[[], Any] | None,
    log: Log | None,
) -> int | None:
    """Answer points one by one until the search ends; return the status, or None if the search itself is over."""
    _replay(run, evaluate, log)
    again = deque(run.points_out())  # their evaluations ended with the process that began them
    generation = run.completed, run.state is None

    def more(free: int) -> list[tuple[int, np.ndarray]]:
        if run.done:
            raise Over
        old = [again.popleft() for _ in range(min(free, len(again)))]
        first = run.requests
        new = run.take(free - len(old))
        if log is not None:
            for k, (number, x) in enumerate(new):
                log.note(first + k, number, BEGUN._replace(mark=mark_of(x)))
        return old + new

    def finished(number: int, values: Values) -> None:
        nonlocal generation
        if log is not None:
            log.note(run.requests, number, values.noted(0))
        run.answer(number, *values.row(0))
        if log is not None:
            log.write(run, evaluate.failures, evaluate.costs())
        if after_generation is not None and generation != (run.completed, run.state is None):
            generation = run.completed, run.state is None
            try:
                if after_generation() is True:
                    raise Stopped
            except StopIteration:
                raise Stopped from None

    try:
        check()
        if not run.done:
            evaluate.stream(more, finished, check=check)
    except Over:
        return None
    except Stopped:
        return STOPPED
    except Interrupted:
        return INTERRUPTED
    except TimeIsUp:
        return TIME_UP
    return None


def _replay(run: Searches, evaluate: Evaluate, log: Log | None) -> None:
    """Give out and answer the points of the journal, in their order."""
    others = 0
    for number, noted in () if log is None else log.events():
        if noted.status == ASKED:
            taken = run.take(1)
            if [number] != [name for name, _ in taken]:
                raise ValueError(f"the journal asks for point {number}, the run for {taken}")
        else:
            x = dict(run.points_out())[number]
            if noted.mark not in ("", mark_of(x)):
                others += 1  # it is still out, and evaluated again
                continue
            run.answer(number, *evaluate.restore(x, noted).row(0))
    if others and log is not None:
        log.disown(others)


def _ending(run: Run | Searches, problem: Problem, evaluate: Evaluate, status: int | None, seconds: float) -> Ending:
    """Return the ending of a run, including the points evaluated in a request that is not complete."""
    mean, longest = evaluate.seconds_each()
    points, failures = evaluate.unfinished_points(problem.tolerance)
    return run.ending(
        status,
        points,
        failures=(*evaluate.failures, *failures),
        constraint_names=problem.constraint_names or evaluate.names,
        calls=evaluate.calls,
        seconds=seconds,
        eval_seconds_mean=mean,
        eval_seconds_max=longest,
    )


SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Insisted(KeyboardInterrupt):
    """Raised when the user asks to stop for the second time."""


class Interrupts:
    """A signal handler that counts how often the user has asked to stop."""

    def __init__(self) -> None:
        self.count = 0
        self.runs = 1  # that use it, one inside the other

    @property
    def asked(self) -> bool:
        """Whether the user has asked to stop."""
        return self.count > 0

    def __call__(self, number: int, frame: Any) -> None:
        self.count += 1
        if self.count > 1:
            raise Insisted


@contextmanager
def noticed() -> Iterator[Interrupts]:
    """Count Ctrl-C and SIGTERM inside the block instead of ending the process; the second one raises `Insisted`.

    Only the main thread can handle signals; in other threads nothing changes. A signal that is ignored, as in a shell's
    background jobs, stays ignored. The previous handlers are restored at the end. A block inside another one, such as
    that of a run inside a user's function, shares its count: one signal is for all of them.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    outer = next((known for n in SIGNALS if isinstance(known := signal.getsignal(n), Interrupts)), None)
    if in_main_thread and outer is not None:
        outer.runs += 1
        try:
            yield outer
        finally:
            outer.runs -= 1
        return
    interrupts = Interrupts()
    before: dict[int, Any] = {}
    try:
        if in_main_thread:
            for number in SIGNALS:
                if signal.getsignal(number) not in (signal.SIG_IGN, None):  # None: a handler not set by Python
                    before[number] = signal.signal(number, interrupts)
        yield interrupts
    finally:
        for changed, handler in before.items():
            signal.signal(changed, handler)
