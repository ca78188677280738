"""The command line as a user meets it: what it prints, where, and the exit status."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ppsde import ALGORITHMS, __version__
from ppsde.cli import main
from ppsde.commands import exit_status
from ppsde.commands.parsing import settings_of
from ppsde.commands.text import table
from ppsde.suites import SUITES

DISC = """
import ppsde
problem = ppsde.Problem(
    lambda x: (x[0] + x[1], [x[0] ** 2 + x[1] ** 2 - 1], []),
    [(-2, 2), (-2, 2)],
    name="disc",
    constraint_names=["inside the disc"],
    optimum=ppsde.Optimum(-(2 ** 0.5), "proved"),
)
def make():
    return problem
number = 7
def wrong():
    return 7
def broken():
    raise RuntimeError("no luck")
impossible = ppsde.Problem(lambda x: (x[0], [1.0 + x[0] ** 2], []), [(-1, 1)] * 2, name="impossible")
def refuse(x):
    raise OverflowError("too much")
failing = ppsde.Problem(refuse, [(-1, 1)] * 2, name="failing")
complex_valued = ppsde.Problem(lambda x: 1j * x[0], [(-1, 1)] * 2)
"""

WAITING = """
import sys
import ppsde
calls = 0
def fun(x):
    global calls
    calls += 1
    print("evaluating", flush=True)
    if calls == 60:
        sys.stdin.readline()
    return x[0] ** 2, [0.5 - x[0]], []
problem = ppsde.Problem(fun, [(-2, 2)] * 2, name="waiting")
"""


@pytest.fixture
def disc(tmp_path: Path) -> str:
    file = tmp_path / "disc.py"
    file.write_text(DISC)
    return str(file)


def error_of(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    """The one line of error that the arguments give, with exit status 2 and nothing on standard output."""
    assert main(argv) == exit_status.WRONG
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("ppsde: error: ")
    assert captured.err.count("\n") == 1
    return captured.err


def solve(target: str, *more: str) -> int:
    return main(["solve", target, "--quiet", "--seed", "1", "--max-evaluations", "2000", *more])


# --- help and version ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["solve"],
        ["list"],
        ["list", "algorithms"],
        ["list", "suites"],
        ["list", "problems"],
        ["suites"],
        ["compare"],
        ["suites", "import"],
        ["suites", "plot"],
    ],
    ids=" ".join,
)
def test_every_command_explains_itself_with_an_example_in_80_columns(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main([*words, "--help"]) == 0
    text = capsys.readouterr().out
    assert "example" in text and "ppsde " + " ".join(words) in text
    assert max(map(len, text.splitlines())) <= 80


def test_help_documents_every_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    main(["solve", "--help"])
    text = capsys.readouterr().out
    numbers = [value for name, value in vars(exit_status).items() if name.isupper() and isinstance(value, int)]
    assert len(set(numbers)) == 6
    assert all(f"\n  {number} " in text for number in numbers)


def test_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"ppsde {__version__}\n"


# --- solve --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["problem", "make"])
def test_a_problem_in_a_file_or_one_made_there_is_solved(
    name: str, disc: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert solve(f"{disc}:{name}") == exit_status.FOUND
    captured = capsys.readouterr()
    assert captured.err == ""
    assert "disc: FEASIBLE, converged" in captured.out and "pps-sqp, seed 1" in captured.out
    assert "optimum      -1.414213562 (proved), gap" in captured.out
    assert "holds   inside the disc" in captured.out
    assert "x[0]" in captured.out and "x[1]" in captured.out and "seed 1" in captured.out


def test_the_same_seed_prints_the_same_result_and_another_one_does_not(
    disc: str, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = []
    for seed in ("1", "1", "2"):
        main(["solve", f"{disc}:problem", "--method", "jde", "--quiet", "--max-evaluations", "500", "--seed", seed])
        printed.append(capsys.readouterr().out.partition("jde")[0])
    assert printed[0] == printed[1] != printed[2]


def test_a_seed_that_was_drawn_is_printed_and_repeats_the_run(disc: str, tmp_path: Path) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    common = ["solve", f"{disc}:problem", "--method", "jde", "--quiet", "--max-evaluations", "500"]
    main([*common, "--json", str(first)])
    seed = json.loads(first.read_text())["seed"]
    main([*common, "--json", str(second), "--seed", str(seed)])
    assert json.loads(first.read_text())["x"] == json.loads(second.read_text())["x"]


def test_progress_goes_to_standard_error_and_quiet_silences_it(disc: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["solve", f"{disc}:problem", "--method", "pps-de", "--max-evaluations", "500", "--seed", "1"])
    captured = capsys.readouterr()
    assert "100% of 500" in captured.err and "100% of 500" not in captured.out


def test_no_feasible_point_is_exit_status_1_and_names_the_violated_constraint(
    disc: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert solve(f"{disc}:impossible", "--method", "pps-de") == exit_status.NOTHING_FEASIBLE
    text = capsys.readouterr().out
    assert "impossible: NOT FEASIBLE" in text and "violated by 1" in text


def test_a_run_without_an_evaluation_is_not_one_in_which_all_failed(disc: str) -> None:
    assert main(["solve", f"{disc}:problem", "--quiet", "--max-time", "1e-9"]) == exit_status.NOTHING_FEASIBLE


@pytest.mark.parametrize("budget", ["7", "2000"])
def test_failing_everywhere_is_exit_status_3_and_shows_the_failure(
    budget: str, disc: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["solve", f"{disc}:failing", "--quiet", "--max-evaluations", budget])
    captured = capsys.readouterr()
    assert status == exit_status.ALL_FAILED
    assert "OverflowError: too much" in captured.out
    assert "Traceback" not in captured.out + captured.err


def test_json_holds_the_whole_result(disc: str, tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    solve(f"{disc}:problem", "--json", str(path), "--method", "pps-de", "--option", "memory_size=4")
    data = json.loads(path.read_text(), parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert data["problem"]["name"] == "disc" and data["problem"]["optimum"]["status"] == "proved"
    assert (data["method"], data["options"], data["seed"]) == ("pps-de", {"memory_size": 4}, 1)
    assert data["feasible"] is True and data["nfev"] == 2000 and data["n_failed"] == 0
    assert data["fun"] == pytest.approx(sum(data["x"]), rel=1e-12)
    assert data["constraints"] == [{"name": "inside the disc", "violation": 0.0}]
    assert data["history"]["evaluations"][-1] == 2000
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_file()) == ["disc.py", "out.json"]  # no half a file left


def test_json_of_a_run_without_any_value_is_strict_too(disc: str, tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    solve(f"{disc}:failing", "--json", str(path))
    data = json.loads(path.read_text(), parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert data["fun"] is None and data["x"] == [None, None]
    assert data["failures"][0]["kind"] == "OverflowError"


def test_a_suite_problem_is_solved_with_its_dimension_and_instance(capsys: pytest.CaptureFixture[str]) -> None:
    assert solve("cec2017:C05", "--method", "pps-de", "--dimension", "2", "--instance", "3") in (0, 1)
    text = capsys.readouterr().out
    assert "C05 D=2" in text and "x[1]" in text and "x[2]" not in text


def test_a_file_may_import_its_neighbour_and_leaves_no_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "neighbour_of_it.py").write_text("half = 0.5\n")
    file = tmp_path / "importing.py"
    file.write_text(
        "import ppsde\nimport neighbour_of_it\n"
        "problem = ppsde.Problem(lambda x: (x[0] - neighbour_of_it.half) ** 2, [(-1, 1)])\n"
    )
    before = list(sys.path)
    assert solve(f"{file}:problem") == 0
    assert sys.path == before and "importing" not in sys.modules


# --- bad input ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "word"),
    [
        (["solve", "DISC:problem", "--method", "nonsense"], "nonsense"),
        (["solve", "nowhere.py:problem"], "nowhere.py"),
        (["solve", "DISC:absent"], "it has problem, impossible, failing, complex_valued"),
        (["solve", "DISC:number"], "its type is int"),
        (["solve", "DISC:wrong"], "the type is int"),
        (["solve", "DISC:broken"], "RuntimeError: no luck (line 16)"),
        (["solve", "DISC"], "expected FILE.py:NAME"),
        (["solve", "cec1999:C01"], f"'cec1999' is neither a .py file nor a suite ({', '.join(SUITES)})"),
        (["solve", "cec2017:C99"], "C99"),
        (["solve", "cec2017:C01", "--instance", "first"], "first"),
        (["solve", "cec2006:g01", "--instance", "2"], "no instances"),
        (["solve", "DISC:problem", "--dimension", "3"], "--dimension"),
        (["solve", "DISC:problem", "--max-evaluations", "-5"], "max_evaluations must be an int >= 1; got -5"),
        (["solve", "DISC:problem", "--max-evaluations", "many"], "many"),
        (["solve", "DISC:problem", "--seed", "-1"], "-1"),
        (["solve", "DISC:problem", "--option", "memory_size"], "NAME=VALUE"),
        (["solve", "DISC:problem", "--option", "colour=red"], "unknown option 'colour'"),
        (["solve", "DISC:problem", "--method", "pps-de", "--option", "memory_size=0"], "memory_size must be"),
        (["solve", "DISC:problem", "--json", "no/such/folder/out.json"], "no/such/folder"),
        (["solve", "DISC:complex_valued"], "complex"),
        (["list", "problems", "nothing"], "unknown suite 'nothing'"),
        (["list", "problems", "cec2006", "--dimension", "77"], "77"),
        (["suites", "import", "nowhere.zip"], "nowhere.zip"),
        (["suites", "plot", "C15", "-o", "c15.txt"], "c15.txt"),
        (["suites", "plot", "C77"], "C77"),
        (["solve"], "see `ppsde solve --help`"),
        (["dance"], "dance"),
        ([], "COMMAND"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "",
)
def test_bad_input_is_refused_in_one_line_that_names_it(
    argv: list[str], word: str, disc: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert word in error_of(capsys, *(text.replace("DISC", disc) for text in argv))


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("x = 1 / 0\n", "ZeroDivisionError: division by zero (line 1)"),
        ("def (:\n", "SyntaxError"),
        ("import sys\nsys.exit(0)\n", "SystemExit"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_named_with_the_line(
    content: str, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "broken.py"
    file.write_text(content)
    monkeypatch.chdir(tmp_path)
    for named in (str(file), "broken.py"):
        message = error_of(capsys, "solve", f"{named}:problem")
        assert "broken.py cannot be loaded" in message and word in message


def test_traceback_is_shown_when_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "broken.py"
    file.write_text("x = 1 / 0\n")
    assert main(["solve", f"{file}:problem", "--traceback"]) == exit_status.WRONG
    text = capsys.readouterr().err
    assert "Traceback" in text and "x = 1 / 0" in text


def test_values_of_options_are_read_as_python_or_as_text() -> None:
    pairs = ["a=3", "b=0.5", "c=None", "d=true", "e=reflect", "f=x=y"]
    assert settings_of(pairs) == {"a": 3, "b": 0.5, "c": None, "d": True, "e": "reflect", "f": "x=y"}


# --- list and suites ----------------------------------------------------------------------------------------


def test_algorithms_are_listed_with_their_settings_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "algorithms"]) == 0
    short = capsys.readouterr().out
    assert all(name in short for name in ALGORITHMS) and "push and pull" in short and "memory_size" not in short
    main(["list", "algorithms", "--verbose"])
    text = " ".join(capsys.readouterr().out.split())
    assert "memory_size 6 H, the number of cells in the memories of F and CR, for each strategy. (int)" in text


def test_suites_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "suites"]) == 0
    text = capsys.readouterr().out
    assert all(f"\n{name} " in text for name in SUITES)


@pytest.mark.parametrize("more", [[], ["--verbose"]])
@pytest.mark.parametrize("suite", SUITES)
def test_problems_of_a_suite_are_listed_without_colour(
    suite: str, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    from ppsde.suites import get

    assert main(["list", "problems", suite, *more]) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in get(suite).names)
    assert "\033" not in text


def test_the_list_of_problems_fits_80_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for suite in SUITES:
        main(["list", "problems", suite])
        assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_problems_of_another_dimension_can_be_listed(capsys: pytest.CaptureFixture[str]) -> None:
    main(["list", "problems", "cec2017", "--dimension", "7", "--instance", "2"])
    lines = capsys.readouterr().out.splitlines()
    assert "all: instance 2, version 2024" in lines
    assert [line.split()[1] for line in lines if re.match(r"C\d\d ", line)] == ["7"] * 28


def test_a_picture_is_drawn_where_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    target = tmp_path / "c15.png"
    assert main(["suites", "plot", "C15", "-o", str(target)]) == 0
    assert target.read_bytes().startswith(b"\x89PNG")
    assert str(target) in capsys.readouterr().out


def test_the_last_column_of_a_table_is_wrapped_under_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    text = table(("a", "n", "about"), [("x", "12", "one two three four five six seven eight")], right="n")
    assert text.splitlines() == ["a   n  about", "x  12  one two three four five six seven", "       eight"]


# --- as a process -------------------------------------------------------------------------------------------


# A test run in the background of a shell ignores SIGINT, and its children would inherit that.
HEEDING_INTERRUPTS = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("ppsde", run_name="__main__", alter_sys=True)
"""


def start(*argv: str, stdout: int = subprocess.PIPE, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HEEDING_INTERRUPTS, *argv]
    pipes = {"stdin": subprocess.PIPE, "stdout": stdout, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, **pipes, text=True, env={**os.environ, **(env or {})})


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_solve_prints_the_best_so_far(number: signal.Signals, tmp_path: Path) -> None:
    """The signal comes in the middle of the sixtieth evaluation, which is the last one then."""
    file = tmp_path / "waiting.py"
    file.write_text(WAITING)
    process = start("solve", f"{file}:problem", "--method", "pps-de", "--json", str(tmp_path / "out.json"))
    assert process.stdout is not None
    for _ in range(60):
        assert process.stdout.readline() == "evaluating\n"
    process.send_signal(number)
    out, err = process.communicate("go on\n")
    assert "evaluating" not in out
    assert process.returncode == exit_status.INTERRUPTED
    assert "interrupted" in out and "objective" in out and "Traceback" not in out + err
    data = json.loads((tmp_path / "out.json").read_text())
    assert data["message"] == "interrupted" and 20 <= data["nfev"] < 40000


def test_a_reader_that_stops_reading_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    argv = ("list", "problems", "cec2017", "--verbose", "--dimension", "100", "--instance", "1")
    process = start(*argv, stdout=writer)
    os.close(writer)
    _, message = process.communicate()
    assert process.returncode == exit_status.OUTPUT_CLOSED
    assert message == ""


def test_the_command_needs_neither_rich_nor_matplotlib(disc: str, tmp_path: Path) -> None:
    for name in ("rich", "matplotlib"):
        (tmp_path / "hidden" / name).mkdir(parents=True)
        (tmp_path / "hidden" / name / "__init__.py").write_text("raise ImportError('not here')\n")
    path = os.pathsep.join(filter(None, [str(tmp_path / "hidden"), os.environ.get("PYTHONPATH")]))
    process = start("solve", f"{disc}:problem", "--max-evaluations", "300", env={"PYTHONPATH": path})
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert "disc: FEASIBLE" in out


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_output_that_lacks_a_character_shows_another(tmp_path: Path, encoding: str) -> None:
    text = "import ppsde\nproblem = ppsde.Problem(lambda x: x[0], [(0, 1)], name='spring \U0001f600 \\udc80')\n"
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "ppsde", "solve", "mine.py:problem", "--max-evaluations", "20", "--quiet"]
    env = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"") and b"spring ? ?: FEASIBLE" in done.stdout


def test_a_warning_is_one_line() -> None:
    command = [
        sys.executable,
        "-m",
        "ppsde",
        "solve",
        "engineering:three-bar-truss",
        "--max-evaluations",
        "2",
        "--quiet",
    ]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60).stderr
    few = "max_evaluations=2 is too few for pps-sqp with 2 variables: it needs 6 to move from a first point"
    assert said == f"ppsde: warning: {few}\n"
