"""Write the tables of competitions.md: `python docs/competitions.py`.

Results come from cec2026.csv and cec2020rw.csv beside this file: the `reproduce.csv` that `ppsde reproduce
--competition` writes. `python docs/competitions.py cec2026=FOLDER` takes it from there first, and makes its record
in `measured`. A part whose file is missing says how to make it.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable
from pathlib import Path

from ppsde.algorithms import ALGORITHMS
from ppsde.reports.competitions import BESIDE, LOSSES, beside

HERE = Path(__file__).parent
MEASURED = HERE / "measured"
BEGIN, END = "<!-- written by docs/competitions.py, from here -->\n", "<!-- to here -->\n"
RUNS = 25
WANTED = {"rde26": 20, "sass": 45, "colshade": 40}  # agreements that were hoped for
WORDS = ("lost by", "verdict")  # columns of words, not of methods or numbers
MISSING = """Not yet run:

```console
ppsde reproduce --competition {name} -o {name}
python docs/competitions.py {name}={name}
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


def not_run(field: list[Row]) -> list[str]:
    """Return which methods of the package are not in a field, if any."""
    there = {row["method"] for row in field}
    missing = [f"`{name}`" for name in ALGORITHMS if name not in there]
    return [f"not run: {', '.join(missing)}"] if missing else []


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
    text = listed([*lines, f"{seconds:,.0f} s of running in all, without compiling", *not_run(field)]) + "\n"
    text += "Larger scores and smaller sums of places are better. Printed scores are those of the eight entries among\n"
    text += "themselves, so that only their order compares.\n\n"
    text += table([*head, "feasible runs", "seconds", "printed score"], rows)
    text += _losses(tables)
    for method, (whose, _) in BESIDE.items():
        if f"{method} beside {whose}" in tables:
            text += _beside(method, tables[f"{method} beside {whose}"], problems)
    return text


def _losses(tables: dict[str, list[Row]]) -> str:
    """Return where the default is not first; the sentences above the tables count these problems."""
    if not tables.get(LOSSES):
        return ""
    head = list(tables[LOSSES][0])
    rows = [[_cell(key, value) for key, value in row.items()] for row in tables[LOSSES]]
    return f"\n### {shown(LOSSES.split(',')[0])}{LOSSES[LOSSES.index(',') :]}\n\n" + table(head, rows)


def _cell(key: str, value: str) -> str:
    if key.endswith("feasible"):
        return share(value)
    return shown(value) if key == "first" else value if key in WORDS else number(value, 6)


def _beside(method: str, cells: list[Row], problems: list[Row]) -> str:
    """Return a method beside means of others, and how many cells other methods pass by the same test."""
    whose, theirs = BESIDE[method]
    judged = [row for row in cells if row["verdict"] != "not judged"]
    count = sum(row["verdict"] == "equivalent" for row in judged)
    others: dict[str, int] = {}
    for row in problems:
        if row["method"] != method and row["problem"] in theirs:
            verdict = beside(method, row["problem"], float(row["mean"]), float(row["std"]), RUNS)
            others[row["method"]] = others.get(row["method"], 0) + (verdict == "equivalent")
    nearest = sorted(others.items(), key=lambda item: -item[1])[:4]
    said = ", ".join(f"`{name}` on {passed}" for name, passed in nearest)
    rows = [
        [
            row["problem"],
            *(number(row[key]) for key in ("mean", "std")),
            share(row["feasible"]),
            number(row["theirs"]),
            "-" if row["their feasible"] == "nan" else share(row["their feasible"]),
            row["verdict"],
        ]
        for row in cells
    ]
    wanted = WANTED.get(method)
    met = "" if wanted is None else f"; {wanted} were wanted: {'reached' if count >= wanted else 'not reached'}"
    return (
        f"\n### `{method}` beside {whose}\n\n"
        "Both from 25 runs on the corrected problems. Two means are equivalent if two one-sided Welch tests at the\n"
        "level 0.05 show that they differ by less than one standard deviation (ours: theirs is unknown, so it counts\n"
        f"as equal), at least 1 % of the mean and 1e-8. {count} of {len(judged)} are{met}.\n"
        f"Of other methods, by the same test: {said or 'none were run'}.\n\n" + table(cells[0], rows)
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
    text = (
        listed([*lines, *not_run(field)])
        + "\nSmaller scores are better. The published entries take part with their results.\n\n"
    )
    text += table([*head, "printed score"], rows)
    text += _losses(tables)
    for method, entry in (("sass", "SASS"), ("colshade", "COLSHADE"), ("enmode", "EnMODE")):
        if f"{method} beside {entry}: medians" in tables:
            text += _medians(method, entry, tables[f"{method} beside {entry}: medians"])
    return text


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
            number(row["p"], 2),
            row["reason"],
        ]
        for row in cells
        if row["verdict"] != "equal"
    ]
    head = ["problem", "median", "violation", "feasible", "published", "its violation", "verdict", "p", "reason"]
    return (
        f"\n### `{method}` beside {entry}\n\nMedians agree if both are feasible and differ by at most 1 %, or if both\n"
        f"are infeasible. Of {len(cells)}, {agree} agree and {better} are better.{met} The others follow; p is how\n"
        "often 25 runs of one law have a median so far from the middle of 25 others, and from 0.05 on the difference\n"
        "may be chance:\n\n" + table(head, rows)
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
    record = json.loads((MEASURED / f"{name}.json").read_text(encoding="utf-8"))
    if "commit" not in record:
        return str(record["date"])
    changed = ", ".join(f"`{method}`" for method in record.get("changed", ()))
    but = f", but for {changed}, changed since" if changed else ""
    return (
        f"{record['date']}, at commit {record['commit']}, not since; its methods make the same short runs as then{but}"
    )


def take(name: str, folder: Path) -> None:
    """Take the results of a competition from the folder that `ppsde reproduce` wrote, and make their record."""
    from benchmarks.records import fingerprint, today

    text = (folder / "reproduce.csv").read_text(encoding="utf-8")
    (HERE / f"{name}.csv").write_text(text, encoding="utf-8")
    lines, tables = blocks(HERE / f"{name}.csv")
    field = next(rows for title, rows in tables.items() if title.startswith("The field"))
    methods = [row["method"] for row in field if not row["method"].endswith("(published)")]
    record = {
        "command": f"ppsde reproduce --competition {name} -o {name}",
        "date": today(),
        "machine": "; ".join(line.removeprefix("made on ") for line in lines if line.startswith("made on ")),
        "methods": {method: fingerprint(method) for method in sorted(methods)},
        "values": {},
    }
    (MEASURED / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))  # for benchmarks.records
    for given in sys.argv[1:]:
        name, _, place = given.partition("=")
        take(name, Path(place))
    page = HERE / "competitions.md"
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    page.write_text(before + BEGIN + part() + END + rest.split(END)[1], encoding="utf-8")
