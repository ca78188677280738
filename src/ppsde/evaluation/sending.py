"""Functions as bytes, to be sent to running workers; they are never written to disk."""

from __future__ import annotations

import io
import pickle
import platform
import sys
from collections.abc import Sequence
from functools import lru_cache, partial
from types import FunctionType, ModuleType
from typing import Any


def packed(thing: Any) -> bytes:
    """Return an object as bytes for `pickle.loads`; lambdas, closures and functions of a notebook are possible.

    ValueError if it cannot be pickled, or cloudpickle is not installed.
    """
    try:
        import cloudpickle
    except ImportError:
        raise ValueError(
            "evaluating in other processes needs cloudpickle: pip install cloudpickle threadpoolctl"
        ) from None

    class Packer(cloudpickle.Pickler):
        """Pickles functions and classes by value if the other process cannot import their module."""

        def reducer_override(self, thing: Any) -> Any:
            if isinstance(thing, FunctionType | type) and isinstance(thing.__module__, str):
                module = sys.modules.get(thing.__module__)
                if module is not None and module not in registered and not _importable(module):
                    cloudpickle.register_pickle_by_value(module)
                    registered.append(module)
            return super().reducer_override(thing)

    buffer = io.BytesIO()
    registered: list[ModuleType] = []
    try:
        Packer(buffer).dump(thing)
    except Exception as error:
        raise ValueError(
            f"the function cannot be sent to another process: {type(error).__name__}: {error}. It must open the files, "
            "locks and connections that it uses by itself; with workers=1 it need not be sent"
        ) from error
    finally:
        for module in registered:
            cloudpickle.unregister_pickle_by_value(module)
    return buffer.getvalue()


@lru_cache(maxsize=512)
def _importable(module: ModuleType) -> bool:
    """Return whether another process with the same `sys.path` would import this same module by its name."""
    name, _, rest = module.__name__.partition(".")
    if rest and name in sys.modules:
        return _importable(sys.modules[name])
    file = getattr(module, "__file__", None)
    folders = getattr(module, "__path__", None)  # a namespace package has no file; it may also be made by a program
    if name == "__main__" or (file is None and folders is None):  # cloudpickle handles it, or it is built in
        return True
    for finder in sys.meta_path:
        spec = finder.find_spec(name, None) if hasattr(finder, "find_spec") else None
        if spec is not None and file is None:
            return set(folders or ()) <= set(spec.submodule_search_locations or ())
        if spec is not None:
            return spec.origin in (file, "built-in", "frozen")
    return False


class Portable:
    """A callable that is pickled once, however often it is sent, and loaded once per process."""

    def __init__(self, thing: Any) -> None:
        self._thing = thing
        self._bytes: bytes | None = None

    def __call__(self, *arguments: Any) -> Any:
        return self._thing(*arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._bytes is None:
            self._bytes = packed(self._thing)
        return _unpacked, (self._bytes, tuple(sys.path), versions())


@lru_cache(maxsize=8)
def _unpacked(data: bytes, path: tuple[str, ...], sender: str) -> Any:
    if sender != versions():
        return partial(refuse_other, sender)  # when it is called: some executors break if an object cannot be loaded
    add_to_path(path)
    portable = Portable(pickle.loads(data))
    portable._bytes = data
    return portable


class OtherVersions(RuntimeError):
    """Raised instead of loading a function that another Python has sent, which may end the process."""


@lru_cache(maxsize=1)
def versions() -> str:
    """Return the versions that must be the same where functions are sent and where they are loaded."""
    from .. import __version__

    return f"Python {sys.version_info[0]}.{sys.version_info[1]} and ppsde {__version__}"


def refuse_other(sender: str, *arguments: Any) -> None:
    """Raise `OtherVersions` if the sender's versions are not those of this process."""
    if sender != versions():
        raise OtherVersions(f"the worker on {platform.node()} has {versions()}, this program has {sender}")


def add_to_path(path: Sequence[str]) -> None:
    """Add the folders of another process's `sys.path` to that of this one, so that its modules can be imported."""
    sys.path += [folder for folder in path if folder not in sys.path]
