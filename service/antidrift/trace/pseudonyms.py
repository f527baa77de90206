"""Hiding what titles and people say, so that a session still takes the same course.

Everything that the service makes of a title goes by the form of it and by whether two texts are equal: which page it
is, which site, what in it is only a counter, what looks like a secret (`titles`, `matching`, `redaction`). So a word
becomes a pseudonym of the same form: a letter another letter, a capital a capital, a digit another digit, while
punctuation stays. Equal words get equal pseudonyms and different words different ones, within one trace.

What shows all the same: how many words a title has, how long they are, the punctuation between them, and the words of
the list below, which the service goes by.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import secrets
import unicodedata
from collections.abc import Iterator

from antidrift.domain import limits
from antidrift.domain.session import Policy
from antidrift.domain.titles import clean

# Whole words that stay: names of browsers, last words that name no site, what redaction knows a home folder by, and
# what it or folding puts in the place of something.
_KEPT = frozenset(
    "mozilla firefox developer edition nightly google chrome chromium brave microsoft edge microsoftedge vivaldi opera "
    "librewolf tor browser zen waterfox floorp falkon qutebrowser "
    "dashboard feed home homepage inbox index jobs log in login messages new tab news notifications overview profile "
    "search results settings shop sign sports start store untitled video videos watch welcome "
    "users root var file address number token 0 00".split()
)
# "password=…" is known by these, at the end of any word.
_ASSIGNED = r"(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|auth|otp|pin)(?==\S)"

_DIGITS = "0123456789"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_HEXADECIMAL = "abcdef"
_OTHER_DIGITS = "".join(map(chr, range(0x660, 0x66A)))  # Arabic-Indic
_OTHER_CASED = "".join(map(chr, range(0x430, 0x450)))  # Cyrillic
_CASELESS = "".join(map(chr, range(0x4E00, 0x9FA6)))  # ideographs
_MARKS = "".join(map(chr, range(0x300, 0x315)))
_SYMBOLS = "".join(map(chr, range(0x1F300, 0x1F3FB)))
_BRAILLE = range(0x2800, 0x2900)  # spinners
_VARIATION_SELECTORS = range(0xFE00, 0xFE10)

_MOST_TRIES = 1000  # there are ten words of one digit, and the tenth has to find the one that is left


class Pseudonyms:
    """The pseudonyms of one trace. The salt is random and kept nowhere, so nobody can try out words.

    `policy` is whose local rules must find the same windows: where a title contains what is always allowed, its words
    are also divided there. Not thread-safe.
    """

    def __init__(self, policy: Policy, salt: bytes | None = None) -> None:
        self._salt = secrets.token_bytes(32) if salt is None else salt
        self._stems: dict[str, str] = {}
        self._words: dict[str, str] = {}
        self._taken_stems: set[str] = set()
        self._taken: set[str] = set()
        self._window_ids: dict[str, str] = {"": ""}
        self._phrases: set[str] = set()
        always = policy.always_allowed
        self._labels = {label for label in map(_main_label, always.domains) if label}
        phrases = {phrase for title in always.titles if (phrase := title.strip())}
        self._divided = re.compile(
            "|".join(
                (
                    # The longest first: of two that begin together it is the one that was meant.
                    *map(re.escape, sorted(phrases, key=lambda phrase: (-len(phrase), phrase))),
                    *map(_spaced, sorted(self._labels)),
                    _ASSIGNED,
                )
            ),
            re.IGNORECASE,
        )
        alone = {self.text(phrase).casefold() for phrase in sorted(phrases)}
        # No other word may contain by chance what stands for one that is allowed.
        self._phrases = {phrase for phrase in alone if all(map(_kind, phrase))}

    def text(self, text: str) -> str:
        """A title, or part of one: the same form in other words."""
        parts: list[str] = []
        end = 0
        for found in self._divided.finditer(text):
            parts += (self._plain(text[end : found.start()]), self._divided_off(found[0]))
            end = found.end()
        return "".join((*parts, self._plain(text[end:])))

    def sentence(self, text: str) -> str:
        """What a person typed or an AI said, of which only matters whether it is blank or too long: one word."""
        if not clean(text):
            return ""
        word = "".join(self._letters(f"sentence {text}", [_LETTERS] * 8))
        return word if len(text) <= limits.FIELD_CHARS else word.ljust(limits.FIELD_CHARS + 1, "x")

    def window_id(self, text: str) -> str:
        """A number for each window, in the order in which they are met."""
        return self._window_ids.setdefault(text, str(len(self._window_ids)))

    def _divided_off(self, text: str) -> str:
        bare = re.sub(r"[\s_-]", "", text).casefold()
        if bare in self._labels:
            # A site spells its name as it likes: "Stack Overflow" is stackoverflow.com.
            letters = iter(self._word(bare))
            return "".join(_cased(next(letters), c) if _kind(c) else c for c in text)
        if re.fullmatch(_ASSIGNED[: -len(r"(?==\S)")], text, re.IGNORECASE):
            return text
        return self._plain(text)

    def _plain(self, text: str) -> str:
        words = itertools.groupby(text, key=lambda c: bool(_kind(c)))
        return "".join(self._word("".join(word)) if hidden else "".join(word) for hidden, word in words)

    def _word(self, word: str) -> str:
        known = self._words.get(word)
        if known is None:
            known = self._words[word] = self._new(word)
        return known

    def _new(self, word: str) -> str:
        stem = word.casefold()
        if stem in _KEPT:
            return word
        # Words that differ in case alone stay so.
        new = _like(self._stem(f"{len(word)} {stem}", word.lower()), word)
        if new in self._taken:
            new = _like(self._stem(f"exact {word}", word.lower()), word)
        self._taken.add(new)
        return new

    def _stem(self, name: str, lower: str) -> str:
        known = self._stems.get(name)
        if known is not None and len(known) == len(lower):
            return known
        hexadecimal = _is_hexadecimal(lower)
        pools = [_pool(c, hexadecimal) for c in lower]
        for again in range(_MOST_TRIES):
            candidate = "".join(self._letters(f"{again} {name}", pools))
            if lower.startswith("40"):
                candidate = f"40{candidate[2:]}"  # "%40" is an "@" in a URL
            if self._fits(candidate, lower, hexadecimal):
                break
        self._taken_stems.add(candidate)
        self._stems[name] = candidate
        return candidate

    def _fits(self, candidate: str, lower: str, hexadecimal: bool) -> bool:
        return (
            candidate not in self._taken_stems
            and candidate not in _KEPT
            and _is_hexadecimal(candidate) == hexadecimal
            and candidate.startswith("40") == lower.startswith("40")
            and not any(phrase in candidate for phrase in self._phrases)
        )

    def _letters(self, name: str, pools: list[str]) -> Iterator[str]:
        digest = hashlib.shake_256(self._salt + name.encode(errors="surrogatepass")).digest(2 * len(pools))
        for pool, high, low in zip(pools, digest[::2], digest[1::2], strict=True):
            yield pool[(high << 8 | low) % len(pool)]


def _kind(c: str) -> str:
    """Which characters may stand for this one, "" for one that stays."""
    return _pool(c, hexadecimal=False)


def _pool(c: str, hexadecimal: bool) -> str:
    if c.isascii():
        if c.isdigit():
            return _DIGITS
        return (_HEXADECIMAL if hexadecimal else _LETTERS) if c.isalpha() else ""
    if c.isdecimal():
        return _OTHER_DIGITS
    if c.isalnum():
        return _OTHER_CASED if c.isupper() or c.islower() else _CASELESS
    match unicodedata.category(c):
        case "Mn" | "Mc" | "Me":
            return "" if ord(c) in _VARIATION_SELECTORS else _MARKS
        case "So" | "Sk":
            return "" if ord(c) in _BRAILLE else _SYMBOLS
    return ""


def _is_hexadecimal(word: str) -> bool:
    return all(c in _HEXADECIMAL or c in _DIGITS for c in word)


def _like(stem: str, word: str) -> str:
    return "".join(map(_cased, stem, word))


def _cased(letter: str, like: str) -> str:
    return letter.upper() if like.isupper() else letter


def _main_label(domain: str) -> str:
    """What a site's name is compared with, where it is not a domain itself: see `matching.domain_allowed`."""
    wanted = domain.strip().rstrip(".").casefold()
    return wanted.partition(".")[0].replace("-", "") if wanted.count(".") == 1 else ""


def _spaced(label: str) -> str:
    letters = r"[\s_-]*".join(map(re.escape, label))
    return rf"(?<![^\W_]){letters}(?![^\W_])"
