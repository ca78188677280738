"""The page of the first hours counts the lines of its examples; `test_readme.py` runs them."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "hours.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| ([a-z]) \|[^|]*\|[^|]*\| (\d+) \|", re.M)
CODE = re.compile(r"^```python[^\n]*\n(.*?)^```\n", re.M | re.S)


def test_each_row_has_the_lines_of_its_example() -> None:
    sections = {part[0]: part for part in re.split(r"^### ", PAGE, flags=re.M)[1:]}
    rows = dict(ROW.findall(PAGE))
    assert set(sections) <= set(rows) and set(rows) - set(sections) == {"o", "p"}  # one command each
    for letter, section in sections.items():
        lines = [line for code in CODE.findall(section) for line in code.splitlines() if line.strip()]
        assert len(lines) == int(rows[letter]), letter
