"""The page on trust names a test for each of the attacks that something did not survive; all of them exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
ATTACKS = 32


def names_in(path: Path) -> set[str]:
    """Return the names of the tests in a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def test_every_attack_in_the_table_has_tests_that_exist() -> None:
    text = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| .* \| .* \| (.*) \| (.*) \|$", text, re.M)
    assert [int(number) for number, _, _ in rows] == list(range(1, ATTACKS + 1))
    for number, named, _ in rows:
        found = re.findall(r"`([\w/.]+)::(\w+)`", named)
        assert found, number
        for file, test in found:
            assert test in names_in(ROOT / "tests" / file), (number, file, test)
