"""The site, without building it: its pages, its names, its gallery, its pictures and its check of links."""

from __future__ import annotations

import ast
import importlib
import math
import re
import runpy
from pathlib import Path

import pytest

import ppsde

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
GALLERY = sorted((ROOT / "examples" / "gallery").glob("*/*.py"))
WRITTEN_BY_THE_BUILD = {"gallery/index", "notebook"}
TOCTREE = re.compile(r"^(?:```\{toctree\}|\.\. toctree::)\n(.*?)(?:^```|\Z)", re.M | re.S)
LISTED = re.compile(r"^   (\w[\w.]*)$", re.M)
PUBLIC = ("ppsde", "ppsde.suites", "ppsde.scipy", "ppsde.bridges", "ppsde.experiments", "ppsde.reports", "ppsde.stats")
MODULES = {"bridges", "scipy", "suites"}  # names of ppsde that have pages of their own


def pages() -> dict[str, str]:
    """Every page of the site by its name, with its text."""
    files = [*DOCS.glob("*.md"), *DOCS.glob("howto/*.md"), *DOCS.glob("api/*.rst")]
    return {file.relative_to(DOCS).with_suffix("").as_posix(): file.read_text(encoding="utf-8") for file in files}


def test_every_page_is_in_a_table_of_contents_once() -> None:
    listed = []
    for page, text in pages().items():
        for block in TOCTREE.findall(text):
            names = [line.strip() for line in block.splitlines() if line.strip() and not line.strip().startswith(":")]
            for name in names:
                file = (DOCS / page).parent / name.split("<")[-1].rstrip(">")
                listed.append(file.resolve().relative_to(DOCS).as_posix())
    assert sorted(listed) == sorted((set(pages()) - {"index"}) | WRITTEN_BY_THE_BUILD)


WIDTH_OF_CODE = 93  # columns that fit beside both sidebars in a window of 1280 pixels


@pytest.mark.parametrize("page", [page for page in pages() if page in ("index", "tutorial") or "howto/" in page])
def test_code_that_newcomers_read_is_seen_whole(page: str) -> None:
    blocks = re.findall(r"^```\w+.*?\n(.*?)^```", pages()[page], re.M | re.S)
    assert [line for block in blocks for line in block.splitlines() if len(line) > WIDTH_OF_CODE] == []


def documented() -> set[str]:
    """Every name that the pages of the API list, with its module."""
    names = set()
    for file in (DOCS / "api").glob("*.rst"):
        module = ""
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.startswith(".. currentmodule:: "):
                module = line.split()[-1]
            elif line.startswith(".. toctree::"):
                break
            elif line.startswith(".. data:: "):
                names.add(f"{module}.{line.split()[-1]}")
            elif module and LISTED.fullmatch(line):
                names.add(f"{module}.{line.strip()}")
    return names


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_is_in_the_reference(module: str) -> None:
    public = {name for name in importlib.import_module(module).__all__ if name not in MODULES}
    elsewhere = {name.split(".")[-1] for name in documented() if name.startswith("ppsde.bridges.")}
    missing = {name for name in public if f"{module}.{name}" not in documented()}
    assert missing <= (elsewhere if module == "ppsde" else {"SUITES"})


def test_every_name_in_the_reference_exists() -> None:
    for name in documented() - {"ppsde.bridges.OptunaSampler", "ppsde.bridges.PymooAlgorithm"}:  # need other libraries
        path = name.split(".")
        module = next(".".join(path[:k]) for k in range(len(path) - 1, 0, -1) if is_module(path[:k]))
        thing = importlib.import_module(module)
        for part in path[len(module.split(".")) :]:
            thing = getattr(thing, part)


def is_module(path: list[str]) -> bool:
    return (ROOT / "src" / Path(*path)).is_dir() or (ROOT / "src" / Path(*path)).with_suffix(".py").is_file()


def test_the_settings_of_the_site_can_be_read() -> None:
    settings = runpy.run_path(str(DOCS / "conf.py"))
    assert settings["nitpicky"] and settings["release"] == importlib.import_module("ppsde").__version__
    for page in (page for page in settings["html_sidebars"] if "*" not in page):
        assert page in pages()
    words = settings["WORDS_OF_PAGES"]
    assert set(words) <= set(pages())
    listed = ", ".join(words.values()).split(", ")
    assert sorted(listed) == sorted(set(listed))  # a word leads to one page


def test_every_docstring_names_pages_that_exist() -> None:
    for file in (ROOT / "src").rglob("*.py"):
        for page in re.findall(r"docs/([a-z0-9/-]+)\.md", file.read_text(encoding="utf-8")):
            assert page in pages(), file


@pytest.mark.parametrize("file", GALLERY, ids=lambda file: file.stem)
def test_every_example_of_the_gallery_has_a_title_and_says_what_it_shows(file: Path) -> None:
    title, line, *text = (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").splitlines()
    assert set(line) == {"="} and len(line) >= len(title) and len(" ".join(text)) > 100


def test_the_gallery_has_its_pictures() -> None:
    assert len(GALLERY) >= 15
    assert sum("plt.show()" in file.read_text(encoding="utf-8") for file in GALLERY) >= 15


def test_the_readme_begins_with_a_small_picture() -> None:
    picture = re.match(r"# ppsde\n\n!\[[^]]{20,}\]\(([^)]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert picture is not None
    assert (ROOT / picture.group(1)).stat().st_size < 300_000


def test_every_committed_picture_has_its_program_and_is_shown() -> None:
    pytest.importorskip("matplotlib")
    drawn = set(runpy.run_path(str(DOCS / "pictures.py"))["PICTURES"])
    shown = {name for text in pages().values() for name in re.findall(r"\]\(pictures/([\w-]+)\.svg\)", text)}
    assert drawn == shown == {file.stem for file in (DOCS / "pictures").iterdir()}


def test_pictures_of_the_tutorial_show_what_its_runs_find_today() -> None:
    pytest.importorskip("matplotlib")
    program = runpy.run_path(str(DOCS / "pictures.py"))
    tank = program["tank_of_the_tutorial"]()
    runs = {
        "tutorial-landscape": ppsde.minimize(tank, [(0.3, 3), (0.3, 4), (1, 20)], rng=1),
        "tutorial-tanks": program["run_with_plates"](tank),
    }
    for name, run in runs.items():
        drawn = (DOCS / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
        assert program["found"](run) in drawn, f"python docs/pictures.py {name} draws it again"


def test_the_picture_of_the_readme_loads_nothing_and_runs_nothing() -> None:
    text = (DOCS / "pictures" / "crossing.svg").read_text(encoding="utf-8")
    assert "prefers-color-scheme:dark" in text and "prefers-reduced-motion" in text
    assert "<script" not in text and "href" not in text and text.count("http") == 1  # the name space


def test_the_picture_of_the_readme_ends_where_its_words_say() -> None:
    text = (DOCS / "pictures" / "crossing.svg").read_text(encoding="utf-8")
    cx, cy, radius = map(float, re.findall(r'class="pp-land" cx="([\d.]+)" cy="([\d.]+)" rx="([\d.]+)"', text)[1])
    ends = re.findall(r'style="transform:translate\((\d+)px,(\d+)px\);fill:(#\w+);animation-name:pp\d+"', text)
    assert len(ends) == 40
    for x, y, colour in ends:  # on the small island, and feasible
        assert math.hypot(float(x) - cx, float(y) - cy) <= radius + 1 and colour == "#0072b2"


def test_links_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    complaints = runpy.run_path(str(DOCS / "_site" / "check_links.py"))["complaints"]
    (tmp_path / "a.html").write_text('<a href="b.html#here">x</a> <a href="https://x.org/">y</a> <p id="p">', "utf-8")
    (tmp_path / "b.html").write_text('<h1 id="here"></h1> <a href="a.html">x</a> <a href="#here">y</a>', "utf-8")
    assert complaints(tmp_path) == []
    (tmp_path / "b.html").write_text(
        '<a href="a.html#q">x</a> <img src="no.png"> <script src="https://x/y.js">', "utf-8"
    )
    assert sorted(complaints(tmp_path)) == [
        "a.html links to b.html#here, which has no such part",
        "b.html links to a.html#q, which has no such part",
        "b.html links to no.png, which is not there",
        "b.html loads https://x/y.js",
    ]
