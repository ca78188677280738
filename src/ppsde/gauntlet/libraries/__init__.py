"""The libraries that run the gauntlet, each used as its own documentation says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from ..task import Answer, Task
from . import cma_es, nevergrad_de, ours, pygmo_search, pymoo_de, scipy_de


@dataclass(frozen=True)
class Library:
    """A way to solve a task; `package` is what it needs to be installed."""

    title: str
    package: str
    solve: Callable[[Task, int], Answer]

    def version(self) -> str | None:
        if self.package == "ppsde":
            from ... import __version__

            return __version__
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None


LIBRARIES = {
    "ppsde": Library("ppsde", "ppsde", ours.solve),
    "scipy": Library("scipy DE", "scipy", scipy_de.solve),
    "pymoo": Library("pymoo DE", "pymoo", pymoo_de.solve),
    "nevergrad": Library("nevergrad DE", "nevergrad", nevergrad_de.solve),
    "pygmo": Library("pygmo", "pygmo", pygmo_search.solve),
    "cma": Library("cma", "cma", cma_es.solve),
}
