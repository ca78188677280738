"""The browser of these tests: the Chromium of the system, without what may keep it waiting."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

# A machine for tests has no graphics processor, and its network may not answer.
OPTIONS = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
OPTIONS += ["--disable-component-update", "--disable-sync"]


def launched() -> Iterator[Any]:
    """A running browser; the tests of a file are skipped where playwright or Chromium is missing."""
    sync_api = pytest.importorskip("playwright.sync_api")
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        pytest.skip("there is no Chromium")
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0  # Chromium has no sandbox for root
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=program, args=[*OPTIONS, *(["--no-sandbox"] if as_root else [])]
        )
        yield found
        found.close()
