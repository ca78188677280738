"""`ppsde bench report`, `export` and `watch` as a user meets them."""

from __future__ import annotations

import http.client
import os
import signal
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from experiments.studies import command
from reports.made_up import a_store

import ppsde
from ppsde.cli import main
from ppsde.commands import exit_status
from ppsde.experiments import Plan, Store, run
from ppsde.reports.serving import LOOPBACK, served


def output_of(capsys: pytest.CaptureFixture[str], *argv: object) -> str:
    assert main([str(word) for word in argv]) == 0, capsys.readouterr().err
    return capsys.readouterr().out


@pytest.mark.parametrize("word", ["report", "export", "watch"])
def test_every_command_explains_itself_with_an_example_in_80_columns(
    word: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = output_of(capsys, "bench", word, "--help")
    assert f"ppsde bench {word} study.db" in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_real_study_from_plan_to_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    problems = ["engineering:welded-beam", "engineering:tension-spring"]
    plan = Plan(["pps-de", "shade"], problems=problems, runs=2, budget=600, record=20, engine="host")
    run(plan, tmp_path / "study.db", workers=1)
    argv = ["-o", tmp_path / "report.html", "--figures", tmp_path / "figures", "--tables", tmp_path / "tables"]
    text = output_of(capsys, "bench", "report", tmp_path / "study.db", *argv)
    page = (tmp_path / "report.html").read_text()
    assert text.splitlines()[0] in page.replace("&#x27;", "'")
    assert f"written: {tmp_path / 'report.html'}" in text
    assert "welded-beam" in page and "pps-de" in page and "suite engineering" in page
    assert (tmp_path / "figures" / "problem_welded-beam.svg").exists()
    assert (tmp_path / "tables" / "paper.tex").exists()
    text = output_of(capsys, "bench", "export", tmp_path / "study.db", "--format", "cec", "-o", tmp_path / "cec")
    assert text == f"written: {tmp_path / 'cec'}, 4 files\n"


def test_no_report_and_no_export_replaces_a_file_that_is_not_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a_store(tmp_path / "study.db", ("a", "b"), ("p", "q"), 3)
    ppsde.minimize(lambda x: x[0], [(0, 1)], max_evaluations=20, rng=1, checkpoint=tmp_path / "run.ppsde")
    (tmp_path / "plan.toml").write_text("runs = 3\n")
    (tmp_path / "script.py").write_text("import os\n")
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "results.csv").write_text("my,own\n1,2\n")
    there = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    argvs = [["-o", tmp_path / name] for name in ("study.db", "run.ppsde", "plan.toml", "script.py")]
    argvs.append(["-o", tmp_path / "report.html", "--tables", tmp_path / "tables"])
    for argv in argvs:
        assert main(["bench", "report", str(tmp_path / "study.db"), *map(str, argv)]) == exit_status.WRONG
        assert "is not a" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in there} == there
    everything = ["--figures", tmp_path / "f", "--tables", tmp_path / "t"]
    for _ in range(2):  # those of its own it does
        output_of(capsys, "bench", "report", tmp_path / "study.db", "-o", tmp_path / "report.html", *everything)
        for kind in ("cec", "ioh", *(["parquet"] if find_spec("pyarrow") else [])):
            output_of(capsys, "bench", "export", tmp_path / "study.db", "--format", kind, "-o", tmp_path / kind)


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["report", "TMP/none.db", "-o", "TMP/r.html"], "there is no store"),
        (["report", "TMP/study.db", "-o", "TMP/no/r.html"], "No such file"),
        (["report", "TMP/study.db", "-o", "TMP/r.html", "--plan", "9"], "plan must be a number from 1 to 1"),
        (["export", "TMP/study.db", "--format", "xls", "-o", "TMP/out"], "format must be one of"),
        (["watch", "TMP/none.db", "--once"], "there is no store"),
        (["watch", "TMP/study.db", "--every", "0"], "expected seconds > 0"),
        (["watch", "TMP/study.db", "--port", "80"], "--port needs --web"),
        (["watch", "TMP/study.db", "--web", "--port", "70000"], "expected a number from 0 to 65535"),
        (["watch", "TMP/study.db", "--web", "--once"], "cannot go together"),
        (["watch", "TMP/none.db", "--web"], "there is no store"),
    ],
    ids=lambda value: " ".join(value)[:50] if isinstance(value, list) else "",
)
def test_bad_input_is_refused_in_one_line(
    argv: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a_store(tmp_path / "study.db", ["a"], ["C01"], 1)
    assert main(["bench", *(word.replace("TMP", str(tmp_path)) for word in argv)]) == exit_status.WRONG
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1 and words in captured.err
    assert [file.name for file in tmp_path.iterdir()] == ["study.db"]


def test_a_look_at_a_study_shows_its_grid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more: dict[str, Any] = {"undone": [("b", "C01")], "failing": {("a", "C02"): "\033[2Jno luck"}}
    store = a_store(tmp_path / "study.db", ["a", "b"], ["C01", "C02"], 2, **more)
    lines = output_of(capsys, "bench", "watch", store, "--once").splitlines()
    assert lines[0] == f"{store}: 6 of 8 runs done (75%), 2 failed"
    assert lines[1] == "no one is working on it; `ppsde bench run` resumes it"
    assert lines[3:6] == [
        "D   problem  a              b",
        "10  C01      2/2            0/2",
        "10  C02      2/2, 2 failed  2/2",
    ]
    assert lines[-1] == "failed: a, C02, D=10, run 1: ?[2Jno luck"


def test_watching_ends_by_itself_when_everything_is_done(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = a_store(tmp_path / "study.db", ["a"], ["C01"], 2)
    assert "2 of 2 runs done (100%)" in output_of(capsys, "bench", "watch", store, "--every", 600)


def asked(address: str, method: str = "GET", path: str = "/", **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(address.removeprefix("http://").rstrip("/"), timeout=60)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content


def test_the_served_page_is_for_this_machine_alone_and_for_reading(tmp_path: Path) -> None:
    store = a_store(tmp_path / "study.db", ["a", "b"], ["C01"], 1)
    before = store.read_bytes()
    with served(store) as address:
        assert address.startswith(f"http://{LOOPBACK}:") and LOOPBACK == "127.0.0.1"
        port = address.rstrip("/").rpartition(":")[2]
        status, content = asked(address)
        assert status == 200 and b"study.db" in content and b"connect-src 'self'" in content
        assert asked(address, Host=f"localhost:{port}")[0] == 200
        for host in ("evil.example", f"evil.example:{port}", "", "127.0.0.1.evil.example", f"localhost:{port}1"):
            assert asked(address, Host=host)[0] == 403
        for path in ("/study.db", "/../study.db", "/index.html"):
            assert asked(address, path=path)[0] == 404
        for method in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS"):
            assert asked(address, method)[0] == 501
    assert store.read_bytes() == before
    with pytest.raises(ConnectionRefusedError):
        asked(address)


def test_the_served_page_follows_the_store(tmp_path: Path) -> None:
    from reports.made_up import a_job

    store = a_store(tmp_path / "study.db", ["a"], ["C01"], 1)
    with served(store) as address:
        first = asked(address)[1]
        assert asked(address)[1] == first
        with Store(store, writable=True) as opened:
            opened.add_plan({"more": 1}, [("b", a_job("b", "C01", 5))])
        assert b"1 of 6 runs done" in asked(address)[1]


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as on POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serving_stops_cleanly_when_asked_to(number: int, tmp_path: Path) -> None:
    store = a_store(tmp_path / "study.db", ["a"], ["C01"], 1)
    process = command("bench", "watch", store, "--web")
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("http://127.0.0.1:") and line.endswith("until Ctrl-C\n")
    assert asked(line.split()[0])[0] == 200
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "", "")
