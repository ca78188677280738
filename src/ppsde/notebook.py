"""Results and optimizers as HTML for notebooks: the verdict, a table of the constraints, and a small figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .figure import FEASIBLE, INFEASIBLE, sketch
from .markup import Markup, tag
from .progress import times

SHOWN = 12  # variables, and constraints, at most


def result_html(result: Any) -> str:
    """Return a result as HTML: whether it is feasible and why the run ended, the values, the constraints, a figure."""
    verdict, colour = ("feasible", FEASIBLE) if result.feasible else ("not feasible", INFEASIBLE)
    failed = f", {result.n_failed:,} failed" if result.n_failed else ""
    facts = [
        ("objective", f"{result.fun:.10g}"),
        ("violation", f"{result.violation:.4g}"),
        ("x", _point(result.x)),
        ("evaluations", f"{result.nfev:,} in {result.nit:,} generations{failed}"),
    ]
    if result.get("seconds") is not None:
        facts.append(("time", times(result.seconds, result.eval_seconds_mean, result.eval_seconds_max)))
    return tag(
        "div",
        tag("div", tag("b", verdict, style=f"color:{colour}"), f": {result.message}"),
        tag("table", tag("tbody", *(tag("tr", _cell(name, "th"), _cell(value)) for name, value in facts))),
        _constraints(result.get("constraints", ())),
        sketch(result.get("history", {})),
    )


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
        tag("tr", *(_cell(text) for text in (name, f"{k}", f"{batch.f[k]:.10g}", f"{batch.violation[k]:.4g}",
                                             f"{batch.evaluations[k]:,}")))
        for name, k in (("best", order[0]), ("middle", order[(runs - 1) // 2]), ("worst", order[-1]))
    ]  # fmt: skip
    return tag(
        "div",
        tag("b", f"{feasible} of {runs} runs feasible", style=f"color:{colour}"),
        f" on {batch.problem.name}",
        tag("table", tag("thead", tag("tr", *(_cell(head, "th") for head in heads))), tag("tbody", *rows)),
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
            _cell(report.name, "th"),
            _cell(f"{report.value:.6g}"),
            _cell(f"{report.slack:.4g}"),
            _cell(f"{report.violation:.4g}"),
            _state(report),
        )
        for report in order[:SHOWN]
    ]
    more = len(order) - SHOWN
    return tag(
        "div",
        tag("table", tag("thead", tag("tr", *(_cell(head, "th") for head in heads))), tag("tbody", *rows)),
        tag("div", f"and {more} more constraints") if more > 0 else Markup(),
    )


def _state(report: Any) -> Markup:
    if report.violation > 0:
        return tag("td", "violated", style=f"color:{INFEASIBLE}")
    return tag("td", "active" if report.active else "")


def _cell(text: str, kind: str = "td") -> Markup:
    return tag(kind, text, style="text-align:left")


def _point(x: np.ndarray) -> str:
    shown = ", ".join(f"{value:.8g}" for value in x[:SHOWN].tolist())
    return f"[{shown}{', ...' if len(x) > SHOWN else ''}]"
