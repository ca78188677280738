"""`ppsde bench` as a user meets it."""

from __future__ import annotations

from pathlib import Path

import pytest
from experiments.studies import a_job, a_store, contents

from ppsde.cli import main
from ppsde.commands import exit_status
from ppsde.experiments import Store

PLAN = """
suite = "engineering"
problems = ["welded-beam", "tension-spring"]
runs = 2
budget = 300
engine = "host"
algorithms = ["pps-de", "pps-de-published"]
"""


@pytest.fixture
def plan(tmp_path: Path) -> str:
    (tmp_path / "plan.toml").write_text(PLAN)
    return str(tmp_path / "plan.toml")


def output_of(capsys: pytest.CaptureFixture[str], *argv: object, expected: int = 0) -> str:
    assert main([str(word) for word in argv]) == expected, capsys.readouterr().err
    return capsys.readouterr().out


def error_of(capsys: pytest.CaptureFixture[str], *argv: object) -> str:
    """The one line of error that the arguments give, with exit status 2 and nothing on standard output."""
    assert main([str(word) for word in argv]) == exit_status.WRONG
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("ppsde: error: ")
    assert captured.err.count("\n") == 1
    return captured.err


@pytest.mark.parametrize("words", [[], ["run"], ["status"], ["merge"], ["repair"]], ids=" ".join)
def test_every_command_explains_itself_with_an_example_in_80_columns(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = output_of(capsys, "bench", *words, "--help")
    assert "example" in text and "ppsde bench " + " ".join(words) in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_study_from_plan_to_status(
    plan: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    store = tmp_path / "study.db"
    assert main(["bench", "run", plan, "--store", str(store), "--workers", "2"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith(f"{store}: 8 of 8 runs done, ")
    assert captured.err.splitlines()[-1].startswith("study  100% of 2,400  ") and captured.err.endswith("jobs 8/8\n")
    lines = output_of(capsys, "bench", "status", store).splitlines()
    assert lines[0] == f"{store}: 8 of 8 runs done, 0 failed"
    assert lines[2:] == [
        "D  problem         pps-de  pps-de-published",
        "3  tension-spring  2/2     2/2",
        "4  welded-beam     2/2     2/2",
    ]


def test_options_state_a_plan_or_change_one(plan: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--suite", "engineering", "--problem", "welded-beam", "--problem", "tension-spring", "--runs", 2]
    more = ["--method", "pps-de", "--method", "pps-de-published", "--engine", "host", "--budget", 300, "--quiet"]
    first, second = tmp_path / "first.db", tmp_path / "second.db"
    output_of(capsys, "bench", "run", *flags, *more, "--store", first)
    output_of(capsys, "bench", "run", plan, "--store", second, "--quiet")
    assert contents(first) == contents(second)
    changed = ["--budget-per-variable", 90, "--problem", "cec2006:g06", "--option", "pbest=8", "--method", "pps-de"]
    output_of(capsys, "bench", "run", plan, *changed, "--seed", 5, "--record", 3, "--quiet", "--store", second)
    with Store(second) as store:
        jobs = [result.job for result in store.results(plan=2)]
    assert [(job.budget, job.problem_name, job.settings["pbest"], job.seed, job.record, job.runs) for job in jobs] == [
        (180, "g06", 8, 5, 3, (0,)),
        (180, "g06", 8, 5, 3, (1,)),
    ]


def test_shards_and_their_merge(plan: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = [tmp_path / "1.db", tmp_path / "2.db"]
    for k, part in enumerate(parts):
        text = output_of(capsys, "bench", "run", plan, "--store", part, "--shard", f"{k + 1}/2", "--quiet")
        assert "4 of 4 runs done" in text
    text = output_of(capsys, "bench", "status", parts[0])
    assert "4 of 8 runs done" in text and "no one is working on it" in text and "1/2" in text
    text = output_of(capsys, "bench", "merge", tmp_path / "all.db", *parts)
    assert f"{parts[0]}: 4 runs" in text and f"written: {tmp_path / 'all.db'}, 8 runs" in text
    assert "8 of 8 runs done" in output_of(capsys, "bench", "status", tmp_path / "all.db")
    assert "exists" in error_of(capsys, "bench", "merge", tmp_path / "all.db", *parts)


def test_a_damaged_store_is_named_and_repaired(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, new = tmp_path / "study.db", tmp_path / "new.db"
    a_store(store, [a_job()])
    assert "no damage found" in output_of(capsys, "bench", "repair", store, "-o", new)
    new.unlink()
    store.write_bytes(store.read_bytes()[:-3000])
    for argv in (["status", store], ["merge", tmp_path / "all.db", store]):
        message = error_of(capsys, "bench", *argv)
        assert "is damaged" in message and f"`ppsde bench repair {store} -o NEW.db`" in message
    text = output_of(capsys, "bench", "repair", store, "-o", new)
    assert text.startswith("damage found:\n  ") and f"written: {new}, 2 runs of 1 jobs, 1 plans" in text
    assert "2 of 2 runs done" in output_of(capsys, "bench", "status", new)


def test_failures_are_told_with_their_reason_and_cannot_steer_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "odd.py").write_text(
        "import ppsde\ndef fun(x):\n    raise ValueError('\\033[2Jno\\nluck')\nproblem = ppsde.Problem(fun, [(0, 1)])\n"
    )
    argv = ["--problem", tmp_path / "odd.py:problem", "--method", "pps-de", "--runs", 12, "--budget", 40, "--quiet"]
    text = output_of(capsys, "bench", "run", *argv, "--store", tmp_path / "study.db", expected=exit_status.ALL_FAILED)
    assert "12 of 12 runs done, 12 of them failed" in text
    text = output_of(capsys, "bench", "status", tmp_path / "study.db")
    assert "12/12, 12 failed" in text and "and 2 more" in text and "\033" not in text
    assert "pps-de, odd.py:problem, D=1, run 0: every evaluation failed (40); the first with ValueError: ?[2Jno" in text


def test_many_algorithms_are_shown_in_tables_that_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    store = tmp_path / "study.db"
    with Store(store, writable=True, make=True) as made:
        made.add_plan({}, [(f"a rather long name {k}", a_job(settings={"k": k})) for k in range(7)])
    text = output_of(capsys, "bench", "status", store)
    assert all(f"a rather long name {k}" in text for k in range(7)) and text.count("0/2") == 7
    assert max(map(len, text.splitlines())) <= 80 or str(store) in max(text.splitlines(), key=len)


def test_of_plans_that_disagree_the_last_is_shown_unless_one_is_chosen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "study.db"
    a_store(store, [a_job()])
    with Store(store, writable=True) as opened:
        opened.add_plan({}, [("mine", a_job(budget=7))])
    assert "plan 2 of 2: 0 of 2 runs done" in output_of(capsys, "bench", "status", store)
    assert "plan 1 of 2: 2 of 2 runs done" in output_of(capsys, "bench", "status", store, "--plan", 1)
    assert "plan must be a number from 1 to 2" in error_of(capsys, "bench", "status", store, "--plan", 3)


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["run", "nowhere.toml", "--store", "TMP/s.db"], "nowhere.toml"),
        (["run", "PLAN"], "--store"),
        (["run", "PLAN", "--store", "TMP/no/s.db"], "there is no folder"),
        (["run", "--store", "TMP/s.db"], "algorithms must be given"),
        (["run", "--store", "TMP/s.db", "--method", "pps-de"], "problems or suite must be given"),
        (["run", "PLAN", "--store", "TMP/s.db", "--shard", "3/2"], "shard must be two ints"),
        (["run", "PLAN", "--store", "TMP/s.db", "--shard", "half"], "expected I/N"),
        (["run", "PLAN", "--store", "TMP/s.db", "--workers", "0"], "workers must be an int >= 1"),
        (["run", "PLAN", "--store", "TMP/s.db", "--runs", "0"], "runs must be an int >= 1"),
        (["run", "PLAN", "--store", "TMP/s.db", "--option", "pbest=8"], "--option needs --method"),
        (["run", "PLAN", "--store", "TMP/s.db", "--engine", "steam"], "engine must be one of"),
        (["run", "PLAN", "--store", "PLAN"], "does not begin as a store does: it is none, or is damaged"),
        (["status", "TMP/s.db"], "there is no store"),
        (["merge", "TMP/s.db", "TMP/t.db"], "there is no store"),
        (["repair", "TMP/s.db"], "-o/--output"),
        (["dance"], "dance"),
    ],
    ids=lambda value: " ".join(value)[:50] if isinstance(value, list) else "",
)
def test_bad_input_is_refused_in_one_line_that_names_it(
    argv: list[str], words: str, plan: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    filled = [word.replace("PLAN", plan).replace("TMP", str(tmp_path)) for word in argv]
    assert words in error_of(capsys, "bench", *filled)
    assert [file.name for file in tmp_path.iterdir()] == ["plan.toml"]
