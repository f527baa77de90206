"""One call to an AI ends in an answer or in a fault, whatever the backend does."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from antidrift.domain.model import (
    Fault,
    FaultCode,
    Key,
    Outcome,
    Proposal,
    Reflection,
    RoleName,
    SessionSummary,
    Verdict,
)
from antidrift.domain.requests import Advice, Answer, CoachRequest, JudgeRequest, NudgeRequest, Request, ReviewRequest
from antidrift.ports import BackendError
from antidrift.roles import ROLES
from antidrift.roles.caller import RoleCaller

SECRET = "the secret plan"
JUDGE = JudgeRequest("c1", Key("firefox", "page"), SECRET, SECRET, "firefox", SECRET)
COACH = CoachRequest(1, SECRET)
NUDGE = NudgeRequest("c1", 1, SECRET, SECRET, (SECRET, "two"))
REVIEW = ReviewRequest(1, SessionSummary("s", SECRET, SECRET, Outcome.EXPIRED, 60, 0, 1, 60, 0, 0, ()), ())
DRIFT = json.dumps({"on_task": False, "reason": "a shop"})


class ScriptedBackend:
    """Answers as it is told to, and keeps what it was asked."""

    name = "claude"

    def __init__(self, behaviour: Callable[[], Awaitable[str]]) -> None:
        self.behaviour = behaviour
        self.asked: list[tuple[str, str]] = []
        self.started = asyncio.Event()
        self.cancelled = False

    def check(self) -> Fault | None:
        return None

    async def run(self, role: str, prompt: str) -> str:
        self.asked.append((role, prompt))
        self.started.set()
        try:
            return await self.behaviour()
        except asyncio.CancelledError:
            self.cancelled = True
            raise


def answering(text: str) -> ScriptedBackend:
    async def behaviour() -> str:
        return text

    return ScriptedBackend(behaviour)


def failing(error: BaseException) -> ScriptedBackend:
    async def behaviour() -> str:
        raise error

    return ScriptedBackend(behaviour)


def silent() -> ScriptedBackend:
    async def behaviour() -> str:
        await asyncio.Event().wait()
        return "never"

    return ScriptedBackend(behaviour)


def impatient(backend: ScriptedBackend) -> RoleCaller:
    return RoleCaller(backend, {name: replace(spec, timeout_secs=0.05) for name, spec in ROLES.items()})


@pytest.mark.parametrize(
    ("request_", "text", "answer"),
    [
        (
            COACH,
            '{"next_action": "a", "success_condition": "b", "timebox_minutes": 5}',
            Proposal("a", "b", 300),
        ),
        (JUDGE, f"Well: {DRIFT}", Verdict(False, "a shop")),
        (NUDGE, '{"on_track": false, "message": "Still the plan?"}', Advice("Still the plan?")),
        (REVIEW, '{"recap": "Short and calm.", "carry_forward": ""}', Reflection("Short and calm.", "")),
    ],
    ids=list(RoleName),
)
async def test_each_request_gets_the_answer_of_its_role(request_: Request, text: str, answer: Answer) -> None:
    assert await RoleCaller(answering(text)).ask(request_) == answer


@pytest.mark.parametrize("request_", [COACH, JUDGE, NUDGE, REVIEW], ids=list(RoleName))
async def test_private_words_go_into_the_prompt_and_never_into_the_instruction(request_: Request) -> None:
    backend = answering("{}")
    await RoleCaller(backend).ask(request_)
    [(instruction, prompt)] = backend.asked
    assert instruction in {spec.instruction for spec in ROLES.values()}
    assert SECRET in prompt


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", FaultCode.EMPTY_RESPONSE),
        ("I would rather not.", FaultCode.NO_JSON),
        ('{"on_task": "false", "reason": "a shop"}', FaultCode.INVALID_ANSWER),
        ('{"on_task": false', FaultCode.INVALID_ANSWER),
    ],
)
async def test_an_answer_that_cannot_be_used_is_a_fault(text: str, code: FaultCode) -> None:
    fault = await RoleCaller(answering(text)).ask(JUDGE)
    assert isinstance(fault, Fault)
    assert fault.code is code


async def test_the_fault_of_a_backend_is_handed_on() -> None:
    fault = Fault(FaultCode.NOT_LOGGED_IN, "claude is not logged in.")
    assert await RoleCaller(failing(BackendError(fault))).ask(JUDGE) == fault


async def test_a_call_that_takes_too_long_is_cancelled_and_timed_out() -> None:
    backend = silent()
    async with asyncio.timeout(10):
        fault = await impatient(backend).ask(JUDGE)
    assert fault == Fault(FaultCode.TIMED_OUT, "claude gave no answer within 0.05 seconds.")
    assert backend.cancelled


async def test_a_backend_that_fails_while_it_is_stopped_has_still_timed_out() -> None:
    async def behaviour() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise BackendError(Fault(FaultCode.FAILED, "claude was killed.")) from None
        return "never"

    async with asyncio.timeout(10):
        fault = await impatient(ScriptedBackend(behaviour)).ask(JUDGE)
    assert isinstance(fault, Fault)
    assert fault.code is FaultCode.TIMED_OUT


@pytest.mark.parametrize("error", [ValueError(SECRET), TimeoutError(SECRET), RecursionError(SECRET), OSError(SECRET)])
async def test_any_other_error_is_a_fault_without_its_text(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        fault = await RoleCaller(failing(error)).ask(JUDGE)
    assert fault == Fault(FaultCode.FAILED, "Asking claude failed inside AntiDrift.")
    [record] = caplog.records
    assert type(error).__name__ in record.getMessage()
    assert SECRET not in caplog.text


async def test_cancelling_a_call_cancels_the_backend_and_goes_through() -> None:
    backend = silent()
    call = asyncio.create_task(RoleCaller(backend).ask(JUDGE))
    async with asyncio.timeout(10):
        await backend.started.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    assert backend.cancelled


async def test_two_calls_at_once_do_not_disturb_each_other() -> None:
    backend = answering(DRIFT)
    caller = RoleCaller(backend)
    judged, coached = await asyncio.gather(caller.ask(JUDGE), caller.ask(COACH))
    assert judged == Verdict(False, "a shop")
    assert isinstance(coached, Fault)
    assert coached.code is FaultCode.INVALID_ANSWER


@pytest.mark.parametrize(
    "text", [DRIFT, "", f"{SECRET}", f'{{"on_task": "{SECRET}"}}', f'{{"on_task": false, "reason": "{SECRET}"}}']
)
async def test_a_log_holds_the_role_the_time_and_the_result_only(text: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        await RoleCaller(answering(text)).ask(JUDGE)
    [record] = caplog.records
    assert record.getMessage().startswith("drift_judge: ")
    assert SECRET not in caplog.text
    assert "a shop" not in caplog.text


async def test_a_role_that_fails_is_logged_when_it_begins_and_when_it_ends(caplog: pytest.LogCaptureFixture) -> None:
    texts = iter([DRIFT, "", "", "", DRIFT, DRIFT])

    async def behaviour() -> str:
        return next(texts)

    caller = RoleCaller(ScriptedBackend(behaviour))
    with caplog.at_level(logging.INFO):
        for _ in range(6):
            await caller.ask(JUDGE)
    logged = [(record.levelname, record.getMessage().split(" after ")[0]) for record in caplog.records]
    assert logged == [("WARNING", "drift_judge: empty_response"), ("INFO", "drift_judge: ok")]
