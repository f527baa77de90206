"""What an AI may see of a window, and what nobody may: the whole way through the domain."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from antidrift.domain import limits, saving
from antidrift.domain.events import Complete, End, EnterPlanning, OnTask, RequestCoach, WindowSeen
from antidrift.domain.model import DriftStatus, RoleName, Source, Titles, Verdict, Window
from antidrift.domain.privacy import for_ai
from antidrift.domain.private_windows import PRIVATE_TITLE, says_private
from antidrift.domain.requests import Advice, CoachRequest, JudgeRequest, NudgeRequest, Reflection, ReviewRequest
from antidrift.domain.session import Policy
from antidrift.wire import state_json, view_of
from support.driver import Driver

COACH, JUDGE, NUDGE, REVIEWER = RoleName
SECRET = "ada@example.org"
MAIL = f"Inbox - {SECRET} - Gmail — Mozilla Firefox"
PRIVATE = "Gifts for Grace — Mozilla Firefox Private Browsing"
NEVER, FULL = Policy(titles=Titles.NEVER), Policy(titles=Titles.FULL)
EXCLUDED = Policy(exclude_apps=frozenset({"slack", "firefox"}))
DRIFTS = Verdict(on_task=False, reason="Not the report")


def judged_title(driver: Driver) -> str:
    (request,) = driver.asked_of(JUDGE)
    assert isinstance(request, JudgeRequest)
    return request.title


def reviewed(driver: Driver) -> list[tuple[str, str]]:
    """Class and title of every bucket that the reviewer is sent."""
    driver.do(Complete)
    request = driver.asked_of(REVIEWER)[-1]
    assert isinstance(request, ReviewRequest)
    return [(bucket.wm_class, bucket.title) for bucket in request.finished.buckets]


# What the policy says


def test_by_default_every_role_gets_titles_without_what_identifies() -> None:
    driver = Driver.active("thunderbird")
    driver.focus("thunderbird", f"Re: the report - {SECRET}")
    driver.wait(5)
    driver.focus("thunderbird", "Outbox")
    driver.wait(5)
    driver.focus("firefox", MAIL)
    driver.wait(5)
    assert judged_title(driver) == "Inbox - [address] - Gmail — Mozilla Firefox"
    (nudge,) = driver.asked_of(NUDGE)
    assert isinstance(nudge, NudgeRequest)
    assert nudge.titles == ("Re: the report - [address]", "Outbox")
    assert {title for _, title in reviewed(driver)} >= {"Inbox - [address] - Gmail — Mozilla Firefox"}
    assert SECRET not in repr([asdict(request) for request in driver.asked if not isinstance(request, JudgeRequest)])


def test_with_full_titles_go_as_they_are() -> None:
    driver = Driver.active(policy=FULL)
    driver.focus("firefox", MAIL)
    assert judged_title(driver) == MAIL
    driver.wait(5)
    assert ("firefox", MAIL) in reviewed(driver)


@pytest.mark.parametrize("policy", [NEVER, EXCLUDED])
def test_without_its_title_an_app_is_judged_by_its_class(policy: Policy) -> None:
    driver = Driver.active(policy=policy)
    driver.focus("Slack", SECRET)
    assert judged_title(driver) == ""
    driver.answer(JUDGE, DRIFTS)
    assert driver.status is DriftStatus.DRIFTING


@pytest.mark.parametrize("policy", [NEVER, EXCLUDED])
def test_without_its_title_a_page_is_not_judged_at_all(policy: Policy) -> None:
    driver = Driver.active(policy=policy)
    driver.focus("firefox", MAIL)
    driver.wait(60)
    assert driver.status is DriftStatus.IDLE
    assert driver.asked == []
    driver.do(OnTask)
    assert driver.status is DriftStatus.ONTASK, "what needs no AI goes on"


@pytest.mark.parametrize("wm_class", ["mpv", "Notion", ""])
def test_nor_is_anything_else_of_which_only_the_title_tells(wm_class: str) -> None:
    driver = Driver.active(policy=Policy(titles=Titles.NEVER, many_purpose=frozenset({"notion"})))
    driver.focus(wm_class, "Ten cats")
    driver.wait(60)
    assert (driver.status, driver.asked) == (DriftStatus.IDLE, [])


@pytest.mark.parametrize("policy", [NEVER, Policy(exclude_apps=frozenset({"code"}))])
def test_without_titles_there_is_no_nudge(policy: Policy) -> None:
    driver = Driver.active("code", policy=policy)
    for title in ("a.py", "b.py", "c.py"):
        driver.focus("code", title)
        driver.wait(400)
    assert driver.asked == []


def test_a_nudge_is_about_the_titles_of_other_apps_than_the_excluded_ones() -> None:
    driver = Driver.active("code", "slack", policy=EXCLUDED)
    for title in ("a.py", "b.py"):
        driver.focus("slack", "#secret")
        driver.focus("code", title)
    (nudge,) = driver.asked_of(NUDGE)
    assert isinstance(nudge, NudgeRequest)
    assert nudge.titles == ("a.py", "b.py")


def test_two_titles_that_an_ai_could_not_tell_apart_are_one_to_a_nudge() -> None:
    driver = Driver.active("code")
    driver.focus("code", "Call 123456789")
    driver.focus("code", "Call 987654321")
    driver.wait(400)
    assert driver.asked == []


def test_a_nudge_is_not_asked_again_about_the_same_redacted_titles() -> None:
    driver = Driver.active("code")
    driver.focus("code", f"{SECRET}.txt")
    driver.focus("code", "b.py")
    driver.answer(NUDGE, Advice(""))
    driver.wait(700)
    assert len(driver.asked_of(NUDGE)) == 1


@pytest.mark.parametrize(
    ("policy", "seen"),
    [
        (NEVER, {("code", ""), ("slack", "")}),
        (EXCLUDED, {("code", "a.py"), ("slack", "")}),
        (Policy(), {("code", "a.py"), ("slack", "[address]")}),
    ],
)
def test_the_reviewer_sees_classes_and_of_titles_what_the_policy_lets_it(
    policy: Policy, seen: set[tuple[str, str]]
) -> None:
    driver = Driver.active("code", "slack", policy=policy)
    for wm_class, title in (("code", "a.py"), ("slack", SECRET)):
        driver.focus(wm_class, title)
        driver.wait(30)
    assert set(reviewed(driver)) == seen


def test_the_reviewer_sees_no_title_of_an_earlier_session() -> None:
    driver = Driver.active("code", policy=FULL)
    driver.focus("code", "first.py")
    driver.wait(30)
    driver.do(Complete)
    driver.do(End)
    driver.do(EnterPlanning)
    driver.start("code")
    driver.do(Complete)
    request = driver.asked_of(REVIEWER)[-1]
    assert isinstance(request, ReviewRequest)
    assert [(b.wm_class, b.title) for past in request.history for b in past.buckets] == [("code", "")]


def test_a_title_that_was_cut_in_the_middle_of_a_secret_does_not_show_the_half_of_it() -> None:
    driver = Driver.active("code")
    padding = ("word " * 40)[: limits.BUCKET_TITLE_CHARS - 8]
    driver.focus("code", f"{padding}lovelace@example.org")
    driver.wait(30)
    [(_, title)] = reviewed(driver)
    assert title.startswith("word word")
    assert "love" not in title


def test_nor_does_one_that_was_cut_by_its_sensor_however_short_it_is_when_redacted() -> None:
    driver = Driver.active()
    long = f"https://example.org/?{'q' * 2000}"[: limits.TITLE_CHARS - 9]
    driver.focus("firefox", f"{long} lovelace@example.org"[: limits.TITLE_CHARS])
    assert judged_title(driver) == "https://example.org/"


def test_the_coach_gets_the_persons_words_as_typed_and_an_earlier_takeaway_redacted() -> None:
    driver = Driver.active("code")
    driver.do(Complete)
    driver.answer(REVIEWER, Reflection("Fine.", f"Answer {SECRET} first"))
    driver.do(End)
    driver.do(EnterPlanning)
    driver.do(RequestCoach, f"write to {SECRET}")
    (request,) = driver.asked_of(COACH)
    assert isinstance(request, CoachRequest)
    assert (request.intent, request.carry_forward) == (f"write to {SECRET}", "Answer [address] first")


@pytest.mark.parametrize(
    ("policy", "takeaway"),
    [(FULL, f"Answer {SECRET} in /srv/ada/mail"), (Policy(home="/srv/ada"), "Answer [address] in ~/mail")],
)
def test_an_earlier_takeaway_is_read_by_the_same_policy_as_a_title(policy: Policy, takeaway: str) -> None:
    request = for_ai(CoachRequest(1, "write", carry_forward=f"Answer {SECRET} in /srv/ada/mail"), policy)
    assert isinstance(request, CoachRequest)
    assert request.carry_forward == takeaway


@pytest.mark.parametrize(
    ("policy", "titles"),
    [
        (FULL, (f"Answer {SECRET} in /srv/ada/mail", "b.py")),
        (Policy(home="/srv/ada"), ("Answer [address] in ~/mail", "b.py")),
        (NEVER, ()),
    ],
)
def test_the_titles_of_a_nudge_are_looked_at_again_on_their_way_out(policy: Policy, titles: tuple[str, ...]) -> None:
    nudge = NudgeRequest("c1", 1, "Write", "Written", (f"Answer {SECRET} in /srv/ada/mail", "b.py"))
    request = for_ai(nudge, policy)
    assert isinstance(request, NudgeRequest)
    assert request.titles == titles


# Private windows


@pytest.mark.parametrize(
    "title",
    [
        "Gifts — Mozilla Firefox Private Browsing",
        "Gifts - Mozilla Firefox (Private Browsing)",
        "Mozilla Firefox Private Browsing",
        "Mozilla Firefox (Private Browsing)",
        "Gifts — Work — Firefox Developer Edition Private Browsing",
        "Geschenke — Mozilla Firefox Privater Modus",
        "Cadeaux — Navigation privée de Mozilla Firefox",
        "Regalos — Mozilla Firefox Navegación privada",
        "Regali — Mozilla Firefox Navigazione anonima",
        "Presentes — Navegação privativa do Mozilla Firefox",
        "Presentes — Navegação Privada Mozilla Firefox",
        "Cadeaus — Mozilla Firefox — privénavigatie",
        "Prezenty — Mozilla Firefox — tryb prywatny",
        "Prezenty — Mozilla Firefox (tryb prywatny)",
        "Mozilla Firefox — (Privater Modus)",
        "(Private Browsing)",
        "Подарки — Mozilla Firefox — Приватный просмотр",
        "贈り物 — Mozilla Firefox プライベートブラウジング",
        "Gifts - LibreWolf Private Browsing",
        "Gifts - [InPrivate] - Microsoft\u200b Edge",
        "Gifts and 2 more pages - [InPrivate] - Work - Microsoft\u200b Edge",
        "Gifts - Google Chrome (Incognito)",
        "Gifts - Brave (Private)",
    ],
)
def test_a_private_window_is_known_by_the_words_of_its_browser(title: str) -> None:
    assert says_private(title)


@pytest.mark.parametrize(
    "browser",
    "Firefox|Nightly|LibreWolf|Waterfox|Floorp|Zen Browser|Mullvad Browser|Tor Browser|Google Chrome|Chromium|Brave|"
    "Vivaldi|Opera|Microsoft Edge".split("|"),
)
def test_every_browser_may_say_it(browser: str) -> None:
    assert says_private(f"Gifts — {browser} Private Browsing")
    assert says_private(f"Gifts - {browser} (Private)")


@pytest.mark.parametrize("mark", ["-", "–", "—", "ـ", "——"])
def test_whatever_mark_stands_before_its_name_the_page_cannot(mark: str) -> None:
    assert says_private(f"Gifts {mark} Mozilla Firefox Private Browsing")
    assert not says_private(f"Private Browsing explained {mark} Mozilla Firefox")


@pytest.mark.parametrize(
    "title",
    [
        "",
        "Gifts — Mozilla Firefox",
        "Gifts - [InPrivate] - Microsoft Edge tips - Mozilla Firefox",
        "How to use Private Browsing — Mozilla Firefox",
        "Gifts — Mozilla Firefox Private Browsing — Mozilla Firefox",
        "Incognito (film) - Wikipedia - Google Chrome",
        "Gifts - Google Chrome (Incognito) - Google Chrome",
        "InPrivate - Microsoft Edge",
        "private browsing",
        "notes (private)",
        "Firefox private browsing explained.pdf",
    ],
)
def test_a_page_cannot_say_that_its_window_is_private(title: str) -> None:
    assert not says_private(title)


@pytest.mark.parametrize("title", ["Gifts - Google Chrome", "Gifts - Chromium", "Gifts — Tor Browser"])
def test_a_window_that_does_not_say_that_it_is_private_is_like_any_other(title: str) -> None:
    """A limit, stated so that nobody relies on more."""
    assert not says_private(title)


def test_a_private_window_reads_as_its_class_everywhere_and_no_ai_is_asked_about_it() -> None:
    driver = Driver.active()
    driver.focus("firefox", PRIVATE, window_id="7")
    driver.wait(60)
    assert driver.status is DriftStatus.IDLE
    view = view_of(driver.session, instance="i", seq=1, store_fault=None)
    assert view.evidence is not None
    assert view.evidence.window is not None
    assert (view.evidence.window.class_, view.evidence.window.title) == ("firefox", PRIVATE_TITLE)
    assert [(b.class_, b.title, b.secs) for b in view.evidence.buckets] == [("firefox", PRIVATE_TITLE, 60)]
    assert reviewed(driver) == [], "nor is the reviewer told that there was one"
    driver.do(End)
    for text in (state_json(view), repr(driver.session), repr(asdict(saving.to_saved(driver.session, "boot")))):
        assert "Gifts" not in text
    assert driver.session.recent[-1].buckets[0].title == PRIVATE_TITLE


def test_a_private_window_stays_private_under_later_titles_for_the_life_of_its_id() -> None:
    driver = Driver.active()
    driver.focus("firefox", PRIVATE, window_id="7")
    driver.focus("firefox", "Gifts for Grace — Mozilla Firefox", window_id="7")
    assert driver.session.evidence.window == Window("firefox", PRIVATE_TITLE, window_id="7", private=True)
    driver.focus("firefox", "News — Mozilla Firefox", window_id="8")
    assert driver.session.evidence.window == Window("firefox", "News — Mozilla Firefox", window_id="8")
    driver.do(Complete)
    driver.do(End)
    driver.do(EnterPlanning)
    driver.start()
    driver.focus("firefox", "Gifts for Grace — Mozilla Firefox", window_id="7")
    assert "Gifts" not in repr(driver.session), "in the next session too"


def test_a_window_that_becomes_private_later_is_so_from_then_on() -> None:
    driver = Driver.active()
    driver.focus("firefox", "Mozilla Firefox", window_id="7")
    driver.focus("firefox", PRIVATE, window_id="7")
    driver.focus("firefox", "Gifts for Grace — Mozilla Firefox", window_id="7")
    assert "Gifts" not in repr(driver.session)


def test_a_private_window_without_an_id_is_known_by_each_of_its_titles() -> None:
    driver = Driver.active()
    driver.focus("firefox", PRIVATE)
    driver.focus("firefox", "News — Mozilla Firefox")
    assert driver.session.evidence.window == Window("firefox", "News — Mozilla Firefox")
    assert driver.session.private_windows == ()


def test_the_ids_of_two_sensors_are_not_mixed_up() -> None:
    driver = Driver.active()
    driver.see(Window("firefox", PRIVATE, window_id="7"), Source.X11)
    driver.see(Window("firefox", "News — Mozilla Firefox", window_id="7"), Source.SHELL)
    assert driver.session.evidence.window == Window("firefox", "News — Mozilla Firefox", window_id="7")


def test_what_x11_sees_while_the_shell_reports_is_private_too() -> None:
    driver = Driver.active()
    driver.see(Window("code", "a.py"), Source.SHELL)
    driver.see(Window("firefox", PRIVATE, window_id="7"), Source.X11)
    assert "Gifts" not in repr(driver.session)


def test_so_many_ids_are_remembered_and_the_ones_in_use_longest() -> None:
    driver = Driver.active()
    driver.focus("firefox", PRIVATE, window_id="kept")
    for number in range(limits.PRIVATE_WINDOWS + 50):
        driver.focus("firefox", PRIVATE, window_id=str(number))
        driver.focus("firefox", "Gifts for Grace", window_id="kept")
    assert len(driver.session.private_windows) == limits.PRIVATE_WINDOWS
    assert "Gifts" not in repr(driver.session)


def test_private_pages_can_be_allowed_and_are_then_on_task_without_being_told_apart() -> None:
    driver = Driver.active()
    driver.focus("firefox", PRIVATE, window_id="7")
    driver.do(OnTask)
    assert driver.status is DriftStatus.ONTASK
    driver.focus("firefox", "Other gifts — Mozilla Firefox Private Browsing", window_id="7")
    assert driver.status is DriftStatus.ONTASK
    driver.focus("firefox", "News — Mozilla Firefox", window_id="8")
    assert driver.status is DriftStatus.PENDING, "the browser as a whole is not allowed by that"


def test_private_windows_of_an_allowed_browser_are_on_task_and_in_no_nudge() -> None:
    driver = Driver.active("firefox")
    driver.focus("firefox", PRIVATE, window_id="7")
    driver.focus("firefox", "Docs — Mozilla Firefox", window_id="8")
    driver.wait(400)
    assert driver.status is DriftStatus.ONTASK
    assert driver.asked == []


def test_the_verdict_on_an_app_does_not_show_on_a_private_window_of_it() -> None:
    driver = Driver.active()
    driver.focus("nyxt", "News")
    driver.answer(JUDGE, DRIFTS)
    driver.do(WindowSeen, Source.X11, Window("nyxt", PRIVATE, window_id="7"))
    assert driver.status is DriftStatus.IDLE
