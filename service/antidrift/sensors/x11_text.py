"""What the bytes of an X11 text property say. Pure; nothing here raises, whatever a window put there."""

from __future__ import annotations

import re

TITLE_LIMIT = 1_000
"""Longest title that is passed on, in characters."""

NAME_LIMIT = 128
"""Longest window class or program name that is passed on, in characters."""

_DELETED = b" (deleted)"

# C0, DEL and C1, and the two Unicode line breaks that are no control characters by category.
_TO_SPACES = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029], " ")

# Compound Text Encoding 1.1, "Standard Character Set Encodings": which set an escape sequence puts into the left
# half (bytes below 0x80) or the right half of the code table, as the codec that reads it.
_LEFT_SETS = {b"(B": "ascii", b"(J": "ascii", b"$(A": "gb2312", b"$(B": "euc_jp", b"$(C": "euc_kr"}
_RIGHT_SETS = {
    b"-A": "iso8859-1",
    b"-B": "iso8859-2",
    b"-C": "iso8859-3",
    b"-D": "iso8859-4",
    b"-F": "iso8859-7",
    b"-G": "iso8859-6",
    b"-H": "iso8859-8",
    b"-L": "iso8859-5",
    b"-M": "iso8859-9",
    b")I": "shift_jis",  # half-width katakana
    b"$)A": "gb2312",
    b"$)B": "euc_jp",
    b"$)C": "euc_kr",
}

_COMPOUND = re.compile(
    rb"""
      \x1b%G (?P<utf8> .*?) (?: \x1b%@ | \Z)
    | \x1b%/[0-~] (?P<length> [\x80-\xff]{2})    # a set of somebody's own: its length, then its name and text
    | \x1b (?P<escape> [\x20-\x2f]+ [0-~])
    | \x9b [0-9]* \]                             # the direction of writing
    | (?P<left> [^\x1b\x80-\xff]+)
    | (?P<right> [\x80-\x9a\x9c-\xff]+)
    | (?P<stray> .)
    """,
    re.VERBOSE | re.DOTALL,
)


def decode(encoding: str, data: bytes, limit: int) -> str:
    """The text of a property whose type is named `encoding`, up to the first NUL and at most `limit` characters.

    UTF8_STRING (EWMH), STRING (ICCCM: Latin-1) and COMPOUND_TEXT are read as what they are; any other type as
    UTF-8 if it is that, else as Latin-1. What cannot be decoded becomes U+FFFD, control characters become spaces.
    """
    data = data.split(b"\0", 1)[0]
    if encoding == "UTF8_STRING":
        text = data.decode("utf-8", "replace")
    elif encoding == "STRING":
        text = data.decode("latin-1")
    elif encoding == "COMPOUND_TEXT":
        text = _decode_compound(data)
    else:
        text = _decode_unknown(data)
    return text.translate(_TO_SPACES)[:limit]


def decode_class(encoding: str, data: bytes) -> str:
    """The class in a WM_CLASS property, "instance NUL class NUL" (ICCCM 4.1.2.5); without one, the instance."""
    instance, _, rest = data.partition(b"\0")
    return decode(encoding, rest, NAME_LIMIT) or decode(encoding, instance, NAME_LIMIT)


def program_name(executable: bytes) -> str:
    """The base name of what a /proc/PID/exe link points to, also when the file was replaced since it was started."""
    return decode("UTF8_STRING", executable.rpartition(b"/")[2].removesuffix(_DELETED), NAME_LIMIT)


def _decode_unknown(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _decode_compound(data: bytes) -> str:
    left, right = "ascii", "iso8859-1"
    text = ""
    position = 0
    while found := _COMPOUND.match(data, position):
        position = found.end()
        match found.lastgroup:
            case "utf8":
                text += found["utf8"].decode("utf-8", "replace")
            case "length":
                high, low = found["length"]
                position += (high - 0x80) * 128 + (low - 0x80)
                text += "\ufffd"
            case "escape":
                left = _LEFT_SETS.get(found["escape"], left)
                right = _RIGHT_SETS.get(found["escape"], right)
            case "left":
                # The codecs of the two-byte sets know them in the right half only.
                run = found["left"] if left == "ascii" else bytes(byte | 0x80 for byte in found["left"])
                text += run.decode(left, "replace")
            case "right":
                text += found["right"].decode(right, "replace")
            case "stray":
                text += "\ufffd"
    return text
