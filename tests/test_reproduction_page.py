"""The page on the reproduction names a test for each thing that an audit found wrong; all of them exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_trust_page import names_in

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\d+) \| .* \| (.*) \| (yes|\(a\)|\(b\)) \|$", TEXT, re.M)


def test_the_rows_are_numbered() -> None:
    assert [int(number) for number, _, _ in ROWS] == list(range(1, 19))


@pytest.mark.parametrize("named", [named for _, named, _ in ROWS])
def test_what_was_found_wrong_has_tests_that_exist(named: str) -> None:
    found = re.findall(r"`([\w/.]+)::(\w+)`", named)
    assert found
    for file, test in found:
        assert test in names_in(ROOT / "tests" / file), (file, test)
