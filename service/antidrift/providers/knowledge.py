"""The profile: a private text about the person that grounds the coach.

Its text goes to whoever fetches it and nowhere else: not into a log, an exception, a `repr` or an attribute.
"""

from __future__ import annotations

import asyncio
import codecs
import re
from dataclasses import dataclass
from pathlib import Path

from antidrift.providers.files import read_start

MAX_PROFILE_BYTES = 16 * 1024

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class ProfileFile:
    """A text file, read anew at each fetch, so that an edit counts from the next planning on."""

    path: Path

    async def fetch(self) -> str:
        """The first 16 KiB, whole characters, without control characters but tab and newline; "" if it is blank.

        Bytes that are not UTF-8 become U+FFFD. Raises ProviderError (NOT_FOUND, UNREADABLE).
        """
        return await asyncio.to_thread(self._read)

    def _read(self) -> str:
        raw = read_start(self.path, MAX_PROFILE_BYTES)
        # Not told that this is the end, the decoder leaves out a character that the limit has cut in two.
        text = codecs.getincrementaldecoder("utf-8-sig")(errors="replace").decode(raw)
        return _CONTROL.sub("", text).strip()
