"""`ppsde completion`: what a shell needs to complete commands, options and names after Tab."""

from __future__ import annotations

import argparse
from argparse import Namespace
from typing import Any

from .exit_status import FOUND
from .parsing import command, subcommands

SHELLS = ("bash", "zsh", "fish")


def add(group: Any) -> None:
    """Add the command to the group."""
    parser = command(
        group,
        "completion",
        "completion for bash, zsh or fish",
        "Print a script that makes a shell complete commands, options, methods, rules and\n"
        "suites. To have it in every shell:\n\n"
        "  bash   echo 'eval \"$(ppsde completion bash)\"' >> ~/.bashrc\n"
        "  zsh    echo 'eval \"$(ppsde completion zsh)\"' >> ~/.zshrc\n"
        "  fish   ppsde completion fish > ~/.config/fish/completions/ppsde.fish",
        "ppsde completion bash",
    )
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help="bash, zsh or fish")
    parser.set_defaults(run=completion)


def completion(arguments: Namespace) -> int:
    """Print the script."""
    print({"bash": _bash, "zsh": _zsh, "fish": _fish}[arguments.shell](words_of(arguments.top)))
    return FOUND


def words_of(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], list[str]]:
    """Return what may follow each command, by its words: its options, and the commands below it."""
    options = [
        option
        for action in parser._actions
        if action.help != argparse.SUPPRESS
        for option in action.option_strings
        if option.startswith("--")
    ]
    below = subcommands(parser)
    found = {path: [*below, *options]}
    for name, one in below.items():
        found |= words_of(one, (*path, name))
    return found


def values_of() -> dict[str, list[str]]:
    """Return the values of options that are names, by option."""
    from ..algorithms import ALGORITHMS
    from ..experiments.plan import DEVICES, ENGINES
    from ..parts.handling import RULES
    from ..suites import SUITES

    return {
        "--method": list(ALGORITHMS),
        "--suite": list(SUITES),
        "--option": [f"rule={name}" for name in RULES],
        "--engine": list(ENGINES),
        "--device": list(DEVICES),
        "--on-failure": ["penalise", "retry:1", "raise"],
        "--format": ["cec", "ioh", "parquet"],
        "--report": ["best", "original"],
    }


def _bash(words: dict[tuple[str, ...], list[str]]) -> str:
    values = "\n".join(f"    {option}) words={_quoted(names)} ;;" for option, names in values_of().items())
    commands = "\n".join(
        f"      {_quoted([' '.join(path)])}) words={_quoted(found)} ;;" for path, found in words.items()
    )
    return f"""# bash completion of ppsde
_ppsde() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" at="" words="" word
  case "$previous" in
{values}
  esac
  if [ -z "$words" ]; then
    for word in "${{COMP_WORDS[@]:1:$((COMP_CWORD - 1))}}"; do
      case "{_commands(words)}" in *"|$at${{at:+ }}$word|"*) at="$at${{at:+ }}$word" ;; esac
    done
    case "$at" in
{commands}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current") $(compgen -f -- "$current"))
}}
complete -o filenames -F _ppsde ppsde"""


def _commands(words: dict[tuple[str, ...], list[str]]) -> str:
    return "|" + "|".join(" ".join(path) for path in words if path) + "|"


def _quoted(words: list[str]) -> str:
    return "'" + " ".join(words) + "'"


def _zsh(words: dict[tuple[str, ...], list[str]]) -> str:
    return f"""(( $+functions[compdef] )) || {{ autoload -U compinit && compinit }}
autoload -U +X bashcompinit && bashcompinit
{_bash(words)}"""


def _fish(words: dict[tuple[str, ...], list[str]]) -> str:
    lines, values = ["# fish completion of ppsde"], values_of()
    for path, found in words.items():
        below = [name for name in found if not name.startswith("--")]
        seen = [f"__fish_seen_subcommand_from {name}" for name in path]
        not_yet = [f"not __fish_seen_subcommand_from {' '.join(below)}"] if below else []
        where = "; and ".join([*seen, *not_yet]) or "true"
        for name in found:
            what = f"-l {name[2:]}" if name.startswith("--") else f"-f -a {name}"
            names = values.get(name)
            with_names = f" -x -a '{' '.join(names)}'" if names else ""
            lines.append(f"complete -c ppsde -n '{where}' {what}{with_names}")
    return "\n".join(lines)
