"""The JSON that leaves the service: what front ends see of a session.

The models are the contract. `dbus/state.schema.json` is generated from them, and `view_of` is the only way from the
session to them, so that the session can change without breaking a front end. Nothing here has a default: every key is
always there, `null` where it says nothing. Keys are only ever added; clients ignore the ones they do not know.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from antidrift.domain import drift, evidence, limits, machine, presence
from antidrift.domain.model import (
    AwayCause,
    CallStatus,
    Consent,
    DriftStatus,
    Fault,
    FaultCode,
    FetchStatus,
    Health,
    Instant,
    Outcome,
    Phase,
    Proposal,
    SessionSummary,
    Source,
)
from antidrift.domain.session import Session

SCHEMA = 1


class _View(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class ErrorView(_View):
    """Why something is degraded. `code` is for translation, `message` one short English sentence."""

    code: FaultCode
    message: str


class CommitmentView(_View):
    """What the person has committed to.

    The `_ms` moments are Unix milliseconds, for display. A client counts down from `remaining_ms` on its own monotonic
    clock, and only while `running`.
    """

    id: str
    next_action: str
    success_condition: str
    timebox_secs: int = Field(ge=0)
    started_at_ms: int
    deadline_ms: int
    remaining_ms: int = Field(ge=0)
    running: bool
    allowed_window_classes: list[str]
    allowed_sites: list[str]


class ProposalView(_View):
    """The coach's suggestion."""

    next_action: str
    success_condition: str
    timebox_secs: int = Field(ge=60)
    allowed_window_classes: list[str]


class CoachView(_View):
    """The coach. `request_id` grows with every request: a proposal is filled in once per number."""

    status: CallStatus
    request_id: int
    proposal: ProposalView | None
    error: ErrorView | None


class TaskView(_View):
    """One of today's tasks."""

    text: str
    source: str


class TasksView(_View):
    """Today's tasks. `absent` without an error: no source is configured, or it holds no open task."""

    status: FetchStatus
    items: list[TaskView]
    error: ErrorView | None


class KnowledgeView(_View):
    """The private profile: whether it grounds the coach, never what it says."""

    status: FetchStatus
    error: ErrorView | None


class ReflectionView(_View):
    """The look-back. `carry_forward` is the takeaway for the next session; it may be empty."""

    status: FetchStatus
    recap: str
    carry_forward: str


class SubjectView(_View):
    """What the drift status is about. `site` is empty for anything but a browser whose title names one."""

    class_: str = Field(alias="class")
    site: str


class DriftView(_View):
    """The focused window, judged. A banner shows while `interrupt`; there is one per `episode`."""

    status: DriftStatus
    reason: str
    nudge: str
    subject: SubjectView | None
    episode: int
    since_ms: int | None
    interrupt: bool


class AwayView(_View):
    """The person's absence. `paused`: the timebox waits."""

    active: bool
    cause: AwayCause | None
    since_ms: int | None
    total_secs: int = Field(ge=0)
    paused: bool


class WindowView(_View):
    """A window by its class and title."""

    class_: str = Field(alias="class")
    title: str


class BucketView(_View):
    """Time in one window class under one title."""

    class_: str = Field(alias="class")
    title: str
    secs: int = Field(ge=0)


class EvidenceView(_View):
    """What was seen. `buckets` are the largest first, twenty at most.

    `health` and `source` are of now: in review nobody watches the X server any more, so without the shell they are
    `absent` and `none`, and without an `error` that is no fault.
    """

    health: Health
    source: Source
    error: ErrorView | None
    window: WindowView | None
    window_since_ms: int | None
    switch_count: int
    buckets: list[BucketView]


class AIView(_View):
    """The AI program. `retry_at_ms`: it failed too often and is not asked before then."""

    backend: str
    available: bool
    consent: Consent
    error: ErrorView | None
    retry_at_ms: int | None


class StoreView(_View):
    """The files. An error means that the last write failed, and is tried again."""

    error: ErrorView | None


class StateView(_View):
    """The whole state. Sections that say nothing in the present phase are null."""

    schema_: int = Field(alias="schema")
    instance: str
    seq: int
    runtime_state: Phase
    commitment: CommitmentView | None
    coach: CoachView | None
    tasks: TasksView | None
    knowledge: KnowledgeView | None
    reflection: ReflectionView | None
    drift: DriftView | None
    away: AwayView | None
    evidence: EvidenceView | None
    outcome: Outcome | None
    ai: AIView
    store: StoreView


class SummaryView(_View):
    """One ended session, as the audit keeps it."""

    session_id: str
    next_action: str
    success_condition: str
    outcome: Outcome
    timebox_secs: int
    started_at_ms: int
    ended_at_ms: int
    active_secs: int
    away_secs: int
    switch_count: int
    buckets: list[BucketView]


_SUMMARIES = TypeAdapter(list[SummaryView])


def view_of(session: Session, *, instance: str, seq: int, store_fault: Fault | None) -> StateView:
    """What front ends see of `session` at `session.clock`."""
    phase = session.phase
    planning, active = phase is Phase.PLANNING, phase is Phase.ACTIVE
    looking_back = active or phase is Phase.REVIEW
    return StateView(
        schema_=SCHEMA,
        instance=instance,
        seq=seq,
        runtime_state=phase,
        commitment=_commitment(session),
        coach=_coach(session) if planning else None,
        tasks=_tasks(session) if planning else None,
        knowledge=KnowledgeView(status=session.knowledge.status, error=_error(session.knowledge.fault))
        if planning
        else None,
        reflection=None if active else _reflection(session),
        drift=_drift(session) if active else None,
        away=_away(session) if looking_back else None,
        evidence=_evidence(session) if looking_back else None,
        outcome=session.outcome,
        ai=_ai(session),
        store=StoreView(error=_error(store_fault)),
    )


def state_json(view: StateView) -> str:
    """The state as it goes over the bus."""
    return view.model_dump_json(by_alias=True)


def summaries_json(summaries: Iterable[SessionSummary]) -> str:
    """Ended sessions as they go over the bus, in the order given."""
    views = [
        SummaryView(
            session_id=s.session_id,
            next_action=s.next_action,
            success_condition=s.success_condition,
            outcome=s.outcome,
            timebox_secs=s.timebox_secs,
            started_at_ms=s.started_at_ms,
            ended_at_ms=s.ended_at_ms,
            active_secs=s.active_secs,
            away_secs=s.away_secs,
            switch_count=s.switch_count,
            buckets=[BucketView(class_=b.wm_class, title=b.title, secs=round(b.secs)) for b in s.buckets],
        )
        for s in summaries
    ]
    return _SUMMARIES.dump_json(views, by_alias=True).decode()


def _commitment(session: Session) -> CommitmentView | None:
    commitment = session.commitment
    if commitment is None:
        return None
    remaining = machine.remaining(session)
    return CommitmentView(
        id=commitment.id,
        next_action=commitment.next_action,
        success_condition=commitment.success_condition,
        timebox_secs=commitment.timebox_secs,
        started_at_ms=_unix_ms(session, commitment.started.boot),
        deadline_ms=_unix_ms(session, commitment.deadline),
        remaining_ms=round(remaining * 1000),
        running=session.phase is Phase.ACTIVE and session.presence.paused_since is None,
        allowed_window_classes=list(commitment.allowed_window_classes),
        allowed_sites=list(commitment.allowed_sites),
    )


def _coach(session: Session) -> CoachView:
    coach = session.coach
    return CoachView(
        status=coach.status,
        request_id=coach.request_id,
        proposal=_proposal(coach.proposal),
        error=_error(coach.fault),
    )


def _proposal(proposal: Proposal | None) -> ProposalView | None:
    if proposal is None:
        return None
    return ProposalView(
        next_action=proposal.next_action,
        success_condition=proposal.success_condition,
        timebox_secs=proposal.timebox_secs,
        allowed_window_classes=list(proposal.allowed_window_classes),
    )


def _tasks(session: Session) -> TasksView:
    tasks = session.tasks
    items = [TaskView(text=task.text, source=task.source) for task in tasks.items]
    return TasksView(status=tasks.status, items=items, error=_error(tasks.fault))


def _reflection(session: Session) -> ReflectionView:
    looking = session.looking
    return ReflectionView(status=looking.status, recap=looking.recap, carry_forward=looking.carry_forward)


def _drift(session: Session) -> DriftView:
    shown = drift.shown(session, session.clock)
    subject = shown.subject
    onset = session.drift.onset
    return DriftView(
        status=shown.status,
        reason=shown.reason,
        nudge=session.drift.nudge if shown.status is DriftStatus.ONTASK else "",
        subject=None if subject is None else SubjectView(class_=subject[0], site=subject[1]),
        episode=session.drift.episode,
        since_ms=None if onset is None else onset.unix_ms,
        interrupt=session.drift.interrupt,
    )


def _away(session: Session) -> AwayView:
    present = session.presence
    active = session.phase is Phase.ACTIVE and bool(present.causes)
    return AwayView(
        active=active,
        cause=presence.cause_shown(present) if active else None,
        since_ms=present.since.unix_ms if active and present.since is not None else None,
        total_secs=round(session.evidence.away_secs),
        paused=active and present.paused_since is not None,
    )


def _evidence(session: Session) -> EvidenceView:
    seen = session.evidence
    health, source, fault = machine.sight(session)
    window = seen.window if session.phase is Phase.ACTIVE else None
    return EvidenceView(
        health=health,
        source=source,
        error=_error(fault),
        window=None if window is None else WindowView(class_=window.wm_class or window.app_id, title=window.title),
        window_since_ms=None if window is None else seen.window_since.unix_ms,
        switch_count=seen.switch_count,
        buckets=[
            BucketView(class_=bucket.wm_class, title=bucket.title, secs=round(bucket.secs))
            for bucket in evidence.top(seen, limits.BUCKETS_SHOWN)
        ],
    )


def _ai(session: Session) -> AIView:
    ai = session.ai
    return AIView(
        backend=ai.backend,
        available=ai.available,
        consent=ai.consent,
        error=_error(ai.fault),
        retry_at_ms=_millis(ai.retry_at),
    )


def _error(fault: Fault | None) -> ErrorView | None:
    return None if fault is None else ErrorView(code=fault.code, message=fault.message)


def _millis(moment: Instant | None) -> int | None:
    return None if moment is None else moment.unix_ms


def _unix_ms(session: Session, boot: float) -> int:
    return session.clock.at(boot).unix_ms
