"""Pictures of problems: they are drawn for every problem and show what the constraints leave."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from ppsde.problem import Problem
from ppsde.suites.picture import draw, draw_problem


@pytest.mark.parametrize("name", ["C01", "C06", "C09", "C12", "C15"])
def test_a_problem_in_two_variables_becomes_a_picture(name: str, tmp_path: Path) -> None:
    path = draw(name, tmp_path / "new" / f"{name}.png", instance=1)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_more_variables_are_shown_as_a_slice(tmp_path: Path) -> None:
    path = draw("C24", tmp_path / "C24.svg", dimension=10, variables=(3, 7), window=20.0, instance=2)
    assert "<svg" in path.read_text()[:2000]


def test_the_legend_tells_the_feasible_set(tmp_path: Path) -> None:
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "none"}):  # text as text
        text = draw("C15", tmp_path / "C15.svg", instance=1).read_text()
        nothing = draw("C12", tmp_path / "C12.svg", instance=1).read_text()  # has feasible points from D = 4 on only
    assert "C15 D=2, instance 1" in text
    assert "infeasible: some g &gt; 0<" in text
    assert "h1 = 0, bold where g &lt;= 0" in text
    assert "everywhere here" in nothing


def test_any_problem_can_be_drawn(tmp_path: Path) -> None:
    disc = Problem(lambda x: (x[0] + x[1], [x @ x - 1.0], []), [(-2, 2)] * 2, name="disc")
    assert draw_problem(disc, tmp_path / "disc.png").stat().st_size > 10_000


def test_a_flat_objective_can_be_drawn(tmp_path: Path) -> None:
    flat = Problem(
        lambda x: (np.zeros(len(x)), np.zeros((len(x), 0)), np.ones((len(x), 1))), [(0, 1)] * 2, vectorized=True
    )
    assert draw_problem(flat, tmp_path / "flat.png").is_file()


def test_bad_requests_are_answered_with_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"must end in .png, .svg or .pdf"):
        draw("C15", tmp_path / "C15.txt", instance=1)
    with pytest.raises(ValueError, match="two different numbers from 0 to 1"):
        draw("C15", tmp_path / "C15.png", instance=1, variables=(1, 1))
    with pytest.raises(ValueError, match="window must be a positive number"):
        draw("C15", tmp_path / "C15.png", instance=1, window=0.0)
