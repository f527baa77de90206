"""What survives a restart, and what a restart makes of it."""

from __future__ import annotations

from dataclasses import replace

from antidrift.domain import machine, presence
from antidrift.domain.effects import Effects, Watch
from antidrift.domain.events import CameBack
from antidrift.domain.model import AwayCause, Bucket, Instant, Phase, SessionSummary
from antidrift.domain.session import AI, Commitment, Evidence, Looking, Policy, SavedSession, Session


def to_saved(session: Session, boot_id: str) -> SavedSession:
    """What must be on disk of `session` at `session.clock`."""
    now = session.clock
    commitment, paused_since = session.commitment, session.presence.paused_since
    if commitment is not None and session.phase is Phase.ACTIVE and paused_since is not None:
        commitment = replace(commitment, deadline=commitment.deadline + (now.boot - paused_since))
    return SavedSession(
        now,
        boot_id,
        session.phase,
        session.ai.answer,
        commitment,
        session.outcome,
        session.ended,
        tuple(Bucket(wm_class, title, secs) for (wm_class, title), secs in session.evidence.buckets.items()),
        session.evidence.away_secs,
        session.evidence.switch_count,
        session.looking.status,
        session.looking.recap,
        session.looking.carry_forward,
    )


def durable(session: Session) -> tuple[object, ...]:
    """The part of the session that must be on disk before a change of it counts: all that is saved but evidence."""
    return (
        session.phase,
        session.ai.answer,
        session.commitment,
        session.outcome,
        session.ended,
        session.looking.status,
        session.looking.recap,
        session.looking.carry_forward,
    )


def restore(
    saved: SavedSession,
    recent: tuple[SessionSummary, ...],
    policy: Policy,
    ai: AI,
    now: Instant,
    boot_id: str,
) -> tuple[Session, Effects]:
    """The session as it goes on after a restart.

    On the same boot the time in between is `unobserved` away: the timebox ran on. Across a reboot it counts as sleep,
    which pauses the timebox and, beyond the policy's limit, ends the session at the moment it was last saved. How long
    that was only the wall clock tells; a gap that it reports as negative counts as none.
    """
    session = Session(
        now,
        policy,
        phase=saved.phase,
        looking=Looking(saved.reflection_status, saved.recap, saved.carry_forward),
        ai=replace(ai, answer=saved.consent),
        recent=recent,
    )
    commitment = saved.commitment
    if saved.phase is Phase.PLANNING:
        return machine.plan_anew(session)
    ended_already = saved.phase is Phase.REVIEW and bool(recent) and recent[-1].session_id == _id(commitment)
    if commitment is None or saved.phase is Phase.LOCKED or ended_already:
        # Ended already: the audit line was written, and the snapshot that should have followed was not.
        return machine.review_again(replace(session, phase=Phase.LOCKED))

    rebooted = saved.boot_id != boot_id
    gap = max(0.0, (now.unix_ms - saved.saved.unix_ms) / 1000 if rebooted else now.boot - saved.saved.boot)
    # Boot-time values are moved so that the moment of saving lies `gap` before now on this boot's clock.
    shift = now.boot - gap - saved.saved.boot
    left = _shifted(saved.saved, shift)
    session = replace(
        session,
        commitment=replace(
            commitment, started=_shifted(commitment.started, shift), deadline=commitment.deadline + shift
        ),
        outcome=saved.outcome,
        ended=None if saved.ended is None else _shifted(saved.ended, shift),
        evidence=Evidence(
            reckoned_until=left.boot,
            buckets={(b.wm_class, b.title): b.secs for b in saved.buckets},
            away_secs=saved.away_secs,
            switch_count=saved.switch_count,
        ),
    )
    if saved.phase is Phase.REVIEW:
        return machine.review_again(session)
    cause = AwayCause.SLEEP if rebooted else AwayCause.UNOBSERVED
    session, effects = machine.step(presence.went_away(session, cause, left, left), CameBack(now, cause))
    return session, (*effects, Watch()) if session.phase is Phase.ACTIVE else effects


def _id(commitment: Commitment | None) -> str | None:
    return None if commitment is None else commitment.id


def _shifted(moment: Instant, secs: float) -> Instant:
    return replace(moment, boot=moment.boot + secs)
