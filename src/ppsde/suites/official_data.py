"""Data of organisers that the package does not contain: the places where it is looked for, and checks of its arrays."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np


def beside_the_checkout(suite: str) -> tuple[Path, ...]:
    """Return the folder `shared/SUITE` beside a checkout of the repository; none where the package is installed."""
    root = Path(__file__).resolve().parents[3]
    return (root.parent / "shared" / suite,) if (root / "pyproject.toml").is_file() else ()


def read_archive(path: Path, keys: Mapping[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """Return those arrays of a NumPy archive that have one of the keys."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {key: file[key] for key in file.files if key in keys}
    except (OSError, ValueError, AttributeError, EOFError) as error:  # numpy has several ways to say "not an npz"
        raise ValueError(f"{path} cannot be read as a NumPy archive: {error}") from None


def checked(
    arrays: Mapping[str, np.ndarray], shapes: Mapping[str, tuple[int, ...]], source: str
) -> dict[str, np.ndarray]:
    """Return the arrays of those shapes, read-only, float64; ValueError where one is missing or not valid."""
    found = {}
    for key, shape in shapes.items():
        if key not in arrays:
            raise ValueError(f"{source} lacks {key!r}, an array of shape {shape}")
        array = np.asarray(arrays[key])
        if array.shape != shape or array.dtype.kind not in "fiu":
            raise ValueError(f"{source}: {key!r} must hold numbers of shape {shape}; got {array.dtype}, {array.shape}")
        array = np.array(array, dtype=np.float64, order="C")
        if not np.isfinite(array).all():
            raise ValueError(f"{source}: {key!r} must hold finite numbers")
        array.flags.writeable = False
        found[key] = array
    return found
