"""Functions on their way to another process: by name where it would find them, whole where it would not."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import ppsde
from ppsde import minimize
from ppsde.evaluation.remote import Isolated
from ppsde.evaluation.sending import Portable, packed, versions

pytest.importorskip("cloudpickle")

ELSEWHERE = "import pickle, sys; print(pickle.loads(sys.stdin.buffer.read())(3))"


def loaded(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module from a file that no path leads to, as test runners and plug-in loaders make them."""
    file = folder / "model.py"
    file.write_text("def helper(x):\n    return x + 1\n\ndef fun(x):\n    return 10 * helper(x)\n")
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


def called_elsewhere(function: Any) -> str:
    done = subprocess.run([sys.executable, "-c", ELSEWHERE], input=packed(function), capture_output=True, check=True)
    return done.stdout.decode().strip()


def test_a_function_of_a_module_that_no_path_leads_to_travels_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert called_elsewhere(loaded(tmp_path, "nowhere_to_be_found", monkeypatch).fun) == "40"


def test_so_does_one_whose_package_is_a_namespace_that_exists_here_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    namespace = ModuleType("only_here")
    namespace.__path__ = [str(tmp_path)]
    monkeypatch.setitem(sys.modules, "only_here", namespace)
    assert called_elsewhere(loaded(tmp_path, "only_here.model", monkeypatch).fun) == "40"


def test_and_one_whose_name_leads_to_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert called_elsewhere(loaded(tmp_path, "colorsys", monkeypatch).fun) == "40"


def test_what_the_other_side_can_import_is_sent_by_name() -> None:
    sent = packed(minimize)
    assert b"ppsde" in sent and len(sent) < 200
    assert called_elsewhere(abs) == "3"


# A Python that says it is another one. A real one may end without a word when it loads a function of another.
LATER = """
import pickle, sys
import ppsde.evaluation.remote
sys.version_info = (3, 99, 0)
pickle.loads(sys.stdin.buffer.read())(3)
"""


@pytest.mark.parametrize("limited", [False, True])
def test_a_function_that_another_python_has_sent_is_refused_by_name(limited: bool) -> None:
    def fun(x: Any) -> Any:
        return x + 1

    task = Isolated("run", packed(fun), (), versions(), 1.0, None, False) if limited else Portable(fun)
    done = subprocess.run([sys.executable, "-c", LATER], input=packed(task), capture_output=True)
    here = f"Python {sys.version_info[0]}.{sys.version_info[1]} and ppsde {ppsde.__version__}"
    words = f"has Python 3.99 and ppsde {ppsde.__version__}, this program has {here}"
    assert done.returncode == 1 and done.stderr.decode().strip().endswith(words)
