"""Pages of source files: links of the documents to files of the repository lead to highlighted pages of the site."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "examples" / "gallery"
# Files that are pages of the site, by other names.
PAGES = {
    "CHANGELOG.md": "changelog",
    "/README": "index",
    "examples/notebook": "notebook",
    "GALLERY_HEADER": "gallery/index",
}
LANGUAGES = {".py": "python", ".toml": "toml", ".md": "markdown", ".ipynb": "json", "": "text"}


def page_of(file: Path) -> str:
    """Return the name of the page that shows a file, or all files of a folder."""
    return f"source/{file.relative_to(ROOT).as_posix()}"


def link_sources(app: Sphinx, doctree: nodes.document) -> None:
    """Replace references to files of the repository by links to their pages."""
    docname = app.env.docname
    up = "../" * docname.count("/")
    for node in list(doctree.findall(addnodes.pending_xref)):
        for end, page in PAGES.items():
            if node["reftarget"].endswith(end):
                node.replace_self(nodes.reference("", "", *node.children, refuri=f"{up}{page}.html", internal=True))
    for node in list(doctree.findall(addnodes.download_reference)):
        here = Path(app.srcdir, docname).parent
        file = (here / node["reftarget"].split("#")[0].lstrip("/")).resolve()
        if not file.exists():  # relative to the folder of the documents
            file = Path(app.srcdir, node["reftarget"].lstrip("/")).resolve()
        if file.is_relative_to(ROOT) and not file.is_relative_to(app.srcdir):
            example = file.is_relative_to(GALLERY)  # it has a page in the gallery
            page = f"gallery/{file.relative_to(GALLERY).with_suffix('').as_posix()}" if example else page_of(file)
            node.replace_self(nodes.reference("", "", *node.children, refuri=f"{up}{page}.html", internal=True))
            if example:
                continue
            app.env.source_files.setdefault(docname, set()).add(str(file))  # type: ignore[attr-defined]


def forget(app: Sphinx, env: Any, docname: str) -> None:
    env.source_files.pop(docname, None)


def begin(app: Sphinx, env: Any, docnames: list[str]) -> None:
    if not hasattr(env, "source_files"):
        env.source_files = {}


def pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield a page for every file that a document links to."""
    files = {Path(file) for linked in app.env.source_files.values() for file in linked}  # type: ignore[attr-defined]
    for file in sorted(files):
        title = file.relative_to(ROOT).as_posix()
        if file.is_dir():
            names = sorted(one.name for one in file.iterdir() if one.is_file())
            body = "<ul>" + "".join(f"<li>{name}</li>" for name in names) + "</ul>"
        else:
            text = file.read_text(encoding="utf-8")
            body = app.builder.highlighter.highlight_block(text, LANGUAGES.get(file.suffix, "text"))  # type: ignore[attr-defined]
        yield page_of(file), {"title": title, "body": f"<h1>{title}</h1>\n{body}"}, "page.html"


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("env-before-read-docs", begin)
    app.connect("env-purge-doc", lambda app, env, docname: hasattr(env, "source_files") and forget(app, env, docname))
    app.connect("doctree-read", link_sources, priority=100)
    app.connect("html-collect-pages", pages)
    return {"parallel_read_safe": False, "env_version": 1}
