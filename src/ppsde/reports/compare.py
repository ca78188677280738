"""Two versions of an algorithm compared problem by problem: what got better or worse, as text and as a page."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..display.markup import joined, listed, tag
from ..experiments import Store
from ..experiments.database import StoreError
from ..lookup import did_you_mean
from ..stats import Change, Outcomes, change, holm, shift, signed_rank, summarise
from .axes import Scale
from .drawing import Drawing, shortened, text_width
from .findings import LEVEL, p_equals, plain
from .page import shown_figure, static_page
from .study import CellRuns, Study, StudyProblem, gather
from .tables import padded, row_head, short, wide_table

VERDICTS = ("worse", "better", "no clear difference", "identical")
SERIES = {"better": 0, "worse": 1, "no clear difference": 4, "identical": 4}  # colours and markers of the figure


@dataclass(frozen=True)
class Version:
    """An algorithm of a study: one side of a comparison."""

    study: Study
    label: str

    def __str__(self) -> str:
        return f"{self.label} in {self.study.name}"


@dataclass(frozen=True)
class ProblemChange:
    """One problem before and after."""

    problem: str
    verdict: str  # of `VERDICTS`, after Holm's correction over the problems
    change: Change
    adjusted: float  # p after the correction
    median_before: float  # objective of the median run
    median_after: float
    violation_before: float  # of the median run, 0 if it is feasible
    violation_after: float
    kind: str  # 'factor' of the error, where the optimum is known, else 'difference' of the objective
    moved: float  # of the runs that are feasible on both sides, by Hodges and Lehmann
    moved_low: float
    moved_high: float
    seconds: float  # per run, after divided by before; NaN if it is not known

    def data(self) -> dict[str, Any]:
        return {**asdict(self)["change"], **{k: v for k, v in asdict(self).items() if k != "change"}}


@dataclass(frozen=True)
class VersionComparison:
    """Two versions on all problems that both have."""

    before: Version
    after: Version
    problems: list[ProblemChange]
    notes: list[str]  # about problems that are left out, and budgets that differ
    alpha: float

    def count(self, verdict: str) -> int:
        return sum(one.verdict == verdict for one in self.problems)

    @property
    def headline(self) -> str:
        counts = [f"{self.count(verdict)} {verdict}" for verdict in ("better", "worse", "no clear difference")]
        same = self.count("identical")
        return ", ".join([*counts, f"{same} identical"] if same else counts)

    @property
    def facts(self) -> list[str]:
        """Sentences on all problems together."""
        rows = [one.change for one in self.problems]
        feasible = [sum(getattr(row, name) for row in rows) for name in ("feasible_before", "feasible_after")]
        runs = [sum(getattr(row, name) for row in rows) for name in ("n_before", "n_after")]
        chances = np.array([row.chance for row in rows])
        said = [
            f"Feasible runs: {feasible[0]:,} of {runs[0]:,} before, {feasible[1]:,} of {runs[1]:,} after.",
            f"The chance that a run after is better than one before: {chances.mean():.2f}, mean over the problems"
            + (
                f" ({p_equals(signed_rank(1 - chances, chances).p)}, signed-rank test over them)."
                if len(rows) > 1
                else "."
            ),
        ]
        known = np.array([one.seconds for one in self.problems if math.isfinite(one.seconds) and one.seconds > 0])
        if known.size:
            said.append(f"Time per run: {np.exp(np.log(known).mean()):.2f} times that before (geometric mean).")
        paired = sum(row.paired for row in rows)
        if paired == len(rows):
            said.append("Runs are paired by seed and number.")
        else:
            said.append(
                f"Runs are paired by seed and number on {paired} of {len(rows)} problems; the others have other seeds."
            )
        said.append(
            f"A problem is better or worse at the level {self.alpha:g} after Holm's correction over the problems; runs "
            f"are compared feasible before infeasible, objectives within {plain(LEVEL)} of the best counted as equal."
        )
        return said

    def ordered(self) -> list[ProblemChange]:
        """The problems, those that got worse first, then those that got better; the largest change first."""
        return sorted(self.problems, key=lambda one: (VERDICTS.index(one.verdict), -abs(one.change.chance - 0.5)))

    def data(self) -> dict[str, Any]:
        return {
            "before": {"store": self.before.study.name, "label": self.before.label},
            "after": {"store": self.after.study.name, "label": self.after.label},
            "counts": {verdict: self.count(verdict) for verdict in VERDICTS},
            "facts": self.facts,
            "notes": self.notes,
            "problems": [one.data() for one in self.ordered()],
        }


# --- which versions -----------------------------------------------------------------------------------------------


def versions(
    stores: list[Store], plans: tuple[int, int] | None, before: str | None, after: str | None
) -> list[tuple[Version, Version]]:
    """Return the pairs of versions to compare: of two stores, of two plans of one, or of two labels of one."""
    if plans is not None and len(stores) > 1:
        raise ValueError("--plans is for two plans of one store; two stores were given")
    if plans is None and len(stores) == 1 and (before is None or before == after):
        plans = _last_plans(stores[0])
    if plans is not None:
        first, second = (gather(stores[0], plan) for plan in plans)
    elif len(stores) > 1:
        first, second = gather(stores[0]), gather(stores[1])
    else:
        return [_two_of_one(gather(stores[0]), before, after)]
    if before is not None or after is not None:
        labels = [(_known(first, before or after), _known(second, after or before))]
    else:
        common = [label for label in first.algorithms if label in second.algorithms]
        alone = len(first.algorithms) == len(second.algorithms) == 1
        labels = [(label, label) for label in common]
        if not labels and alone:
            labels = [(first.algorithms[0], second.algorithms[0])]
        if not labels:
            raise ValueError(
                f"the studies have no algorithm in common ({', '.join(first.algorithms)}; "
                f"{', '.join(second.algorithms)}): name two by --before and --after"
            )
    return [(Version(first, one), Version(second, two)) for one, two in labels]


def _last_plans(store: Store) -> tuple[int, int] | None:
    """Return the last two plans if their labels stand for different experiments, so that they are versions."""
    count = len(store.plans())
    try:
        store.jobs()
    except StoreError:
        return (count - 1, count) if count > 1 else None
    return None


def _two_of_one(study: Study, before: str | None, after: str | None) -> tuple[Version, Version]:
    if before is None and after is None:
        if len(study.algorithms) != 2:
            raise ValueError(
                f"{study.name} has {len(study.algorithms)} algorithms ({', '.join(study.algorithms)}): name two by "
                "--before and --after, or give a second store"
            )
        before, after = study.algorithms
    if before is None or after is None:
        raise ValueError("one store was given: --before and --after must both be given, or neither")
    return Version(study, _known(study, before)), Version(study, _known(study, after))


def _known(study: Study, label: str | None) -> str:
    if label is None or label not in study.algorithms:
        known = ", ".join(study.algorithms)
        raise ValueError(f"{study.name} has no {label!r}; it has {known}{did_you_mean(str(label), study.algorithms)}")
    return label


# --- the comparison -----------------------------------------------------------------------------------------------


def compared(before: Version, after: Version, alpha: float = 0.05) -> VersionComparison:
    """Compare two versions on the problems that both have finished runs of."""
    if not 0 < alpha < 1:
        raise ValueError(f"the level must be between 0 and 1; got {alpha:g}")
    found, notes = [], []
    budgets: dict[tuple[int, int], list[str]] = {}
    there = {(p.name, p.dimension): p for p in after.study.problems}
    others = dict(there)
    for problem in before.study.problems:
        other = others.pop((problem.name, problem.dimension), None)
        if other is None:
            continue
        old = before.study.results.get(problem.label, {}).get(before.label)
        new = after.study.results.get(other.label, {}).get(after.label)
        if old is None or new is None:
            when = "before" if old is None else "after"
            notes.append(f"{problem.label}: left out, without a finished run {when}.")
        elif (old.job.problem, old.job.instance) != (new.job.problem, new.job.instance):
            notes.append(f"{problem.label}: left out, the problem itself has changed.")
        else:
            if old.job.budget != new.job.budget:
                budgets.setdefault((old.job.budget, new.job.budget), []).append(problem.label)
            found.append(_on_problem(problem, before, after, other, old, new))
    missing = [p.label for p in before.study.problems if (p.name, p.dimension) not in there]
    for labels, when in ((missing, "before"), ([p.label for p in others.values()], "after")):
        if labels:
            notes.append(f"Only {when}: {', '.join(labels)}.")
    notes += [f"The budgets differ, {a:,} and {b:,}: {', '.join(labels)}." for (a, b), labels in budgets.items()]
    if not found:
        raise ValueError(f"{before} and {after} have no problem in common with finished runs of both")
    adjusted = holm([one.change.p for one in found])
    judged = [_judged(one, float(p), alpha) for one, p in zip(found, adjusted, strict=True)]
    return VersionComparison(before, after, judged, notes, alpha)


def _judged(one: ProblemChange, adjusted: float, alpha: float) -> ProblemChange:
    verdict = one.verdict
    if verdict != "identical" and adjusted < alpha and one.change.chance != 0.5:
        verdict = "better" if one.change.chance > 0.5 else "worse"
    return ProblemChange(**{**vars(one), "verdict": verdict, "adjusted": adjusted})


def _on_problem(
    problem: StudyProblem,
    before: Version,
    after: Version,
    other: StudyProblem,
    old: CellRuns,
    new: CellRuns,
) -> ProblemChange:
    one = before.study.outcomes[problem.label][before.label]
    two = after.study.outcomes[other.label][after.label]
    orders = np.argsort(old.numbers), np.argsort(new.numbers)
    paired = old.job.seed == new.job.seed and np.array_equal(old.numbers[orders[0]], new.numbers[orders[1]])
    if paired:
        one, two = (Outcomes(runs.f[k], runs.violation[k]) for runs, k in zip((one, two), orders, strict=True))
    kind, moved = _moved(one, two, problem.optimum, paired)
    same = paired and _same(old, new, orders)
    seconds = [
        side.study.seconds.get(p.label, {}).get(side.label, math.nan) for side, p in ((before, problem), (after, other))
    ]
    medians = summarise(one), summarise(two)
    return ProblemChange(
        problem=problem.label,
        verdict="identical" if same else "no clear difference",
        change=change(*_levelled(one, two), paired=paired),
        adjusted=1.0,
        median_before=medians[0].median,
        median_after=medians[1].median,
        violation_before=medians[0].v_bar,
        violation_after=medians[1].v_bar,
        kind=kind,
        moved=moved[0],
        moved_low=moved[1],
        moved_high=moved[2],
        seconds=seconds[1] / seconds[0] if seconds[0] > 0 else math.nan,
    )


def _same(first: CellRuns, second: CellRuns, orders: tuple[np.ndarray, np.ndarray]) -> bool:
    """Return whether all runs ended in the same point, with the same values, to the last bit."""
    sides = [(cell.ok, cell.evaluations, *cell.best.values()) for cell in (first, second)]
    return all(
        np.array_equal(old[orders[0]], new[orders[1]], equal_nan=old.dtype == float)
        for old, new in zip(*sides, strict=True)
    )


def _levelled(one: Outcomes, two: Outcomes) -> list[Outcomes]:
    """Return both with feasible objectives within `LEVEL` of the best set to it: the rest is rounding."""
    feasible = [runs.f[runs.feasible] for runs in (one, two)]
    best = min((float(f.min()) for f in feasible if f.size), default=math.inf)
    return [
        Outcomes(np.where(runs.feasible & (runs.f - best <= LEVEL), best, runs.f), runs.violation)
        for runs in (one, two)
    ]


def _moved(one: Outcomes, two: Outcomes, optimum: float | None, paired: bool) -> tuple[str, tuple[float, float, float]]:
    """Return by how much the feasible runs moved: a factor of the error, or a difference of the objective."""
    both = one.feasible & two.feasible if paired else None
    old, new = (runs.f[runs.feasible if both is None else both] for runs in (one, two))
    if optimum is None:
        return "difference", shift(old, new, paired=paired)
    logs = [np.log10(np.maximum(f - optimum, LEVEL)) for f in (old, new)]
    with np.errstate(over="ignore"):
        found = np.power(10.0, np.array(shift(*logs, paired=paired)))
    return "factor", (float(found[0]), float(found[1]), float(found[2]))


# --- as text and as a page ----------------------------------------------------------------------------------------

COLUMNS = ("problem", "feasible", "median before", "median after", "chance of better", "error or objective", "p")


def cells(one: ProblemChange) -> list[str]:
    """Return a problem as the texts of a row under `COLUMNS`."""
    it = one.change
    return [
        one.problem,
        f"{it.feasible_before}/{it.n_before} to {it.feasible_after}/{it.n_after}",
        _median_text(one.median_before, one.violation_before),
        _median_text(one.median_after, one.violation_after),
        f"{it.chance:.2f} [{it.chance_low:.2f}, {it.chance_high:.2f}]",
        _moved_text(one),
        "< 0.0001" if one.adjusted < 1e-4 else f"{one.adjusted:.3g}",
    ]


def _median_text(objective: float, violation: float) -> str:
    if math.isnan(violation):
        return "failed"
    return f"violation {padded(violation, 3)}" if violation else padded(objective)


def _moved_text(one: ProblemChange) -> str:
    if math.isnan(one.moved):
        return "-"
    sign = "x" if one.kind == "factor" else "+" if one.moved > 0 else ""
    ends = "" if not math.isfinite(one.moved_high) else f" [{short(one.moved_low, 2)}, {short(one.moved_high, 2)}]"
    return f"{sign}{short(one.moved, 3)}{ends}"


EXPLAINED = (
    "Median: the objective of the median run, or its violation where that run is not feasible. "
    "Chance of better: that a run after the change is better than one before it, ties half, with its 95 % interval. "
    "Error or objective: of the runs that are feasible on both sides, the factor (x) by which the error to the known "
    "optimum changed, or, where none is known, the difference of the objective; the estimate of Hodges and Lehmann "
    "with its 95 % interval. Errors below 1e-8 count as 1e-8. p is corrected over the problems."
)


def compare_page(comparisons: list[VersionComparison]) -> str:
    """Return the comparisons as one static page."""
    names = dict.fromkeys(side.study.name for one in comparisons for side in (one.before, one.after))
    title = f"What changed: {' to '.join(names)}"
    dates = [f"{side.study.name}: last run finished {side.study.date}." for side in _studies(comparisons)]
    parts = [tag("h1", title), *(tag("p", text) for text in dates), tag("p", EXPLAINED, class_="note")]
    for number, one in enumerate(comparisons):
        name = f"{one.before} before, {one.after} after"
        rows = []
        for found in one.ordered():
            first, *rest = cells(found)
            strong = "best" if found.verdict in ("better", "worse") else None
            rows.append(
                tag("tr", row_head(first), tag("td", found.verdict, class_=strong), *(tag("td", t) for t in rest))
            )
        head = [tag("th", text, scope="col") for text in (COLUMNS[0], "verdict", *COLUMNS[1:])]
        table = wide_table(head, rows, name=f"changes of {name}", full=True)
        parts.append(
            tag(
                "section",
                tag("h2", name),
                tag(
                    "section",
                    tag("p", one.headline, class_="headline"),
                    listed([*one.facts, *one.notes]),
                    class_="verdict",
                    aria_label=f"summary {number + 1}",
                ),
                shown_figure(forest(one), "The chance of a better run, with its 95 % interval.", kind="map"),
                table,
            )
        )
    return static_page(title, joined(*parts))


def _studies(comparisons: list[VersionComparison]) -> list[Version]:
    """Return a side of each study that was compared and has a date."""
    sides = [side for one in comparisons for side in (one.before, one.after) if side.study.date]
    return list({side.study.name: side for side in sides}.values())


def forest(comparison: VersionComparison) -> Drawing:
    """Draw the chance of a better run on each problem, with its interval; better is to the right."""
    rows = comparison.ordered()
    names = [shortened(one.problem, 300.0, small=True) for one in rows]
    width, step, top = 1400.0, 28.0, 46.0
    left = 30 + max(text_width(name, small=True) for name in names)
    right = width - 280.0
    bottom = top + step * len(rows)
    drawing = Drawing(width, bottom + 58, "chance that a run after the change is better, by problem, with intervals")
    x = Scale(0.0, 1.0, left, right)
    for value in (0.0, 0.25, 0.5, 0.75, 1.0):
        drawing.line([(x(value), top), (x(value), bottom)], "axis" if value == 0.5 else "grid")
        drawing.text(x(value), bottom + 24, f"{value:g}", "middle", small=True)
    drawing.text(left, top - 16, "worse", small=True)
    drawing.text(right, top - 16, "better", "end", small=True)
    drawing.text((left + right) / 2, bottom + 48, "chance that a run after is better", "middle", small=True)
    for k, one in enumerate(rows):
        y, it, series = top + step * (k + 0.5), one.change, SERIES[one.verdict]
        drawing.text(left - 12, y + 6, names[k], "end", small=True)
        drawing.line([(x(it.chance_low), y), (x(it.chance_high), y)], "box", series)
        drawing.marker(x(it.chance), y, series)
        drawing.text(right + 14, y + 6, f"{it.chance:.2f}, {one.verdict}", small=True)
    return drawing
