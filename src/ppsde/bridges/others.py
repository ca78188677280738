"""Modules of other libraries, imported where they are needed."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def needed(module: str, by: str) -> ModuleType:
    """The module, or an ImportError that says who needs it and how to get it."""
    library = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != library:
            raise
        raise ImportError(f"{by} needs {library}; install it with: pip install {library}") from None
