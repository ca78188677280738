"""Import of the organisers' archive: MATLAB and text files, folders and zips, and archives with something wrong."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from ppsde.suites import get
from ppsde.suites.cec2017_data import OFFICIAL_DIMENSIONS, SHAPES, find, import_archive, load, user_directory

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
