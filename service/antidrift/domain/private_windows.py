"""Private browsing windows: known by their title, and from then on without one.

The way in: a title that is dropped here is on no bus, in no file and in no prompt, because nothing behind this ever
sees it.
"""

from __future__ import annotations

import re
from dataclasses import replace

from antidrift.domain import limits
from antidrift.domain.model import Source, Window
from antidrift.domain.session import Session
from antidrift.domain.titles import clean
from antidrift.domain.visible import without_invisible

PRIVATE_TITLE = "(private)"

# What browsers of the Firefox family call it in the last part of a window's title, case-folded, by language.
_NAMES = (
    "private browsing",  # en
    "privater modus",  # de
    "navigation privée",  # fr
    "navegación privada",  # es, gl
    "navegació privada",  # ca
    "navigazione anonima",  # it
    "navegação privada",  # pt-PT
    "navegação privativa",  # pt-BR
    "privénavigatie",  # nl
    "tryb prywatny",  # pl
    "privat surfning",  # sv
    "privat browsing",  # da
    "privat nettlesing",  # nb, nn
    "yksityinen selaus",  # fi
    "anonymní prohlížení",  # cs
    "privát böngészés",  # hu
    "gizli gezinti",  # tr
    "приватный просмотр",  # ru
    "приватный режим",  # ru, Waterfox
    "приватний перегляд",  # uk
    "приватно прегледање",  # sr
    "duyệt web riêng tư",  # vi
    "プライベートブラウジング",  # ja
    "プライベート ブラウジング",  # ja, earlier
)
# Of the Chromium family only some say so, and in English: "… - Brave (Private)", "… - [InPrivate] - Microsoft Edge".
_MARKS = ("(incognito)", "(inprivate)", "[inprivate]", "(private)")
_BROWSERS = re.compile(
    "firefox|nightly|librewolf|waterfox|floorp|zen browser|mullvad|tor browser"
    "|chrome|chromium|brave|vivaldi|opera|edge"
)
_SEPARATOR = re.compile(r"\s[-–—ـ]+\s")
_IN_PRIVATE = re.compile(r"\s-\s\[inprivate\]\s-\s(?:.{0,60}\s-\s)?microsoft edge$")


def says_private(title: str) -> bool:
    """Whether a title is that of a private browsing window.

    A page cannot say so of itself: in any other window its browser's own words come last.
    """
    text = clean(without_invisible(title)).casefold()
    *before, last = _SEPARATOR.split(text)
    name = last.strip("()")
    if name in _NAMES:
        return last != name or bool(before)  # "(Private Browsing)", or "Mozilla Firefox — tryb prywatny"
    said = (*_NAMES, *_MARKS)
    named = last.endswith((*said, *(f"{each})" for each in _NAMES))) or last.startswith(said)
    return (named and _BROWSERS.search(last) is not None) or _IN_PRIVATE.search(text) is not None


def admit(session: Session, source: Source, window: Window) -> tuple[Session, Window]:
    """The window as it may be known. One that was private once is private for as long as its id is remembered."""
    known = (source, window.window_id)
    remembered = known in session.private_windows
    if not remembered and not says_private(window.title):
        return session, window
    if window.window_id and session.private_windows[-1:] != (known,):
        others = tuple(each for each in session.private_windows if each != known)
        session = replace(session, private_windows=(*others, known)[-limits.PRIVATE_WINDOWS :])
    return session, replace(window, title=PRIVATE_TITLE, private=True)
