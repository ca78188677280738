"""`ppsde completion`: what a shell needs to complete commands, options and names after Tab."""

from __future__ import annotations

import argparse
import re
from argparse import Namespace
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from .exit_status import FOUND
from .parsing import command, subcommands

SHELLS = ("bash", "zsh", "fish")
PLAIN = re.compile(r"[\w.:=+-]+")  # names that need no quotes; others, of someone else's suite, are not offered


def add(group: Any) -> None:
    """Add the command to the group."""
    parser = command(
        group,
        "completion",
        "completion for bash, zsh or fish",
        "Print a script that makes a shell complete commands, options, problems, methods,\n"
        "rules and suites. To have it in every shell:\n\n"
        "  bash   echo 'eval \"$(ppsde completion bash)\"' >> ~/.bashrc\n"
        "  zsh    echo 'eval \"$(ppsde completion zsh)\"' >> ~/.zshrc\n"
        "  fish   ppsde completion fish > ~/.config/fish/completions/ppsde.fish",
        "ppsde completion bash",
    )
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help="bash, zsh or fish")
    parser.set_defaults(run=completion)


def completion(arguments: Namespace) -> int:
    """Print the script."""
    print({"bash": _bash, "zsh": _zsh, "fish": _fish}[arguments.shell](words_of(arguments.top, names())))
    return FOUND


@dataclass
class Words:
    """The words that may follow a command."""

    commands: list[str]
    positional: list[str] = field(default_factory=list)
    options: dict[str, list[str]] = field(default_factory=dict)  # the values of each that are names
    flags: list[str] = field(default_factory=list)  # options without a value


def words_of(
    parser: argparse.ArgumentParser, named: dict[str, list[str]], path: tuple[str, ...] = ()
) -> dict[tuple[str, ...], Words]:
    """Return what may follow each command, by its words; `named` has the values of arguments that are names."""
    below = subcommands(parser)
    words = Words(list(below))
    for action in parser._actions:
        if action.help == argparse.SUPPRESS or isinstance(action, argparse._SubParsersAction):
            continue
        known = action.choices or named.get(" ".join([*path, action.dest]), named.get(action.dest, []))
        values = [str(value) for value in known if PLAIN.fullmatch(str(value))]
        long = [option for option in action.option_strings if option.startswith("--")]
        if not action.option_strings:
            words.positional += values
        elif action.nargs == 0:
            words.flags += long
        else:
            words.options |= dict.fromkeys(long, values)
    found = {path: words}
    for name, one in below.items():
        found |= words_of(one, named, (*path, name))
    return found


def names() -> dict[str, list[str]]:
    """Return the values of arguments that are names, by argument, or by command and argument."""
    from ..algorithms import ALGORITHMS
    from ..experiments.plan import DEVICES, ENGINES
    from ..parts.handling import RULES
    from ..suites import SUITES

    problems = {suite: list(made.names) for suite, made in SUITES.known()}
    return {
        "method": list(ALGORITHMS),
        "suite": list(SUITES),
        "problem": [f"{suite}:{name}" for suite, known in problems.items() for name in known],
        "reproduce problem": [*problems["cec2017"], *problems["cec2020rw"]],
        "reproduce method": ["all", *ALGORITHMS],
        "suites plot name": list(dict.fromkeys(name for known in problems.values() for name in known)),
        "option": [f"rule={name}" for name in RULES],
        "instance": ["official"],
        "engine": list(ENGINES),
        "device": list(DEVICES),
        "on_failure": ["penalise", "retry:1", "raise"],
        "format": ["cec", "ioh", "parquet"],
    }


def _offers(words: dict[tuple[str, ...], Words]) -> str:
    """Return the function of bash and zsh that prints what may follow the words that were typed."""
    values = [
        f"    {_quoted([*path, option])}) echo {_quoted(offered)}; return ;;"
        for path, each in words.items()
        for option, offered in each.options.items()
    ]
    plain = [
        f"    {_quoted(path)}) echo {_quoted([*each.commands, *each.positional, *each.options, *each.flags])} ;;"
        for path, each in words.items()
    ]
    return "\n".join(
        [
            "_ppsde_offers() {",
            '  local at="" word="ppsde"',
            '  for word in "$@"; do',
            f"    case {_quoted(['|' + '|'.join(map(' '.join, words)) + '|'])} in",
            '      *"|$at${at:+ }$word|"*) at="$at${at:+ }$word" ;;',
            "    esac",
            "  done",
            '  case "$at${at:+ }$word" in',
            *values,
            "  esac",
            '  case "$at" in',
            *plain,
            "  esac",
            "}",
        ]
    )


def _bash(words: dict[tuple[str, ...], Words]) -> str:
    """Return the script of bash, whose own words end at : and =, so that only the rest of a name is completed."""
    return f"""# bash completion of ppsde
{_offers(words)}
_ppsde() {{
  local typed line="${{COMP_LINE:0:COMP_POINT}}" current="" before
  read -ra typed <<< "$line"
  if [[ "$line" != *[[:space:]] ]]; then
    current="${{typed[${{#typed[@]}}-1]}}"
    unset "typed[${{#typed[@]}}-1]"
  fi
  before="${{current%"${{current##*[:=]}}"}}"
  COMPREPLY=($(compgen -W "$(_ppsde_offers "${{typed[@]:1}}")" -- "$current"))
  COMPREPLY=("${{COMPREPLY[@]#"$before"}}")
  if [[ ${{#COMPREPLY[@]}} == 0 && "$(compgen -f -- "${{current#"$before"}}")" == *.py ]]; then
    compopt -o nospace  # :NAME follows
  fi
}}
complete -o bashdefault -o default -F _ppsde ppsde"""


def _zsh(words: dict[tuple[str, ...], Words]) -> str:
    return f"""# zsh completion of ppsde
(( $+functions[compdef] )) || {{ autoload -U compinit && compinit }}
{_offers(words)}
_ppsde() {{
  local -a offered no_space
  offered=($(_ppsde_offers "${{(@Q)words[2,CURRENT-1]}}"))
  compadd -a offered && return
  compset -P "*="  # rule=FILE.py
  [[ "$(print -rl -- "${{(Q)PREFIX}}"*(N))" != *.py ]] || no_space=(-S "")  # :NAME follows
  _files "${{no_space[@]}}"
}}
compdef _ppsde ppsde"""


def _fish(words: dict[tuple[str, ...], Words]) -> str:
    lines = [
        "# fish completion of ppsde",
        "function __ppsde_at",
        "  set -l at",
        "  for word in (commandline -opc)[2..]",
        f"    contains -- (string join -- ' ' $at $word) {' '.join(_quoted(path) for path in words if path)}",
        "    and set -a at $word",
        "  end",
        '  test "$at" = "$argv"',
        "end",
        "function __ppsde_own  # :NAME follows a file: fish adds no space after a colon",
        "  set -l typed (commandline -ct)",
        "  set -l before (string replace -r '[^=]*$' '' -- \"$typed\")",
        "  for file in (string replace -r '.*=' '' -- \"$typed\")*",
        "    string match -q '*.py' -- $file; and echo $before$file:",
        "  end",
        "end",
    ]
    own = "(__ppsde_own)"
    for path, each in words.items():
        begin = f"complete -c ppsde -n '__ppsde_at {' '.join(path)}'"
        if each.commands:
            lines.append(f"{begin} -f -a {_quoted(each.commands)}")
        else:
            lines.append(f"{begin} -a {_quoted([*each.positional, own])}")
        for option, offered in each.options.items():
            lines.append(f"{begin} -l {option[2:]} -r -a {_quoted([*offered, own])}")
        lines += [f"{begin} -l {flag[2:]}" for flag in each.flags]
    return "\n".join(lines)


def _quoted(words: Iterable[str]) -> str:
    return "'" + " ".join(words) + "'"
