"""Two competitions rerun: a study by their scores, beside the published results, as tables and a section of a page.

cec2026    the CEC2017 problems at D = 30, by the U-score and by the score of accuracy and speed
cec2020rw  the 57 real-world problems by their official score, which depends on all who take part: the entries of the
           competition take part with their published results

Of the default method a table says where it is not first, and by what it loses. A mean agrees with the rerun of a
program, or with a printed mean, if it is equivalent within one standard deviation, as far as ours tells, at least 1 %
and 1e-8. A median agrees with a published one if both are feasible and differ by at most 1 %, or if both are
infeasible; else the feasible one, or the smaller, is better. Where they do not agree, the chance is computed that two
samples of one law have such medians.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from .. import published
from ..algorithms import DEFAULT
from ..display.markup import Markup, listed, tag
from ..published import competitions
from ..stats import Outcomes, ScoreTable, ThreeRuns, WeightedScores, weighted_scores
from ..suites.cec2020rw import TABLE
from .agreement import compared
from .findings import Findings
from .study import Study
from .tables import ReportTable, csv_text, sortable

NAMES = ("cec2026", "cec2020rw")
ENTRY_OF = {  # our methods, and the entries of the competitions
    "cec2026": {"rde26": "RDE26-CSOP", "rdex": "RDEx-CSOP", "ude-iii": "UDE-III", "cl-srde": "CL-SRDE"},
    "cec2020rw": {"sass": "SASS", "colshade": "COLSHADE", "enmode": "EnMODE"},
}
TITLES = {
    "cec2026": "The CEC 2026 competition on constrained problems, rerun",
    "cec2020rw": "The CEC 2020 competition on real-world constrained problems, rerun",
}
NOTES = {
    "cec2026": "U-score and accuracy and speed: larger is better; places are summed over the problems, smaller is "
    "better. Printed numbers are those of the eight entries among themselves, so only their order compares.",
    "cec2020rw": "Score: smaller is better, 0.5 best + 0.3 mean + 0.2 median, each scaled from the best of all, 0, to "
    "the worst, 1, on each problem. Black-box methods count every evaluation; SASS, sCMAgES and BPMAgES had slopes "
    "of the constraints at little or no cost.",
}
CLOSE = 0.01  # relative difference of medians that agree
RERUN_DIMENSION = 30


@dataclass(frozen=True)
class Rerun:
    """The rerun of a competition: sentences, and tables by name."""

    name: str
    lines: list[str]
    tables: dict[str, ReportTable]

    def section(self) -> Markup:
        """Return the section of the report."""
        parts = [part for t in self.tables.values() for part in (tag("h3", t.title), sortable(t))]
        return tag(
            "section",
            tag("h2", TITLES[self.name]),
            listed(self.lines),
            tag("p", NOTES[self.name], class_="note"),
            *parts,
            id="published",
        )

    def as_csv(self) -> str:
        """Return the sentences and all tables as CSV, a title before each."""
        rows: list[list[object]] = [[line] for line in (TITLES[self.name], *self.lines)]
        rows.append([])
        for found in self.tables.values():
            rows += [[found.title], list(found.columns), *found.rows, []]
        return csv_text(rows)


def rerun(name: str, study: Study, findings: Findings) -> Rerun:
    """Return the rerun of a competition from the results of a study."""
    return _cec2026(study, findings) if name == "cec2026" else _cec2020rw(study)


def _feasible(study: Study, algorithm: str) -> float:
    """The share of feasible runs, mean over the problems that every algorithm has runs on."""
    return float(np.mean([study.outcomes[p][algorithm].feasible.mean() for p in study.complete]))


def _seconds(study: Study, algorithm: str) -> float:
    """The seconds that the runs of an algorithm took in all, without compiling; of one core if they ran on a CPU."""
    return sum(row[algorithm] * study.outcomes[p][algorithm].n for p, row in study.seconds.items() if algorithm in row)


def _facts(study: Study) -> list[str]:
    """Return how many runs are missing, and which devices made the others."""
    left = study.wanted - study.runs
    missing = [f"{left:,} of {study.wanted:,} runs are missing"] if left else []
    return missing + [f"made on {device}" for device in study.origin.get("devices", [])]


def _cec2026(study: Study, findings: Findings) -> Rerun:
    u, speed = findings.u_score, findings.speed_score
    tables, lines = {}, _facts(study)
    if u is None or speed is None:
        lines.append("scores need two methods and a problem on which both have runs")
    else:
        rows: list[list[object]] = []
        for place, k in enumerate(np.argsort(-u.total, kind="stable"), start=1):
            name = u.algorithms[k]
            printed = competitions.CEC2026.get(ENTRY_OF["cec2026"].get(name, ""))
            rows.append(
                [
                    name,
                    place,
                    float(u.total[k]),
                    float(u.ranks.sum(axis=0)[k]),
                    float(speed.total[k]),
                    float(speed.ranks.sum(axis=0)[k]),
                    _feasible(study, name),
                    _seconds(study, name),
                    printed.score if printed else "-",
                    printed.places if printed else "-",
                ]
            )
        columns = ["method", "place", "U-score", "places", "accuracy and speed", "places by it", "feasible", "seconds"]
        tables["field"] = ReportTable("The field", [*columns, "printed score", "printed places"], rows)
        quickest = speed.algorithms[int(np.argmax(speed.total))]
        lines.append(f"first by U-score: {rows[0][0]}; by accuracy and speed: {quickest}")
    for method, (whose, _) in BESIDE.items():
        cells = _beside(study, method)
        if cells:
            judged = [row for row in cells if row[-1] != "not judged"]
            agreeing = sum(row[-1] == "equivalent" for row in judged)
            lines.append(f"{method}: {agreeing} of {len(judged)} judged means are equivalent to {whose}")
            tables[method] = ReportTable(f"{method} beside {whose}", COLUMNS_BESIDE, cells)
    if u is not None and speed is not None:
        if DEFAULT in u.algorithms:
            tables["default"] = _losses_2026(study, u)
            lines.append(_in_short(tables["default"], len(u.problems)))
        tables["problems"] = _by_problem(study, u, speed)
    return Rerun("cec2026", lines, tables)


LOSSES = f"{DEFAULT}, where it is not first"


def _losses_2026(study: Study, u: ScoreTable) -> ReportTable:
    """Return the problems on which the default is not first by U-score, beside the method that is."""
    k = u.algorithms.index(DEFAULT)
    rows: list[list[object]] = []
    for i, problem in enumerate(u.problems):
        if u.ranks[i, k] == 1:
            continue
        first = int(np.argmax(u.scores[i]))
        name = u.algorithms[first]
        ours, best = (study.outcomes[problem][each] for each in (DEFAULT, name))
        reached = [int(u.parts["reached"][i, each]) for each in (k, first)]
        shares = [float(each.feasible.mean()) for each in (ours, best)]
        behind = float(u.scores[i, first] - u.scores[i, k])
        medians = [_values(each)[0] for each in (ours, best)]
        mine, its = ([m, s, r] for m, s, r in zip(medians, shares, reached, strict=True))
        rows.append([problem, float(u.ranks[i, k]), behind, lost_by(shares, reached), *mine, name, *its])
    columns = ["problem", "place", "points behind", "lost by", "median", "feasible", "reached the target"]
    return ReportTable(LOSSES, [*columns, "first", "its median", "its feasible", "its reached"], rows)


def lost_by(shares: list[float], reached: list[int]) -> str:
    """Return by what a method loses to another, from their shares of feasible trials and numbers that reach the target.

    A trial that ends infeasible is behind all that are feasible, one that misses the target behind all that reach it,
    and of those that reach it the faster one is ahead. Where no trial is feasible the violation decides.

    Examples
    --------
    >>> [lost_by(*each) for each in (([0.9, 1.0], [20, 20]), ([1.0, 1.0], [20, 25]), ([1.0, 1.0], [25, 25]))]
    ['infeasible runs', 'accuracy', 'speed']
    >>> lost_by([0.0, 0.0], [0, 0])
    'violation'
    """
    if shares[0] < shares[1]:
        return "infeasible runs"
    if max(shares) == 0.0:
        return "violation"
    return "accuracy" if reached[0] < reached[1] or reached[1] == 0 else "speed"


def _in_short(losses: ReportTable, problems: int) -> str:
    """Return on how many problems the default is first, and by what it loses the others."""
    at = losses.columns.index("lost by")
    by = [str(row[at]) for row in losses.rows]
    others = ", ".join(f"by {each} on {count}" for each, count in Counter(by).most_common())
    return f"{DEFAULT} is first on {problems - len(by)} of {problems} problems" + (f"; it loses {others}" if by else "")


def _by_problem(study: Study, u: ScoreTable, speed: ScoreTable) -> ReportTable:
    """Return values and scores of each method on each problem."""
    rows: list[list[object]] = []
    for i, problem in enumerate(u.problems):
        for k, name in enumerate(u.algorithms):
            runs = study.outcomes[problem][name]
            scores = (u.scores, u.ranks, speed.parts["accuracy"], speed.parts["speed"])
            rows.append([problem, name, *_values(runs), *(float(part[i, k]) for part in scores)])
    columns = ["problem", "method", *VALUES, "U-score", "place", "accuracy", "speed"]
    return ReportTable("Every problem", columns, rows)


VALUES = ["median", "its violation", "mean", "std", "feasible"]


def _values(runs: Outcomes) -> list[float]:
    """Return the values `VALUES` of runs, the means over those that did not fail."""
    run, f = runs.order()[runs.n // 2], runs.f[~runs.failed]
    mean, std = (float(f.mean()), float(f.std(ddof=1))) if f.size > 1 else (float(runs.f[0]), np.nan)
    return [float(runs.f[run]), float(runs.violation[run]), mean, std, float(runs.feasible.mean())]


BESIDE = {  # means at D = 30 that are not printed with a deviation
    "rde26": ("its authors' program", competitions.RDE26),
    "ude-iii": ("means printed with its successor", competitions.UDE_III),
}
COLUMNS_BESIDE = ["problem", "mean", "std", "feasible", "theirs", "their feasible", "verdict"]


def _beside(study: Study, method: str) -> list[list[object]]:
    """Return the means of a method at D = 30 beside those of `BESIDE`, a row per problem."""
    rows: list[list[object]] = []
    theirs = BESIDE[method][1]
    for problem in study.problems:
        runs = study.outcomes[problem.label].get(method)
        if runs is None or problem.dimension != RERUN_DIMENSION or problem.name not in theirs:
            continue
        _, _, mean, std, share = _values(runs)
        verdict = beside(method, problem.name, mean, std, int((~runs.failed).sum()))
        rows.append([problem.label, mean, std, share, *theirs[problem.name], verdict])
    return rows


def beside(method: str, problem: str, mean: float, std: float, runs: int) -> str:
    """Return whether a mean on a problem at D = 30 is equivalent to that of a method in `BESIDE`, in a word.

    Examples
    --------
    >>> [beside("rde26", name, 13.6, 1.0, 25) for name in ("C04", "C12", "C19")]
    ['equivalent', 'different', 'not judged']
    """
    if published.UNJUDGED.get(problem) == "no feasible point exists":
        return "not judged"
    test = compared(mean, std, runs, published.Cell(BESIDE[method][1][problem].mean, std))
    return "undecided" if test is None else test.verdict


def _cec2020rw(study: Study) -> Rerun:
    lines, entries = _facts(study), competitions.cec2020rw()
    names = list(competitions.CEC2020_TOTALS)
    name_of = {p.label: p.name for p in study.problems if (p.name, names[0]) in entries}
    problems = [p for p in study.complete if p in name_of]
    tables = {}
    if problems:
        cells: dict[str, dict[str, Outcomes | ThreeRuns]] = {}
        for p in problems:
            theirs = {name: entries[name_of[p], name] for name in names}
            cells[p] = {
                **{f"{name} (published)": ThreeRuns(e.best, e.mean, e.median) for name, e in theirs.items()},
                **study.outcomes[p],
            }
        scores = weighted_scores(cells, {p: study.problem(p).dimension for p in problems})
        rows: list[list[object]] = []
        for row in scores.rows():
            name = str(row["algorithm"])
            entry = name.removesuffix(" (published)")
            ours = entry == name
            shares = [] if ours else [np.nan_to_num(entries[name_of[p], entry].feasible) for p in problems]
            share = _feasible(study, name) if ours else float(np.mean(shares))
            last = [_seconds(study, name), "-"] if ours else ["-", competitions.CEC2020_TOTALS[entry]]
            rows.append([name, row["place"], row["total"], row["best"], row["mean"], row["median"], share, *last])
        columns = ["method", "place", "score", "best", "mean", "median", "feasible", "seconds", "printed score"]
        tables["field"] = ReportTable(f"The field on {len(problems)} problems", columns, rows)
        lines.append(f"first by score: {rows[0][0]}")
    for method, entry in ENTRY_OF["cec2020rw"].items():
        medians = _beside_the_entry(study, method, entry)
        if medians:
            agreeing = sum(row[-3] == "equal" for row in medians)
            better = sum(row[-3] == "better" for row in medians)
            lines.append(
                f"{method}: of {len(medians)} medians {agreeing} agree with the published ones, {better} are better"
                f"; {sum(row[-1] == 'chance' for row in medians)} that do not agree may differ by chance"
            )
            columns = ["problem", "median", "violation", "feasible", "published", "its violation", "verdict"]
            columns += ["p", "reason"]
            tables[method] = ReportTable(f"{method} beside {entry}: medians", columns, medians)
    if problems:
        if DEFAULT in scores.algorithms:
            tables["default"] = _losses_2020(study, scores, name_of)
            lines.append(_in_short(tables["default"], len(problems)))
        tables["problems"] = _real_world_problems(study, scores, name_of)
    return Rerun("cec2020rw", lines, tables)


LEAST_SHARE = 1e-4  # of the score: what a problem below it costs is not looked at


def _losses_2020(study: Study, scores: WeightedScores, name_of: dict[str, str]) -> ReportTable:
    """Return the problems that cost the default some of its score, dearest first, beside the best there."""
    k = scores.algorithms.index(DEFAULT)
    rows: list[list[object]] = []
    for i in np.argsort(-scores.shares[:, k], kind="stable"):
        problem, cost = scores.problems[i], float(scores.shares[i, k])
        if cost <= LEAST_SHARE:
            break
        first = int(np.argmin(scores.shares[i]))
        name = scores.algorithms[first]
        runs = study.outcomes[problem]
        if name in runs:
            values = _values(runs[name])
            median, share = values[0], values[-1]
        else:
            entry = competitions.cec2020rw()[name_of[problem], name.removesuffix(" (published)")]
            median, share = entry.median[0], entry.feasible
        ours = _values(runs[DEFAULT])
        lost = "infeasible runs" if ours[-1] < share else "accuracy"
        rows.append([problem, cost, lost, ours[0], ours[-1], name, median, share])
    columns = ["problem", "share of the score", "lost by", "median", "feasible", "first", "its median", "its feasible"]
    return ReportTable(LOSSES, columns, rows)


def _real_world_problems(study: Study, scores: WeightedScores, name_of: dict[str, str]) -> ReportTable:
    """Return values of each method and entry on each problem, and their scores, from 0, the best, to 1."""
    rows: list[list[object]] = []
    for i, problem in enumerate(scores.problems):
        for k, name in enumerate(scores.algorithms):
            if name in study.outcomes[problem]:
                values: list[object] = [*_values(study.outcomes[problem][name])]
            else:
                entry = competitions.cec2020rw()[name_of[problem], name.removesuffix(" (published)")]
                values = [*entry.median, entry.mean[0], "-", entry.feasible]
            parts = [float(part[i, k]) for part in (scores.best, scores.mean, scores.median, scores.shares)]
            rows.append([problem, name, *values, *parts])
    columns = ["problem", "method", *VALUES, "best's score", "mean's score", "median's score", "share of the score"]
    return ReportTable("Every problem", columns, rows)


def _beside_the_entry(study: Study, method: str, entry: str) -> list[list[object]]:
    """Return the median runs of a method beside the published ones, a row per problem."""
    rows: list[list[object]] = []
    for problem in study.problems:
        runs = study.outcomes[problem.label].get(method)
        theirs = competitions.cec2020rw().get((problem.name, entry))
        if runs is None or theirs is None:
            continue
        run = runs.order()[runs.n // 2]
        ours = float(runs.f[run]), float(runs.violation[run])
        share = float(runs.feasible.mean())
        verdict, p = median_verdict(ours, theirs.median), chance(runs, theirs.median)
        why = "-" if verdict == "equal" else reason(method, problem.name, verdict, p)
        rows.append([problem.label, *ours, share, *theirs.median, verdict, p, why])
    return rows


OTHER_VERSIONS = {
    ("sass", "RC22"): "the organisers' code let one row without an angle make the whole population infeasible",
    ("sass", "RC28"): "the entry's version allows four balls",
}
LEVEL = 0.05
PRINTED = 1e-7  # relative precision of the published objectives, which have eight digits


def reason(method: str, problem: str, verdict: str, p: float) -> str:
    """Return why a median differs from the published one, as far as is known.

    Examples
    --------
    >>> [reason("sass", name, "worse", p) for name, p in (("RC28", 0.0), ("RC34", 0.0), ("RC45", 0.3), ("RC18", 0.0))]
    ["the entry's version allows four balls", 'slopes cost D evaluations here, 1 there', 'chance', 'not known']
    """
    if (method, problem) in OTHER_VERSIONS:
        return OTHER_VERSIONS[method, problem]
    if p >= LEVEL:
        return "chance"
    if method == "sass" and verdict == "worse" and TABLE[problem].equalities:
        return "slopes cost D evaluations here, 1 there"
    return "not known"


def chance(runs: Outcomes, theirs: tuple[float, float]) -> float:
    """Return how often the median of another `RUNS` runs of the same law is so far from the middle of these runs.

    Of runs and median in one order, two-sided; runs equal to the median count on either side. `theirs` is the objective
    and the violation of the median run.

    Examples
    --------
    >>> middle, worse = (chance(Outcomes(np.arange(25.0)), (f, 0.0)) for f in (12.0, 22.5))
    >>> middle, round(worse, 4)
    (1.0, 0.0015)
    """
    from scipy.stats import nhypergeom

    f, violation = theirs
    digits = PRINTED * abs(f)
    less = (runs.violation < violation) | ((runs.violation == 0) & (violation == 0) & (runs.f < f - digits))
    equal = (runs.violation == violation) & ((violation > 0) | (abs(runs.f - f) <= digits))
    before = nhypergeom(runs.n + competitions.RUNS, runs.n, competitions.RUNS // 2 + 1)  # of ours, before their median
    fewest, most = int(less.sum()), int((less | equal).sum())
    return float(min(1.0, 2 * before.cdf(most), 2 * before.sf(fewest - 1)))


def median_verdict(ours: tuple[float, float], theirs: tuple[float, float]) -> str:
    """Return 'equal', 'better' or 'worse' of two pairs of objective and violation; 'failed' if ours has no values.

    Examples
    --------
    >>> median_verdict((1.001, 0.0), (1.0, 0.0)), median_verdict((0.5, 0.2), (1.0, 0.0))
    ('equal', 'worse')
    """
    (f, v), (their_f, their_v) = ours, theirs
    if np.isnan(f) or np.isnan(v):
        return "failed"
    if (v == 0) != (their_v == 0):
        return "better" if v == 0 else "worse"
    if v > 0 or abs(f - their_f) <= max(CLOSE * abs(their_f), 1e-8):
        return "equal"
    return "better" if f < their_f else "worse"
