"""Whether keyboard and pointer are used, as Mutter tells it."""

from __future__ import annotations

import asyncio
from typing import Final

from antidrift.bus.connection import SessionBus
from antidrift.bus.presence_claims import Claim
from antidrift.bus.presence_provider import Provider
from antidrift.domain.model import AwayCause
from antidrift.ports import PresenceSource

IDLE_MONITOR: Final = "org.gnome.Mutter.IdleMonitor"

ASK_SECS: Final = 1.0
"""How long a shell that hangs may keep the machine from sleeping."""

_PATH = "/org/gnome/Mutter/IdleMonitor/Core"


class LastInput:
    """When a key or the pointer was last used. Mutter knows, and begins to count anew when the machine wakes up."""

    def __init__(self) -> None:
        self._mutter: Provider | None = None

    def ask_of(self, mutter: Provider) -> None:
        """Who is to be asked from now on."""
        self._mutter = mutter

    async def secs_ago(self) -> float:
        """How many seconds ago it was; 0: nobody can tell."""
        if self._mutter is None:
            return 0.0
        try:
            async with asyncio.timeout(ASK_SECS):
                answer = await self._mutter.ask(_PATH, IDLE_MONITOR, "GetIdletime", expects="t")
        except (TimeoutError, ConnectionError):
            return 0.0
        return 0.0 if answer is None else float(answer.body[0] / 1000)


async def follow_idle(
    bus: SessionBus,
    idle_secs: int,
    idle: Claim,
    fallback: PresenceSource | None,
    theirs: Claim,
    last_input: LastInput,
) -> None:
    """Holds `idle` from `idle_secs` without input on, dated back to the last one. Ends only by being cancelled.

    Mutter wakes us twice an absence. A program that plays a film may keep it from counting, and so from telling.
    While it does not tell, `fallback` does, with `theirs` for its claim.
    """
    mutter = Provider(bus, IDLE_MONITOR)
    await mutter.subscribe(_PATH, IDLE_MONITOR, "WatchFired")
    await mutter.watch()
    last_input.ask_of(mutter)
    idle_watch = active_watch = None
    while True:
        match await mutter.news():
            case None | str() as owner:
                # Watches die with the one who keeps them.
                idle.back()
                active_watch = None
                idle_watch = await _add(mutter, "AddIdleWatch", "t", idle_secs * 1000) if owner else None
                if fallback is not None:
                    fallback.stop()
                    theirs.back()
                    if idle_watch is None:
                        _stand_in(fallback, theirs)
            case signal if signal.member == "WatchFired" and signal.signature == "u":
                if signal.body[0] == active_watch:
                    active_watch = None  # one is good for one return
                    idle.back()
                elif signal.body[0] == idle_watch:
                    # Asked for before the time is: whatever input comes between the two, one of them tells.
                    active_watch = active_watch or await _add(mutter, "AddUserActiveWatch")
                    answer = await mutter.ask(_PATH, IDLE_MONITOR, "GetIdletime", expects="t")
                    secs = idle_secs if answer is None else answer.body[0] / 1000
                    if active_watch is not None and secs >= idle_secs:
                        idle.away(secs)


async def _add(mutter: Provider, member: str, signature: str = "", *arguments: int) -> int | None:
    answer = await mutter.ask(_PATH, IDLE_MONITOR, member, signature, *arguments, expects="u")
    return None if answer is None else int(answer.body[0])


def _stand_in(fallback: PresenceSource, theirs: Claim) -> None:
    def on_away(_cause: AwayCause, ago: float) -> None:
        theirs.away(ago)

    def on_back(_cause: AwayCause) -> None:
        theirs.back()

    fallback.start(on_away, on_back)
