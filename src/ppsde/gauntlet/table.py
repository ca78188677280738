"""The verdicts as a table in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .jobs import JOBS, Verdict
from .libraries import LIBRARIES

LONGEST = 120  # characters of a cell


def table(
    found: Mapping[tuple[str, str], Verdict], versions: Mapping[str, str | None], jobs: Sequence[str] = tuple(JOBS)
) -> str:
    """A row for each job, a column for each library; one that is not installed says so."""
    heads = [f"{LIBRARIES[name].title} {version or ''}".strip() for name, version in versions.items()]
    lines = [_line(["job", *heads]), _line(["---"] * (len(heads) + 1))]
    for job in jobs:
        lines.append(_line([JOBS[job].title, *(_cell(found.get((job, name))) for name in versions)]))
    return "\n".join(lines)


def rules() -> str:
    """What each row takes to pass."""
    return "\n".join(f"- {job.title}: {job.rule}." for job in JOBS.values())


def _cell(verdict: Verdict | None) -> str:
    if verdict is None:
        return "not installed"
    words = " ".join(verdict.words.split()).replace("|", "\\|")
    if len(words) > LONGEST:
        words = words[: LONGEST - 3] + "..."
    if words == "not offered":
        return words
    return f"{'pass' if verdict.passed else '**fail**'}: {words}"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
