"""`antidrift completion`: scripts for shells, made from the parser, so that they know what it knows."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

from antidrift.cli.arguments import make_parser
from antidrift.cli.output import Output

INSTALL = {
    "bash": "antidrift completion bash > ~/.local/share/bash-completion/completions/antidrift",
    "zsh": "antidrift completion zsh > a folder of your $fpath, as the file _antidrift",
    "fish": "antidrift completion fish > ~/.config/fish/completions/antidrift.fish",
}


@dataclass(frozen=True, slots=True)
class Place:
    """One point on a command line: the words that lead there, and what may follow, each with its meaning."""

    path: tuple[str, ...]
    words: dict[str, str]
    options: dict[str, str]


def run(arguments: argparse.Namespace, out: Output) -> int:
    """Prints the script for one shell."""
    shell = arguments.shell
    places = list(places_of(make_parser()))
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](places)
    head = "#compdef antidrift\n" if shell == "zsh" else ""
    out.lines([f"{head}# Completions of antidrift for {shell}. To install them:\n#   {INSTALL[shell]}", script])
    return 0


def places_of(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[Place]:
    """Every place that `parser` knows, the outermost first."""
    words: dict[str, str] = {}
    options: dict[str, str] = {}
    below: list[Place] = []
    # argparse offers no public way to look at what was added.
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            words |= {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, sub in action.choices.items():
                below += places_of(sub, (*path, name))
        elif action.option_strings:
            options[action.option_strings[-1]] = action.help or ""
        elif action.choices:
            words |= {str(choice): action.help or "" for choice in action.choices}
    yield Place(path, words, options)
    yield from below


def _bash(places: list[Place]) -> str:
    cases = "\n".join(
        f'        "{" ".join(place.path)}"*) words="{" ".join((*place.words, *place.options))}" ;;'
        for place in reversed(places)  # the longest path first, as the first pattern that fits counts
    )
    return f"""\
_antidrift() {{
    local words word said=""
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        [[ $word == -* ]] || said="${{said:+$said }}$word"
    done
    case "$said" in
{cases}
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}")
}}
complete -F _antidrift antidrift"""


def _zsh(places: list[Place]) -> str:
    def entry(word: str, meaning: str) -> str:
        escaped = meaning.replace("'", "'\\''")
        return f"'{word}:{escaped}'"

    cases = "\n".join(
        f"        ('{' '.join(place.path)}'*) entries=("
        + " ".join(entry(*item) for item in (*place.words.items(), *place.options.items()))
        + ") ;;"
        for place in reversed(places)
    )
    return f"""\
_antidrift() {{
    local -a entries
    local said="${{(j: :)${{(@)words[2,CURRENT-1]}}:#-*}}"
    case "$said" in
{cases}
    esac
    _describe 'antidrift' entries
}}
if [[ $funcstack[1] == _antidrift ]]; then _antidrift "$@"; else compdef _antidrift antidrift; fi"""


def _fish(places: list[Place]) -> str:
    lines = ["complete -c antidrift -f"]
    for place in places:
        if place.path:
            condition = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in place.path)
        else:
            condition = "__fish_use_subcommand"
        if place.path and place.words:
            condition += f"; and not __fish_seen_subcommand_from {' '.join(place.words)}"
        for word, meaning in place.words.items():
            lines.append(f"complete -c antidrift -n {_fish_quoted(condition)} -a {word} -d {_fish_quoted(meaning)}")
        for option, meaning in place.options.items():
            flag = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            lines.append(f"complete -c antidrift -n {_fish_quoted(condition)} {flag} -d {_fish_quoted(meaning)}")
    return "\n".join(lines)


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
