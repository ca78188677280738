"""One way to say things: whole numbers, spellings, JSON, completion, guesses, and the command that resumes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ppsde
from ppsde.checks import check_int
from ppsde.cli import main, parser
from ppsde.commands.completion import words_of
from ppsde.commands.parsing import whole
from ppsde.experiments import Plan


@pytest.mark.parametrize(("text", "number"), [("12", 12), ("1e4", 10_000), ("2.0", 2), ("-1", -1), ("1_000", 1000)])
def test_a_whole_number_may_be_written_as_a_float(text: str, number: int) -> None:
    assert whole(text) == number and type(whole(text)) is int


def test_whole_floats_are_numbers_of_things_everywhere() -> None:
    assert ppsde.minimize(lambda x: x[0], [(0, 1)], method="jde", max_evaluations=3e2, rng=1).nfev == 300
    plan = Plan(["jde"], suite="cec2017", dimensions=[1e1], runs=2.0, budget=1e4, seed=1.0, record=5e1)
    assert (plan.dimensions, plan.runs, plan.budget, plan.seed, plan.record) == ([10], 2, 10_000, 1, 50)
    assert type(plan.budget) is int
    for value in (2.5, float("nan"), float("inf"), True, "1e4"):
        with pytest.raises(ValueError, match="n must be an int >= 1; got"):
            check_int("n", value, 1)


@pytest.mark.parametrize("text", ["1.5", "many", "nan", "inf", ""])
def test_what_is_no_whole_number_is_refused_in_one_line(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "engineering:welded-beam", "--max-evaluations", text]) == 2
    error = capsys.readouterr().err
    assert f"--max-evaluations: expected a whole number; got {text!r}" in error and error.count("\n") == 1


@pytest.mark.parametrize(
    ("argv", "guess"),
    [
        (["slove"], "did you mean 'solve'?"),
        (["bench", "runn"], "did you mean 'run'?"),
        (["solve", "engineering:welded-beam", "--max-evaluation", "5"], "did you mean '--max-evaluations'?"),
        (["bench", "run", "--store", "s.db", "--run=3"], "did you mean '--runs'?"),
        (["solve", "engineering:welded-bem"], "did you mean 'welded-beam'?"),
        (["solve", "enginering:welded-beam"], "did you mean 'engineering'?"),
        (["solve", "engineering:welded-beam", "--method", "lshade45"], "did you mean 'lshade44'?"),
        (["solve", "engineering:welded-beam", "--option", "populationsize=9"], "did you mean 'population_size'?"),
        (["list", "problems", "cec206"], "did you mean 'cec2006'?"),
    ],
)
def test_a_typing_error_is_answered_with_a_guess(
    argv: list[str], guess: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == 2
    error = capsys.readouterr().err
    assert guess in error and error.count("\n") == 1


# --- JSON ------------------------------------------------------------------------------------------------------------


def test_json_goes_to_standard_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    argv = ["solve", "engineering:welded-beam", "--method", "jde", "--max-evaluations", "3e2", "--seed", "1", "--quiet"]
    main([*argv, "--json", "-"])
    out, err = capsys.readouterr()
    data = json.loads(out)
    assert data["nfev"] == 300 and data["method"] == "jde" and "welded-beam" in err
    assert not list(tmp_path.iterdir()), "no file named - is made"
    main([*argv, "--json", "a.json"])
    assert {**json.loads(Path("a.json").read_text()), "seconds": 0, "eval_seconds": 0} == {
        **data,
        "seconds": 0,
        "eval_seconds": 0,
    }


def a_study(folder: Path) -> list[str]:
    argv = ["bench", "run", "--suite", "engineering", "--problem", "three-bar-truss", "--method", "jde", "--runs", "2"]
    return [*argv, "--budget", "1e2", "--engine", "host", "--workers", "1", "--quiet", "--store", str(folder / "s.db")]


def test_status_as_json_and_a_report_without_a_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(a_study(tmp_path)) == 0
    capsys.readouterr()
    assert main(["bench", "status", str(tmp_path / "s.db"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["runs"], found["done"], found["failed"]) == (2, 2, 0)
    assert found["cells"][0]["algorithm"] == "jde" and found["cells"][0]["problem"] == "three-bar-truss"
    assert main(["bench", "report", str(tmp_path / "s.db")]) == 0
    assert f"written: {tmp_path / 's.html'}" in capsys.readouterr().out
    assert (tmp_path / "s.html").read_text().startswith("<!")
    assert main(["bench", "status", str(tmp_path / "s.db")]) == 0, "the store is as it was"
    (tmp_path / "s.db").rename(tmp_path / "t.html")
    assert main(["bench", "report", str(tmp_path / "t.html")]) == 2
    assert "t.html; give -o, the page to write" in capsys.readouterr().err
    assert main(["bench", "status", str(tmp_path / "t.html")]) == 0, "nor is a store overwritten"


# --- spellings -------------------------------------------------------------------------------------------------------


def test_old_spellings_work_and_say_the_new_one(capsys: pytest.CaptureFixture[str]) -> None:
    for argv in (["reproduce"], ["bench", "run", "--store", "s.db"]):
        old = parser().parse_args([*argv, "--dimensions", "10,30", "--problems", "C01,C02"])
        assert "--dimensions is called --dimension, which may be repeated" in capsys.readouterr().err
        new = parser().parse_args(
            [*argv, "--dimension", "10", "--dimension", "30", "--problem", "C01", "--problem", "C02"]
        )
        assert capsys.readouterr().err == ""
        assert (old.dimension, old.problem) == (new.dimension, new.problem) == ([10, 30], ["C01", "C02"])
    assert main(["reproduce", "--dimensions", "ten"]) == 2
    assert "argument --dimensions: expected values with commas between; got 'ten'" in capsys.readouterr().err


def test_the_seed_of_a_batch_is_called_rng() -> None:
    problem = ppsde.Problem(lambda x: float(x.sum()) if x[0] > 0.5 else 2.0, [(0, 1)])
    common: dict[str, Any] = {"method": "jde", "runs": 1, "max_evaluations": 200}
    with pytest.warns(RuntimeWarning, match="cannot be compiled"):
        new = ppsde.solve_batch(problem, rng=7, **common)
    with pytest.warns((DeprecationWarning, RuntimeWarning)) as caught:
        old = ppsde.solve_batch(problem, seed=7, **common)
    assert "solve_batch(seed=) is called rng, as everywhere" in [str(one.message) for one in caught]
    assert new.x.tolist() == old.x.tolist()
    with pytest.raises(ValueError, match="rng and seed are two words for one thing; give rng alone"):
        ppsde.solve_batch(problem, rng=7, seed=7, **common)


# --- completion ------------------------------------------------------------------------------------------------------


def completed(script: str, *words: str) -> list[str]:
    asked = " ".join(f"'{word}'" for word in words)
    code = (
        f"{script}\nCOMP_WORDS=(ppsde {asked}); COMP_CWORD={len(words)}; _ppsde; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, cwd="/")
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_commands_options_and_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    assert completed(script, "be") == ["bench"]
    assert completed(script, "bench", "re") == ["repair", "report"]
    assert completed(script, "bench", "run", "--budget") == ["--budget", "--budget-per-variable"]
    assert completed(script, "solve", "--method", "pps") == ["pps-sqp", "pps-de", "pps-de-published"]
    assert completed(script, "solve", "beam.py:x", "--check") == ["--checkpoint", "--checkpoint-every"]
    assert "--dimensions" not in completed(script, "reproduce", "--dim"), "old spellings are not offered"


def test_every_shell_gets_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    words = words_of(parser())
    assert ("bench", "run") in words and "--json" in words["list", "rules"]
    for shell in ("zsh", "fish"):
        assert main(["completion", shell]) == 0
        script = capsys.readouterr().out
        for path in words:
            assert all(name in script for name in path)
    assert main(["completion", "dosh"]) == 2
    assert "invalid choice: 'dosh'" in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_other_shells_can_read_their_script(shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    main(["completion", shell])
    (tmp_path / "script").write_text(capsys.readouterr().out)
    assert subprocess.run([shell, "-n", tmp_path / "script"]).returncode == 0


ASKED_IN_ZSH = """
source {script}
setopt ksh_arrays sh_word_split
COMP_WORDS=(ppsde {words}); COMP_CWORD={last}; _ppsde; printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_other_shells_complete_by_their_script(
    shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    main(["completion", shell])
    script = tmp_path / "script"
    script.write_text(capsys.readouterr().out)

    def offered(words: str) -> set[str]:
        if shell == "fish":
            command = ["fish", "-N", "-c", f"source {script}; complete -C 'ppsde {words}'"]
        else:
            code = ASKED_IN_ZSH.format(script=script, words=words, last=len(words.split()))
            command = ["zsh", "-f", "-c", code]
        environment = {**os.environ, "HOME": str(tmp_path)}
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
        assert done.returncode == 0 and not done.stderr, done.stderr
        return {line.split("\t")[0] for line in done.stdout.splitlines()}

    assert offered("bench re") >= {"report", "repair"} and "solve" not in offered("bench re")
    assert "--asynchronous" in offered("solve --asy") and "--runs" not in offered("solve --asy")
    assert {"pps-sqp", "pps-de"} <= offered("solve --method pps") and "bench" not in offered("solve --method pps")


# --- the command that resumes ----------------------------------------------------------------------------------------


def test_a_run_that_ended_early_says_the_command_that_resumes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my problem.py").write_text(
        "import time\nimport ppsde\n\n\ndef slow(x):\n    time.sleep(0.002)\n    return float((x**2).sum())\n\n\n"
        "problem = ppsde.Problem(slow, [(-1, 1)] * 3)\n"
    )
    argv = ["solve", "my problem.py:problem", "--checkpoint", "a run.ck", "--max-time", "0.3", "--method", "jde"]
    main([*argv, "--quiet", "--seed", "1", "--max-evaluations", "1e5", "--json", "a b.json"])
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "to resume: " in line]
    said = line.partition("to resume: ")[2]
    expected = "ppsde solve 'my problem.py:problem' --resume 'a run.ck' --max-time 0.3 --json 'a b.json' --quiet"
    assert said == expected
    before = json.loads(Path("a b.json").read_text())["nfev"]
    resumed = said.replace("ppsde", f"{sys.executable} -m ppsde", 1)
    subprocess.run(["bash", "-c", resumed], check=True, capture_output=True)
    assert json.loads(Path("a b.json").read_text())["nfev"] > before


def test_an_interrupted_study_says_its_own_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import ppsde.experiments
    from ppsde.experiments import RunSummary

    argv = a_study(tmp_path / "a b")
    monkeypatch.setattr(sys, "argv", ["/somewhere/ppsde", *argv])
    ended = RunSummary(plan=1, runs=2, done=1, failed=0, interrupted=True, seconds=1.0)
    monkeypatch.setattr(ppsde.experiments, "run", lambda *a, **k: ended)
    assert main(argv) == 130
    assert f"interrupted; to resume: ppsde {' '.join(argv[:-1])} '{argv[-1]}'" in capsys.readouterr().out
