"""The page on extending is enough: followed from top to bottom in a copy of the checkout, it works as shown."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "extending.md"
STEP = re.compile(r'^```(python|toml|diff|console)(?: title="(\S+)")?\n(.*?)^```\n', re.M | re.S)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.M)


def copied(folder: Path) -> Path:
    """A copy of what the page uses of a checkout."""
    for name in ("src", "tests", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("_build", "gallery"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / "bin").mkdir()
    for name, arguments in (("python", ""), ("ppsde", "-m ppsde")):
        script = folder / "bin" / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n')
        script.chmod(0o755)
    return folder


def changed(text: str, diff: str) -> str:
    """The text with the lines of a diff replaced, which must be there once."""
    lines = diff.splitlines(keepends=True)
    old, new = ("".join(line[1:] for line in lines if line[0] in signs) for signs in (" -", " +"))
    assert text.count(old) == 1, f"these lines are there {text.count(old)} times:\n{old}"
    return text.replace(old, new)


def printed(command: str, folder: Path) -> str:
    """Run a command of the page in the copy and return what it prints; it must succeed."""
    environment = {
        **os.environ,
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(folder / "src"),
        "COLUMNS": "100",
    }
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.skipif(os.name != "posix", reason="the page's commands are those of a POSIX shell")
def test_the_page_followed_from_top_to_bottom_works_as_shown(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    folder, same = copied(tmp_path / "checkout"), doctest.OutputChecker().check_output
    for kind, name, block in STEP.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "console":
            for command, shown in COMMAND.findall(block):
                found = printed(command, folder)
                assert same(shown, found, doctest.ELLIPSIS), f"{command} printed\n{found}"
        elif kind == "diff":
            file = folder / name
            file.write_text(changed(file.read_text(encoding="utf-8"), block), encoding="utf-8")
        elif name:
            (folder / name).write_text(block, encoding="utf-8")
