"""`antidrift watch`: the state as it changes, over the comings and goings of the service. It never starts it."""

from __future__ import annotations

import argparse
import asyncio
import math
import os
from datetime import datetime
from typing import Protocol

from antidrift.bus.client import Client, State
from antidrift.cli import render
from antidrift.cli.failures import how_to_start
from antidrift.cli.output import Output
from antidrift.cli.terminal import Ink, Terminal
from antidrift.cli.text import cells, ellipsised

_CLEAR_BELOW = "\x1b[J"


class _Screen(Protocol):
    """One way to show a state that changes."""

    def show(self, state: State) -> None:
        """Shows a state, or the same one again after `pause` seconds."""

    def pause(self, state: State) -> float | None:
        """After how many seconds the same state looks different; None: never."""

    def note(self, sentence: str) -> None:
        """Says something about the service itself."""

    def close(self) -> None:
        """Leaves the terminal clean."""


async def run(arguments: argparse.Namespace, out: Output) -> int:
    """Shows states until it is cancelled. Raises what `bus.client` raises."""
    screen: _Screen
    if arguments.json:
        screen = _Json(out)
    elif out.terminal.redraws:
        screen = _Block(out)
    else:
        screen = _Log(out)
    async with Client.connect() as client:
        try:
            await _follow(client, screen)
        finally:
            screen.close()
    return 0


async def _follow(client: Client, screen: _Screen) -> None:
    states = await client.states()
    coming = asyncio.ensure_future(states.next())
    state = await coming
    if state is None:
        screen.note(f"The AntiDrift service is not running; waiting for it. {how_to_start(await client.activatable())}")
    while True:
        if state is not None:
            screen.show(state)
        if coming.done():
            coming = asyncio.ensure_future(states.next())
        await asyncio.wait((coming,), timeout=None if state is None else screen.pause(state))
        if coming.done():
            before, state = state, coming.result()
            if before is not None and state is None:
                screen.note("The AntiDrift service has stopped; waiting for it.")
            elif before is None and state is not None:
                screen.note("The AntiDrift service is there.")


class _Block:
    """A few lines that are drawn again in place, once a second while the time runs."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._drawn: list[int] = []  # the columns that each line took

    def show(self, state: State) -> None:
        terminal = Terminal.of(self._out.stdout, os.environ)  # it may have another size by now
        lines = [(render.TOO_NEW, Ink.WARN)]
        if state.understood:
            lines = render.headline(state.view, state.remaining_secs())
        # Room for the "^C" that the terminal adds at the end.
        cut = [(ellipsised(line, terminal.width - 3, terminal.ellipsis), ink) for line, ink in lines]
        drawn = "\n".join(terminal.ink(line, ink) for line, ink in cut)
        self._write(self._erase(terminal) + drawn)
        self._drawn = [cells(line) for line, _ in cut]

    def pause(self, state: State) -> float | None:
        if not state.understood:
            return None
        left = state.remaining_secs()
        if state.phase != "active" or not state.view["commitment"]["running"] or left <= 0:
            return None
        # To just behind the moment at which the seconds that are shown change.
        return left - math.ceil(left - 1) + 0.005

    def note(self, sentence: str) -> None:
        self._write(self._erase(Terminal.of(self._out.stdout, os.environ)))
        self._drawn = []
        self._out.say(sentence)

    def close(self) -> None:
        if self._drawn:
            self._write("\n")

    def _erase(self, terminal: Terminal) -> str:
        if not self._drawn:
            return ""
        # Lines that were drawn on a wider terminal take several rows now.
        rows = sum(max(1, math.ceil(columns / terminal.width)) for columns in self._drawn)
        return "\r" + (f"\x1b[{rows - 1}A" if rows > 1 else "") + _CLEAR_BELOW

    def _write(self, text: str) -> None:
        self._out.stdout.write(text)
        self._out.stdout.flush()


class _Log:
    """A line for each change, for a file or a pipe."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._last: list[str] = []

    def show(self, state: State) -> None:
        if not state.understood:
            self.note(render.TOO_NEW)
            return
        # Where only the time that is left has changed, nothing has.
        lines = [line for line, _ in render.headline(state.view, None)]
        if lines != self._last:
            self._last = lines
            self._line(" | ".join(line for line, _ in render.headline(state.view, state.remaining_secs())))

    def pause(self, state: State) -> float | None:
        return None

    def note(self, sentence: str) -> None:
        self._last = []
        self._line(sentence)

    def close(self) -> None:
        pass

    def _line(self, text: str) -> None:
        self._out.lines([f"{datetime.now().astimezone():%H:%M:%S}  {text}"])


class _Json:
    """Each state as it came; what is about the service itself goes to standard error."""

    def __init__(self, out: Output) -> None:
        self._out = out

    def show(self, state: State) -> None:
        self._out.data(state.text)

    def pause(self, state: State) -> float | None:
        return None

    def note(self, sentence: str) -> None:
        self._out.complain(sentence)

    def close(self) -> None:
        pass
