"""Bringing the organisers' archive of the CEC2017 suite, MATLAB or text files, into the form the suite reads."""

from __future__ import annotations

import io
import os
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

import numpy as np

from .cec2017_instances import FILE, OFFICIAL_DIMENSIONS, SHAPES, check, user_directory

Files = Mapping[str, Callable[[], bytes]]  # lower-case file name, without folders -> its content, read when called for


def import_archive(path: str | os.PathLike[str], destination: str | os.PathLike[str] | None = None) -> Path:
    """Read the organisers' archive and write what the suite needs; returns the file written.

    Parameters
    ----------
    path : folder, or .zip of it
        Either the MATLAB archive (`Function1.mat` .. `Function11.mat` and `ShiftAndRotation.mat`) or the C++ one
        (`shift_data_1.txt` .., `M_2_D10.txt` .., `M1_5_D10.txt` ..), at any depth of folders.
    destination : folder, optional
        The user's data folder when not given, where the suite looks by itself.
    """
    source = Path(path).expanduser()
    files = _files(source)
    if any(name.endswith(".mat") for name in files):
        arrays = _from_matlab(files, source)
    elif any(name.startswith("shift_data_") for name in files):
        arrays = _from_text(files, source)
    else:
        raise ValueError(
            f"{source} holds neither Function1.mat .. Function11.mat and ShiftAndRotation.mat "
            "nor shift_data_*.txt and M_*_D*.txt: it is not the organisers' CEC2017 archive"
        )
    return _write(check(arrays, str(source)), Path(destination) if destination is not None else user_directory())


def _files(source: Path) -> Files:
    if source.is_dir():
        found = sorted((p for p in source.rglob("*") if p.is_file()), key=lambda p: (len(p.parts), p.as_posix()))
        return {p.name.lower(): p.read_bytes for p in reversed(found)}  # of two with one name, the shallower
    if not source.is_file():
        raise ValueError(f"{str(source)!r} is neither a folder nor a .zip file")
    if not zipfile.is_zipfile(source):
        raise ValueError(f"{str(source)!r} is not a .zip file; unpack other archives and give the folder")
    with zipfile.ZipFile(source) as archive:
        names = sorted((n for n in archive.namelist() if not n.endswith("/")), key=lambda n: (n.count("/"), n))
    return {PurePosixPath(n).name.lower(): _member(source, n) for n in reversed(names)}


def _member(source: Path, name: str) -> Callable[[], bytes]:
    def read() -> bytes:
        with zipfile.ZipFile(source) as archive:
            return archive.read(name)

    return read


def _content(files: Files, name: str, source: Path) -> bytes:
    if name.lower() not in files:
        raise ValueError(f"{source} lacks the file {name}")
    return files[name.lower()]()


# --- MATLAB: one file per problem, the shift called o, the matrices M_10 or M1_10 -------------------------------------


def _from_matlab(files: Files, source: Path) -> dict[str, np.ndarray]:
    arrays = {}
    for number in range(1, 12):
        variables = _matlab_variables(files, f"Function{number}.mat", source)
        arrays[f"shift_C{number:02d}"] = _shift(variables, f"Function{number}.mat")
        if number == 2:
            arrays |= _matrices(variables, "M", "rot_C02", "Function2.mat")
        if number == 5:
            arrays |= _matrices(variables, "M1", "rot1_C05", "Function5.mat")
            arrays |= _matrices(variables, "M2", "rot2_C05", "Function5.mat")
    variables = _matlab_variables(files, "ShiftAndRotation.mat", source)
    arrays["shift_C12_C28"] = _shift(variables, "ShiftAndRotation.mat")
    return arrays | _matrices(variables, "M", "rot_C21_C28", "ShiftAndRotation.mat")


def _matlab_variables(files: Files, name: str, source: Path) -> dict[str, np.ndarray]:
    from scipy.io import loadmat

    content = _content(files, name, source)
    try:
        loaded = loadmat(io.BytesIO(content))
    except Exception as error:  # scipy raises many kinds for broken files, and NotImplementedError for version 7.3
        raise ValueError(f"{source}: {name} cannot be read as a MATLAB file: {error}") from error
    return {key: np.asarray(value) for key, value in loaded.items() if not key.startswith("__")}


def _shift(variables: Mapping[str, np.ndarray], where: str) -> np.ndarray:
    """The variable `o`, or else the only vector there is."""
    length = SHAPES["shift_C01"][0]
    vectors = {key: v.reshape(-1) for key, v in variables.items() if v.size == max(v.shape, default=0) >= length}
    named = [v for key, v in vectors.items() if key.lower() == "o"]
    return _only(named or list(vectors.values()), f"a vector o of {length} numbers or more", where)[:length]


def _matrices(variables: Mapping[str, np.ndarray], name: str, key: str, where: str) -> dict[str, np.ndarray]:
    """The variables such as M_10, or else for each dimension the only matrix of that size."""
    found = {}
    for d in OFFICIAL_DIMENSIONS:
        square = {variable: v for variable, v in variables.items() if v.shape == (d, d)}
        spellings = {f"{name}_{d}".lower(), f"{name}{d}".lower(), f"{name}_d{d}".lower(), name.lower()}
        named = [v for variable, v in square.items() if variable.lower() in spellings]
        found[f"{key}_D{d}"] = _only(named or list(square.values()), f"a matrix {name}_{d} of {d} x {d}", where)
    return found


def _only(candidates: list[np.ndarray], what: str, where: str) -> np.ndarray:
    if len(candidates) != 1:
        raise ValueError(f"{where} must hold {what}; it holds {len(candidates) or 'none'} that could be it")
    return candidates[0]


# --- text: one file per problem, and per problem and dimension --------------------------------------------------------


def _from_text(files: Files, source: Path) -> dict[str, np.ndarray]:
    arrays = {f"shift_C{k:02d}": _vector(files, f"shift_data_{k}.txt", source) for k in range(1, 12)}
    arrays["shift_C12_C28"] = _same([_vector(files, f"shift_data_{k}.txt", source) for k in range(12, 29)], source)
    for d in OFFICIAL_DIMENSIONS:
        arrays[f"rot_C02_D{d}"] = _square(files, f"M_2_D{d}.txt", d, source)
        arrays[f"rot1_C05_D{d}"] = _square(files, f"M1_5_D{d}.txt", d, source)
        arrays[f"rot2_C05_D{d}"] = _square(files, f"M2_5_D{d}.txt", d, source)
        rotations = [_square(files, f"M_{k}_D{d}.txt", d, source) for k in range(21, 29)]
        arrays[f"rot_C21_C28_D{d}"] = _same(rotations, source)
    return arrays


def _numbers(files: Files, name: str, source: Path) -> np.ndarray:
    content = _content(files, name, source)
    try:
        return np.array(content.decode("ascii").split(), dtype=float)
    except ValueError as error:  # UnicodeDecodeError is one
        raise ValueError(f"{source}: {name} must hold numbers only: {error}") from None


def _vector(files: Files, name: str, source: Path) -> np.ndarray:
    numbers, length = _numbers(files, name, source), SHAPES["shift_C01"][0]
    if len(numbers) < length:
        raise ValueError(f"{source}: {name} must hold {length} numbers; it holds {len(numbers)}")
    return numbers[:length]


def _square(files: Files, name: str, d: int, source: Path) -> np.ndarray:
    numbers = _numbers(files, name, source)
    if len(numbers) != d * d:
        raise ValueError(f"{source}: {name} must hold {d} x {d} numbers; it holds {len(numbers)}")
    return numbers.reshape(d, d)


def _same(arrays: list[np.ndarray], source: Path) -> np.ndarray:
    if any(not np.array_equal(array, arrays[0]) for array in arrays):
        raise ValueError(f"{source}: C12 to C28 must share one shift, and C21 to C28 one matrix per dimension")
    return arrays[0]


def _write(arrays: Mapping[str, np.ndarray], folder: Path) -> Path:
    """All or nothing: a reader never sees half a file."""
    folder = folder.expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".part", delete=False) as part:
        try:
            np.savez_compressed(part, **arrays)  # type: ignore[arg-type]
        except BaseException:
            Path(part.name).unlink()
            raise
    Path(part.name).chmod(0o644)  # temporary files are for their owner only; this one is to be read
    return Path(part.name).replace(folder / FILE)
