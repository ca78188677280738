"""Ctrl-C and SIGTERM as a request to stop, heeded at the next good moment; the second one stops at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Insisted(KeyboardInterrupt):
    """The user has asked again."""


class Interrupts:
    """How often the user has asked to stop."""

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
    """Notice interrupts while inside; afterwards their handlers are what they were.

    Only the main thread can; elsewhere nothing is changed. A signal that is ignored, as it is in the background of a
    shell, stays ignored.
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
