"""`ppsde compare`: what got better and worse, from stores to text, page, JSON and exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from reports.made_up import a_store
from reports.test_page import Reader

from ppsde.cli import main
from ppsde.commands import exit_status
from ppsde.experiments import Store

PROBLEMS = ["C01", "C02", "C03"]


@pytest.fixture
def stores(tmp_path: Path) -> tuple[str, str]:
    """`mine` ends at a level of 2 in the first and of 1, which is better, in the second."""
    old = a_store(tmp_path / "old.db", ["other", "mine"], PROBLEMS, 8, seed=1)
    new = a_store(tmp_path / "new.db", ["mine"], [*PROBLEMS, "C04"], 8, seed=2)
    return str(old), str(new)


def output_of(capsys: pytest.CaptureFixture[str], *argv: str, status: int = 0) -> str:
    assert main(["compare", *argv]) == status, capsys.readouterr().err
    return capsys.readouterr().out


def test_two_stores_are_compared_by_the_algorithms_of_both(
    stores: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    lines = output_of(capsys, *stores).splitlines()
    assert lines[0] == "mine in old.db before, mine in new.db after: 3 better, 0 worse, 0 no clear difference"
    assert lines[1] == "Feasible runs: 24 of 24 before, 24 of 24 after."
    assert "Runs are paired by seed and number." in lines and "Only after: C04." in lines
    row = next(line for line in lines if line.startswith("C02"))
    assert "8/8 to 8/8" in row and "1.00 [" in row and "  -1." in row  # the objective fell by about 1


def test_worse_is_an_exit_status_on_demand_and_comes_first(
    stores: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = stores
    text = output_of(capsys, new, old, "--fail-on-worse", status=exit_status.WORSE)
    assert "0 better, 3 worse" in text and "\nworse\n" in text
    assert "3 worse" in output_of(capsys, new, old)
    output_of(capsys, old, new, "--fail-on-worse")


def test_numbers_are_written_as_json(
    stores: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = json.loads(output_of(capsys, *stores, "--json", "-"))
    (one,) = data["comparisons"]
    assert one["counts"] == {"worse": 0, "better": 3, "no clear difference": 0, "identical": 0}
    assert [p["problem"] for p in one["problems"]] == PROBLEMS
    first = one["problems"][0]
    assert first["paired"] and first["chance"] == 1 and first["kind"] == "difference" and first["adjusted"] < 0.05
    assert first["moved_low"] < first["moved"] < first["moved_high"] < 0
    for _ in range(2):  # its own file is replaced
        output_of(capsys, *stores, "--json", str(tmp_path / "changes.json"))
    assert json.loads((tmp_path / "changes.json").read_text()) == data


def test_the_page_is_static_and_names_every_problem(
    stores: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = output_of(capsys, *stores, "-o", str(tmp_path / "changes.html"))
    assert text.splitlines()[-1] == f"written: {tmp_path / 'changes.html'}"
    page = (tmp_path / "changes.html").read_text()
    reader = Reader(page)
    assert reader.all("script") == [] and len(reader.all("svg")) == 1
    assert all(name in page for name in PROBLEMS) and "3 better, 0 worse" in page


def test_a_median_run_that_is_not_feasible_is_shown_by_its_violation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = str(a_store(tmp_path / "study.db", ["a", "b"], ["C01"], 8, infeasible={"b": 1.0}))
    row = next(line for line in output_of(capsys, store).splitlines() if line.startswith("C01"))
    assert row.count("violation 0.02") == 1 and row.index("8/8 to 0/8") < row.index("violation")


def test_a_study_does_not_differ_from_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = str(a_store(tmp_path / "study.db", ["a", "b"], PROBLEMS, 6))
    text = output_of(capsys, store, store, "--fail-on-worse")
    assert text.count("0 better, 0 worse, 0 no clear difference, 3 identical") == 2  # a and b


def test_two_algorithms_of_one_store_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = str(a_store(tmp_path / "study.db", ["a", "b", "c"], PROBLEMS, 8))
    assert "b in study.db before, a in study.db after: 3 better" in output_of(
        capsys, store, "--before", "b", "--after", "a"
    )
    two = str(a_store(tmp_path / "two.db", ["a", "b"], PROBLEMS, 8))
    assert "a in two.db before, b in two.db after: 0 better, 3 worse" in output_of(capsys, two)


def test_the_last_two_plans_of_a_store_are_versions_where_they_disagree(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = a_store(tmp_path / "study.db", ["a"], ["C01", "C02"], 8)
    more = a_store(tmp_path / "more.db", ["x", "a"], ["C01", "C02"], 8, seed=5, budget=10_000)
    with Store(path, writable=True) as store, Store(more) as other:
        store.add_plan({"more": 1}, [("a", job) for label, job in other.jobs() if label == "a"])
        wanted = {job.id for label, job in other.jobs() if label == "a"}
        rows = [number for (kind, *key), number in other.keys().items() if kind == b"R" and key[0] in wanted]
        store.add_entries(other.database.rows("SELECT entry FROM entries WHERE number = ?", n)[0][0] for n in rows)
    text = output_of(capsys, str(path))
    assert "a in study.db before, a in study.db after: 0 better, 2 worse" in text
    assert "The budgets differ, 20,000 and 10,000: C01, C02." in text
    assert "2 better" in output_of(capsys, str(path), "--plans", "2", "1")


def test_a_problem_that_changed_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = a_store(tmp_path / "old.db", ["a"], ["C01", "C02"], 6, instance=1)
    new = a_store(tmp_path / "new.db", ["a"], ["C01"], 6, seed=4, instance=1)
    other = a_store(tmp_path / "other.db", ["a"], ["C02"], 6, instance=2)
    with Store(new, writable=True) as store, Store(other) as reading:
        store.add_plan({"more": 1}, reading.jobs())
        store.add_entries(
            entry for (entry,) in reading.database.rows("SELECT entry FROM entries") if entry[8:9] == b"R"
        )
    assert "C02: left out, the problem itself has changed." in output_of(capsys, str(old), str(new))


def test_runs_of_other_seeds_are_not_paired(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = a_store(tmp_path / "old.db", ["a"], ["C01"], 6)
    new = a_store(tmp_path / "new.db", ["a"], ["C01"], 9, seed=4)
    text = output_of(capsys, str(old), str(new))
    assert "Runs are paired by seed and number on 0 of 1 problems; the others have other seeds." in text


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["TMP/none.db"], "there is no store"),
        (["TMP/three.db"], "has 3 algorithms (a, b, c): name two by --before and --after"),
        (["TMP/three.db", "--before", "a"], "--before and --after must both be given"),
        (["TMP/three.db", "--before", "a", "--after", "bb"], "three.db has no 'bb'; it has a, b, c"),
        (["TMP/three.db", "TMP/d.db"], "no algorithm in common"),
        (["TMP/three.db", "TMP/d.db", "--plans", "1", "2"], "--plans is for two plans of one store"),
        (["TMP/three.db", "TMP/three.db", "--level", "2"], "the level must be between 0 and 1"),
        (["TMP/three.db", "TMP/d.db", "--before", "a", "--after", "d"], "no problem in common"),
        (["TMP/three.db", "--before", "a", "--after", "b", "-o", "TMP/d.db"], "is not a html file"),
    ],
    ids=lambda value: " ".join(value)[:50] if isinstance(value, list) else "",
)
def test_bad_input_is_refused_in_one_sentence(
    argv: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a_store(tmp_path / "three.db", ["a", "b", "c"], ["C01"], 2)
    a_store(tmp_path / "d.db", ["d"], ["C09"], 2)
    assert main(["compare", *(word.replace("TMP", str(tmp_path)) for word in argv)]) == exit_status.WRONG
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1 and words in captured.err


def test_help_has_an_example_in_80_columns(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = output_of(capsys, "--help")
    assert "ppsde compare old.db new.db" in text and max(map(len, text.splitlines())) <= 80
