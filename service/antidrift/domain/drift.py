"""Drift: what is known about the focused window, when to ask about it, and when to interrupt.

Nothing here is remembered that can be derived: the status follows from the focused key, the verdicts and the
commitment, so that one window's verdict can never show on another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from antidrift.domain import asking, limits
from antidrift.domain.effects import Effects
from antidrift.domain.errors import InvalidArgument, NothingToJudge
from antidrift.domain.matching import app_of, is_allowed, is_browser, key_of, site_in
from antidrift.domain.model import DriftStatus, Instant, Key, Phase, RoleName, Verdict, Window
from antidrift.domain.privacy import may_be_judged, title_for_nudge
from antidrift.domain.requests import Advice, JudgeRequest, NudgeRequest
from antidrift.domain.session import Commitment, Drift, Session

_Item = TypeVar("_Item")


def status(session: Session, at: Instant) -> DriftStatus:
    """What shows for the window that has (or, below a neutral one, last had) the focus."""
    drift = session.drift
    if session.phase is not Phase.ACTIVE or session.presence.causes or drift.focus is None or drift.key is None:
        return DriftStatus.IDLE
    if _on_allowed(session):
        return DriftStatus.ONTASK
    verdict = drift.verdicts.get(drift.key)
    if verdict is not None:
        return DriftStatus.ONTASK if verdict.on_task else DriftStatus.DRIFTING
    return DriftStatus.PENDING if _is_judgeable(session, at) else DriftStatus.IDLE


@dataclass(frozen=True, slots=True)
class Shown:
    """What front ends are told of the focused window.

    `reason` is empty unless it drifts; `subject` is its class and site, None while nothing is known of any window.
    """

    status: DriftStatus
    reason: str = ""
    subject: tuple[str, str] | None = None


def shown(session: Session, at: Instant) -> Shown:
    """The status, and what it is about."""
    now = status(session, at)
    focus, key = session.drift.focus, session.drift.key
    if now is DriftStatus.IDLE or focus is None or key is None:
        return Shown(now)
    reason = session.drift.verdicts[key].reason if now is DriftStatus.DRIFTING else ""
    return Shown(now, reason, (focus.wm_class or focus.app_id, site_in(focus, session.policy)))


def observe(session: Session, window: Window | None, at: Instant) -> Session:
    """The focus moved, or the title of the focused window changed; None, a neutral window, changes nothing here."""
    if window is None:
        return session
    drift = session.drift
    key = key_of(window, session.policy)
    if key != drift.key:
        drift = replace(drift, key=key, key_since=at, refocused=None)
    drift = replace(drift, focus=window, unanswered=None)
    commitment = session.commitment
    if commitment is not None and is_allowed(window, commitment, session.policy):
        drift = replace(drift, titles=_with_title(drift.titles, title_for_nudge(window, session.policy)))
    else:
        drift = _end_stretch(drift)
    return replace(session, drift=drift)


def lose_sight(session: Session) -> Session:
    """The sensor died: nothing is known about the focus, and nothing is taken to be on task."""
    drift = replace(_end_stretch(session.drift), focus=None, key=None)
    return replace(session, drift=drift)


def end_stretch(session: Session) -> Session:
    """The on-task stretch is over, and with it the nudge that belongs to it."""
    return replace(session, drift=_end_stretch(session.drift))


def on_task(session: Session, at: Instant) -> Session:
    """Allows the window that drifts or drifted last, else the focused one ("This is on task"); or NothingToJudge."""
    commitment = session.commitment
    assert commitment is not None
    window = _drifted(session, at)
    if window is None and session.evidence.window is not None:
        window = session.drift.focus
    if window is None:
        raise NothingToJudge("no window has the focus, and none drifted in the last minute")
    # What is allowed needs no verdict, so the one that there may be stays where it is.
    return replace(
        session, commitment=_allow(commitment, window, session), drift=replace(session.drift, last_drift=None)
    )


def refocus(session: Session, at: Instant) -> Session:
    """Drops the verdict on the window that drifts or drifted last ("Back to task"); without one nothing changes."""
    window = _drifted(session, at)
    if window is None:
        return session
    drift = session.drift
    key = key_of(window, session.policy)
    return replace(
        session,
        drift=replace(
            drift,
            verdicts={k: v for k, v in drift.verdicts.items() if k != key},
            refocused=key,
            last_drift=None,
        ),
    )


def judged(session: Session, request: JudgeRequest, verdict: Verdict) -> Session:
    """A verdict of this session is kept under its own key, whatever has the focus by now."""
    verdicts = {**session.drift.verdicts, request.key: verdict}
    while len(verdicts) > limits.VERDICTS:
        del verdicts[next(iter(verdicts))]
    return replace(session, drift=replace(session.drift, verdicts=verdicts))


def unanswered(session: Session, request: JudgeRequest) -> Session:
    """No verdict came: the window is not asked about again before it is seen anew."""
    return replace(session, drift=replace(session.drift, unanswered=request.key))


def nudged(session: Session, request: NudgeRequest, advice: Advice) -> Session:
    """A nudge shows, or an earlier one goes because the work is on track again."""
    on_track = session.drift.on_track_titles
    if advice.message:
        on_track -= set(request.titles)
    elif len(on_track) < limits.VERDICTS:
        on_track |= set(request.titles)
    return replace(
        session,
        drift=replace(session.drift, nudge=advice.message, nudged_titles=request.titles, on_track_titles=on_track),
    )


def settle(session: Session, at: Instant) -> tuple[Session, Effects]:
    """Brings everything that follows from the state up to date: drift onset, interrupt, and what is due to be asked."""
    session = _settle_drift(session, at)
    # Never both: a window is judged or allowed.
    if judge_due(session, at) == at.boot:
        return asking.ask(session, _judge_request(session), at)
    if nudge_due(session, at) == at.boot:
        return asking.ask(session, _nudge_request(session), at)
    return session, ()


def judge_request(commitment: Commitment, window: Window, key: Key) -> JudgeRequest:
    """The question whether `window` serves the commitment, before `privacy.for_ai` has gone over it."""
    return JudgeRequest(
        commitment.id,
        key,
        commitment.next_action,
        commitment.success_condition,
        window.wm_class or window.app_id,
        window.title,
    )


def interrupt_due(session: Session, at: Instant) -> float | None:
    """When the banner is to show, if the drift lasts until then; None: it shows already, or there is no drift."""
    drift = session.drift
    if drift.interrupt or drift.onset is None or drift.key is None:
        return None
    last = drift.interrupted_at.get(drift.key)
    earliest = drift.onset.boot + limits.INTERRUPT_AFTER_SECS
    if last is not None:
        earliest = max(earliest, last + limits.INTERRUPT_EVERY_SECS)
    return max(earliest, at.boot)


def judge_due(session: Session, at: Instant) -> float | None:
    """When the focused window is to be judged; None: not at all, or a judgement is under way."""
    if session.evidence.window is None or status(session, at) is not DriftStatus.PENDING:
        return None
    return _later(asking.due(session, RoleName.DRIFT_JUDGE), at)


def nudge_due(session: Session, at: Instant) -> float | None:
    """When the next nudge is to be asked for. It needs two titles, and something that the last one did not see."""
    drift = session.drift
    if (
        session.presence.causes
        or session.evidence.window is None
        or not _on_allowed(session)
        or len(drift.titles) < limits.NUDGE_MIN_TITLES
        or _nudged_already(drift)
        or not asking.may_ask(session, RoleName.NUDGE, at)
    ):
        return None
    return _later(asking.due(session, RoleName.NUDGE), at)


def _nudged_already(drift: Drift) -> bool:
    """Whether an answer covers what is seen now: the very same titles, or none that was not on track before.

    While a nudge shows the order counts as well: back at earlier titles, the work may be on track again.
    """
    if drift.titles == drift.nudged_titles:
        return True
    return not drift.nudge and drift.on_track_titles.issuperset(drift.titles)


def _later(due: float | None, at: Instant) -> float | None:
    return None if due is None else max(due, at.boot)


def _settle_drift(session: Session, at: Instant) -> Session:
    drift = session.drift
    focus, key = drift.focus, drift.key
    if status(session, at) is not DriftStatus.DRIFTING or focus is None or key is None:
        if drift.onset is None:
            return session
        last = None if drift.last_drift is None else (drift.last_drift[0], at.boot)
        return replace(session, drift=replace(drift, onset=None, interrupt=False, last_drift=last))
    if drift.onset is None:
        drift = replace(drift, onset=drift.key_since, episode=drift.episode + 1)
    drift = replace(drift, last_drift=(focus, at.boot))
    if interrupt_due(replace(session, drift=drift), at) == at.boot:
        drift = replace(drift, interrupt=True, interrupted_at={**drift.interrupted_at, key: at.boot})
    return replace(session, drift=drift)


def _drifted(session: Session, at: Instant) -> Window | None:
    """The window that drifts now, else the one that drifted last, if that was within a minute."""
    last = session.drift.last_drift
    if last is None:
        return None
    window, until = last
    drifts_now = status(session, at) is DriftStatus.DRIFTING
    return window if drifts_now or at.boot - until <= limits.LAST_DRIFT_SECS else None


def _allow(commitment: Commitment, window: Window, session: Session) -> Commitment:
    app = app_of(window, session.policy)
    key = key_of(window, session.policy)
    site = site_in(window, session.policy)
    if is_allowed(window, commitment, session.policy):
        return commitment
    if site:
        return replace(commitment, allowed_sites=_bounded((*commitment.allowed_sites, site), "sites"))
    if is_browser(app) or key.page or not app:
        return replace(commitment, allowed_keys=_bounded((*commitment.allowed_keys, key), "pages"))
    classes = (*commitment.allowed_window_classes, window.wm_class or window.app_id)
    return replace(commitment, allowed_window_classes=_bounded(classes, "apps"))


def _bounded(items: tuple[_Item, ...], what: str) -> tuple[_Item, ...]:
    if len(items) > limits.ALLOWED_CLASSES:
        raise InvalidArgument(f"{limits.ALLOWED_CLASSES} {what} are allowed already in this session")
    return items


def _on_allowed(session: Session) -> bool:
    focus, commitment = session.drift.focus, session.commitment
    return focus is not None and commitment is not None and is_allowed(focus, commitment, session.policy)


def _is_judgeable(session: Session, at: Instant) -> bool:
    drift = session.drift
    return (
        drift.key not in (drift.refocused, drift.unanswered)
        and asking.may_ask(session, RoleName.DRIFT_JUDGE, at)
        and drift.focus is not None
        and may_be_judged(drift.focus, session.policy)
    )


def _end_stretch(drift: Drift) -> Drift:
    return replace(drift, stretch=drift.stretch + 1, nudge="")


def _with_title(titles: tuple[str, ...], title: str) -> tuple[str, ...]:
    if not title or (titles and titles[-1] == title):
        return titles
    return (*(t for t in titles if t != title), title)[-limits.NUDGE_TITLES :]


def _judge_request(session: Session) -> JudgeRequest:
    commitment, drift = session.commitment, session.drift
    assert commitment is not None
    assert drift.focus is not None
    assert drift.key is not None
    return judge_request(commitment, drift.focus, drift.key)


def _nudge_request(session: Session) -> NudgeRequest:
    commitment, drift = session.commitment, session.drift
    assert commitment is not None
    return NudgeRequest(
        commitment.id, drift.stretch, commitment.next_action, commitment.success_condition, drift.titles
    )
