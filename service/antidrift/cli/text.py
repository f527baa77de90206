"""Text for a terminal: made harmless, measured in cells, cut and wrapped; and durations in words.

Titles, answers of an AI and tasks come from outside. What is printed of them holds no control character, so no escape
sequence, and nothing that changes the direction of our own text beside it.
"""

from __future__ import annotations

import math
import re
import unicodedata

_ISOLATE, _END_ISOLATE = "\u2068", "\u2069"
_JOINERS = "\u200c\u200d"  # half of the world's scripts, and emoji, are spelled with them
_EMOJI_STYLE = "\ufe0f"
_COMMAND_OR_WORD = re.compile(r"[^\s`]*`[^`]+`\S*|\S+")


def clean(text: str) -> str:
    """One line that a terminal shows as it is: control and format characters become spaces, or go.

    Text with letters that run from right to left is put into an isolate of its own (Unicode Standard Annex 9).
    """
    kept = "".join(map(_shown, text))
    line = " ".join(kept.split())
    if any(unicodedata.bidirectional(char) in ("R", "AL", "AN") for char in line):
        return f"{_ISOLATE}{line}{_END_ISOLATE}"
    return line


def _shown(char: str) -> str:
    if char in _JOINERS:
        return char
    match unicodedata.category(char):
        case "Cc" | "Zl" | "Zp" | "Zs":
            return " "
        case "Cf":  # the controls of direction among them
            return ""
        case "Cs":
            return "\ufffd"
        case _:
            return char


def cells(text: str) -> int:
    """How many columns `text` takes, rather one too many than one too few (Unicode Standard Annex 11)."""
    return sum(map(_cell, text))


def _cell(char: str) -> int:
    if char == _EMOJI_STYLE:
        return 1  # it makes some narrow symbols wide
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def ellipsised(text: str, width: int, ellipsis: str = "…") -> str:
    """`text`, cut where it is wider than `width` columns. What was isolated stays so."""
    if cells(text) <= width:
        return text
    room = width - cells(ellipsis)
    head, _ = _split(text, room)
    end = _END_ISOLATE * (head.count(_ISOLATE) - head.count(_END_ISOLATE))
    return head.rstrip() + end + ellipsis if room > 0 else ellipsis[: max(width, 0)]


def padded(text: str, width: int) -> str:
    """`text` with spaces behind it up to `width` columns."""
    return text + " " * (width - cells(text))


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """`text` in lines of at most `width` columns; all but the first begin with `indent`.

    What stands in `backticks` is a command that will be copied: it stays on one line where it fits on one.
    """
    lines: list[str] = []
    line = text[: len(text) - len(text.lstrip(" "))]
    for word in _words(text, width - cells(indent)):
        joined = f"{line} {word}" if line.strip() else line + word
        if cells(joined) <= width:
            line = joined
            continue
        if line.strip():
            lines.append(line)
            line = indent
        rest = word
        while cells(line) + cells(rest) > width:
            # Longer than a line: an address, or a script that does not part its words with spaces.
            head, rest = _split(rest, max(width - cells(line), 2))
            lines.append(line + head)
            line = indent
        line += rest
    return [*lines, line] if line.strip() or not lines else lines


def _words(text: str, width: int) -> list[str]:
    found: list[str] = []
    for word in _COMMAND_OR_WORD.findall(text):
        found += [word] if cells(word) <= width else word.split()
    return found


def _split(text: str, width: int) -> tuple[str, str]:
    """The beginning of `text` that takes at most `width` columns, and the rest."""
    taken = 0
    for index, char in enumerate(text):
        taken += _cell(char)
        if taken > width:
            return text[:index], text[index:]
    return text, ""


def duration(secs: float) -> str:
    """A duration to the minute, below one to the second: "45 s", "12 min", "1 h 20 min"."""
    if secs < 60:
        return f"{math.floor(secs)} s"
    hours, minutes = divmod(round(secs / 60), 60)
    if not hours:
        return f"{minutes} min"
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def time_left(secs: float, of: float) -> str:
    """A countdown in words, never too little: "18 min left of 25", in the last minute "45 s left of 25 min"."""
    whole = duration(of)
    if secs <= 60:
        return f"{math.ceil(secs)} s left of {whole}"
    left = duration(math.ceil(secs / 60) * 60)
    same_unit = "h" not in left and whole.endswith(" min") and "h" not in whole
    return f"{left} left of {whole.removesuffix(' min') if same_unit else whole}"


def clock(secs: float) -> str:
    """A countdown that runs: "17:42", "1:05:00"."""
    minutes, seconds = divmod(math.ceil(secs), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
