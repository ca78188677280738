"""Ranks by the rules of CEC2017 and CEC2018, the score of CEC2020, and the ranks printed in the PPS-DE publication."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .outcomes import Cells, Outcomes, algorithms_of
from .ranks import average_ranks, checked_table
from .tables import TableRow


@dataclass(frozen=True)
class CompetitionRanks:
    """Ranks by mean and by median solution; 1 is best."""

    problems: tuple[str, ...]
    algorithms: tuple[str, ...]
    by_mean: np.ndarray  # (problems, algorithms)
    by_median: np.ndarray  # (problems, algorithms)

    @property
    def total(self) -> np.ndarray:
        """The rank value (algorithms,): both ranks summed over the problems."""
        total: np.ndarray = (self.by_mean + self.by_median).sum(axis=0)
        return total

    def rows(self) -> list[TableRow]:
        """A row per algorithm, best first."""
        parts = {"by mean": self.by_mean.sum(axis=0), "by median": self.by_median.sum(axis=0)}
        return _rows_by_total(self.algorithms, parts, self.total)

    def problem_rows(self) -> list[TableRow]:
        """A row per problem and algorithm."""
        return [
            {
                "problem": problem,
                "algorithm": algorithm,
                "by mean": float(self.by_mean[i, k]),
                "by median": float(self.by_median[i, k]),
            }
            for i, problem in enumerate(self.problems)
            for k, algorithm in enumerate(self.algorithms)
        ]


def competition_ranks(cells: Cells, *, zero: float = 0.0, ties: str = "min") -> CompetitionRanks:
    """Rank algorithms by the rules of the CEC2017 and CEC2018 competitions.

    On each problem the algorithms are ranked twice.

    - By mean: the larger feasibility rate first; of equal rates the smaller mean violation over all runs; of equal
      violations the smaller mean objective over all runs, feasible or not.
    - By median solution, the middle run of each algorithm in the order of `Outcomes`: feasible before infeasible,
      feasible ones by objective, infeasible ones by violation.

    The rank value of an algorithm is the sum of both ranks over all problems; the smallest wins. Several dimensions
    are summed in the same way: give them as problems of their own, such as "C01 D=30".

    A failed run counts as infeasible by more than any other, so no algorithm gains by failing: of equal feasibility
    rates the one with fewer failed runs goes first, and the means are over the runs that did not fail.

    Parameters
    ----------
    cells : mapping of problem to mapping of algorithm to Outcomes
        Violations in the measure of the competition.
    zero : float
        Objectives and violations nearer to 0 than this count as 0. The rules name no such limit, but the published
        ranks put algorithms level whose values differ by 1e-15; 1e-8 does so too. A run is not made feasible by it.
    ties : "min" or "average"
        Equal algorithms share the best of their places, as in the published rank tables, or the mean of them, as
        tests on average ranks need it: `friedman(competition_ranks(cells, ties="average").by_median)`.

    References
    ----------
    Wu, Mallipeddi, Suganthan, "Problem Definitions and Evaluation Criteria for the CEC 2017 Competition on
    Constrained Real-Parameter Optimization", technical report, 2017; the same rules with rank tables in Song, Wu,
    Mallipeddi, Suganthan, "Comparison of Results in 2019 on CEC 2017 Competition on Constrained Real Parameter
    Optimization".

    Examples
    --------
    >>> from ppsde.stats import Outcomes, as_text
    >>> lower_but_infeasible = Outcomes([0.0, 0.0, 0.0], [0.1, 0.0, 0.1])
    >>> ranks = competition_ranks({"C01": {"a": lower_but_infeasible, "b": Outcomes([5.0, 6.0, 7.0])}})
    >>> print(as_text(ranks.rows()))
    algorithm  by mean  by median  total  place
    b                1          1      2      1
    a                2          2      4      2
    """
    if ties not in ("min", "average"):
        raise ValueError(f"ties must be 'min' or 'average'; got {ties!r}")
    if not 0 <= zero < np.inf:
        raise ValueError(f"zero must be a finite number >= 0; got {zero!r}")
    algorithms = algorithms_of(cells)
    by_mean, by_median = [], []
    for by_algorithm in cells.values():
        runs = [by_algorithm[algorithm] for algorithm in algorithms]
        by_mean.append(_places([_mean_key(each, zero) for each in runs], ties))
        by_median.append(_places([_median_key(each, zero) for each in runs], ties))
    return CompetitionRanks(tuple(cells), algorithms, np.array(by_mean), np.array(by_median))


def _mean_key(runs: Outcomes, zero: float) -> tuple[float, ...]:
    failed = runs.failed
    if failed.all():
        return 0.0, 1.0, 0.0, 0.0
    violation, f = runs.violation[~failed].mean(), runs.f[~failed].mean()
    return -float(runs.feasible.mean()), float(failed.mean()), _cut(violation, zero), _cut(f, zero)


def _median_key(runs: Outcomes, zero: float) -> tuple[float, ...]:
    run = runs.order()[runs.n // 2]
    if runs.failed[run]:
        return (2.0, 0.0)
    return (0.0, _cut(runs.f[run], zero)) if runs.feasible[run] else (1.0, _cut(runs.violation[run], zero))


def _cut(value: float, zero: float) -> float:
    return 0.0 if abs(value) < zero else float(value)


def _places(keys: list[tuple[float, ...]], ties: str) -> np.ndarray:
    from scipy.stats import rankdata

    distinct = sorted(set(keys))
    places: np.ndarray = rankdata([distinct.index(key) for key in keys], method=ties)
    return places


@dataclass(frozen=True)
class WeightedScores:
    """Scores of the CEC2020 competition on real-world problems, from 0 (best of all) to 1; smaller is better."""

    problems: tuple[str, ...]
    algorithms: tuple[str, ...]
    weights: np.ndarray  # (problems,), of sum 1
    best: np.ndarray  # (problems, algorithms)
    mean: np.ndarray  # (problems, algorithms)
    median: np.ndarray  # (problems, algorithms)

    @property
    def total(self) -> np.ndarray:
        """The score (algorithms,): half by the best run, 0.3 by the mean and 0.2 by the median."""
        total: np.ndarray = self.weights @ self._by_problem
        return total

    @property
    def shares(self) -> np.ndarray:
        """The part of the score that comes from each problem (problems, algorithms)."""
        shares: np.ndarray = self.weights[:, None] * self._by_problem
        return shares

    @property
    def _by_problem(self) -> np.ndarray:
        weighted: np.ndarray = 0.5 * self.best + 0.3 * self.mean + 0.2 * self.median
        return weighted

    def rows(self) -> list[TableRow]:
        """A row per algorithm, best first."""
        parts = {"best": self.best, "mean": self.mean, "median": self.median}
        return _rows_by_total(self.algorithms, {name: self.weights @ part for name, part in parts.items()}, self.total)

    def problem_rows(self) -> list[TableRow]:
        """A row per problem and algorithm."""
        return [
            {
                "problem": problem,
                "algorithm": algorithm,
                "weight": float(self.weights[i]),
                "best": float(self.best[i, k]),
                "mean": float(self.mean[i, k]),
                "median": float(self.median[i, k]),
            }
            for i, problem in enumerate(self.problems)
            for k, algorithm in enumerate(self.algorithms)
        ]


@dataclass(frozen=True)
class ThreeRuns:
    """An entry of which single runs are not known: objective and violation of best run, mean and median run.

    NaN stands for no value.
    """

    best: tuple[float, float]
    mean: tuple[float, float]
    median: tuple[float, float]


SIZE_CLASSES = (10, 30, 50, 150)  # problems of more variables weigh 1, 2, 3, 4 and 5


def weighted_scores(
    cells: Mapping[str, Mapping[str, Outcomes | ThreeRuns]], dimensions: Mapping[str, int]
) -> WeightedScores:
    """Score algorithms by the rules of the CEC2020 competition on real-world constrained problems.

    On each problem, the best run, the mean of all runs and the median run of each algorithm give three numbers: the
    objective where the violation is 0, and otherwise the largest such objective of all algorithms plus the violation;
    where no algorithm is feasible, the violation. Each is scaled so that the best algorithm has 0 and the worst 1. The
    sums over the problems, weighted by their numbers of variables, count 0.5, 0.3 and 0.2.

    The scale depends on all algorithms: one that is infeasible by much brings the others near to each other. An
    algorithm without a value has 1: where its best or median run failed, and for the mean where one run failed.

    Parameters
    ----------
    cells : mapping of problem to mapping of algorithm to Outcomes or ThreeRuns
        Violations in the measure of the competition.
    dimensions : mapping of problem to int
        Numbers of variables.

    References
    ----------
    Kumar, Wu, Ali, Mallipeddi, Suganthan, Das, "Guidelines for real-world single-objective constrained optimisation
    competition", 2020, and the organisers' program that made the published ranking.

    Examples
    --------
    >>> from ppsde.stats import Outcomes, as_text
    >>> cells = {"RC31": {"a": Outcomes([1.0, 2.0, 3.0]), "b": Outcomes([1.0, 1.0, 9.0], [0.0, 0.0, 0.5])}}
    >>> print(as_text(weighted_scores(cells, {"RC31": 4}).rows()))
    algorithm  best  mean  median  total  place
    a             0     0       1    0.2      1
    b             0     1       0    0.3      2
    """
    missing = [problem for problem in cells if problem not in dimensions]
    if missing:
        raise ValueError(f"dimensions must have a number for every problem; it has none for {', '.join(missing)}")
    algorithms = algorithms_of(cells)
    weights = np.array([1 + sum(dimensions[problem] > most for most in SIZE_CLASSES) for problem in cells], float)
    scores = []
    for by_algorithm in cells.values():
        runs = [_three(by_algorithm[algorithm]) for algorithm in algorithms]
        scores.append([_scaled(values) for values in zip(*((r.best, r.mean, r.median) for r in runs), strict=True)])
    best, mean, median = np.array(scores).transpose(1, 0, 2)
    return WeightedScores(tuple(cells), algorithms, weights / weights.sum(), best, mean, median)


def _three(runs: Outcomes | ThreeRuns) -> ThreeRuns:
    if isinstance(runs, ThreeRuns):
        return runs
    return ThreeRuns(_value_of_run(runs, 0), _mean_of_runs(runs), _value_of_run(runs, runs.n // 2))


def _value_of_run(runs: Outcomes, place: int) -> tuple[float, float]:
    run = runs.order()[place]
    return (np.nan, np.nan) if runs.failed[run] else (float(runs.f[run]), float(runs.violation[run]))


def _mean_of_runs(runs: Outcomes) -> tuple[float, float]:
    return (np.nan, np.nan) if runs.failed.any() else (float(runs.f.mean()), float(runs.violation.mean()))


def _scaled(values: Sequence[tuple[float, float]]) -> np.ndarray:
    """Return the scores of objectives and violations, one pair per algorithm; NaN stands for no value."""
    f, violation = np.array(values).T
    known, feasible = ~np.isnan(violation), violation == 0
    number = np.where(feasible, f, (f[feasible].max() if feasible.any() else 0.0) + violation)
    if not known.any():
        return np.ones(len(f))
    low, high = number[known].min(), number[known].max()
    spread = high - low if high > low else 1.0
    return np.where(known, (number - low) / spread, 1.0)


ZERO = 1e-9  # means nearer to 0 than this are ranked as 0
NOT_PRINTED = 1000.0  # takes the place of a mean printed as NaN


def published_average_ranks(means: ArrayLike, *, favoured: Sequence[tuple[int, int]] = ()) -> np.ndarray:
    """Average ranks by the recipe that reproduces the rank rows printed with the published PPS-DE tables.

    The rows are headed Friedman aligned ranks; they are plain average ranks. All 24 come out to four decimals when
    means nearer to 0 than 1e-9 are set to 0, NaN is replaced by 1000, ties are averaged, and, at D = 30, the tie of
    seven algorithms on C09 is broken in favour of PPS-DE. A recipe to check those numbers with, not one to use: 1000 is
    better than many a mean beside it, and infeasible means count like any others. `average_ranks` ranks NaN worst.

    Parameters
    ----------
    means : array_like, (problems, algorithms)
    favoured : sequence of (row, column)
        Entries that are ranked before those they are tied with.

    Returns
    -------
    array, (algorithms,)

    Examples
    --------
    >>> published_average_ranks([[1e-12, 0.0, 5.0], [float("nan"), 2000.0, 7.0]]).tolist()
    [1.75, 2.25, 2.0]
    >>> published_average_ranks([[1.0, 1.0, 1.0]], favoured=[(0, 2)]).tolist()
    [2.5, 2.5, 1.0]
    """
    table = checked_table(means)
    table = np.where(np.abs(table) < ZERO, 0.0, table)
    table = np.where(np.isnan(table), NOT_PRINTED, table)
    for row, column in favoured:
        table[row, column] = np.nextafter(table[row, column], -np.inf)
    return average_ranks(table)


def _rows_by_total(algorithms: Sequence[str], parts: Mapping[str, np.ndarray], total: np.ndarray) -> list[TableRow]:
    """Return a row per algorithm, the smallest total first, with the parts (algorithms,) of the totals by name."""
    return [
        {
            "algorithm": algorithms[k],
            **{name: float(part[k]) for name, part in parts.items()},
            "total": float(total[k]),
            "place": 1 + int((total < total[k]).sum()),
        }
        for k in np.argsort(total, kind="stable")
    ]
