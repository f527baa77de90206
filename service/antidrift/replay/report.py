"""What a replay found, as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from antidrift.domain.model import RoleName, SessionSummary
from antidrift.replay.run import Played


def text(played: Played) -> str:
    """A page for a terminal; nothing in it depends on the machine or the moment."""
    return "\n".join(_lines(played)) + "\n"


def _lines(played: Played) -> Iterator[str]:
    refused = f", {played.refused} of them refused" if played.refused else ""
    yield f"replayed    {_duration(played.secs)}, {played.events} lines{refused}"
    running = ", and one that still runs" if played.running else ""
    yield f"sessions    {len(played.sessions)}{running}"
    for summary, elapsed in zip(played.sessions, played.elapsed, strict=True):
        yield f"  {_session(summary, elapsed)}"
    yield f"drift       {played.drifts} times, {played.interrupts} interrupts and {played.nudges} nudges shown"
    yield from _calls(played)
    yield f"audit       sha256 {played.audit_sha256}"


def _session(summary: SessionSummary, elapsed: float) -> str:
    return (
        f"{summary.outcome:<11}  at windows {_duration(summary.active_secs)} + away {_duration(summary.away_secs)}"
        f" = {_duration(summary.active_secs + summary.away_secs)} of {_duration(elapsed)}, "
        f"{summary.switch_count} {'switch' if summary.switch_count == 1 else 'switches'}"
    )


def _calls(played: Played) -> Iterator[str]:
    by_role = Counter(asking.role for asking in played.calls)
    hours = sum(played.elapsed) / 3600
    rate = f", {len(played.calls) / hours:.1f} an hour of the sessions that ended" if hours else ""
    yield f"AI calls    {len(played.calls)}, {_an_hour(len(played.calls), played.secs)} an hour of the day{rate}"
    for role in RoleName:
        yield f"  {role:<11}  {by_role[role]}, {_an_hour(by_role[role], played.secs)} an hour"
    if played.unforeseen:
        yield f"  the trace had no answer to {played.unforeseen} of them; they got one all the same"


def _an_hour(count: int, secs: float) -> str:
    return f"{count / secs * 3600:.1f}" if secs else "0.0"


def _duration(secs: float) -> str:
    whole = round(secs)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"
