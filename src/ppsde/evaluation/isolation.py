"""Evaluation in a child of whatever process this is called in, so that a poisonous evaluation leaves that one alone.

For executors and clusters: their workers are not ours to kill, and one that dies may take others' work with it.
"""

from __future__ import annotations

import atexit
import os
import threading
from dataclasses import dataclass
from time import monotonic, sleep

import numpy as np

from .calling import Reply
from .pool import Pool
from .sending import add_to_path

FREE_SECONDS = 8.0  # how long a child with nothing to do is kept


@dataclass(frozen=True)
class Isolated:
    """A packed `Caller`, to be called in a child process; sent anywhere, it finds or starts that child there."""

    name: str  # of the run; what belongs to a run can be ended together
    function: bytes
    path: tuple[str, ...]
    timeout: float | None
    memory: int | None
    rows_together: bool

    def __call__(self, x: np.ndarray) -> Reply:
        child = _KEPT.take(self)
        try:
            before = child.calls
            outcomes = list(child.submit(x, check=lambda: _KEPT.raise_if_ended(self.name)))
        except BaseException:
            child.close()
            raise
        _KEPT.give(self, child)
        return Reply(outcomes, child.calls - before, child.names)


class Ended(RuntimeError):
    """The run that this evaluation belongs to is over."""


class _Children:
    """Children that are free at the moment, by what they are for. Several threads may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: dict[Isolated, list[tuple[float, Pool]]] = {}  # since when, and which
        self._ended: set[str] = set()
        self._sweeping = False

    def take(self, task: Isolated) -> Pool:
        self.raise_if_ended(task.name)
        with self._lock:
            free = self._free.get(task)
            if free:
                return free.pop()[1]
        add_to_path(task.path)
        return Pool(task.function, 1, task.timeout, task.memory, task.rows_together)

    def give(self, task: Isolated, child: Pool) -> None:
        with self._lock:
            if task.name not in self._ended:
                self._free.setdefault(task, []).append((monotonic(), child))
                if not self._sweeping:
                    self._sweeping = True
                    threading.Thread(target=self._sweep, name="ppsde-children", daemon=True).start()
                return
        child.close()

    def end(self, name: str | None = None) -> None:
        """End the free children of a run, or of all; those that are busy end as soon as they notice."""
        with self._lock:
            if name is not None:
                self._ended.add(name)
            over = [self._free.pop(task) for task in list(self._free) if name in (None, task.name)]
        for _, child in (pair for group in over for pair in group):
            child.close()

    def raise_if_ended(self, name: str) -> None:
        if name in self._ended:
            raise Ended(f"run {name} is over")

    def forget(self) -> None:
        """After a fork, the children are those of the other process."""
        for _, child in (pair for group in self._free.values() for pair in group):
            child.forget()
        self.__init__()  # type: ignore[misc]

    def _sweep(self) -> None:
        """End what nobody has asked for in a while: whoever is done with an executor cannot tell its workers."""
        while True:
            sleep(FREE_SECONDS / 4)
            with self._lock:
                old = []
                for task, free in list(self._free.items()):
                    old += [child for since, child in free if monotonic() - since > FREE_SECONDS]
                    self._free[task] = [pair for pair in free if pair[1] not in old]
                    if not self._free[task]:
                        del self._free[task]
                self._sweeping = bool(self._free)
                going_on = self._sweeping
            for child in old:
                child.close()
            if not going_on:
                return


_KEPT = _Children()
atexit.register(_KEPT.end)
os.register_at_fork(after_in_child=_KEPT.forget)


def end_children(name: str) -> None:
    """End the children of a run in this process, also those that are evaluating."""
    _KEPT.end(name)
