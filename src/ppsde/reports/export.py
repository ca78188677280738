"""A study as files for other programs: result files of the CEC competitions, IOHprofiler, Parquet."""

from __future__ import annotations

from pathlib import Path

from ..experiments import Store
from .cec_files import cec_files
from .ioh_files import ioh_files
from .parquet_files import parquet_files
from .study import chosen_plan

WRITERS = {"cec": cec_files, "ioh": ioh_files, "parquet": parquet_files}


def export(store: Store, kind: str, folder: Path, plan: int | None = None) -> list[Path]:
    """Write the study in one of the formats; what was written is returned.

    Parameters
    ----------
    store : Store
    kind : 'cec', 'ioh' or 'parquet'
    folder : path
        Made if missing. Files of the same names are written anew, others stay.
    plan : int, optional
        As in `gather`.
    """
    if kind not in WRITERS:
        raise ValueError(f"format must be one of {', '.join(WRITERS)}; got {kind!r}")
    return list(WRITERS[kind](store, chosen_plan(store, plan), folder))
