"""The nudge: right app, but still the right work?"""

from __future__ import annotations

from antidrift.domain.model import RoleName
from antidrift.domain.requests import Advice, NudgeRequest
from antidrift.roles.answers import AnswerModel, InvalidAnswer, Message, read
from antidrift.roles.spec import RoleSpec
from antidrift.roles.untrusted import clean, fenced


class InvalidNudge(InvalidAnswer):
    """Not an answer to the question: no plain true or false, or a message that is no text."""

    noun = "advice"


class _Answer(AnswerModel):
    on_track: bool
    message: Message = ""


def write(request: NudgeRequest, token: str) -> str:
    """The commitment in the person's words, the titles as data."""
    titles = {"titles": [clean(title, 200) for title in request.titles]}
    return (
        f"Next action: {clean(request.next_action, 500)}\n"
        f"Done when: {clean(request.success_condition, 500)}\n\n"
        f"The latest window titles, oldest first:\n{fenced(titles, token)}"
    )


def parse(text: str) -> Advice:
    """Off track without words is silence: there is nothing to show.

    Raises EmptyResponse, NoJSON, InvalidNudge.
    """
    answer = read(text, _Answer, InvalidNudge)
    return Advice("" if answer.on_track else answer.message)


NUDGE = RoleSpec(RoleName.NUDGE, timeout_secs=30, write=write, parse=parse)
