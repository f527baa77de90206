"""Whatever happens in whatever order: the promises of the state machine, over random sequences of events."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from antidrift.domain import drift, machine
from antidrift.domain.effects import Append, Effect
from antidrift.domain.errors import Refused
from antidrift.domain.events import (
    AllowAI,
    CameBack,
    CancelPlanning,
    Complete,
    End,
    EnterPlanning,
    Extend,
    OnTask,
    Refocus,
    RequestCoach,
    RoleAnswered,
    RoleFailed,
    SensorChanged,
    ShellStopped,
    StartCommitment,
    TimePassed,
    WentAway,
    WindowSeen,
)
from antidrift.domain.matching import is_allowed, key_of
from antidrift.domain.model import (
    AwayCause,
    CallStatus,
    Consent,
    DriftStatus,
    FetchStatus,
    Health,
    Phase,
    Proposal,
    Reflection,
    RoleName,
    Source,
    Verdict,
    Window,
)
from antidrift.domain.requests import (
    ROLE_OF,
    Advice,
    Answer,
    CoachRequest,
    JudgeRequest,
    NudgeRequest,
    Request,
    ReviewRequest,
)
from antidrift.domain.saving import durable, restore, to_saved
from antidrift.domain.session import Policy
from antidrift.wire import view_of
from support.driver import BROKEN, WORKING_AI, Driver

WINDOWS = st.one_of(
    st.none(),
    st.sampled_from([Window("code", f"{letter}.py", window_id="1") for letter in "abcd"]),
    st.sampled_from(
        [
            Window("Slack", "#random", window_id="2"),
            Window("firefox", "Ten cats - YouTube — Mozilla Firefox", window_id="3"),
            Window("Navigator", "Crust of Rust - YouTube — Mozilla Firefox", window_id="3"),
            Window("firefox", "Netflix — Mozilla Firefox", window_id="3"),
            Window("", "a dialog", window_id="4"),
            Window("gnome-shell", "", window_id="5"),
        ]
    ),
)


def tagged(request: Request, *, on_task: bool) -> Answer:
    """An answer that tells which request it is for."""
    match request:
        case CoachRequest():
            return Proposal(request.intent, "done", 60)
        case JudgeRequest():
            return Verdict(on_task, f"{request.commitment_id}/{request.key}")
        case NudgeRequest():
            return Advice("" if on_task else f"{request.commitment_id}/{request.stretch}")
        case ReviewRequest():
            return Reflection(request.finished.session_id, request.finished.session_id)


class Walk:
    """A session under random events, late and stale answers among them: what was answered may be answered again."""

    def __init__(self) -> None:
        self.driver = Driver()
        self.boot = 1
        self.intents = 0
        self.requests: list[Request] = []
        self.ended: list[str] = []
        self.reviewed: list[str] = []

    def _try(self, event: type, *values: object) -> None:
        before = self.driver.session
        try:
            effects = self.driver.do(event, *values)
        except Refused:
            assert self.driver.session is before
        else:
            self._note(effects)

    def _note(self, effects: tuple[Effect, ...]) -> None:
        self.requests += self.driver.asked[len(self.requests) :]
        records = [e.summary for e in effects if isinstance(e, Append)]
        for record in records:
            # However often the clock on the wall was set.
            passed = (record.ended_at_ms - record.started_at_ms) / 1000
            assert abs(record.active_secs + record.away_secs - passed) <= 1.01
        self.ended += [record.session_id for record in records]
        session = self.driver.session
        if session.phase is Phase.REVIEW and session.commitment is not None:
            name = session.commitment.id
            if not self.reviewed or self.reviewed[-1] != name:
                self.reviewed.append(name)

    def plain_event(self, event: type) -> None:
        self._try(event)

    def move_on(self, minutes: int, allowed: tuple[str, ...]) -> None:
        """Whatever comes next: sessions must get under way often enough for the rest to matter."""
        match self.driver.session.phase:
            case Phase.LOCKED:
                self._try(EnterPlanning)
            case Phase.PLANNING:
                self.driver.sessions_started += 1
                name = f"session-{self.driver.sessions_started}"
                self._try(StartCommitment, name, "Write", "Written", minutes * 60, allowed)
            case Phase.ACTIVE:
                self._try(TimePassed)
            case Phase.REVIEW:
                self._try(End)

    def sharpen(self) -> None:
        self.intents += 1
        self._try(RequestCoach, f"intent {self.intents}")

    def extend(self, secs: int) -> None:
        self._try(Extend, secs)

    def answer_about_titles(self, allowed: bool) -> None:
        self._try(AllowAI, allowed)

    def see(self, window: Window | None, source: Source) -> None:
        self._try(WindowSeen, source, window)

    def work_in_the_editor(self, first: str, second: str) -> None:
        """Two titles of the app that is usually allowed, one after the other: what a nudge needs."""
        for letter in (first, second):
            self._try(WindowSeen, Source.X11, Window("code", f"{letter}.py", window_id="1"))

    def sensor(self, health: Health) -> None:
        self._try(SensorChanged, health, None if health is Health.OK else BROKEN)

    def shell_stops(self) -> None:
        self._try(ShellStopped)

    def leave(self, cause: AwayCause, ago: float) -> None:
        now = self.driver.now
        self._try(WentAway, cause, now.at(now.boot - ago))

    def come_back(self, cause: AwayCause) -> None:
        self._try(CameBack, cause)

    def wait(self, secs: float) -> None:
        before = len(self.driver.effects)
        self.driver.wait(secs)
        self._note(tuple(self.driver.effects[before:]))

    def suspend(self, secs: float) -> None:
        """Time passes in one leap: no timer fires."""
        self.driver.now = self.driver.now.at(self.driver.now.boot + secs)
        self._try(TimePassed)

    def set_the_wall_clock(self, hours: int) -> None:
        self.driver.set_wall_clock(hours)

    def answer_what_is_in_flight(self, which: int, on_task: bool) -> None:
        waiting = sorted(self.driver.in_flight)
        if not waiting:
            return
        request = self.driver.in_flight.pop(waiting[which % len(waiting)])
        self._try(RoleAnswered, request, tagged(request, on_task=on_task))

    def answer_anything_ever_asked(self, which: int, on_task: bool, fails: bool) -> None:
        if not self.requests:
            return
        request = self.requests[-1 - which % len(self.requests)]
        role = ROLE_OF[type(request)]
        if self.driver.in_flight.get(role) == request:
            del self.driver.in_flight[role]
        if fails:
            self._try(RoleFailed, request, BROKEN)
        else:
            self._try(RoleAnswered, request, tagged(request, on_task=on_task))

    def restart(self, gap: float, rebooted: bool) -> None:
        driver = self.driver
        self._try(TimePassed)
        saved = to_saved(driver.session, f"boot-{self.boot}")
        now = driver.now.at(driver.now.boot + gap)
        if rebooted:
            self.boot += 1
            now = replace(now, boot=5.0)
        ai = replace(WORKING_AI, answer=Consent.UNASKED)
        session, effects = restore(saved, driver.session.recent, Policy(), ai, now, f"boot-{self.boot}")
        if driver.session.phase is not Phase.ACTIVE:
            before, after = list(durable(driver.session)), list(durable(session))
            if session.ended is not None and driver.session.ended is not None:
                assert session.ended.unix_ms == driver.session.ended.unix_ms
            before[4] = after[4] = None  # `ended` and `commitment` keep their moments on another boot's clock
            before[2], after[2] = getattr(before[2], "id", None), getattr(after[2], "id", None)
            if saved.reflection_status is FetchStatus.PENDING and session.ai.consent is not Consent.GIVEN:
                before[5] = after[5] = None
            assert before == after
        new = Driver(session, now, sessions_started=driver.sessions_started)
        self.requests.clear()  # answers to the process that is gone reach nobody
        self.driver = new
        for effect in effects:
            if hasattr(effect, "request"):
                new.asked.append(effect.request)
                new.in_flight[ROLE_OF[type(effect.request)]] = effect.request
        self._note(effects)

    def check_what_shows_is_of_this_window_and_this_session(self) -> None:
        session = self.driver.session
        commitment = session.commitment
        status = drift.status(session, session.clock)
        if session.phase is not Phase.ACTIVE or commitment is None:
            assert status is DriftStatus.IDLE
            return
        focus = session.drift.focus
        if status is DriftStatus.DRIFTING:
            assert focus is not None
            assert not is_allowed(focus, commitment, session.policy)
            assert drift.shown(session, session.clock).reason == f"{commitment.id}/{key_of(focus, session.policy)}"
        if session.drift.nudge and status is DriftStatus.ONTASK:
            assert session.drift.nudge == f"{commitment.id}/{session.drift.stretch}"
        assert not session.drift.interrupt or status is DriftStatus.DRIFTING

    def check_the_coach_shows_the_answer_to_the_newest_intent_only_while_planning(self) -> None:
        session = self.driver.session
        if session.phase is not Phase.PLANNING:
            assert session.coach.status is CallStatus.IDLE
        elif session.coach.proposal is not None:
            assert session.coach.proposal.next_action == f"intent {self.intents}"

    def check_the_recap_is_of_the_last_session_reviewed(self) -> None:
        if self.driver.session.looking.recap:
            assert self.driver.session.looking.recap == self.reviewed[-1]

    def check_time_is_never_negative_and_adds_up(self) -> None:
        session = self.driver.session
        assert machine.remaining(session) >= 0
        seen, commitment = session.evidence, session.commitment
        assert all(secs >= 0 for secs in seen.buckets.values())
        assert seen.away_secs >= -1e-6
        if commitment is not None:
            end = session.ended if session.phase is Phase.REVIEW else session.clock
            assert end is not None
            elapsed = end.boot - commitment.started.boot
            assert abs(sum(seen.buckets.values()) + seen.away_secs - elapsed) < 1e-3

    def check_every_session_that_ends_is_in_the_audit_once(self) -> None:
        assert len(set(self.ended)) == len(self.ended)
        phase = self.driver.session.phase
        assert self.ended == (self.reviewed[:-1] if phase is Phase.REVIEW else self.reviewed)

    def check_nothing_that_sees_titles_is_in_flight_without_consent(self) -> None:
        if self.driver.session.ai.consent is not Consent.GIVEN:
            assert set(self.driver.in_flight) <= {RoleName.COACH}

    def check_the_view_can_be_made(self) -> None:
        view_of(self.driver.session, instance="i", seq=1, store_fault=None)



CAUSES = st.sampled_from([AwayCause.IDLE, AwayCause.LOCK, AwayCause.SLEEP])
ON_TASK = st.sampled_from([True, False, False])
STEPS = {
    # How often, which step of `Walk`, and what it is given.
    Walk.see: (8, WINDOWS, st.sampled_from([Source.X11, Source.X11, Source.X11, Source.SHELL])),
    Walk.answer_what_is_in_flight: (8, st.integers(0, 3), ON_TASK),
    Walk.work_in_the_editor: (5, st.sampled_from("abcd"), st.sampled_from("efgh")),
    Walk.wait: (8, st.one_of(st.floats(0, 30), st.floats(0, 30), st.floats(0, 400))),
    Walk.move_on: (6, st.sampled_from([1, 60, 60]), st.sampled_from([(), ("code",), ("code",), ("code", "firefox")])),
    Walk.plain_event: (2, st.sampled_from([CancelPlanning, OnTask, OnTask, Refocus, Complete, End, TimePassed])),
    Walk.answer_anything_ever_asked: (3, st.integers(0, 5), ON_TASK, st.sampled_from([True, False, False, False])),
    Walk.sharpen: (2,),
    Walk.leave: (1, CAUSES, st.floats(0, 300)),
    Walk.come_back: (3, CAUSES),
    Walk.extend: (1, st.integers(-2000, 4000)),
    Walk.answer_about_titles: (1, st.sampled_from([True, True, True, False])),
    Walk.sensor: (1, st.sampled_from(Health)),
    Walk.shell_stops: (2,),
    Walk.suspend: (1, st.sampled_from([1.0, 1.0, 30.0, 30.0, 700.0, 100_000.0])),
    Walk.set_the_wall_clock: (1, st.integers(-24, 24)),
    Walk.restart: (1, st.sampled_from([0.5, 60.0, 5000.0]), st.booleans()),
}
ANY_STEP = st.one_of(
    *(
        st.tuples(st.just(step), st.tuples(*arguments))
        for step, (weight, *arguments) in STEPS.items()
        for _ in range(weight)
    )
)
CHECKS = [getattr(Walk, name) for name in vars(Walk) if name.startswith("check_")]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(ANY_STEP, min_size=20, max_size=80))
def test_whatever_happens_in_whatever_order_the_promises_hold(steps: list[tuple[Any, tuple[Any, ...]]]) -> None:
    walk = Walk()
    for step, arguments in steps:
        step(walk, *arguments)
        for check in CHECKS:
            check(walk)


def test_the_random_walks_reach_every_phase_and_every_status() -> None:
    """A check of the test: walks that never get anywhere would find every promise kept."""
    reached: Counter[object] = Counter()

    @settings(max_examples=200, deadline=None, derandomize=True, database=None)
    @given(st.lists(ANY_STEP, min_size=20, max_size=80))
    def walk_and_count(steps: list[tuple[Any, tuple[Any, ...]]]) -> None:
        walk = Walk()
        for step, arguments in steps:
            step(walk, *arguments)
            session = walk.driver.session
            reached[session.phase] += 1
            reached[walk.driver.status] += 1
            reached["interrupt"] += session.drift.interrupt
            reached["nudge"] += bool(session.drift.nudge)
            reached["recap"] += bool(session.looking.recap)
            reached["away"] += session.phase is Phase.ACTIVE and bool(session.presence.causes)

    walk_and_count()
    for what in (*Phase, *DriftStatus, "interrupt", "nudge", "recap", "away"):
        assert reached[what] > 5, f"{what} was reached {reached[what]} times"
