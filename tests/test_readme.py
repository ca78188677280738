"""The README and the documents are true: their code runs and prints the output shown."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ppsde.algorithms import ALGORITHMS
from ppsde.cli import main
from ppsde.parts.handling import RULES

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "howto").glob("*.md"))]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *PAGES]
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.M | re.S)
FILE = re.compile(r'^```\w+ title="([\w.]+)"\n(.*?)^```\n', re.M | re.S)  # one that the reader saves beside the others
NEIGHBOURS = {"pymoo", "pygmo", "optuna"}
SHELL = re.compile(r"^```sh\n(.*?)^```\n", re.M | re.S)


def examples() -> list[object]:
    """Every block of Python with the output shown under it, and the page that it is on; each once."""
    found = {
        (code, output): pytest.param(path, code, output, id=f"{path.name}-{k}")
        for path in reversed(DOCUMENTS)
        for k, (code, output) in enumerate(BLOCK.findall(path.read_text(encoding="utf-8")))
    }
    return list(reversed(found.values()))


def commands() -> list[object]:
    """Every line that calls ppsde, with its page: each alone, but those of the tutorial together, in their order."""
    found = []
    for path in DOCUMENTS:
        blocks = [block.replace("\\\n", "") for block in SHELL.findall(path.read_text(encoding="utf-8"))]
        lines = [line for block in blocks for line in block.splitlines()]
        lines = [line for line in lines if line.startswith("ppsde ")]
        parts = [lines] if path.name == "tutorial.md" else [[line] for line in lines]
        found += [pytest.param(path, part, id=f"{path.name}: {part[0]}") for part in parts]
    return found


@pytest.fixture
def files_of_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to import files of a page from; modules, and names in tables, that an example adds are removed again."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = [(table, set(table)) for table in (ALGORITHMS, RULES)]
    yield tmp_path
    for table, names in before:
        for name in set(table) - names:
            del table[name]
    for name in [path.stem for path in tmp_path.glob("*.py")]:
        sys.modules.pop(name, None)


@pytest.mark.parametrize(("page", "code", "output"), examples())
def test_each_example_prints_what_is_shown_under_it(
    page: Path, code: str, output: str, files_of_pages: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert output, "an example without its output shows nothing"
    for library in NEIGHBOURS & set(re.findall(r"^(?:import|from) (\w+)", code, re.M)):
        pytest.importorskip(library, reason=f"{library} is not installed")
    for name, content in FILE.findall(page.read_text(encoding="utf-8")):
        (files_of_pages / name).write_text(content, encoding="utf-8")
    exec(compile(code, "example", "exec"), {"__name__": "example"})
    assert capsys.readouterr().out == output


@pytest.mark.parametrize(("page", "lines"), commands())
def test_each_command_shown_works(
    page: Path, lines: list[str], files_of_pages: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if "plot" in " ".join(lines):
        pytest.importorskip("matplotlib")
    shutil.copytree(ROOT / "examples", files_of_pages / "examples")
    for name, content in FILE.findall(page.read_text(encoding="utf-8")):
        (files_of_pages / name).write_text(content, encoding="utf-8")
    for line in lines:
        assert main(line.split()[1:]) == 0, capsys.readouterr().err


@pytest.mark.parametrize("name", ["scipy_style", "ask_and_tell"])
def test_each_example_file_finds_a_feasible_point(name: str) -> None:
    done = subprocess.run([sys.executable, ROOT / "examples" / f"{name}.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("feasible:")


def test_every_link_between_the_documents_leads_somewhere() -> None:
    for path in DOCUMENTS:
        for link in re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8")):
            assert (path.parent / link).exists(), f"{path.name} links to {link}"


def test_every_command_of_make_that_is_shown_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    for path in DOCUMENTS:
        for block in SHELL.findall(path.read_text(encoding="utf-8")):
            for target in re.findall(r"^make (\w+)", block, re.M):
                assert target in targets
