"""Hidden words lead to the same course: the same pages, sites and local matches, and nothing of the words is left."""

from __future__ import annotations

import re
from itertools import combinations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from antidrift.domain.matching import is_allowed, key_of, site_in
from antidrift.domain.model import Allowed, Instant, Window
from antidrift.domain.private_windows import says_private
from antidrift.domain.redaction import redact
from antidrift.domain.session import Commitment, Policy
from antidrift.domain.titles import fold, page_title, site_of
from antidrift.trace.hidden import Hidden
from antidrift.trace.pseudonyms import Pseudonyms
from support.canaries import Lookout, canaries

SALT = b"always the same"
COMMITMENT = Commitment("1", "Write", "Written", 1500, Instant(0.0, 0), 1500.0, ("code",), ("GitHub", "Übersicht"))
POLICY = Policy(
    Allowed(
        titles=("Meeting notes", "parse", ".rs", "(3)"),
        domains=("stackoverflow.com", "github.com", "my-site.org", "docs.python.org"),
        commands=("vim",),
    ),
    many_purpose=frozenset(["evince"]),
    home="/srv/ada",
)

# What titles are made of, with everything that the rules look for, in orders that nobody thought of.
PIECES = [
    "Zebra", "zebra", "ZEBRA", "zEbra", "a", "I", "be", "deadbeef", "parser", "Parse", "meeting", "Meeting notes",
    "Stack Overflow", "StackOverflow", "stackoverflow.com", "My Site", "my-site.org", "GitHub", "gist.github.com",
    "docs.python.org", "main.rs", "Home", "home", "Log in", "Search results", "News", "(3)", "[12]", "(99+)", "●", "⠋",
    "⠙", "/", "|", "45%", "99.5 %", "7%", "12:34", "9:05:07", "2024", "40", "401", "%40", "1", "2", "3", "8",
    "ada@example.org", "ada%40example.org", "https://ada:pw@example.org/x?q=1#k", "page.php?id=3", "/home/ada/x",
    "/home/bob", "/srv/ada/thesis", "/srv/adam", "file:///root/x", "DE44 5001 0517 5407 3249 31", "4111 1111 1111 1111",
    "password=hunter2", "mypin=1234", "550e8400-e29b-41d4-a716-446655440000", "de:ad:be:ef:00:11", "ABCD-1234-EFGH-56",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "VeryLongNameOfAClassThatIsNone", "well-known-long-name", "straße",
    "Straße", "Übersicht", "über", "Σίσυφος", "日本語", "日本", "हिन्दी", "🐱", "🏥", "é", "e\u0301", "\u200b", "_",
    "snake_case", "- Mozilla Firefox", "— Mozilla Firefox", "- Google Chrome", "- Google Chrome - Ada", "- Brave",
    "-", "–", "—", "·", "•", "::", ":", "… and more", "Private Browsing", "(Private)", "InPrivate",
]  # fmt: skip
TITLES = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=6).map(" ".join),
    st.tuples(
        st.sampled_from(PIECES),
        st.sampled_from(["-", "|", "·", "—"]),
        st.sampled_from(PIECES),
        st.sampled_from(["— Mozilla Firefox", "- Google Chrome", "- Brave", "- Microsoft\u200b Edge"]),
    ).map(" ".join),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=20),
)
CLASSES = st.sampled_from(["firefox", "code", "evince", "Slack", "", "mpv"])


def hidden_window(hide: Hidden, wm_class: str, title: str) -> tuple[Window, Window]:
    window = Window(wm_class, title, command="vim" if "vim" in title else "", window_id="7")
    return window, hide.window(window)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(CLASSES, st.lists(TITLES, min_size=2, max_size=6))
@example("firefox", ["x - Stack Overflow — Mozilla Firefox", "x - STACK OVERFLOW — Mozilla Firefox"])
@example("firefox", ["(3) Zebra — Mozilla Firefox", "(12) Zebra — Mozilla Firefox", "Zebra — Mozilla Firefox"])
def test_hidden_titles_have_the_same_keys_sites_and_local_matches(wm_class: str, titles: list[str]) -> None:
    hide = Hidden(POLICY, SALT)
    policy = hide.policy(POLICY)
    commitment = hide.commitment(COMMITMENT)
    pairs = [hidden_window(hide, wm_class, title) for title in titles]
    for before, after in pairs:
        assert is_allowed(before, COMMITMENT, POLICY) == is_allowed(after, commitment, policy)
        assert bool(site_in(before, POLICY)) == bool(site_in(after, policy))
        assert says_private(after.title) <= says_private(before.title)
        assert hide.key(key_of(before, POLICY)) == key_of(after, policy)
    for (one, one_hidden), (other, other_hidden) in combinations(pairs, 2):
        assert (one.title == other.title) == (one_hidden.title == other_hidden.title)
        for view in (
            lambda window, policy: key_of(window, policy),
            lambda window, policy: site_in(window, policy).casefold(),
            lambda window, policy: redact(fold(window.title), policy.home),
        ):
            same = view(one, POLICY) == view(other, POLICY)
            assert same == (view(one_hidden, policy) == view(other_hidden, policy)), (one, other)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(TITLES)
def test_hiding_goes_with_folding_and_with_taking_the_page_and_the_site(title: str) -> None:
    hide = Pseudonyms(Policy(), SALT)
    assert hide.text(fold(title)) == fold(hide.text(title))
    assert hide.text(page_title(title)) == page_title(hide.text(title))
    assert hide.text(site_of(title)) == site_of(hide.text(title))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(PIECES), max_size=6).map(" ".join))
def test_no_word_of_three_letters_or_more_is_left_but_those_that_the_rules_go_by(title: str) -> None:
    hidden = Pseudonyms(Policy(), SALT).text(title)
    kept = set(re.findall(r"[^\W\d_]{3,}", title.casefold())) & set(re.findall(r"[^\W\d_]{3,}", hidden.casefold()))
    assert kept <= ALLOWED_TO_STAY


ALLOWED_TO_STAY = set("home log search results mozilla firefox google chrome brave file root password pin news".split())


def test_no_piece_of_a_secret_is_left_in_two_thousand_titles() -> None:
    hide = Pseudonyms(Policy(), SALT)
    for canary in canaries(2000, seed=4):
        # Its own: digits of one may by chance become those of another.
        assert Lookout([canary]).found_in(hide.text(canary.title)) == []


def test_equal_words_are_equal_in_one_trace_and_no_two_traces_are_alike() -> None:
    hide, other = Pseudonyms(Policy()), Pseudonyms(Policy())
    title = "Zebra crossing, Zebra finch — Mozilla Firefox"
    first, _, third, *_ = hide.text(title).split()
    assert first == third
    assert hide.text(title) == hide.text(title)
    assert hide.text(title) != other.text(title)


def test_ten_digits_get_ten_pseudonyms() -> None:
    hide = Pseudonyms(Policy())
    assert {hide.text(str(n)) for n in range(10)} == {str(n) for n in range(10)}
    assert len({hide.text(f"{n:02}") for n in range(100)}) == 100


@pytest.mark.parametrize("page", ["Home", "New tab", "Log in", "Search results"])
def test_a_page_that_names_no_site_still_names_none(page: str) -> None:
    assert site_of(Pseudonyms(Policy()).text(f"Zebra - {page} — Mozilla Firefox")) == ""


def test_of_what_a_person_typed_only_shows_whether_it_is_blank_or_too_long() -> None:
    hide = Pseudonyms(Policy())
    assert hide.sentence(" \n ") == ""
    assert len(hide.sentence("x" * 501)) == 501
    assert len(hide.sentence("Find a new job")) == len(hide.sentence("Write")) == 8
    assert hide.sentence("Write") == hide.sentence("Write") != hide.sentence("write")
