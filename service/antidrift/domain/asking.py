"""Who is asked what, and when: the one mechanism behind all four roles.

A role is asked at most once per period of its debounce; one request is in flight, and the newest wish waits by being
derived again from the state when it may be asked. An answer counts only while its request is still current. Failures
in a row open a circuit breaker; after its wait one request tries whether the AI works again. How a request becomes a
prompt, and how long it may take, is the business of `roles/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from antidrift.domain import limits
from antidrift.domain.effects import Ask, Cancel, Effects
from antidrift.domain.model import CallStatus, Consent, Fault, Instant, Phase, RoleName
from antidrift.domain.privacy import for_ai
from antidrift.domain.requests import (
    ROLE_OF,
    CoachRequest,
    JudgeRequest,
    NudgeRequest,
    Request,
    ReviewRequest,
)
from antidrift.domain.session import Call, Session


@dataclass(frozen=True, slots=True)
class Rule:
    """How often a role may be asked (seconds between two askings), and whether it sees window titles."""

    debounce: float
    sees_titles: bool


RULES: Mapping[RoleName, Rule] = {
    # What is sharpened was typed by the person, who pressed Sharpen: that is its own consent, and not limited.
    RoleName.COACH: Rule(debounce=0.0, sees_titles=False),
    RoleName.DRIFT_JUDGE: Rule(debounce=10.0, sees_titles=True),
    RoleName.NUDGE: Rule(debounce=300.0, sees_titles=True),
    RoleName.REVIEWER: Rule(debounce=0.0, sees_titles=True),
}


def may_ask(session: Session, role: RoleName, at: Instant) -> bool:
    """Whether the role may be asked at all now: a program, consent, and the circuit breaker closed."""
    ai = session.ai
    if not ai.available:
        return False
    if not RULES[role].sees_titles:
        return True
    return ai.consent is Consent.GIVEN and not breaker_open(session, at) and not _is_tried(session, role)


def breaker_open(session: Session, at: Instant) -> bool:
    """Whether nobody is asked for now, because the last askings failed."""
    return session.ai.retry_at is not None and at.boot < session.ai.retry_at.boot


def _is_tried(session: Session, role: RoleName) -> bool:
    """Whether another role is trying at this moment if the AI works again."""
    others = (call for other, call in session.calls.items() if other is not role)
    return session.ai.failures >= limits.BREAKER_FAILURES and any(call.in_flight is not None for call in others)


def call(session: Session, role: RoleName) -> Call:
    """Where the calls to `role` stand."""
    return session.calls.get(role, Call())


def due(session: Session, role: RoleName) -> float | None:
    """From when on (boot-time seconds) the role may be asked again; None while a request is in flight."""
    present = call(session, role)
    if present.in_flight is not None:
        return None
    if present.last_asked is None:
        return session.clock.boot
    return present.last_asked + RULES[role].debounce


def ask(session: Session, request: Request, at: Instant) -> tuple[Session, Effects]:
    """Asks now, as far as an AI may see; a request of the same role that is in flight is superseded."""
    role = ROLE_OF[type(request)]
    request = for_ai(request, session.policy)
    superseded: Effects = () if call(session, role).in_flight is None else (Cancel(role),)
    return _with_call(session, role, Call(request, at.boot)), (*superseded, Ask(request))


def forget(session: Session, role: RoleName) -> tuple[Session, Effects]:
    """Nobody waits for this role any more; its debounce starts anew."""
    cancelled: Effects = () if call(session, role).in_flight is None else (Cancel(role),)
    return replace(session, calls={r: c for r, c in session.calls.items() if r is not role}), cancelled


def is_current(session: Session, request: Request) -> bool:
    """The staleness guard: whether an answer to `request` is still wanted."""
    match request:
        case CoachRequest():
            coach = session.coach
            return coach.status is CallStatus.PENDING and request.request_id == coach.request_id
        case JudgeRequest():
            return _is_running(session, request.commitment_id)
        case NudgeRequest():
            return _is_running(session, request.commitment_id) and request.stretch == session.drift.stretch
        case ReviewRequest():
            # By generation alone: a person who ends quickly keeps the takeaway.
            return request.generation == session.looking.generation


def landed(session: Session, request: Request) -> Session:
    """The request came back, with whatever result; it is in flight no more."""
    role = ROLE_OF[type(request)]
    present = call(session, role)
    if present.in_flight != request:
        return session
    return _with_call(session, role, replace(present, in_flight=None))


def succeeded(session: Session) -> Session:
    """An AI gave a usable answer: it works again."""
    return replace(session, ai=replace(session.ai, fault=None, failures=0, retry_at=None))


def failed(session: Session, fault: Fault, at: Instant) -> Session:
    """An AI gave no usable answer; after three times in a row nobody is asked for five minutes, doubling to an hour.

    What fails during the wait was asked before it, or by the person, and does not make it longer.
    """
    if breaker_open(session, at):
        return replace(session, ai=replace(session.ai, fault=fault))
    failures = session.ai.failures + 1
    retry_at = None
    if failures >= limits.BREAKER_FAILURES:
        doublings = min(failures - limits.BREAKER_FAILURES, 16)
        wait = min(limits.BREAKER_FIRST_SECS * 2**doublings, limits.BREAKER_MAX_SECS)
        retry_at = at.at(at.boot + wait)
    return replace(session, ai=replace(session.ai, fault=fault, failures=failures, retry_at=retry_at))


def _is_running(session: Session, commitment_id: str) -> bool:
    commitment = session.commitment
    return session.phase is Phase.ACTIVE and commitment is not None and commitment.id == commitment_id


def _with_call(session: Session, role: RoleName, new: Call) -> Session:
    return replace(session, calls={**session.calls, role: new})
