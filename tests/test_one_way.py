"""One way to say things: whole numbers, spellings, JSON, completion, guesses, and the command that resumes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import warnings
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
    plan = Plan(["jde"], suite="cec2017", dimensions=[1e1], runs=2.0, budget=1e4, rng=1.0, record=5e1)
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
    assert "argument --dimensions: expected a whole number; got 'ten'" in capsys.readouterr().err
    assert main(["reproduce", "--dimension", "10,"]) == 2
    assert "argument --dimension: expected values with commas between; got '10,'" in capsys.readouterr().err


@pytest.mark.parametrize("argv", [["reproduce"], ["bench", "run", "--store", "s.db"]])
def test_values_may_be_repeated_or_have_commas_between(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    commas = parser().parse_args([*argv, "--method", "jde,jade", "--problem", "C01,C02", "--dimension", "10,30"])
    words = ["--method", "jde", "--method", "jade", "--problem", "C01", "--problem", "C02"]
    repeated = parser().parse_args([*argv, *words, "--dimension", "10", "--dimension", "30"])
    assert (commas.method, commas.problem, commas.dimension) == (["jde", "jade"], ["C01", "C02"], [10, 30])
    assert (repeated.method, repeated.problem, repeated.dimension) == (["jde", "jade"], ["C01", "C02"], [10, 30])
    assert capsys.readouterr().err == ""


def test_a_comma_in_the_name_of_a_file_parts_nothing(tmp_path: Path) -> None:
    (tmp_path / "a,b.py").touch()
    text = f"{tmp_path}/a,b.py:MyDE"
    found = parser().parse_args(["bench", "run", "--store", "s.db", "--method", text, "--method", "jde"])
    assert found.method == [text, "jde"]


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["solve", "engineering:welded-beam", "--rng", "7"], "--rng is called --seed"),
        (["bench", "run", "--store", "s.db", "--rng", "7"], "--rng is called --seed"),
        (["reproduce", "--rng", "7"], "--rng is called --seed"),
        (["solve", "engineering:welded-beam", "--budget", "7"], "--budget is called --max-evaluations"),
        (["bench", "run", "--store", "s.db", "--max-evaluations", "7"], "--max-evaluations is called --budget"),
        (["solve", "cec2017:C01", "--dimensions", "7"], "--dimensions is called --dimension"),
        (["list", "problems", "cec2017", "--dimensions", "7"], "--dimensions is called --dimension"),
        (["suites", "plot", "C01", "--dimensions", "7"], "--dimensions is called --dimension"),
        (["reproduce", "--evaluations", "7"], "--evaluations is called --budget-per-variable"),
    ],
)
def test_the_word_of_another_front_works_and_says_that_of_this_one(
    argv: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = parser().parse_args(argv)
    assert capsys.readouterr().err == f"ppsde: {said}\n"
    assert getattr(found, said.rpartition("--")[2].replace("-", "_")) == 7


def a_plan(**more: Any) -> Plan:
    return Plan(["jde"], suite="engineering", problems=["three-bar-truss"], **more)


def a_batch(**more: Any) -> Any:
    problem = ppsde.Problem(lambda x: float(x.sum()) if x[0] > 0.5 else 2.0, [(0, 1)])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* cannot be compiled", RuntimeWarning)
        return ppsde.solve_batch(problem, method="jde", runs=1, max_evaluations=60, **more).x.tolist()


def a_run(**more: Any) -> Any:
    return ppsde.minimize(lambda x: x[0], [(0, 1)], method="jde", max_evaluations=60, **more).x.tolist()


def a_question(**more: Any) -> Any:
    return ppsde.Optimizer([(0, 1)], method="jde", **more).ask().tolist()


@pytest.mark.parametrize(
    ("front", "name"), [(a_run, "minimize"), (a_question, "Optimizer"), (a_batch, "solve_batch"), (a_plan, "Plan")]
)
def test_the_seed_is_called_rng_on_every_front(front: Any, name: str) -> None:
    new = front(rng=7)
    with pytest.warns(DeprecationWarning, match=rf"^{name}\(seed=\) is called rng, as everywhere$") as caught:
        assert front(seed=7) == new != front(rng=8)
    assert caught[0].filename == __file__, "the warning names the line of the caller"
    with pytest.raises(ValueError, match="rng and seed are two words for one thing; give rng alone"):
        front(rng=7, seed=7)


def test_the_seed_of_a_plan_in_a_file_is_called_seed(tmp_path: Path) -> None:
    file, text = tmp_path / "plan.toml", 'algorithms = ["jde"]\nsuite = "engineering"\n'
    file.write_text(text + "seed = 7\n")
    plan = Plan.read(file)
    assert (plan.seed, plan.rng, plan.as_data()["seed"]) == (7, 7, 7)
    assert Plan.read(file, seed=8).seed == Plan.read(file, rng=8).seed == 8
    file.write_text(text + "rng = 7\n")
    with pytest.warns(UserWarning, match=r"plan.toml: rng is called seed in a plan's file"):
        assert Plan.read(file, seed=8).seed == 8
    file.write_text(text + "rng = 7\nseed = 7\n")
    with pytest.warns(UserWarning), pytest.raises(ValueError, match="rng and seed are two words for one thing"):
        Plan.read(file)


# --- completion ------------------------------------------------------------------------------------------------------

INTERACTIVE = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "-N", "-i"],
}
SHOWN = {  # a command `ppsde` that prints its arguments
    "bash": "ppsde() { printf '<%s>' \"$@\"; echo; }",
    "zsh": "ppsde() { printf '<%s>' \"$@\"; echo; }",
    "fish": "function ppsde; printf '<%s>' $argv; echo; end",
}


def script_of(shell: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    assert main(["completion", shell]) == 0
    script = folder / "script"
    script.write_text(capsys.readouterr().out)
    return script


def typed(shell: str, script: Path, lines: list[str]) -> list[list[str]]:
    """Return the arguments of the commands that a shell runs after these lines, in which a tab is the Tab key."""
    process = subprocess.Popen(
        [sys.executable, "-c", f"import pty; pty.spawn({INTERACTIVE[shell]})"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=script.parent,
        env={**os.environ, "HOME": str(script.parent), "TERM": "dumb", "PS1": "$ "},
    )
    assert process.stdin is not None and process.stdout is not None
    given_up = threading.Timer(60, process.kill)
    given_up.start()
    found = []
    try:
        for line in [f". {script}; {SHOWN[shell]}; ppsde ready", *lines]:
            process.stdin.write(f"{line}\n".encode())
            process.stdin.flush()
            seen = ""
            while (run := re.search(r"\n((<[^>]*>)+)\r\n", seen)) is None:
                read = os.read(process.stdout.fileno(), 4096).decode(errors="replace")
                assert read, seen
                seen += read
            found.append(re.findall(r"<([^>]*)>", run[1]))
        return found[1:]
    finally:
        given_up.cancel()
        process.kill()
        process.communicate()


def offered(shell: str, script: Path, *words: str) -> list[str]:
    """Return what a script offers for the last of these words."""
    if shell == "fish":
        code = f"source {script}; complete -C 'ppsde {' '.join(words)}'"
    else:
        code = f"{script.read_text().replace('compdef _ppsde ppsde', '')}\n_ppsde_offers {' '.join(words[:-1])}"
    done = subprocess.run([shell, "-c", code], capture_output=True, text=True, cwd=script.parent)
    assert done.returncode == 0 and not done.stderr, done.stderr
    found = [line.split("\t")[0] for line in (done.stdout.splitlines() if shell == "fish" else done.stdout.split())]
    return sorted(word for word in found if word.startswith(words[-1]) and word != "script")


COMPLETED = {
    "be\tst\tstudy.db": "bench status study.db",
    "solve engineering:wel\t": "solve engineering:welded-beam",
    "solve cec2017:C05 --method ude-\t--asy\t": "solve cec2017:C05 --method ude-iii --asynchronous",
    "solve my.p\t": "solve my.py",
    "solve my.p\t:beam": "solve my.py:beam",
    "solve a --method my.p\t:DE --option rule=my.p\t:Rule": "solve a --method my.py:DE --option rule=my.py:Rule",
    "solve cec2017:C05 --option rule=cw --checkpoint-\t3": "solve cec2017:C05 --option rule=cw --checkpoint-every 3",
    "solve cec2017:C05 --option rule=dyn\t": "solve cec2017:C05 --option rule=dynamic-penalty",
    "list problems engi\t--verb\t": "list problems engineering --verbose",
    "suites plot welded\t": "suites plot welded-beam",
    "reproduce --problem C2\t8": "reproduce --problem C28",
    "bench run pl\t--suite cec2020\t": "bench run plan.toml --suite cec2020rw",
    "bench run pl\t-v": "bench run plan.toml -v",
    "completion z\t": "completion zsh",
}


@pytest.mark.parametrize("shell", INTERACTIVE)
def test_a_shell_completes_what_is_typed(shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = script_of(shell, tmp_path, capsys)
    for name in ("my.py", "plan.toml"):
        (tmp_path / name).touch()
    found = typed(shell, script, [f"ppsde {line}" for line in COMPLETED])
    assert [" ".join(arguments) for arguments in found] == list(COMPLETED.values())


@pytest.mark.parametrize("shell", INTERACTIVE)
def test_a_shell_offers_commands_options_and_names(
    shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = script_of(shell, tmp_path, capsys)
    assert offered(shell, script, "be") == ["bench"]
    assert offered(shell, script, "bench", "re") == ["repair", "report"]
    assert offered(shell, script, "bench", "run", "--budget") == ["--budget", "--budget-per-variable"]
    assert offered(shell, script, "solve", "--method", "pps") == ["pps-de", "pps-de-published", "pps-sqp"]
    assert offered(shell, script, "solve", "beam.py:x", "--check") == ["--checkpoint", "--checkpoint-every"]
    assert offered(shell, script, "reproduce", "--dim") == ["--dimension"], "old spellings are not offered"
    assert offered(shell, script, "list", "suites", "i") == [], "import belongs to `ppsde suites`"
    assert offered(shell, script, "solve", "engineering:t") == [
        "engineering:tension-spring",
        "engineering:three-bar-truss",
        "engineering:tubular-column",
    ]


def test_a_name_that_a_shell_would_read_as_more_is_not_offered(capsys: pytest.CaptureFixture[str]) -> None:
    def make(name: str) -> ppsde.Problem:
        return ppsde.Problem(lambda x: 0.0, [(0, 1)], name=name)

    suite = ppsde.suites.Suite(
        "odd", "", ("plain", "a b", "a'; echo $(date)"), lambda name, *_: make(name), lambda d: 1
    )
    ppsde.suites.SUITES["odd"] = suite
    try:
        for shell in INTERACTIVE:
            assert main(["completion", shell]) == 0
            script = capsys.readouterr().out
            assert "odd:plain" in script and "a b" not in script and "date" not in script
    finally:
        del ppsde.suites.SUITES["odd"]


def test_every_shell_gets_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    words = words_of(parser(), {})
    assert ("bench", "run") in words and "--json" in words["list", "rules"].flags
    for shell in INTERACTIVE:
        assert main(["completion", shell]) == 0
        script = capsys.readouterr().out
        assert all(f"'{' '.join(path)}'" in script for path in words if path)
    assert main(["completion", "dosh"]) == 2
    assert "invalid choice: 'dosh'" in capsys.readouterr().err


# --- the command that resumes ----------------------------------------------------------------------------------------


def test_a_run_that_ended_early_says_the_command_that_resumes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my problem.py").write_text(
        "import signal\nimport ppsde\n\ncalls = []\n\n\ndef interrupted(x):\n    calls.append(x)\n"
        "    if len(calls) == 60:\n        signal.raise_signal(signal.SIGINT)\n    return float((x**2).sum())\n\n\n"
        "problem = ppsde.Problem(interrupted, [(-1, 1)] * 3)\n"
    )
    argv = ["solve", "my problem.py:problem", "--checkpoint", "a run.ck", "--max-time", "1e4", "--method", "jde"]
    main([*argv, "--quiet", "--seed", "1", "--max-evaluations", "100", "--json", "a b.json"])
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "to resume: " in line]
    said = line.partition("to resume: ")[2]
    expected = "ppsde solve 'my problem.py:problem' --resume 'a run.ck' --max-time 10000.0 --json 'a b.json' --quiet"
    assert said == expected
    assert json.loads(Path("a b.json").read_text())["nfev"] <= 60
    resumed = said.replace("ppsde", f"{sys.executable} -m ppsde", 1)
    subprocess.run(["bash", "-c", resumed], check=True, capture_output=True)
    assert json.loads(Path("a b.json").read_text())["nfev"] == 100


def test_an_interrupted_run_that_was_not_saved_says_how_the_next_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("stopped.py").write_text(
        "import signal\nimport ppsde\n\n\ndef interrupted(x):\n    signal.raise_signal(signal.SIGINT)\n"
        "    return 1.0\n\n\nproblem = ppsde.Problem(interrupted, [(-1, 1)])\n"
    )
    argv = ["solve", "stopped.py:problem", "--quiet", "--option", "rule=static-penalty(weight=2)", "--method", "jde"]
    assert main(argv) == 130
    same = "ppsde solve stopped.py:problem --quiet --option 'rule=static-penalty(weight=2)' --method jde"
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"  not saved; a run that can be resumed: {same} --checkpoint FILE"


def test_an_interrupted_study_says_its_own_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import ppsde.experiments
    from ppsde.experiments import RunSummary

    argv = a_study(tmp_path / "a b")
    ended = RunSummary(plan=1, runs=2, done=1, failed=0, interrupted=True, seconds=1.0)
    monkeypatch.setattr(ppsde.experiments, "run", lambda *a, **k: ended)
    assert main(argv) == 130
    assert f"interrupted; to resume: ppsde {' '.join(argv[:-1])} '{argv[-1]}'" in capsys.readouterr().out
