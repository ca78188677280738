"""Settings as tests vary them: dicts of options, one for each alternative to the usual settings."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any


def named(options: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in options.items()) or "default"


def tried(alternatives: Iterable[dict[str, Any]]) -> set[str]:
    """The settings that some alternative changes."""
    return {name for options in alternatives for name in options}


def settings_of(algorithm: type) -> set[str]:
    return {field.name for field in dataclasses.fields(algorithm)}
