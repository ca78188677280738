"""The page: it needs nothing else, says the verdict first, and takes no text for anything but text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reports.hostile import STRINGS
from reports.made_up import a_store

from ppsde.display.markup import embedded
from ppsde.experiments import Store
from ppsde.reports import gather, page

VOID = {"meta", "input"}


class Reader(HTMLParser):
    """Elements with their attributes and texts, checking that every one that is opened is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts.setdefault(self._open[-1], []).append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def page_of(path: Path, *args: Any, live: bool = False, **more: Any) -> str:
    with Store(a_store(path / "study.db", *args, **more)) as store:
        return page(gather(store), live=live)


def data_of(text: str) -> Any:
    found = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.S)
    assert found is not None
    return json.loads(found[1])


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    more: dict[str, Any] = {"infeasible": {"c": 0.5}, "failing": {("b", "C02"): "no <luck>"}}
    return page_of(tmp_path_factory.mktemp("study"), ["a", "b", "c"], ["C01", "C02", "C03"], 4, **more)


def test_the_verdict_comes_first(text: str) -> None:
    body = text[text.index("<body>") :]
    order = ['class="headline"', "What was run", 'id="results"', 'id="comparison"', 'id="scores"', 'id="over-time"']
    order += ['id="problems"', 'id="state"', 'id="provenance"']
    places = [body.index(part) for part in order]
    assert places == sorted(places)
    assert "4 of 36 finished runs failed" in text and "Failed 4 times (b; C02): no &lt;luck&gt;" in text
    assert "<h1>3 algorithms on 3 problems of cec2017</h1>" in text and "finished 2001-09-09 01:46 UTC" in text


def test_the_page_asks_for_nothing_from_elsewhere(text: str) -> None:
    reader = Reader(text)
    for _, attributes in reader.elements:
        for name in ("src", "srcset", "data", "action", "poster", "background", "style"):
            assert name not in attributes
        assert not any(name.startswith("on") for name in attributes)
        assert (attributes.get("href") or "#").startswith("#")
    assert "url(" not in text and "@import" not in text
    assert not {"link", "iframe", "object", "embed", "img", "base"} & {tag for tag, _ in reader.elements}


def test_only_the_script_of_the_page_may_run(text: str) -> None:
    reader = Reader(text)
    policy = next(a["content"] for a in reader.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None and "default-src 'none'" in policy and "unsafe" not in policy
    for tag in ("script", "style"):
        (own,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.S)
        digest = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "connect-src" not in policy


def test_the_data_are_the_curves_in_five_digits(text: str) -> None:
    data = data_of(text)
    assert data["algorithms"] == ["a", "b", "c"] and [p["label"] for p in data["problems"]] == ["C01", "C02", "C03"]
    first = data["problems"][0]
    assert len(first["at"]) == 80 and first["at"][-1] == 20_000
    curve = first["by"][0]
    assert all(len(row) == 80 for row in (*curve["f"], *curve["v"], curve["share"]))
    assert curve["f"][1][0] is None and 1 <= curve["f"][1][-1] < 2 and curve["share"][-1] == 1
    numbers = [n for n in curve["f"][1] if n is not None]
    assert all(float(f"{n:.5g}") == n for n in numbers)
    failed = data["problems"][1]["by"][1]
    assert set(failed["f"][1]) == {None} and set(failed["share"]) == {0}


def test_cells_show_mean_deviation_and_feasible_runs_and_the_best_is_bold(tmp_path: Path) -> None:
    with Store(a_store(tmp_path / "study.db", ["a", "b"], ["C01"], 3, infeasible={"a": 1.0})) as store:
        f = np.array([result.f for result in store.results() if result.algorithm == "b"])
        text = page(gather(store))
    shown = f"{f.mean():.5g}<small>({f.std(ddof=1):.3g})</small><small>3/3 feasible"
    assert shown in text
    bold = re.findall(r'<td data-a="(\d)"[^>]*class="best"', text[: text.index('id="medians"')])
    assert bold == ["1"]  # a has the lower mean and no feasible run
    assert '<small class="short">0/3 feasible' in text


def test_every_figure_has_a_table_behind_it(text: str) -> None:
    figures = re.findall(r"<figure.*?</figure>", text, re.S)
    assert len(figures) == 11  # two in the comparison, one of the scores, two over time, two of each problem
    for figure in figures:
        assert "<svg" in figure and "<details" in figure
        assert "<tr" in figure or 'data-table="' in figure


def test_headers_are_buttons_and_controls_have_names(text: str) -> None:
    reader = Reader(text)
    assert len(reader.all("button")) > 20 and all(a.get("type") == "button" for a in reader.all("button"))
    boxes = [a for a in reader.all("input") if a.get("type") == "checkbox"]
    assert [a["value"] for a in boxes] == ["0", "1", "2"]
    assert all(a.get("aria-label") is not None for a in reader.all("svg"))


@pytest.mark.parametrize("where", ["algorithms", "problems", "messages"])
def test_hostile_text_stays_text(where: str, tmp_path: Path) -> None:
    labels, problems = ["a", "b"], ["C01"]
    failing = None
    if where == "algorithms":
        labels = list(STRINGS)
    elif where == "problems":
        problems = list(STRINGS)
    else:
        problems = [f"P{k}" for k in range(len(STRINGS))]
        failing = {("b", problem): text for problem, text in zip(problems, STRINGS, strict=True)}
    text = page_of(tmp_path, labels, problems, 1, failing=failing, record=3)
    reader = Reader(text)
    assert len(reader.all("script")) == 2
    assert not any(name.startswith("on") for _, attributes in reader.elements for name in attributes)
    assert {tag for tag, _ in reader.elements} <= {
        *("html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "p", "nav", "a", "section", "ul"),
        *("li", "strong", "form", "label", "input", "fieldset", "legend", "svg", "g", "path", "rect", "text", "div"),
        *(
            "table",
            "thead",
            "tbody",
            "tfoot",
            "tr",
            "th",
            "td",
            "button",
            "small",
            "span",
            "figure",
            "figcaption",
            "details",
        ),
        *("summary", "dl", "dt", "dd", "script"),
    }
    data = data_of(text)
    assert data["algorithms"] == labels and [p["label"] for p in data["problems"]] == problems


def test_embedded_data_cannot_end_its_element() -> None:
    value = ["</script>", "<!--", "&amp;", "\u2028"]
    text = embedded(value)
    assert not set("<>&\u2028") & set(text) and json.loads(text) == value
    with pytest.raises(ValueError):
        embedded(float("nan"))


def test_a_study_without_runs_has_a_page_too(tmp_path: Path) -> None:
    text = page_of(tmp_path, ["a", "b"], ["C01"], 2, undone=[("a", "C01"), ("b", "C01")])
    Reader(text)
    assert "No run is finished yet." in text and "There is nothing to compare yet." in text


def test_a_served_page_may_fetch_itself(tmp_path: Path) -> None:
    text = page_of(tmp_path, ["a", "b"], ["C01"], 1, live=True)
    assert "; connect-src 'self'" in text and "setInterval" in text
    Reader(text)
