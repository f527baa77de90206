"""Titles with secrets planted in them, and a lookout for what is left of a secret in a text."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Iterable
from dataclasses import dataclass

_CONTEXTS = (
    "{}",
    "Inbox - {} - Mail — Mozilla Firefox",
    "{} - Shop - Google Chrome",
    "Re: your request ({})",
    "[{}] 3 new messages",
    "notes.txt: {}; rest",
    '"{}" - Search',
    "ssh {} | tail",
    "<{}>",
    "Überweisung «{}» bestätigt",
    "{}, {}",
    "(12) {} 45%",
)
_PIECE = 9  # so many characters of a secret, in one piece, are too many


@dataclass(frozen=True, slots=True)
class Canary:
    """A title, and the secret in it."""

    title: str
    secret: str


class Lookout:
    """Looks for any piece of the secrets, in upper or lower case."""

    def __init__(self, planted: Iterable[Canary]) -> None:
        self._planted = {piece: canary for canary in planted for piece in _pieces(canary.secret)}

    def found_in(self, text: str) -> list[Canary]:
        """Those of which a piece is in `text`."""
        return [self._planted[piece] for piece in _pieces(text) if piece in self._planted]


def _pieces(text: str) -> Iterable[str]:
    lower = text.lower()
    return (lower[start : start + _PIECE] for start in range(len(lower) - _PIECE + 1))


def canaries(count: int, seed: int) -> list[Canary]:
    """So many of them, the same ones for the same seed."""
    chance = random.Random(seed)
    return [_canary(chance) for _ in range(count)]


def _canary(chance: random.Random) -> Canary:
    planted, secret = chance.choice(_KINDS)(chance)
    if chance.random() < 0.1:
        # What does not show, in the middle of it.
        cut = chance.randrange(1, len(planted))
        planted = planted[:cut] + chance.choice("\u200b\u2060\u00ad\ufeff") + planted[cut:]
    return Canary(chance.choice(_CONTEXTS).replace("{}", planted), secret)


def _letters(chance: random.Random, count: int, of: str = string.ascii_lowercase) -> str:
    return "".join(chance.choices(of, k=count))


def _address(chance: random.Random) -> tuple[str, str]:
    user = _letters(chance, 9)
    domain = f"{_letters(chance, 6)}.{chance.choice(['org', 'co.uk', 'museum'])}"
    address = f"{user}{chance.choice(['', '+tag', '.x'])}@{domain}"
    return chance.choice([address, f"mailto:{address}", address.replace("@", "%40"), address.upper()]), user


def _query(chance: random.Random) -> tuple[str, str]:
    secret = _letters(chance, 10)
    host = f"{chance.choice(['https://', 'http://', ''])}example.org{chance.choice(['/reset', '/a/b.php', ''])}"
    return f"{host}?{chance.choice(['user', 'q', 'k'])}={secret}{chance.choice(['', '&x=1', '#top'])}", secret


def _user_info(chance: random.Random) -> tuple[str, str]:
    secret = _letters(chance, 10)
    scheme = chance.choice(["https", "postgres", "ftp", "amqp+ssl"])
    return f"{scheme}://{chance.choice(['ada', secret])}:{secret}@db.example.org/x", secret


def _card(chance: random.Random) -> tuple[str, str]:
    digits = _letters(chance, 16, string.digits)
    gap = chance.choice(["", " ", "-"])
    planted = gap.join(digits[at : at + 4] for at in range(0, 16, 4))
    return planted, planted


def _iban(chance: random.Random) -> tuple[str, str]:
    digits = _letters(chance, 20, string.digits)
    planted = chance.choice(["DE", "FR", "PT"]) + digits
    if chance.random() < 0.5:
        planted = " ".join(planted[at : at + 4] for at in range(0, len(planted), 4))
    return planted, planted


def _telephone(chance: random.Random) -> tuple[str, str]:
    planted = f"+49 {_letters(chance, 3, '123456789')} {_letters(chance, 8, string.digits)}"
    return planted, planted[4:]


def _hex(chance: random.Random) -> tuple[str, str]:
    planted = chance.randbytes(chance.choice([10, 16, 20, 32])).hex()
    return planted, planted


def _base64(chance: random.Random) -> tuple[str, str]:
    planted = base64.urlsafe_b64encode(chance.randbytes(chance.choice([24, 32, 48]))).decode()
    return planted, planted


def _key(chance: random.Random) -> tuple[str, str]:
    secret = _letters(chance, 36, string.ascii_letters + string.digits)
    return chance.choice(["ghp_", "sk-ant-api03-", "xoxb-", "AKIA"]) + secret, secret


def _uuid(chance: random.Random) -> tuple[str, str]:
    digits = chance.randbytes(16).hex()
    planted = "-".join(digits[start:end] for start, end in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32)))
    return planted, planted


def _home(chance: random.Random) -> tuple[str, str]:
    user = _letters(chance, 9)
    above = chance.choice(["/home/", "/Users/", "/var/home/", "file:///home/", "C:\\Users\\"])
    return f"{above}{user}{chance.choice(['', '/thesis.tex', '/.ssh/config'])}", user


_KINDS = (_address, _query, _user_info, _card, _iban, _telephone, _hex, _base64, _key, _uuid, _home)
