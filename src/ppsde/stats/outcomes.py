"""Final values of runs, and their order: feasible by objective, then infeasible by violation, failed last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Outcomes:
    """The final values of the runs of one algorithm on one problem, an entry per run.

    A run has failed where a value is NaN, f is -inf or the violation is infinite; +inf is an objective like any other.
    A failed run is never feasible and is worse than every other.

    Parameters
    ----------
    f : array_like, (n,)
        The objective.
    violation : array_like, (n,), optional
        In the measure that tables show, such as the mean violation of the CEC competitions; 0 exactly where a run ended
        feasible. All runs are feasible if not given.
    by_constraint : array_like, (n, m), optional
        How far each constraint is violated, 0 where it is met; needed only for the numbers `c` of the CEC tables.

    Examples
    --------
    >>> runs = Outcomes([3.0, 1.0, float("nan"), 0.5], [0.0, 0.0, 0.0, 2.0])
    >>> runs.feasible.tolist(), runs.failed.tolist()
    ([True, True, False, False], [False, False, True, False])
    >>> runs.order().tolist()
    [1, 0, 3, 2]
    """

    f: np.ndarray
    violation: np.ndarray
    by_constraint: np.ndarray | None

    def __init__(self, f: ArrayLike, violation: ArrayLike | None = None, by_constraint: ArrayLike | None = None):
        values = np.array(f, dtype=float)
        if values.ndim != 1 or not values.size:
            raise ValueError(f"f must have shape (runs,) with at least one run; got shape {values.shape}")
        missed = np.zeros_like(values) if violation is None else np.array(violation, dtype=float)
        if missed.shape != values.shape:
            raise ValueError(f"violation must have the shape of f, {values.shape}; got {missed.shape}")
        if (missed < 0).any():
            raise ValueError(f"violation must be >= 0; got {missed.min()}")
        amounts = None if by_constraint is None else np.array(by_constraint, dtype=float)
        if amounts is not None and (amounts.ndim != 2 or len(amounts) != len(values)):
            raise ValueError(f"by_constraint must have shape ({len(values)}, constraints); got {amounts.shape}")
        if amounts is not None and (amounts < 0).any():
            raise ValueError(f"by_constraint must be >= 0; got {amounts.min()}")
        object.__setattr__(self, "f", values)
        object.__setattr__(self, "violation", missed)
        object.__setattr__(self, "by_constraint", amounts)

    @property
    def n(self) -> int:
        return len(self.f)

    @property
    def failed(self) -> np.ndarray:
        """Which runs have no usable values (n,)."""
        return ~((self.f > -np.inf) & (self.violation < np.inf))  # both comparisons are false for NaN

    @property
    def feasible(self) -> np.ndarray:
        """Which runs ended feasible (n,)."""
        feasible: np.ndarray = ~self.failed & (self.violation == 0)
        return feasible

    def order(self) -> np.ndarray:
        """The runs, best first (n,); of infeasible runs with one violation the smaller objective goes first."""
        value, tier = _value_and_tier(self)
        f = np.where(self.failed, 0.0, self.f)
        return np.lexsort((f, value, tier))


Cells = Mapping[str, Mapping[str, Outcomes]]  # outcomes by problem, then by algorithm


def as_outcomes(runs: Outcomes | ArrayLike) -> Outcomes:
    """Return `Outcomes` unchanged, and an array of objectives as `Outcomes` of feasible runs."""
    return runs if isinstance(runs, Outcomes) else Outcomes(runs)


def positions(*groups: Outcomes) -> list[np.ndarray]:
    """Rank the runs of several groups together; 1 is best, ties get their mean. Returns the ranks of each group.

    Feasible runs are ordered by f, infeasible runs follow by violation alone, failed runs come last, all equal.

    Examples
    --------
    >>> first = Outcomes([1.0, 2.0], [0.0, 0.3])
    >>> second = Outcomes([1.0, 5.0, float("nan")], [0.0, 0.0, 0.0])
    >>> [places.tolist() for places in positions(first, second)]
    [[1.5, 4.0], [1.5, 3.0, 5.0]]
    """
    from scipy.stats import rankdata

    keys = [_value_and_tier(group) for group in groups]
    value = np.concatenate([key[0] for key in keys])
    tier = np.concatenate([key[1] for key in keys])
    distinct, index = np.unique(value, return_inverse=True)
    places = rankdata(tier * len(distinct) + index)
    return np.split(places, np.cumsum([group.n for group in groups])[:-1])


def cells_of(
    problem: Sequence[str],
    algorithm: Sequence[str],
    f: ArrayLike,
    violation: ArrayLike | None = None,
    by_constraint: Sequence[ArrayLike] | None = None,
) -> dict[str, dict[str, Outcomes]]:
    """Group a table of runs, one row per run, by problem and algorithm, in the order of first appearance.

    Parameters
    ----------
    problem, algorithm : sequences of str, (rows,)
    f, violation : array_like, (rows,)
        As `Outcomes` takes them.
    by_constraint : sequence of array_like, (rows,), optional
        The violations by constraint of each row; problems may differ in the number of constraints.

    Examples
    --------
    >>> cells = cells_of(["C01", "C01", "C01", "C01"], ["a", "a", "b", "b"], [1.0, 2.0, 3.0, 4.0])
    >>> cells["C01"]["b"].f.tolist()
    [3.0, 4.0]
    """
    objective = np.asarray(f, dtype=float)
    missed = np.zeros_like(objective) if violation is None else np.asarray(violation, dtype=float)
    lengths = {len(problem), len(algorithm), *objective.shape[:1], *missed.shape[:1]}
    lengths |= set() if by_constraint is None else {len(by_constraint)}
    if len(lengths) != 1:
        raise ValueError(f"the columns must have one length; got {sorted(lengths)}")
    rows: dict[str, dict[str, list[int]]] = {}
    for k, (name, method) in enumerate(zip(problem, algorithm, strict=True)):
        rows.setdefault(str(name), {}).setdefault(str(method), []).append(k)
    return {
        name: {
            method: Outcomes(
                objective[chosen],
                missed[chosen],
                None if by_constraint is None else np.array([by_constraint[k] for k in chosen]),
            )
            for method, chosen in by_method.items()
        }
        for name, by_method in rows.items()
    }


def algorithms_of(cells: Mapping[str, Mapping[str, object]]) -> tuple[str, ...]:
    """Return the algorithms of a table of cells; ValueError unless every problem has the same ones."""
    if not cells:
        raise ValueError("a table of outcomes must have at least one problem; got none")
    first, *_ = cells.values()
    for problem, by_algorithm in cells.items():
        if set(by_algorithm) != set(first) or not by_algorithm:
            raise ValueError(
                f"every problem must have the algorithms {sorted(first)}; {problem} has {sorted(by_algorithm)}"
            )
    return tuple(first)


def _value_and_tier(runs: Outcomes) -> tuple[np.ndarray, np.ndarray]:
    """Return the value that orders runs within their tier, and the tier: 0 feasible, 1 infeasible, 2 failed."""
    failed, feasible = runs.failed, runs.feasible
    value = np.where(feasible, runs.f, np.where(failed, 0.0, runs.violation))
    return value, np.where(feasible, 0, np.where(failed, 2, 1))
