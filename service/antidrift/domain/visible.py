"""Characters that are there and do not show. With them a text reads to a program as it does not to a person."""

from __future__ import annotations

import re
import unicodedata

# Default_Ignorable_Code_Point (Unicode, DerivedCoreProperties.txt) of other categories than Cf: letters that show as
# nothing, variation selectors, which can carry hidden text, and what is reserved for more of the kind. The two that
# choose how an emoji looks may stay.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\uffa0\ufe00-\ufe0d\ufff0-\ufff8\U000e0000-\U000e0fff]"
)

# Cf: zero-width, bidirectional and tag characters. Cs: lone surrogates, which UTF-8 cannot carry.
_REMOVED_CATEGORIES = frozenset({"Cf", "Cs"})


def without_invisible(text: str) -> str:
    """`text` without what does not show. Control characters stay: they often stand for a space."""
    if text.isascii():
        return text
    return "".join(c for c in _INVISIBLE.sub("", text) if unicodedata.category(c) not in _REMOVED_CATEGORIES)
