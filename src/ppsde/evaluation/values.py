"""Values that the user's function returned: checked, and stored as columns; a `Failure` for each point without."""

from __future__ import annotations

import traceback
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..problem.returned import MalformedValue, point_values

OK = "ok"
INVALID = "invalid"  # well-formed, but NaN, f = -inf or an infinite constraint: a search cannot use it
RAISED = "raised"
MALFORMED = "malformed"  # not f or (f, g, h) made of real numbers in the expected shape
TIMEOUT = "timeout"  # took longer than allowed and was killed
MEMORY = "memory"  # needed more memory than allowed
CRASHED = "crashed"  # ended its process
ASKED = "asked"  # in a journal: its evaluation has begun

LONGEST_TEXT = 2000  # letters of a message that is stored
LONGEST_TRACEBACK = 20_000  # letters
FLOAT = np.dtype(float)


class ElsewhereError(Exception):
    """An exception of another process, as the text of its traceback."""

    def __str__(self) -> str:
        return "\n" + super().__str__()


class EvaluatorLost(RuntimeError):
    """Raised when nothing more can be evaluated: an executor broke, or workers cannot be started."""


@dataclass(frozen=True, eq=False)
class Failure:
    """An evaluation that returned no valid values: the point and the reason."""

    x: np.ndarray  # (d,)
    status: str  # 'raised', 'timeout' and the other constants of this module
    kind: str  # the exception's type, or Timeout, Crashed, NotFinite
    message: str
    seconds: float = 0.0
    cause: BaseException | None = field(default=None, repr=False)  # until the failure is listed; never stored

    @property
    def reason(self) -> str:
        """The reason in one line, such as 'RuntimeError: the mesh collapsed'."""
        return f"{self.kind}: {self.message}" if self.message else self.kind

    def __str__(self) -> str:
        return self.reason

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the cause as text, because some exceptions cannot be pickled."""
        cause = self.cause
        if cause is not None and not isinstance(cause, ElsewhereError):
            cause = ElsewhereError(_traceback_of(cause))
        return Failure, (self.x, self.status, self.kind, self.message, self.seconds, cause)


class EvaluationError(RuntimeError):
    """Raised when an evaluation ends the run; `result` is the result so far.

    `x` is the point and `failure` says what happened to it; both are None where the evaluator itself failed.
    """

    def __init__(self, message: str, x: np.ndarray | None = None, failure: Failure | None = None) -> None:
        super().__init__(message)
        self.x, self.failure = x, failure
        self.result: Any = None


class Noted(NamedTuple):
    """The entry of one row in a journal: its values, or the reason why it has none."""

    f: float
    g: np.ndarray  # (p,)
    h: np.ndarray  # (q,)
    seconds: float
    status: str = OK
    reason: str = ""
    mark: str = ""  # of the point, by `mark_of`; not in journals of 0.1


def mark_of(x: np.ndarray) -> str:
    """Return a few letters by which to know a point (d,) again, also where another processor has rounded it."""
    with np.errstate(over="ignore"):
        return f"{zlib.crc32(x.astype(np.float32).tobytes()):08x}"


class Values:
    """f (n,), g (n, p), h (n, q) and seconds (n,) of the rows of a request, filled in as evaluations finish.

    `counts` are the numbers of inequalities and equalities (p, q). Until a row has shown them (`seen`), finished rows
    wait. The first row that returned anything but NaN alone, in the order of rows and not of time, decides the counts;
    if it is malformed, the program has an error, and `MalformedValue` is raised. After that, a malformed row is a
    failure of that row.

    Parameters
    ----------
    x : array (n, d)
        The points.
    counts : (p, q), optional
    seen : bool
        Whether the counts were decided by a row of an earlier request.
    apart : bool
        Whether these are some rows of a request, which `merge` will add to the others; nothing is raised then.
    finished : callable, optional
        Called with the number of each row that has finished, when its values or its failure are stored.
    check : callable, optional
        Called before a failure is recorded, and may raise: a point that fails while the run is being stopped may have
        failed for that reason.
    """

    def __init__(
        self,
        x: np.ndarray,
        counts: tuple[int, int] | None = None,
        seen: bool = False,
        apart: bool = False,
        finished: Callable[[int], None] | None = None,
        check: Callable[[], None] | None = None,
    ) -> None:
        n = len(x)
        self.x, self.counts, self.seen = x, counts, seen
        self.done = bytearray(n)  # 1 for each row that has finished; bytes and a list, since single entries are written
        self.seconds = [0.0] * n
        self.failures: dict[int, Failure] = {}
        self._apart, self._finished, self._check = apart, finished, check
        self._waiting: dict[int, tuple[float, np.ndarray, np.ndarray]] = {}
        self._allocate()

    def _allocate(self) -> None:
        n, (p, q) = len(self.x), self.counts or (0, 0)
        self.f, self.g, self.h = np.empty(n), np.empty((n, p)), np.empty((n, q))
        for table in (self.f, self.g, self.h):
            table.fill(np.nan)  # faster than np.full

    @property
    def finished(self) -> np.ndarray:
        """Mask of the rows that have finished (n,)."""
        return np.frombuffer(self.done, bool)

    @property
    def first_decides(self) -> bool:
        """Whether a malformed row would raise now, instead of being a failure of that row."""
        return not self.seen and not self._apart

    def put(self, row: int, value: Any, seconds: float) -> None:
        """Store the value that the function returned for one point: f, or (f, g, h)."""
        f, g, h = value if type(value) is tuple and len(value) == 3 else (value, None, None)
        if not self.seen or not isinstance(f, float):
            self._put_any(row, value, seconds)
            return
        for constraints, table in ((g, self.g), (h, self.h)):
            kind, width = type(constraints), table.shape[1]
            if not width and (constraints is None or ((kind is list or kind is tuple) and not constraints)):
                continue
            try:
                array = np.asarray(constraints) if kind is list or kind is tuple else constraints
            except (ValueError, UserWarning):  # ragged, or masked
                array = None
            if type(array) is not np.ndarray or array.dtype is not FLOAT or array.shape != (width,):
                self._put_any(row, value, seconds)
                return
            table[row] = array
        self.f[row] = f
        self.seconds[row] = seconds
        self.done[row] = True
        if self._finished is not None:
            self._judge(row)
            self._finished(row)

    def _put_any(self, row: int, value: Any, seconds: float) -> None:
        """Check and store a value of any type: that of the first row, numbers that are not floats, and mistakes."""
        try:
            values = point_values(value)
        except Exception as error:
            self.fail(row, error, seconds)
        else:
            self._put_row(row, *values, seconds)

    def _put_row(self, row: int, f: float, g: np.ndarray, h: np.ndarray, seconds: float) -> None:
        """Store checked values of one point; they wait if the counts are not known yet."""
        counts = (len(g), len(h))
        if self.seen and _is_nothing(f, g, h):
            g, h = (np.full(table.shape[1], np.nan) for table in (self.g, self.h))
        elif self.seen and counts != self.counts:
            self.fail(row, self._other_counts(counts), seconds)
            return
        self.seconds[row] = seconds
        self.done[row] = True
        if self.seen:
            self.f[row], self.g[row], self.h[row] = f, g, h
        else:
            self._waiting[row] = f, g, h
            self._look_at_the_first()
        if self._finished is not None:
            self._judge(row)
            self._finished(row)

    def put_rows(self, rows: Sequence[int], f: np.ndarray, g: np.ndarray, h: np.ndarray, seconds: float) -> None:
        """Store checked values of several rows, f (k,), g (k, p), h (k, q), each of which took `seconds`."""
        counts = (g.shape[1], h.shape[1])
        if self._apart and len(rows) == len(self.f):
            self.counts, self.seen = counts, True
        if not self.seen or counts != self.counts:
            for k, row in enumerate(rows):
                self._put_row(row, float(f[k]), g[k], h[k], seconds)
            return
        if len(rows) == len(self.f):
            self.f, self.g, self.h = f, g, h
            self.seconds, self.done = [seconds] * len(rows), bytearray(b"\1") * len(rows)
        else:
            at = list(rows)
            self.f[at], self.g[at], self.h[at] = f, g, h
            for row in at:
                self.seconds[row], self.done[row] = seconds, True
        if self._finished is not None:
            self.judge()
            for row in rows:
                self._finished(row)

    def fail(self, row: int, error: BaseException, seconds: float) -> None:
        """Record a failure: the function raised `error`, or returned something malformed."""
        kind, message = shorter(type(error).__name__), shorter(error_text(error))
        if isinstance(error, MalformedValue):
            status = MALFORMED
        else:
            status = MEMORY if isinstance(error, MemoryError) else RAISED
        self.record_failure(row, Failure(self.x[row].copy(), status, kind, message, seconds, error))

    def record_failure(self, row: int, failure: Failure) -> None:
        """Record that a row has no values, and why."""
        if self._check is not None:
            self._check()
        self._waiting.pop(row, None)
        self.f[row], self.g[row], self.h[row] = np.nan, np.nan, np.nan
        self.seconds[row] = failure.seconds
        self.done[row] = True
        self.failures[row] = failure
        if not self.seen:
            self._look_at_the_first()
        if self._finished is not None:
            self._finished(row)

    def restore(self, row: int, noted: Noted) -> None:
        """Store a row that was read from a journal."""
        finished, self._finished = self._finished, None  # the row is already in the journal
        if noted.status in (OK, INVALID):
            self._put_row(row, noted.f, noted.g, noted.h, noted.seconds)
        else:
            kind, _, message = noted.reason.partition(": ")
            self.record_failure(row, Failure(self.x[row].copy(), noted.status, kind, message, noted.seconds))
        self._finished = finished

    def merge(self, rows: Sequence[int], other: Values) -> None:
        """Store the rows of another `Values`; its row k is stored as `rows[k]`."""
        at_once = other.seen and not other.failures and self._finished is None
        if at_once and self.seen and other.counts == self.counts:
            at = list(rows)
            self.f[at], self.g[at], self.h[at] = other.f, other.g, other.h
            for row, seconds in zip(at, other.seconds, strict=True):
                self.seconds[row], self.done[row] = seconds, True
            return
        for k, row in enumerate(rows):
            failure = other.failures.get(k)
            if failure is None or failure.status == INVALID:
                self._put_row(row, *other.row(k), other.seconds[k])
            else:
                self.record_failure(row, failure)

    def row(self, row: int) -> tuple[float, np.ndarray, np.ndarray]:
        """Return f, g (p,) and h (q,) of one row; NaN if it has no values."""
        return self._waiting.get(row) or (float(self.f[row]), self.g[row], self.h[row])

    def noted(self, row: int) -> Noted:
        """Return one row as an entry for a journal."""
        failure = self.failures.get(row)
        mark = mark_of(self.x[row])
        if failure is not None and failure.status != INVALID:
            return Noted(np.nan, np.empty(0), np.empty(0), failure.seconds, failure.status, failure.reason, mark)
        status, reason = (OK, "") if failure is None else (failure.status, failure.reason)
        return Noted(*self.row(row), self.seconds[row], status, reason, mark)

    def forget(self, rows: Sequence[int]) -> None:
        """Clear rows that will be evaluated again."""
        self.f, self.g, self.h = self.f.copy(), self.g.copy(), self.h.copy()  # these may be arrays of the user's
        for row in rows:
            del self.failures[row]
            self._waiting.pop(row, None)
            self.f[row], self.g[row], self.h[row], self.done[row] = np.nan, np.nan, np.nan, False

    def settle(self) -> None:
        """Decide the counts by the first row that has finished, even if an earlier row has not, and judge all rows.

        The run is over: nothing is checked or called.
        """
        self._check = self._finished = None
        rows = [row for row, values in self._waiting.items() if not _is_nothing(*values)]
        if rows:
            _, g, h = self._waiting[min(rows)]
            self._begin((len(g), len(h)))
        self.judge()

    def judge(self) -> None:
        """Record a failure for each finished row whose values are not valid."""
        for row in list(self._waiting):
            self._judge(row)
        if _finite(self.f) and all(_summable(table) for table in (self.g, self.h) if table.size):
            return  # nearly always, and a fast test
        finite = np.isfinite(self.g).all(axis=1) & np.isfinite(self.h).all(axis=1)
        sound = (self.f > -np.inf) & finite & (_violation(self.g, self.h) < np.inf)
        for row in np.flatnonzero(~sound & self.finished).tolist():
            self._judge(row)

    def _judge(self, row: int) -> None:
        """Record a failure for one row if its values are not valid."""
        f, g, h = self.row(row)
        if row in self.failures or (f > -np.inf and _finite(g) and _finite(h) and _violation(g, h) < np.inf):
            return  # the comparison of f is false for NaN
        failure = Failure(self.x[row].copy(), INVALID, "NotFinite", _not_finite(f, g, h), self.seconds[row])
        if self._check is not None:
            self._check()
        self.failures[row] = failure

    def _look_at_the_first(self) -> None:
        """Decide the counts if the first row that returned anything has finished; raise if it is malformed."""
        for row in range(0 if self._apart else len(self.done)):
            if not self.done[row]:
                return  # not finished yet
            failure = self.failures.get(row)
            if row in self._waiting and not _is_nothing(*self._waiting[row]):
                _, g, h = self._waiting[row]
                if self.counts is not None and (len(g), len(h)) != self.counts:
                    raise self._other_counts((len(g), len(h)))
                self._begin((len(g), len(h)))
                return
            if failure is not None and failure.status == MALFORMED:
                raise MalformedValue(failure.message) from failure.cause

    def _begin(self, counts: tuple[int, int]) -> None:
        """Set the counts and store the rows that waited for them."""
        self.counts, self.seen = counts, True
        self._allocate()
        waiting, self._waiting = self._waiting, {}
        for row, (f, g, h) in waiting.items():
            if (len(g), len(h)) == counts:
                self.f[row], self.g[row], self.h[row] = f, g, h
            elif not _is_nothing(f, g, h):
                error = self._other_counts((len(g), len(h)))
                point, seconds = self.x[row].copy(), self.seconds[row]
                self.failures[row] = Failure(point, MALFORMED, type(error).__name__, str(error), seconds, error)

    def _other_counts(self, counts: tuple[int, int]) -> MalformedValue:
        p, q = self.counts or (0, 0)
        return MalformedValue(
            f"the function must return {p} inequalities and {q} equalities; got {counts[0]} and {counts[1]}"
        )

    def __getstate__(self) -> dict[str, Any]:
        """Pickle everything but the callbacks, which belong to this process."""
        return {**self.__dict__, "_finished": None, "_check": None}


def _is_nothing(f: float, g: np.ndarray, h: np.ndarray) -> bool:
    """Return whether values are NaN alone, as of a simulator that failed: they say nothing about constraints."""
    return f != f and not len(g) and not len(h)


def _finite(values: np.ndarray) -> bool:
    return not values.size or np.count_nonzero(np.isfinite(values)) == values.size


def _summable(values: np.ndarray) -> bool:
    """Return whether every value is finite, and no sum of some can overflow."""
    sizes = np.abs(values)
    return sizes.item(sizes.argmax()) * sizes.size < np.inf  # the place of the largest, or of NaN


def _violation(g: np.ndarray, h: np.ndarray) -> Any:
    """Return the sum of the violations of each row, as if no equality had a tolerance; infinite if it overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.maximum(g, 0.0).sum(axis=-1) + np.abs(h).sum(axis=-1)


def _not_finite(f: float, g: np.ndarray, h: np.ndarray) -> str:
    """Return name and value of the first number that is not valid."""
    if not f > -np.inf:
        return f"f is {f}"
    if _finite(g) and _finite(h):
        return "the sum of the violations is larger than 1.8e308"
    name, values = ("g", g) if not _finite(g) else ("h", h)
    k = int(np.argmin(np.isfinite(values)))
    return f"{name}[{k}] is {values[k]}"


def shorter(text: str, letters: int = LONGEST_TEXT) -> str:
    """Return the text, without its middle where it is long.

    Examples
    --------
    >>> shorter("abcdefghij", 6)
    'abc ... (4 characters left out) ... hij'
    """
    if len(text) <= letters:
        return text
    start, end = text[: letters // 2], text[len(text) - letters // 2 :]
    return f"{start} ... ({len(text) - len(start) - len(end):,} characters left out) ... {end}"


def error_text(error: BaseException) -> str:
    """Return `str(error)`, or a text that says so if that raises: the exception may be of a user's class."""
    try:
        return str(error)
    except Exception as worse:
        return f"its text raises {type(worse).__name__}"


def _traceback_of(error: BaseException) -> str:
    try:
        return shorter("".join(traceback.format_exception(error)), LONGEST_TRACEBACK)
    except Exception:
        return shorter(f"{type(error).__name__}: {error_text(error)}")
