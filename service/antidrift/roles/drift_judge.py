"""The drift judge: does the window in front serve the commitment?"""

from __future__ import annotations

from typing import Annotated

from antidrift.domain.model import RoleName, Verdict
from antidrift.domain.requests import JudgeRequest
from antidrift.roles.answers import NULL_IS_BLANK, AnswerModel, InvalidAnswer, line, read
from antidrift.roles.spec import RoleSpec
from antidrift.roles.untrusted import clean, fenced


class InvalidVerdict(InvalidAnswer):
    """Not a verdict: no plain true or false, or drift without a reason to show."""

    noun = "verdict"


class _Answer(AnswerModel):
    on_task: bool
    reason: Annotated[str, NULL_IS_BLANK, line(160)] = ""


def write(request: JudgeRequest, token: str) -> str:
    """The commitment in the person's words, the window as data."""
    window = {"class": clean(request.wm_class, 128), "title": clean(request.title, 200)}
    return (
        f"Next action: {clean(request.next_action, 500)}\n"
        f"Done when: {clean(request.success_condition, 500)}\n\n"
        f"The window in front:\n{fenced(window, token)}"
    )


def parse(text: str) -> Verdict:
    """Raises EmptyResponse, NoJSON, InvalidVerdict."""
    answer = read(text, _Answer, InvalidVerdict)
    if not answer.on_task and not answer.reason:
        raise InvalidVerdict("it says drift without a reason")
    return Verdict(answer.on_task, answer.reason)


DRIFT_JUDGE = RoleSpec(RoleName.DRIFT_JUDGE, timeout_secs=30, write=write, parse=parse)
