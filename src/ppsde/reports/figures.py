"""All figures of a study: which there are, and as files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .convergence import convergence
from .critical_difference import critical_difference
from .curves import Curves, curves, grid
from .drawing import Drawing
from .findings import Findings
from .heat_map import rank_heat_map
from .legend import with_legend
from .over_time import ecdfs, feasibility, mean_shares
from .pdf import can_write_pdf, write_pdf
from .study import Study
from .svg import svg_file
from .tiers import score_tiers


@dataclass(frozen=True)
class Figures:
    """The figures of a study and the numbers behind them."""

    curves: dict[str, dict[int, Curves]]  # by problem and number of the algorithm
    problems: dict[str, Drawing]
    shares: dict[int, np.ndarray]
    feasibility: Drawing | None
    ecdf: Drawing | None
    ranks: Drawing | None
    differences: Drawing | None
    tiers: Drawing | None

    def named(self) -> dict[str, Drawing]:
        """Every figure under the name of its file."""
        whole = {
            "feasibility": self.feasibility,
            "ecdf": self.ecdf,
            "ranks": self.ranks,
            "critical_difference": self.differences,
            "score_tiers": self.tiers,
        }
        found = {name: drawing for name, drawing in whole.items() if drawing is not None}
        for problem, drawing in self.problems.items():
            found[unused(f"problem_{problem}", found)] = drawing
        return found


def draw(study: Study, findings: Findings) -> Figures:
    """Draw everything that there is something to draw of."""
    series = {name: k for k, name in enumerate(study.algorithms)}
    found: dict[str, dict[int, Curves]] = {}
    for problem in study.problems:
        at = grid(problem.budget)
        row = study.records[problem.label]
        found[problem.label] = {series[a]: curves(row[a], at) for a in study.algorithms if a in row}
    shares = mean_shares(
        {series[a]: [found[p][series[a]] for p in study.complete] for a in study.ranked if study.complete}
    )
    return Figures(
        curves=found,
        problems={p.label: convergence(p.label, p.budget, found[p.label]) for p in study.problems if found[p.label]},
        shares=shares,
        feasibility=feasibility(shares) if shares else None,
        ecdf=ecdfs({series[a]: one for a, one in findings.ecdf.items()}) if findings.ecdf else None,
        ranks=None if findings.ranks is None else rank_heat_map(findings.ranks, series),
        differences=None if findings.pairs is None else critical_difference(findings.pairs, series),
        tiers=None if findings.u_score is None else score_tiers(findings.u_score, series),
    )


def write_figures(figures: Figures, folder: Path, algorithms: tuple[str, ...]) -> list[Path]:
    """Write every figure as SVG, and as PDF where matplotlib is installed, with a legend where it needs one."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, plain in figures.named().items():
        drawing = with_legend(plain, algorithms)
        path = folder / f"{name}.svg"
        path.write_text(svg_file(drawing, len(algorithms)), encoding="utf-8")
        written.append(path)
        if can_write_pdf():
            write_pdf(drawing, folder / f"{name}.pdf")
            written.append(folder / f"{name}.pdf")
    return written


def unused(text: str, taken: object) -> str:
    """A file name that the text suggests, of plain letters, and not taken yet.

    Examples
    --------
    >>> unused("problem_../C01 D=10", {}), unused("a", {"a": 1, "a_2": 1})
    ('problem_C01_D_10', 'a_3')
    """
    plain = re.sub(r"[^A-Za-z0-9-]+", "_", text).strip("_")[:80] or "unnamed"
    name, k = plain, 2
    while name in taken:  # type: ignore[operator]
        name, k = f"{plain}_{k}", k + 1
    return name
