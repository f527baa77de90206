"""The reviewer: how did the session go, and what is worth doing differently?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Annotated

from antidrift.domain.model import Bucket, Reflection, RoleName, SessionSummary
from antidrift.domain.requests import ReviewRequest
from antidrift.roles.answers import NOT_BLANK, AnswerModel, InvalidAnswer, Message, read
from antidrift.roles.spec import RoleSpec
from antidrift.roles.untrusted import clean, fenced

MOST_APPS = 8
MOST_TITLES = 3  # of one app
MOST_PAST_APPS = 3


class InvalidReflection(InvalidAnswer):
    """Not a reflection: without a recap there is nothing to show."""

    noun = "look-back"


class _Answer(AnswerModel):
    recap: Annotated[Message, NOT_BLANK]
    carry_forward: Message = ""


def write(request: ReviewRequest, token: str) -> str:
    """All of it as data: even the person's words come from a file here."""
    data: dict[str, object] = {"session": _session(request.finished)}
    lead = "The session that just ended."
    if request.history:
        data["recent"] = [_past_session(past) for past in request.history]
        lead += " Recent sessions (oldest first) are under `recent`."
    return f"{lead}\n{fenced(data, token)}"


def parse(text: str) -> Reflection:
    """Raises EmptyResponse, NoJSON, InvalidReflection."""
    answer = read(text, _Answer, InvalidReflection)
    return Reflection(answer.recap, answer.carry_forward)


def _session(summary: SessionSummary) -> dict[str, object]:
    return {
        "next_action": clean(summary.next_action, 500),
        "success_condition": clean(summary.success_condition, 500),
        "outcome": summary.outcome,
        "minutes": {
            "planned": _minutes(summary.timebox_secs),
            "at_windows": _minutes(summary.active_secs),
            "away": _minutes(summary.away_secs),
        },
        "window_switches": summary.switch_count,
        "apps": [
            {"class": clean(name, 128), "minutes": _minutes(secs), "titles": _titles(summary.buckets, name)}
            for name, secs in _apps(summary.buckets)[:MOST_APPS]
        ],
    }


def _past_session(summary: SessionSummary) -> dict[str, object]:
    """Without titles: what was on the screen last week is nobody's business any more."""
    return {
        "outcome": summary.outcome,
        "next_action": clean(summary.next_action, 500),
        "minutes": _minutes(summary.active_secs),
        "window_switches": summary.switch_count,
        "apps": [clean(name, 128) for name, _ in _apps(summary.buckets)[:MOST_PAST_APPS]],
    }


def _apps(buckets: Iterable[Bucket]) -> list[tuple[str, float]]:
    """Seconds per window class, most first; of two with as many, the one that came first."""
    secs: defaultdict[str, float] = defaultdict(float)
    for bucket in buckets:
        secs[bucket.wm_class] += bucket.secs
    return sorted(secs.items(), key=lambda app: -app[1])


def _titles(buckets: Iterable[Bucket], wm_class: str) -> list[str]:
    of_app = sorted((bucket for bucket in buckets if bucket.wm_class == wm_class), key=lambda bucket: -bucket.secs)
    return [title for bucket in of_app[:MOST_TITLES] if (title := clean(bucket.title, 200))]


def _minutes(secs: float) -> float:
    return round(secs / 60, 1)


REVIEWER = RoleSpec(RoleName.REVIEWER, timeout_secs=30, write=write, parse=parse)
