"""Drift: what is judged when, what shows for which window, and when it interrupts."""

from __future__ import annotations

import pytest

from antidrift.domain import limits
from antidrift.domain.drift import Shown, shown
from antidrift.domain.errors import InvalidArgument, NothingToJudge
from antidrift.domain.events import (
    AllowAI,
    CameBack,
    Complete,
    End,
    EnterPlanning,
    OnTask,
    Refocus,
    SensorChanged,
    ShellStopped,
    WentAway,
)
from antidrift.domain.model import (
    Allowed,
    AwayCause,
    Consent,
    DriftStatus,
    Health,
    RoleName,
    Source,
    Verdict,
    Window,
)
from antidrift.domain.requests import Advice, JudgeRequest, NudgeRequest
from antidrift.domain.session import AI, Policy
from support.driver import BROKEN, NO_AI, Driver

JUDGE, NUDGE = RoleName.DRIFT_JUDGE, RoleName.NUDGE
DRIFTS = Verdict(on_task=False, reason="Reddit has nothing to do with the report")
FITS = Verdict(on_task=True)
YOUTUBE = "Ten cats - YouTube — Mozilla Firefox"
RUST = "Crust of Rust - YouTube — Mozilla Firefox"


def what_shows(driver: Driver) -> Shown:
    return shown(driver.session, driver.now)


def drifting(wm_class: str = "Slack", title: str = "#random") -> Driver:
    driver = Driver.active("code")
    driver.focus(wm_class, title)
    driver.answer(JUDGE, DRIFTS)
    return driver


# Local matching first


def test_an_allowed_class_is_on_task_and_nobody_is_asked() -> None:
    driver = Driver.active("code")
    driver.focus("Code", "main.py")
    assert driver.status is DriftStatus.ONTASK
    assert driver.asked == []


def test_all_four_matchers_of_the_config_are_live() -> None:
    always = Allowed(classes=("zotero",), titles=("annual report",), domains=("github.com",), commands=("pytest",))
    driver = Driver.active(policy=Policy(always))
    for window in (
        Window("Zotero", "library"),
        Window("libreoffice-writer", "Annual Report 2026.odt"),
        Window("firefox", "acme/billing · GitHub — Mozilla Firefox"),
        Window("XTerm", "~", command="pytest"),
    ):
        driver.see(window)
        assert driver.status is DriftStatus.ONTASK
    assert driver.asked_of(JUDGE) == []


# The judge


def test_an_unmatched_window_is_pending_until_the_judge_has_spoken() -> None:
    driver = Driver.active("code")
    driver.focus("Slack", "#random")
    assert driver.status is DriftStatus.PENDING
    driver.answer(JUDGE, DRIFTS)
    assert (driver.status, driver.reason) == (DriftStatus.DRIFTING, DRIFTS.reason)


def test_the_judge_is_told_the_commitment_and_this_one_window() -> None:
    driver = Driver.active("code")
    driver.focus("Slack", "#random")
    (request,) = driver.asked
    assert isinstance(request, JudgeRequest)
    assert (request.next_action, request.success_condition) == ("Write the report", "Two pages are written")
    assert (request.wm_class, request.title) == ("Slack", "#random")


def test_a_verdict_on_an_ordinary_app_holds_for_all_its_titles() -> None:
    driver = drifting()
    driver.focus("Slack", "#general")
    assert driver.status is DriftStatus.DRIFTING
    driver.wait(60)
    assert len(driver.asked_of(JUDGE)) == 1


def test_two_pages_of_a_browser_share_no_verdict() -> None:
    driver = Driver.active("code")
    driver.focus("firefox", RUST)
    driver.answer(JUDGE, FITS)
    driver.focus("firefox", YOUTUBE)
    assert driver.status is DriftStatus.PENDING
    driver.wait(10)
    driver.answer(JUDGE, DRIFTS)
    assert driver.status is DriftStatus.DRIFTING
    driver.focus("Navigator", RUST)
    assert driver.status is DriftStatus.ONTASK


def test_a_suppressed_window_is_judged_when_the_debounce_lapses_without_any_new_event() -> None:
    driver = Driver.active("code")
    driver.focus("Slack")
    driver.answer(JUDGE, FITS)
    driver.wait(3)
    driver.focus("discord")
    assert (driver.status, len(driver.asked)) == (DriftStatus.PENDING, 1)
    driver.wait(6.9)
    assert len(driver.asked) == 1
    driver.wait(0.2)
    assert [r.wm_class for r in driver.asked if isinstance(r, JudgeRequest)] == ["Slack", "discord"]


def test_a_suppressed_window_that_lost_the_focus_is_not_judged() -> None:
    driver = Driver.active("code")
    driver.focus("Slack")
    driver.answer(JUDGE, FITS)
    driver.focus("discord")
    driver.focus("code")
    driver.wait(60)
    assert len(driver.asked_of(JUDGE)) == 1


def test_one_judgement_is_in_flight_and_the_newest_window_waits() -> None:
    driver = Driver.active("code")
    driver.focus("Slack")
    driver.wait(20)
    driver.focus("discord")
    driver.focus("steam")
    assert len(driver.asked) == 1
    driver.answer(JUDGE, DRIFTS)
    assert driver.status is DriftStatus.PENDING  # never Slack's verdict on Steam
    assert [r.wm_class for r in driver.asked if isinstance(r, JudgeRequest)] == ["Slack", "steam"]


def test_a_verdict_that_comes_when_another_window_has_the_focus_is_kept_for_its_own() -> None:
    driver = Driver.active("code")
    driver.focus("Slack")
    driver.focus("code")
    driver.answer(JUDGE, DRIFTS)
    assert driver.status is DriftStatus.ONTASK
    driver.focus("Slack")
    assert driver.status is DriftStatus.DRIFTING
    assert len(driver.asked) == 1


def test_a_verdict_of_an_earlier_session_is_dropped() -> None:
    driver = Driver.active("code")
    driver.focus("Slack")
    late = driver.in_flight[JUDGE]
    driver.do(Complete)
    driver.do(End)
    driver.do(EnterPlanning)
    driver.start("code")
    driver.in_flight[JUDGE] = late
    driver.answer(JUDGE, DRIFTS)
    driver.focus("Slack")
    assert driver.status is DriftStatus.PENDING


def test_a_failing_judge_never_fabricates_drift_and_is_asked_again_only_when_the_window_is_seen_anew() -> None:
    driver = Driver.active("code")
    driver.focus("Slack", "#random")
    driver.fail(JUDGE)
    assert driver.status is DriftStatus.IDLE
    driver.wait(120)
    assert len(driver.asked) == 1
    driver.focus("Slack", "#general")
    assert len(driver.asked) == 2


def test_after_three_failures_nobody_is_asked_for_five_minutes_and_then_ten() -> None:
    driver = Driver.active("code", minutes=120)
    for n in range(3):
        driver.focus("firefox", f"page {n} — Mozilla Firefox")
        driver.fail(JUDGE)
        driver.wait(11)
    driver.focus("firefox", "another — Mozilla Firefox")
    assert driver.status is DriftStatus.IDLE
    assert driver.session.ai.retry_at is not None
    driver.wait(300)
    assert len(driver.asked) == 4  # asked once more, by itself
    driver.fail(JUDGE)
    driver.focus("firefox", "yet another — Mozilla Firefox")
    driver.wait(599)
    assert len(driver.asked) == 4
    driver.wait(2)
    driver.answer(JUDGE, FITS)
    assert driver.session.ai.retry_at is None
    assert driver.session.ai.fault is None


def test_no_title_is_asked_about_before_the_recorded_yes_and_at_once_after_it() -> None:
    driver = Driver.active("code", ai=AI("stand-in", available=True, answer=Consent.UNASKED))
    driver.focus("Slack", "#random")
    assert (driver.status, driver.asked) == (DriftStatus.IDLE, [])
    driver.do(AllowAI, True)
    assert driver.status is DriftStatus.PENDING
    assert len(driver.asked) == 1


def test_a_refusal_stops_what_is_in_flight_and_its_answer_counts_no_more() -> None:
    driver = Driver.active("code")
    driver.focus("Slack", "#random")
    driver.do(AllowAI, False)
    assert driver.in_flight == {}
    assert driver.status is DriftStatus.IDLE


def test_without_an_ai_unmatched_windows_stay_idle() -> None:
    driver = Driver.active("code", ai=NO_AI)
    driver.focus("Slack")
    assert (driver.status, driver.asked) == (DriftStatus.IDLE, [])


def test_classless_windows_share_no_verdict() -> None:
    driver = Driver.active()
    driver.focus("", "a dialog", window_id="0x1")
    driver.answer(JUDGE, FITS)
    driver.focus("", "a dialog", window_id="0x2")
    assert driver.status is DriftStatus.PENDING


def test_the_next_session_waits_for_no_debounce_of_the_one_before() -> None:
    driver = drifting()
    driver.do(Complete)
    driver.do(End)
    driver.do(EnterPlanning)
    driver.start("code")
    driver.focus("discord")
    assert len(driver.asked_of(JUDGE)) == 2


def test_so_many_verdicts_are_kept_and_the_oldest_goes_first() -> None:
    driver = Driver.active(minutes=24 * 60)
    for n in range(limits.VERDICTS + 1):
        driver.focus(f"app{n}")
        driver.wait(10)
        driver.answer(JUDGE, FITS)
    assert len(driver.session.drift.verdicts) == limits.VERDICTS
    driver.focus("app1")
    assert driver.status is DriftStatus.ONTASK
    driver.focus("app0")
    assert driver.status is DriftStatus.PENDING


# What front ends are told


def test_what_shows_is_about_a_window_and_names_its_site_where_there_is_one() -> None:
    driver = Driver.active("code")
    assert what_shows(driver) == Shown(DriftStatus.IDLE)
    driver.focus("code", "a.py")
    assert what_shows(driver) == Shown(DriftStatus.ONTASK, "", ("code", ""))
    driver.focus("firefox", YOUTUBE)
    assert what_shows(driver) == Shown(DriftStatus.PENDING, "", ("firefox", "YouTube"))
    driver.answer(JUDGE, DRIFTS)
    assert what_shows(driver) == Shown(DriftStatus.DRIFTING, DRIFTS.reason, ("firefox", "YouTube"))


def test_a_window_without_a_class_shows_under_the_name_of_its_app() -> None:
    driver = Driver.active("org.gnome.Maps")
    driver.focus("", "Maps", app_id="org.gnome.Maps")
    assert what_shows(driver) == Shown(DriftStatus.ONTASK, "", ("org.gnome.Maps", ""))


def test_the_reason_of_an_on_task_verdict_does_not_show() -> None:
    driver = Driver.active()
    driver.focus("Slack")
    driver.answer(JUDGE, Verdict(on_task=True, reason="it is about the report"))
    assert driver.reason == ""


def test_while_failures_keep_the_ai_unasked_nothing_shows_of_an_unknown_window() -> None:
    driver = drifting()
    for n in range(3):
        driver.wait(11)
        driver.focus("firefox", f"page {n} — Mozilla Firefox")
        driver.fail(JUDGE)
    driver.focus("firefox", "one more — Mozilla Firefox")
    assert what_shows(driver) == Shown(DriftStatus.IDLE)
    driver.do(OnTask)
    assert driver.session.commitment is not None
    assert "Slack" in driver.session.commitment.allowed_window_classes


# Neutral windows


@pytest.mark.parametrize("window", [None, Window("gnome-shell", "Overview"), Window(), Window("i3lock")])
def test_a_neutral_window_leaves_the_status_as_it_is_and_asks_nobody(window: Window | None) -> None:
    driver = drifting()
    asked = len(driver.asked)
    driver.see(window)
    driver.wait(30)
    assert driver.status is DriftStatus.DRIFTING
    assert len(driver.asked) == asked


def test_a_neutral_window_keeps_the_on_task_stretch() -> None:
    driver = Driver.active("code")
    driver.focus("code", "a.py")
    driver.focus("code", "b.py")
    driver.see(None)
    driver.answer(NUDGE, Advice("Heads up"))
    assert driver.session.drift.nudge == "Heads up"


def test_a_pending_window_below_a_neutral_one_is_judged_when_it_has_the_focus_again() -> None:
    driver = Driver.active()
    driver.focus("Slack")
    driver.answer(JUDGE, FITS)
    driver.focus("discord")
    driver.see(None)
    driver.wait(60)
    assert len(driver.asked) == 1
    driver.focus("discord")
    assert len(driver.asked) == 2


# This is on task


def test_on_task_allows_the_class_of_an_ordinary_app_for_the_session() -> None:
    driver = drifting()
    driver.do(OnTask)
    assert driver.status is DriftStatus.ONTASK
    assert driver.session.commitment is not None
    assert driver.session.commitment.allowed_window_classes == ("code", "Slack")
    driver.focus("Slack", "#other")
    driver.wait(60)
    assert len(driver.asked_of(JUDGE)) == 1


def test_on_task_allows_the_site_of_a_browser_page_and_no_other_site() -> None:
    driver = drifting("firefox", YOUTUBE)
    driver.do(OnTask)
    assert driver.session.commitment is not None
    assert driver.session.commitment.allowed_sites == ("YouTube",)
    driver.focus("firefox", RUST)
    assert driver.status is DriftStatus.ONTASK
    driver.focus("firefox", "r/rustjerk - reddit — Mozilla Firefox")
    assert driver.status is DriftStatus.PENDING


def test_on_task_allows_only_the_page_where_the_title_names_no_site() -> None:
    driver = drifting("firefox", "Netflix — Mozilla Firefox")
    driver.do(OnTask)
    assert driver.status is DriftStatus.ONTASK
    driver.focus("firefox", "Pinterest — Mozilla Firefox")
    assert driver.status is DriftStatus.PENDING


def test_on_task_from_a_terminal_means_the_window_that_drifted_last() -> None:
    driver = drifting()
    driver.focus("XTerm", "busctl")
    driver.wait(30)
    driver.do(OnTask)
    assert driver.session.commitment is not None
    assert "Slack" in driver.session.commitment.allowed_window_classes
    assert "XTerm" not in driver.session.commitment.allowed_window_classes


def test_on_task_means_the_window_that_drifted_last_for_a_minute() -> None:
    driver = drifting()
    driver.focus("XTerm", "busctl")
    driver.wait(60)
    driver.do(OnTask)
    assert driver.session.commitment is not None
    assert driver.session.commitment.allowed_window_classes == ("code", "Slack")


def test_the_minute_of_on_task_begins_when_the_drift_ends() -> None:
    driver = drifting()
    driver.now = driver.now.at(driver.now.boot + 100)
    driver.focus("XTerm", "busctl")
    driver.wait(50)
    driver.do(OnTask)
    assert driver.session.commitment is not None
    assert driver.session.commitment.allowed_window_classes == ("code", "Slack")


def test_a_second_on_task_from_a_terminal_means_the_terminal() -> None:
    driver = drifting()
    driver.focus("XTerm", "busctl")
    driver.do(OnTask)
    driver.do(OnTask)
    assert driver.session.commitment is not None
    assert driver.session.commitment.allowed_window_classes == ("code", "Slack", "XTerm")


def test_on_task_after_more_than_a_minute_means_the_focused_window() -> None:
    driver = drifting()
    driver.focus("XTerm", "busctl")
    driver.wait(61)
    driver.do(OnTask)
    assert driver.session.commitment is not None
    assert driver.session.commitment.allowed_window_classes == ("code", "XTerm")


def test_on_task_with_nothing_focused_and_nothing_drifted_is_refused() -> None:
    driver = Driver.active("code")
    with pytest.raises(NothingToJudge, match=r"^no window has the focus"):
        driver.do(OnTask)
    driver.focus("Slack")
    driver.see(None)
    with pytest.raises(NothingToJudge):
        driver.do(OnTask)


def test_on_task_twice_allows_once() -> None:
    driver = drifting()
    driver.do(OnTask)
    driver.do(OnTask)
    assert driver.session.commitment is not None
    assert driver.session.commitment.allowed_window_classes == ("code", "Slack")


@pytest.mark.parametrize(
    ("what", "window"),
    [
        ("apps", "app{n}"),
        ("sites", "Ten cats - Site {n} — Mozilla Firefox"),
        ("pages", "Page{n} — Mozilla Firefox"),
    ],
)
def test_the_allowed_context_is_bounded(what: str, window: str) -> None:
    driver = Driver.active(ai=NO_AI)
    for n in range(65):
        name = window.format(n=n)
        driver.focus(*(("firefox", name) if "Firefox" in name else (name, "")))
        if n < 64:
            driver.do(OnTask)
    before = driver.session
    with pytest.raises(InvalidArgument, match=f"^64 {what} "):
        driver.do(OnTask)
    assert driver.session is before


def test_on_task_allows_a_browser_without_a_title_as_that_page_and_not_as_an_app() -> None:
    driver = Driver.active(ai=NO_AI)
    driver.focus("firefox", "")
    driver.do(OnTask)
    assert driver.status is DriftStatus.ONTASK
    driver.focus("firefox", YOUTUBE)
    assert driver.status is DriftStatus.IDLE


def test_on_task_allows_one_page_of_an_app_that_serves_many_purposes() -> None:
    driver = Driver.active(ai=NO_AI, policy=Policy(many_purpose=frozenset({"obsidian"})))
    driver.focus("obsidian", "Report")
    driver.do(OnTask)
    assert driver.status is DriftStatus.ONTASK
    driver.focus("obsidian", "Diary")
    assert driver.status is DriftStatus.IDLE


def test_on_task_allows_a_window_without_a_class_and_no_other_of_the_kind() -> None:
    driver = Driver.active(ai=NO_AI)
    driver.focus("", "a dialog", window_id="0x1")
    driver.do(OnTask)
    assert driver.status is DriftStatus.ONTASK
    driver.focus("", "a dialog", window_id="0x2")
    assert driver.status is DriftStatus.IDLE


# Back to task


def test_refocus_clears_the_verdict_and_judges_again_only_after_focus_was_lost_and_regained() -> None:
    driver = drifting()
    driver.do(Refocus)
    assert driver.status is DriftStatus.IDLE
    driver.wait(120)
    driver.focus("Slack", "#general")
    assert len(driver.asked) == 1
    driver.focus("code")
    driver.focus("Slack")
    assert driver.status is DriftStatus.PENDING
    assert len(driver.asked) == 2


def test_refocus_of_the_window_that_drifted_last_drops_its_verdict() -> None:
    driver = drifting()
    driver.focus("code")
    driver.do(Refocus)
    driver.wait(20)
    driver.focus("Slack")
    assert driver.status is DriftStatus.PENDING


def test_refocus_twice_from_a_terminal_drops_one_verdict() -> None:
    driver = drifting()
    driver.focus("code")
    driver.do(Refocus)
    before = driver.session
    driver.do(Refocus)
    assert driver.session == before


def test_on_task_after_refocus_means_the_focused_window() -> None:
    driver = drifting()
    driver.focus("XTerm", "busctl")
    driver.do(Refocus)
    driver.do(OnTask)
    assert driver.session.commitment is not None
    assert driver.session.commitment.allowed_window_classes == ("code", "XTerm")


def test_a_window_that_has_drifted_for_long_without_any_event_can_be_refocused() -> None:
    driver = drifting()
    driver.now = driver.now.at(driver.now.boot + 100)
    driver.do(Refocus)
    assert driver.status is DriftStatus.IDLE


def test_refocus_without_drift_changes_nothing() -> None:
    driver = Driver.active("code")
    driver.focus("code")
    before = driver.session
    driver.do(Refocus)
    assert driver.session == before


# The interrupt


def test_the_interrupt_waits_for_eight_seconds_of_drift_counted_from_the_focus() -> None:
    driver = Driver.active("code")
    driver.focus("Slack")
    driver.wait(5)
    driver.answer(JUDGE, DRIFTS)
    assert not driver.session.drift.interrupt
    driver.wait(2.9)
    assert not driver.session.drift.interrupt
    driver.wait(0.2)
    assert driver.session.drift.interrupt


def test_a_late_verdict_interrupts_at_once() -> None:
    driver = Driver.active("code")
    driver.focus("Slack")
    driver.wait(15)
    driver.answer(JUDGE, DRIFTS)
    assert driver.session.drift.interrupt


def test_the_interrupt_is_withdrawn_when_the_drift_ends() -> None:
    driver = drifting()
    driver.wait(9)
    assert driver.session.drift.interrupt
    driver.focus("code")
    assert driver.session.drift.interrupt is False


def test_one_key_interrupts_at_most_once_in_three_minutes() -> None:
    driver = drifting()
    driver.wait(9)
    driver.focus("code")
    driver.wait(1)
    driver.focus("Slack")
    assert driver.status is DriftStatus.DRIFTING
    driver.wait(60)
    assert not driver.session.drift.interrupt
    driver.wait(120)
    assert driver.session.drift.interrupt


def test_each_stretch_of_drift_is_an_episode_of_its_own() -> None:
    driver = drifting()
    assert driver.session.drift.episode == 1
    driver.focus("code")
    driver.focus("Slack")
    assert driver.session.drift.episode == 2


def test_drift_that_moves_between_windows_stays_one_stretch() -> None:
    driver = drifting()
    driver.focus("code")
    driver.wait(20)
    driver.focus("discord")
    driver.answer(JUDGE, DRIFTS)
    episode = driver.session.drift.episode
    for name in ("Slack", "discord") * 3:
        driver.wait(1.5)
        driver.focus(name)
    assert driver.session.drift.episode == episode
    assert driver.session.drift.interrupt


# Away


def test_nobody_drifts_is_judged_or_is_nudged_while_away() -> None:
    driver = drifting()
    driver.wait(9)
    driver.do(WentAway, AwayCause.LOCK, driver.now)
    assert driver.status is DriftStatus.IDLE
    assert not driver.session.drift.interrupt
    asked = len(driver.asked)
    driver.focus("greeter", "Password")
    driver.wait(60)
    assert len(driver.asked) == asked
    assert not driver.session.drift.interrupt


def test_drift_after_coming_back_is_counted_from_the_return() -> None:
    driver = drifting()
    driver.wait(1)
    driver.do(WentAway, AwayCause.IDLE, driver.now)
    driver.wait(60)
    driver.do(CameBack, AwayCause.IDLE)
    assert driver.status is DriftStatus.DRIFTING
    assert not driver.session.drift.interrupt
    driver.wait(8)
    assert driver.session.drift.interrupt


def test_leaving_takes_the_nudge_away_and_drops_one_that_comes_late() -> None:
    driver = nudgeable()
    late = driver.in_flight[NUDGE]
    driver.answer(NUDGE, Advice("This looks like a game"))
    driver.do(WentAway, AwayCause.IDLE, driver.now)
    assert driver.session.drift.nudge == ""
    driver.do(CameBack, AwayCause.IDLE)
    driver.in_flight[NUDGE] = late
    driver.answer(NUDGE, Advice("stale"))
    assert driver.session.drift.nudge == ""


# The sensor


def test_drift_is_counted_anew_once_a_sensor_that_had_died_works_again() -> None:
    driver = drifting()
    driver.do(SensorChanged, Health.ABSENT, BROKEN)
    driver.wait(60)
    driver.do(SensorChanged, Health.OK, None)
    driver.focus("Slack", "#random")
    assert driver.status is DriftStatus.DRIFTING
    assert not driver.session.drift.interrupt
    driver.wait(8)
    assert driver.session.drift.interrupt


def test_a_dead_sensor_never_reads_as_on_task() -> None:
    driver = Driver.active("code")
    driver.focus("code")
    driver.do(SensorChanged, Health.ABSENT, BROKEN)
    assert driver.status is DriftStatus.IDLE


def test_the_shell_wins_over_x11_while_it_reports_and_x11_takes_over_again() -> None:
    driver = Driver.active("code")
    driver.focus("Slack")
    driver.see(Window("code", "main.py"), Source.SHELL)
    assert driver.status is DriftStatus.ONTASK
    driver.focus("discord")
    assert driver.status is DriftStatus.ONTASK
    driver.do(ShellStopped)
    assert driver.session.drift.focus == Window("discord", "")


def test_a_shell_that_stops_with_no_x11_behind_it_leaves_nothing_on_task() -> None:
    driver = Driver.active("code")
    driver.see(Window("code", "main.py"), Source.SHELL)
    driver.do(ShellStopped)
    assert driver.status is DriftStatus.IDLE


# The nudge


def nudgeable() -> Driver:
    driver = Driver.active("code", minutes=120)
    driver.focus("code", "report.py")
    driver.focus("code", "game.py")
    return driver


def test_a_nudge_is_asked_for_with_two_titles_of_allowed_apps() -> None:
    driver = Driver.active("code")
    driver.focus("code", "report.py")
    assert driver.asked == []
    driver.focus("code", "game.py")
    (request,) = driver.asked
    assert isinstance(request, NudgeRequest)
    assert (request.next_action, request.success_condition) == ("Write the report", "Two pages are written")
    assert request.titles == ("report.py", "game.py")


def test_titles_of_other_apps_say_nothing_about_this_one() -> None:
    driver = Driver.active("code")
    driver.focus("code", "report.py")
    driver.focus("Slack", "#random")
    driver.focus("code", "report.py")
    assert driver.asked_of(NUDGE) == []


def test_a_nudge_is_asked_for_at_most_once_in_five_minutes_and_needs_no_new_event() -> None:
    driver = nudgeable()
    driver.answer(NUDGE, Advice(""))
    driver.wait(60)
    driver.focus("code", "third.py")
    driver.wait(239)
    assert len(driver.asked_of(NUDGE)) == 1
    driver.wait(2)
    assert len(driver.asked_of(NUDGE)) == 2


def test_a_nudge_is_not_asked_for_again_about_the_very_same_titles() -> None:
    driver = nudgeable()
    driver.answer(NUDGE, Advice(""))
    driver.wait(1800)
    assert len(driver.asked_of(NUDGE)) == 1


def test_what_was_on_track_once_stays_so_when_ten_other_titles_have_been_seen() -> None:
    driver = nudgeable()
    driver.answer(NUDGE, Advice(""))
    for n in range(10):
        driver.focus("code", f"file {n}.py")
    driver.wait(301)
    driver.answer(NUDGE, Advice(""))
    driver.focus("code", "report.py")
    driver.wait(301)
    assert len(driver.asked_of(NUDGE)) == 2


def test_nobody_is_nudged_below_a_neutral_window_or_while_away() -> None:
    driver = nudgeable()
    driver.answer(NUDGE, Advice(""))
    driver.focus("code", "third.py")
    driver.see(None)
    driver.wait(301)
    assert len(driver.asked_of(NUDGE)) == 1
    driver.do(WentAway, AwayCause.IDLE, driver.now)
    driver.focus("code", "third.py")
    driver.wait(10)
    assert len(driver.asked_of(NUDGE)) == 1
    driver.do(CameBack, AwayCause.IDLE)
    assert len(driver.asked_of(NUDGE)) == 2


def test_a_nudge_that_shows_is_not_asked_for_again_about_the_very_same_titles() -> None:
    driver = nudgeable()
    driver.answer(NUDGE, Advice("This looks like a game"))
    driver.wait(1800)
    assert len(driver.asked_of(NUDGE)) == 1


def test_titles_that_were_on_track_are_asked_about_again_in_no_other_order() -> None:
    driver = nudgeable()
    driver.answer(NUDGE, Advice(""))
    driver.focus("code", "report.py")
    driver.wait(301)
    assert len(driver.asked_of(NUDGE)) == 1
    driver.focus("code", "third.py")
    driver.answer(NUDGE, Advice(""))
    driver.focus("code", "game.py")
    driver.wait(301)
    assert len(driver.asked_of(NUDGE)) == 2


def test_titles_that_were_off_track_are_asked_about_again_although_they_had_been_on_track_before() -> None:
    driver = Driver.active("code", minutes=120)
    files = [f"file {n}.py" for n in range(10)]

    def look_at(titles: list[str], advice: str) -> None:
        for title in titles:
            driver.focus("code", title)
            driver.wait(301)
            if NUDGE in driver.in_flight:
                driver.answer(NUDGE, Advice(advice))

    look_at(files, "")
    look_at(["game.py", *files], "This looks like a game")
    driver.focus("Slack")
    before = len(driver.asked_of(NUDGE))
    look_at(files[:1], "")
    assert len(driver.asked_of(NUDGE)) == before + 1


def test_a_failed_nudge_shows_nothing_and_is_tried_again_after_five_minutes() -> None:
    driver = nudgeable()
    driver.fail(NUDGE)
    assert driver.session.drift.nudge == ""
    driver.wait(299)
    assert len(driver.asked_of(NUDGE)) == 1
    driver.wait(2)
    assert len(driver.asked_of(NUDGE)) == 2


def test_leaving_the_allowed_apps_clears_the_nudge_and_drops_one_that_comes_late() -> None:
    driver = nudgeable()
    late = driver.in_flight[NUDGE]
    driver.answer(NUDGE, Advice("This looks like a game"))
    assert driver.session.drift.nudge == "This looks like a game"
    driver.focus("Slack")
    assert driver.session.drift.nudge == ""
    driver.focus("code", "report.py")
    driver.in_flight[NUDGE] = late
    driver.answer(NUDGE, Advice("stale"))
    assert driver.session.drift.nudge == ""


def test_a_nudge_that_finds_the_work_on_track_again_clears_the_one_that_shows() -> None:
    driver = nudgeable()
    driver.answer(NUDGE, Advice("This looks like a game"))
    driver.focus("code", "report.py")
    driver.wait(301)
    driver.answer(NUDGE, Advice(""))
    assert driver.session.drift.nudge == ""


def test_the_last_ten_distinct_titles_are_kept_in_the_order_last_seen() -> None:
    driver = Driver.active("code")
    for n in [*range(12), 5]:
        driver.focus("code", f"file {n}.py")
    expected = tuple(f"file {n}.py" for n in (2, 3, 4, 6, 7, 8, 9, 10, 11, 5))
    assert driver.session.drift.titles == expected


def test_no_title_is_no_title_of_the_work() -> None:
    driver = Driver.active("code")
    driver.focus("code", "report.py")
    driver.focus("code", "")
    assert driver.session.drift.titles == ("report.py",)


def test_a_spinner_in_a_title_is_no_new_title() -> None:
    driver = Driver.active("terminal")
    for glyph in "⠋⠙⠹⠸":
        driver.focus("org.gnome.Terminal", f"{glyph} make test")
    assert driver.session.drift.titles == ("make test",)
