"""Measures of the quality benchmark, and its tables and figure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ppsde.stats.ranks import average_ranks

from .problems import BESIDE, best_known, problem_of, scale_of, stairs
from .runs import Job, Row

LEVELS = (1e-2, 1e-4, 1e-6)  # errors
SOLVED = 1e-4  # in lists of losses, and the loss of quality by stopping that counts
SAME = 1e-8  # errors below are equal
HURTS = 2.0  # a median error that grows more than this with the budget is counted


class Study:
    """The rows of finished runs with their errors: relative to max(1, |best known|), inf where not feasible.

    Where no best value is known it is the best of these runs.
    """

    def __init__(self, rows: Mapping[Job, Row]) -> None:
        self.rows = rows
        self.solvers = list(dict.fromkeys(job.label for job in rows))
        self.multiples = sorted({job.multiple for job in rows})
        by_problem = defaultdict(list)
        for job in rows:
            by_problem[place(job)].append(job)
        self.errors: dict[Job, float] = {}
        self.improved: dict[str, float] = {}  # problems with a run better than the best known value
        self.unknown: list[str] = []  # problems whose best value is that of these runs
        for jobs in by_problem.values():
            self._add(jobs)

    def _add(self, jobs: Sequence[Job]) -> None:
        one = jobs[0]
        known = best_known(problem_of(one.suite, one.problem, one.dimension, one.instance))
        feasible = [self.rows[job]["f"] for job in jobs if self.rows[job]["violation"] == 0]
        best = known if known is not None else min(feasible, default=0.0)
        scale = scale_of(best)
        if one.staircase:
            best = float(stairs(np.array(best), scale))
        for job in jobs:
            row = self.rows[job]
            self.errors[job] = (row["f"] - best) / scale if row["violation"] == 0 else np.inf
        if known is None and feasible:
            self.unknown.append(named(one))
        if min(self.errors[job] for job in jobs) < -1e-6:
            self.improved[named(one)] = min(feasible)

    def sections(self) -> dict[str, list[Job]]:
        """Return the jobs of each part of the tables: a suite, or a problem reported beside."""
        found = defaultdict(list)
        for job in self.rows:
            found[f"{job.suite} {job.problem}" if beside(job) else job.suite].append(job)
        return dict(sorted(found.items(), key=lambda item: beside(item[1][0])))

    def medians(self, jobs: Sequence[Job]) -> dict[tuple[str, int, str], float]:
        """Return the median error by problem, budget and solver."""
        return {
            key: float(np.median([self.errors[job] for job in group]))
            for key, group in grouped(jobs, lambda job: (named(job), job.multiple, job.label)).items()
        }


def beside(job: Job) -> bool:
    """Whether a job's problem is reported beside its suite."""
    return job.problem in BESIDE.get(job.suite, ())


def named(job: Job) -> str:
    """Return the name of a job's problem, with its instance where that is not the first."""
    return job.problem if job.instance in (None, 1) else f"{job.problem}#{job.instance}"


def place(job: Job) -> tuple[Any, ...]:
    """Return all that identifies the problem of a job."""
    return job.suite, job.problem, job.dimension, job.instance, job.noise, job.staircase


def grouped(jobs: Sequence[Job], key: Callable[[Job], Any]) -> dict[Any, list[Job]]:
    found = defaultdict(list)
    for job in jobs:
        found[key(job)].append(job)
    return dict(found)


# --- measures -------------------------------------------------------------------------------------------------------


def share(study: Study, jobs: Sequence[Job], level: float) -> float:
    """Return the share of runs, in %, whose error is at most `level`; with inf the share of feasible runs."""
    if level == np.inf:
        return 100.0 * float(np.mean([study.rows[job]["violation"] == 0 for job in jobs]))
    return 100.0 * float(np.mean([study.errors[job] <= level for job in jobs]))


def ranks(study: Study, jobs: Sequence[Job]) -> dict[str, float]:
    """Return the average rank of each solver over the problems and seeds that all of them have: feasible runs first,
    then by violation, then by error, where errors below SAME tie."""
    solvers = [label for label in study.solvers if any(job.label == label for job in jobs)]
    table = []
    for group in grouped(jobs, lambda job: (place(job), job.multiple, job.seed)).values():
        by_solver = {job.label: job for job in group}
        if len(by_solver) == len(solvers):
            keys = [_rank_key(study, by_solver[label]) for label in solvers]
            order = sorted(set(keys))
            table.append([order.index(key) for key in keys])
    return dict(zip(solvers, average_ranks(table), strict=True)) if table else {}


def _rank_key(study: Study, job: Job) -> tuple[float, float]:
    violation = study.rows[job]["violation"]
    return violation, max(study.errors[job], SAME) if violation == 0 else 0.0


def harm(study: Study, jobs: Sequence[Job], label: str) -> list[tuple[float, str, int]]:
    """Return for each problem the largest ratio of the median error at a budget to the least at any smaller budget,
    with the budget, worst first; errors below SAME count as SAME."""
    medians = study.medians([job for job in jobs if job.label == label])
    found = []
    for problem in sorted({key[0] for key in medians}):
        least, worst = np.inf, (0.0, problem, 0)
        for multiple in sorted(key[1] for key in medians if key[0] == problem):
            error = max(medians[problem, multiple, label], SAME)
            if least < np.inf:
                worst = max(worst, (error / least, problem, multiple))
            least = min(least, error)
        if worst[2]:
            found.append(worst)
    return sorted(found, reverse=True)


def losses_by_stopping(study: Study, jobs: Sequence[Job], solver: str) -> float | None:
    """Return the share of runs, in %, that end more than SOLVED worse than the same run without stopping."""
    full = {(place(job), job.multiple, job.seed): job for job in jobs if job.solver == solver and not job.stopping}
    worse = []
    for job in jobs:
        other = full.get((place(job), job.multiple, job.seed))
        if job.solver == solver and job.stopping and other is not None:
            worse.append(_worse(study, job, other))
    return 100.0 * float(np.mean(worse)) if worse else None


def _worse(study: Study, job: Job, other: Job) -> bool:
    if study.rows[job]["violation"] == study.rows[other]["violation"] == 0:
        return study.errors[job] - study.errors[other] > SOLVED
    return study.rows[job]["violation"] - study.rows[other]["violation"] > SOLVED


# --- tables in Markdown ---------------------------------------------------------------------------------------------


HEAD = ("problems", "budget", "solver", "runs", "% feasible", *(f"% <= {level:.0e}" for level in LEVELS), "rank")


def table(study: Study) -> str:
    """Return the table of shares and ranks, a line for each suite, budget and solver, and remarks below it."""
    head = [*HEAD, "median violation", "% used", "us per evaluation"]
    return "\n".join([markdown(head, lines_of(study)), *_remarks(study)])


def lines_of(study: Study) -> list[list[str]]:
    """Return the lines of the table."""
    lines = []
    for section, jobs in study.sections().items():
        for multiple in study.multiples:
            here = [job for job in jobs if job.multiple == multiple]
            rank = ranks(study, here)
            for label, group in grouped(here, lambda job: job.label).items():
                rows = [study.rows[job] for job in group]
                lines.append(
                    [
                        section,
                        f"{multiple} D",
                        label,
                        str(len(group)),
                        *(f"{share(study, group, level):.1f}" for level in (np.inf, *LEVELS)),
                        f"{rank[label]:.2f}" if label in rank else "-",
                        f"{np.median([row['violation'] for row in rows]):.2g}",
                        f"{100 * np.median([row['evaluations'] / row['budget'] for row in rows]):.0f}",
                        f"{1e6 * np.median([row['seconds'] / max(1, row['evaluations']) for row in rows]):.1f}",
                    ]
                )
    return lines


def _remarks(study: Study) -> list[str]:
    found = [
        "",
        "Error: relative to max(1, |best known|). Rank: over problems and seeds. Used: median share of the budget. "
        "Microseconds: processor time of the solver itself, median.",
    ]
    if study.unknown:
        found += ["", f"No best value is known, so the best of these runs is used: {', '.join(study.unknown)}."]
    if study.improved:
        better = ", ".join(f"{name} ({value:.10g})" for name, value in study.improved.items())
        found += ["", f"Better than the best known value: {better}."]
    for label, jobs in grouped(list(study.rows), lambda job: job.label).items():
        failed = [study.rows[job] for job in jobs if study.rows[job]["errors"]]
        if failed:
            found += ["", f"{label} raised errors in {len(failed)} of {len(jobs)} runs, such as: {failed[0]['error']}"]
    return found


def harm_table(study: Study) -> str:
    """Return the table that says where more budget made the median error larger."""
    head = ["problems", "solver", "largest ratio", "where", f"problems above {HURTS:g}"]
    lines = []
    for section, jobs in study.sections().items():
        for label in study.solvers:
            found = harm(study, jobs, label)
            if found:
                ratio, problem, multiple = found[0]
                count = sum(ratio > HURTS for ratio, _, _ in found)
                lines.append([section, label, f"{ratio:.3g}", f"{problem} at {multiple} D", f"{count} of {len(found)}"])
    return f"More budget, larger median error:\n\n{markdown(head, lines)}" if lines else ""


def stopping_table(study: Study) -> str:
    """Return the table of what stopping before the budget costs and saves."""
    head = ["problems", "budget", "method", f"% worse by {SOLVED:.0e}", "% used"]
    lines = []
    for section, jobs in study.sections().items():
        stopped = [job for job in jobs if job.stopping]
        for (multiple, solver), group in grouped(stopped, lambda job: (job.multiple, job.solver)).items():
            loss = losses_by_stopping(study, [job for job in jobs if job.multiple == multiple], solver)
            used = np.median([study.rows[job]["evaluations"] / study.rows[job]["budget"] for job in group])
            lines.append(
                [section, f"{multiple} D", solver, "-" if loss is None else f"{loss:.1f}", f"{100 * used:.0f}"]
            )
    return f"Stopping before the budget is spent:\n\n{markdown(head, lines)}" if lines else ""


def medians_table(study: Study) -> str:
    """Return the median error of every solver on every problem at every budget."""
    medians = study.medians(list(study.rows))
    lines = [
        [problem, f"{multiple} D", *(_error(medians.get((problem, multiple, label))) for label in study.solvers)]
        for problem, multiple in dict.fromkeys(key[:2] for key in medians)
    ]
    return f"Median errors:\n\n{markdown(['problem', 'budget', *study.solvers], lines)}"


def losses_table(study: Study, solver: str) -> str:
    """Return the problems and budgets at which not every run of a solver is within SOLVED, worst first."""
    head = ["problem", "budget", "% feasible", *(f"% <= {level:.0e}" for level in LEVELS[:2]), "median error"]
    head += [f"best other, % <= {SOLVED:.0e}"]
    lines = []
    for (_, problem, multiple), group in grouped(
        list(study.rows), lambda job: (place(job), named(job), job.multiple)
    ).items():
        by_solver = grouped(group, lambda job: job.label)
        own = by_solver.pop(solver, [])
        solved = share(study, own, SOLVED) if own else 100.0
        if solved < 100.0:
            others = {label: share(study, jobs, SOLVED) for label, jobs in by_solver.items()}
            best = max(others, key=lambda label: others[label], default=None)
            lines.append(
                (
                    solved,
                    [
                        problem,
                        f"{multiple} D",
                        *(f"{share(study, own, level):.0f}" for level in (np.inf, *LEVELS[:2])),
                        _error(float(np.median([study.errors[job] for job in own]))),
                        "-" if best is None else f"{others[best]:.0f} ({best})",
                    ],
                )
            )
    ordered = [line for _, line in sorted(lines, key=lambda item: item[0])]
    return f"Not solved by {solver} in every run:\n\n{markdown(head, ordered)}"


def _error(error: float | None) -> str:
    if error is None:
        return "-"
    return "infeasible" if error == np.inf else f"{max(error, 0.0):.1e}"


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *lines))


# --- the figure -----------------------------------------------------------------------------------------------------


def draw(study: Study, path: Path) -> None:
    """Draw the shares of runs within 1e-2 and 1e-4 over the budget, a row of panels for each suite."""
    from matplotlib.figure import Figure

    sections = {name: jobs for name, jobs in study.sections().items() if not beside(jobs[0])}
    figure = Figure(figsize=(10.0, 1.0 + 3.6 * len(sections)), layout="constrained")
    panels = figure.subplots(len(sections), 2, squeeze=False, sharex=True, sharey=True)
    for row, (section, jobs) in zip(panels, sections.items(), strict=True):
        for axes, level in zip(row, LEVELS, strict=False):
            for number, label in enumerate(study.solvers):
                groups = grouped([job for job in jobs if job.label == label], lambda job: job.multiple)
                at = sorted(groups)
                shares = [share(study, groups[multiple], level) for multiple in at]
                style = "o-" if number < 10 else "s--"
                axes.plot(at, shares, style, color=f"C{number % 10}", markersize=4, label=label)
            axes.set(title=f"{section}: error <= {level:.0e}", xscale="log", ylim=(-2, 102))
            axes.grid(alpha=0.3)
        row[0].set_ylabel("runs, %")
    for axes in panels[-1]:
        axes.set_xlabel("evaluations per variable")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside right upper", fontsize="small")
    figure.savefig(path)
