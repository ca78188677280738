"""The types that users see: mypy and pyright read a small program beside the installed package, with nothing to say."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CONSUMER = ROOT / "tests" / "consumer" / "consumer.py"
WRONG = "import ppsde\nfun: str = ppsde.minimize(abs, [(0, 1)]).fun\nppsde.minimize(abs, [(0, 1)], rgn=1)\n"


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an environment that has the package and what it needs, as if they had been installed."""
    folder = tmp_path_factory.mktemp("outside")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    site = next((folder / "venv").glob("lib/python*/site-packages"), folder / "venv" / "Lib" / "site-packages")
    (site / "ppsde.pth").write_text(f"{ROOT / 'src'}\n{sysconfig.get_path('purelib')}\n")
    shutil.copy(CONSUMER, folder)
    (folder / "wrong.py").write_text(WRONG)
    return folder


def python(folder: Path) -> str:
    return str(folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))


def checked(folder: Path, *command: str) -> tuple[int, str]:
    away = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MYPYPATH")}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, env=away)
    return done.returncode, done.stdout + done.stderr


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "src" / "ppsde" / "py.typed").is_file()


@pytest.mark.slow
def test_mypy_understands_a_program_that_uses_the_package(outside: Path) -> None:
    pytest.importorskip("mypy")
    mypy = [sys.executable, "-m", "mypy", "--strict", "--python-executable", python(outside), "--cache-dir", ".mypy"]
    status, text = checked(outside, *mypy, "consumer.py")
    assert status == 0, text
    status, text = checked(outside, *mypy, "wrong.py")
    assert status == 1 and ":2:" in text and "rgn" in text


@pytest.mark.slow
def test_pyright_understands_a_program_that_uses_the_package(outside: Path) -> None:
    pyright = shutil.which("pyright") or shutil.which("pyright", path=str(Path(sys.executable).parent))
    if pyright is None or shutil.which("node") is None:
        pytest.skip("pyright or node is not installed")
    (outside / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard", "include": ["consumer.py"]}')
    status, text = checked(outside, pyright, "--pythonpath", python(outside), "consumer.py")
    if "error" in text and "npm" in text:
        pytest.skip("pyright cannot fetch its program here")
    assert status == 0, text
    status, text = checked(outside, pyright, "--pythonpath", python(outside), "wrong.py")
    assert status == 1 and ":2:" in text and "rgn" in text
