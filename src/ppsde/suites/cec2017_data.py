"""Shifts and matrices of the CEC2017 suite: of the organisers' data, and its import, or of numbered instances."""

from __future__ import annotations

import io
import os
import sys
import zipfile
from collections.abc import Callable, Mapping
from functools import lru_cache, reduce
from math import fsum, sqrt
from pathlib import Path, PurePosixPath

import numpy as np

from ..files import write_own
from .official_data import beside_the_checkout, checked, read_archive

VARIABLE = "PPSDE_CEC2017"  # environment variable naming the folder of the official data
FILE = "data.npz"
OFFICIAL_DIMENSIONS = (10, 30, 50, 100)
SHIFTS = (*(f"shift_C{k:02d}" for k in range(1, 12)), "shift_C12_C28")  # length 100; a problem uses the first D
MATRICES = {"rot_C02": 3.0, "rot1_C05": 3.0, "rot2_C05": 5.0, "rot_C21_C28": 3.0}  # with their condition numbers
SHAPES = dict.fromkeys(SHIFTS, (100,)) | {f"{key}_D{d}": (d, d) for key in MATRICES for d in OFFICIAL_DIMENSIONS}

Parts = tuple[np.ndarray, tuple[np.ndarray, ...]]  # shift (d,), matrices (d, d)


def choose(instance: int | str | None, dimension: int, data: str | os.PathLike[str] | None) -> int | str:
    """Return the instance given; for None the official one where its data is found, else number 1."""
    if instance is None:
        return "official" if dimension in OFFICIAL_DIMENSIONS and find(data) else 1
    if instance == "official":
        return "official"
    if isinstance(instance, int | np.integer) and not isinstance(instance, bool) and instance >= 1:
        return int(instance)
    raise ValueError(f"instance must be 'official', an int >= 1 or None; got {instance!r}")


def parts(
    instance: int | str,
    dimension: int,
    half_width: float,
    shift: str,
    matrices: tuple[str, ...],
    data: str | os.PathLike[str] | None = None,
) -> Parts:
    """Return shift and matrices of an instance, for a box of [-half_width, half_width]^dimension."""
    if instance == "official":
        return _official_parts(dimension, shift, matrices, data)
    number = int(instance)
    place = 0.5 * half_width * _uniform(number, shift, dimension)  # inside half the box, as the official ones
    place.flags.writeable = False
    return place, tuple(_numbered_matrix(number, key, dimension) for key in matrices)


# --- the organisers' data -------------------------------------------------------------------------------------------


def user_directory() -> Path:
    """Return the folder on this machine into which `import_archive` writes."""
    if os.environ.get("XDG_DATA_HOME"):
        base = Path(os.environ["XDG_DATA_HOME"])
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path.home() / ".local" / "share"
    return base / "ppsde" / "cec2017"


def find(data: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the file of official data, or None; ValueError where a folder was given that lacks the file."""
    for named, source in ((data, "data"), (os.environ.get(VARIABLE) or None, VARIABLE)):
        if named is not None:
            path = Path(named).expanduser()
            path = path if path.suffix == ".npz" else path / FILE
            if not path.is_file():
                raise ValueError(_how_to_get(f"{source} names {str(named)!r}, where there is no {path.name}"))
            return path.resolve()
    for folder in (user_directory(), Path("../shared/cec2017"), *beside_the_checkout("cec2017")):
        if (folder / FILE).is_file():
            return (folder / FILE).resolve()
    return None


def load(path: Path) -> Mapping[str, np.ndarray]:
    """Return the arrays of a data file, read once and checked; a file that has changed is read again."""
    facts = path.stat()
    return _load(path, facts.st_mtime_ns, facts.st_size)


@lru_cache(maxsize=4)
def _load(path: Path, modified: int, size: int) -> Mapping[str, np.ndarray]:
    return checked(read_archive(path, SHAPES), SHAPES, str(path))


def _official_parts(
    dimension: int, shift: str, matrices: tuple[str, ...], data: str | os.PathLike[str] | None
) -> Parts:
    path = find(data)
    if path is None:
        raise ValueError(_how_to_get("the official data of the CEC2017 suite is not on this machine"))
    if dimension > SHAPES[shift][0] or (matrices and dimension not in OFFICIAL_DIMENSIONS):
        raise ValueError(_how_to_get(f"the official data has no instance of this problem at dimension {dimension}"))
    arrays = load(path)
    return arrays[shift][:dimension], tuple(arrays[f"{key}_D{dimension}"] for key in matrices)


def _how_to_get(what: str) -> str:
    return (
        f"{what}. Either name a folder that holds {FILE} by data= or the environment variable {VARIABLE}; or bring the "
        f"organisers' archive in with `ppsde suites import PATH` (dimensions {', '.join(map(str, OFFICIAL_DIMENSIONS))}"
        "); or use the built-in instances instance=1, 2, ..., which need no data and take any dimension"
    )


# --- numbered instances ---------------------------------------------------------------------------------------------
# Built from uniform numbers, + - * / and square roots in a fixed order only, so that every machine gets the same bits:
# no LAPACK, no BLAS, no logarithm. The layout is frozen: changing it changes "instance 1".

_STREAMS = {key: k for k, key in enumerate((*SHIFTS, *MATRICES))}


def _uniform(number: int, key: str, *shape: int) -> np.ndarray:
    """Return numbers in [-1, 1) that depend on the instance and on the array they are for."""
    seed = np.random.SeedSequence(number, spawn_key=(2017, _STREAMS[key]))
    return 2.0 * np.random.Generator(np.random.PCG64(seed)).random(shape) - 1.0


@lru_cache(maxsize=64)
def _numbered_matrix(number: int, key: str, dimension: int) -> np.ndarray:
    """Return Q1 diag(s) Q2 with random orthogonal Q1 and Q2 and s from 1 to the condition number, both attained."""
    uniform = _uniform(number, key, 12 * 2 * dimension + 1, dimension)
    largest = MATRICES[key]
    s = 1.0 + (largest - 1.0) * 0.5 * (uniform[0] + 1.0)
    s[0], s[-1] = 1.0, largest
    bell = reduce(np.add, np.split(uniform[1:], 12))  # sums of twelve: near enough to normal to favour no direction
    left, right = _orthogonal(bell[:dimension]), _orthogonal(bell[dimension:])
    matrix: np.ndarray = reduce(np.add, (s[j] * left[:, j, None] * right[j] for j in range(dimension)))
    matrix.flags.writeable = False
    return matrix


def _orthogonal(normals: np.ndarray) -> np.ndarray:
    """Return a random orthogonal matrix, a product of reflections (G. W. Stewart, SIAM J. Numer. Anal. 17, 1980)."""
    d = len(normals)
    q = np.diag(np.where(np.diagonal(normals) < 0.0, -1.0, 1.0))
    for k in range(d - 2, -1, -1):
        v = normals[k, k:].copy()
        v[0] += np.copysign(sqrt(fsum(v * v)), v[0])
        weights = np.add.reduce(v[:, None] * q[k:], axis=0) * (2.0 / fsum(v * v))
        q[k:] = q[k:] - v[:, None] * weights
    return q


# --- import of the organisers' archive ------------------------------------------------------------------------------

Files = Mapping[str, Callable[[], bytes]]  # lower-case file name, without folders -> a function that reads the file


def import_archive(path: str | os.PathLike[str], destination: str | os.PathLike[str] | None = None) -> Path:
    """Read the organisers' archive, write the arrays that the suite needs and return the file written.

    Parameters
    ----------
    path : folder, or .zip of it
        Either the MATLAB archive (`Function1.mat` .. `Function11.mat` and `ShiftAndRotation.mat`) or the C++ one
        (`shift_data_1.txt` .., `M_2_D10.txt` .., `M1_5_D10.txt` ..), at any depth of folders.
    destination : folder, optional
        The user's data folder if not given, where the suite finds it.
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
    return _write(
        checked(arrays, SHAPES, str(source)), Path(destination) if destination is not None else user_directory()
    )


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
    """Return the variable `o`, or else the only vector there is."""
    length = SHAPES["shift_C01"][0]
    vectors = {key: v.reshape(-1) for key, v in variables.items() if v.size == max(v.shape, default=0) >= length}
    named = [v for key, v in vectors.items() if key.lower() == "o"]
    return _only(named or list(vectors.values()), f"a vector o of {length} numbers or more", where)[:length]


def _matrices(variables: Mapping[str, np.ndarray], name: str, key: str, where: str) -> dict[str, np.ndarray]:
    """Return the variables such as M_10, or else for each dimension the only matrix of that size."""
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
    folder = folder.expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    written = io.BytesIO()
    np.savez_compressed(written, **arrays)  # type: ignore[arg-type]
    write_own(folder / FILE, written.getvalue(), "npz")
    return folder / FILE
