"""Write settings.md, the page of all settings, from the algorithms themselves: `python docs/settings.py`."""

from __future__ import annotations

from pathlib import Path

from ppsde.algorithms import ALGORITHMS, settings_of

HEAD = """# Settings

Every setting of every method with its default, as `ppsde list algorithms --verbose` shows them.
`minimize(..., options={...})` and `ppsde solve --option name=value` change them. This page is written by
`python docs/settings.py`.
"""


def page() -> str:
    """The page; of a second preset of an algorithm, only the settings that differ."""
    lines, first = [HEAD], {}
    for name, algorithm in ALGORITHMS.items():
        like = first.setdefault(type(algorithm), name)
        settings = settings_of(algorithm)
        if like != name:
            settings = [s for s in settings if s.default != getattr(ALGORITHMS[like], s.name)]
        title = f"## {name}\n" + (f"\nLike {like}, but for:\n" if like != name else "")
        lines += [title, "| setting | default | meaning |", "|---|---|---|"]
        for s in settings:
            lines.append(f"| `{s.name}` ({s.type.replace('|', 'or')}) | {s.default!r} | {s.meaning} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    Path(__file__).with_name("settings.md").write_text(page(), encoding="utf-8")
