"""What an AI may see. The way out: `asking.ask`, which alone asks anybody, sends nothing that has not been here.

The person's own words (intent, commitment, profile) go as they were typed. Of windows, their titles go as the policy
has it, and private ones not at all.
"""

from __future__ import annotations

from dataclasses import replace

from antidrift.domain import limits
from antidrift.domain.matching import app_of, canonical_class, is_many_purpose
from antidrift.domain.model import Bucket, SessionSummary, Titles, Window
from antidrift.domain.private_windows import PRIVATE_TITLE
from antidrift.domain.redaction import redact
from antidrift.domain.requests import CoachRequest, JudgeRequest, NudgeRequest, Request, ReviewRequest
from antidrift.domain.session import Policy
from antidrift.domain.titles import fold


def for_ai(request: Request, policy: Policy) -> Request:
    """`request` with nothing in it that an AI may not see."""
    match request:
        case CoachRequest():
            # The takeaway is what another AI made of titles, perhaps when more of them could be seen.
            return replace(request, carry_forward=_text(request.carry_forward, policy))
        case JudgeRequest():
            app = canonical_class(request.wm_class, policy.aliases)
            return replace(request, title=_title(request.title, app, policy))
        case NudgeRequest():
            return replace(request, titles=tuple(filter(None, (_title(t, "", policy) for t in request.titles))))
        case ReviewRequest():
            return replace(
                request,
                finished=_summary(request.finished, policy),
                history=tuple(_summary(past, replace(policy, titles=Titles.NEVER)) for past in request.history),
            )


def may_be_judged(window: Window, policy: Policy) -> bool:
    """Whether there is anything to judge it by.

    A private window never is. Without its title a page is only a browser, and no verdict may hold for all of that.
    """
    if window.private:
        return False
    app = app_of(window, policy)
    return _mode(app, policy) is not Titles.NEVER or (bool(app) and not is_many_purpose(app, policy))


def title_for_nudge(window: Window, policy: Policy) -> str:
    """The title as one of those that a nudge is about; "" if it is not to be among them."""
    return "" if window.private else _title(fold(window.title), app_of(window, policy), policy)


def _mode(app: str, policy: Policy) -> Titles:
    return Titles.NEVER if app in policy.exclude_apps else policy.titles


def _title(title: str, app: str, policy: Policy, cut_at: int = limits.TITLE_CHARS) -> str:
    mode = _mode(app, policy)
    if mode is Titles.NEVER:
        return ""
    if mode is Titles.FULL:
        return title
    # One that was cut goes without its last word: half an address is not recognised as one.
    return redact(title if len(title) < cut_at else title.rpartition(" ")[0], policy.home)


def _text(text: str, policy: Policy) -> str:
    return text if policy.titles is Titles.FULL else redact(text, policy.home)


def _summary(summary: SessionSummary, policy: Policy) -> SessionSummary:
    seen = (bucket for bucket in summary.buckets if bucket.title != PRIVATE_TITLE)
    return replace(summary, buckets=tuple(replace(bucket, title=_bucket_title(bucket, policy)) for bucket in seen))


def _bucket_title(bucket: Bucket, policy: Policy) -> str:
    return _title(bucket.title, canonical_class(bucket.wm_class, policy.aliases), policy, limits.BUCKET_TITLE_CHARS)
