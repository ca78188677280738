"""`ppsde solve --checkpoint` and `--resume`: a run in several commands is the run in one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ppsde.cli import main

PROBLEM = """
import os, time
from ppsde import Problem

def fun(x):
    if os.environ.get("SLOW"):
        time.sleep(0.002)
        print("evaluating", flush=True)
    return (x**2).sum(), [1 - x[0]], []

problem = Problem(fun, [(-3, 5)] * 2, name="half disc")
other = Problem(fun, [(-3, 6)] * 2, name="half disc")
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "disc.py"
    path.write_text(PROBLEM)
    return path


def numbers(path: str) -> dict[str, Any]:
    """Everything in a result file that is not a time."""
    return {key: value for key, value in json.loads(Path(path).read_text()).items() if "seconds" not in key}


def test_an_interrupted_command_is_resumed_to_the_same_result(file: Path) -> None:
    settings = ["--method", "pps-de", "--seed", "3", "--max-evaluations", "1000", "--option", "population_size=12"]
    assert main(["solve", "disc.py:problem", *settings, "--quiet", "--json", "unbroken.json"]) == 0
    command = [sys.executable, "-c", START, "solve", "disc.py:problem", *settings, "--checkpoint", "run.ppsde"]
    environment = {**os.environ, "SLOW": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as run:
        assert run.stdout is not None and run.stdout.readline() == "evaluating\n"
        run.send_signal(signal.SIGINT)
        said = run.stdout.read()
    assert run.returncode == 130 and "to resume: ppsde solve disc.py:problem --resume run.ppsde" in said
    assert main(["solve", "disc.py:problem", "--resume", "run.ppsde", "--quiet", "--json", "resumed.json"]) == 0
    resumed, unbroken = numbers("resumed.json"), numbers("unbroken.json")
    assert resumed == unbroken
    assert (resumed["method"], resumed["options"], resumed["seed"]) == ("pps-de", {"population_size": 12}, 3)


START = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever the parent ignores
from ppsde.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_what_cannot_be_resumed_is_said_in_one_line(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "disc.py:problem", "--max-evaluations", "50", "--quiet", "--checkpoint", "run.ppsde"]) == 0
    for arguments, words in (
        (["--checkpoint", "run.ppsde"], "run.ppsde exists already"),
        (["--resume", "run.ppsde", "--seed", "1"], "--seed cannot be given with --resume"),
        (["--resume", "run.ppsde", "--method", "pps-de"], "--method cannot be given with --resume"),
        (["--resume", "run.ppsde", "--option", "cp=1"], "--option cannot be given with --resume"),
        (["--resume", "missing.ppsde"], "missing.ppsde: No such file or directory"),
        (["--resume", "disc.py"], "disc.py: this is not a checkpoint"),
        (["--checkpoint-every", "3"], "needs a checkpoint"),
        (["--checkpoint", "run.two", "--checkpoint-every", "-3"], "checkpoint_every must be"),
    ):
        capsys.readouterr()
        assert main(["solve", "disc.py:problem", "--quiet", *arguments]) == 2
        said = capsys.readouterr().err
        assert words in said and said.count("\n") == 1
    capsys.readouterr()
    assert main(["solve", "disc.py:other", "--quiet", "--resume", "run.ppsde"]) == 2
    assert "it belongs to a problem with bounds" in capsys.readouterr().err
