"""Where the time goes: buckets add up, absences are taken back, and an all-day session stays small."""

from __future__ import annotations

import random

import pytest

from antidrift.domain import limits
from antidrift.domain.events import CameBack, Complete, Extend, TimePassed, WentAway, WindowSeen
from antidrift.domain.evidence import NO_WINDOW, OTHER, top
from antidrift.domain.machine import remaining, summary
from antidrift.domain.model import AwayCause, Instant, Outcome, Phase, Source, Window
from antidrift.domain.saving import restore, to_saved
from antidrift.domain.session import Policy
from antidrift.wire import state_json, view_of
from support.driver import NO_AI, START, Driver


def working() -> Driver:
    return Driver.active("code", ai=NO_AI)


def bucket(driver: Driver, wm_class: str, title: str = "") -> float:
    return driver.session.evidence.buckets.get((wm_class, title), 0.0)


def total(driver: Driver) -> float:
    return sum(driver.session.evidence.buckets.values()) + driver.session.evidence.away_secs


def test_time_goes_to_the_focused_window_and_without_one_to_none() -> None:
    driver = working()
    driver.wait(3)
    driver.focus("code", "a.py")
    driver.wait(10)
    driver.focus("Slack", "#random")
    driver.wait(5)
    driver.see(None)
    driver.wait(2)
    assert bucket(driver, "code", "a.py") == pytest.approx(10)
    assert bucket(driver, "Slack", "#random") == pytest.approx(5)
    assert bucket(driver, *NO_WINDOW) == pytest.approx(5)


def test_time_of_a_window_without_a_class_goes_to_its_app_and_else_to_an_unknown_one() -> None:
    driver = working()
    driver.focus("", "Maps", app_id="org.gnome.Maps")
    driver.wait(0.5)
    driver.focus("", "a dialog")
    driver.wait(0.5)
    assert bucket(driver, "org.gnome.Maps", "Maps") == 0.5
    assert bucket(driver, "(unknown)", "a dialog") == 0.5


def test_a_title_change_is_no_switch_and_another_window_is_one() -> None:
    driver = working()
    driver.focus("code", "a.py", window_id="1")
    driver.focus("code", "b.py", window_id="1")
    assert driver.session.evidence.switch_count == 0
    driver.focus("code", "b.py", window_id="2")
    driver.see(None)
    driver.focus("code", "b.py", window_id="2")
    assert driver.session.evidence.switch_count == 1


def test_jitter_between_observations_loses_no_time() -> None:
    driver = working()
    noise = random.Random(7)
    for n in range(2000):
        driver.wait(noise.uniform(0.15, 0.75) if n else 0.2)
        driver.focus(noise.choice(["code", "Slack", "firefox"]), f"title {noise.randrange(50)}")
    assert total(driver) == pytest.approx(driver.now.boot - START.boot, abs=1)


def test_an_observation_older_than_the_last_is_clamped() -> None:
    driver = working()
    driver.wait(10)
    driver.take(WindowSeen(driver.now.at(driver.now.boot - 5), Source.X11, Window("code", "a.py")))
    assert driver.session.clock.boot == driver.now.boot
    driver.wait(10)
    assert bucket(driver, "code", "a.py") == pytest.approx(10)
    assert total(driver) == pytest.approx(20)


@pytest.mark.parametrize("hours", [-1, 1, 23, -23])
def test_the_wall_clock_moves_neither_countdown_nor_buckets(hours: int) -> None:
    driver = working()
    driver.focus("code", "a.py")
    driver.wait(60)
    driver.set_wall_clock(hours)
    driver.wait(60)
    assert remaining(driver.session) == pytest.approx(25 * 60 - 120)
    assert bucket(driver, "code", "a.py") == pytest.approx(120)


def test_an_all_day_session_stays_small() -> None:
    driver = Driver.active("code", ai=NO_AI, minutes=180)
    at = driver.now
    for n in range(10_000):
        at = at.at(at.boot + 0.8)
        driver.take(WindowSeen(at, Source.X11, Window("firefox", f"page {n} {'x' * 900}", window_id="1")))
    driver.take(TimePassed(at.at(at.boot + 1)))
    seen = driver.session.evidence
    assert len(seen.buckets) == limits.BUCKETS + 1
    assert OTHER in seen.buckets
    assert len(seen.lately) <= limits.TAKE_BACK_STRETCHES
    assert len(state_json(view_of(driver.session, instance="i", seq=1, store_fault=None))) < 64 * 1024


def test_the_largest_buckets_come_first_and_equal_ones_by_name() -> None:
    driver = working()
    for name, secs in (("b", 5), ("a", 5), ("c", 9)):
        driver.focus(name)
        driver.wait(secs)
    assert [b.wm_class for b in top(driver.session.evidence, 2)] == ["c", "a"]


def test_a_window_is_seen_since_its_last_change() -> None:
    driver = working()
    driver.wait(3)
    driver.focus("code", "a.py")
    seen_at = driver.now
    driver.wait(3)
    driver.focus("code", "a.py")
    assert driver.session.evidence.window_since == seen_at
    driver.see(None)
    driver.wait(3)
    driver.focus("code", "a.py")
    assert driver.session.evidence.window_since == driver.now


# Absence


def test_idle_is_dated_back_to_the_last_input_and_taken_out_of_the_buckets() -> None:
    driver = working()
    driver.focus("code", "a.py")
    driver.wait(100)
    last_input = driver.now
    driver.wait(60)
    driver.focus("code", "b.py")  # a title that ticks while nobody is there
    driver.wait(120)
    driver.do(WentAway, AwayCause.IDLE, last_input)
    driver.wait(20)
    driver.do(CameBack, AwayCause.IDLE)
    driver.wait(10)
    assert bucket(driver, "code", "a.py") == pytest.approx(100)
    assert bucket(driver, "code", "b.py") == pytest.approx(10)
    assert driver.session.evidence.away_secs == pytest.approx(200)
    assert remaining(driver.session) == pytest.approx(25 * 60 - 310)


def test_of_many_windows_only_those_after_the_last_input_give_their_time_back() -> None:
    driver = working()
    for name, secs in (("a", 10), ("b", 10.5), ("c", 10), ("d", 0.5)):
        driver.focus(name)
        driver.wait(secs)
    driver.do(WentAway, AwayCause.IDLE, driver.now.at(START.boot + 20))
    left = {wm_class: secs for (wm_class, _), secs in driver.session.evidence.buckets.items()}
    assert left == pytest.approx({"a": 10, "b": 10})
    assert driver.session.evidence.away_secs == pytest.approx(11)


def test_less_than_a_second_is_left_where_it_was() -> None:
    driver = working()
    driver.focus("a")
    driver.wait(10)
    driver.do(WentAway, AwayCause.IDLE, driver.now.at(START.boot + 0.5))
    assert bucket(driver, "a") == pytest.approx(0.5)
    assert driver.session.evidence.away_secs == pytest.approx(9.5)


def test_what_was_given_back_once_is_not_given_back_again() -> None:
    driver = working()
    driver.focus("a")
    driver.wait(100)
    for since in (60, 40):
        driver.do(WentAway, AwayCause.IDLE, driver.now.at(START.boot + since))
        driver.do(CameBack, AwayCause.IDLE)
    assert bucket(driver, "a") == pytest.approx(40)
    assert driver.session.evidence.away_secs == pytest.approx(60)


def test_the_longest_idle_time_that_can_be_set_is_taken_back_whole() -> None:
    driver = Driver.active("code", ai=NO_AI, minutes=180)
    driver.focus("code", "a.py")
    driver.wait(3600)
    driver.do(WentAway, AwayCause.IDLE, driver.now.at(driver.now.boot - 3600))
    assert driver.session.evidence.away_secs == pytest.approx(3600)


def test_however_often_the_service_woke_up_meanwhile_an_absence_is_taken_back_whole() -> None:
    driver = Driver.active("code", ai=NO_AI, minutes=180)
    driver.focus("code", "a.py")
    driver.wait(100)
    driver.focus("code", "b.py")
    for _ in range(limits.TAKE_BACK_STRETCHES + 100):
        driver.wait(1)
    driver.do(WentAway, AwayCause.IDLE, START.at(START.boot + 40))
    assert driver.session.evidence.buckets == {("code", "a.py"): 40}
    assert driver.session.evidence.away_secs == 60 + limits.TAKE_BACK_STRETCHES + 100


def test_so_many_stretches_are_kept_for_that_however_quickly_the_focus_moves() -> None:
    driver = working()
    for n in range(limits.TAKE_BACK_STRETCHES + 10):
        driver.focus("code", "ab"[n % 2])
        driver.wait(1)
    assert len(driver.session.evidence.lately) == limits.TAKE_BACK_STRETCHES


def test_nobody_is_found_to_have_been_away_for_much_more_than_an_hour() -> None:
    driver = Driver.active("code", ai=NO_AI, minutes=240)
    for n in range(36):
        driver.focus("code", "ab"[n % 2])
        driver.wait(300)
    driver.do(WentAway, AwayCause.IDLE, START)
    assert 3700 <= driver.session.evidence.away_secs <= 4000


def test_lock_pauses_the_timebox_and_a_short_one_resumes_quietly() -> None:
    driver = working()
    driver.wait(60)
    driver.do(WentAway, AwayCause.LOCK, driver.now)
    driver.wait(300)
    assert remaining(driver.session) == pytest.approx(24 * 60)
    driver.do(CameBack, AwayCause.LOCK)
    assert driver.session.phase is Phase.ACTIVE
    driver.wait(60)
    assert remaining(driver.session) == pytest.approx(23 * 60)
    assert driver.session.evidence.away_secs == pytest.approx(300)


def test_nine_hours_of_sleep_are_no_work() -> None:
    driver = working()
    driver.focus("code", "a.py")
    driver.wait(600)
    driver.do(WentAway, AwayCause.SLEEP, driver.now)
    left = driver.now
    driver.now = driver.now.at(driver.now.boot + 8 * 3600)  # no timer fires in suspend
    driver.do(CameBack, AwayCause.SLEEP)
    assert driver.session.outcome is Outcome.INTERRUPTED
    record = summary(driver.session)
    assert (record.active_secs, record.away_secs) == (600, 0)
    assert record.ended_at_ms == left.unix_ms


def test_a_screen_that_stays_locked_ends_the_session_without_anybody_coming_back() -> None:
    driver = working()
    driver.wait(60)
    driver.do(WentAway, AwayCause.LOCK, driver.now)
    driver.wait(599)
    assert driver.session.phase is Phase.ACTIVE
    driver.wait(2)
    assert driver.session.outcome is Outcome.INTERRUPTED


def test_an_interrupted_session_ends_when_the_person_left_and_keeps_its_earlier_absences() -> None:
    driver = working()
    driver.wait(60)
    driver.do(WentAway, AwayCause.IDLE, driver.now)
    driver.wait(30)
    driver.do(CameBack, AwayCause.IDLE)
    driver.wait(10)
    left = driver.now
    driver.do(WentAway, AwayCause.LOCK, left)
    driver.wait(300)
    driver.wait(301)
    assert driver.session.outcome is Outcome.INTERRUPTED
    record = summary(driver.session)
    assert (record.active_secs, record.away_secs, record.ended_at_ms) == (70, 30, left.unix_ms)


def test_sleep_inside_idle_counts_no_second_twice() -> None:
    driver = working()
    driver.wait(100)
    last_input = driver.now
    driver.wait(180)
    driver.do(WentAway, AwayCause.IDLE, last_input)
    driver.do(WentAway, AwayCause.SLEEP, driver.now)
    driver.wait(30)
    driver.do(CameBack, AwayCause.SLEEP)
    driver.do(CameBack, AwayCause.IDLE)
    assert driver.session.evidence.away_secs == pytest.approx(210)
    assert total(driver) == pytest.approx(310)


@pytest.mark.parametrize(
    ("before", "asleep", "idle"), [(100, 90, True), (100, 70, False), (0, 190, False), (170, 11, True)]
)
def test_idleness_that_turns_into_sleep_is_idle_from_the_last_input_if_both_are_long_enough(
    before: int, asleep: int, idle: bool
) -> None:
    driver = working()
    driver.focus("code", "a.py")
    driver.wait(100)
    last_input = driver.now
    driver.wait(before)
    driver.do(WentAway, AwayCause.SLEEP, last_input)
    driver.now = driver.now.at(driver.now.boot + asleep)  # no timer fires in suspend
    driver.do(CameBack, AwayCause.SLEEP)
    driver.wait(20)
    assert driver.session.evidence.away_secs == pytest.approx(asleep + (before if idle else 0))
    assert total(driver) == pytest.approx(120 + before + asleep)
    assert remaining(driver.session) == pytest.approx(25 * 60 - 120 - before)


def test_a_night_that_begins_with_idleness_ends_the_session_at_the_last_input() -> None:
    driver = working()
    driver.wait(600)
    last_input = driver.now
    driver.wait(150)
    driver.do(WentAway, AwayCause.SLEEP, last_input)
    driver.now = driver.now.at(driver.now.boot + 8 * 3600)
    driver.do(CameBack, AwayCause.SLEEP)
    assert driver.session.outcome is Outcome.INTERRUPTED
    record = summary(driver.session)
    assert (record.active_secs, record.away_secs, record.ended_at_ms) == (600, 0, last_input.unix_ms)


def test_idleness_that_is_noticed_when_the_screen_is_locked_already_is_dated_back_all_the_same() -> None:
    """The screen locks itself after five minutes, and the person allows ten without input."""
    driver = working()
    driver.wait(100)
    last_input = driver.now
    driver.wait(300)
    driver.do(WentAway, AwayCause.LOCK, driver.now)
    driver.wait(300)
    driver.do(WentAway, AwayCause.IDLE, last_input)
    assert driver.session.evidence.away_secs == pytest.approx(600)
    assert remaining(driver.session) == pytest.approx(25 * 60 - 400)  # of which idleness has paused nothing
    driver.wait(301)
    assert driver.session.outcome is Outcome.INTERRUPTED
    assert summary(driver.session).active_secs == 100


def test_who_has_been_woken_up_and_still_finds_the_screen_locked_is_not_dated_back_over_it() -> None:
    """Waking up is input."""
    driver = working()
    driver.wait(100)
    last_input = driver.now
    driver.wait(50)
    driver.do(WentAway, AwayCause.LOCK, driver.now)
    driver.do(WentAway, AwayCause.SLEEP, last_input)
    driver.wait(60)
    driver.do(CameBack, AwayCause.SLEEP)
    driver.wait(200)
    driver.do(CameBack, AwayCause.LOCK)
    assert driver.session.evidence.away_secs == pytest.approx(260)


def test_an_absence_is_dated_back_no_further_than_the_service_looked() -> None:
    """It was started anew during the session, and what it knew of single moments is gone."""
    driver = working()
    driver.wait(100)
    saved = to_saved(driver.session, "boot")
    session, _ = restore(saved, (), Policy(), NO_AI, driver.now, "boot")
    driver = Driver(session, driver.now)
    driver.wait(180)
    driver.do(WentAway, AwayCause.IDLE, driver.now.at(START.boot + 50))
    driver.do(WentAway, AwayCause.LOCK, driver.now)
    driver.wait(601)
    record = summary(driver.session)
    assert (record.active_secs, record.away_secs) == (100, 0)
    assert record.ended_at_ms - record.started_at_ms == 100_000


def test_an_absence_dated_before_the_session_begins_with_it() -> None:
    driver = working()
    driver.wait(10)
    driver.do(WentAway, AwayCause.IDLE, Instant(0.0, 0))
    assert driver.session.evidence.away_secs == pytest.approx(10)
    assert total(driver) == pytest.approx(10)


def test_a_second_report_of_the_same_absence_changes_nothing() -> None:
    driver = working()
    driver.wait(10)
    driver.do(WentAway, AwayCause.LOCK, driver.now)
    driver.wait(5)
    before = driver.session
    driver.do(WentAway, AwayCause.LOCK, driver.now)
    assert driver.session == before


def test_extending_while_paused_is_reckoned_from_the_time_left() -> None:
    driver = working()
    driver.wait(60)
    driver.do(WentAway, AwayCause.LOCK, driver.now)
    driver.wait(120)
    driver.do(Extend, 60)
    driver.do(CameBack, AwayCause.LOCK)
    assert remaining(driver.session) == pytest.approx(25 * 60)


def test_the_summary_adds_up_to_start_and_end() -> None:
    driver = working()
    driver.focus("code", "a.py")
    driver.wait(100)
    driver.do(WentAway, AwayCause.IDLE, driver.now)
    driver.wait(50)
    driver.do(CameBack, AwayCause.IDLE)
    driver.wait(30)
    driver.do(Complete)
    record = summary(driver.session)
    assert record.active_secs + record.away_secs == (record.ended_at_ms - record.started_at_ms) // 1000 == 180
