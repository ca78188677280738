"""The score of the CEC2026 competitions: accuracy and speed of every pair of trials, without a target."""

from __future__ import annotations

import numpy as np

from .outcomes import Outcomes, algorithms_of
from .records import Records
from .u_score import RecordCells, Scores


def accuracy_and_speed(records: RecordCells, *, precision: float = 1e-8) -> Scores:
    """The score of the CEC2026 competition on constrained problems, printed as U-score with its results.

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
    Scores
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
    return Scores(tuple(records), algorithms, accuracy + speed, {"accuracy": accuracy, "speed": speed})


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
    """How much larger the value of row i is than that of column j; 0 between equal infinities."""
    with np.errstate(invalid="ignore"):
        return np.where(value[:, None] == value, 0.0, value[:, None] - value)


def _points(wins: np.ndarray, ties: np.ndarray) -> np.ndarray:
    """A point per win and half a point per tie with another trial."""
    return wins.sum(axis=1) + (ties.sum(axis=1) - 1) / 2  # every trial ties with itself
