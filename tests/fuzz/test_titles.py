"""What may stand in a window title: any text is read, matched and redacted within bounds, and nothing hides in it."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import pytest
from hypothesis import example
from hypothesis import strategies as st

from antidrift.domain import matching, privacy
from antidrift.domain.model import Allowed, Source, Titles, Window
from antidrift.domain.private_windows import PRIVATE_TITLE, admit, says_private
from antidrift.domain.redaction import redact
from antidrift.domain.session import Commitment, Policy, Session
from antidrift.domain.titles import clean, fold, page_title, site_of
from antidrift.domain.visible import without_invisible
from support.driver import START
from support.fuzzing import any_text, cpu_limit, fuzzed, texts

BROWSERS = "- – — Mozilla Firefox Google Chrome Microsoft Edge Brave YouTube"
FOLDED = "(3) [12] ● ⠋ 45% 45.5 % 1:23:45 12:00 | / : :: > · - 7 +"
SECRETS = (
    "ada@example.org a%40b https:// http://u:p@ ?q=1 #key= /home/ada /root file:// C:\\Users\\ 4111 1111 DE89 370400 "
    "password= pin= aB3dE6gH9 9F:8E: ABCD-12EF -GH34- 550e8400-e29b [ ] ( ) [address] [token] [number] "
    "~ . , / : ; @ ＠ ﹫ ? # & = %"
)
titles = st.one_of(
    any_text, texts(BROWSERS), texts(FOLDED), texts(SECRETS), texts(f"{BROWSERS} {FOLDED} {SECRETS}", 60)
)

# Of Unicode's DerivedCoreProperties.txt, but for the two that choose how an emoji looks.
DEFAULT_IGNORABLE = (
    *(0xAD, 0x34F, 0x61C, 0x3164, 0xFEFF, 0xFFA0),
    *range(0x115F, 0x1161),
    *range(0x17B4, 0x17B6),
    *range(0x180B, 0x1810),
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    *range(0xFE00, 0xFE0E),
    *range(0xFFF0, 0xFFF9),
    *range(0x1BCA0, 0x1BCA4),
    *range(0x1D173, 0x1D17B),
    *range(0xE0000, 0xE1000),
)


def on_one_line(text: str) -> bool:
    """Whether it holds no control character and no line break, and no white space but single spaces within."""
    return text == " ".join(text.split()) and not any(unicodedata.category(c) in ("Cc", "Zl", "Zp") for c in text)


def all_shows(text: str) -> bool:
    """Whether nothing in it is hidden, and all of it has UTF-8."""
    hidden = any(unicodedata.category(c) in ("Cf", "Cs") or ord(c) in DEFAULT_IGNORABLE for c in text)
    return not hidden and on_one_line(text)


def test_what_is_reserved_for_characters_that_do_not_show_is_taken_out_like_those_that_there_are() -> None:
    """Half of the plane of tags is not assigned yet, shows as nothing all the same, and can carry a hidden text."""
    assert [hex(code) for code in DEFAULT_IGNORABLE if without_invisible(f"a{chr(code)}b") != "ab"] == []


@fuzzed("titles", title=titles)
@example(title=" \x00 " * 300_000)
def test_any_title_is_read_on_one_line_that_never_grows(title: str) -> None:
    whole = clean(title)
    assert on_one_line(whole)
    assert len(whole) <= len(title)
    assert clean(whole) == whole
    for part in (fold(title), page_title(title), site_of(title)):
        assert len(part) <= len(whole)


@fuzzed("redaction", title=titles, home=st.sampled_from(["", "/srv/ada", "/a", "/", "a", "\\E(["]))
@example(title="ada@example.org " * 60, home="")
@example(title="a@b " * 250, home="")
@example(title="tp://@[:/@", home="")  # what the first look leaves is an address
@example(title="".join(f"a{chr(code)}" for code in range(0xE0000, 0xE0100)), home="")
def test_a_redacted_title_shows_all_that_it_holds_stays_as_it_is_and_grows_by_what_was_put_in_only(
    title: str, home: str
) -> None:
    title = title[:1000]
    once = redact(title, home)
    assert all_shows(once)
    assert redact(once, home) == once
    assert len(once) <= 3 * len(title) + 20


_LABEL = st.from_regex(r"[a-z]([a-z0-9]{0,8}[a-z0-9])?", fullmatch=True)
SECRET = st.one_of(
    st.tuples(_LABEL, _LABEL).map(lambda parts: f"{parts[0]}@{parts[1]}.org"),
    st.text("0123456789", min_size=9, max_size=19),
    st.text("0123456789abcdef", min_size=32, max_size=64).filter(lambda run: any(c in "abcdef" for c in run)),
    st.uuids().map(str),
    _LABEL.map(lambda name: f"/home/{name}9/x"),
    st.tuples(_LABEL, _LABEL).map(lambda parts: f"https://{parts[0]}:{parts[1]}77@example.org/?{parts[0]}=1"),
)
_WORDS = st.lists(
    st.sampled_from("- — | ( ) [ ] : ; , . the of 3 ? # & = % Firefox Vim [token] ~ äöü 日本".split()), max_size=6
)


@fuzzed("redaction", before=_WORDS, secret=SECRET, after=_WORDS)
def test_a_secret_between_any_words_is_taken_out(before: list[str], secret: str, after: list[str]) -> None:
    assert secret not in redact(" ".join([*before, secret, *after]))


@fuzzed(
    "redaction", secret=SECRET, hidden=st.sampled_from([chr(code) for code in DEFAULT_IGNORABLE]), at=st.integers(0, 80)
)
def test_a_secret_with_a_hidden_character_in_it_is_taken_out_all_the_same(secret: str, hidden: str, at: int) -> None:
    at %= len(secret)
    assert redact(f"a {secret[:at]}{hidden}{secret[at:]} b") == redact(f"a {secret} b")


PRIVATE = [
    "Bank — Mozilla Firefox Private Browsing",
    "Bank - Mozilla Firefox (Private Browsing)",
    "Bank — Mozilla Firefox — Privater Modus",
    "Bank - Google Chrome (Incognito)",
    "Bank - [InPrivate] - Microsoft Edge",
    "Bank - Brave (Private)",
]


@fuzzed(
    "private windows",
    title=st.sampled_from(PRIVATE),
    page=titles,
    hidden=st.sampled_from([chr(code) for code in DEFAULT_IGNORABLE]),
    at=st.integers(0, 80),
)
def test_a_private_window_is_known_whatever_page_it_shows_and_whatever_hides_in_its_title(
    title: str, page: str, hidden: str, at: int
) -> None:
    at %= len(title)
    assert says_private(title[:at] + hidden + title[at:])
    assert says_private(page + " " + title)


COMMITMENT = Commitment("c", "Write", "Written", 1500, START, 2500.0, ("code",), ("YouTube",))
classes = texts("org.mozilla.firefox code chrome-x-Default crx_a Slack app .desktop mpv gnome-shell navigator")
windows = st.builds(
    Window,
    wm_class=classes,
    title=titles.map(lambda title: title[:1000]),
    pid=st.none() | st.integers(1, 2**31),
    command=any_text | st.just("/usr/bin/vim"),
    app_id=classes,
    window_id=st.text(max_size=5),
)
policies = st.builds(
    Policy,
    always_allowed=st.builds(
        Allowed, *[st.lists(any_text | texts("a . example.org vim / YouTube"), max_size=3).map(tuple)] * 4
    ),
    many_purpose=st.frozensets(classes, max_size=2),
    aliases=st.dictionaries(classes, classes, max_size=2),
    titles=st.sampled_from(Titles),
    exclude_apps=st.frozensets(classes, max_size=2),
    home=st.sampled_from(["", "/srv/ada"]),
)


@fuzzed("matching", window=windows, policy=policies)
def test_any_window_is_matched_and_what_an_ai_may_see_of_it_is_bounded(window: Window, policy: Policy) -> None:
    _, admitted = admit(Session(START, policy), Source.X11, window)
    assert admitted.private == says_private(window.title)
    key = matching.key_of(admitted, policy)
    assert key == matching.key_of(admitted, policy)
    assert matching.is_allowed(admitted, replace(COMMITMENT, allowed_keys=(key,)), policy)
    matching.is_neutral(admitted, policy)
    seen = privacy.title_for_nudge(admitted, policy)
    if admitted.private:
        assert admitted.title == PRIVATE_TITLE
        assert not privacy.may_be_judged(admitted, policy)
        assert seen == ""
    assert len(seen) <= 3020
    if policy.titles is Titles.REDACT:
        assert all_shows(seen)
    elif policy.titles is Titles.NEVER:
        assert seen == ""


PIECES = (
    "a a- A- @ a@ 1. 1- http:// /home/ ? ?a = aB3 [ ( DE89 ab: ABCD- (1) ● - — ' ' Aa %40 ＠ file:// x.x. [a 1:23 4% | "
    "é org.a. chrome-a- ~/ \\ C:\\Users\\ pin= 9F: 550e8400-"
).split()


@pytest.mark.parametrize("piece", [*PIECES, " - ", "a b ", "\u200b", "\x00"])
def test_no_title_takes_long(piece: str) -> None:
    longest = (piece * 1000)[:1000]
    with cpu_limit():
        for title in (longest, longest + "@", longest + "!", "x " + longest):
            redact(title, "/srv/ada")
            says_private(title)
            site_of(title)
            matching.canonical_class(title[:128], {})
