"""What evaluators have in common that send rows away and get replies."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .calling import Reply
from .evaluator import Done, Evaluator
from .outcome import Outcome


class ByReplies(Evaluator):
    """`size(rows)` says how many rows go together if there are so many; `end` is what `close` does."""

    def __init__(self, size: Callable[[int], int], end: Callable[[], None]) -> None:
        super().__init__()
        self._size, self._end = size, end

    def close(self) -> None:
        self._end()

    def _received(self, reply: Reply, rows: Sequence[int], outcomes: dict[int, Outcome], done: Done | None) -> None:
        """Take in what came back for those rows."""
        self.calls += reply.calls
        self.names = reply.names or self.names
        for row, outcome in zip(rows, reply.outcomes, strict=True):
            outcomes[row] = outcome
            if done is not None:
                done(row, outcome)
