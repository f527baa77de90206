"""Who is there: several absences at once, those that begin before a session or end after it, and which one shows."""

from __future__ import annotations

import pytest

from antidrift.domain.events import CameBack, Complete, EnterPlanning, WentAway
from antidrift.domain.machine import as_of, remaining
from antidrift.domain.model import AwayCause, DriftStatus, Outcome, Phase
from antidrift.domain.presence import cause_shown
from antidrift.domain.session import Presence
from support.driver import NO_AI, START, Driver

IDLE, LOCK, SLEEP, UNOBSERVED = AwayCause.IDLE, AwayCause.LOCK, AwayCause.SLEEP, AwayCause.UNOBSERVED
MINUTE = 60.0


def working() -> Driver:
    driver = Driver.active("code", ai=NO_AI)
    driver.focus("code", "a.py")
    return driver


def left_at(driver: Driver, cause: AwayCause, ago: float = 0) -> None:
    driver.do(WentAway, cause, driver.now.at(driver.now.boot - ago))


@pytest.mark.parametrize("first", [IDLE, LOCK])
def test_a_session_that_starts_under_a_locked_screen_waits_for_the_person(first: AwayCause) -> None:
    driver = Driver()
    driver.do(EnterPlanning)
    for cause in dict.fromkeys((first, LOCK)):
        left_at(driver, cause)
        driver.wait(10)
    driver.start("code")
    driver.focus("code")
    assert driver.session.presence.since == driver.now
    driver.wait(100)
    assert driver.status is DriftStatus.IDLE
    assert remaining(driver.session) == 25 * MINUTE
    for cause in (first, LOCK):
        driver.do(CameBack, cause)
    assert driver.status is DriftStatus.ONTASK
    driver.wait(10)
    assert remaining(driver.session) == 25 * MINUTE - 10
    assert driver.session.evidence.away_secs == 100


def test_a_session_that_starts_while_the_person_is_idle_runs_on() -> None:
    driver = Driver()
    driver.do(EnterPlanning)
    left_at(driver, IDLE)
    driver.start("code")
    driver.wait(100)
    assert remaining(driver.session) == 25 * MINUTE - 100


def test_leaving_during_the_review_takes_nothing_back() -> None:
    driver = working()
    driver.wait(100)
    driver.do(Complete)
    before = driver.session.evidence
    left_at(driver, IDLE, ago=50)
    assert driver.session.evidence == before


def test_an_absence_lasts_from_the_first_cause_to_the_end_of_the_last() -> None:
    driver = working()
    driver.wait(10)
    left = driver.now
    left_at(driver, IDLE)
    driver.wait(10)
    left_at(driver, LOCK)
    driver.wait(10)
    driver.do(CameBack, IDLE)
    assert driver.session.presence.causes == {LOCK}
    assert driver.session.presence.since == left
    driver.wait(10)
    driver.do(CameBack, LOCK)
    assert driver.session.presence == Presence()
    assert driver.session.evidence.away_secs == 30


def test_the_timebox_stands_from_the_first_pausing_cause_to_the_end_of_the_last() -> None:
    driver = working()
    left_at(driver, LOCK)
    driver.wait(100)
    left_at(driver, SLEEP)
    left_at(driver, IDLE)
    driver.wait(50)
    for cause in (IDLE, LOCK):
        driver.do(CameBack, cause)
        driver.wait(10)
        assert remaining(driver.session) == 25 * MINUTE
    driver.do(CameBack, SLEEP)
    driver.wait(10)
    assert remaining(driver.session) == 25 * MINUTE - 10


def test_the_timebox_runs_again_when_only_idleness_is_left_of_an_absence() -> None:
    driver = working()
    left_at(driver, LOCK)
    left_at(driver, IDLE)
    driver.wait(100)
    driver.do(CameBack, LOCK)
    driver.wait(10)
    assert remaining(driver.session) == 25 * MINUTE - 10
    assert driver.session.presence.causes == {IDLE}


def test_a_pause_is_dated_back_with_the_absence_that_it_begins() -> None:
    driver = working()
    driver.wait(100)
    left_at(driver, LOCK, ago=30)
    assert remaining(driver.session) == 25 * MINUTE - 70
    driver.do(CameBack, LOCK)
    assert remaining(driver.session) == 25 * MINUTE - 70


def test_a_pause_inside_an_absence_begins_when_it_is_noticed() -> None:
    driver = working()
    driver.wait(100)
    left_at(driver, IDLE, ago=50)
    driver.wait(10)
    left_at(driver, LOCK, ago=40)
    driver.wait(10)
    assert remaining(driver.session) == 25 * MINUTE - 110


@pytest.mark.parametrize("other", [IDLE, LOCK])
def test_a_long_sleep_is_dated_back_to_the_last_input_whatever_else_has_ended_meanwhile(other: AwayCause) -> None:
    driver = working()
    driver.wait(100)
    left_at(driver, SLEEP, ago=50)
    left_at(driver, other)
    driver.do(CameBack, other)
    later = driver.now.at(driver.now.boot + 200)
    assert as_of(driver.session, later).evidence.away_secs == 250
    driver.now = later
    driver.do(CameBack, SLEEP)
    assert driver.session.evidence.away_secs == 250


def test_a_sleep_behind_a_locked_screen_leaves_the_absence_where_the_lock_began_it() -> None:
    driver = working()
    driver.wait(100)
    locked = driver.now
    left_at(driver, LOCK)
    driver.wait(50)
    left_at(driver, SLEEP, ago=20)
    driver.wait(200)
    driver.do(CameBack, SLEEP)
    assert driver.session.presence.since == locked


def test_the_end_of_an_absence_that_never_began_changes_nothing() -> None:
    driver = working()
    left_at(driver, LOCK)
    before = driver.session
    driver.do(CameBack, SLEEP)
    assert driver.session == before


def test_a_session_that_starts_away_is_interrupted_when_nobody_comes() -> None:
    driver = Driver()
    left_at(driver, LOCK)
    driver.wait(1000)
    driver.do(EnterPlanning)
    driver.start("code")
    driver.wait(599)
    assert driver.session.phase is Phase.ACTIVE
    driver.wait(2)
    assert driver.session.outcome is Outcome.INTERRUPTED
    assert driver.session.ended is not None
    assert driver.session.ended.boot == START.boot + 1000


def test_leaving_ends_the_on_task_stretch() -> None:
    driver = working()
    before = driver.session.drift.stretch
    left_at(driver, IDLE)
    assert driver.session.drift.stretch > before


def test_sleep_shows_before_lock_before_idleness_before_what_nobody_saw() -> None:
    causes = [SLEEP, LOCK, IDLE, UNOBSERVED]
    for n, cause in enumerate(causes):
        assert cause_shown(Presence(frozenset(causes[n:]))) is cause
    assert cause_shown(Presence()) is None
