"""The report in a real browser: it draws, sorts and filters, asks the network for nothing, and runs no text.

Needs playwright and a Chromium; skipped where they are missing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser.chromium import launched
from reports.hostile import STRINGS
from reports.made_up import a_job, a_large_store, a_store

from ppsde.experiments import Store
from ppsde.reports import gather, page
from ppsde.reports.compare import compare_page, compared, versions
from ppsde.reports.serving import served

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from launched()


class Opened:
    """A page in the browser, with all that it complained of and asked for."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(300_000)  # milliseconds: the machine may be busy
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append("a dialog"))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(address)

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *error: object) -> None:
        self.context.close()


def written(path: Path, *args: Any, **more: Any) -> str:
    return written_from(a_store(path / "study.db", *args, **more), path)


def written_from(store_path: Path, path: Path) -> str:
    with Store(store_path) as store:
        (path / "report.html").write_text(page(gather(store)), encoding="utf-8")
    return (path / "report.html").as_uri()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    more: dict[str, Any] = {"infeasible": {"c": 0.5}, "failing": {("b", "C02"): "no luck"}}
    return written(tmp_path_factory.mktemp("study"), ["a", "b", "c"], ["C01", "C02", "C10"], 4, **more)


def first_column(page: Any) -> list[str]:
    return page.locator("#results tbody tr:not(.gone) th").all_inner_texts()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_figures_are_drawn_and_nothing_is_asked_for(browser: Any, address: str, scheme: str) -> None:
    with Opened(browser, address, color_scheme=scheme) as opened:
        paths = opened.page.locator("svg path").evaluate_all("all => all.map(one => one.getAttribute('d'))")
        assert len(paths) > 100
        assert all(re.fullmatch(r"M-?\d+ -?\d+l[-\d ]+z?", d) for d in paths if d is not None)
        sizes = opened.page.locator("#over-time svg").evaluate_all(
            "all => all.map(s => s.getBoundingClientRect().width)"
        )
        assert len(sizes) == 2 and min(sizes) > 200
        colours = "one => [getComputedStyle(one).stroke, getComputedStyle(document.body).backgroundColor]"
        stroke, paper = opened.page.locator("path.curve").first.evaluate(colours)
        assert stroke not in ("none", paper)
        assert paper == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 26)")
        assert opened.complaints == [] and opened.requests == [address]


def axe() -> str:
    """The script of axe-core, the checker of accessibility; CONTRIBUTING says how to install it."""
    place = Path(os.environ.get("PPSDE_AXE", Path(__file__).parents[2] / "node_modules/axe-core/axe.min.js"))
    if not place.is_file():
        pytest.skip("there is no axe-core (`npm install --no-save axe-core`); PPSDE_AXE may name its axe.min.js")
    return place.read_text(encoding="utf-8")


SHAPES = {"wide": (1280, 900, "light"), "dark": (1600, 900, "dark"), "narrow": (390, 800, "light")}
OUTSIDE = """() => [...document.querySelectorAll('main svg')].flatMap(figure => {
  const frame = figure.getBoundingClientRect();
  return [...figure.querySelectorAll('text')].filter(text => {
    const box = text.getBoundingClientRect();
    return box.width && (box.left < frame.left - 1 || box.right > frame.right + 1 ||
                         box.top < frame.top - 1 || box.bottom > frame.bottom + 1);
  }).map(text => figure.getAttribute('aria-label') + ': ' + text.textContent);
})"""


@pytest.fixture(scope="module")
def changes(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("changes")
    with Store(a_store(path / "study.db", ["a", "b"], ["C01", "C02"], 8)) as store:
        found = [compared(*pair) for pair in versions([store], None, None, None)]
    (path / "changes.html").write_text(compare_page(found), encoding="utf-8")
    return (path / "changes.html").as_uri()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("which", ["report", "changes"])
def test_axe_finds_no_violation(browser: Any, address: str, changes: str, shape: str, which: str) -> None:
    script = axe()
    width, height, scheme = SHAPES[shape]
    address = address if which == "report" else changes
    more = {"viewport": {"width": width, "height": height}, "color_scheme": scheme, "bypass_csp": True}
    with Opened(browser, address, **more) as opened:
        opened.page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
        opened.page.evaluate(script)
        found = opened.page.evaluate("async () => (await axe.run()).violations.map(one => [one.id, one.nodes[0].html])")
        assert found == []


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("large")
    return written_from(a_large_store(path / "large.db", runs=2), path)


@pytest.mark.parametrize("shape", SHAPES)
def test_no_label_is_clipped_and_every_figure_has_numbers_on_its_axes(browser: Any, many: str, shape: str) -> None:
    width, height, scheme = SHAPES[shape]
    with Opened(browser, many, viewport={"width": width, "height": height}, color_scheme=scheme) as opened:
        assert opened.page.evaluate(OUTSIDE) == []
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
        figures = opened.page.locator("#problems svg").evaluate_all(
            "all => all.map(s => [...s.querySelectorAll('text')].map(t => t.textContent))"
        )
        numbers = [sum(bool(re.fullmatch(r"-?[0-9.]+(e-?[0-9]+)?", text)) for text in texts) for texts in figures]
        assert len(figures) == 56 and min(numbers) >= 4
        assert opened.complaints == []


@pytest.mark.slow
def test_a_large_report_is_small_and_loads_in_a_second(browser: Any, tmp_path: Path) -> None:
    address = written_from(a_large_store(tmp_path / "large.db"), tmp_path)
    assert (tmp_path / "report.html").stat().st_size < 3_000_000
    seconds = []
    for _ in range(3):
        context = browser.new_context()
        page = context.new_page()
        session = context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})  # processor time: the machine may be busy
        page.goto(address)
        metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
        seconds.append(metrics["TaskDuration"])
        context.close()
    assert 0 < min(seconds) < 1.0


def test_headers_sort_by_click_and_by_keyboard(browser: Any, address: str) -> None:
    with Opened(browser, address) as opened:
        header = opened.page.locator("#results th button").nth(1)
        body = "#results tbody tr td[data-a='0']"
        read = "all => all.map(cell => Number(cell.dataset.v))"
        header.click()
        values = opened.page.locator(body).evaluate_all(read)
        assert values == sorted(values) and len(set(values)) == 3
        header.press("Enter")
        assert opened.page.locator(body).evaluate_all(read) == sorted(values, reverse=True)
        assert opened.page.locator("#results thead th").nth(1).get_attribute("aria-sort") == "descending"
        opened.page.locator("#results th button").nth(2).click()  # b failed on C02: what is missing goes last
        assert first_column(opened.page)[-1] == "C02"
        opened.page.locator("#results th button").first.click()
        assert first_column(opened.page) == ["C01", "C02", "C10"]
        assert opened.complaints == []


def test_problems_and_algorithms_can_be_filtered(browser: Any, address: str) -> None:
    with Opened(browser, address) as opened:
        opened.page.fill("#search", "c10 c02")
        assert first_column(opened.page) == ["C02", "C10"]
        assert opened.page.locator(".problems > section:not(.gone)").count() == 2
        opened.page.fill("#search", "")
        assert first_column(opened.page) == ["C01", "C02", "C10"]
        box = opened.page.locator("form input[type=checkbox]").nth(1)
        box.focus()
        box.press("Space")
        assert opened.page.locator("[data-a='1']:not(.gone)").count() == 0
        assert opened.page.locator("#results thead th:not(.gone)").all_inner_texts() == ["problem", "a", "c"]
        assert not opened.page.locator("svg g[data-a='1']").first.is_visible()
        assert opened.complaints == []


def test_values_are_shown_under_the_pointer_and_by_the_arrow_keys(browser: Any, address: str) -> None:
    with Opened(browser, address) as opened:
        figure = opened.page.locator("svg[data-curves='0']")
        figure.scroll_into_view_if_needed()
        assert opened.page.locator("#tip").is_hidden()
        figure.hover()
        assert "C01," in opened.page.locator("#tip").inner_text()
        opened.page.mouse.move(0, 0)
        assert opened.page.locator("#tip").is_hidden()
        figure.focus()
        figure.press("End")
        data = opened.page.evaluate("JSON.parse(document.getElementById('data').textContent).problems[0]")
        shown = opened.page.locator("#tip").inner_text()
        assert "20000 evaluations" in shown and str(data["by"][0]["f"][1][-1]) in shown
        figure.press("Escape")
        assert opened.page.locator("#tip").is_hidden()


def test_the_table_behind_a_curve_has_its_numbers(browser: Any, address: str) -> None:
    with Opened(browser, address) as opened:
        details = opened.page.locator("details[data-table='0']")
        details.locator("summary").click()
        details.locator("tbody tr").first.wait_for()
        assert details.locator("tbody tr").count() == 3 * 80
        assert details.locator("tbody tr").last.locator("td").first.inner_text() == "c"


def test_a_narrow_window_scrolls_down_only(browser: Any, address: str) -> None:
    with Opened(browser, address, viewport={"width": 360, "height": 700}) as opened:
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("where", ["algorithms", "problems and messages"])
def test_forty_hostile_strings_run_no_script(browser: Any, where: str, tmp_path: Path) -> None:
    names, plain = list(STRINGS), ["a", "b"]
    if where == "algorithms":
        address = written(tmp_path, names, ["C01"], 1, record=3)
    else:
        failing = {("b", name): name for name in names}
        address = written(tmp_path, plain, names, 1, failing=failing, record=3)
    with Opened(browser, address) as opened:
        opened.page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
        for figure in opened.page.locator("svg[data-curves]").all()[:3]:
            figure.scroll_into_view_if_needed()
            figure.hover()
        opened.page.locator("#results th button").first.click()
        opened.page.wait_for_timeout(300)
        assert opened.page.evaluate("window.hacked") is None
        assert opened.complaints == [] and opened.requests == [address]
        found = opened.page.evaluate("JSON.parse(document.getElementById('data').textContent)")
        assert names == (found["algorithms"] if where == "algorithms" else [p["label"] for p in found["problems"]])


def test_the_served_page_renews_itself_and_keeps_what_was_chosen(browser: Any, tmp_path: Path) -> None:
    store = a_store(tmp_path / "study.db", ["a", "b"], ["C01", "C02"], 2)
    with served(store) as address, Opened(browser, address) as opened:
        opened.page.fill("#search", "C02")
        opened.page.locator("form input[type=checkbox]").nth(1).uncheck()
        with Store(store, writable=True) as writing:
            writing.add_plan({"more": 1}, [("d", a_job("d", "C01", 5))])
        opened.page.get_by_text("8 of 13 runs done").wait_for(timeout=60_000)
        assert opened.page.input_value("#search") == "C02" and first_column(opened.page) == ["C02"]
        assert opened.page.locator("form input[type=checkbox]").nth(1).is_checked() is False
        assert opened.page.locator("form input[type=checkbox]").nth(2).is_checked() is True
        assert opened.complaints == []
        assert all(request.startswith(address) for request in opened.requests)
