"""Where results come from: versions, machine and command. No part of the results themselves."""

from __future__ import annotations

import os
import platform
import socket
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

PACKAGES = ("numpy", "scipy", "jax", "jaxlib")


def provenance() -> dict[str, Any]:
    """What there is to say about this process, for the account of each of its jobs."""
    from .. import __version__

    versions = {"ppsde": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {
        "versions": versions,
        "host": socket.gethostname(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "pid": os.getpid(),
        "command": [os.fsdecode(part) for part in sys.argv],
    }
