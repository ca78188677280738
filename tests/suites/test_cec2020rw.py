"""The CEC2020 real-world suite against values of the organisers' code, its data, its names and its best points."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from suite_checks import assert_rows_do_not_depend_on_each_other, double_precision, points_inside_and_on_the_edges

from ppsde.cli import main
from ppsde.population import competition_violation, search_violation
from ppsde.problem import Problem
from ppsde.suites import MissingData, get
from ppsde.suites.cec2020rw import DECLARED, NEEDS_DATA, TABLE, nu
from ppsde.suites.cec2020rw_data import SHAPES, VARIABLE, find
from ppsde.suites.cec2020rw_designs import DRAWINGS, draw_design
from ppsde.suites.cec2020rw_machines import GEAR_MODULES, STROKE, WIRES
from ppsde.suites.cec2020rw_optima import PUBLISHED, points
from ppsde.suites.cec2020rw_processes import whole

SUITE = get("cec2020rw")
FOLDER = find().parent if find() else None
WITHOUT_DATA = tuple(name for name in SUITE.names if name not in NEEDS_DATA)
needs_data = pytest.mark.skipif(FOLDER is None, reason="the data of the CEC2020 suite is not on this machine")
TIE = {"RC30": 1e-8}  # g7 is 0 but for rounding; the two large terms of it are up to 1e5

Values = tuple[np.ndarray, ...]


@cache
def facts() -> dict[str, Any]:
    path = Path(str(FOLDER)) / "problems.json"
    if not path.is_file():
        pytest.skip("the data on this machine comes without problems.json")
    problems: dict[str, Any] = json.loads(path.read_text())["problems"]
    return problems


@cache
def references() -> dict[str, np.ndarray]:
    path = Path(str(FOLDER)) / "reference_open.npz"
    if not path.is_file():
        pytest.skip("the data on this machine comes without reference_open.npz")
    with np.load(path) as arrays:
        return dict(arrays)


def reference(name: str) -> tuple[np.ndarray, Values]:
    table = references()
    return table[f"{name}_x"], tuple(table[f"{name}_{part}"] for part in "fgh")


def largest_difference(found: Sequence[np.ndarray], expected: Values) -> float:
    """Relative to values above 1, absolute below."""
    differences = [0.0]
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.shape == theirs.shape and ours.dtype == np.float64
        if ours.size:
            differences.append(float((np.abs(ours - theirs) / np.maximum(1, np.abs(theirs))).max()))
    return max(differences)


@needs_data
@pytest.mark.parametrize("name", SUITE.names)
def test_numpy_gives_the_values_of_the_official_code_in_a_batch_and_row_by_row(name: str) -> None:
    problem = SUITE.problem(name)
    x, expected = reference(name)
    alone = [np.concatenate(parts) for parts in zip(*(problem.evaluate(row[None]) for row in x), strict=True)]
    tolerance = min(facts()[name]["test_tol_scaled"], 1e-10)
    assert largest_difference(problem.evaluate(x), expected) <= tolerance
    assert largest_difference(alone, expected) <= tolerance


@needs_data
@pytest.mark.parametrize("name", [name for name in SUITE.names if name not in ("RC30", *NEEDS_DATA[:6])])
def test_each_single_value_agrees_to_ten_digits_but_for_small_differences_of_large_currents(name: str) -> None:
    x, expected = reference(name)
    for ours, theirs in zip(SUITE.problem(name).evaluate(x), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=0)


def assert_jax_gives_the_official_values(names: Sequence[str], alone: bool = False) -> None:
    """All problems in one compiled program, which takes the points as a batch, or each alone."""
    size = 1 if alone else 6
    points = [reference(name)[0] for name in names]
    with double_precision():
        import jax
        import jax.numpy as jnp

        problems = [SUITE.problem(name) for name in names]
        program = jax.jit(lambda rows: [p.evaluate(x) for p, x in zip(problems, rows, strict=True)])
        parts = [program([jnp.asarray(x[k : k + size]) for x in points]) for k in range(0, 6, size)]
    for name, *values in zip(names, *parts, strict=True):
        tolerance = max(1e-10, TIE.get(name, 0.0))
        together = [np.concatenate(columns) for columns in zip(*values, strict=True)]
        assert largest_difference(together, reference(name)[1]) <= tolerance, name


@needs_data
def test_jax_gives_the_official_values_of_a_problem_of_each_kind() -> None:
    assert_jax_gives_the_official_values(["RC02", "RC18", "RC27", "RC33", "RC34", "RC40", "RC44", "RC45", "RC55"])


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("names", [SUITE.names[k : k + 10] for k in range(0, 57, 10)], ids=lambda names: names[0])
@pytest.mark.parametrize("alone", [False, True], ids=["batch", "row by row"])
def test_jax_gives_the_official_values_of_all_problems(names: tuple[str, ...], alone: bool) -> None:
    assert_jax_gives_the_official_values(names, alone)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["RC24", "RC27", "RC33"])
def test_runs_side_by_side_end_where_formulas_have_loops_or_call_lapack(name: str) -> None:
    pytest.importorskip("jax")
    from ppsde import solve_batch

    found = solve_batch(SUITE.problem(name), method="shade", runs=3, max_evaluations=600, rng=1)
    assert np.isfinite(found.f).all()


@needs_data
@pytest.mark.parametrize("name", SUITE.names)
def test_boxes_counts_budgets_and_rounded_variables_are_the_official_ones(name: str) -> None:
    problem, stated = SUITE.problem(name), facts()[name]
    assert problem.lower.tolist() == stated["lower"] and problem.upper.tolist() == stated["upper"]
    assert (problem.dimension, problem.n_ineq, problem.n_eq) == (stated["D"], stated["n_ineq"], stated["n_eq"])
    assert SUITE.budget(problem.dimension) == stated["max_fes"]
    assert problem.tolerance == 1e-4
    assert PUBLISHED[name] == stated["best_known"]["table_july_2020"]
    variables = problem.properties["variables"]
    rounded = {variables[j] for rule in stated["discrete"] for j in rule["vars0"]}
    assert set(problem.properties["discrete"]) == rounded
    declared = stated["n_ineq_declared"] + stated["n_eq_declared"]
    assert name == "RC31" or DECLARED.get(name, problem.n_ineq + problem.n_eq) == declared


@pytest.mark.parametrize("name", SUITE.names if FOLDER else WITHOUT_DATA)
def test_each_problem_has_names_for_its_variables_and_constraints(name: str) -> None:
    problem = SUITE.problem(name)
    names = problem.constraint_names
    assert names is not None and len(set(names)) == len(names) == (problem.n_ineq or 0) + (problem.n_eq or 0)
    assert len(set(problem.properties["variables"])) == problem.dimension
    assert problem.properties["source"].endswith(".")


@pytest.mark.parametrize("name", SUITE.names if FOLDER else WITHOUT_DATA)
def test_every_point_of_the_box_has_values(name: str) -> None:
    """Also the corners, the middle, and points where the organisers' code divides by 0. +inf is an objective."""
    problem = SUITE.problem(name)
    x = points_inside_and_on_the_edges(problem, 300, seed=2)
    x[2] = 0.5 * (problem.lower + problem.upper)
    f, g, h = problem.evaluate(x)
    assert (f > -np.inf).all() and np.isfinite(g).all() and np.isfinite(h).all()
    infinite = {"RC02": (x[:, 3:6] == 0).any(axis=1), "RC12": x[:, -1] <= -0.5}.get(name, np.zeros(len(x), bool))
    assert ((f == np.inf) == infinite).all()


@pytest.mark.parametrize("name", SUITE.names if FOLDER else WITHOUT_DATA)
def test_each_row_does_not_depend_on_the_others(name: str) -> None:
    assert_rows_do_not_depend_on_each_other(SUITE.problem(name))


@pytest.mark.parametrize("name", SUITE.names if FOLDER else WITHOUT_DATA)
def test_each_problem_can_be_sent_to_a_worker_process(name: str) -> None:
    problem = SUITE.problem(name)
    x = 0.3 * problem.lower + 0.7 * problem.upper
    sent: Problem = pickle.loads(pickle.dumps(problem))
    for ours, theirs in zip(sent.evaluate(x[None]), problem.evaluate(x[None]), strict=True):
        assert np.array_equal(ours, theirs)


# --- best points ----------------------------------------------------------------------------------------------------

KNOWN = [name for name in (SUITE.names if FOLDER else WITHOUT_DATA) if name in points()]


@pytest.mark.parametrize("name", KNOWN)
def test_best_known_point_is_feasible_and_gives_the_stated_value(name: str) -> None:
    problem = SUITE.problem(name)
    optimum = problem.optimum
    assert optimum is not None and optimum.x is not None
    assert (problem.lower <= optimum.x).all() and (optimum.x <= problem.upper).all()
    f, g, h = problem.evaluate(optimum.x[None])
    assert f[0] == pytest.approx(optimum.value, rel=1e-12, abs=1e-12)
    assert competition_violation(g, h)[0] == pytest.approx(optimum.violation, rel=1e-6)
    assert (search_violation(g, h)[0] == 0) == (optimum.status != "infeasible problem")


# --- rounding and special values ------------------------------------------------------------------------------------


def test_halves_are_rounded_away_from_zero() -> None:
    x = np.array([-0.51, -0.5, -0.49, 0.49999999999999994, 0.5, 1.5, 2.5, 2.49, 4503599627370497.5])
    assert whole(x).tolist() == [-1, -1, 0, 0, 1, 2, 3, 2, 4503599627370498]


@pytest.mark.parametrize("name", [name for name in SUITE.names if TABLE[name].discrete])
def test_listed_variables_are_rounded_inside_the_formula(name: str) -> None:
    problem = SUITE.problem(name)
    x = np.tile(0.4 * problem.lower + 0.6 * problem.upper, (2, 1))
    for variable in problem.properties["discrete"]:
        j = problem.properties["variables"].index(variable)
        x[:, j] = round(x[0, j]) + 0.49, round(x[0, j])
    for values in problem.evaluate(x):
        assert np.array_equal(values[0], values[1])


def test_numbers_of_lists_stand_for_their_values() -> None:
    spring = SUITE.problem("compression-spring")
    x = np.array([[9.0, 1.2, k] for k in range(1, 43)])
    assert (0.2 - spring.evaluate(x)[1][:, 2] == pytest.approx(WIRES)) and len(WIRES) == 42
    gears = SUITE.problem("planetary-gear-train")
    x = np.array([[40.0, 21, 14, 19, 14, 69, 3, k, 2] for k in range(1, 7)])
    sizes = gears.evaluate(x)[1][:, 1]  # module times 84 less 220
    assert (sizes + 220) / 84 == pytest.approx(GEAR_MODULES)


def test_the_forces_of_the_gripper_are_those_of_a_bounded_search() -> None:
    from scipy.optimize import minimize_scalar

    problem = SUITE.problem("robot-gripper")
    rng = np.random.default_rng(3)
    x = rng.uniform(problem.lower, problem.upper, (400, 7))
    f, g, _ = problem.evaluate(x)
    whole_way = (f != 1e4) & (g != 1e4).all(axis=1) & (np.abs(f) < 1000)
    assert whole_way.sum() > 10
    for (a, b, c, e, _, length, _), value in zip(x[whole_way][:10], f[whole_way][:10], strict=True):

        def force(stroke: float, a: float = a, b: float = b, c: float = c, e: float = e, length: float = length) -> Any:
            reach = np.hypot(length - stroke, e)
            alpha = np.arccos((a**2 + reach**2 - b**2) / (2 * a * reach))
            beta = np.arccos((b**2 + reach**2 - a**2) / (2 * b * reach))
            return 50 * b * np.sin(alpha + beta) / (c * np.cos(alpha + np.arctan(e / (length - stroke))))

        ends = [
            minimize_scalar(lambda z, s=s: s * force(z), bounds=(0, STROKE), options={"xatol": 1e-4}).x for s in (1, -1)
        ]
        assert value == pytest.approx(force(ends[1]) - force(ends[0]), rel=1e-5)


def test_nu_divides_by_the_declared_number_of_constraints() -> None:
    g, h = np.array([[1.0, -1.0], [2.0, 3.0]]), np.array([[1e-4], [-0.4]])
    assert nu("RC09", g, h).tolist() == pytest.approx([1 / 3, 5.4 / 3])
    pairs = np.full((1, 91), 1.05)
    assert nu("RC44", pairs, pairs[:, :0]).tolist() == pytest.approx([0.91])
    assert nu("RC31", pairs[:, :0], pairs[:, :0]).tolist() == [0]


@pytest.mark.parametrize("name", DRAWINGS)
def test_designs_are_drawn(name: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    problem = SUITE.problem(name)
    path = draw_design(problem, tmp_path / "design.svg", 0.3 * problem.lower + 0.7 * problem.upper)
    drawn = path.read_text()
    assert "<svg" in drawn and drawn != draw_design(problem, tmp_path / "other.svg", problem.lower + 1e-3).read_text()


def test_the_best_truss_is_drawn_by_the_command_and_other_problems_have_no_design(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    command = ["suites", "plot", "--suite", "cec2020rw", "--design", "-o", str(tmp_path / "a.png")]
    assert main([*command, "ten-bar-truss"]) == 0
    assert (tmp_path / "a.png").stat().st_size > 1000
    assert main([*command, "gear-train"]) == 2
    assert "RC31 gear-train has no picture of its design; of suite cec2020rw RC26" in capsys.readouterr().err
    with pytest.raises(ValueError, match=r"must have 10 numbers; got shape \(3,\)"):
        draw_design(SUITE.problem("ten-bar-truss"), tmp_path / "a.png", np.zeros(3))
    with pytest.raises(ValueError, match="no best design of RC44 wind-farm is known"):
        draw_design(SUITE.problem("wind-farm"), tmp_path / "a.png")


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_a_design_is_drawn_over_an_older_picture_of_ours_and_over_nothing_else(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / f"design.{kind}"
    problem = SUITE.problem("ten-bar-truss")
    for _ in range(2):
        draw_design(problem, path)
    path.write_bytes(b"mine")
    with pytest.raises(ValueError, match=f"is not a {kind} file made by this program"):
        draw_design(problem, path)
    assert path.read_bytes() == b"mine" and list(tmp_path.iterdir()) == [path]


# --- names and data -------------------------------------------------------------------------------------------------


def test_problems_have_two_names() -> None:
    assert SUITE.names == tuple(f"RC{k:02d}" for k in range(1, 58))
    assert len(SUITE.aliases) == 57
    assert SUITE.problem("gear-train").name == SUITE.problem("RC31").name == "RC31 gear-train"
    with pytest.raises(ValueError, match=r"unknown problem 'RC58' in suite 'cec2020rw'; it has RC01 \.\. RC57"):
        SUITE.problem("RC58")
    with pytest.raises(ValueError, match="RC31 has dimension 4; got 5"):
        SUITE.problem("gear-train", 5)


def test_a_plan_knows_a_problem_under_both_names() -> None:
    from ppsde.experiments.plan import Plan, expanded

    ids = [
        [one.job.id for one in expanded(Plan(["pps-de"], problems=[f"cec2020rw:{name}"], runs=1, engine="host"))]
        for name in ("gear-train", "RC31")
    ]
    assert ids[0] == ids[1]


@pytest.fixture
def no_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without the data: every place it is looked for in is empty."""
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr("ppsde.suites.cec2020rw_data.beside_the_checkout", lambda suite: ())
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")


@pytest.fixture
def arrays() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    table = {key: rng.uniform(0.1, 1, shape) for key, shape in SHAPES.items()}
    table["PS14_linedata"][:, :2] = np.stack([np.arange(1, 38), np.arange(2, 39)], axis=1)
    return table


@pytest.mark.usefixtures("no_data")
def test_without_data_forty_problems_work_and_the_others_say_what_they_need(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in WITHOUT_DATA:
        assert SUITE.problem(name).dimension == len(TABLE[name].box)
    for name in NEEDS_DATA:
        with pytest.raises(MissingData, match=f"is not on this machine.*{VARIABLE}.*SOFTWARE.zip"):
            SUITE.problem(name)
    assert len(WITHOUT_DATA) == 40
    assert main(["list", "problems", "cec2020rw"]) == 0
    shown = capsys.readouterr().out
    assert "RC31 gear-train" in shown and "phase-balancing" not in shown
    assert "not shown: RC34, RC35" in shown and VARIABLE in shown
    assert main(["solve", "cec2020rw:beef-ration-1"]) == 2
    assert "is not on this machine" in capsys.readouterr().err


def test_data_is_found_by_argument_variable_and_neighbour_as_archive_or_text(
    no_data: None, arrays: dict[str, np.ndarray], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, text = tmp_path / "shared" / "cec2020rw", tmp_path / "input data"
    text.mkdir()
    for key, table in arrays.items():
        np.savetxt(text / f"Function{key}.txt", table, fmt="%.18g")
    expected = SUITE.problem("RC55", data=text).fun.price
    assert np.array_equal(expected, arrays["RM_dairy"][0])
    with pytest.raises(MissingData, match=r"data names .* which has no such data"):
        SUITE.problem("RC55", data=archive)
    monkeypatch.setenv(VARIABLE, str(text))
    assert np.array_equal(SUITE.problem("RC55").fun.price, expected)
    monkeypatch.delenv(VARIABLE)
    archive.mkdir(parents=True)
    np.savez(archive / "data.npz", **arrays)  # type: ignore[arg-type]
    for options in ({}, {"data": archive}, {"data": archive / "data.npz"}):
        assert np.array_equal(SUITE.problem("RC55", **options).fun.price, expected)


@pytest.mark.usefixtures("no_data")
def test_damaged_data_is_refused(arrays: dict[str, np.ndarray], tmp_path: Path) -> None:
    arrays["RM_feed"][0, 0] = np.nan
    np.savez(tmp_path / "data.npz", **arrays)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'RM_feed' must hold finite numbers"):
        SUITE.problem("RC51", data=tmp_path)
    (tmp_path / "FunctionPS1_G.txt").write_text("1 2 three")
    (tmp_path / "data.npz").unlink()
    with pytest.raises(ValueError, match=r"FunctionPS1_G\.txt cannot be read as a table of numbers"):
        SUITE.problem("RC34", data=tmp_path)


@pytest.mark.usefixtures("no_data")
def test_made_up_grids_give_the_right_shapes(arrays: dict[str, np.ndarray], tmp_path: Path) -> None:
    """The formulas of grids and rations run where the organisers' data is not found."""
    np.savez(tmp_path / "data.npz", **arrays)  # type: ignore[arg-type]
    for name in NEEDS_DATA:
        problem = SUITE.problem(name, data=tmp_path)
        f, g, h = problem.evaluate(np.stack([problem.lower, problem.upper]))
        assert (f.shape, g.shape, h.shape) == ((2,), (2, problem.n_ineq), (2, problem.n_eq))
        assert np.isfinite(f).all() and np.isfinite(g).all() and np.isfinite(h).all()


def test_budgets_grow_with_the_dimension() -> None:
    assert [SUITE.budget(d) for d in (10, 11, 30, 31, 50, 51, 150, 151)] == [
        *(100_000, 200_000, 200_000, 400_000),
        *(400_000, 800_000, 800_000, 1_000_000),
    ]
