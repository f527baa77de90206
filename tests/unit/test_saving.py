"""What survives a restart, and what a restart makes of the time in between."""

from __future__ import annotations

from dataclasses import replace

import pytest

from antidrift.domain.effects import Ask, FetchTasks, Watch
from antidrift.domain.events import AllowAI, Complete, End, EnterPlanning, OnTask, WentAway
from antidrift.domain.machine import remaining, summary
from antidrift.domain.model import (
    AwayCause,
    Consent,
    DriftStatus,
    FetchStatus,
    Instant,
    Outcome,
    Phase,
    Reflection,
    RoleName,
    Verdict,
)
from antidrift.domain.requests import ReviewRequest
from antidrift.domain.saving import durable, restore, to_saved
from antidrift.domain.session import AI, Looking, Policy, Session
from support.driver import START, WORKING_AI, Driver


def restarted(driver: Driver, after: float, *, rebooted: bool = False, ai: AI = WORKING_AI) -> Driver:
    """The service as it comes up `after` seconds later, perhaps on another boot with a clock of its own."""
    saved = to_saved(driver.session, "boot-1")
    later = driver.now.at(driver.now.boot + after)
    now = Instant(30.0, later.unix_ms) if rebooted else later
    boot = "boot-2" if rebooted else "boot-1"
    session, effects = restore(saved, driver.session.recent, Policy(), ai, now, boot)
    new = Driver(session, now)
    new.effects += effects
    new.in_flight.update((RoleName.REVIEWER, e.request) for e in effects if isinstance(e, Ask))
    return new


def active() -> Driver:
    driver = Driver.active("code")
    driver.focus("code", "a.py")
    driver.wait(300)
    return driver


@pytest.mark.parametrize("phase", Phase)
def test_what_is_durable_is_the_same_after_a_restart(phase: Phase) -> None:
    driver = Driver()
    if phase is not Phase.LOCKED:
        driver.do(EnterPlanning)
    if phase in (Phase.ACTIVE, Phase.REVIEW):
        driver.start("code")
        driver.wait(60)
    if phase is Phase.REVIEW:
        driver.do(Complete)
        driver.answer(RoleName.REVIEWER, Reflection("ok", "next"))
    assert durable(restarted(driver, 1).session) == durable(driver.session)


def test_buckets_allowed_context_and_countdown_survive() -> None:
    driver = active()
    driver.focus("firefox", "Ten cats - YouTube — Mozilla Firefox")
    driver.answer(RoleName.DRIFT_JUDGE, Verdict(on_task=False, reason="cats"))
    driver.do(OnTask)
    new = restarted(driver, 10)
    assert new.session.evidence.buckets["code", "a.py"] == pytest.approx(300)
    assert new.session.commitment is not None
    assert new.session.commitment.allowed_sites == ("YouTube",)
    assert remaining(new.session) == pytest.approx(25 * 60 - 310)
    assert Watch() in new.effects


def test_switches_are_counted_on() -> None:
    driver = active()
    driver.focus("Slack")
    assert restarted(driver, 1).session.evidence.switch_count == 1


def test_the_policy_is_that_of_the_config_as_it_is_now() -> None:
    driver = active()
    policy = Policy(interrupted_after_secs=1.0)
    session, _ = restore(to_saved(driver.session, "boot-1"), (), policy, WORKING_AI, driver.now, "boot-1")
    assert session.policy is policy


def test_drift_starts_idle() -> None:
    driver = active()
    driver.focus("Slack")
    driver.answer(RoleName.DRIFT_JUDGE, Verdict(on_task=False, reason="chat"))
    new = restarted(driver, 1)
    assert new.status is DriftStatus.IDLE
    assert not new.session.drift.verdicts


def test_the_time_in_between_is_unobserved_and_the_timebox_ran_on() -> None:
    new = restarted(active(), 100)
    assert new.session.evidence.away_secs == pytest.approx(100)
    assert sum(new.session.evidence.buckets.values()) == pytest.approx(300)
    new.wait(10)
    assert new.session.evidence.away_secs == pytest.approx(100)
    assert remaining(new.session) == pytest.approx(25 * 60 - 410)


def test_no_pause_is_dated_back_before_a_restart() -> None:
    new = restarted(active(), 100)
    new.wait(10)
    new.do(WentAway, AwayCause.LOCK, new.now.at(new.now.boot - 60))
    assert remaining(new.session) == pytest.approx(25 * 60 - 400)


@pytest.mark.parametrize("hours", [5, -5])
def test_on_the_same_boot_the_wall_clock_does_not_tell_how_long_it_was(hours: int) -> None:
    driver = active()
    saved = to_saved(driver.session, "boot-1")
    driver.set_wall_clock(hours)
    session, _ = restore(saved, (), Policy(), WORKING_AI, driver.now.at(driver.now.boot + 100), "boot-1")
    assert session.evidence.away_secs == pytest.approx(100)


def test_a_timebox_that_ran_out_meanwhile_is_expired_at_its_deadline() -> None:
    driver = active()
    assert driver.session.commitment is not None
    deadline_ms = driver.session.clock.at(driver.session.commitment.deadline).unix_ms
    new = restarted(driver, 3600)
    assert new.session.phase is Phase.REVIEW
    assert new.session.outcome is Outcome.EXPIRED
    record = summary(new.session)
    assert record.ended_at_ms == deadline_ms
    assert record.active_secs + record.away_secs == 25 * 60
    assert Watch() not in new.effects


def test_a_short_reboot_pauses_the_timebox() -> None:
    new = restarted(active(), 120, rebooted=True)
    assert new.session.phase is Phase.ACTIVE
    assert remaining(new.session) == pytest.approx(20 * 60)
    assert new.session.evidence.away_secs == pytest.approx(120)
    new.wait(10)
    assert remaining(new.session) == pytest.approx(20 * 60 - 10)
    new.do(Complete)
    assert summary(new.session).started_at_ms == START.unix_ms


def test_a_long_reboot_ends_the_session_at_the_moment_it_was_last_saved() -> None:
    driver = active()
    new = restarted(driver, 8 * 3600, rebooted=True)
    assert new.session.outcome is Outcome.INTERRUPTED
    record = summary(new.session)
    assert record.ended_at_ms == driver.now.unix_ms
    assert (record.active_secs, record.away_secs) == (300, 0)


def test_a_wall_clock_set_back_over_a_reboot_credits_nothing() -> None:
    driver = active()
    driver.set_wall_clock(5)
    driver.wait(1)
    saved = to_saved(driver.session, "boot-1")
    now = Instant(30.0, saved.saved.unix_ms - 5 * 3_600_000)
    session, _ = restore(saved, (), Policy(), WORKING_AI, now, "boot-2")
    assert session.evidence.away_secs == 0
    assert remaining(session) == pytest.approx(20 * 60 - 1)


def test_a_pause_that_went_on_is_added_to_the_saved_deadline() -> None:
    driver = active()
    driver.do(WentAway, AwayCause.LOCK, driver.now)
    driver.wait(200)
    new = restarted(driver, 0)
    assert remaining(new.session) == pytest.approx(20 * 60)
    assert new.session.evidence.away_secs == pytest.approx(200)


def test_planning_fetches_its_tasks_anew_and_the_coach_is_idle() -> None:
    driver = Driver()
    driver.do(EnterPlanning)
    new = restarted(driver, 1)
    assert FetchTasks() in new.effects
    assert new.session.tasks.status is FetchStatus.PENDING


def test_a_review_that_was_pending_is_asked_for_once_more() -> None:
    driver = active()
    driver.do(Complete)
    new = restarted(driver, 5)
    request = new.in_flight[RoleName.REVIEWER]
    assert isinstance(request, ReviewRequest)
    assert request.finished == summary(driver.session)
    new.answer(RoleName.REVIEWER, Reflection("ok", "next"))
    assert new.session.looking.carry_forward == "next"


def test_a_review_that_was_pending_when_the_session_had_ended_already_is_asked_for_once_more() -> None:
    driver = active()
    driver.do(Complete)
    driver.do(End)
    new = restarted(driver, 5)
    request = new.in_flight[RoleName.REVIEWER]
    assert isinstance(request, ReviewRequest)
    assert request.finished == driver.session.recent[-1]
    assert request.history == ()


def test_a_review_that_is_asked_for_once_more_is_grounded_by_all_sessions_before_it() -> None:
    driver = Driver()
    for _ in range(3):
        driver.do(EnterPlanning)
        driver.start()
        driver.do(Complete)
        driver.do(End)
    request = restarted(driver, 5).in_flight[RoleName.REVIEWER]
    assert isinstance(request, ReviewRequest)
    assert (*request.history, request.finished) == driver.session.recent


def test_a_review_that_was_pending_for_a_session_that_nobody_knows_any_more_is_given_up() -> None:
    driver = active()
    driver.do(Complete)
    driver.do(End)
    session, effects = restore(to_saved(driver.session, "boot-1"), (), Policy(), WORKING_AI, driver.now, "boot-1")
    assert (session.looking, effects) == (Looking(), ())


@pytest.mark.parametrize("phase", [Phase.ACTIVE, Phase.REVIEW])
def test_a_running_session_without_a_commitment_comes_up_locked(phase: Phase) -> None:
    driver = active()
    driver.do(Complete)
    driver.do(End)
    saved = replace(to_saved(driver.session, "boot-1"), phase=phase)
    session, _ = restore(saved, driver.session.recent, Policy(), WORKING_AI, driver.now, "boot-1")
    assert session.phase is Phase.LOCKED


def test_a_session_whose_audit_line_was_written_but_whose_snapshot_was_not_has_ended() -> None:
    driver = active()
    driver.do(Complete)
    saved = to_saved(driver.session, "boot-1")
    driver.do(End)
    session, _ = restore(saved, driver.session.recent, Policy(), WORKING_AI, driver.now, "boot-1")
    assert session.phase is Phase.LOCKED


def test_the_persons_own_answer_about_titles_wins_over_what_they_named() -> None:
    driver = Driver()
    driver.do(AllowAI, False)
    named = AI("claude", available=True, named=True)
    assert restarted(driver, 1, ai=named).session.ai.consent is Consent.REFUSED


def test_naming_an_ai_program_is_consent_only_for_as_long_as_it_is_named() -> None:
    named = AI("claude", available=True, named=True)
    driver = restarted(Driver(Session(START, ai=AI())), 1, ai=named)
    assert driver.session.ai.consent is Consent.GIVEN
    assert restarted(driver, 1, ai=AI("claude", available=True)).session.ai.consent is Consent.UNASKED
