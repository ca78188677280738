"""Write the tables of competitions.md: `python docs/competitions.py`.

Results come from cec2026.csv and cec2020rw.csv beside this file: the `reproduce.csv` that `ppsde reproduce
--competition` writes. A part whose file is missing says how to make it.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from pathlib import Path

from ppsde.published import competitions
from ppsde.reports.competitions import beside_the_program

HERE = Path(__file__).parent
BEGIN, END = "<!-- written by docs/competitions.py, from here -->\n", "<!-- to here -->\n"
FLAGSHIP = "pps-sqp"
RUNS = 25
WANTED = {"rde26": 20, "sass": 45, "colshade": 40}  # agreements that were hoped for
MISSING = """Not yet run:

```console
ppsde reproduce --competition {name} -o {name}
cp {name}/reproduce.csv docs/{name}.csv
python docs/competitions.py
```
"""

Row = dict[str, str]


def blocks(path: Path) -> tuple[list[str], dict[str, list[Row]]]:
    """Return the sentences of a `reproduce.csv`, and its tables by title."""
    lines = path.read_text(encoding="utf-8").splitlines()
    parts: list[list[list[str]]] = [[]]
    for cells in csv.reader(lines):
        if cells:
            parts[-1].append(cells)
        else:
            parts.append([])
    first, *rest = [part for part in parts if part]
    found = {part[0][0]: [dict(zip(part[1], row, strict=True)) for row in part[2:]] for part in rest}
    return [cells[0] for cells in first[1:]], found


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    header = list(header)
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def number(text: str, digits: int = 4) -> str:
    """Return a number with so many digits, and other text as it is."""
    try:
        return f"{float(text):.{digits}g}"
    except ValueError:
        return text


def whole(text: str) -> str:
    return f"{float(text):,.0f}"


def share(text: str) -> str:
    return f"{100 * float(text):.0f} %"


def shown(method: str) -> str:
    """Return the name of a method of ours as code, and of a published entry as it is."""
    return method if method.endswith("(published)") else f"`{method}`"


def listed(lines: Iterable[str]) -> str:
    return "".join(f"- {line}\n" for line in lines)


# --- CEC 2026 -----------------------------------------------------------------------------------------------------


def cec2026(lines: list[str], tables: dict[str, list[Row]]) -> str:
    field, problems = tables["The field"], tables["Every problem"]
    seconds = sum(float(row["seconds"]) for row in field)
    head = ["place", "method", "U-score", "sum of places", "accuracy and speed", "sum of places by it"]
    rows = [
        [
            row["place"],
            f"`{row['method']}`",
            whole(row["U-score"]),
            number(row["places"]),
            whole(row["accuracy and speed"]),
            number(row["places by it"]),
            share(row["feasible"]),
            number(row["seconds"], 3),
            row["printed score"] if row["printed score"] == "-" else whole(row["printed score"]),
        ]
        for row in field
    ]
    text = listed([*lines, f"{seconds:,.0f} s of running in all, without compiling"]) + "\n"
    text += "Larger scores and smaller sums of places are better. Printed scores are those of the eight entries among\n"
    text += "themselves, so that only their order compares.\n\n"
    text += table([*head, "feasible runs", "seconds", "printed score"], rows)
    text += _flagship_2026(problems)
    if "rde26 beside its authors' program" in tables:
        text += _rde26(tables["rde26 beside its authors' program"], problems)
    return text


def _flagship_2026(problems: list[Row]) -> str:
    """Return the problems on which the flagship is not first by U-score, beside the method that is."""
    by_problem: dict[str, list[Row]] = {}
    for row in problems:
        by_problem.setdefault(row["problem"], []).append(row)
    rows, first = [], 0
    for problem, cells in by_problem.items():
        ours = next((row for row in cells if row["method"] == FLAGSHIP), None)
        if ours is None:
            return ""
        best = max(cells, key=lambda row: float(row["U-score"]))
        if float(ours["place"]) == 1.0:
            first += 1
            continue
        lost = [kind for kind in ("accuracy", "speed") if float(ours[kind]) < float(best[kind])]
        rows.append(
            [
                problem,
                number(ours["place"]),
                number(ours["median"]),
                share(ours["feasible"]),
                f"`{best['method']}`",
                number(best["median"]),
                share(best["feasible"]),
                " and ".join(lost) or "neither",
            ]
        )
    head = ["problem", "place", "median", "feasible", "first", "its median", "feasible", "behind it in"]
    return (
        f"\n### `{FLAGSHIP}`, problem by problem\n\n"
        f"It is first by U-score on {first} of {len(by_problem)} problems. On the others, beside the method that is\n"
        "first:\n\n" + table(head, rows)
    )


def _rde26(cells: list[Row], problems: list[Row]) -> str:
    """Return RDE26 beside its authors' program, and how many cells other methods pass by the same test."""
    judged = [row for row in cells if row["verdict"] != "not judged"]
    count = sum(row["verdict"] == "equivalent" for row in judged)
    others: dict[str, int] = {}
    for row in problems:
        if row["method"] != "rde26" and row["problem"] in competitions.RDE26:
            verdict = beside_the_program(row["problem"], float(row["mean"]), float(row["std"]), RUNS)
            others[row["method"]] = others.get(row["method"], 0) + (verdict == "equivalent")
    nearest = sorted(others.items(), key=lambda item: -item[1])[:4]
    said = ", ".join(f"`{name}` on {passed}" for name, passed in nearest)
    head = ["problem", "mean", "deviation", "feasible", "program", "feasible", "verdict"]
    rows = [
        [
            row["problem"],
            *(number(row[key]) for key in ("mean", "std")),
            share(row["feasible"]),
            number(row["program"]),
            share(row["program feasible"]),
            row["verdict"],
        ]
        for row in cells
    ]
    met = "reached" if count >= WANTED["rde26"] else "not reached"
    return (
        "\n### `rde26` beside its authors' program\n\n"
        "The program, run again on the corrected problems, 25 runs. Two means are equivalent if two one-sided Welch\n"
        "tests at the level 0.05 show that they differ by less than one standard deviation (ours: that of the program\n"
        "was not stored, so it counts as equal), at least 1 % of the mean and 1e-8. "
        f"{count} of {len(judged)} are; {WANTED['rde26']} were wanted: {met}.\n"
        f"Of other methods, by the same test: {said or 'none were run'}.\n\n" + table(head, rows)
    )


# --- CEC 2020 -----------------------------------------------------------------------------------------------------


def cec2020rw(lines: list[str], tables: dict[str, list[Row]]) -> str:
    field = next(rows for title, rows in tables.items() if title.startswith("The field"))
    head = ["place", "method", "score", "by best", "by mean", "by median", "feasible runs", "core seconds"]
    rows = [
        [
            row["place"],
            shown(row["method"]),
            *(number(row[key]) for key in ("score", "best", "mean", "median")),
            share(row["feasible"]),
            number(row["seconds"], 3),
            row["printed score"],
        ]
        for row in field
    ]
    text = listed(lines) + "\nSmaller scores are better. The published entries take part with their results.\n\n"
    text += table([*head, "printed score"], rows)
    text += _flagship_2020(tables["Every problem"])
    for method, entry in (("sass", "SASS"), ("colshade", "COLSHADE"), ("enmode", "EnMODE")):
        if f"{method} beside {entry}: medians" in tables:
            text += _medians(method, entry, tables[f"{method} beside {entry}: medians"])
    return text


def _flagship_2020(problems: list[Row]) -> str:
    """Return the problems that cost the flagship most of its score, beside the best on each."""
    ours = {row["problem"]: row for row in problems if row["method"] == FLAGSHIP}
    if not ours:
        return ""
    key = "share of the score"
    total = sum(float(row[key]) for row in ours.values())
    lost = sorted((row for row in ours.values() if float(row[key]) > 1e-4), key=lambda row: -float(row[key]))
    rows = []
    for row in lost:
        cells = [other for other in problems if other["problem"] == row["problem"]]
        best = min(cells, key=lambda other: float(other[key]))
        rows.append(
            [
                row["problem"],
                number(row[key], 3),
                number(row["median"], 6),
                share(row["feasible"]),
                shown(best["method"]),
                number(best["median"], 6),
            ]
        )
    return (
        f"\n### `{FLAGSHIP}`, problem by problem\n\n"
        f"Its score is {total:.4f}; these {len(rows)} of {len(ours)} problems give it, each beside the best there:\n\n"
        + table(["problem", "part of the score", "median", "feasible", "best", "its median"], rows)
    )


def _medians(method: str, entry: str, cells: list[Row]) -> str:
    verdicts = [row["verdict"] for row in cells]
    agree, better = verdicts.count("equal"), verdicts.count("better")
    wanted = WANTED.get(method)
    met = "" if wanted is None else f" {wanted} were wanted: {'reached' if agree >= wanted else 'not reached'}."
    rows = [
        [
            row["problem"],
            number(row["median"], 6),
            number(row["violation"], 2),
            share(row["feasible"]),
            number(row["published"], 6),
            number(row["its violation"], 2),
            row["verdict"],
        ]
        for row in cells
        if row["verdict"] != "equal"
    ]
    head = ["problem", "median", "violation", "feasible", "published", "its violation", "verdict"]
    return (
        f"\n### `{method}` beside {entry}\n\nMedians agree if both are feasible and differ by at most 1 %, or if both\n"
        f"are infeasible. Of {len(cells)}, {agree} agree and {better} are better.{met} The others:\n\n"
        + table(head, rows)
    )


# --- the page -----------------------------------------------------------------------------------------------------


def part() -> str:
    """Return the part of the page that this program writes."""
    text = ""
    for name, title, of_file in (
        ("cec2026", "## CEC 2026, on the CEC2017 problems at D = 30", cec2026),
        ("cec2020rw", "## CEC 2020, on real-world problems", cec2020rw),
    ):
        path = HERE / f"{name}.csv"
        text += f"\n{title}\n\n"
        if path.exists():
            lines, tables = blocks(path)
            text += of_file([*lines, made(name)], tables)
        else:
            text += MISSING.format(name=name)
    return text + "\n"


def made(name: str) -> str:
    """Return when results were made; their record has the fingerprints of the methods, which a test compares."""
    record = json.loads((HERE / "measured" / f"{name}.json").read_text(encoding="utf-8"))
    return f"{record['date']}, at commit {record['commit']}, not since; its methods make the same short runs as then"


if __name__ == "__main__":
    page = HERE / "competitions.md"
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    page.write_text(before + BEGIN + part() + END + rest.split(END)[1], encoding="utf-8")
