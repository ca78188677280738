"""Results and optimizers as HTML for notebooks: the verdict, a table of the constraints, and a small figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .figure import FEASIBLE, INFEASIBLE, sketch
from .markup import Markup, own_cell, own_table, tag
from .progress import times

SHOWN = 12  # variables, and constraints, at most
# Words in the colours of the figures, as they can be read on white and on dark pages.
IN_WORDS = {FEASIBLE: "light-dark(#0072b2,#6cc0f0)", INFEASIBLE: "light-dark(#b34700,#ffa15c)"}


def result_html(result: Any) -> str:
    """Return a result as HTML: whether it is feasible and why the run ended, the values, the constraints, a figure."""
    verdict, colour = ("feasible", FEASIBLE) if result.feasible else ("not feasible", INFEASIBLE)
    failed = f", {result.n_failed:,} failed" if result.n_failed else ""
    facts = [
        ("objective", f"{result.fun:.10g}"),
        ("violation", f"{result.violation:.4g}"),
        ("x", _point(result.x)),
        *([("variables", named)] if (named := by_name(result.get("variables"))) else []),
        ("evaluations", f"{result.nfev:,} in {result.nit:,} generation{'s' * (result.nit != 1)}{failed}"),
    ]
    if result.get("seconds") is not None:
        facts.append(("time", times(result.seconds, result.eval_seconds_mean, result.eval_seconds_max)))
    return tag(
        "div",
        tag("div", tag("b", verdict, style=f"color:{IN_WORDS[colour]}"), f": {result.message}"),
        own_table([tag("tr", own_cell(name, "th"), own_cell(value)) for name, value in facts]),
        _constraints(result.get("constraints", ())),
        sketch(result.get("history", {})),
    )


def by_name(variables: Mapping[str, Any] | None) -> str:
    """Return variables that have names of their own as text; nothing if they have none, or are many.

    Examples
    --------
    >>> by_name({"width": 26.1931422, "layers": 3, "steel": "S355"}), by_name({"x[0]": 1.0}), by_name(None)
    ('width 26.193142, layers 3, steel S355', '', '')
    """
    if not variables or len(variables) > SHOWN or "x[0]" in variables:
        return ""
    return ", ".join(f"{k} {v:.8g}" if isinstance(v, float) else f"{k} {v}" for k, v in variables.items())


def optimizer_html(state: str, result: Any | None) -> str:
    """Return an optimizer as HTML: its state in words, and the result so far, if there is one."""
    return tag("div", tag("div", tag("b", state)), Markup() if result is None else Markup(result_html(result)))


def batch_html(batch: Any) -> str:
    """Return many runs on one problem as HTML: how many are feasible, the best, middle and worst, and a figure."""
    order = np.lexsort((batch.f, batch.violation))
    runs, feasible = len(order), int(batch.feasible.sum())
    colour = FEASIBLE if feasible == runs else INFEASIBLE
    heads = ("", "run", "objective", "violation", "evaluations")
    rows = [
        tag("tr", *_row(name, f"{k}", f"{batch.f[k]:.10g}", f"{batch.violation[k]:.4g}", f"{batch.evaluations[k]:,}"))
        for name, k in (("best", order[0]), ("middle", order[(runs - 1) // 2]), ("worst", order[-1]))
    ]
    return tag(
        "div",
        tag("b", f"{feasible} of {runs} runs feasible", style=f"color:{IN_WORDS[colour]}"),
        f" on {batch.problem.name}",
        own_table(rows, _row(*heads, kind="th")),
        sketch({name: column[order[0]] for name, column in batch.record.items()}),
    )


def _constraints(reports: Sequence[Any]) -> Markup:
    """Return a table of the constraints: those violated first, the worst before, then those active, then the others."""
    if not reports:
        return Markup()
    order = sorted(reports, key=lambda report: (-report.violation, not report.active))
    heads = ("constraint", "value", "slack", "violation", "")
    rows = [
        tag(
            "tr",
            *_row(report.name, f"{report.value:.6g}", f"{report.slack:.4g}", f"{report.violation:.4g}"),
            _state(report),
        )
        for report in order[:SHOWN]
    ]
    more = len(order) - SHOWN
    return tag(
        "div",
        own_table(rows, _row(*heads, kind="th")),
        tag("div", f"and {more} more constraints") if more > 0 else Markup(),
    )


def _state(report: Any) -> Markup:
    if report.violation > 0:
        return own_cell("violated", colour=IN_WORDS[INFEASIBLE])
    return own_cell("active" if report.active else "")


def _row(name: str, *numbers: str, kind: str = "td") -> list[Markup]:
    return [own_cell(name, "th"), *(own_cell(number, kind, "right") for number in numbers)]


def _point(x: np.ndarray) -> str:
    shown = ", ".join(f"{value:.8g}" for value in x[:SHOWN].tolist())
    return f"[{shown}{', ...' if len(x) > SHOWN else ''}]"
