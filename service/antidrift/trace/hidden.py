"""The values of the domain with the words taken out of them. Classes of windows and app ids stay as they are."""

from __future__ import annotations

from dataclasses import replace

from antidrift.domain.model import (
    Allowed,
    Bucket,
    Fault,
    Instant,
    Key,
    Proposal,
    Reflection,
    SessionSummary,
    Verdict,
    Window,
)
from antidrift.domain.requests import Advice, Answer
from antidrift.domain.session import AI, Commitment, Policy, SavedSession
from antidrift.trace.pseudonyms import Pseudonyms


class Hidden:
    """Equal values stay equal and different ones different, in all that is hidden by one object of this class."""

    def __init__(self, policy: Policy, salt: bytes | None = None) -> None:
        self._words = Pseudonyms(policy, salt)

    def sentence(self, text: str) -> str:
        """See `Pseudonyms.sentence`."""
        return self._words.sentence(text)

    def window(self, window: Window, title: str | None = None) -> Window:
        """A window; with `title`, that one instead of its own. Its process is nobody's business."""
        return replace(
            window,
            title=self._words.text(window.title) if title is None else title,
            pid=None,
            command=self._words.text(window.command),
            window_id=self._words.window_id(window.window_id),
        )

    def key(self, key: Key) -> Key:
        """What a verdict holds for."""
        return replace(key, page=self._words.text(key.page), window_id=self._words.window_id(key.window_id))

    def answer(self, answer: Answer) -> Answer:
        """What an AI said: that it said something, and what it decided."""
        said = self._words.sentence
        match answer:
            case Verdict():
                return replace(answer, reason=said(answer.reason))
            case Advice():
                return replace(answer, message=said(answer.message))
            case Reflection():
                return replace(answer, recap=said(answer.recap), carry_forward=said(answer.carry_forward))
            case Proposal():
                return replace(
                    answer, next_action=said(answer.next_action), success_condition=said(answer.success_condition)
                )

    def policy(self, policy: Policy) -> Policy:
        """The settings that matter."""
        always = policy.always_allowed
        text = self._words.text
        return replace(
            policy,
            always_allowed=Allowed(
                always.classes,
                tuple(map(text, always.titles)),
                tuple(map(text, always.domains)),
                tuple(map(text, always.commands)),
            ),
            home=text(policy.home),
        )

    def ai(self, ai: AI, began: Instant) -> AI:
        """What is known about the AI program. Its circuit breaker counts from the beginning of the trace."""
        retry_at = ai.retry_at
        return replace(
            ai,
            fault=None if ai.fault is None else Fault(ai.fault.code, ai.fault.code.value),
            retry_at=None if retry_at is None else replace(retry_at, boot=retry_at.boot - began.boot),
        )

    def saved(self, saved: SavedSession) -> SavedSession:
        """The session that a recording begins with; its moments count from there."""
        zero = saved.saved.boot
        return replace(
            saved,
            saved=_since(saved.saved, zero),
            commitment=None if saved.commitment is None else self.commitment(saved.commitment, zero),
            ended=None if saved.ended is None else _since(saved.ended, zero),
            buckets=tuple(self._bucket(bucket) for bucket in saved.buckets),
            recap=self._words.sentence(saved.recap),
            carry_forward=self._words.sentence(saved.carry_forward),
        )

    def summary(self, summary: SessionSummary) -> SessionSummary:
        """A session that has ended."""
        return replace(
            summary,
            next_action=self._words.sentence(summary.next_action),
            success_condition=self._words.sentence(summary.success_condition),
            buckets=tuple(self._bucket(bucket) for bucket in summary.buckets),
        )

    def commitment(self, commitment: Commitment, zero: float = 0.0) -> Commitment:
        """What the person has committed to, its moments counted from `zero`."""
        return replace(
            commitment,
            next_action=self._words.sentence(commitment.next_action),
            success_condition=self._words.sentence(commitment.success_condition),
            started=_since(commitment.started, zero),
            deadline=commitment.deadline - zero,
            allowed_sites=tuple(map(self._words.text, commitment.allowed_sites)),
            allowed_keys=tuple(map(self.key, commitment.allowed_keys)),
        )

    def _bucket(self, bucket: Bucket) -> Bucket:
        return replace(bucket, title=self._words.text(bucket.title))


def _since(moment: Instant, zero: float) -> Instant:
    return replace(moment, boot=moment.boot - zero)
