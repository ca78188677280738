"""Check the links of the built site: `python docs/_site/check_links.py FOLDER`.

Every link, picture, style and script must be a file of the site, every part of a page that is linked to must exist, and
nothing but a link may lead to another host.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, its names, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.names: set[str] = {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value is not None}
        self.names |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in ("img", "script", "iframe", "source", "video") and "src" in given:
            self.loads.append(given["src"])
        elif tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.loads.append(given.get("href", ""))


def complaints(folder: Path) -> list[str]:
    """Return a line for each link that leads nowhere."""
    folder = folder.resolve()
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    found = []
    for path, page in pages.items():
        if "_static" in path.parts:
            continue
        where = path.relative_to(folder)
        for link in page.links + page.loads:
            parts = urlsplit(link)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                if link in page.loads:
                    found.append(f"{where} loads {link}")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                found.append(f"{where} links to {link}, which is not there")
            elif target in pages and unquote(parts.fragment) not in pages[target].names:
                found.append(f"{where} links to {link}, which has no such part")
    return found


if __name__ == "__main__":
    wrong = complaints(Path(sys.argv[1]))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    sys.exit(bool(wrong))
