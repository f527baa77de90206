"""The coach: a rough intent becomes a commitment that can be started."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from antidrift.domain.model import Proposal, RoleName
from antidrift.domain.requests import CoachRequest
from antidrift.roles.answers import NOT_BLANK, AnswerModel, InvalidAnswer, line, read
from antidrift.roles.spec import RoleSpec
from antidrift.roles.untrusted import clean, clean_lines, fenced

MOST_CLASSES = 64


class InvalidProposal(InvalidAnswer):
    """Not a proposal: a blank field, or minutes that are no integer from 1 to 1440."""

    noun = "proposal"


class _Answer(AnswerModel):
    next_action: Annotated[str, line(500), NOT_BLANK]
    success_condition: Annotated[str, line(500), NOT_BLANK]
    timebox_minutes: Annotated[int, Field(ge=1, le=24 * 60)]
    allowed_window_classes: tuple[Annotated[str, line(128)], ...] | None = None


def write(request: CoachRequest, token: str) -> str:
    """The person's intent, with what is known about them above it."""
    parts = []
    if profile := clean_lines(request.profile):
        parts.append(f"About the person:\n{profile}")
    # The takeaway is an AI's reading of window titles: a title must not reach the coach through it.
    if takeaway := clean(request.carry_forward, 200):
        parts.append("Last session:\n" + fenced({"takeaway": takeaway}, token))
    parts.append(f"Rough intent: {clean(request.intent, 2000)}")
    return "\n\n".join(parts)


def parse(text: str) -> Proposal:
    """Raises EmptyResponse, NoJSON, InvalidProposal."""
    answer = read(text, _Answer, InvalidProposal)
    classes: dict[str, str] = {}
    for name in answer.allowed_window_classes or ():
        if name:
            classes.setdefault(name.casefold(), name)  # they are compared case-folded
    return Proposal(
        next_action=answer.next_action,
        success_condition=answer.success_condition,
        timebox_secs=answer.timebox_minutes * 60,
        allowed_window_classes=tuple(classes.values())[:MOST_CLASSES],
    )


COACH = RoleSpec(RoleName.COACH, timeout_secs=60, write=write, parse=parse)
