"""Evaluation of a run's requests: limits, failures that are retried, counted and listed, and counters of the costs."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np

from ..checks import check_int, check_seconds
from ..population import Population, evaluated
from ..problem.returned import check_names
from .arrivals import Arrivals, More, Store
from .local import Check, Evaluator, no_check
from .values import EvaluationError, Failure, Noted, Values

MOST_MEMORY = 2**62  # bytes; a larger limit cannot be set
GIVE_UP = 100  # a run ends when so many evaluations have failed and none has succeeded
Note = Callable[[int, Noted], None]  # stores one finished row in a journal
NOTHING_KNOWN: Mapping[int, Noted] = MappingProxyType({})


class Hopeless(Exception):
    """Raised when the first `GIVE_UP` evaluations of a run have all failed."""


@dataclass(frozen=True)
class Limits:
    """Failure policy, time and memory per evaluation, and time of the whole run. Checked on creation.

    `on_failure` is 'penalise' (a failed point has no values), 'retry:n' (the same, after up to n further attempts) or
    'raise' (an `EvaluationError`).

    Examples
    --------
    >>> Limits("retry:2").retries
    2
    """

    on_failure: str = "penalise"
    eval_timeout: float | None = None
    eval_memory: int | None = None
    max_time: float | None = None

    def __post_init__(self) -> None:
        if self.on_failure not in ("penalise", "raise") and not self.retries:
            raise ValueError(
                f"on_failure must be 'penalise', 'raise' or 'retry:n' with n >= 1; got {self.on_failure!r}"
            )
        for name in ("eval_timeout", "max_time"):
            object.__setattr__(self, name, check_seconds(name, getattr(self, name)))
        if self.eval_memory is not None:
            try:
                memory = check_int("eval_memory", self.eval_memory, 1)
                if memory > MOST_MEMORY:
                    raise ValueError
            except ValueError:
                raise ValueError(
                    f"eval_memory must be a number of bytes, an int from 1 to 2**62; got {self.eval_memory!r}"
                ) from None
            object.__setattr__(self, "eval_memory", memory)
            if sys.platform != "linux":
                raise ValueError("eval_memory can be limited on Linux only")

    @property
    def retries(self) -> int:
        """How often a point that failed is evaluated again."""
        name, _, count = self.on_failure.partition(":") if isinstance(self.on_failure, str) else ("", "", "")
        return int(count) if name == "retry" and count.isascii() and count.isdigit() else 0


NO_LIMITS = Limits()


@dataclass(frozen=True)
class Costs:
    """Evaluation counters, which a checkpoint stores and `resume` restores."""

    points: int = 0  # evaluated to the end; retries are not counted
    calls: int = 0  # of the function
    seconds: float = 0.0  # of all evaluations together
    longest: float = 0.0  # of one
    counts: tuple[int, ...] | None = None  # of inequalities and equalities, once known
    seen: bool = False  # whether the function has returned well-formed values
    hope: bool = False  # whether it has returned valid values, which a search can use
    names: tuple[str, ...] | None = None  # of the constraints, where the function itself has them

    @classmethod
    def checked(cls, content: dict[str, Any]) -> Costs:
        """Return the counters read from a file; ValueError or TypeError if they cannot be counters."""
        costs = cls(**content)
        counts, names = costs.counts, costs.names
        for name, sound in {
            "points": _is_count(costs.points),
            "calls": _is_count(costs.calls),
            "seconds": type(costs.seconds) is float and 0 <= costs.seconds < inf,
            "longest": type(costs.longest) is float and 0 <= costs.longest < inf,
            "counts": counts is None or (type(counts) is tuple and len(counts) == 2 and all(map(_is_count, counts))),
            "seen": type(costs.seen) is bool,
            "hope": type(costs.hope) is bool,
            "names": names is None or (type(names) is tuple and all(type(name) is str for name in names)),
        }.items():
            if not sound:
                raise ValueError(f"{name} cannot be {ascii(content.get(name))[:80]}")
        return costs


NO_COSTS = Costs()


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


class Evaluate:
    """Evaluates the requests of a run by an evaluator; a point that fails gets NaN, and the others are not affected.

    A malformed value (complex, text, a wrong shape) at the first evaluation raises, because it is a mistake in the
    program; later it is a failure of that point only. 'First' refers to the order of the rows, so that the number of
    workers changes nothing.

    Parameters
    ----------
    evaluator : Evaluator
    limits : Limits
        Only the failure policy is applied here.
    counts : (p, q), optional
        Numbers of inequalities and equalities, if known.
    earlier : Costs
        Counters of the run before it was resumed.
    failures : sequence of Failure
        Of the run before it was resumed.
    given_names : sequence of str, optional
        Names of the constraints, as many as there must be.
    """

    REMEMBERED = 1000  # length of the list of failures, at most

    def __init__(
        self,
        evaluator: Evaluator,
        limits: Limits = NO_LIMITS,
        counts: tuple[int, int] | None = None,
        earlier: Costs = NO_COSTS,
        failures: Sequence[Failure] = (),
        given_names: Sequence[str] | None = None,
    ) -> None:
        self._evaluator, self._given_names = evaluator, given_names
        self._raises, self._retries = limits.on_failure == "raise", limits.retries
        self._counts = counts if earlier.counts is None else (earlier.counts[0], earlier.counts[1])
        self._seen, self._hope = earlier.seen, earlier.hope
        self.points, self._seconds, self._longest = earlier.points, earlier.seconds, earlier.longest
        self._earlier_calls, self._earlier_names = earlier.calls, earlier.names
        self.failures = list(failures)
        self.unfinished: Values | None = None  # of a request that is not complete
        self._counted = 0  # rows of that request that are in the counters above

    @property
    def calls(self) -> int:
        """How often the function was called; each row counts as a call of a vectorised function."""
        return self._earlier_calls + self._evaluator.calls

    @property
    def names(self) -> Sequence[str] | None:
        """Names of the constraints, where the function itself has them."""
        return self._evaluator.names or self._earlier_names

    def costs(self) -> Costs:
        """The counters so far."""
        names = None if self.names is None else tuple(map(str, self.names))
        figures = (self.points, self.calls, self._seconds, self._longest)
        return Costs(*figures, self._counts, self._seen, self._hope, names)

    def seconds_each(self) -> tuple[float, float]:
        """Return the mean and the longest time that the evaluation of a point took, in seconds."""
        latest = [0.0]
        if self.unfinished is not None:
            pairs = zip(self.unfinished.seconds, self.unfinished.done, strict=True)
            latest += [seconds for seconds, done in list(pairs)[self._counted :] if done]
        return (self._seconds + sum(latest)) / max(1, self.points + len(latest) - 1), max(self._longest, *latest)

    def __call__(
        self,
        x: np.ndarray,
        *,
        check: Check = no_check,
        note: Note | None = None,
        known: Mapping[int, Noted] = NOTHING_KNOWN,
    ) -> Values:
        """Evaluate the rows of x (n, d) and return their values.

        `check()` is called between evaluations and may raise. `note(row, noted)` is called for each row that has
        finished and will not be retried. Rows in `known` are not evaluated.
        """
        raises, retries = self._raises, self._retries
        attempt = 0

        def finished(row: int) -> None:
            failure = values.failures.get(row)
            if failure is not None and raises:
                _raise(failure)
            if note is not None and (failure is None or attempt == retries):
                note(row, values.noted(row))

        values = self.unfinished = Values(
            x, self._counts, self._seen, finished=finished if raises or note is not None else None, check=check
        )
        self._counted = 0
        for row, noted in known.items():
            values.restore(row, noted)
        self._earlier_calls += len(known)
        # While nothing has succeeded, evaluate no more points than it takes to give up.
        first = len(x) if self._hope else min(len(x), GIVE_UP - self.points)
        for portion in filter(None, (range(first), range(first, len(x)))):
            rows: Sequence[int] = [row for row in portion if row not in known] if known else portion
            for attempt in range(retries + 1):
                if attempt:
                    rows = [row for row in rows if row in values.failures]
                    values.forget(rows)
                if rows:
                    self._evaluator.submit(values, rows, check)
                values.judge()
            self._learn(values)
            self._count(values, portion)
        self.unfinished = None
        return values

    def stream(self, more: More, finished: Callable[[int, Values], None], *, check: Check = no_check) -> None:
        """Evaluate points one by one, as many at a time as there are workers, while `more` returns some.

        `more(free)` returns number and point of up to so many points. `finished(number, values)` gets the values of one
        point, which has finished and will not be retried. `check()` is called between evaluations. All may raise.
        """
        attempts: Counter[int] = Counter()

        def arrived(number: int, x: np.ndarray, store: Store) -> bool:
            values = Values(x[None], self._counts, self._seen, check=check)
            store(values)
            attempts[number] += 1
            if self._judged(values) and attempts[number] <= self._retries:
                return True
            del attempts[number]
            self._finish(values)
            finished(number, values)
            return False

        self._evaluator.stream(Arrivals(more, arrived), check)

    def restore(self, x: np.ndarray, noted: Noted) -> Values:
        """Return the values of one point (d,) from a journal, and count it."""
        values = Values(x[None], self._counts, self._seen)
        values.restore(0, noted)
        self._judged(values)
        self._earlier_calls += 1
        self._finish(values)
        return values

    def _judged(self, values: Values) -> bool:
        """Learn the numbers of constraints from the values of one point; return whether it failed."""
        values.judge()
        self._learn(values)
        return bool(values.failures)

    def _learn(self, values: Values) -> None:
        """Store the numbers of constraints; `MalformedValue` if there are not as many names."""
        if values.seen and not self._seen and values.counts is not None:
            check_names(self._given_names, sum(values.counts))
        self._counts, self._seen = values.counts, values.seen

    def _finish(self, values: Values) -> None:
        """Count one point; the run itself knows whether there is hope."""
        with suppress(Hopeless):
            self._count(values, range(1))

    def unfinished_points(self, tolerance: float) -> tuple[Population | None, Sequence[Failure]]:
        """Return the points evaluated in a request that is not complete, and those of their failures not listed yet.

        The algorithm has not seen these points, but they count.
        """
        values = self.unfinished
        if values is None or not any(values.done):
            return None, ()
        values.settle()
        rows = np.flatnonzero(values.finished)
        failed = [values.failures[row] for row in sorted(values.failures) if row >= self._counted]
        points = evaluated(values.x[rows], values.f[rows], values.g[rows], values.h[rows], tolerance)
        return points, [replace(failure, cause=None) for failure in failed[: self.REMEMBERED - len(self.failures)]]

    def _count(self, values: Values, rows: range) -> None:
        """Add a portion of a request to the counters, and its failures to the list."""
        seconds = values.seconds[rows.start : rows.stop]
        self.points += len(rows)
        self._seconds += sum(seconds)
        self._longest = max(self._longest, max(seconds))
        failed = sorted(row for row in values.failures if row in rows) if values.failures else []
        self._hope = self._hope or len(failed) < len(rows)
        self._counted = rows.stop
        for row in failed[: self.REMEMBERED - len(self.failures)]:
            self.failures.append(replace(values.failures[row], cause=None))  # it holds all variables of its functions
        if failed and self._raises:
            _raise(values.failures[failed[0]])
        if not self._hope and self.points >= GIVE_UP:
            raise Hopeless


def _raise(failure: Failure) -> NoReturn:
    with np.printoptions(precision=17, threshold=12):
        message = f"the evaluation at {failure.x} failed: {failure}"
    raise EvaluationError(message, failure.x, failure) from failure.cause
