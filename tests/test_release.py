"""A release says one version everywhere, and has the files that others look for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import ppsde

ROOT = Path(__file__).parents[1]


def test_every_place_has_the_same_version() -> None:
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    newest = re.search(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert cited is not None and newest is not None
    assert cited[1] == newest[1] == ppsde.__version__


def test_the_changelog_has_the_sections_of_keep_a_changelog_in_their_order() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    for version in re.split(r"^## ", text, flags=re.M)[1:]:
        names = re.findall(r"^### (.+)$", version, re.M)
        order = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
        assert names == [name for name in order if name in names], version.splitlines()[0]


def test_the_links_of_the_package_lead_to_the_publications_that_are_cited() -> None:
    links = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"].values()
    cited = re.findall(r"^    doi: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert [f"https://doi.org/{doi}" for doi in cited] == list(links) != []


def test_what_the_source_archive_includes_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    included = project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert [name for name in included if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("file", [".ci/run", ".github/workflows/ci.yml", ".gitlab-ci.yml"])
def test_every_ci_service_calls_the_same_commands(file: str) -> None:
    site = [] if file == ".ci/run" else ["demo", "docs"]
    assert re.findall(r"\bmake (\w+)$", (ROOT / file).read_text(), re.M) == ["lint", "package", "test", *site]


@pytest.mark.parametrize("file", [".github/workflows/ci.yml", ".gitlab-ci.yml"])
def test_every_version_of_python_that_is_promised_is_tested(file: str) -> None:
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    promised = [c.split()[-1] for c in classifiers if re.search(r"Python :: 3\.\d+$", c)]
    (matrix,) = re.findall(r"(?:python|PYTHON): (\[.+\])$", (ROOT / file).read_text(), re.M)
    assert re.findall(r'"(3\.\d+)"', matrix) == promised
