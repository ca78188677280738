"""Instances of the CEC2017 suite, numbered and official, and the import of the organisers' archive."""

from __future__ import annotations

import hashlib
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import savemat

from ppsde.suites import get
from ppsde.suites.cec2017_data import OFFICIAL_DIMENSIONS, SHAPES, VARIABLE, find, import_archive, load, user_directory
from ppsde.suites.cec2017_formulas import VERSIONS

SUITE = get("cec2017")
INFEASIBLE = {"C17", "C19", "C26", "C28"}


@pytest.fixture
def no_official_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without the data: every place it is looked for in is empty."""
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr("ppsde.suites.cec2017_data.beside_the_checkout", lambda suite: ())
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")


@pytest.fixture
def folder(tmp_path: Path, no_official_data: None) -> Path:
    """A folder with data of the official shapes, random."""
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "data.npz", **{key: rng.uniform(-1, 1, shape) for key, shape in SHAPES.items()})  # type: ignore[arg-type]
    return tmp_path


def test_the_suite_has_28_problems_and_the_competition_s_terms() -> None:
    assert SUITE.names == tuple(f"C{k:02d}" for k in range(1, 29))
    assert SUITE.dimensions == (10, 30, 50, 100)
    assert [SUITE.budget(d) for d in SUITE.dimensions] == [200_000, 600_000, 1_000_000, 2_000_000]


def test_problems_have_their_real_constraint_counts_and_boxes() -> None:
    n_ineq = (1, 1, 1, 2, 2, 0, 0, 0, 1, 0, 1, 2, 3, 1, 1, 1, 1, 2, 2, 2, 2, 3, 1, 1, 1, 1, 2, 2)
    n_eq = (0, 0, 1, 0, 0, 6, 2, 2, 1, 2, 1, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0)
    wide = {"C04": 10, "C05": 10, "C09": 10, "C06": 20, "C07": 50, "C19": 50, "C28": 50}
    for name, p, q in zip(SUITE.names, n_ineq, n_eq, strict=True):
        problem = SUITE.problem(name, instance=1)
        f, g, h = problem.evaluate(np.zeros((3, 10)))
        assert (problem.n_ineq, problem.n_eq) == (p, q)
        assert (f.shape, g.shape, h.shape) == ((3,), (3, p), (3, q))
        assert problem.constraint_names is not None
        assert len(problem.constraint_names) == p + q
        assert set(problem.upper) == {wide.get(name, 100)} == set(-problem.lower)
        assert (problem.name, problem.vectorized, problem.tolerance) == (f"{name} D=10", True, 1e-4)
        assert problem.properties["feasible"] == (name not in INFEASIBLE)


@pytest.mark.parametrize("name", SUITE.names)
def test_a_number_gives_the_same_problem_every_time_and_another_number_another(name: str) -> None:
    x = np.random.default_rng(0).uniform(-5.0, 5.0, (4, 10))
    first, again, other = (SUITE.problem(name, 10, instance=k).evaluate(x) for k in (4, 4, 5))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[0], other[0])


def test_the_first_instance_is_what_it_has_always_been() -> None:
    """Frozen: experiments name instances by number, so these bits may not change."""
    digest = hashlib.sha256()
    for name in SUITE.names:
        fun = SUITE.problem(name, 10, instance=1).fun
        for array in (fun.shift, *fun.matrices):
            digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    assert digest.hexdigest() == "55e12348aa8c2a7171f3d209a05c207fbd0c9a540e1bbfde9d51c8e047c41a77"


@pytest.mark.parametrize("name", SUITE.names)
def test_numbered_instances_have_the_official_spread(name: str) -> None:
    for number in (1, 2):
        for d in (2, 10, 31):
            problem = SUITE.problem(name, d, instance=number)
            assert (np.abs(problem.fun.shift) <= 0.5 * problem.upper).all()
            largest = (3.0, 5.0) if name == "C05" else (3.0,)
            for matrix, top in zip(problem.fun.matrices, largest, strict=False):
                singular = np.linalg.svd(matrix, compute_uv=False)
                assert singular.min() == pytest.approx(1.0, abs=1e-12)
                assert singular.max() == pytest.approx(top, abs=1e-12)
            assert len(problem.fun.matrices) == (2 if name == "C05" else int(name == "C02" or name > "C20"))
            assert problem.optimum is None
            assert problem.properties["instance"] == number


def test_shifts_fill_half_the_box_evenly() -> None:
    shifts = np.concatenate([SUITE.problem("C01", 100, instance=k).fun.shift for k in range(1, 41)])
    quarters = np.histogram(shifts, bins=[-50, -25, 0, 25, 50])[0]
    assert quarters.sum() == 4000
    assert (np.abs(quarters - 1000) < 5 * np.sqrt(4000 * 0.25 * 0.75)).all()


def test_matrices_of_numbered_instances_favour_no_direction() -> None:
    """Entries of a random orthogonal matrix have mean 0 and mean square 1/d; so have the directions M e_j scaled."""
    matrices = np.array([SUITE.problem("C21", 6, instance=k).fun.matrices[0] for k in range(1, 401)])
    unit = matrices / np.linalg.norm(matrices, axis=1, keepdims=True)
    assert np.abs(unit.mean(axis=0)).max() < 5 * np.sqrt(1 / 6 / 400)
    assert np.abs((unit**2).mean(axis=0) - 1 / 6).max() < 5 * np.sqrt(2 / 36 / 400)


def test_a_problem_survives_pickling() -> None:
    problem = SUITE.problem("C05", 10, instance=1)
    x = np.random.default_rng(0).uniform(-10, 10, (3, 10))
    assert np.array_equal(pickle.loads(pickle.dumps(problem)).evaluate(x)[1], problem.evaluate(x)[1])


@given(st.sampled_from(SUITE.names), st.integers(2, 12), st.integers(1, 50), st.data())
@settings(max_examples=150)
def test_points_inside_the_box_never_give_nan(name: str, d: int, number: int, data: st.DataObject) -> None:
    problem = SUITE.problem(name, d, instance=number)
    unit = data.draw(st.lists(st.lists(st.floats(-1, 1), min_size=d, max_size=d), min_size=1, max_size=3))
    x = np.vstack([np.array(unit) * problem.upper, problem.fun.shift, problem.lower, problem.upper])
    for values in problem.evaluate(x):
        assert np.isfinite(values).all()


@pytest.mark.parametrize("name", SUITE.names)
def test_the_largest_dimensions_stay_finite(name: str) -> None:
    problem = SUITE.problem(name, 140, instance=1)
    corners = np.vstack([problem.lower, problem.upper, -np.sign(problem.fun.shift) * problem.upper])
    assert all(np.isfinite(values).all() for values in problem.evaluate(corners))


def test_bad_input_is_answered_with_what_was_expected() -> None:
    with pytest.raises(ValueError, match="unknown problem 'C29'"):
        SUITE.problem("C29")
    with pytest.raises(ValueError, match=f"unknown version '2017'.* expected one of {', '.join(VERSIONS)}$"):
        SUITE.problem("C01", version="2017")
    for instance in (0, -1, 1.5, True, "first"):
        with pytest.raises(ValueError, match="instance must be 'official', an int >= 1 or None"):
            SUITE.problem("C01", instance=instance)
    for dimension in (1, 0, 2.5, "10", True):
        with pytest.raises(ValueError, match="C01: dimension must be an int >= 2"):
            SUITE.problem("C01", dimension, instance=1)
    with pytest.raises(ValueError, match="C11: dimension must be at most 140"):
        SUITE.problem("C11", 141, instance=1)
    problem = SUITE.problem("C01", 10, instance=1)
    with pytest.raises(ValueError, match=r"rows of shape \(n, 10\)"):
        problem.evaluate(np.zeros((2, 9)))
    with pytest.raises(ValueError, match="must not contain NaN; row 1"):
        problem.evaluate(np.array([[0.0] * 10, [np.nan] * 10]))


@pytest.mark.usefixtures("no_official_data")
def test_without_official_data_the_first_instance_is_taken() -> None:
    assert find() is None
    problem = SUITE.problem("C02")
    assert (problem.dimension, problem.properties["instance"]) == (10, 1)


@pytest.mark.usefixtures("no_official_data")
def test_missing_official_data_is_answered_with_three_ways_to_get_it() -> None:
    with pytest.raises(ValueError, match="not on this machine") as caught:
        SUITE.problem("C01", instance="official")
    for way in ("data=", VARIABLE, "ppsde suites import PATH", "instance=1"):
        assert way in str(caught.value)


def test_official_data_is_found_by_argument_variable_user_folder_and_neighbour(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = np.load(folder / "data.npz")["shift_C07"][:10]

    def assert_official(**options: object) -> None:
        problem = SUITE.problem("C07", 10, **options)
        assert problem.properties["instance"] == "official"
        assert np.array_equal(problem.fun.shift, expected)

    assert_official(data=folder)
    assert_official(data=str(folder / "data.npz"))
    with monkeypatch.context() as patch:
        patch.setenv(VARIABLE, str(folder))
        assert_official()
    for place in (folder / "data" / "ppsde" / "cec2017", folder / "shared" / "cec2017"):
        place.mkdir(parents=True)
        (place / "data.npz").write_bytes((folder / "data.npz").read_bytes())
        assert_official()
        (place / "data.npz").unlink()
    assert SUITE.problem("C07", 10).properties["instance"] == 1


def test_a_named_folder_without_data_is_an_error_even_where_a_number_would_do(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match=r"data names .* where there is no"):
        SUITE.problem("C01", data=folder / "nowhere")
    monkeypatch.setenv(VARIABLE, str(folder / "nowhere"))
    with pytest.raises(ValueError, match=f"{VARIABLE} names"):
        SUITE.problem("C01")
    assert SUITE.problem("C01", instance=1).properties["instance"] == 1


def test_official_matrices_exist_at_the_competition_s_dimensions_only(folder: Path) -> None:
    assert SUITE.problem("C01", 20, instance="official", data=folder).optimum is None
    for name, d in (("C02", 20), ("C28", 31), ("C01", 101)):
        with pytest.raises(ValueError, match=f"no instance of this problem at dimension {d}.*instance=1"):
            SUITE.problem(name, d, instance="official", data=folder)
        assert SUITE.problem(name, d, data=folder).properties["instance"] == 1


def test_damaged_data_is_refused(folder: Path) -> None:
    good = dict(np.load(folder / "data.npz"))
    damages = {
        "lacks 'shift_C03'": {k: v for k, v in good.items() if k != "shift_C03"},
        "'rot_C02_D10' must hold numbers of shape": good | {"rot_C02_D10": np.zeros((10, 9))},
        "'shift_C01' must hold finite numbers": good | {"shift_C01": np.full(100, np.nan)},
    }
    for k, (message, arrays) in enumerate(damages.items()):
        place = folder / f"damage{k}"
        place.mkdir()
        np.savez(place / "data.npz", **arrays)
        with pytest.raises(ValueError, match=message):
            SUITE.problem("C01", instance="official", data=place)
    (folder / "data.npz").write_bytes(b"not an archive")
    with pytest.raises(ValueError, match="cannot be read as a NumPy archive"):
        SUITE.problem("C01", instance="official", data=folder)


def test_data_is_read_once_and_again_when_the_file_changes(folder: Path) -> None:
    first, second = (SUITE.problem("C01", 100, instance="official", data=folder).fun.shift for _ in range(2))
    assert np.shares_memory(first, second)
    np.savez(folder / "data.npz", **(dict(np.load(folder / "data.npz")) | {"shift_C01": np.arange(100.0)}))
    assert SUITE.problem("C01", 10, instance="official", data=folder).fun.shift.tolist() == list(range(10))


Arrays = dict[str, np.ndarray]


@pytest.fixture
def arrays() -> Arrays:
    rng = np.random.default_rng(1)
    return {key: rng.uniform(-3, 3, shape) for key, shape in SHAPES.items()}


def write_matlab(folder: Path, arrays: Arrays) -> Path:
    """The layout of the organisers' MATLAB archive."""
    inner = folder / "CEC2017 Pure Matlab"
    inner.mkdir(parents=True)
    for k in range(1, 12):
        variables = {"o": arrays[f"shift_C{k:02d}"]}
        for d in OFFICIAL_DIMENSIONS:
            if k == 2:
                variables[f"M_{d}"] = arrays[f"rot_C02_D{d}"]
            if k == 5:
                variables |= {f"M1_{d}": arrays[f"rot1_C05_D{d}"], f"M2_{d}": arrays[f"rot2_C05_D{d}"]}
        savemat(inner / f"Function{k}.mat", variables)
    shared = {"o": arrays["shift_C12_C28"]} | {f"M_{d}": arrays[f"rot_C21_C28_D{d}"] for d in OFFICIAL_DIMENSIONS}
    savemat(inner / "ShiftAndRotation.mat", shared)
    return folder


def write_text(folder: Path, arrays: Arrays) -> Path:
    """The layout of the organisers' C++ archive."""
    inner = folder / "inputData"
    inner.mkdir(parents=True)
    for k in range(1, 29):
        shift = arrays[f"shift_C{k:02d}" if k < 12 else "shift_C12_C28"]
        (inner / f"shift_data_{k}.txt").write_text("   ".join(f"{v:.17e}" for v in shift) + "\r\n")
    for d in OFFICIAL_DIMENSIONS:
        np.savetxt(inner / f"M_2_D{d}.txt", arrays[f"rot_C02_D{d}"], fmt="%.17e")
        np.savetxt(inner / f"M1_5_D{d}.txt", arrays[f"rot1_C05_D{d}"], fmt="%.17e")
        np.savetxt(inner / f"M2_5_D{d}.txt", arrays[f"rot2_C05_D{d}"], fmt="%.17e")
        for k in range(21, 29):
            np.savetxt(inner / f"M_{k}_D{d}.txt", arrays[f"rot_C21_C28_D{d}"], fmt="%.17e")
    return folder


def assert_same(written: Path, arrays: Arrays) -> None:
    found = load(written)
    assert set(found) == set(arrays)
    assert all(np.array_equal(found[key], arrays[key]) for key in arrays)


@pytest.mark.parametrize("write", [write_matlab, write_text])
def test_a_folder_and_its_zip_give_the_numbers_back(write: object, arrays: Arrays, tmp_path: Path) -> None:
    archive = write(tmp_path / "archive", arrays)  # type: ignore[operator]
    assert_same(import_archive(archive, tmp_path / "a"), arrays)
    zipped = shutil.make_archive(str(tmp_path / "archive"), "zip", archive)
    written = import_archive(zipped, tmp_path / "b")
    assert written == tmp_path / "b" / "data.npz"
    assert_same(written, arrays)
    assert [p.name for p in written.parent.iterdir()] == ["data.npz"]  # nothing half-written is left


def test_an_import_replaces_an_older_one_and_no_other_file(arrays: Arrays, tmp_path: Path) -> None:
    archive = write_matlab(tmp_path / "archive", arrays)
    for _ in range(2):
        written = import_archive(archive, tmp_path / "out")
    np.savez(written, mine=np.arange(3))
    before = written.read_bytes()
    with pytest.raises(ValueError, match="is not a npz file made by this program"):
        import_archive(archive, tmp_path / "out")
    assert written.read_bytes() == before and list(written.parent.iterdir()) == [written]


def test_what_is_imported_is_what_the_suite_then_uses(
    arrays: Arrays, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PPSDE_CEC2017", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    written = import_archive(write_text(tmp_path / "archive", arrays))
    assert written == user_directory() / "data.npz" == tmp_path / "home" / "ppsde" / "cec2017" / "data.npz"
    problem = get("cec2017").problem("C21", 30)
    assert problem.properties["instance"] == "official"
    assert np.array_equal(problem.fun.matrices[0], arrays["rot_C21_C28_D30"])


def test_variables_of_other_names_are_taken_where_only_one_fits(arrays: Arrays, tmp_path: Path) -> None:
    folder = write_matlab(tmp_path / "archive", arrays)
    inner = folder / "CEC2017 Pure Matlab"
    savemat(inner / "Function3.mat", {"shift": arrays["shift_C03"].reshape(-1, 1), "scale": 2.0})
    savemat(
        inner / "function2.mat",
        {"O": arrays["shift_C02"]} | {f"m{d}": arrays[f"rot_C02_D{d}"] for d in OFFICIAL_DIMENSIONS},
    )
    (inner / "Function2.mat").unlink()
    assert_same(import_archive(folder, tmp_path / "out"), arrays)


def test_archives_with_something_wrong_are_refused_by_name(arrays: Arrays, tmp_path: Path) -> None:
    def refused(folder: Path, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            import_archive(folder, tmp_path / "out")
        assert not (tmp_path / "out").exists()

    refused(tmp_path / "nowhere", "neither a folder nor a .zip file")
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", "not the organisers' CEC2017 archive")
    (tmp_path / "thing.rar").write_bytes(b"Rar!")
    refused(tmp_path / "thing.rar", "not a .zip file; unpack")

    matlab = write_matlab(tmp_path / "matlab", arrays)
    inner = matlab / "CEC2017 Pure Matlab"
    savemat(inner / "Function5.mat", {"o": arrays["shift_C05"], "A": np.eye(10), "B": np.eye(10)})
    refused(matlab, r"Function5.mat must hold a matrix M1_10 of 10 x 10; it holds 2 that could be it")
    (inner / "Function5.mat").write_bytes(b"MATLAB? no")
    refused(matlab, "Function5.mat cannot be read as a MATLAB file")
    (inner / "Function5.mat").unlink()
    refused(matlab, "lacks the file Function5.mat")

    text = write_text(tmp_path / "text", arrays)
    kept = (text / "inputData" / "shift_data_13.txt").read_text()
    (text / "inputData" / "shift_data_13.txt").write_text("1 2 three")
    refused(text, "shift_data_13.txt must hold numbers only")
    (text / "inputData" / "shift_data_13.txt").write_text("1 2 3")
    refused(text, "shift_data_13.txt must hold 100 numbers; it holds 3")
    (text / "inputData" / "shift_data_13.txt").write_text(" ".join(["1"] * 100))
    refused(text, "must share one shift")
    (text / "inputData" / "shift_data_13.txt").write_text(kept)
    (text / "inputData" / "M_2_D10.txt").write_text("1 2 3")
    refused(text, "M_2_D10.txt must hold 10 x 10 numbers; it holds 3")


@pytest.mark.skipif(find() is None, reason="the official CEC2017 data is not on this machine")
@pytest.mark.parametrize("write", [write_matlab, write_text])
def test_official_data_comes_back_from_an_archive_of_it(write: object, tmp_path: Path) -> None:
    path = find()
    assert path is not None
    official = dict(load(path))
    assert_same(import_archive(write(tmp_path / "archive", official), tmp_path / "out"), official)  # type: ignore[operator]
