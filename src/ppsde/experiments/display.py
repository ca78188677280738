"""A live display of a study on standard error: how far, how fast, how long still."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic

from ..progress import Status, View, view_of

Show = Callable[[Callable[[], Status]], None]


@contextmanager
def display(enabled: bool) -> Iterator[Show]:
    """Give a function to call as often as one likes; it asks for a status only when a picture is due.

    A display that cannot be written goes silent; it never ends a study.
    """
    view: View | None = None
    if enabled and sys.stderr is not None:
        with suppress(OSError, ValueError):
            view = view_of(sys.stderr)
    due = 0.0
    last: Callable[[], Status] | None = None

    def draw() -> None:
        nonlocal view
        if view is not None and last is not None:
            try:
                view.draw(last())
            except (OSError, ValueError):  # closed, full, or without the letters for it
                view = None

    def show(status: Callable[[], Status]) -> None:
        nonlocal due, last
        last = status
        if view is not None and monotonic() >= due:
            draw()
            due = monotonic() + (view.interval if view is not None else 0.0)

    try:
        yield show
        draw()  # the end, whenever the last picture was drawn
    finally:
        if view is not None:
            with suppress(OSError, ValueError):
                view.close()
