"""An AI that fails three times in a row is left alone for a while, then tried once."""

from __future__ import annotations

from antidrift.domain.events import EnterPlanning, RequestCoach
from antidrift.domain.machine import next_deadline
from antidrift.domain.model import DriftStatus, Fault, FaultCode, RoleName
from antidrift.domain.requests import Proposal, Verdict
from support.driver import BROKEN, Driver

JUDGE, NUDGE, COACH = RoleName.DRIFT_JUDGE, RoleName.NUDGE, RoleName.COACH
MINUTE = 60.0


def look_elsewhere(driver: Driver) -> None:
    """At a window that was not judged yet."""
    driver.focus("firefox", f"page {driver.now.boot} — Mozilla Firefox")


def fail_in_a_row(driver: Driver, times: int) -> None:
    for _ in range(times):
        look_elsewhere(driver)
        driver.fail(JUDGE)
        driver.wait(11)


def broken() -> Driver:
    """Nobody is asked, and a window waits to be judged."""
    driver = Driver.active("code", minutes=12 * 60)
    fail_in_a_row(driver, 3)
    look_elsewhere(driver)
    assert driver.in_flight == {}
    return driver


def wait_left(driver: Driver) -> float:
    retry_at = driver.session.ai.retry_at
    return 0.0 if retry_at is None else retry_at.boot - driver.now.boot


def test_two_failures_are_no_row() -> None:
    driver = Driver.active("code")
    fail_in_a_row(driver, 2)
    assert wait_left(driver) == 0
    look_elsewhere(driver)
    assert list(driver.in_flight) == [JUDGE]


def test_each_failed_try_doubles_the_wait_up_to_an_hour_and_there_is_one_try_after_each() -> None:
    driver = broken()
    driver.wait(wait_left(driver))
    waits = []
    for tries in range(1, 7):
        assert len(driver.asked) == 3 + tries
        driver.fail(JUDGE)
        waits.append(wait_left(driver))
        look_elsewhere(driver)
        driver.wait(wait_left(driver) - 1)
        assert driver.in_flight == {}
        driver.wait(1)
    assert waits == [10 * MINUTE, 20 * MINUTE, 40 * MINUTE, 60 * MINUTE, 60 * MINUTE, 60 * MINUTE]


def test_an_answer_ends_it_and_the_next_row_begins_anew() -> None:
    driver = broken()
    driver.wait(wait_left(driver))
    driver.answer(JUDGE, Verdict(on_task=True, reason=""))
    assert (driver.session.ai.fault, wait_left(driver)) == (None, 0)
    driver.wait(11)
    fail_in_a_row(driver, 2)
    assert wait_left(driver) == 0
    look_elsewhere(driver)
    driver.fail(JUDGE)
    assert wait_left(driver) == 5 * MINUTE


def test_what_was_asked_before_the_wait_and_fails_in_it_does_not_make_it_longer() -> None:
    driver = Driver.active("code")
    fail_in_a_row(driver, 2)
    driver.focus("code", "a.py", window_id="1")
    driver.focus("code", "b.py", window_id="1")
    look_elsewhere(driver)
    assert sorted(driver.in_flight) == [JUDGE, NUDGE]
    driver.fail(JUDGE)
    driver.fail(NUDGE)
    assert wait_left(driver) == 5 * MINUTE


def test_no_more_than_one_role_tries_whether_it_works_again() -> None:
    driver = broken()
    driver.wait(wait_left(driver))
    assert list(driver.in_flight) == [JUDGE]
    driver.focus("code", "a.py", window_id="1")
    driver.focus("code", "b.py", window_id="1")
    assert list(driver.in_flight) == [JUDGE]
    driver.answer(JUDGE, Verdict(on_task=True, reason=""))
    assert list(driver.in_flight) == [NUDGE]


def test_a_window_that_the_try_is_about_shows_that_it_is_being_judged() -> None:
    driver = broken()
    assert driver.status is DriftStatus.IDLE
    driver.wait(wait_left(driver))
    assert driver.status is DriftStatus.PENDING


def test_no_nudge_is_asked_for_during_the_wait() -> None:
    driver = broken()
    driver.focus("code", "a.py", window_id="1")
    driver.focus("code", "b.py", window_id="1")
    assert driver.in_flight == {}
    driver.wait(wait_left(driver))
    assert list(driver.in_flight) == [NUDGE]


def test_the_wait_ends_by_itself_also_where_there_is_nothing_to_ask() -> None:
    driver = planning_while_broken()
    assert next_deadline(driver.session) == driver.now.boot + 5 * MINUTE
    driver.wait(5 * MINUTE)
    assert driver.session.ai.retry_at is None
    assert next_deadline(driver.session) is None


def test_sharpen_asks_all_the_same_and_its_failure_does_not_make_the_wait_longer() -> None:
    driver = planning_while_broken()
    for _ in range(5):
        driver.do(RequestCoach, "the report")
        left = wait_left(driver)
        driver.fail(COACH)
        assert wait_left(driver) == left > 0
    assert driver.session.ai.fault == BROKEN
    assert BROKEN.code is FaultCode.FAILED


def test_the_latest_failure_is_the_one_that_is_told() -> None:
    driver = planning_while_broken()
    driver.do(RequestCoach, "the report")
    offline = Fault(FaultCode.OFFLINE, "no network")
    driver.fail(COACH, offline)
    assert driver.session.ai.fault == offline


def test_sharpen_that_works_ends_the_wait() -> None:
    driver = planning_while_broken()
    driver.do(RequestCoach, "the report")
    driver.answer(COACH, Proposal("Write the outline", "Five headings", 1500, ()))
    assert (driver.session.ai.fault, wait_left(driver)) == (None, 0)


def planning_while_broken() -> Driver:
    """Three times the coach failed."""
    driver = Driver()
    driver.do(EnterPlanning)
    for _ in range(3):
        driver.do(RequestCoach, "the report")
        driver.fail(COACH)
    assert wait_left(driver) == 5 * MINUTE
    return driver
