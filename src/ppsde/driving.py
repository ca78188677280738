"""The loop of a run: evaluate what it wants, tell it the values, until the budget or something else ends it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any

from .checkpoints.checkpoint import Checkpoint
from .engines.run import Run
from .evaluation.evaluate import Evaluate, Hopeless
from .interrupts import Insisted, Interrupts
from .status import FAILED, INTERRUPTED, SPENT, STOPPED, TIME_UP


class Interrupted(Exception):
    """The user asked to stop."""


class TimeIsUp(Exception):
    """The run has taken all the time it may."""


def watch(interrupts: Interrupts, deadline: float) -> Callable[[], None]:
    """A check that raises when the user has asked to stop, or at the deadline on the monotonic clock."""

    def check() -> None:
        if interrupts.asked:
            raise Interrupted
        if monotonic() >= deadline:
            raise TimeIsUp

    return check


def drive(
    run: Run,
    evaluate: Evaluate,
    check: Callable[[], None],
    after_generation: Callable[[], Any],
    checkpoint: Checkpoint | None = None,
) -> int:
    """Drive a run to its end and give the status that says why it ended.

    `check` is called between evaluations and while they are waited for, and may raise the exceptions of this file;
    `after_generation` is called after the start and after each generation, and may raise StopIteration. What a request
    had brought when the run was stopped inside of it stays in `evaluate.unfinished`. A checkpoint is told of every
    evaluation that finishes, and of every generation.
    """
    seen = -1
    try:
        while run.wanted is not None:
            check()
            if checkpoint is None:
                run.supply(*evaluate(run.wanted, check=check))
            else:
                number = run.requests
                note, known = partial(checkpoint.note, number), checkpoint.known(number)
                run.supply(*evaluate(run.wanted, done=note, known=known, check=check))
                checkpoint.write(run, evaluate.failures, vars(evaluate.account()))
            if run.state is not None and run.state.generation != seen:
                seen = run.state.generation
                try:
                    after_generation()
                except StopIteration:
                    return STOPPED
    except Insisted:
        raise
    except (Interrupted, KeyboardInterrupt):  # the latter where the function itself raised it
        return INTERRUPTED
    except TimeIsUp:
        return TIME_UP
    except Hopeless:
        return FAILED
    return SPENT
