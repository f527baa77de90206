"""Whether anybody tells when the person is away, and what it means where nobody does. Nothing of it stops the work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

from antidrift.bus.client import Client
from antidrift.bus.connection import system_bus_address
from antidrift.bus.presence_idle import IDLE_MONITOR
from antidrift.bus.presence_login import look_for_login
from antidrift.bus.presence_screen import SCREEN_SAVERS
from antidrift.cli.doctor.finding import Finding, good, note
from antidrift.sensors.interrupt import Interrupt
from antidrift.sensors.x11_idle import secs_since_input

LOOK_SECS = 3.0
"""How long logind or the X server may take."""


async def check_presence(client: Client | None, seen: Mapping[str, str]) -> AsyncIterator[Finding]:
    """Idle, lock and sleep. `seen` is the environment of the service."""
    if await _owned(client, IDLE_MONITOR):
        yield good("idle", "GNOME tells when neither keyboard nor pointer is used.")
    elif await _x11_counts(seen):
        yield good("idle", "The X server tells when neither keyboard nor pointer is used.")
    else:
        nobody = "Nobody here tells when neither keyboard nor pointer is used"
        yield note("idle", f"{nobody}: time away counts as work, unless you lock the screen.")
    login = await look_for_login(system_bus_address(seen), seen.get("XDG_SESSION_ID", ""), within=LOOK_SECS)
    if any([await _owned(client, name) for name in SCREEN_SAVERS]):
        yield good("lock", "GNOME tells when the screen is locked; that pauses a session.")
    elif login.session:
        told = "logind tells when the screen is locked, provided that the lock screen tells logind"
        yield good("lock", f"{told}; that pauses a session.")
    else:
        yield note("lock", "Nobody here tells when the screen is locked: a session goes on behind it.")
    if login.present:
        yield good("sleep", "logind tells when the machine is about to sleep; that pauses a session.")
    else:
        yield note("sleep", "There is no logind here: sleep pauses a session, but is noticed only on waking up.")


async def _owned(client: Client | None, name: str) -> bool:
    return client is not None and bool(await client.ask_daemon("NameHasOwner", "s", name))


async def _x11_counts(seen: Mapping[str, str]) -> bool:
    display = seen.get("DISPLAY")
    if not display or seen.get("XDG_SESSION_TYPE") == "wayland" or seen.get("WAYLAND_DISPLAY"):
        return False
    interrupt = Interrupt()
    try:
        async with asyncio.timeout(LOOK_SECS):
            await asyncio.to_thread(secs_since_input, display, interrupt)
    except Exception:  # whatever it is, nobody will be counted as idle
        return False
    finally:
        interrupt.set()  # ends the thread where the server does not answer
    return True
