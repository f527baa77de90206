"""The controller: effects in order, nothing acknowledged before it is on disk, nobody told more often than needed."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

import pytest

from antidrift import controller as controller_module
from antidrift.controller import CHECKPOINT_SECS, RETRY_SAVE_SECS, TICK_SECS, Controller
from antidrift.domain.errors import IllegalTransition
from antidrift.domain.events import (
    CancelPlanning,
    Command,
    Complete,
    End,
    EnterPlanning,
    Extend,
    RequestCoach,
    StartCommitment,
)
from antidrift.domain.machine import remaining
from antidrift.domain.model import (
    AwayCause,
    CallStatus,
    Consent,
    Fault,
    FaultCode,
    FetchStatus,
    Outcome,
    Phase,
    Proposal,
    Task,
    Window,
)
from antidrift.domain.session import AI, Session
from antidrift.ports import StoreError
from support.fakes import (
    DISK_FULL,
    FakeAdvisor,
    FakeBackend,
    FakeClock,
    FakePresence,
    FakeSensor,
    FakeSource,
    MemoryStore,
    RecordingPublisher,
)

BROKEN = Fault(FaultCode.FAILED, "it broke")


@dataclass
class Bench:
    """A controller among fakes."""

    controller: Controller
    clock: FakeClock
    store: MemoryStore
    publisher: RecordingPublisher
    sensor: FakeSensor
    presence: FakePresence
    advisor: FakeAdvisor
    log: list[str]

    def do(self, command: type[Command], *values: object) -> None:
        self.controller.dispatch(command(self.clock.now(), *values))

    def start(self, secs: int = 1500) -> None:
        self.do(EnterPlanning)
        self.start_planned(secs)

    def start_planned(self, secs: int = 1500) -> None:
        self.do(StartCommitment, "session-1", "Write", "Written", secs, ("code",))

    @property
    def session(self) -> Session:
        return self.controller.session


async def settled() -> None:
    """Lets every task that can run have its turn."""
    for _ in range(10):
        await asyncio.sleep(0)


def bench(
    *, notice: Fault | None = None, tasks: FakeSource | None = None, knowledge: FakeSource | None = None
) -> Bench:
    clock, sensor, presence, advisor = FakeClock(), FakeSensor(), FakePresence(), FakeAdvisor()
    store = MemoryStore()
    publisher = RecordingPublisher(store.log)
    ai = AI("stand-in", available=True, answer=Consent.GIVEN)
    controller = Controller(
        Session(clock.now(), ai=ai),
        boot_id="boot",
        clock=clock,
        store=store,
        publisher=publisher,
        sensor=sensor,
        presence=presence,
        backend=FakeBackend(),
        advisor=advisor,
        tasks=tasks,  # type: ignore[arg-type]
        knowledge=knowledge,  # type: ignore[arg-type]
        notice=notice,
    )
    controller.begin(())
    store.log.clear()
    return Bench(controller, clock, store, publisher, sensor, presence, advisor, store.log)


# Order, and the disk


async def test_a_transition_is_on_disk_before_anybody_hears_of_it() -> None:
    desk = bench()
    desk.do(EnterPlanning)
    assert desk.log[:2] == ["save planning", "publish planning"]


async def test_the_audit_line_is_written_before_the_snapshot_that_follows_from_it() -> None:
    desk = bench()
    desk.start()
    desk.do(Complete)
    desk.log.clear()
    desk.do(End)
    assert desk.log == ["append", "save locked", "publish locked"]


async def test_a_command_that_cannot_be_saved_is_refused_and_changes_nothing_but_the_store_error() -> None:
    desk = bench()
    desk.start()
    desk.store.full = True
    before = desk.session
    with pytest.raises(StoreError, match="disk is full"):
        desk.do(Complete)
    assert desk.session is before
    assert desk.controller.store_fault == DISK_FULL
    assert desk.publisher.published[-1][2] == DISK_FULL


async def test_ending_is_refused_on_a_full_disk_and_can_be_tried_again_without_a_second_audit_line() -> None:
    desk = bench()
    desk.start()
    desk.do(Complete)
    save, desk.store.save = desk.store.save, lambda saved: desk.store._check()  # type: ignore[method-assign]
    real_append = desk.store.append

    def append_and_fill_up(summary: object) -> None:
        real_append(summary)  # type: ignore[arg-type]
        desk.store.full = True

    desk.store.append = append_and_fill_up  # type: ignore[method-assign]
    with pytest.raises(StoreError):
        desk.do(End)
    assert desk.session.phase is Phase.REVIEW
    desk.store.full, desk.store.save, desk.store.append = False, save, real_append  # type: ignore[method-assign]
    desk.do(End)
    assert [s.session_id for s in desk.store.summaries] == ["session-1"]


async def test_expiry_happens_on_a_full_disk_and_is_saved_as_soon_as_there_is_room() -> None:
    desk = bench()
    desk.start(secs=60)
    desk.store.full = True
    desk.clock.pass_time(61)
    assert desk.session.outcome is Outcome.EXPIRED
    assert desk.controller.store_fault == DISK_FULL
    desk.store.full = False
    desk.clock.pass_time(RETRY_SAVE_SECS)
    assert desk.controller.store_fault is None
    assert desk.store.saved[-1].phase is Phase.REVIEW


async def test_a_full_disk_is_logged_when_it_begins_and_when_it_ends(caplog: pytest.LogCaptureFixture) -> None:
    desk = bench()
    desk.start()
    caplog.set_level(logging.INFO)
    desk.store.full = True
    desk.clock.pass_time(CHECKPOINT_SECS + 10 * RETRY_SAVE_SECS)
    desk.store.full = False
    desk.clock.pass_time(RETRY_SAVE_SECS)
    assert len(caplog.records) == 2


async def test_evidence_is_checkpointed_every_minute_while_active_and_never_otherwise() -> None:
    desk = bench()
    desk.start()
    desk.log.clear()
    desk.clock.pass_time(3 * CHECKPOINT_SECS + 1)
    assert desk.log.count("save active") == 3
    desk.do(Complete)
    desk.do(End)
    desk.log.clear()
    desk.clock.pass_time(3600)
    assert desk.log == []
    assert desk.clock.alarm is None


async def test_a_refused_command_writes_and_says_nothing() -> None:
    desk = bench()
    with pytest.raises(IllegalTransition):
        desk.do(Complete)
    assert desk.log == []


async def test_what_was_found_damaged_at_start_shows_until_the_phase_changes() -> None:
    desk = bench(notice=BROKEN)
    assert desk.controller.store_fault == BROKEN
    desk.do(EnterPlanning)
    assert desk.controller.store_fault is None
    assert desk.publisher.published[-1][2] is None


async def test_closing_saves_what_was_seen_and_stops_everything() -> None:
    desk = bench()
    desk.start()
    desk.sensor.show(Window("Slack", "#random"))
    await settled()
    desk.clock.pass_time(30)
    await desk.controller.close()
    assert desk.log[-2:] == ["save active", "close"]
    assert sum(b.secs for b in desk.store.saved[-1].buckets) == pytest.approx(30)
    assert not desk.sensor.watching
    assert len(desk.advisor.cancelled) == 1
    assert desk.session.ai.fault is None


# Front ends


async def test_the_first_tick_is_told_at_once_and_the_latest_half_a_second_later() -> None:
    desk = bench()
    desk.start()
    desk.sensor.show(Window("code", "0.py"))
    desk.clock.pass_time(10)
    before = len(desk.publisher.published)
    for n in range(1, 5):
        desk.sensor.show(Window("code", f"{n}.py"))
        desk.clock.pass_time(0.05)
    told = desk.publisher.published[before:]
    assert [s.evidence.window.title for s, _, _ in told if s.evidence.window] == ["1.py"]
    desk.clock.pass_time(TICK_SECS)
    told = desk.publisher.published[before:]
    assert [s.evidence.window.title for s, _, _ in told if s.evidence.window] == ["1.py", "4.py"]


async def test_no_window_on_the_way_to_the_next_does_not_delay_the_next() -> None:
    desk = bench()
    desk.start()
    desk.sensor.show(Window("code", "a.py"))
    desk.clock.pass_time(10)
    before = len(desk.publisher.published)
    desk.sensor.show(None)
    desk.clock.pass_time(0.003)
    desk.sensor.show(Window("code", "b.py"))
    told = desk.publisher.published[before:]
    assert [s.evidence.window and s.evidence.window.title for s, _, _ in told] == ["b.py"]
    desk.sensor.show(None)
    desk.clock.pass_time(TICK_SECS)
    assert desk.publisher.published[-1][0].evidence.window is None


async def test_a_change_of_drift_is_told_at_once_however_often() -> None:
    desk = bench()
    desk.start()
    before = len(desk.publisher.published)
    for name in ("code", "Slack", "code", "Slack"):
        desk.sensor.show(Window(name, ""))
        desk.clock.pass_time(0.01)
    assert len(desk.publisher.published) - before == 4


async def test_every_announcement_has_a_greater_number() -> None:
    desk = bench()
    desk.start()
    desk.do(Complete)
    numbers = [seq for _, seq, _ in desk.publisher.published]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] == desk.controller.seq


# Presence


async def test_an_absence_is_dated_back_to_when_the_person_left() -> None:
    desk = bench()
    desk.start()
    desk.sensor.show(Window("code", "a.py"))
    desk.clock.pass_time(300)
    desk.presence.leave(AwayCause.IDLE, 180.0)
    assert desk.session.evidence.away_secs == pytest.approx(180)
    assert sum(desk.session.evidence.buckets.values()) == pytest.approx(120)
    desk.clock.pass_time(60)
    desk.presence.come_back(AwayCause.IDLE)
    assert desk.session.presence.causes == set()
    assert desk.session.evidence.away_secs == pytest.approx(240)


async def test_what_was_seen_is_on_disk_before_the_machine_is_let_to_sleep() -> None:
    desk = bench()
    desk.start()
    desk.sensor.show(Window("code", "a.py"))
    desk.clock.pass_time(30)
    desk.presence.leave(AwayCause.SLEEP)
    assert sum(b.secs for b in desk.store.saved[-1].buckets) == pytest.approx(30)


async def test_a_full_disk_keeps_nobody_from_sleeping_and_is_tried_again() -> None:
    desk = bench()
    desk.start()
    desk.clock.pass_time(30)
    desk.store.full = True
    desk.presence.leave(AwayCause.SLEEP)
    assert desk.controller.store_fault == DISK_FULL
    desk.store.full = False
    desk.clock.pass_time(RETRY_SAVE_SECS)
    assert desk.controller.store_fault is None


@pytest.mark.parametrize("told", ["by nobody", "after the timer", "before the timer"])
async def test_a_short_sleep_is_a_pause_whoever_tells_of_it_and_when(told: str) -> None:
    desk = bench()
    desk.start(secs=120)
    desk.clock.pass_time(50)
    if told != "by nobody":
        desk.presence.leave(AwayCause.SLEEP)
    desk.clock.suspend(300)
    if told == "before the timer":
        desk.presence.come_back(AwayCause.SLEEP)
    desk.clock.pass_time(0)  # the timer, which came due in the sleep
    if told == "after the timer":
        desk.presence.come_back(AwayCause.SLEEP)
    assert desk.session.phase is Phase.ACTIVE
    assert desk.session.presence.causes == set()
    assert desk.session.evidence.away_secs == pytest.approx(300)
    desk.clock.pass_time(69)
    assert desk.session.phase is Phase.ACTIVE
    desk.clock.pass_time(2)
    assert desk.session.outcome is Outcome.EXPIRED


@pytest.mark.parametrize("told", [True, False])
async def test_a_night_of_sleep_interrupts_the_session_at_the_moment_of_leaving(told: bool) -> None:
    desk = bench()
    desk.start()
    desk.clock.pass_time(50)
    left = desk.clock.now()
    if told:
        desk.presence.leave(AwayCause.SLEEP)
    desk.clock.suspend(9 * 3600)
    desk.clock.pass_time(0)
    assert desk.session.outcome is Outcome.INTERRUPTED
    assert desk.session.ended == left
    assert desk.session.evidence.away_secs == pytest.approx(0)


async def test_a_person_whose_first_act_after_a_sleep_is_a_command_finds_the_timebox_paused() -> None:
    desk = bench()
    desk.start(secs=120)
    desk.clock.pass_time(50)
    desk.clock.suspend(300)
    desk.do(Extend, 10)
    desk.clock.pass_time(79)
    assert desk.session.phase is Phase.ACTIVE


async def test_who_looks_first_after_a_sleep_sees_the_timebox_paused() -> None:
    desk = bench()
    desk.start(secs=120)
    desk.clock.pass_time(100)
    desk.clock.suspend(10)
    assert remaining(desk.controller.refresh()) == pytest.approx(20)


async def test_a_suspension_of_two_seconds_is_no_absence() -> None:
    desk = bench()
    desk.start()
    desk.clock.pass_time(50)
    desk.clock.suspend(1.9)
    desk.clock.pass_time(10)
    assert desk.session.evidence.away_secs == 0


async def test_a_sleep_outside_a_session_is_no_absence() -> None:
    desk = bench()
    desk.do(EnterPlanning)
    before = len(desk.publisher.published)
    desk.clock.suspend(300)
    desk.clock.pass_time(0)
    desk.controller.refresh()
    assert len(desk.publisher.published) == before
    desk.start_planned()
    assert desk.session.presence.causes == set()


async def test_closing_right_after_a_sleep_saves_it_as_a_pause() -> None:
    desk = bench()
    desk.start(secs=120)
    desk.clock.pass_time(50)
    desk.clock.suspend(300)
    await desk.controller.close()
    assert desk.store.saved[-1].phase is Phase.ACTIVE
    assert desk.store.saved[-1].away_secs == pytest.approx(300)


async def test_a_screen_that_was_unlocked_while_nobody_looked_is_not_locked_in_the_next_session() -> None:
    desk = bench()
    desk.start()
    desk.presence.leave(AwayCause.LOCK)
    desk.clock.pass_time(700)
    assert desk.session.outcome is Outcome.INTERRUPTED
    desk.do(End)
    desk.start()
    assert desk.session.presence.causes == set()
    assert desk.clock.alarm is not None


# AI and sources


async def test_an_answer_comes_back_as_an_event() -> None:
    desk = bench()
    desk.do(EnterPlanning)
    desk.do(RequestCoach, "the report")
    await settled()
    desk.advisor.answer(Proposal("Write", "Written", 60))
    await settled()
    assert desk.session.coach.status is CallStatus.READY
    assert desk.publisher.published[-1][0].coach.status is CallStatus.READY


async def test_a_call_that_nobody_waits_for_any_more_is_cancelled_and_reports_nothing() -> None:
    desk = bench()
    desk.do(EnterPlanning)
    desk.do(RequestCoach, "the report")
    await settled()
    desk.do(CancelPlanning)
    await settled()
    assert len(desk.advisor.cancelled) == 1
    assert desk.session.ai.fault is None


async def test_a_call_that_is_broken_off_from_below_is_a_failure_and_not_pending_for_ever() -> None:
    desk = bench()
    desk.do(EnterPlanning)
    desk.do(RequestCoach, "the report")
    await settled()
    desk.advisor.break_off()
    await settled()
    assert desk.session.coach.status is CallStatus.ERROR


async def test_tasks_and_knowledge_are_fetched_on_entering_planning() -> None:
    desk = bench(tasks=FakeSource((Task("call Ann", "todo.txt"),)), knowledge=FakeSource("I write Python."))
    desk.do(EnterPlanning)
    await settled()
    assert desk.session.tasks.items == (Task("call Ann", "todo.txt"),)
    assert desk.session.knowledge.status is FetchStatus.READY


@pytest.mark.parametrize("source", [FakeSource(fault=BROKEN), FakeSource(error=ValueError("secret"))])
async def test_a_source_that_fails_in_any_way_is_absent_with_a_reason(
    source: FakeSource, caplog: pytest.LogCaptureFixture
) -> None:
    desk = bench(tasks=source)
    desk.do(EnterPlanning)
    await settled()
    assert desk.session.tasks.status is FetchStatus.ABSENT
    assert desk.session.tasks.fault is not None
    assert "secret" not in caplog.text


async def test_a_source_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controller_module, "FETCH_SECS", 0.01)
    desk = bench(knowledge=FakeSource(hangs=True))
    desk.do(EnterPlanning)
    async with asyncio.timeout(10):
        while desk.session.knowledge.status is FetchStatus.PENDING:
            await asyncio.sleep(0.001)
    assert desk.session.knowledge.status is FetchStatus.ABSENT


async def test_nothing_is_watched_outside_a_session() -> None:
    desk = bench()
    assert not desk.sensor.watching
    assert not desk.presence.watching
    desk.start()
    assert desk.sensor.watching
    assert desk.presence.watching
    desk.do(Complete)
    assert not desk.sensor.watching
    assert not desk.presence.watching


async def test_a_fault_in_a_timer_is_logged_without_words_and_not_tried_again_at_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    desk = bench()
    desk.start(secs=60)

    private = f"secret {6 * 7}"  # made up here, so that the source line in a traceback does not hold it

    def fail(*_: object) -> None:
        raise ValueError(private)

    monkeypatch.setattr(controller_module.machine, "step", fail)
    desk.clock.pass_time(600)
    assert 0 < len(caplog.records) <= 13
    assert private not in caplog.text


async def test_extending_moves_the_one_timer_that_is_armed() -> None:
    desk = bench()
    desk.start(secs=30)
    assert desk.clock.alarm == desk.clock.boot + 30
    desk.do(Extend, 10)
    assert desk.clock.alarm == desk.clock.boot + 40
