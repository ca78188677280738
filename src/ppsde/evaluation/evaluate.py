"""What is to be done about a point whose evaluation fails.

What the evaluations of a run have cost and shown so far, in plain values that a checkpoint can hold.

Requests of a run, evaluated under a policy: rows in, values out, and the account of what failed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from ..engines.run import GIVE_UP
from .local import NOTHING_KNOWN, Check, Done, Evaluator
from .values import INVALID, MALFORMED, OK, Columns, EvaluationError, Failure, MalformedValue, Outcome, failure_of


@dataclass(frozen=True)
class Policy:
    """`retries` more attempts at a point that failed; then it is left without values, or an error if `raises`."""

    retries: int = 0
    raises: bool = False


def policy_of(on_failure: Any) -> Policy:
    """The policy by its name: 'penalise', 'retry:n' or 'raise'.

    Examples
    --------
    >>> policy_of("retry:2")
    Policy(retries=2, raises=False)
    """
    if on_failure == "penalise":
        return Policy()
    if on_failure == "raise":
        return Policy(raises=True)
    if isinstance(on_failure, str) and on_failure.startswith("retry:"):
        count = on_failure.removeprefix("retry:")
        if count.isascii() and count.isdigit() and int(count) > 0:
            return Policy(retries=int(count))
    raise ValueError(f"on_failure must be 'penalise', 'raise' or 'retry:n' with n >= 1; got {on_failure!r}")


@dataclass(frozen=True)
class Account:
    """The figures of `Evaluate`, to be gone on from."""

    points: int = 0  # evaluated to the end
    calls: int = 0  # of the function
    seconds: float = 0.0  # of all evaluations together
    longest: float = 0.0  # of one
    counts: tuple[int, ...] | None = None  # of inequalities and equalities, once known
    seen: bool = False  # whether something in good form was returned
    hope: bool = False  # whether something that can be searched with was
    names: tuple[str, ...] | None = None  # of the constraints, where the function itself has them

    @classmethod
    def checked(cls, told: dict[str, Any]) -> Account:
        """The account of those figures, which may come from anywhere."""
        account = cls(**told)
        for name in ("points", "calls"):
            _expect(_is_count(getattr(account, name)), name, told)
        for name in ("seconds", "longest"):
            value = getattr(account, name)
            _expect(type(value) is float and 0 <= value < inf, name, told)
        for name in ("seen", "hope"):
            _expect(type(getattr(account, name)) is bool, name, told)
        counts, names = account.counts, account.names
        _expect(
            counts is None or (_is_tuple(counts) and len(counts) == 2 and all(map(_is_count, counts))), "counts", told
        )
        _expect(names is None or (_is_tuple(names) and all(type(name) is str for name in names)), "names", told)
        return account


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_tuple(value: Any) -> bool:
    return type(value) is tuple


def _expect(holds: bool, name: str, told: dict[str, Any]) -> None:
    if not holds:
        raise ValueError(f"{name} cannot be {ascii(told.get(name))[:80]}")


Values = tuple[np.ndarray, np.ndarray, np.ndarray]


class Hopeless(Exception):
    """Nothing but failures, and enough of them."""


class Evaluate:
    """Evaluates requests by an evaluator; a point that fails costs itself alone, and its values are NaN.

    Something malformed (complex, text, a wrong shape) at the first evaluation is an error, because it is a mistake in
    the program; later it is a failure of that point, and nothing is lost. 'First' is meant by the order of the rows,
    so that the number of workers changes nothing.
    """

    KEPT = 1000  # failures remembered in full

    def __init__(self, evaluator: Evaluator, policy: Policy, counts: tuple[int, int] | None = None) -> None:
        self._evaluator, self._policy = evaluator, policy
        self._counts = counts  # (p, q), once known
        self._seen = False  # something in good form was returned
        self._hope = False  # something that can be searched with was
        self.points = 0  # evaluated to the end, each counted once however often it was tried
        self.failures: list[Failure] = []
        self._seconds = 0.0  # of all those points together
        self._longest = 0.0
        self.unfinished: dict[int, Outcome] = {}  # rows that are done of a request that is not
        self._accounted = 0  # rows of that request that are in the figures above
        self._earlier_calls = 0  # before the run was taken up again
        self._earlier_names: Sequence[str] | None = None

    @property
    def calls(self) -> int:
        return self._earlier_calls + self._evaluator.calls

    @property
    def names(self) -> Sequence[str] | None:
        return self._evaluator.names or self._earlier_names

    def account(self) -> Account:
        """All that is to be known of the requests so far, to go on from."""
        names = None if self.names is None else tuple(map(str, self.names))
        figures = (self.points, self.calls, self._seconds, self._longest)
        return Account(*figures, self._counts, self._seen, self._hope, names)

    def take_up(self, account: Account, failures: Sequence[Failure]) -> None:
        """Go on from the requests of another time."""
        self.points, self._seconds, self._longest = account.points, account.seconds, account.longest
        self._seen, self._hope, self.failures = account.seen, account.hope, list(failures)
        self._earlier_calls, self._earlier_names = account.calls, account.names
        if account.counts is not None:
            self._counts = (account.counts[0], account.counts[1])

    def seconds_each(self) -> tuple[float, float]:
        """What the evaluation of a point took: on average, and at most."""
        latest = [outcome.seconds for row, outcome in self.unfinished.items() if row >= self._accounted]
        return (self._seconds + sum(latest)) / max(1, self.points + len(latest)), max(self._longest, *latest, 0.0)

    def __call__(
        self,
        x: np.ndarray,
        *,
        done: Done | None = None,
        known: Mapping[int, Outcome] = NOTHING_KNOWN,
        check: Check | None = None,
    ) -> Values:
        """f (n,), g (n, p), h (n, q) of the rows of x (n, d).

        `done`, `known` and `check` are those of an evaluator; `done` is told a row when it will not be tried again.
        """
        self.unfinished, self._accounted = dict(known), 0
        self._earlier_calls += len(known)
        whole: Sequence[Outcome] = []
        if not self._hope:  # no more points are spent on nothing but failures than it takes to give up
            whole = self._portion(x, range(min(len(x), GIVE_UP - self.points)), done, known, check)
        if len(whole) < len(x):
            rest = self._portion(x, range(len(whole), len(x)), done, known, check)
            whole = [*whole, *rest] if whole else rest
        self.unfinished = {}
        return self.values(whole)

    def _portion(
        self, x: np.ndarray, rows: range, done: Done | None, known: Mapping[int, Outcome], check: Check | None
    ) -> Sequence[Outcome]:
        """The outcomes of some rows, entered in the account."""
        outcomes = self._persistently(x, rows, done, known, check)
        try:
            self._account(x, rows, outcomes)
        except (EvaluationError, Hopeless):
            self.unfinished.update(zip(rows, outcomes, strict=True))
            raise
        return outcomes

    def values(self, outcomes: Sequence[Outcome]) -> Values:
        """The values of outcomes as columns; NaN where there are none."""
        if isinstance(outcomes, Columns):
            return outcomes.f, outcomes.g, outcomes.h
        n, (p, q) = len(outcomes), self._counts or (0, 0)
        f, g, h = np.full(n, np.nan), np.full((n, p), np.nan), np.full((n, q), np.nan)
        rows = [k for k, outcome in enumerate(outcomes) if self._in_form(outcome).status in (OK, INVALID)]
        if rows:
            f[rows] = [outcomes[k].f for k in rows]
            g[rows] = [outcomes[k].g for k in rows]
            h[rows] = [outcomes[k].h for k in rows]
        return f, g, h

    def _persistently(
        self, x: np.ndarray, rows: range, done: Done | None, known: Mapping[int, Outcome], check: Check | None
    ) -> Sequence[Outcome]:
        """The outcomes of some rows; those that fail are tried again as often as the policy says."""
        retries = self._policy.retries
        outcomes = self._once(x, rows, done, known, check, last=retries == 0)
        for attempt in range(1, retries + 1):
            failed = [row for row, outcome in zip(rows, outcomes, strict=True) if not outcome.ok and row not in known]
            if not failed:
                break
            again = self._once(x, failed, done, NOTHING_KNOWN, check, last=attempt == retries)
            newer = dict(zip(failed, again, strict=True))
            outcomes = [newer.get(row, outcome) for row, outcome in zip(rows, outcomes, strict=True)]
        return outcomes

    def _once(
        self,
        x: np.ndarray,
        rows: Sequence[int],
        done: Done | None,
        known: Mapping[int, Outcome],
        check: Check | None,
        last: bool,
    ) -> Sequence[Outcome]:
        """The outcomes of some rows, each tried once."""

        def finished(k: int, outcome: Outcome) -> None:
            row = rows[k]
            if not outcome.ok and check is not None:
                check()  # what fails while the run is being stopped may fail because of that
            self.unfinished[row] = outcome
            if not self._seen:
                self._look_at_the_first(rows)
            if not outcome.ok and self._policy.raises and outcome.status != MALFORMED:
                self._note(x[row], outcome)
            if done is not None and (outcome.ok or last):
                done(row, outcome)

        outcomes = self._evaluator.submit(
            x if len(rows) == len(x) else x[list(rows)],
            None if self._evaluator.at_once and done is None else finished,
            {k: known[row] for k, row in enumerate(rows) if row in known} if known else known,
            check,
        )
        if not self._seen:
            self.unfinished.update(zip(rows, outcomes, strict=True))
            self._look_at_the_first(rows)
        if isinstance(outcomes, Columns) and (outcomes.g.shape[1], outcomes.h.shape[1]) == self._counts:
            return outcomes
        return [self._in_form(outcome) for outcome in outcomes]

    def _look_at_the_first(self, rows: Sequence[int]) -> None:
        """The first row that returned anything says how many constraints there are, or that the program is wrong."""
        for row in rows:
            outcome = self.unfinished.get(row)
            if outcome is None:  # still to come
                return
            outcome = self._in_form(outcome)
            if outcome.status == MALFORMED:
                raise MalformedValue(failure_of(np.empty(0), outcome).message) from outcome.cause
            if outcome.status in (OK, INVALID):
                self._counts, self._seen = (len(outcome.g), len(outcome.h)), True
                return

    def _in_form(self, outcome: Outcome) -> Outcome:
        """The outcome; malformed if it has another number of constraints than it should."""
        if self._counts is None or outcome.status not in (OK, INVALID):
            return outcome
        counts = (len(outcome.g), len(outcome.h))
        if counts == self._counts:
            return outcome
        words = "the function must return {} inequalities and {} equalities; got {} and {}"
        error = f"{MalformedValue.__name__}: {words.format(*self._counts, *counts)}"
        return Outcome(MALFORMED, seconds=outcome.seconds, error=error)

    def _account(self, x: np.ndarray, rows: range, outcomes: Sequence[Outcome]) -> None:
        self.points += len(rows)
        if isinstance(outcomes, Columns):
            failed = outcomes.failed()
            self._seconds += outcomes.seconds * len(rows)
            self._longest = max(self._longest, outcomes.seconds)
        else:
            failed = [k for k, outcome in enumerate(outcomes) if not outcome.ok]
            seconds = [outcome.seconds for outcome in outcomes]
            self._seconds += sum(seconds)
            self._longest = max(self._longest, *seconds)
        self._hope = self._hope or len(failed) < len(rows)
        self._accounted = rows.stop
        for k in failed:
            self._note(x[rows[k]], outcomes[k])
        if not self._hope and self.points >= GIVE_UP:
            raise Hopeless

    def _note(self, x: np.ndarray, outcome: Outcome) -> None:
        failure = failure_of(x, outcome)
        if len(self.failures) < self.KEPT:
            self.failures.append(failure)
        if self._policy.raises:
            with np.printoptions(precision=17, threshold=12):
                message = f"the evaluation at {x} failed: {failure}"
            raise EvaluationError(message, failure.x, outcome) from outcome.cause
