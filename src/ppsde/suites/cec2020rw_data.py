"""The matrices that 17 problems of the CEC2020 real-world suite need, from the organisers' data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np

from . import MissingData
from .official_data import beside_the_checkout, checked, read_archive

VARIABLE = "PPSDE_CEC2020RW"  # environment variable naming the folder of the data
FILE = "data.npz"
SHAPES: dict[str, tuple[int, ...]] = {
    **{f"PS1_{part}": (30, 30) for part in "GB"},
    **{f"PS1_{part}": (30,) for part in "PQ"},
    **{f"PS2_{part}": (38, 38) for part in "GB"},
    **{f"PS2_{part}": (38, 6) for part in "PQ"},
    **{f"PS11_{part}": (30, 30) for part in "GB"},
    **{f"PS11_{part}": (30,) for part in "PQ"},
    "PS14_linedata": (37, 6),
    "RM_feed": (7, 59),
    "RM_dairy": (14, 64),
}


def find(data: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the archive, or the folder of text files, or None; ValueError where a folder was named that has neither.

    A folder has either `data.npz`, with the arrays of `SHAPES`, or the text files of the organisers' package,
    `FunctionPS1_G.txt` and so on.
    """
    for named, source in ((data, "data"), (os.environ.get(VARIABLE) or None, VARIABLE)):
        if named is not None:
            found = _in_folder(Path(named).expanduser())
            if found is None:
                raise MissingData(_how_to_get(f"{source} names {str(named)!r}, which has no such data"))
            return found
    for folder in (Path("../shared/cec2020rw"), *beside_the_checkout("cec2020rw")):
        if found := _in_folder(folder):
            return found
    return None


def load(data: str | os.PathLike[str] | None = None) -> Mapping[str, np.ndarray]:
    """Return the arrays by the names of `SHAPES`, read once; `MissingData` where they are not found."""
    path = find(data)
    if path is None:
        raise MissingData(_how_to_get("the organisers' data of the CEC2020 real-world suite is not on this machine"))
    facts = path.stat()
    return _load(path, facts.st_mtime_ns, facts.st_size)


def _in_folder(folder: Path) -> Path | None:
    for path in (folder / FILE, folder if folder.suffix == ".npz" else None):
        if path is not None and path.is_file():
            return path.resolve()
    return folder.resolve() if (folder / _text_file("PS1_G")).is_file() else None


def _text_file(key: str) -> str:
    return f"Function{key}.txt"


@lru_cache(maxsize=4)
def _load(path: Path, modified: int, size: int) -> Mapping[str, np.ndarray]:
    if path.suffix == ".npz":
        return checked(read_archive(path, SHAPES), SHAPES, str(path))
    arrays = {}
    for key in SHAPES:
        try:
            arrays[key] = np.loadtxt(path / _text_file(key))
        except (OSError, ValueError) as error:
            raise ValueError(f"{path / _text_file(key)} cannot be read as a table of numbers: {error}") from None
    return checked(arrays, SHAPES, str(path))


def _how_to_get(what: str) -> str:
    return (
        f"{what}. RC34 to RC43 and RC51 to RC57 need it; the other problems do not. Name by data= or the "
        f"environment variable {VARIABLE} a folder with {FILE}, or the folder 'input data' of the organisers' package, "
        "SOFTWARE.zip (github.com/P-N-Suganthan/2020-RW-Constrained-Optimisation)"
    )
