"""The commands that talk to the service about a session. Each opens one connection, and says in a line what it did."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from antidrift.bus.client import CallFailed, Client, NewerService, NotAState, ServiceAbsent, State
from antidrift.cli import render
from antidrift.cli.output import Output
from antidrift.cli.text import clean, duration, time_left

FETCH_SECS = 3.0
"""How long `plan` waits for tasks that are still being fetched."""

DEFAULT_SECS = 25 * 60

_HINTS = {
    "locked": "No session is running: begin with `antidrift start TEXT`.",
    "planning": "Start with `antidrift start TEXT`, or leave planning with `antidrift cancel`.",
    "active": "A session is running: `antidrift complete` ends it.",
    "review": "The last session is still under review: `antidrift end` closes it.",
}


class Incomplete(Exception):
    """Something is missing on the command line, as only the state of the service tells."""


class Unsuccessful(Exception):
    """The service did as it was told, and it came to nothing; the message says why."""


async def run(arguments: argparse.Namespace, out: Output) -> int:
    """Carries out one command. Raises what `bus.client` raises, Incomplete and Unsuccessful."""
    async with Client.connect() as client:
        try:
            await _COMMANDS[arguments.command](client, arguments, out)
        except CallFailed as failed:
            raise await _with_hint(client, failed) from None
    return 0


async def _with_hint(client: Client, failed: CallFailed) -> CallFailed:
    """The refusal with what leads on from the present state, where the state was the reason."""
    if failed.kind not in ("IllegalTransition", "NotPlanning", "NotActive"):
        return failed
    with contextlib.suppress(CallFailed, NewerService, NotAState, ServiceAbsent):
        phase = (await client.state(start=False)).phase
        return CallFailed(failed.name, f"{failed.message}. {_HINTS[phase]}")
    return failed


async def _status(client: Client, arguments: argparse.Namespace, out: Output) -> None:
    state = await client.state(start=False)
    if arguments.json:
        out.data(state.text)
    else:
        _show(state, out)


def _show(state: State, out: Output) -> None:
    out.lines(render.status(state.view, state.remaining_secs(), out.terminal))


async def _plan(client: Client, arguments: argparse.Namespace, out: Output) -> None:
    state = await client.state()
    if state.phase != "planning":
        await client.call("EnterPlanning")
    _show(await _fetched(client), out)


async def _fetched(client: Client) -> State:
    """The state with today's tasks in it, or without them when they take too long."""
    states = await client.states()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(FETCH_SECS):
            while (state := await states.next()) is not None:
                if state.view["tasks"] is None or state.view["tasks"]["status"] != "pending":
                    return state
    return await client.state(start=False)


async def _sharpen(client: Client, arguments: argparse.Namespace, out: Output) -> None:
    async with _planning(client):
        await client.call("RequestCoach", "s", arguments.text)
        request_id = _coach_in(await client.state())["request_id"]
        view = await _coached(client, request_id)
        if view["coach"]["status"] == "error":
            raise Unsuccessful(_why_no_proposal(view))
    out.lines(render.proposal_lines(view["coach"]["proposal"], out.terminal))


async def _coached(client: Client, request_id: int) -> render.View:
    """The state in which the coach has answered this request, or a later one. The service sets the limit of time."""
    states = await client.states()
    while (state := await states.next()) is not None:
        coach = _coach_in(state)
        if coach["request_id"] >= request_id and coach["status"] in ("ready", "error"):
            return state.view
    raise ServiceAbsent(await client.activatable())


def _coach_in(state: State) -> dict[str, Any]:
    """The coach, who is there as long as planning goes on."""
    coach: dict[str, Any] | None = state.view["coach"]
    if coach is None:
        raise Unsuccessful("Planning was ended elsewhere before the coach had answered.")
    return coach


def _why_no_proposal(view: render.View) -> str:
    error, ai = view["coach"]["error"], view["ai"]
    here = shutil.which(ai["backend"])
    if here is not None and not ai["available"]:
        # The service would say that it is to be installed: it sees no further than its own PATH.
        return f"{ai['backend']} is at {here}, where the service does not look: `antidrift doctor` says what to do."
    return clean(error["message"])


async def _start(client: Client, arguments: argparse.Namespace, out: Output) -> None:
    proposal = {} if arguments.text else await _proposed(client)
    what = arguments.text or proposal["next_action"]
    done = arguments.done or proposal.get("success_condition") or what
    secs = arguments.secs or proposal.get("timebox_secs") or DEFAULT_SECS
    classes = arguments.app or proposal.get("allowed_window_classes") or []
    async with _planning(client):
        await client.call("StartCommitment", "ssxas", what, done, secs, classes)
    commitment = (await client.state()).view["commitment"]
    if commitment is not None:  # it may have been ended by another program meanwhile
        out.say(f"Started: {clean(commitment['next_action'])} ({duration(commitment['timebox_secs'])}).")
        out.lines(render.done_when(commitment, out.terminal))


async def _proposed(client: Client) -> dict[str, Any]:
    """The coach's proposal, which stands for what was not said. Raises Incomplete if there is none."""
    state = await client.state()
    coach: dict[str, Any] | None = state.view["coach"]
    if coach is not None and coach["status"] == "ready":
        proposal: dict[str, Any] = coach["proposal"]
        return proposal
    if coach is not None and coach["status"] == "pending":
        raise Incomplete("The coach is still thinking; wait for it, or say what you will do: `antidrift start TEXT`.")
    if state.phase in ("active", "review"):
        raise Incomplete(_HINTS[state.phase])
    raise Incomplete("Say what you will do: `antidrift start TEXT`.")


@contextlib.asynccontextmanager
async def _planning(client: Client) -> AsyncIterator[None]:
    """Enters planning if nothing is going on, and leaves it again if what was to be done there fails."""
    entered = (await client.state()).phase == "locked"
    if entered:
        await client.call("EnterPlanning")
    try:
        yield
    except BaseException:  # a Ctrl-C too
        if entered:
            with contextlib.suppress(Exception):
                await client.call("CancelPlanning", start=False)
        raise


async def _extend(client: Client, arguments: argparse.Namespace, out: Output) -> None:
    await client.call("Extend", "x", arguments.minutes * 60)
    state = await client.state()
    if state.phase == "active":
        out.say(f"{_capital(time_left(state.remaining_secs(), state.view['commitment']['timebox_secs']))}.")
    else:
        out.say("The time is over.")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


async def _complete(client: Client, arguments: argparse.Namespace, out: Output) -> None:
    await client.call("Complete")
    _show(await client.state(), out)


async def _end(client: Client, arguments: argparse.Namespace, out: Output) -> None:
    await client.call("End")
    reflection = (await client.state()).view["reflection"]
    out.say("The session is closed.")
    if reflection is not None and (takeaway := clean(reflection["carry_forward"])):
        out.say(f"Next time: {takeaway}")


async def _on_task(client: Client, arguments: argparse.Namespace, out: Output) -> None:
    before = await client.state()
    await client.call("OnTask")
    allowed = _allowed(await client.state()) - _allowed(before)
    out.say(f"On task for this session: {clean(', '.join(sorted(allowed)))}." if allowed else "Noted: this is on task.")


def _allowed(state: State) -> set[str]:
    commitment = state.view["commitment"]
    if commitment is None:
        return set()
    return {*commitment["allowed_window_classes"], *commitment["allowed_sites"]}


async def _refocus(client: Client, arguments: argparse.Namespace, out: Output) -> None:
    await client.call("Refocus")
    out.say("Back to task.")


async def _cancel(client: Client, arguments: argparse.Namespace, out: Output) -> None:
    await client.call("CancelPlanning")
    out.say("Planning is left.")


async def _ai(client: Client, arguments: argparse.Namespace, out: Output) -> None:
    if arguments.answer == "status":
        out.say(render.ai_line((await client.state(start=False)).view))
        return
    await client.call("AllowAI", "b", arguments.answer == "allow")
    out.say(render.ai_line((await client.state()).view))


_COMMANDS: dict[str, Callable[[Client, argparse.Namespace, Output], Awaitable[None]]] = {
    "status": _status,
    "plan": _plan,
    "sharpen": _sharpen,
    "start": _start,
    "extend": _extend,
    "complete": _complete,
    "end": _end,
    "ontask": _on_task,
    "refocus": _refocus,
    "cancel": _cancel,
    "ai": _ai,
}
