"""Figures: what is drawn lies where it belongs, and is a number."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from reports.made_up import a_store

from ppsde.experiments import Store
from ppsde.reports import find, gather
from ppsde.reports.axes import Scale, objective_scale, pieces, tick, ticks, violation_scale
from ppsde.reports.curves import Curves
from ppsde.reports.drawing import Area, Drawing, Line, Marker, Rectangle, Text, svg, svg_file, text_width
from ppsde.reports.figures import (
    Figures,
    boxes,
    cliques,
    convergence,
    critical_difference,
    draw,
    mean_shares,
    unused,
    write_figures,
)
from ppsde.stats import Nemenyi, Outcomes

NAMES = ("pps-de", "rival", "third")


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> Figures:
    path = tmp_path_factory.mktemp("study") / "study.db"
    more = {"infeasible": {"third": 0.5}, "failing": {("rival", "C02"): "no luck"}}
    with Store(a_store(path, NAMES, ["C01", "C02", "C03"], 4, **more)) as store:
        study = gather(store)
    return draw(study, find(study))


def points_of(drawing: Drawing) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for item in drawing.items:
        if isinstance(item, Line | Area):
            found += item.points
        elif isinstance(item, Rectangle):
            found += [(item.x, item.y), (item.x + item.width, item.y + item.height)]
        elif isinstance(item, Marker | Text):
            found.append((item.x, item.y))
    return found


def test_there_is_a_figure_of_everything(figures: Figures) -> None:
    assert set(figures.named()) == {
        *("feasibility", "ecdf", "ranks", "critical_difference", "score_tiers"),
        *("problem_C01", "problem_C02", "problem_C03", "boxes_C01", "boxes_C02", "boxes_C03"),
    }


def test_everything_is_drawn_inside_its_frame(figures: Figures) -> None:
    for name, drawing in figures.named().items():
        points = points_of(drawing)
        assert points, name
        for x, y in points:
            assert math.isfinite(x) and math.isfinite(y), name
            assert 0 <= x <= drawing.width and 0 <= y <= drawing.height, name


def test_every_algorithm_has_curves_markers_and_a_strip_on_every_problem(figures: Figures) -> None:
    items = figures.problems["C01"].items
    for series in range(3):
        assert sum(isinstance(item, Line) and item.kind == "curve" and item.series == series for item in items) >= 2
        assert any(isinstance(item, Marker) and item.series == series for item in items)
        assert any(isinstance(item, Rectangle) and item.series == series and item.strength > 0 for item in items)


def test_an_algorithm_whose_runs_all_failed_has_no_curve_but_a_strip(figures: Figures) -> None:
    items = figures.problems["C02"].items
    assert not any(isinstance(item, Line) and item.kind == "curve" and item.series == 1 for item in items)
    assert [item.strength for item in items if isinstance(item, Rectangle) and item.series == 1] == [0.0]


def test_svg_files_are_xml_whose_paths_are_numbers(figures: Figures, tmp_path: Path) -> None:
    written = [path for path in write_figures(figures, tmp_path / "figures", NAMES) if path.suffix == ".svg"]
    assert len(written) == 11
    for path in written:
        root = ElementTree.parse(path).getroot()
        paths = [element.get("d", "") for element in root.iter("{http://www.w3.org/2000/svg}path")]
        assert all(re.fullmatch(r"M-?\d+ -?\d+l[-\d ]+z?", d) for d in paths)
        assert paths or path.stem in ("ranks", "score_tiers")
        assert set(NAMES) <= {word for text in root.itertext() for word in text.split()}  # whoever sees it alone


def test_pdf_files_are_written_where_matplotlib_is_installed(figures: Figures, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    written = [path for path in write_figures(figures, tmp_path, NAMES) if path.suffix == ".pdf"]
    assert len(written) == 11 and all(path.read_bytes().startswith(b"%PDF") for path in written)


def test_a_path_leads_back_to_its_points() -> None:
    drawing = Drawing(100, 100, "a path")
    drawing.line([(10, 20), (15, 12), (15, 30), (40.4, 29.6)])
    found = re.search(r'd="M(\d+) (\d+)l([^"]*)"', svg(drawing))
    assert found is not None
    x, y = int(found[1]), int(found[2])
    points = [(x, y)]
    steps = list(map(int, re.findall(r"-?\d+", found[3])))
    for dx, dy in zip(steps[::2], steps[1::2], strict=True):
        x, y = x + dx, y + dy
        points.append((x, y))
    assert points == [(10, 20), (15, 12), (15, 30), (40, 30)]


def test_text_cannot_leave_a_drawing() -> None:
    drawing = Drawing(10, 10, '"><script>')
    drawing.text(1, 1, "</text><script>\x00&")
    drawing.rectangle(0, 0, 1, 1, 0.5, tip="</title><script>")
    text = svg_file(drawing, 1)
    assert "<script" not in text
    root = ElementTree.fromstring(text)
    assert "".join(root.itertext()).count("<script>") == 2 and root.get("aria-label") == '"><script>'


def test_names_of_files_are_plain_and_differ() -> None:
    assert unused("../../etc/passwd", {}) == "etc_passwd"
    assert unused("", {}) == "unnamed" and len(unused("x" * 500, {})) == 80


@pytest.mark.parametrize(
    ("scale", "value", "place"),
    [
        (Scale(0, 10, 100, 200), 2.5, 125),
        (Scale(1, 100, 0, 10, "log"), 10, 5),
        (Scale(1, 100, 0, 10, "log"), 0, 0),
        (Scale(1e-4, 1, 0, 100, "zero"), 0, 0),
        (Scale(1e-4, 1, 0, 100, "zero"), 1e-4, 12),
        (Scale(1e-4, 1, 0, 100, "zero"), 1e-2, 56),
        (Scale(-1000, 1000, 0, 10, "both"), 0, 5),
        (Scale(0, 10, 200, 100), 10, 100),
    ],
)
def test_scales_put_values_in_their_place(scale: Scale, value: float, place: float) -> None:
    assert scale(value) == pytest.approx(place)


def test_ticks_are_round_and_lie_inside() -> None:
    assert Scale(0, 200_000, 0, 1).ticks() == [0, 50_000, 100_000, 150_000, 200_000]
    assert Scale(1e-8, 1e3, 0, 1, "log").ticks() == pytest.approx([1e3, 1e1, 1e-1, 1e-3, 1e-5, 1e-7])
    assert Scale(3, 30, 0, 1, "log").ticks() == pytest.approx([5, 10, 20])
    assert Scale(-5000, 800, 0, 1, "both").ticks() == [-1000, -100, -10, 0, 10, 100]
    for scale in (Scale(-3.7, 9.1, 0, 1), Scale(1e-3, 7e2, 0, 1, "log"), Scale(4, 4.5, 0, 1, "log")):
        assert all(scale.low <= value <= scale.high for value in scale.ticks()) and len(scale.ticks()) >= 2
    assert [tick(v) for v in (0, 0.05, 50_000, 1.5e5, 1e-8, -2e6)] == ["0", "0.05", "50000", "1.5e5", "1e-8", "-2e6"]


def test_scales_fit_what_is_to_be_drawn() -> None:
    def kind(*values: float) -> str | None:
        scale = objective_scale(np.array(values), 0, 1)
        return None if scale is None else scale.kind

    assert kind(1, 1000) == "log" and kind(0.0, 500.0, 1e-9) == "zero"
    assert kind(5, 6) == "linear" and kind(-5, 6) == "linear" and kind(3, 3) == "linear" and kind(0, 0) == "linear"
    assert kind(-5000, 200) == "both" and kind(-6900, -3000) == kind(-30665, -29000) == "linear"
    assert kind(0, 5e-29, 2e-30) == "linear"  # all of them are drawn as zero
    assert kind(np.inf, np.nan) is None
    assert violation_scale(np.array([0.0, np.inf]), 0, 1) is None
    narrow = violation_scale(np.array([0.0, 0.59, 0.69]), 0, 1)
    assert narrow is not None and narrow.kind == "zero" and narrow.ticks() == [0.5, 1.0]
    assert narrow.low < 0.3 and narrow.high > 1.4  # the values lie in the middle


@pytest.mark.parametrize("seed", range(40))
def test_every_scale_has_at_least_two_numbers_that_can_be_told_apart(seed: int) -> None:
    rng = np.random.default_rng(seed)
    centre = rng.choice([-1, 1]) * 10 ** rng.uniform(-6, 6)
    values = centre + 10 ** rng.uniform(-6, 6) * rng.normal(size=20)
    for scale in (objective_scale(values, 0, 1), violation_scale(np.abs(values), 0, 1)):
        assert scale is not None
        found = ticks(scale)
        assert 2 <= len(found) <= 9 and len({text for _, text in found}) == len(found)
        assert all(scale.low <= value <= scale.high for value, _ in found)


def test_a_panel_in_which_no_curve_can_be_drawn_says_so_and_has_no_numbers() -> None:
    at, nowhere = np.array([10.0, 20.0]), np.full(2, np.inf)
    f = np.stack([np.array([3000.0, 2000.0]), nowhere, nowhere])  # a quarter of the runs is feasible
    curve = Curves(at, f, np.stack([np.zeros(2), np.ones(2), np.ones(2)]), np.full(2, 0.25), 8)
    texts = {item.text for item in convergence("g03", 20, {0: curve}, 1.0).items if isinstance(item, Text)}
    assert "no algorithm has a feasible median run" in texts and not {"1000", "2000"} & texts


def test_where_the_optimum_is_known_the_error_is_drawn() -> None:
    at, f = np.array([10.0, 20.0, 30.0]), np.array([-3000.0, -6900.0, -6961.8])
    curve = Curves(at, np.stack([f, f, f]), np.zeros((3, 3)), np.ones(3), 3)
    texts = {item.text for item in convergence("g06", 30, {0: curve}, -6961.81).items if isinstance(item, Text)}
    assert {"1000", "100", "10"} <= texts and any("f* = -6961.81" in text for text in texts)
    plain = {item.text for item in convergence("g06", 30, {0: curve}).items if isinstance(item, Text)}
    assert {"-6000", "-4000"} <= plain


def test_boxes_show_quartiles_of_feasible_runs_and_count_the_others() -> None:
    runs = Outcomes([1.0, 2.0, 3.0, 4.0, 5.0, 0.0], [0, 0, 0, 0, 0, 1.0])
    drawing = boxes("C01", ("a",), {0: runs})
    box = next(item for item in drawing.items if isinstance(item, Rectangle))
    (median,) = [item.x for item in drawing.items if isinstance(item, Marker)]
    assert box.x < median < box.x + box.width and median == pytest.approx(box.x + box.width / 2)
    assert any(isinstance(item, Text) and item.text == "5/6" for item in drawing.items)
    none = boxes("C01", ("a",), {0: Outcomes([1.0], [1.0])}, 0.0)
    assert any(isinstance(item, Text) and item.text == "no run is feasible" for item in none.items)


def test_no_text_is_wider_than_its_frame(figures: Figures) -> None:
    for name, drawing in figures.named().items():
        for item in drawing.items:
            if isinstance(item, Text) and not item.turned:
                width = text_width(item.text, small=item.small)
                left = item.x - {"start": 0.0, "middle": width / 2, "end": width}[item.anchor]
                assert left >= 0 and left + width <= drawing.width + 30, (name, item.text)  # the estimate is generous


def test_curves_are_broken_where_there_is_no_value() -> None:
    x, y = Scale(0, 4, 0, 4), Scale(0, 10, 0, 10)
    at, values = np.arange(5), np.array([1.0, np.inf, 3.0, 4.0, np.nan])
    assert pieces(x, y, at, values) == [[(0, 1)], [(2, 3), (3, 4)]]


def test_bars_join_those_that_are_not_told_apart() -> None:
    ranks = np.array([3.4, 1.0, 1.8, 2.9])
    test = Nemenyi(("c", "a", "b", "d"), ranks, 0.05, 1.2, np.ones((4, 4)))
    assert cliques(test) == [(0, 1), (1, 2), (2, 3)]  # 1.0 to 1.8, 1.8 to 2.9, 2.9 to 3.4
    drawing = critical_difference(test, {"c": 0, "a": 1, "b": 2, "d": 3})
    assert sum(isinstance(item, Line) and item.kind == "bar" for item in drawing.items) == 3
    assert cliques(Nemenyi(("a", "b"), np.array([1.0, 2.0]), 0.05, 0.5, np.ones((2, 2)))) == []
    assert cliques(Nemenyi(("a", "b", "c"), np.array([1.0, 2.0, 3.0]), 0.05, 2.0, np.ones((3, 3)))) == [(0, 2)]


def test_feasibility_is_the_mean_over_problems_at_equal_shares_of_the_budget() -> None:
    empty = np.empty((3, 2))
    early = Curves(np.array([50, 100]), empty, empty, np.array([1.0, 1.0]), 2)
    late = Curves(np.array([500, 1000]), empty, empty, np.array([0.0, 0.5]), 2)
    share = mean_shares({0: [early, late]})[0]
    assert share[-1] == 0.75 and share[35] == 0.5 and share[0] == 0.0  # nothing is known before the first point
