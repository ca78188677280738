"""Measured numbers in the documents are those of the records, and the records are not older than the methods."""

from __future__ import annotations

import csv
import json
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import ppsde
from benchmarks import documents
from benchmarks.records import (
    changed_since,
    digest_of,
    is_of_another_program,
    load,
    names,
    outdated,
    save,
    stamp,
    values_of,
)
from ppsde.parts.handling import RULES
from ppsde.suites import cec2020rw
from ppsde.suites.cec2020rw_optima import BEST

ROOT = Path(__file__).parent.parent
MEASURED = runpy.run_path(str(ROOT / "docs" / "measured.py"))
MARKED = re.compile(
    r"<!-- (?:docs/measured.py (?P<name>[\w-]+)|written by .*?) -->\n.*?<!-- (?:end of (?P=name)|to here) -->", re.S
)
WRITTEN = ("paper.md", "settings.md")  # as a whole, by programs of their own
NUMBER = re.compile(r"[*`]*[-+]?\d[\d.,]*(e[-+]?\d+)?[*`]*($|[ %+/,(])")


@pytest.mark.parametrize("name", MEASURED["TEXTS"])
def test_a_page_shows_what_its_record_has(name: str) -> None:
    """`python docs/measured.py` writes it."""
    assert MEASURED["shown"](name) == MEASURED["TEXTS"][name][1]()


@pytest.mark.parametrize("name", names())
def test_a_record_is_not_older_than_the_methods_that_it_measured(name: str) -> None:
    """The command of the record measures again; `python docs/measured.py --outdated` lists all that is needed."""
    assert not outdated(name), f"measure again: {load(name)['command']}"


def test_a_page_names_the_methods_that_a_record_calls_changed() -> None:
    found = [name for name in names() if "changed" in load(name)]
    assert set(found) <= {"cec2026"}
    for name in found:
        named = load(name)["changed"]
        assert changed_since(name) == named, "and no other has, nor one of them in vain"
        page = (ROOT / "docs" / "competitions.md").read_text(encoding="utf-8")
        assert f"{MEASURED['SAME']}, but for {', '.join(f'`{method}`' for method in named)}, changed since" in page


def test_a_method_that_has_changed_makes_a_record_outdated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.records.FOLDER", tmp_path)
    save("some", [1], command="python some.py", methods=["jde", "shade"])
    assert names() == ["some"] and values_of("some") == [1] and values_of("other") is None and outdated("some") == []
    record, path = load("some"), tmp_path / "some.json"
    first, *others = record["methods"]["jde"].split()
    for value, more, expected in [
        (float(first) * (1.0 + 1e-5), others, []),  # rounding
        (float(first) * 1.01, others, ["jde"]),
        (first, others[:-1], ["jde"]),
    ]:
        record["methods"]["jde"] = " ".join(map(str, [value, *more]))
        path.write_text(json.dumps(record))
        assert outdated("some") == expected


@pytest.mark.parametrize("name", names())
def test_a_record_is_not_older_than_the_benchmark_that_made_it(name: str) -> None:
    """Measure again; or, where the change touches nothing that is measured, `python docs/measured.py --same NAME`."""
    assert not is_of_another_program(name), load(name)["command"]
    made_by_a_benchmark = digest_of(load(name)["command"]) is not None
    assert ("program" in load(name)) == (made_by_a_benchmark and "commit" not in load(name))


def test_a_benchmark_that_has_changed_makes_a_record_outdated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.records.FOLDER", tmp_path)
    monkeypatch.setattr("benchmarks.records.ROOT", tmp_path)
    (tmp_path / "benchmarks" / "races").mkdir(parents=True)
    alone, part, shown = (tmp_path / "benchmarks" / name for name in ("alone.py", "races/runs.py", "races/report.py"))
    for file in (alone, part, shown):
        file.write_text("runs = 5\n")
    for name in ("alone", "races"):
        save(name, [1], command=f"python -m benchmarks.{name} --write", methods=["jde"])
    for file, text, expected in [
        (alone, "runs  =  5\n\n", []),  # layout
        (shown, "runs = 6\n", []),
        (alone, "runs = 6\n", ["alone"]),
        (part, "runs = 6\n", ["alone", "races"]),
    ]:
        file.write_text(text)
        assert [name for name in names() if is_of_another_program(name)] == expected
    save("alone", [1], command=load("alone")["command"], methods=["jde"], again=["jde"])  # a part of it only
    assert is_of_another_program("alone")
    before = load("races")
    stamp("races", digest_of(before["command"]))
    assert not is_of_another_program("races") and load("races") == before | {"program": load("races")["program"]}
    save("alone", [2], command=load("alone")["command"], methods=["jde"])
    assert not is_of_another_program("alone")


def test_what_was_not_measured_again_stays_as_old_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.records.FOLDER", tmp_path)
    methods = ["shade:rule=cw", "shade:rule=idea"]
    save("some", [1], command="python some.py", methods=methods)
    assert outdated("some") == [] and len(set(load("some")["methods"].values())) == 2
    record = load("some") | {"methods": dict.fromkeys(methods, "0 0")}  # both rules have changed since
    (tmp_path / "some.json").write_text(json.dumps(record))
    save("some", [2], command="python some.py", methods=methods, again=["shade:rule=idea"])
    assert outdated("some") == ["shade:rule=cw"]


def tables(text: str) -> list[list[list[str]]]:
    """Return the tables of a page, each as rows of cells."""
    found = re.findall(r"(?:^\|.*\n)+", text, re.M)
    return [[[cell.strip() for cell in line.strip("|").split(" | ")] for line in rows.splitlines()] for rows in found]


def is_of_numbers(rows: list[list[str]]) -> bool:
    cells = [cell for row in rows[2:] for cell in row[1:] if cell]
    return bool(cells) and sum(bool(NUMBER.match(cell)) for cell in cells) > len(cells) / 2


@pytest.mark.parametrize(
    "page", [page for page in ROOT.glob("docs/**/*.md") if page.name not in WRITTEN] + [ROOT / "README.md"]
)
def test_no_table_of_numbers_is_typed_by_hand(page: Path) -> None:
    rest = MARKED.sub("", page.read_text(encoding="utf-8"))
    assert [rows[0] for rows in tables(rest) if is_of_numbers(rows) and rows[0] not in KNOWN] == []


UNITS = re.compile(
    r"(?:(?<!e)\d|\babout (?:an?|one|two|ten)) (?:s|ms|us|[KkMG]B|\w*seconds?|minutes?|hours?)\b|\d ?%", re.I
)
# Not measured: of a simulator in a benchmark, a setting of Dask, a sum of bytes; settings, and levels of confidence.
SET = ("0.3 to 3 s", "for 30 seconds", "2.2 kB", "95 %", "60 %", "21 %", "3 % and 30 %", "5 %, at", "20 %", "11 %, at")


@pytest.mark.parametrize("page", [*ROOT.glob("docs/**/*.md"), ROOT / "README.md"])
def test_no_time_memory_or_share_is_typed_by_hand(page: Path) -> None:
    """README and docs/performance.md had two times for the same measurement; now each has one record."""
    rest = MARKED.sub("", page.read_text(encoding="utf-8"))
    prose = re.sub(r"^```.*?^```|`[^`]*`", "", rest, flags=re.M | re.S)
    for words in SET:
        prose = prose.replace(words, "")
    assert UNITS.findall(prose) == []


KNOWN = [["problem", "table", "here", ""]]  # of best values, which the next test compares with the suite's


def test_best_values_beside_the_organisers_table_are_those_of_the_suite() -> None:
    found = [rows for rows in tables((ROOT / "docs" / "cec2020rw.md").read_text(encoding="utf-8")) if rows[0] in KNOWN]
    assert len(found) == 1 and len(found[0]) > 10
    for name, _, here, _ in found[0][2:]:
        decimals = len(here.partition(".")[2])
        assert f"{BEST[name][0]:.{decimals}f}" == here, name  # without the data that some problems need


def page_of_the_real_world_suite() -> str:
    return " ".join((ROOT / "docs" / "cec2020rw.md").read_text(encoding="utf-8").split())


def test_the_least_violation_of_rc51_is_that_of_the_suite() -> None:
    try:
        problem = ppsde.suites.get("cec2020rw").problem("RC51")
    except ValueError:
        pytest.skip("the official data is not here")
    _, g, h = problem.evaluate(np.atleast_2d(problem.optimum.x))
    (nu,) = cec2020rw.nu("RC51", g, h)
    assert f"nu is {nu * 1e6:.4f}e-6 here" in page_of_the_real_world_suite()


@pytest.mark.parametrize(("problem", "trap"), [("RC03", -142.72), ("RC14", 58505.45)])
def test_the_published_methods_that_end_in_a_trap_are_named(problem: str, trap: float) -> None:
    with (ROOT / "src" / "ppsde" / "published" / "cec2020rw.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["problem"] == problem]
    held = [row["entry"] for row in rows if round(float(row["best_f"]), 2) == trap]
    assert f"of {', '.join(held[:-1])} and {held[-1]} came" in page_of_the_real_world_suite()


def test_the_readme_says_of_ranks_and_times_what_the_records_have() -> None:
    """First of the eight at all three dimensions; second to IUDE at D = 10 on judged problems; less than a minute."""
    totals: dict[tuple[str, int], dict[str, int]] = {}
    for row in values_of("ranks"):
        if row["preset"] == "pps-de":
            totals.setdefault((row["problems"], row["dimension"]), {})[row["algorithm"]] = row["total"]
    assert [min(totals["all", d], key=totals["all", d].__getitem__) for d in (10, 30, 50)] == ["pps-de"] * 3
    assert sorted(totals["judged", 10], key=totals["judged", 10].__getitem__)[:2] == ["iude", "pps-de"]
    assert len(totals["all", 10]) == 8 and values_of("experiment")["from nothing"] < 60
    assert all(row["pps-de"] < row["scipy"] < row["pps-sqp"] for row in values_of("overhead")["beside SciPy"])
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    for words in (
        "takes less than a minute on one H200",
        "the default preset of PPS-DE is first of the eight algorithms at all three dimensions",
        "25 runs, one seed",
        "it is not the published algorithm, it was chosen on these very problems",
        "three of its seven rivals are reconstructions that were fitted to printed means",
        "four of the 28 problems have no feasible point; on the 22 judged ones it is second to IUDE at D = 10",
        "its own printed means put PPS-DE first at D = 10 only",
        "less for PPS-DE, far more for the default",
    ):
        assert words in text, words


def test_sentences_about_the_field_are_true_of_the_records() -> None:
    """What the pages say of feasible runs and places, in words, without a number that a program could write."""
    feasible = {key: float(row["feasible_share"]) for key, row in MEASURED["field"]().items()}
    methods = dict.fromkeys(method for method, _, _ in feasible)
    said = {
        "docs/reproduction.md": "at D = 50 it ends infeasible in nearly every run, where LSHADE44, LSHADE44+IDE and "
        "eMAg-ES end feasible in most",
        "docs/feasibility.md": "On C15 and C24 of CEC2017 at D = 10 most of our runs of the published PPS-DE end "
        "infeasible",
        "docs/algorithms.md": "on C15 and C24 at D = 10: most of its runs end infeasible",
        "docs/field.md": "with 12 points it comes last at D = 10",
    }
    for page, words in said.items():
        assert words in " ".join((ROOT / page).read_text(encoding="utf-8").split()), page
    most = [method for method in methods if feasible[method, 50, "C11"] > 0.5]
    assert sorted(most) == ["emag-es", "lshade44", "lshade44-ide"] and feasible["pps-de", 50, "C11"] < 0.1
    assert max(feasible["pps-de-published", 10, problem] for problem in ("C15", "C24")) < 0.5
    totals = {
        row["algorithm"]: row["total"]
        for row in values_of("ranks")
        if (row["preset"], row["problems"], row["dimension"]) == ("pps-de", "all", 10)
    }
    assert max(totals, key=totals.__getitem__) == "ude"


def test_a_page_says_what_has_not_been_measured_since_a_commit() -> None:
    """And that the methods have not changed since, which the test of fingerprints above holds."""
    pages = {"field": "preset", "ranks": "ranks", "experiment": "experiment", "throughput-gpu": "throughput"}
    older = [name for name in names() if "commit" in load(name)]
    assert set(older) <= {*pages, "cec2026"}
    competitions = (ROOT / "docs" / "competitions.md").read_text(encoding="utf-8")
    for name in older:
        words = " ".join((MEASURED["shown"](pages[name]) if name in pages else competitions).split())
        assert f"at commit {load(name)['commit']}, not since; {MEASURED['SAME']}" in words
        assert load(name)["methods"], "fingerprints of that commit"


def test_the_record_of_a_competition_has_the_methods_of_its_table() -> None:
    named = re.findall(
        r"^\| \d+ \| `([\w-]+)` \|", (ROOT / "docs" / "competitions.md").read_text(encoding="utf-8"), re.M
    )
    assert sorted(named) == sorted(load("cec2026")["methods"])


def test_a_study_of_100_000_jobs_costs_no_more_per_job_and_is_seen_and_reported_soon() -> None:
    found = values_of("scale")
    assert found["100000"]["run"]["cpu"] / 100 < 1.5 * found["1000"]["run"]["cpu"]
    assert found["100000"]["run"]["megabytes"] < 500
    assert found["100000"]["status"]["cpu"] < 2 and found["100000"]["report"]["cpu"] < 60


def test_a_number_is_rounded_up_to_one_digit() -> None:
    assert [MEASURED["rounded_up"](value) for value in (1.0036e-9, 2e-9, 9.1e-9)] == ["2e-09", "2e-09", "1e-08"]


@pytest.mark.slow  # so that a new technique need not be measured at once
def test_the_table_of_rules_has_a_row_for_each_technique_and_a_column_for_each_problem() -> None:
    rows = values_of("rules")
    assert list(rows) == list(RULES) and {tuple(cells) for cells in rows.values()} == {tuple(documents.rule_problems())}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["spring", "limits"])
def test_a_measured_sentence_is_what_is_found(name: str) -> None:
    assert values_of(name) == documents.MEASURED[name][0]()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "problem"), [("cw", "welded-beam"), ("death-penalty", "equalities"), ("static-penalty", "speed-reducer")]
)
def test_a_cell_of_the_table_of_rules_is_what_is_found(rule: str, problem: str) -> None:
    """Of those that do not depend on how a processor rounds."""
    assert documents.rule_cell(rule, documents.rule_problems()[problem]) == values_of("rules")[rule][problem]
