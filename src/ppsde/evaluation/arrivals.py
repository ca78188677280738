"""Points that are evaluated one by one, as workers become free; evaluators store their values in `Arrivals`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .values import Failure, Values

More = Callable[[int], list[tuple[int, np.ndarray]]]  # number and point (d,) of up to so many points to begin with
Store = Callable[[Values], None]  # stores the values of one point in row 0


class Points:
    """Points (d,) by number, which are indexed as the rows of an array are."""

    def __init__(self) -> None:
        self.by_number: dict[int, np.ndarray] = {}

    def __getitem__(self, which: int | Sequence[int]) -> np.ndarray:
        if isinstance(which, int):
            return self.by_number[which]
        return np.array([self.by_number[number] for number in which])


class Arrivals:
    """The points that are evaluated now; in place of `Values` where there is no request with rows.

    Parameters
    ----------
    more : callable
        Gets how many workers are free and returns number and point of as many points, or fewer.
    arrived : callable
        Gets the number and the point of one that has finished, and a function that stores its values; returns whether
        to evaluate it again.
    """

    def __init__(self, more: More, arrived: Callable[[int, np.ndarray, Store], bool]) -> None:
        self.x = Points()
        self._more, self._arrived = more, arrived
        self._again: list[int] = []

    def begin(self, free: int) -> list[int]:
        """Return the numbers of up to so many points whose evaluation begins now."""
        if free <= 0:
            return []
        numbers, self._again = self._again[:free], self._again[free:]
        for number, x in self._more(free - len(numbers)):
            self.x.by_number[number] = x
            numbers.append(number)
        return numbers

    def merge(self, rows: Sequence[int], other: Values) -> None:
        """Store the values of the point whose number is the only one of `rows`."""
        (number,) = rows  # points are sent one by one
        self.store(number, lambda values: values.merge([0], other))

    def record_failure(self, row: int, failure: Failure) -> None:
        """Store that the point with this number has no values, and why."""
        self.store(row, lambda values: values.record_failure(0, failure))

    def store(self, number: int, store: Store) -> None:
        """Store what `store` writes into row 0 as the values of the point with this number."""
        if self._arrived(number, self.x[number], store):
            self._again.append(number)
        else:
            del self.x.by_number[number]
