"""The statistics of a study: summaries, ranks, tests and scores of its cells, and a verdict in words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from ..stats import (
    Comparisons,
    CompetitionRanks,
    Ecdf,
    Nemenyi,
    Outcomes,
    RankTest,
    Records,
    ScoreTable,
    Summary,
    accuracy_and_speed,
    all_pairs,
    competition_ranks,
    friedman,
    holm,
    nemenyi,
    rank_sum,
    summarise,
    target_ecdf,
    u_score,
)
from .study import Study

ALPHA = 0.05
LEVEL = 1e-8  # objectives this near to the best count as equal to it, as in the competitions
FEW_PROBLEMS = 10  # with fewer, a test detects only large differences
TARGETS = 10.0 ** np.arange(2, -8.5, -0.5)  # distances of the targets from the optimum
MOST_TRIALS = 2000  # on one problem, for scores that compare every two of them
REASONS = 5  # why runs failed: so many different messages are shown at the top


def plain(value: float) -> str:
    """Return a number as it is written by hand.

    Examples
    --------
    >>> plain(1e-8), plain(100.0)
    ('1e-8', '100')
    """
    return f"{value:g}".replace("e-0", "e-")


@dataclass(frozen=True)
class Comparison:
    """Two algorithms on one problem, by the rank-sum test on their runs."""

    problem: str
    first: str
    second: str
    A12: float  # the chance that a run of the first is better
    effect: str  # negligible, small, medium or large
    p: float
    adjusted: float  # p after Holm's correction over the problems

    @property
    def winner(self) -> str | None:
        if self.adjusted >= ALPHA:
            return None
        return self.first if self.A12 > 0.5 else self.second


@dataclass(frozen=True)
class Wins:
    """Problems won, tied and lost by the first of two algorithms."""

    first: str
    second: str
    wins: int
    ties: int
    losses: int
    A12: float  # mean over the problems


@dataclass(frozen=True)
class Findings:
    """The statistics of a study; None for those that need two algorithms, or two problems, where there are fewer."""

    summaries: dict[str, dict[str, Summary]]  # by problem and algorithm, every cell that has a run
    ranks: CompetitionRanks | None  # ties shared as their mean
    competition: CompetitionRanks | None  # ties as the competitions have them
    test: RankTest | None
    pairs: Nemenyi | None
    holm: Comparisons | None  # the same pairs by Holm's correction
    comparisons: list[Comparison]  # every pair on every problem
    wins: list[Wins]  # every pair
    reference: str | None  # the algorithm that the others are marked against
    u_score: ScoreTable | None
    speed_score: ScoreTable | None
    ecdf: dict[str, Ecdf]  # by algorithm
    ecdf_problems: int
    ecdf_known: int  # of them, problems whose optimum is known
    headline: str
    reasons: list[str]
    caveats: list[str]  # about runs that are missing, failed or could not be compared

    @property
    def order(self) -> list[str]:
        """The algorithms that are ranked, best first."""
        if self.ranks is None:
            return []
        average = self.ranks.by_median.mean(axis=0)
        return [self.ranks.algorithms[k] for k in np.argsort(average, kind="stable")]

    def mark(self, problem: str, name: str) -> str:
        """Return + where an algorithm is better than the reference on a problem, - worse, = neither; else nothing."""
        return self._marks.get((problem, name), "")

    @cached_property
    def _marks(self) -> dict[tuple[str, str], str]:
        found = {}
        for one in self.comparisons:
            if self.reference in (one.first, one.second):
                other = one.second if one.first == self.reference else one.first
                found[one.problem, other] = "=" if one.winner is None else "+" if one.winner == other else "-"
        return found


def most_trials(study: Study) -> int:
    """Return the largest number of runs on one problem."""
    return max((sum(cell.n for cell in study.outcomes[p].values()) for p in study.complete), default=0)


def find(study: Study, reference: str | None = None) -> Findings:
    """Compute the statistics of a study; the reference is, if not given, the algorithm with the best average rank."""
    if reference is not None and reference not in study.ranked:
        raise ValueError(f"reference must be one of {', '.join(study.ranked) or 'no algorithm yet'}; got {reference!r}")
    names, complete = study.ranked, study.complete
    best = {p: _best_objective(study.outcomes[p]) for p in complete}
    cells = {p: {a: _levelled(study.outcomes[p][a], best[p]) for a in names} for p in complete}
    compared = bool(cells) and len(names) > 1
    ranks = competition_ranks(cells, ties="average") if compared else None
    competition = competition_ranks(cells) if compared else None
    values = None if ranks is None else ranks.by_median
    test = friedman(values, names) if values is not None and len(cells) > 1 else None
    pairs = nemenyi(values, names, alpha=ALPHA) if values is not None and len(cells) > 1 else None
    scores: tuple[ScoreTable | None, ScoreTable | None] = None, None
    if compared and most_trials(study) <= MOST_TRIALS:
        records = {p: {a: _levelled_records(study.records[p][a], best[p]) for a in names} for p in complete}
        scores = u_score(records), accuracy_and_speed(records)
    optima = {p.label: p.optimum for p in study.problems}
    floors = {p: f if (known := optima[p]) is None else known for p, f in best.items()}
    targets = {p: floor + TARGETS for p, floor in floors.items() if np.isfinite(floor)}
    solvable = list(targets)
    variables = {p.label: p.dimension for p in study.problems}
    ecdf = {
        a: target_ecdf(
            {p: study.records[p][a] for p in solvable}, targets, variables={p: variables[p] for p in solvable}
        )
        for a in names
        if solvable
    }
    headline, reasons = _verdict(study, ranks, test, pairs)
    if compared and competition is not None:
        reasons += _second_opinions(competition, *scores)
    comparisons = _comparisons(cells) if compared else []
    if reference is None and ranks is not None:
        reference = ranks.algorithms[int(np.argmin(ranks.by_median.mean(axis=0)))]
    return Findings(
        summaries={p: {a: summarise(runs) for a, runs in row.items()} for p, row in study.outcomes.items()},
        ranks=ranks,
        competition=competition,
        test=test,
        pairs=pairs,
        holm=None if values is None or pairs is None else all_pairs(values, names),
        comparisons=comparisons,
        wins=_wins(comparisons),
        reference=reference,
        u_score=scores[0],
        speed_score=scores[1],
        ecdf=ecdf,
        ecdf_problems=len(solvable),
        ecdf_known=sum(optima[p] is not None for p in solvable),
        headline=headline,
        reasons=reasons,
        caveats=_caveats(study),
    )


def _best_objective(row: dict[str, Outcomes]) -> float:
    """Return the smallest objective of a feasible run, +inf where there is none."""
    return min((float(runs.f[runs.feasible].min()) for runs in row.values() if runs.feasible.any()), default=np.inf)


def _levelled(runs: Outcomes, best: float) -> Outcomes:
    """Return the runs with feasible objectives within LEVEL of the best set to the best: the rest is rounding."""
    near = runs.feasible & (runs.f - best <= LEVEL)
    return Outcomes(np.where(near, best, runs.f), runs.violation, runs.by_constraint)


def _levelled_records(records: Records, best: float) -> Records:
    near = (records.violation == 0) & (records.f - best <= LEVEL)
    return Records(records.evaluations, np.where(near, best, records.f), records.violation)


def _comparisons(cells: dict[str, dict[str, Outcomes]]) -> list[Comparison]:
    names = list(next(iter(cells.values())))
    found = []
    for first, second in combinations(names, 2):
        tests = [rank_sum(row[first], row[second]) for row in cells.values()]
        for problem, one, adjusted in zip(cells, tests, holm([one.p for one in tests]), strict=True):
            found.append(Comparison(problem, first, second, one.A12, one.magnitude, one.p, float(adjusted)))
    return found


def _wins(comparisons: list[Comparison]) -> list[Wins]:
    by_pair: dict[tuple[str, str], list[Comparison]] = {}
    for one in comparisons:
        by_pair.setdefault((one.first, one.second), []).append(one)
    found = []
    for (first, second), row in by_pair.items():
        winners = [one.winner for one in row]
        effect = float(np.mean([one.A12 for one in row]))
        found.append(Wins(first, second, winners.count(first), winners.count(None), winners.count(second), effect))
    return found


# --- in words -----------------------------------------------------------------------------------------------------


def _verdict(
    study: Study, ranks: CompetitionRanks | None, test: RankTest | None, pairs: Nemenyi | None
) -> tuple[str, list[str]]:
    if not study.ranked:
        return "No run is finished yet.", []
    if len(study.ranked) == 1:
        return f"{study.ranked[0]} ran alone: there is nothing to compare it with.", []
    if ranks is None:
        return "Nothing can be compared yet: no problem has finished runs of every algorithm.", []
    average = ranks.by_median.mean(axis=0)
    first = np.flatnonzero(average == average.min())
    names, n = ranks.algorithms, len(ranks.problems)
    leader, best = names[first[0]], float(average.min())
    basis = (
        f"Ranked by the median run on each of {n} problem{'s' * (n > 1)}, feasible before infeasible, objectives "
        f"within {plain(LEVEL)} of the best counted as equal: "
        + ", ".join(f"{names[k]} {average[k]:.2f}" for k in np.argsort(average, kind="stable"))
        + f" (average rank, 1 is best of {len(names)})."
    )
    bases = [basis, *_by_dimension(study, ranks)]
    if len(first) > 1:
        level = _listed([names[k] for k in first])
        return f"No winner: {level} share the best average rank, {best:.2f}.", bases
    if test is None or pairs is None:
        return f"{leader} is ahead, on a single problem: no test can say how surely.", bases
    reasons = [
        *bases,
        f"Friedman's test in the form of Iman and Davenport: {p_equals(test.p)}, "
        + ("the algorithms differ." if test.p < ALPHA else "no evidence that the algorithms differ at all."),
    ]
    k = names.index(leader)
    apart = [names[j] for j in range(len(names)) if average[j] - best > pairs.critical_difference]
    near = [(names[j], pairs.p[k, j]) for j in range(len(names)) if j != k and names[j] not in apart]
    if test.p >= ALPHA:
        headline = f"No clear winner: {leader} has the best average rank, {best:.2f}; no difference is significant."
        apart = []
    elif not near:
        nearest = max((j for j in range(len(names)) if j != k), key=lambda j: pairs.p[k, j])
        surely = f"{p_equals(pairs.p[k, nearest])} against {names[nearest]}"
        headline = f"{leader} wins: it ranks significantly better than each of the others ({surely})."
    elif apart:
        headline = (
            f"{leader} has the best average rank, {best:.2f}: significantly better than {_listed(apart)}, "
            f"but not than {_listed([name for name, _ in near])}."
        )
    else:
        headline = (
            f"{leader} has the best average rank, {best:.2f}, but is not significantly better than any single rival."
        )
    details = [f"{names[j]} {p_equals(pairs.p[k, j])}" for j in np.argsort(average, kind="stable") if j != k]
    reasons.append(
        f"Nemenyi's comparison of all pairs at the level {ALPHA}: average ranks must lie "
        f"{pairs.critical_difference:.2f} apart. {leader} against {', '.join(details)}."
    )
    if n < FEW_PROBLEMS:
        reasons.append(f"How sure: {n} problems are few for these tests, which then see large differences alone.")
    return headline, reasons


def _by_dimension(study: Study, ranks: CompetitionRanks) -> list[str]:
    """Return a sentence of average ranks in each dimension, where problems are there in several."""
    if len({problem.name for problem in study.problems}) == len(study.problems):
        return []
    dimension = np.array([study.problem(label).dimension for label in ranks.problems])
    several = sorted(set(dimension.tolist()))
    said = []
    for d in several:
        average = ranks.by_median[dimension == d].mean(axis=0)
        order = np.argsort(average, kind="stable")
        said.append(f"D={d}: " + ", ".join(f"{ranks.algorithms[k]} {average[k]:.2f}" for k in order))
    return [f"By dimension: {'; '.join(said)}."] if len(several) > 1 else []


def _second_opinions(competition: CompetitionRanks, *scores: ScoreTable | None) -> list[str]:
    titles = ("the U-score of CEC2024", "the accuracy and speed score of CEC2026")
    leaders = [("the rank sums of CEC2017", _best(competition.algorithms, -competition.total))]
    leaders += [(t, _best(s.algorithms, s.total)) for t, s in zip(titles, scores, strict=True) if s is not None]
    by_leader: dict[str, list[str]] = {}
    for title, leader in leaders:
        by_leader.setdefault(leader, []).append(title)
    said = "; ".join(f"{leader} leads by {_listed(how)}" for leader, how in by_leader.items())
    return [f"Other ways to count: {said}."]


def _best(names: tuple[str, ...], score: np.ndarray) -> str:
    """Return the name, or names, with the largest score."""
    return _listed([names[k] for k in np.flatnonzero(score == score.max())])


def _caveats(study: Study) -> list[str]:
    found = []
    missing = [cell for cell in study.standing.cells if cell.done < cell.wanted]
    if missing:
        count = study.wanted - study.runs
        where = [f"{c.algorithm} on {c.problem}, D={c.dimension} ({c.wanted - c.done})" for c in missing[:5]]
        more = f" and {len(missing) - 5} more cells" if len(missing) > 5 else ""
        found.append(f"Not run: {count:,} of {study.wanted:,} runs are missing: {'; '.join(where)}{more}.")
    if study.failed:
        found.append(f"{study.failed:,} of {study.runs:,} finished runs failed; they count as worse than any other.")
        found += _reasons(study)
    ran = {name for row in study.outcomes.values() for name in row}
    absent = [name for name in study.algorithms if name not in ran]
    if absent:
        found.append(f"Without any finished run, so not ranked: {_listed(absent)}.")
    broken = [name for name in study.algorithms if name in ran and name not in study.ranked]
    if broken:
        found.append(f"Every run failed, so not ranked: {_listed(broken)}.")
    left_out = [p.label for p in study.problems if p.label not in study.complete]
    if study.ranked and left_out:
        shown = _listed(left_out[:8]) + (f" and {len(left_out) - 8} more" if len(left_out) > 8 else "")
        found.append(f"Left out of ranks and tests, since not every algorithm has a run there: {shown}.")
    if len(study.ranked) > 1 and most_trials(study) > MOST_TRIALS:
        found.append(
            f"The scores of speed and accuracy are left out: they compare every two of up to {most_trials(study):,} "
            f"runs of a problem, and are made for {MOST_TRIALS:,} at most."
        )
    uneven = [
        p for p in study.complete if len({study.outcomes[p][a].n for a in study.ranked}) > 1
    ]  # the tests allow it, but the reader should know
    if uneven:
        found.append(f"The algorithms have different numbers of runs on {_listed(uneven[:8])}.")
    nowhere = [p for p in study.complete if not any(study.outcomes[p][a].feasible.any() for a in study.ranked)]
    if nowhere:
        found.append(f"No run of any algorithm is feasible on {_listed(nowhere)}; these are ranked by violation.")
    return found or ["Everything that was planned was run, and no run failed."]


@dataclass(frozen=True)
class Reason:
    """One message of failed runs."""

    message: str
    runs: int
    algorithms: list[str]
    problems: list[str]


def reasons_of(study: Study) -> list[Reason]:
    """Return why runs failed, each message once, the most frequent first; names are in the order of the study."""
    failures = study.standing.failures
    counts = Counter(one.message for one in failures)
    found = []
    for message, runs in counts.most_common():
        cells = {(one.algorithm, one.problem, one.dimension) for one in failures if one.message == message}
        by, on = {a for a, *_ in cells}, {(problem, d) for _, problem, d in cells}
        problems = [problem.label for problem in study.problems if (problem.name, problem.dimension) in on]
        found.append(Reason(message, runs, [name for name in study.algorithms if name in by], problems))
    return found


def _reasons(study: Study) -> list[str]:
    reasons = reasons_of(study)
    said = [
        f"Failed {one.runs:,} times ({_listed(one.algorithms)}; {_counted(one.problems)}): {one.message}"
        for one in reasons[:REASONS]
    ]
    return said + ([f"{len(reasons) - REASONS} more reasons are listed below."] if len(reasons) > REASONS else [])


def _counted(problems: list[str]) -> str:
    return problems[0] if len(problems) == 1 else f"{len(problems)} problems"


def _listed(names: list[str]) -> str:
    """Return 'a', 'a and b' or 'a, b and c'."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def p_equals(p: float) -> str:
    """Return a p-value as part of a sentence.

    Examples
    --------
    >>> p_equals(0.0123456), p_equals(1e-9)
    ('p = 0.0123', 'p < 0.0001')
    """
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.3g}"
