"""Where the time goes. Every second of a session is put into exactly one bucket, or into the time away."""

from __future__ import annotations

from dataclasses import replace

from antidrift.domain import limits
from antidrift.domain.model import Bucket, Instant, Window
from antidrift.domain.session import Evidence, Stretch
from antidrift.domain.titles import fold

NO_WINDOW = ("(none)", "")
OTHER = ("(other)", "")


def begun(at: Instant) -> Evidence:
    """The empty evidence of a session that starts now."""
    return Evidence(reckoned_until=at.boot)


def observe(evidence: Evidence, window: Window | None, at: Instant) -> Evidence:
    """The focus is on `window` from now on; None: on nothing that counts. Time up to `at` must be reckoned already."""
    if window == evidence.window:
        return evidence
    if window is None:
        return replace(evidence, window=None)
    focus = (window.wm_class, window.window_id)
    switched = evidence.last_focus is not None and focus != evidence.last_focus
    return replace(
        evidence,
        window=window,
        window_since=at,
        switch_count=evidence.switch_count + switched,
        last_focus=focus,
    )


def reckon(evidence: Evidence, until: float, *, away: bool) -> Evidence:
    """Puts the time since the last reckoning into the bucket of the focused window, or into the time away."""
    start = evidence.reckoned_until
    secs = until - start
    if secs <= 0:
        return evidence
    if away:
        return replace(evidence, reckoned_until=until, away_secs=evidence.away_secs + secs)
    bucket = _bucket_of(evidence)
    return replace(
        evidence,
        reckoned_until=until,
        buckets={**evidence.buckets, bucket: evidence.buckets.get(bucket, 0.0) + secs},
        lately=_remember(evidence.lately, Stretch(start, until, bucket)),
    )


def take_back(evidence: Evidence, since: float) -> Evidence:
    """Moves what was reckoned after `since` from the buckets to the time away: an absence that was noticed late.

    Goes back as far as stretches are kept; what cannot be taken back stays where it is, so the sum stays right.
    """
    buckets = dict(evidence.buckets)
    kept: list[Stretch] = []
    taken = 0.0
    for stretch in evidence.lately:
        overlap = stretch.end - max(stretch.start, since)
        if overlap <= 0:
            kept.append(stretch)
            continue
        taken += overlap
        left = buckets[stretch.bucket] - overlap
        if left > 1e-9:
            buckets[stretch.bucket] = left
        else:
            del buckets[stretch.bucket]
        if stretch.start < since:
            kept.append(replace(stretch, end=since))
    return replace(evidence, buckets=buckets, lately=tuple(kept), away_secs=evidence.away_secs + taken)


def top(evidence: Evidence, n: int) -> tuple[Bucket, ...]:
    """The `n` largest buckets, largest first; equal ones in the order of their names."""
    largest = sorted(evidence.buckets.items(), key=lambda item: (-item[1], item[0]))[:n]
    return tuple(Bucket(wm_class, title, secs) for (wm_class, title), secs in largest)


def _bucket_of(evidence: Evidence) -> tuple[str, str]:
    window = evidence.window
    if window is None:
        return NO_WINDOW
    bucket = (window.wm_class or window.app_id or "(unknown)", fold(window.title)[: limits.BUCKET_TITLE_CHARS])
    if bucket in evidence.buckets or len(evidence.buckets) < limits.BUCKETS:
        return bucket
    return OTHER


def _remember(lately: tuple[Stretch, ...], new: Stretch) -> tuple[Stretch, ...]:
    last = lately[-1] if lately else None
    if last is not None and last.bucket == new.bucket and last.end == new.start:
        lately, new = lately[:-1], replace(last, end=new.end)
    oldest = new.end - limits.TAKE_BACK_SECS
    first = 0
    while first < len(lately) and lately[first].end < oldest:
        first += 1
    return (*lately[max(first, len(lately) + 1 - limits.TAKE_BACK_STRETCHES) :], new)
