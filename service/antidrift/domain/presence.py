"""Whether the person is there. An absence goes into no bucket; sleep and lock also pause the timebox."""

from __future__ import annotations

from dataclasses import replace

from antidrift.domain import drift
from antidrift.domain.evidence import take_back
from antidrift.domain.model import AwayCause, Instant, Phase
from antidrift.domain.session import Presence, Session

PAUSING = frozenset({AwayCause.SLEEP, AwayCause.LOCK})


def went_away(session: Session, cause: AwayCause, since: Instant, at: Instant) -> Session:
    """The person left at `since`. What was reckoned from then on is taken back out of the buckets.

    Of a sleep, `since` is the last input before it: whether they had left already is known later (`dated_back`).
    """
    if cause in session.presence.causes:
        return session
    if session.phase is not Phase.ACTIVE:
        # Nothing is reckoned, but a session that starts under a locked screen must know of it.
        return replace(session, presence=_with_cause(session.presence, cause, at, at))
    seen = session.evidence
    # An absence is dated back no further than what was reckoned can be taken back, so never before the session.
    known_from = seen.lately[0].start if seen.lately else seen.reckoned_until
    since = at.at(max(min(since.boot, at.boot), known_from))
    present = session.presence
    if cause is AwayCause.SLEEP:
        present, since = replace(present, last_input=since), at
    # Also during another absence: the screen may lock itself before the person is found to be idle.
    session = replace(session, evidence=take_back(seen, since.boot))
    session = drift.end_stretch(session)
    return dated_back(replace(session, presence=_with_cause(present, cause, since, at)), at)


def dated_back(session: Session, at: Instant) -> Session:
    """Reckons the absence of who sleeps from the last input on, once that is so long ago that they were idle."""
    last_input = session.presence.last_input
    if last_input is None or at.boot - last_input.boot < session.policy.idle_secs:
        return session
    present = replace(session.presence, since=_earlier(session.presence.since, last_input), last_input=None)
    return replace(session, presence=present, evidence=take_back(session.evidence, last_input.boot))


def came_back(session: Session, cause: AwayCause, at: Instant) -> Session:
    """One cause of the absence has ended. The deadline moves by the pause when the last pausing cause ends."""
    present = session.presence
    if cause not in present.causes:
        return session
    causes = present.causes - {cause}
    commitment = session.commitment
    paused_since = present.paused_since
    if paused_since is not None and not causes & PAUSING:
        if commitment is not None and session.phase is Phase.ACTIVE:
            commitment = replace(commitment, deadline=commitment.deadline + (at.boot - paused_since))
        paused_since = None
    session = replace(
        session,
        commitment=commitment,
        presence=Presence(
            causes,
            present.since if causes else None,
            paused_since,
            present.last_input if AwayCause.SLEEP in causes else None,
        ),
    )
    if causes:
        return session
    # Drift is counted from the return: nobody drifts in their sleep.
    return replace(session, drift=replace(session.drift, key_since=at))


def begun(presence: Presence, at: Instant) -> Presence:
    """The presence at the start of a session: an absence that lasts already counts from now on."""
    if not presence.causes:
        return Presence()
    return Presence(presence.causes, at, at.boot if presence.causes & PAUSING else None)


def cause_shown(presence: Presence) -> AwayCause | None:
    """The weightiest of the present causes."""
    for cause in (AwayCause.SLEEP, AwayCause.LOCK, AwayCause.IDLE, AwayCause.UNOBSERVED):
        if cause in presence.causes:
            return cause
    return None


def interrupted_at(session: Session) -> float | None:
    """When (boot-time seconds) the pause that goes on will have ended the session; None: nothing is paused."""
    paused_since = session.presence.paused_since
    if session.phase is not Phase.ACTIVE or paused_since is None:
        return None
    return paused_since + session.policy.interrupted_after_secs


def _with_cause(presence: Presence, cause: AwayCause, since: Instant, at: Instant) -> Presence:
    paused_since = presence.paused_since
    if cause in PAUSING and paused_since is None:
        # A pause is never dated back before the absence that it is part of was noticed: the deadline may have passed.
        paused_since = since.boot if not presence.causes else at.boot
    return replace(
        presence,
        causes=presence.causes | {cause},
        since=_earlier(presence.since, since),
        paused_since=paused_since,
    )


def _earlier(one: Instant | None, other: Instant) -> Instant:
    return other if one is None or other.boot < one.boot else one
