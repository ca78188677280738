"""The checkpoint of a running search: its state after some generation, and a journal of later evaluations."""

from __future__ import annotations

import hashlib
import json
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self

import numpy as np

from ..engines.run import Run
from ..engines.searches import Searches
from ..evaluation.evaluate import NO_COSTS, Costs
from ..evaluation.values import INVALID, MALFORMED, OK, Failure, Noted
from ..files import errors_name, sweep
from ..population import Population, checked_tolerance
from . import state_file
from .journal import Journal, NotedRows
from .state_file import MAGIC, CheckpointError, CheckpointWarning
from .state_tree import described, described_searches, flatten, rebuild, restored, restored_searches

KIND = "run"  # written into the file, to tell it from those of `Optimizer.save`
MISFITS = 10  # a function is another one if so many values have other numbers of constraints, and none has the same
_NOTHING: Mapping[int, Noted] = MappingProxyType({})


@dataclass(frozen=True)
class Stored:
    """The contents of a checkpoint."""

    run: Run | Searches
    checkpoint: Checkpoint  # open, for the resumed run
    about: dict[str, Any]  # the request, as `Request.stored` returned it
    costs: dict[str, Any]  # the fields of `Costs`, not checked yet
    failures: list[Failure]


class Checkpoint:
    """The checkpoint of one run: a file and a journal beside it, locked for other processes until it is closed.

    The file holds the run as it was after some generation, the journal every evaluation that has finished since. So no
    finished evaluation is lost, whenever the process ends; `every` decides only how long the journal becomes.

    Parameters
    ----------
    path : path-like
        No file may exist there.
    run : Run
        Written at once, so that an impossible path is an error before anything is evaluated.
    about : mapping, optional
        The request as plain data: numbers, text, arrays, and tuples and lists of these.
    every : float
        Seconds between two writes of the file; 0 writes it after every generation.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        run: Run | Searches,
        *,
        about: Mapping[str, Any] = MappingProxyType({}),
        every: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        _check_free(Path(path))
        with errors_name(Path(path)):
            self._open(Path(path), dict(about), every, clock)
        try:
            _check_free(Path(path))  # again, now that the lock stops others from creating it
            sweep(self.path, MAGIC)  # a process may have been killed while it wrote the very first state
            self._store(run, (), NO_COSTS)
        except BaseException:
            self._journal.close()
            if not self.path.exists():
                self._journal_path.unlink()
            raise
        self._empty = True

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        method: Any = None,
        options: Mapping[str, Any] | None = None,
        every: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> Stored:
        """Read a checkpoint, lock it and return its contents; `CheckpointError` if it is damaged or in use.

        An algorithm that is not in `ppsde.ALGORITHMS` must be passed as `method`, and a rule that is not in
        `ppsde.RULES` as one of `options`.
        """
        checkpoint = cls.__new__(cls)
        state_file.read(Path(path))  # before a journal is created beside a file that is no checkpoint
        checkpoint._open(Path(path), {}, every, clock)
        try:
            found = state_file.read(Path(path))  # again, now that the lock stops others from writing it
            with state_file.naming(Path(path)):
                run, about, costs, failures = _contents(found, method, options)
            checkpoint._about = about
            checkpoint._doubted = run.best
            checkpoint._stored, checkpoint._over = run.requests, run.wanted is None
            checkpoint._known = checkpoint._journal.resume(_continued_by(found, run))
            checkpoint._noted = max(checkpoint._known, default=-1)
            sweep(checkpoint.path, MAGIC)
        except BaseException:
            checkpoint._journal.close()
            raise
        return Stored(run, checkpoint, about, costs, failures)

    def _open(self, path: Path, about: dict[str, Any], every: float, clock: Callable[[], float]) -> None:
        self.path, self.every = path, checked_tolerance(every, "checkpoint_every")
        self.error: Exception | None = None  # of the last write that failed
        self._about, self._clock, self._closed = about, clock, False
        self._written = clock()
        self._stored, self._over = -1, False  # of the run in the file: requests answered, and whether it is over
        self._noted = -1  # number of the latest request in the journal
        self._empty = False  # a new run, of which nothing was evaluated yet
        self._known: NotedRows = {}
        self._doubted: Population | None = None  # a stored point, until a row with as many constraints comes
        self._held: list[tuple[int, int, Noted]] = []  # rows with other numbers of constraints; not in the journal yet
        self._journal_path: Path = Path(os.path.realpath(path) + ".journal")
        self._journal: Journal = Journal(self._journal_path, clock)

    def known(self, request: int) -> Mapping[int, Noted]:
        """Return the rows of a request that finished before the run was resumed."""
        return self._known.get(request, _NOTHING)

    def events(self) -> list[tuple[int, Noted]]:
        """Return number and entry of each point that was asked for or answered before the run was resumed, in order."""
        return [(number, noted) for rows in self._known.values() for number, noted in rows.items()]

    def disown(self, count: int) -> None:
        """Warn that so many rows that finished before belong to points that the run does not ask for."""
        warnings.warn(
            f"{self.path}: the method has changed since: it asks for other points, and {count} that were evaluated "
            "after its last stored generation are not used",
            CheckpointWarning,
            stacklevel=2,
        )

    def note(self, request: int, row: int, noted: Noted) -> None:
        """Store one finished row of a request in the journal. A full disk is a warning, not the end of the run."""
        new = [(request, row, noted)]
        self._noted, self._empty = max(self._noted, request), False
        if self._doubted is not None:
            if _misfits(noted, self._doubted) or (self._held and noted.status not in (OK, INVALID)):
                self._held += new
                return
            if noted.status in (OK, INVALID):
                self._doubted, self._held, new = None, [], self._held + new
        try:
            for one in new:
                self._journal.note(*one)
        except OSError as error:
            self._complain(error)

    def write(
        self,
        run: Run | Searches,
        failures: Sequence[Failure] = (),
        costs: Costs = NO_COSTS,
        *,
        now: bool = False,
    ) -> bool:
        """Store the run if a generation has just ended and it is time to, or if `now`; return whether it was stored.

        Called each time the run was supplied with values. A full disk is a warning, not the end of the run.
        `CheckpointError` if the function seems to be another one than before.
        """
        misfits = sum(_misfits(noted, self._doubted) for _, _, noted in self._held) if self._doubted is not None else 0
        if self._doubted is not None and misfits >= MISFITS:
            form = f"{self._doubted.g.shape[1]} inequalities and {self._doubted.h.shape[1]} equalities"
            raise CheckpointError(
                f"{self.path}: it belongs to another function, it seems: {misfits} points evaluated now do not "
                f"have the {form} of its points; none of them was stored"
            )
        if self._held and run.wanted is not None:
            return False
        if not run.between_generations or self._noted >= run.requests:
            return False  # a write would delete the journal, which has rows of this request or of later ones
        if run.requests == self._stored or (not now and self._clock() - self._written < self.every):
            return False
        try:
            self._store(run, failures, costs)
        except (OSError, CheckpointError) as error:
            self._complain(error)
            return False
        return True

    def close(self) -> None:
        """Write the journal to the disk, or delete it if the run is over, and unlock the files."""
        if self._closed:
            return
        self._closed = True
        try:
            self._journal.sync()
        except OSError as error:
            self._complain(error)
        if self._over:
            with suppress(OSError):
                self._journal_path.unlink()
        self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        """Close; delete the files if an error ended the run before anything was evaluated."""
        if kind is not None and self._empty and not self._closed:
            with suppress(OSError):
                self.path.unlink()
                self._journal_path.unlink()
        self.close()

    def _store(self, run: Run | Searches, failures: Sequence[Failure], costs: Costs) -> None:
        arrays: dict[str, np.ndarray] = {}
        content = {
            "kind": KIND,
            "about": {key: flatten(value, f"about.{key}", arrays, {}) for key, value in self._about.items()},
            "account": {key: flatten(value, f"account.{key}", arrays, {}) for key, value in vars(costs).items()},
            **_described(run, arrays),
        }
        _flatten_failures(failures, arrays)
        digest = state_file.write(self.path, content, arrays)
        self._written, self._stored, self._over = self._clock(), run.requests, run.wanted is None
        self._known, self._held = {}, []
        self._journal.restart(digest)
        self.error = None

    def _complain(self, error: Exception) -> None:
        if self.error is None:
            warnings.warn(
                f"the checkpoint {self.path} could not be written ({error}); the run goes on, and what was written "
                "before is still valid",
                CheckpointWarning,
                stacklevel=3,
            )
        self.error = error


def peek(
    path: str | os.PathLike[str], method: Any = None, options: Mapping[str, Any] | None = None
) -> tuple[Run | Searches, dict[str, Any]]:
    """Return the run in a checkpoint and its request as plain data, without a lock: the checkpoint may be in use."""
    found = state_file.read(Path(path))
    with state_file.naming(Path(path)):
        run, about, _, _ = _contents(found, method, options)
    return run, about


def _continued_by(found: state_file.Contents, run: Run | Searches) -> bytes:
    """Return the digest in a journal that continues a file.

    The values in a journal belong to the points that a run asked for. One that has begun again asks for others, always
    the same by this version: its journal is another.
    """
    if not run.begun_again:
        return found.digest
    from .. import __version__

    return hashlib.sha256(found.digest + f"begun again by {__version__}".encode()).digest()


def _check_free(path: Path) -> None:
    if path.exists():
        raise CheckpointError(f"{path} exists already: resume it, delete it, or choose another path")


def _misfits(noted: Noted, point: Population) -> bool:
    """Return whether a row is malformed, or has other numbers of constraints than this point."""
    if noted.status not in (OK, INVALID):
        return noted.status == MALFORMED
    return (len(noted.g), len(noted.h)) != (point.g.shape[1], point.h.shape[1])


def _contents(
    found: state_file.Contents, method: Any, options: Mapping[str, Any] | None
) -> tuple[Run | Searches, dict[str, Any], dict[str, Any], list[Failure]]:
    content = found.content
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise CheckpointError("it does not hold a run of minimize")
    about, costs = (_rebuilt(content.get(name), found.arrays) for name in ("about", "account"))
    several = "searches" in content
    run = (restored_searches if several else restored)(content, found.arrays, method, options)
    return run, about, costs, _rebuild_failures(found.arrays, run.task.dimension)


def _described(run: Run | Searches, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    if isinstance(run, Searches):
        return described_searches(run.snapshot(), arrays)
    return described(run.snapshot(), arrays)


def _rebuilt(described: Any, arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    if not isinstance(described, dict):
        raise CheckpointError("it does not store its request")
    return {key: rebuild(value, arrays, {}) for key, value in described.items()}


def _flatten_failures(failures: Sequence[Failure], arrays: dict[str, np.ndarray]) -> None:
    """Store failures as three arrays; there may be many, so all their texts are one array of bytes."""
    texts = json.dumps([[failure.status, failure.kind, failure.message] for failure in failures])
    arrays["failures.x"] = np.array([failure.x for failure in failures], float)
    arrays["failures.seconds"] = np.array([failure.seconds for failure in failures], float)
    arrays["failures.texts"] = np.frombuffer(texts.encode(), np.uint8)


def _rebuild_failures(arrays: Mapping[str, np.ndarray], dimension: int) -> list[Failure]:
    try:
        x, seconds = arrays["failures.x"], arrays["failures.seconds"]
        texts = json.loads(arrays["failures.texts"].tobytes())
        sound = x.dtype == seconds.dtype == float and x.shape == ((len(texts), dimension) if texts else (0,))
        if not sound or not all(type(text) is str for row in texts for text in row):
            raise ValueError("arrays of other shapes or types")
        rows = zip(x, texts, seconds.tolist(), strict=True)
        return [Failure(point.copy(), status, kind, message, taken) for point, (status, kind, message), taken in rows]
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise CheckpointError(f"its failures cannot be read: {type(error).__name__}: {error}") from None
