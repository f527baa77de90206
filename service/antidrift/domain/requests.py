"""What an AI is asked, and what it may answer.

A request carries its own staleness guard, so that an answer which comes too late can be told from one that is
still wanted: the coach by `request_id`, the judge by the commitment, the nudge by the on-task stretch, the
reviewer by its generation.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from antidrift.domain.model import Key, Proposal, Reflection, RoleName, SessionSummary, Verdict


@dataclass(frozen=True, slots=True)
class CoachRequest:
    """Sharpen `intent`, grounded by the profile and by last time's takeaway."""

    request_id: int
    intent: str = field(repr=False)
    profile: str = field(default="", repr=False)
    carry_forward: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """Does this window serve the commitment?"""

    commitment_id: str
    key: Key = field(repr=False)
    next_action: str = field(repr=False)
    success_condition: str = field(repr=False)
    wm_class: str = field(repr=False)
    title: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class NudgeRequest:
    """Do these titles, all of allowed apps, still serve the commitment? Oldest first."""

    commitment_id: str
    stretch: int
    next_action: str = field(repr=False)
    success_condition: str = field(repr=False)
    titles: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """How did this session go, read against the ones before it (oldest first)?"""

    generation: int
    finished: SessionSummary = field(repr=False)
    history: tuple[SessionSummary, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Advice:
    """A nudge's answer: one sentence, or "" while the work is still on track."""

    message: str = field(repr=False)


Request = CoachRequest | JudgeRequest | NudgeRequest | ReviewRequest
Answer = Proposal | Verdict | Advice | Reflection

ROLE_OF: dict[type[Request], RoleName] = {
    CoachRequest: RoleName.COACH,
    JudgeRequest: RoleName.DRIFT_JUDGE,
    NudgeRequest: RoleName.NUDGE,
    ReviewRequest: RoleName.REVIEWER,
}
