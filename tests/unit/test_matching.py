"""Local matching: names of apps, pages and sites in titles, the four matchers, and what a verdict holds for."""

from __future__ import annotations

import pytest

from antidrift.domain.matching import (
    canonical_class,
    command_allowed,
    domain_allowed,
    is_neutral,
    key_of,
    site_in,
    title_allowed,
)
from antidrift.domain.model import Key, Window
from antidrift.domain.session import Policy
from antidrift.domain.titles import fold, page_title, site_of

POLICY = Policy()


@pytest.mark.parametrize(
    ("names", "canonical"),
    [
        (["Google-chrome", "google-chrome", "com.google.Chrome", "google-chrome.desktop"], "google-chrome"),
        (["firefox", "Navigator", "org.mozilla.firefox", "firefox-esr", " Firefox "], "firefox"),
        (["Code", "code", "com.visualstudio.code"], "code"),
        (["org.gnome.Terminal", "gnome-terminal-server", "Gnome-terminal"], "terminal"),
        (["org.gnome.Evince", "evince", "Evince"], "evince"),
        (["org.telegram.desktop", "TelegramDesktop"], "telegram"),
    ],
)
def test_the_names_of_one_app_are_one(names: list[str], canonical: str) -> None:
    assert {canonical_class(name, {}) for name in names} == {canonical}


@pytest.mark.parametrize(
    ("app_id", "canonical"),
    [
        ("io.github.some_one-2.Tool2", "tool2"),
        ("page.tesk.Refine", "refine"),
        ("io.example.Kgx", "console"),
        ("de.haeckerfelix.Shortwave", "shortwave"),
        ("org.example", "org.example"),
        ("x.example.Tool", "x.example.tool"),
        ("local.example.Tool", "local.example.tool"),
        ("org.example.Two words", "org.example.two words"),
        ("org.example.", "org.example."),
    ],
)
def test_an_app_id_in_reverse_domain_order_is_known_by_its_last_part(app_id: str, canonical: str) -> None:
    assert canonical_class(app_id, {}) == canonical


@pytest.mark.parametrize(
    "web_app",
    [
        "chrome-mail.google.com__-Default",
        "crx_abcdef",
        "Chrome-x-Profile_1",
        "brave-a.b.c-Profile 2",
        "FirefoxPWA-1.2.3",
    ],
)
def test_a_web_app_is_its_own_app_and_not_the_browser(web_app: str) -> None:
    assert canonical_class(web_app, {}) == web_app.casefold()
    assert key_of(Window(web_app, "Inbox"), POLICY) == Key(web_app.casefold())


def test_two_apps_whose_ids_end_in_a_common_word_stay_two() -> None:
    assert canonical_class("com.acme.App", {}) != canonical_class("org.other.App", {})


def test_a_persons_own_alias_wins() -> None:
    assert canonical_class("Jetbrains-Idea", {"jetbrains-idea": "idea"}) == "idea"
    assert canonical_class("Navigator", {"firefox": "web"}) == "web", "for every name of the app"
    assert canonical_class("Navigator", {"navigator": "ship", "firefox": "web"}) == "ship"


@pytest.mark.parametrize(
    ("title", "folded"),
    [
        ("(3) Instagram", "Instagram"),
        ("(99+) Instagram", "Instagram"),
        ("*** ● (3) Instagram", "Instagram"),
        ("**** Instagram", "**** Instagram"),
        ("[12] chat", "chat"),
        ("● main.py", "main.py"),
        ("⠋ building", "building"),
        ("building ⠙", "building"),
        *((f"building {spinner}", "building") for spinner in "|/\\*"),
        ("~/src/", "~/src/"),
        ("Inbox (3) - maria@northwind.example - Gmail", "Inbox - maria@northwind.example - Gmail"),
        ("Inbox (12)", "Inbox"),
        ("Inbox (12) | Mail", "Inbox | Mail"),
        ("Inbox (12) – Mail", "Inbox – Mail"),
        ("Inbox (12) — Mail", "Inbox — Mail"),
        ("Report (2).pdf", "Report (2).pdf"),
        ("Chapter one (3) - Book", "Chapter one (3) - Book"),
        ("main() () - Editor", "main() () - Editor"),
        ("Copying 42% of files", "Copying 0% of files"),
        ("12.75% done, 3,25 % lost", "0% done, 0% lost"),
        ("v100% a% b", "v100% a% b"),
        ("12:03 / 45:00 lecture", "0:00 / 0:00 lecture"),
        ("1:02:03 left", "0:00 left"),
        ("a1:02 12:345 :30", "a1:02 12:345 :30"),
        ("a\n\tb\x07  c\x9f\u2028\u00a0d ", "a b c d"),
        ("Issue #412", "Issue #412"),
        ("C++", "C++"),
        ("(untitled)", "(untitled)"),
    ],
)
def test_counters_and_spinners_are_folded_and_names_are_not(title: str, folded: str) -> None:
    assert fold(title) == folded


@pytest.mark.parametrize(
    ("title", "page", "site"),
    [
        ("Ten cats - YouTube — Mozilla Firefox", "Ten cats - YouTube", "YouTube"),
        ("(2) Instagram — Mozilla Firefox", "Instagram", ""),
        ("What is Ownership? - The Rust Book — Mozilla Firefox", "What is Ownership? - The Rust Book", "The Rust Book"),
        ("docker pull : r/devops - Google Chrome", "docker pull : r/devops", "r/devops"),
        ("Offsite - Google Docs - Google Chrome - Work", "Offsite - Google Docs", "Google Docs"),
        ("Netflix — Mozilla Firefox", "Netflix", ""),
        ("BBC News - Home — Mozilla Firefox", "BBC News - Home", ""),
        ("Weather - News - BBC — Mozilla Firefox", "Weather - News - BBC", "BBC"),
        ("Ten cats - YouTube — Mozilla Firefox Private Browsing", "Ten cats - YouTube", "YouTube"),
        ("Tickets - Opera House - Google Chrome", "Tickets - Opera House", "Opera House"),
        ("Brave New World - Wikipedia - Brave - Brave", "Brave New World - Wikipedia - Brave", "Brave"),
        ("Well-known, and a/b — Mozilla Firefox", "Well-known, and a/b", ""),
        ("Mozilla Firefox", "Mozilla Firefox", ""),
        ("plain", "plain", ""),
        ("", "", ""),
    ],
)
def test_a_browsers_title_tells_the_page_and_perhaps_the_site(title: str, page: str, site: str) -> None:
    assert (page_title(title), site_of(title)) == (page, site)


@pytest.mark.parametrize(
    "browser",
    [
        "— Mozilla Firefox",
        "— Firefox Developer Edition",
        "- Firefox Nightly",
        "- Google Chrome",
        "- Google Chrome - Work",
        "- Chromium",
        "- Brave",
        "- Microsoft\u200b Edge",
        "- Microsoft Edge",
        "- Vivaldi",
        "- Opera",
        "— LibreWolf",
        "– Tor Browser",
        "— Zen Browser",
        "— Waterfox",
        "— Floorp",
        "- Falkon",
        "- qutebrowser",
        f"- Chromium - {'p' * 58}",
    ],
)
def test_what_a_browser_appends_is_no_part_of_the_page(browser: str) -> None:
    assert page_title(f"Page {browser}") == "Page"


def test_what_is_too_long_for_the_name_of_a_profile_is_a_part_of_the_page() -> None:
    title = f"Page - Chromium - {'p' * 59}"
    assert page_title(title) == title


@pytest.mark.parametrize("mark", [*"-–—|·•:>/", "::"])
def test_a_site_stands_behind_any_of_the_usual_marks(mark: str) -> None:
    assert site_of(f"Page {mark} Site — Mozilla Firefox") == "Site"


@pytest.mark.parametrize(
    ("substrings", "matches"),
    [(["REPORT"], True), (["  report  "], True), (["q4 rep"], True), (["budget"], False), (["", "  "], False)],
)
def test_a_title_matches_by_a_case_folded_substring(substrings: list[str], matches: bool) -> None:
    assert title_allowed("Q4 Report.odt", substrings) is matches


@pytest.mark.parametrize(
    ("site", "domains", "matches"),
    [
        ("github.com", ["github.com"], True),
        ("docs.github.com", ["GitHub.com."], True),
        ("github.com.evil.org", ["github.com"], False),
        ("notgithub.com", ["github.com"], False),
        ("GitHub", ["github.com"], True),
        ("Stack Overflow", ["stackoverflow.com"], True),
        ("GitHub", ["docs.github.com"], False),
        ("GitHub", ["gitlab.com", " "], False),
        ("GitHub", [" ", "github.com"], True),
        ("docs.github.com.", ["github.com"], True),
        ("SpaceX", ["spacex.com"], True),
        ("Stack-Overflow_", ["stackoverflow.com"], True),
        ("Stack Overflow", ["stack-overflow.com"], True),
        ("7-zip.de", ["7-zip.de"], True),
        ("wiki.7-zip.de", ["7-zip.de"], True),
        ("", ["github.com"], False),
    ],
)
def test_a_site_matches_its_domain_and_what_lies_below_it(site: str, domains: list[str], matches: bool) -> None:
    assert domain_allowed(site, domains) is matches


@pytest.mark.parametrize(
    ("command", "names", "matches"),
    [
        ("pytest", ["PyTest"], True),
        ("/usr/bin/gimp-2.10", ["gimp-2.10"], True),
        ("gimp", ["/usr/bin/gimp"], True),
        ("", [""], False),
        ("gimp", ["gim"], False),
    ],
)
def test_a_command_matches_by_its_base_name(command: str, names: list[str], matches: bool) -> None:
    assert command_allowed(command, names) is matches


def test_a_many_purpose_app_of_the_config_is_judged_by_title() -> None:
    policy = Policy(many_purpose=frozenset({"evince"}))
    assert key_of(Window("org.gnome.Evince", "thesis.pdf"), policy) == Key("evince", "thesis.pdf")
    assert key_of(Window("org.gnome.Evince", "thesis.pdf"), POLICY) == Key("evince")


def test_a_window_with_only_an_app_id_is_known_by_it() -> None:
    assert key_of(Window(app_id="org.mozilla.firefox", title="Netflix — Mozilla Firefox"), POLICY) == Key(
        "firefox", "Netflix"
    )


def test_a_window_without_a_name_is_known_by_its_title_and_its_id() -> None:
    assert key_of(Window(title="(3) Chat", window_id="7"), POLICY) == Key("", "Chat", "7")


@pytest.mark.parametrize("wm_class", ["firefox", "org.gnome.Evince"])
def test_a_private_window_is_none_of_its_app(wm_class: str) -> None:
    window = Window(wm_class, "(private)", window_id="7", private=True)
    assert key_of(window, POLICY) == Key(canonical_class(wm_class, {}), "(private)")


def test_only_a_browser_shows_a_site() -> None:
    assert site_in(Window("firefox", "Ten cats - YouTube — Mozilla Firefox"), POLICY) == "YouTube"
    assert site_in(Window("XTerm", "make - YouTube"), POLICY) == ""


@pytest.mark.parametrize(
    ("window", "neutral"),
    [
        (None, True),
        (Window(), True),
        (Window("gnome-shell"), True),
        (Window("org.gnome.Shell.Extensions", "Preferences"), True),
        (Window("light-locker.desktop", "Locked"), True),
        (Window("", "a title without a class"), False),
        (Window("XTerm", ""), False),
    ],
)
def test_no_window_the_shell_and_nameless_windows_are_neutral(window: Window | None, neutral: bool) -> None:
    assert is_neutral(window, POLICY) is neutral
