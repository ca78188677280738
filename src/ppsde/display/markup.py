"""HTML and SVG elements whose text and attributes are escaped by default, and JSON that may stand in a page."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence

VOID = ("input", "meta")  # elements of HTML that have no end tag
SHAPES = ("path", "rect")  # elements of SVG that are closed in their start tag when they are empty
_FORBIDDEN = re.compile("[^\\t\\n\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


class Markup(str):
    """A string that is markup already: `tag` does not escape it."""


def tag(name: str, /, *content: str, **attributes: object) -> Markup:
    """Return an element; its text and the values of its attributes are escaped unless they are `Markup`.

    An attribute is left out if it is None, and has no value if it is True. `class_` is written class, `data_a` data-a.

    Examples
    --------
    >>> tag("p", "1 < 2, ", tag("b", "really"), class_="note", title='"', hidden=True, id=None)
    '<p class="note" title="&quot;" hidden>1 &lt; 2, <b>really</b></p>'
    """
    start = name + "".join(_attribute(key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items())
    if name in VOID:
        return Markup(f"<{start}>")
    if name in SHAPES and not content:
        return Markup(f"<{start}/>")
    return Markup(f"<{start}>{joined(*content)}</{name}>")


def joined(*content: str) -> Markup:
    """Return the pieces one after another, each escaped unless it is `Markup`."""
    return Markup("".join(map(escape, content)))


def escape(text: str) -> Markup:
    """Return text as markup: special characters escaped, characters that XML does not allow replaced by "?"."""
    return text if isinstance(text, Markup) else Markup(html.escape(_FORBIDDEN.sub("?", text)))


def _attribute(name: str, value: object) -> str:
    if value is None:
        return ""
    return f" {name}" if value is True else f' {name}="{escape(value if isinstance(value, str) else str(value))}"'


def embedded(data: object) -> Markup:
    """Return data as JSON that may stand in a page: nothing in it can end an element or begin one."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def listed(items: Sequence[str]) -> Markup:
    """Return items as a list."""
    return tag("ul", *(tag("li", item) for item in items))


def own_table(rows: Sequence[Markup], heads: Sequence[Markup] = ()) -> Markup:
    """Return a table that stands at the left, for notebooks: its style is its own, since those around it differ."""
    head = (tag("thead", tag("tr", *heads)),) if heads else ()
    return tag("table", *head, tag("tbody", *rows), style="margin:.3em 0")


def own_cell(text: str, kind: str = "td", align: str = "left", colour: str = "inherit") -> Markup:
    """Return a cell of such a table, with room between it and its neighbours."""
    return tag(kind, text, style=f"text-align:{align};padding:.1em .6em;color:{colour}")
