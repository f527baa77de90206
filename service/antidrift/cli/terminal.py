"""What the place that is written to can show: columns, colours, characters."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TextIO


class Ink(StrEnum):
    """The few ways in which text stands out (ECMA-48, Select Graphic Rendition). Nothing is told by colour alone."""

    STRONG = "1"
    FAINT = "2"
    GOOD = "32"
    WARN = "33"
    BAD = "31"


@dataclass(frozen=True, slots=True)
class Terminal:
    """The columns there are, and whether there are colours, characters beyond ASCII, and a cursor to move."""

    width: int = 80
    colours: bool = False
    unicode: bool = True
    redraws: bool = False

    @classmethod
    def of(cls, stream: TextIO, environ: Mapping[str, str]) -> Terminal:
        """The terminal behind `stream`; NO_COLOR is respected (https://no-color.org), and so is TERM=dumb."""
        redraws = stream.isatty() and environ.get("TERM", "dumb") != "dumb"
        return cls(
            width=max(20, shutil.get_terminal_size().columns),
            colours=redraws and not environ.get("NO_COLOR"),
            unicode=(stream.encoding or "").lower().replace("-", "") == "utf8",
            redraws=redraws,
        )

    @property
    def ellipsis(self) -> str:
        """What stands for text that was cut off."""
        return "…" if self.unicode else "..."

    @property
    def dash(self) -> str:
        """What stands between two parts of a line."""
        return "–" if self.unicode else "-"

    def ink(self, text: str, ink: Ink) -> str:
        """`text`, standing out."""
        return f"\x1b[{ink}m{text}\x1b[0m" if self.colours and text else text
