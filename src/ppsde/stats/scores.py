"""ScoreTable of accuracy and speed: the U-score of the CEC2024 and CEC2025 competitions, and the score of CEC2026."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .outcomes import Outcomes, algorithms_of
from .records import Records
from .tables import TableRow

RecordCells = Mapping[str, Mapping[str, Records]]  # records by problem, then by algorithm


@dataclass(frozen=True)
class ScoreTable:
    """ScoreTable of algorithms on problems; larger is better."""

    problems: tuple[str, ...]
    algorithms: tuple[str, ...]
    scores: np.ndarray  # (problems, algorithms)
    parts: dict[str, np.ndarray]  # terms of the score, or counts behind it, each (problems, algorithms)

    @property
    def total(self) -> np.ndarray:
        """The score of the competition (algorithms,): the sum over the problems."""
        total: np.ndarray = self.scores.sum(axis=0)
        return total

    @property
    def ranks(self) -> np.ndarray:
        """The places on each problem (problems, algorithms); 1 is best, ties get their mean."""
        from scipy.stats import rankdata

        ranks: np.ndarray = rankdata(-self.scores, axis=1)
        return ranks

    def rows(self) -> list[TableRow]:
        """A row per algorithm, best first: total score, and the sum of its places."""
        total, ranks = self.total, self.ranks.sum(axis=0)
        return [
            {"algorithm": self.algorithms[k], "score": float(total[k]), "rank sum": float(ranks[k])}
            for k in np.argsort(-total, kind="stable")
        ]

    def problem_rows(self) -> list[TableRow]:
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


def u_score(records: RecordCells, *, targets: Mapping[str, float] | None = None) -> ScoreTable:
    """Compute the U-score of the CEC2024 and CEC2025 competitions.

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
    ScoreTable
        Larger is better. `parts` counts the trials of each algorithm that reached the target, ended feasible without,
        ended infeasible, and failed.

    Notes
    -----
    The report of 2024 takes the median of the results of all trials as the target, that of 2025 the mean; both record
    no objective for a trial that is infeasible, and neither says how such a trial counts in the target: here it does
    not. The organisers' program of 2024 has the order above and averages ties, which the reports do not mention; it
    takes the median over infeasible trials too, and counts violations below 1e-4 as 0: here only 0 is feasible.

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
    return ScoreTable(tuple(records), algorithms, scores, dict(zip(names, tiers, strict=True)))


def _median_target(groups: list[Records]) -> float:
    """Return the median of the feasible final objectives; -inf, which nothing reaches, where there is none."""
    final = [group.outcomes for group in groups]
    feasible = np.concatenate([each.f[each.feasible] for each in final])
    return float(np.median(feasible)) if feasible.size else -np.inf


def _trials(records: Records, target: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the value that orders trials within their tier, and the tier, 0 to 3; (runs,) each."""
    final = records.outcomes
    reached_at = records.first_feasible_below([target])[:, 0]
    reached = reached_at < np.inf
    tier = np.select([reached, final.feasible, ~final.failed], [0, 1, 2], 3)
    value = np.select([reached, final.feasible, ~final.failed], [reached_at, final.f, final.violation], 0.0)
    return value, tier


def accuracy_and_speed(records: RecordCells, *, precision: float = 1e-8) -> ScoreTable:
    """Compute the score of the CEC2026 competition on constrained problems, printed as U-score with its results.

    On each problem every pair of trials (runs), also of one algorithm, is compared twice, for a point each; a tie
    gives both half a point.

    - Accuracy: of two trials that ended feasible the one with the smaller f wins, of two that ended infeasible the one
      with less violation, of one of each the feasible one.
    - Speed: if both ended feasible, the one that was first to reach the larger of their two final f; otherwise the one
      that was first to reach the larger of their two least violations. So an infeasible trial can be the faster one.

    The score of an algorithm is the sum of the points of its trials. With m algorithms of n trials the scores of a
    problem add up to m n (m n - 1): 39800 for eight algorithms of 25 trials. Pairs of one algorithm's own trials add
    n (n - 1) to each score, whatever they do.

    A failed trial is less accurate and slower than any other; two are equal.

    Parameters
    ----------
    records : mapping of problem to mapping of algorithm to Records
        Speed is seen at the recorded points, so all records should be equally dense; those of the competition are
        made every 10 D evaluations.
    precision : float
        Objectives, and violations, no further apart than this are equal, and a level is reached when missed by no
        more. Chauhan's program (see the references) also takes a violation below it as feasible; here only 0 is.

    Returns
    -------
    ScoreTable
        Larger is better; `parts` has `accuracy` and `speed`.

    References
    ----------
    Ban, Lin, Qiao, Chen, Price, Yue, Liang, Stanovov, Suganthan, "Evaluation Criteria for CEC 2026 Competition and
    Special Session on Constrained Single and Multi-Objective Optimization Considering both Accuracy and Speed",
    technical report, 2025, section 1; for the precision, Chauhan's program uscore_CSOPs.m
    (github.com/ChauhanDikshit/DE-2LS-CSOPs-IEEE-CEC-2026-Competition).

    Examples
    --------
    >>> from ppsde.stats import as_text
    >>> quick = Records([10, 20, 30], [[2.0, 2.0, 2.0]])
    >>> exact = Records([10, 20, 30], [[8.0, 5.0, 1.0]])
    >>> none = Records([10, 20, 30], [[0.0, 0.0, 0.0]], [[0.5, 0.5, 0.5]])
    >>> score = accuracy_and_speed({"C01": {"quick": quick, "exact": exact, "none": none}})
    >>> print(as_text(score.problem_rows()))
    problem  algorithm  score  accuracy  speed
    C01      quick        2.5         1    1.5
    C01      exact        2.5         2    0.5
    C01      none           1         0      1
    """
    if not 0 <= precision < np.inf:
        raise ValueError(f"precision must be a finite number >= 0; got {precision!r}")
    algorithms = algorithms_of(records)
    accuracy, speed = (np.zeros((len(records), len(algorithms))) for _ in range(2))
    for i, by_algorithm in enumerate(records.values()):
        groups = [by_algorithm[algorithm] for algorithm in algorithms]
        owner = np.repeat(np.arange(len(groups)), [group.runs for group in groups])
        for points, part in ((_accuracy_points, accuracy), (_speed_points, speed)):
            part[i] = np.bincount(owner, points(groups, precision), minlength=len(groups))
    return ScoreTable(tuple(records), algorithms, accuracy + speed, {"accuracy": accuracy, "speed": speed})


def _together(groups: list[Records]) -> Outcomes:
    final = [group.outcomes for group in groups]
    return Outcomes(np.concatenate([each.f for each in final]), np.concatenate([each.violation for each in final]))


def _accuracy_points(groups: list[Records], precision: float) -> np.ndarray:
    """The points of each trial (trials,)."""
    final = _together(groups)
    tier = np.select([final.feasible, ~final.failed], [0, 1], 2)
    value = np.select([final.feasible, ~final.failed], [final.f, final.violation], 0.0)
    same_tier = tier[:, None] == tier
    gap = np.where(same_tier, _gap(value), 0.0)
    wins = (tier[:, None] < tier) | (same_tier & (gap < -precision))
    ties = same_tier & (np.abs(gap) <= precision)
    return _points(wins, ties)


def _speed_points(groups: list[Records], precision: float) -> np.ndarray:
    """The points of each trial (trials,)."""
    final = _together(groups)
    both = final.feasible[:, None] & final.feasible
    f = np.where(final.feasible, final.f, 0.0)  # looked at only where both are feasible
    violation = np.where(final.failed, np.inf, final.violation)
    f_level = np.maximum(f[:, None], f) + precision
    violation_level = np.maximum(violation[:, None], violation) + precision
    starts = np.cumsum([0, *(group.runs for group in groups)])
    reached = np.concatenate(
        [
            np.where(
                both[a:b], group.first_feasible_below(f_level[a:b]), group.first_violation_below(violation_level[a:b])
            )
            for group, a, b in zip(groups, starts[:-1], starts[1:], strict=True)
        ]
    )  # [i, j]: when trial i reached the level that it shares with trial j
    return _points(reached < reached.T, reached == reached.T)


def _gap(value: np.ndarray) -> np.ndarray:
    """Return the value of row i less that of column j; 0 between equal infinities."""
    with np.errstate(invalid="ignore"):
        return np.where(value[:, None] == value, 0.0, value[:, None] - value)


def _points(wins: np.ndarray, ties: np.ndarray) -> np.ndarray:
    """Count a point per win and half a point per tie with another trial."""
    points: np.ndarray = wins.sum(axis=1) + (ties.sum(axis=1) - 1) / 2  # every trial ties with itself
    return points
