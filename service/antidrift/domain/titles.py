"""Reading window titles: which page, which site, and what in them is only a counter or a spinner."""

from __future__ import annotations

import re
from functools import lru_cache

# One title is read several times in one step, and then seldom again.
_recently = lru_cache(maxsize=32)

_BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")

# All below look at clean text, in which every blank is one space.

# "(3) Inbox", "[12] chat", "● file", "⠋ building": what changes while the page stays the same.
_LEADING = re.compile(r"^(?:[(\[]\d+\+?[)\]]|[^\w ]{1,3}) ")
_INBOX = re.compile(r"^(\S+) \(\d+\)(?= [-–—|] |$)")
_TRAILING = re.compile(r" [\u2800-\u28ff|/\\*]$")
_PROGRESS = re.compile(r"\b\d+(?:[.,]\d+)? ?%")
_CLOCK = re.compile(r"\b\d+:\d\d(?::\d\d)?\b")

# What browsers append to the title of a page; they may add an edition or the name of a profile after their own. The
# page comes first and takes all it can: it may be about the opera.
_BROWSER = re.compile(
    r"(.*) [-–—] (?:Mozilla Firefox|Firefox|Google Chrome|Chromium|Brave|Microsoft\u200b? Edge|Vivaldi|Opera|LibreWolf"
    r"|Tor Browser|Zen Browser|Waterfox|Floorp|Falkon|qutebrowser)(?: .{0,60})?"
)
_SEGMENTS = re.compile(r" (?:[-–—|·•:>/]|::) ")
# Last words of a title that name a page of any site rather than a site.
_NO_SITE = frozenset(
    "dashboard|feed|home|homepage|inbox|index|jobs|log in|login|messages|new tab|news|notifications|overview|profile|"
    "search|search results|settings|shop|sign in|sports|start|store|untitled|video|videos|watch|welcome".split("|")
)


def clean(text: str) -> str:
    """`text` on one line: control characters and runs of white space become one space, the ends are trimmed."""
    return _BLANK.sub(" ", text).strip()


@_recently
def fold(title: str) -> str:
    """`title` without counters, spinners, percentages and clock times, so that a title that ticks stays one title."""
    text = clean(title)
    while True:
        shorter = _LEADING.sub("", text)
        if shorter == text:
            break
        text = shorter
    text = _TRAILING.sub("", text)
    text = _INBOX.sub(r"\1", text)
    return _CLOCK.sub("0:00", _PROGRESS.sub("0%", text))


@_recently
def page_title(title: str) -> str:
    """The title of the page in a browser window: folded, and without the name of the browser."""
    text = clean(title)
    found = _BROWSER.fullmatch(text)
    return fold(text if found is None else found[1])


@_recently
def site_of(title: str) -> str:
    """The site that a browser's title names last ("… - YouTube — Mozilla Firefox"), or "" where it names none.

    Titles are all that there is to go by: a title of one part, or one that ends in a word like "Home", names no site.
    """
    parts = _SEGMENTS.split(page_title(title))
    if len(parts) < 2 or parts[-1].casefold() in _NO_SITE:
        return ""
    return parts[-1]
