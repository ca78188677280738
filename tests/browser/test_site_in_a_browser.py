"""The built site in a real browser: every page loads, pictures are there, search finds, and all readers can use it.

Needs playwright, a Chromium and the site (`make docs`); skipped where they are missing. The checks of accessibility
also need axe-core: `npm install --no-save axe-core` in the root, or its axe.min.js in the variable PPSDE_AXE.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from browser.chromium import launched

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "docs" / "_build" / "html"
AXE = Path(os.environ.get("PPSDE_AXE", ROOT / "node_modules/axe-core/axe.min.js"))
PAGES = sorted(p.relative_to(SITE).as_posix() for p in SITE.rglob("*.html") if "_static" not in p.parts)

if not PAGES:
    pytest.skip("the site is not built", allow_module_level=True)

# Tasks of the first hour: the words that one may type into the search, and the guide that each must find.
TASKS = {
    "a simulator that hangs": (
        "howto/simulators",
        "simulator timeout",
        "simulation in parallel",
        "workers",
        "nan",
        "n_jobs",
        "nan objective",
        "time limit per evaluation",
    ),
    "going on after Ctrl-C": ("howto/resume", "resume checkpoint", "checkpoint", "interrupt", "continue run"),
    "integers and logarithms": (
        "howto/variables",
        "integers logarithms",
        "mixed integer",
        "discrete",
        "log scale",
        "log transform",
        "binary variable",
        "whole numbers",
    ),
    "equalities and linear constraints": (
        "howto/constraints",
        "LinearConstraint equality",
        "scipy constraints",
        "nonlinear constraints",
    ),
    "JAX": ("howto/jax", "jax gpu", "cuda", "compile"),
    "a notebook": ("notebooks", "notebook", "jupyter"),
    "asynchronous ask and tell": ("howto/ask-and-tell", "ask tell asynchronously", "own loop", "batch of points"),
    "known points": ("howto/known-points", "known points x0", "x0", "initial guess", "warm start", "previous results"),
    "no bounds": ("howto/variables", "open bounds", "unbounded", "infinite bounds"),
    "200 evaluations": ("howto/small-budgets", "few evaluations", "small budget", "expensive simulation", "surrogate"),
    "stopping early": ("howto/stopping", "stop early", "time limit", "callback", "stagnation", "max time"),
    "maximising with arguments": ("howto/objective", "maximise arguments", "maximize", "extra parameters"),
    "a cluster": ("clusters", "cluster slurm", "dask"),
    "an own algorithm": ("extending", "own algorithm"),
}

PATIENCE = 300_000  # milliseconds: the machine may be busy
SHAPES = {"light": (1280, 900, "light"), "dark": (1280, 900, "dark"), "narrow": (390, 800, "light")}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *words: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from launched()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()


def test_every_page_loads_without_complaint_and_asks_no_other_host(page: Any, address: str) -> None:
    complaints: list[str] = []
    page.on("console", lambda m: complaints.append(f"{page.url}: {m.text}") if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
    page.on("response", lambda answer: answer.status >= 400 and complaints.append(f"{answer.url}: {answer.status}"))
    page.on("request", lambda r: r.url.startswith((address, "data:", "about:")) or complaints.append(r.url))
    for name in PAGES:
        page.goto(f"{address}/{name}")
        blank = page.locator("img").evaluate_all(
            "all => all.filter(i => i.complete && i.naturalWidth === 0).map(i => i.src)"
        )
        complaints += [f"{name}: no picture at {src}" for src in blank]
        assert page.locator("h1").count() == 1 or name in ("search.html", "genindex.html"), name
    assert complaints == []


def test_the_gallery_shows_its_pictures(page: Any, address: str) -> None:
    page.goto(f"{address}/gallery/index.html")
    assert page.locator(".sphx-glr-thumbcontainer img").count() >= 15
    page.goto(f"{address}/gallery/searches/crossing.html")
    assert page.locator("svg circle.pp-p").count() == 40


def test_every_picture_of_the_gallery_says_what_it_shows(page: Any, address: str) -> None:
    described = {}
    for name in PAGES:
        if name.startswith("gallery/") and name.count("/") == 2:
            page.goto(f"{address}/{name}")
            images = page.locator("article img").evaluate_all("all => all.map(i => i.alt)")
            drawn = page.locator("article svg[role=img]:not([aria-hidden])").evaluate_all(
                "all => all.map(s => s.getAttribute('aria-label') ?? s.querySelector('title').textContent)"
            )
            described[name] = images + drawn
    assert len(described) >= 15 and all(described.values())
    assert [(name, words) for name, found in described.items() for words in found if len(words.split()) < 3] == []


def results(page: Any, address: str, words: str) -> list[str]:
    """Return the pages that a search finds, best first."""
    page.goto(f"{address}/search.html?q={words.replace(' ', '+')}")
    page.locator("#search-results .search-summary").filter(has_text="found").first.wait_for()
    page.wait_for_timeout(200)
    links = page.locator("#search-results ul.search > li > a").evaluate_all("all => all.map(a => a.href)")
    return list(dict.fromkeys(link.removeprefix(f"{address}/").split("#")[0].split("?")[0] for link in links))


def test_search_finds_minimize(page: Any, address: str) -> None:
    assert "api/generated/ppsde.minimize.html" in results(page, address, "minimize")[:3]


@pytest.mark.parametrize("task", TASKS)
def test_search_finds_the_guide_for_each_task(page: Any, address: str, task: str) -> None:
    guide, *searches = TASKS[task]
    assert [words for words in searches if f"{guide}.html" not in results(page, address, words)[:5]] == []


@pytest.mark.parametrize(
    "name", ["index.html", "tutorial.html", "gallery/index.html", "api/index.html", "command.html"]
)
def test_a_narrow_window_scrolls_down_only(browser: Any, address: str, name: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(f"{address}/{name}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "name",
    [
        *("index.html", "tutorial.html", "gallery/index.html", "api/generated/ppsde.minimize.html"),
        *("howto/simulators.html", "gallery/designs/welded_beam.html", "notebook.html"),
    ],
)
def test_nothing_serious_stands_in_the_way_of_any_reader(browser: Any, address: str, name: str, shape: str) -> None:
    width, height, scheme = SHAPES[shape]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(f"{address}/{name}")
    page.add_script_tag(path=str(AXE))
    found = page.evaluate("axe.run()")["violations"]
    context.close()
    assert [
        (one["id"], node["target"], node.get("failureSummary"))
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ] == []
