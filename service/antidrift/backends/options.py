"""Which options an installed program knows, so that an argv holds none that it would refuse."""

from __future__ import annotations

import re
from collections.abc import Iterable

Option = tuple[str, ...]
"""An option with its values, for example ("--tools", "")."""

# An option stands at the beginning of a line of its own; text further in only talks about options.
_OPTION_LINE = re.compile(r"^ {1,8}(?:-\w, )?(?=--)(.+?)(?: {2,}|$)", re.MULTILINE)
_OPTION = re.compile(r"--[A-Za-z][A-Za-z0-9-]*")


def offered_by(help_text: str) -> frozenset[str]:
    """The long options that a `--help` lists, as commander (claude) and clap (codex) write it."""
    return frozenset(name for line in _OPTION_LINE.findall(help_text) for name in _OPTION.findall(line))


def only_offered(options: Iterable[Option], offered: frozenset[str]) -> list[str]:
    """The arguments of those options that are offered, in order; one that is not goes with its values."""
    return [argument for option in options if option[0] in offered for argument in option]
