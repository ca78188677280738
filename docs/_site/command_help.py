"""The directive `command-help`: the help of every command, as the program prints it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from ppsde.cli import parser


def commands(of: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield a parser and those of its commands."""
    yield of
    for action in of._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in dict.fromkeys(action.choices.values()):
                yield from commands(inner)


class CommandHelp(SphinxDirective):
    """A section for each command."""

    def run(self) -> list[nodes.Node]:
        made: list[nodes.Node] = []
        for one in commands(parser()):
            section = nodes.section(ids=[one.prog.replace(" ", "-")], names=[one.prog])
            section += nodes.title("", "", nodes.literal("", one.prog))
            text = one.format_help()
            section += nodes.literal_block(text, text, language="text")
            made.append(section)
        return made


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True}
