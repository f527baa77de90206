"""Taking out of a window title what names a person, an account or a place on their disk.

It goes by the form of a text, so it finds what looks like a secret and nothing else: a mail address, what identifies in
a URL, a long number, a token, a home folder. A name, or a password made of words, looks like any other word.

`redact` is idempotent: what it puts in is not found again, and it looks until it finds nothing any more.
"""

from __future__ import annotations

import re
from functools import lru_cache

from antidrift.domain.titles import clean
from antidrift.domain.visible import without_invisible

ADDRESS = "[address]"
NUMBER = "[number]"
TOKEN = "[token]"  # noqa: S105 - what is shown in the place of one
HOME = "~"

_HOME = re.compile(
    r"""(?<![\w~\]])(?:file://)?(?:(?:/var)?/home|/Users|[A-Za-z]:\\Users)[/\\]++[^\s/\\:;,"'()\[\]{}~]+"""
)
_ROOT = re.compile(r"(?<![\w~/\]])(?:file://)?/root(?![\w.-])")

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{1,20}+://)(\S+)")
_QUERY_OR_FRAGMENT = re.compile(r"[?#]")
_NOT_A_PORT = re.compile(r":(?!\d{1,5}$)")
# "page.php?id=3", "reset#key=3" without a scheme. A question mark at the end of a word is only that.
_QUERY = re.compile(r"(?<=\S)(?:\?(?=[\w%&])|#(?=\w++=))\S*+")

# Also "ada@laptop", as terminals have it: it names two things that nobody else needs to know. Possessive, and anchored
# at the beginning of a word, so that a title made to be slow is not.
_PART = r"""[^\s@＠﹫<>()\[\]{}"'`,;:|/\\?&=#]"""
_ADDRESS = re.compile(rf"(?<!{_PART}){_PART}++(?:[@＠﹫](?:{_PART}++|\[[^\]\s]*+\]))+")

_ASSIGNED = re.compile(r"(?i)(pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|auth|otp|pin)=\S++")

# ISO 13616: two letters, two check digits, up to thirty more, often in groups of four.
_IBAN = re.compile(r"(?i)(?<![\w-])[A-Z]{2}\d\d(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,4})?\b")
_IBAN_DIGITS = 8

_UUID = re.compile(r"(?i)\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b")
_FINGERPRINT = re.compile(r"(?i)\b(?:[0-9a-f]{2}[:-]){5,}[0-9a-f]{2}\b")
_LICENCE = re.compile(r"\b(?=[A-Z-]*\d)(?=[\d-]*[A-Z])[A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8}){3,}\b")
_RUN = re.compile(r"[A-Za-z0-9+/_=-]{16,}")
_LETTER_AND_DIGIT = re.compile(r"(?=[0-9]*[A-Za-z])(?=[A-Za-z]*[0-9])[A-Za-z0-9]{16,}")
# Random text has a turn at every other character, where words and numbers seldom have one; and as many capitals as
# small letters, where a name like VeryLongNameOfAClass has one in five.
_TURN = re.compile(r"(?<=[a-z])[A-Z]|(?<=[A-Za-z])[0-9]|(?<=[0-9])[A-Za-z]")
_MIXED_CHARS = 20
_MIXED_TURNS = 5
_MIXED_SHARE = 0.3

# Cards have 12 to 19 digits, accounts and telephones fewer. A date has eight, the number of a paper nine: "2007.14062".
_DIGITS = re.compile(r"\d(?:[ \-\u2010-\u2015/_·]?\d){8,}|\d(?:[ .\-\u2010-\u2015/_·]?\d){9,}")


_MOST_LOOKS = 8


@lru_cache(maxsize=64)  # the titles of a nudge are looked at again with each new one
def redact(title: str, home: str = "") -> str:
    """`title` on one visible line, without what identifies somebody. `home` is the person's home folder, if unusual."""
    text = clean(without_invisible(title)).replace("%40", "@")
    for _ in range(_MOST_LOOKS):
        found = _redacted_once(text, home)
        if found == text:
            break
        text = found  # what stood between two secrets may have made one with the rest
    return text


def _redacted_once(text: str, home: str) -> str:
    if len(home) > 1:
        text = re.sub(rf"(?:file://)?{re.escape(home)}(?![\w.-])", HOME, text)
    text = _ROOT.sub(HOME, _HOME.sub(HOME, text))
    text = _URL.sub(_plain_url, text)
    text = _QUERY.sub("", text)
    text = _ADDRESS.sub(ADDRESS, text)
    text = _ASSIGNED.sub(rf"\1={TOKEN}", text)
    for token in (_UUID, _FINGERPRINT, _LICENCE):
        text = token.sub(TOKEN, text)
    text = _IBAN.sub(_number, text)
    text = _RUN.sub(_token, text)
    return _DIGITS.sub(NUMBER, text)


def _plain_url(found: re.Match[str]) -> str:
    """The scheme, the host and the path."""
    scheme, rest = found.groups()
    host, slash, path = rest.partition("/")
    if "@" in host:
        host = host.rpartition("@")[2]
    elif "@" in path and _NOT_A_PORT.search(host):
        # A password with a slash in it: the host comes only after it.
        host, slash, path = rest.rpartition("@")[2].partition("/")
    if _NOT_A_PORT.search(_shortened(host)) and not host.startswith("["):
        host = ADDRESS  # what follows the colon is no port, so this is no host
    shown = _shortened(host + slash + path)
    return scheme + shown


def _shortened(text: str) -> str:
    return _QUERY_OR_FRAGMENT.split(text, 1)[0]


def _number(found: re.Match[str]) -> str:
    return NUMBER if sum(c.isdigit() for c in found[0]) >= _IBAN_DIGITS else found[0]


def _token(found: re.Match[str]) -> str:
    run = found[0]
    if _LETTER_AND_DIGIT.search(run):
        return TOKEN
    if len(run) < _MIXED_CHARS:
        return run
    turns = any(c.isdigit() for c in run) and len(_TURN.findall(run)) >= _MIXED_TURNS
    capitals, small = sum(c.isupper() for c in run), sum(c.islower() for c in run)
    return TOKEN if turns or min(capitals, small) >= _MIXED_SHARE * len(run) else run
