"""The session as a pure function: `step(session, event) -> (session, effects)`, or a refusal that changes nothing.

`TRANSITIONS` is the only place where the phase changes. What the table does not express: a timebox that has run out
and an absence that lasted too long are noticed by any event that comes after them (`_catch_up`), before that event
itself is looked at; and every step ends by bringing drift up to date and asking what is due (`drift.settle`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from antidrift.domain import asking, drift, evidence, limits, presence, private_windows
from antidrift.domain.effects import (
    Append,
    CheckAI,
    Effects,
    FetchKnowledge,
    FetchTasks,
    Unwatch,
    Watch,
)
from antidrift.domain.errors import IllegalTransition, InvalidArgument, InvalidCommitment, NotActive, NotPlanning
from antidrift.domain.events import (
    AIChecked,
    AllowAI,
    CameBack,
    CancelPlanning,
    Complete,
    End,
    EnterPlanning,
    Event,
    Extend,
    KnowledgeFetched,
    OnTask,
    Refocus,
    RequestCoach,
    RoleAnswered,
    RoleFailed,
    SensorChanged,
    ShellStopped,
    StartCommitment,
    TasksFetched,
    TimePassed,
    WentAway,
    WindowSeen,
)
from antidrift.domain.matching import is_neutral
from antidrift.domain.model import (
    CallStatus,
    Consent,
    Fault,
    FaultCode,
    FetchStatus,
    Health,
    Instant,
    Outcome,
    Phase,
    Proposal,
    Reflection,
    RoleName,
    SessionSummary,
    Source,
    Verdict,
    Window,
)
from antidrift.domain.requests import Advice, CoachRequest, JudgeRequest, NudgeRequest, ReviewRequest
from antidrift.domain.session import (
    Coach,
    Commitment,
    Drift,
    Knowledge,
    Looking,
    SensorState,
    Session,
    Tasks,
)
from antidrift.domain.titles import clean


class TimeboxRanOut:
    """The deadline passed."""


class StayedAway:
    """The person slept or locked the screen for too long."""


TRANSITIONS: dict[tuple[Phase, type], Phase] = {
    (Phase.LOCKED, EnterPlanning): Phase.PLANNING,
    (Phase.PLANNING, CancelPlanning): Phase.LOCKED,
    (Phase.PLANNING, StartCommitment): Phase.ACTIVE,
    (Phase.ACTIVE, Complete): Phase.REVIEW,
    (Phase.ACTIVE, TimeboxRanOut): Phase.REVIEW,
    (Phase.ACTIVE, StayedAway): Phase.REVIEW,
    (Phase.REVIEW, End): Phase.LOCKED,
}

Stepped = tuple[Session, Effects]


def step(session: Session, event: Event) -> Stepped:
    """What `event` makes of the session, and what is to be done about it. Raises Refused; then nothing has changed.

    Events that claim to be older than the last one are taken to happen now: time never runs backwards.
    """
    at = event.at if event.at.boot >= session.clock.boot else replace(event.at, boot=session.clock.boot)
    session, first = _catch_up(session, at)
    session, second = _HANDLERS[type(event)](session, event, at)
    session, third = drift.settle(session, at)
    return session, (*first, *second, *third)


def next_deadline(session: Session) -> float | None:
    """When (boot-time seconds) something happens by itself; None: never. The only timer that a session needs."""
    at = session.clock
    breaker = session.ai.retry_at
    moments = [
        None if session.presence.paused_since is not None else _deadline(session),
        presence.interrupted_at(session),
        drift.interrupt_due(session, at),
        drift.judge_due(session, at),
        drift.nudge_due(session, at),
        None if breaker is None else breaker.boot,
    ]
    return min((moment for moment in moments if moment is not None), default=None)


def as_of(session: Session, now: Instant) -> Session:
    """The session at `now`, before which no deadline lies: the time is reckoned, and nothing else can have changed."""
    if now.boot <= session.clock.boot:
        return session
    if session.phase is Phase.ACTIVE:
        session = _reckon(presence.dated_back(session, now), now.boot)
    return replace(session, clock=now)


def remaining(session: Session) -> float:
    """Seconds left in the timebox at `session.clock`, never negative; 0 without a running session."""
    commitment = session.commitment
    if commitment is None or session.phase is not Phase.ACTIVE:
        return 0.0
    now = session.clock.boot if session.presence.paused_since is None else session.presence.paused_since
    return max(0.0, commitment.deadline - now)


def summary(session: Session) -> SessionSummary:
    """What the audit will keep of the session that is under review."""
    commitment, outcome, ended = session.commitment, session.outcome, session.ended
    assert commitment is not None
    assert outcome is not None
    assert ended is not None
    # Of the two readings of the wall clock the later one counts: it may have been set in between.
    started_at_ms = max(0, ended.at(commitment.started.boot).unix_ms)
    return SessionSummary(
        commitment.id,
        commitment.next_action,
        commitment.success_condition,
        outcome,
        commitment.timebox_secs,
        started_at_ms,
        started_at_ms + round((ended.boot - commitment.started.boot) * 1000),
        round(sum(session.evidence.buckets.values())),
        round(session.evidence.away_secs),
        session.evidence.switch_count,
        tuple(replace(b, secs=round(b.secs, 1)) for b in evidence.top(session.evidence, limits.SUMMARY_BUCKETS)),
    )


# Time


def _catch_up(session: Session, at: Instant) -> Stepped:
    """Reckons the time up to `at`; ends a session whose time ran out or whose person stayed away meanwhile."""
    effects: Effects = ()
    if session.phase is Phase.ACTIVE:
        session = presence.dated_back(session, at)
        ends = _ends_by_itself(session, at)
        if ends is None:
            session = _reckon(session, at.boot)
        else:
            cause, outcome, end = ends
            session, effects = _enter_review(session, cause, outcome, end)
    retry_at = session.ai.retry_at
    if retry_at is not None and retry_at.boot <= at.boot:
        # One failure more opens the breaker again, for twice as long: `failures` stays.
        session = replace(session, ai=replace(session.ai, retry_at=None))
    return replace(session, clock=at), effects


def _ends_by_itself(session: Session, at: Instant) -> tuple[type, Outcome, Instant] | None:
    interrupted = presence.interrupted_at(session)
    if interrupted is not None:
        left = session.presence.since
        if interrupted <= at.boot and left is not None:
            return StayedAway, Outcome.INTERRUPTED, left
        return None  # paused: the deadline waits
    deadline = _deadline(session)
    if deadline is not None and deadline <= at.boot:
        return TimeboxRanOut, Outcome.EXPIRED, at.at(deadline)
    return None


def _deadline(session: Session) -> float | None:
    if session.phase is not Phase.ACTIVE or session.commitment is None:
        return None
    return session.commitment.deadline


def _reckon(session: Session, until: float) -> Session:
    away = bool(session.presence.causes)
    return replace(session, evidence=evidence.reckon(session.evidence, until, away=away))


# Commands


def _move(session: Session, cause: type) -> Session:
    """The phase that `cause` leads to. Raises IllegalTransition."""
    target = TRANSITIONS.get((session.phase, cause))
    if target is None:
        raise IllegalTransition(f"{cause.__name__} is not possible in {session.phase}")
    return replace(session, phase=target)


def _enter_planning(session: Session, event: EnterPlanning, at: Instant) -> Stepped:
    return plan_anew(_move(session, EnterPlanning))


def plan_anew(session: Session) -> Stepped:
    """Planning with nothing fetched yet: on entering it, and after a restart in the middle of it."""
    return (
        replace(
            session,
            tasks=Tasks(FetchStatus.PENDING),
            knowledge=Knowledge(FetchStatus.PENDING),
        ),
        (FetchTasks(), FetchKnowledge(), CheckAI()),
    )


def _leave_planning(session: Session) -> Stepped:
    session = replace(
        session,
        # The number goes on, so that no answer to an earlier request is ever taken for one to a later.
        coach=Coach(request_id=session.coach.request_id),
        tasks=Tasks(),
        knowledge=Knowledge(),
    )
    return asking.forget(session, RoleName.COACH)


def _cancel_planning(session: Session, event: CancelPlanning, at: Instant) -> Stepped:
    return _leave_planning(_move(session, CancelPlanning))


def _request_coach(session: Session, event: RequestCoach, at: Instant) -> Stepped:
    if session.phase is not Phase.PLANNING:
        raise NotPlanning(f"RequestCoach is for planning; the session is {session.phase}")
    intent = _text(event.intent, "intent", InvalidArgument)
    request_id = session.coach.request_id + 1
    if not asking.may_ask(session, RoleName.COACH, at):
        fault = session.ai.fault
        message = "No AI program is set up; plan by hand." if fault is None else fault.message
        unavailable = Fault(FaultCode.UNAVAILABLE, message)
        return replace(session, coach=Coach(CallStatus.ERROR, request_id, fault=unavailable)), ()
    session = replace(session, coach=Coach(CallStatus.PENDING, request_id))
    request = CoachRequest(request_id, intent, session.knowledge.text, session.looking.carry_forward)
    return asking.ask(session, request, at)


def _start_commitment(session: Session, event: StartCommitment, at: Instant) -> Stepped:
    session = _move(session, StartCommitment)
    classes = _classes(event.allowed_window_classes)
    secs = event.timebox_secs
    if not limits.TIMEBOX_MIN_SECS <= secs <= limits.TIMEBOX_MAX_SECS:
        raise InvalidCommitment(f"timebox_secs is {secs}; it must be from 1 to {limits.TIMEBOX_MAX_SECS} seconds")
    commitment = Commitment(
        event.id,
        _text(event.next_action, "next_action", InvalidCommitment),
        _text(event.success_condition, "success_condition", InvalidCommitment),
        secs,
        at,
        at.boot + secs,
        classes,
    )
    session, cancelled = _leave_planning(session)
    session = replace(
        session,
        commitment=commitment,
        evidence=evidence.begun(at),
        presence=presence.begun(session.presence, at),
    )
    return _observe(session, at), (*cancelled, CheckAI(), Watch())


def _on_task(session: Session, event: OnTask, at: Instant) -> Stepped:
    _require_active(session, OnTask)
    session = drift.on_task(session, at)
    return _observe(session, at), ()


def _refocus(session: Session, event: Refocus, at: Instant) -> Stepped:
    _require_active(session, Refocus)
    return drift.refocus(session, at), ()


def _extend(session: Session, event: Extend, at: Instant) -> Stepped:
    _require_active(session, Extend)
    commitment = session.commitment
    assert commitment is not None
    timebox = commitment.timebox_secs + event.secs
    elapsed = commitment.timebox_secs - remaining(session)
    if timebox > limits.TIMEBOX_MAX_SECS:
        raise InvalidArgument(f"secs is {event.secs}; a session lasts at most 24 hours in all")
    if timebox < elapsed:
        raise InvalidArgument(f"secs is {event.secs}; {round(elapsed)} seconds have passed already")
    longer = replace(commitment, timebox_secs=timebox, deadline=commitment.deadline + event.secs)
    # Shortened to what has passed: the session ends now.
    return _catch_up(replace(session, commitment=longer), at)


def _complete(session: Session, event: Complete, at: Instant) -> Stepped:
    return _enter_review(session, Complete, Outcome.COMPLETED, at)


def _end(session: Session, event: End, at: Instant) -> Stepped:
    session = _move(session, End)
    record = summary(session)
    return (
        replace(
            session,
            commitment=None,
            outcome=None,
            ended=None,
            evidence=evidence.begun(at),
            recent=(*session.recent, record)[-limits.HISTORY :],
        ),
        (Append(record),),
    )


def _allow_ai(session: Session, event: AllowAI, at: Instant) -> Stepped:
    consent = Consent.GIVEN if event.allowed else Consent.REFUSED
    session = replace(session, ai=replace(session.ai, answer=consent))
    effects: Effects = ()
    if consent is Consent.REFUSED:
        # What is on its way cannot be called back, but it is stopped and its answer counts no more.
        for role in (RoleName.DRIFT_JUDGE, RoleName.NUDGE, RoleName.REVIEWER):
            session, more = asking.forget(session, role)
            effects += more
        if session.looking.status is FetchStatus.PENDING:
            looking = replace(session.looking, status=FetchStatus.ABSENT, generation=session.looking.generation + 1)
            session = replace(session, looking=looking)
        session = replace(session, drift=replace(session.drift, nudge=""))
    return session, effects


def _require_active(session: Session, command: type) -> None:
    if session.phase is not Phase.ACTIVE:
        raise NotActive(f"{command.__name__} is for a running session; the session is {session.phase}")


def _text(value: str, name: str, error: type[InvalidArgument | InvalidCommitment]) -> str:
    if len(value) > limits.FIELD_CHARS:
        raise error(f"{name} has {len(value)} characters; at most {limits.FIELD_CHARS} are allowed")
    text = clean(value)
    if not text:
        raise error(f"{name} is blank")
    return text


def _classes(values: tuple[str, ...]) -> tuple[str, ...]:
    if len(values) > limits.ALLOWED_CLASSES:
        raise InvalidCommitment(f"{len(values)} allowed classes; at most {limits.ALLOWED_CLASSES} are allowed")
    for value in values:
        if len(value) > limits.CLASS_CHARS:
            raise InvalidCommitment(f"an allowed class has {len(value)} characters; at most {limits.CLASS_CHARS}")
    return tuple(dict.fromkeys(filter(None, map(clean, values))))


# Review


def _enter_review(session: Session, cause: type, outcome: Outcome, ended: Instant) -> Stepped:
    session = _move(session, cause)
    left_at = session.presence.since
    if outcome is Outcome.INTERRUPTED and left_at is not None:
        # The session ended when the person left: their absence belongs to nobody.
        present = session.evidence.reckoned_until
        gone = max(0.0, min(session.evidence.away_secs, present - left_at.boot))
        session = replace(session, evidence=replace(session.evidence, away_secs=session.evidence.away_secs - gone))
    else:
        session = _reckon(session, ended.boot)
    effects: Effects = ()
    for role in (RoleName.DRIFT_JUDGE, RoleName.NUDGE):
        session, more = asking.forget(session, role)
        effects += more
    session = replace(
        session,
        outcome=outcome,
        ended=ended,
        drift=Drift(),
        sensors=replace(session.sensors, x11=SensorState()),
    )
    session, more = _ask_reviewer(session, ended, summary(session), session.recent)
    return session, (*effects, *more, Unwatch())


def review_again(session: Session) -> Stepped:
    """After a restart: a reflection that was pending is asked for once more. Nothing else is."""
    if session.looking.status is not FetchStatus.PENDING:
        return session, ()
    if session.phase is Phase.REVIEW:
        return _ask_reviewer(session, session.clock, summary(session), session.recent)
    if session.recent:
        return _ask_reviewer(session, session.clock, session.recent[-1], session.recent[:-1])
    return replace(session, looking=Looking()), ()


def _ask_reviewer(
    session: Session, at: Instant, finished: SessionSummary, history: tuple[SessionSummary, ...]
) -> Stepped:
    generation = session.looking.generation + 1
    if not asking.may_ask(session, RoleName.REVIEWER, at):
        session, effects = asking.forget(session, RoleName.REVIEWER)
        return replace(session, looking=Looking(FetchStatus.IDLE, generation=generation)), effects
    session = replace(session, looking=Looking(FetchStatus.PENDING, generation=generation))
    return asking.ask(session, ReviewRequest(generation, finished, history), at)


# Windows


def _window_seen(session: Session, event: WindowSeen, at: Instant) -> Stepped:
    window = event.window
    if window is not None:
        session, window = private_windows.admit(session, event.source, window)
    if event.source is Source.SHELL:
        shell = SensorState(reported=True, window=window)
        session = replace(session, sensors=replace(session.sensors, shell=shell))
    else:
        x11 = replace(session.sensors.x11, reported=True, window=window)
        session = replace(session, sensors=replace(session.sensors, x11=x11))
        if session.sensors.shell.reported:
            return session, ()  # the shell sees every window, X11 under Wayland only some
    return _observe(session, at), ()


def _sensor_changed(session: Session, event: SensorChanged, at: Instant) -> Stepped:
    x11 = replace(session.sensors.x11, health=event.health, fault=event.fault)
    if event.health is Health.ABSENT:
        x11 = replace(x11, reported=False, window=None)
    session = replace(session, sensors=replace(session.sensors, x11=x11))
    if session.sensors.shell.reported or event.health is not Health.ABSENT:
        return session, ()
    return drift.lose_sight(_observe(session, at)), ()


def _shell_stopped(session: Session, event: ShellStopped, at: Instant) -> Stepped:
    if not session.sensors.shell.reported:
        return session, ()
    session = replace(session, sensors=replace(session.sensors, shell=SensorState()))
    session = _observe(session, at)
    return (session if session.sensors.x11.reported else drift.lose_sight(session)), ()


def focused(session: Session) -> Window | None:
    """What the sensor that counts says has the focus; None also while no sensor says anything."""
    sensors = session.sensors
    return (sensors.shell if sensors.shell.reported else sensors.x11).window


def sight(session: Session) -> tuple[Health, Source, Fault | None]:
    """How well the focus can be seen, by whom, and what is wrong with that."""
    sensors = session.sensors
    if sensors.shell.reported:
        return Health.OK, Source.SHELL, None
    if sensors.x11.health is Health.ABSENT:
        return Health.ABSENT, Source.NONE, sensors.x11.fault
    return sensors.x11.health, Source.X11, sensors.x11.fault


def _observe(session: Session, at: Instant) -> Session:
    if session.phase is not Phase.ACTIVE:
        return session
    window = focused(session)
    if is_neutral(window, session.policy):
        window = None
    session = replace(session, evidence=evidence.observe(session.evidence, window, at))
    return drift.observe(session, window, at)


# Presence


def _went_away(session: Session, event: WentAway, at: Instant) -> Stepped:
    return presence.went_away(session, event.cause, event.since, at), ()


def _came_back(session: Session, event: CameBack, at: Instant) -> Stepped:
    return presence.came_back(session, event.cause, at), ()


# What was asked for


def _role_answered(session: Session, event: RoleAnswered, at: Instant) -> Stepped:
    request, answer = event.request, event.answer
    wanted = asking.is_current(session, request)
    session = asking.succeeded(asking.landed(session, request))
    if not wanted:
        return session, ()
    match request, answer:
        case CoachRequest(), Proposal():
            session = replace(session, coach=Coach(CallStatus.READY, request.request_id, answer))
        case JudgeRequest(), Verdict():
            session = drift.judged(session, request, answer)
        case NudgeRequest(), Advice():
            session = drift.nudged(session, request, answer)
        case ReviewRequest(), Reflection():
            looking = Looking(FetchStatus.READY, answer.recap, answer.carry_forward, request.generation)
            session = replace(session, looking=looking)
    return session, ()


def _role_failed(session: Session, event: RoleFailed, at: Instant) -> Stepped:
    request = event.request
    wanted = asking.is_current(session, request)
    session = asking.failed(asking.landed(session, request), event.fault, at)
    if not wanted:
        return session, ()
    match request:
        case CoachRequest():
            session = replace(session, coach=Coach(CallStatus.ERROR, request.request_id, fault=event.fault))
        case JudgeRequest():
            session = drift.unanswered(session, request)
        case NudgeRequest():
            pass  # what shows, shows on; the debounce keeps a failed call from being tried again at once
        case ReviewRequest():
            session = replace(session, looking=Looking(FetchStatus.ABSENT, generation=request.generation))
    return session, ()


def _ai_checked(session: Session, event: AIChecked, at: Instant) -> Stepped:
    ai = session.ai
    fault = event.fault
    if event.available and ai.failures:
        fault = ai.fault  # that the program is there does not mean that it works
    return replace(session, ai=replace(ai, backend=event.backend, available=event.available, fault=fault)), ()


def _tasks_fetched(session: Session, event: TasksFetched, at: Instant) -> Stepped:
    if session.phase is not Phase.PLANNING:
        return session, ()
    status = FetchStatus.READY if event.items else FetchStatus.ABSENT
    return replace(session, tasks=Tasks(status, event.items, event.fault)), ()


def _knowledge_fetched(session: Session, event: KnowledgeFetched, at: Instant) -> Stepped:
    if session.phase is not Phase.PLANNING:
        return session, ()
    status = FetchStatus.READY if event.text else FetchStatus.ABSENT
    return replace(session, knowledge=Knowledge(status, event.text, event.fault)), ()


def _time_passed(session: Session, event: TimePassed, at: Instant) -> Stepped:
    return session, ()


_HANDLERS: dict[type[Event], Callable[[Session, Any, Instant], Stepped]] = {
    EnterPlanning: _enter_planning,
    RequestCoach: _request_coach,
    StartCommitment: _start_commitment,
    CancelPlanning: _cancel_planning,
    OnTask: _on_task,
    Refocus: _refocus,
    Extend: _extend,
    Complete: _complete,
    End: _end,
    AllowAI: _allow_ai,
    TimePassed: _time_passed,
    WindowSeen: _window_seen,
    SensorChanged: _sensor_changed,
    ShellStopped: _shell_stopped,
    WentAway: _went_away,
    CameBack: _came_back,
    RoleAnswered: _role_answered,
    RoleFailed: _role_failed,
    AIChecked: _ai_checked,
    TasksFetched: _tasks_fetched,
    KnowledgeFetched: _knowledge_fetched,
}
