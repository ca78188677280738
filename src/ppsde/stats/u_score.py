"""The U-score of the CEC2024 and CEC2025 competitions: speed and accuracy of every trial in one order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .outcomes import algorithms_of
from .records import Records
from .tables import Row

RecordCells = Mapping[str, Mapping[str, Records]]  # records by problem, then by algorithm


@dataclass(frozen=True)
class Scores:
    """Scores of algorithms on problems; larger is better."""

    problems: tuple[str, ...]
    algorithms: tuple[str, ...]
    scores: np.ndarray  # (problems, algorithms)
    parts: dict[str, np.ndarray]  # what a score is the sum of, or was made with, each (problems, algorithms)

    @property
    def total(self) -> np.ndarray:
        """The score of the competition (algorithms,): the sum over the problems."""
        return self.scores.sum(axis=0)

    @property
    def ranks(self) -> np.ndarray:
        """The places on each problem (problems, algorithms); 1 is best, ties get their mean."""
        from scipy.stats import rankdata

        return rankdata(-self.scores, axis=1)

    def rows(self) -> list[Row]:
        """A row per algorithm, best first: total score, and the sum of its places."""
        total, ranks = self.total, self.ranks.sum(axis=0)
        return [
            {"algorithm": self.algorithms[k], "score": float(total[k]), "rank sum": float(ranks[k])}
            for k in np.argsort(-total, kind="stable")
        ]

    def problem_rows(self) -> list[Row]:
        """A row per problem and algorithm."""
        return [
            {
                "problem": problem,
                "algorithm": algorithm,
                "score": float(self.scores[i, k]),
                **{name: float(part[i, k]) for name, part in self.parts.items()},
            }
            for i, problem in enumerate(self.problems)
            for k, algorithm in enumerate(self.algorithms)
        ]


def u_score(records: RecordCells, *, targets: Mapping[str, float] | None = None) -> Scores:
    """The U-score of the CEC2024 and CEC2025 competitions.

    On each problem the trials (runs) of all algorithms are put in one order, best first:

    1. those that reached a feasible f <= target, by the evaluations made when they first did;
    2. those that ended feasible above the target, by their final f;
    3. those that ended infeasible, by their least violation;
    4. those that failed, all equal.

    The worst trial gets rank 1, the best of N the rank N, ties their mean. The score of an algorithm is the sum of the
    ranks of its n trials less n (n + 1) / 2: the number of pairs with a trial of another algorithm that its trials
    win, ties counted half. For two algorithms it is Mann and Whitney's U.

    Parameters
    ----------
    records : mapping of problem to mapping of algorithm to Records
    targets : mapping of problem to float, optional
        If not given, the target of a problem is the median of the final objectives of all trials that ended feasible.

    Returns
    -------
    Scores
        Larger is better. `parts` counts the trials of each algorithm that reached the target, ended feasible without,
        ended infeasible, and failed.

    Notes
    -----
    The report of 2024 takes the median of the results of all trials as the target, that of 2025 the mean; both record
    no objective for a trial that is infeasible, and neither says what such a trial adds to the target: here it adds
    nothing. The organisers' program of 2024 has the order above and averages ties, of which the reports do not speak;
    it takes the median over infeasible trials too, and violations below 1e-4 as none: here only 0 is feasible.

    References
    ----------
    Price, Kumar, Suganthan, "Trial-based dominance for comparing both the speed and accuracy of stochastic optimizers
    with standard non-parametric tests", Swarm and Evolutionary Computation 78 (2023) 101287.
    Qiao, Wen, Ban, Chen, Price, Suganthan, Liang, Wu, Yue, "Evaluation criteria for CEC 2024 competition and special
    session on numerical optimization considering accuracy and speed", technical report, 2023, section 3; the
    organisers' program Uscore_CSOP_2024.m (github.com/P-N-Suganthan/2024-CEC).

    Examples
    --------
    >>> from ppsde.stats import as_text
    >>> fast = Records([10, 20, 30], [[5.0, 1.0, 1.0], [5.0, 5.0, 4.0]])
    >>> slow = Records([10, 20, 30], [[9.0, 9.0, 0.0], [0.0, 0.0, 0.0]], [[0, 0, 0], [0.2, 0.2, 0.1]])
    >>> print(as_text(u_score({"C01": {"fast": fast, "slow": slow}}).rows()))
    algorithm  score  rank sum
    fast           3         1
    slow           1         2
    """
    from scipy.stats import rankdata

    algorithms = algorithms_of(records)
    if targets is not None and not set(records) <= set(targets):
        raise ValueError(f"targets must be given for the problems {sorted(records)}; got {sorted(targets)}")
    scores = np.zeros((len(records), len(algorithms)))
    tiers = np.zeros((4, *scores.shape))
    for i, (problem, by_algorithm) in enumerate(records.items()):
        groups = [by_algorithm[algorithm] for algorithm in algorithms]
        target = _median_target(groups) if targets is None else float(targets[problem])
        value, tier = (np.concatenate(columns) for columns in zip(*(_trials(g, target) for g in groups), strict=True))
        distinct, index = np.unique(value, return_inverse=True)
        ranks = rankdata(-(tier * len(distinct) + index))  # the worst gets 1
        owner = np.repeat(np.arange(len(groups)), [group.runs for group in groups])
        for k, group in enumerate(groups):
            scores[i, k] = ranks[owner == k].sum() - group.runs * (group.runs + 1) / 2
            tiers[:, i, k] = np.bincount(tier[owner == k], minlength=4)
    names = ("reached", "feasible", "infeasible", "failed")
    return Scores(tuple(records), algorithms, scores, dict(zip(names, tiers, strict=True)))


def _median_target(groups: list[Records]) -> float:
    """The median of the feasible final objectives; -inf, which nothing reaches, where there is none."""
    final = [group.outcomes for group in groups]
    feasible = np.concatenate([each.f[each.feasible] for each in final])
    return float(np.median(feasible)) if feasible.size else -np.inf


def _trials(records: Records, target: float) -> tuple[np.ndarray, np.ndarray]:
    """What trials are ordered by within their tier, and the tier, 0 to 3; (runs,) each."""
    final = records.outcomes
    reached_at = records.first_feasible_below([target])[:, 0]
    reached = reached_at < np.inf
    tier = np.select([reached, final.feasible, ~final.failed], [0, 1, 2], 3)
    value = np.select([reached, final.feasible, ~final.failed], [reached_at, final.f, final.violation], 0.0)
    return value, tier
