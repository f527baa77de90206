"""Whether the screen is locked, as GNOME tells it."""

from __future__ import annotations

from typing import Final

from antidrift.bus.connection import SessionBus
from antidrift.bus.presence_claims import Claim
from antidrift.bus.presence_provider import Provider

SCREEN_SAVERS: Final = ("org.gnome.ScreenSaver", "org.gnome.Shell.ScreenShield")
"""The name that everybody knows, and the shell itself: since GNOME 40 it owns the second, and a program of its own the
first, which runs only once somebody has started it."""

_PATH = "/org/gnome/ScreenSaver"
_INTERFACE = "org.gnome.ScreenSaver"


async def follow_screen(bus: SessionBus, name: str, lock: Claim) -> None:
    """Holds `lock` while the owner of `name` shows a locked (or blanked) screen. Ends only by being cancelled."""
    screen = Provider(bus, name)
    await screen.subscribe(_PATH, _INTERFACE, "ActiveChanged")
    await screen.watch()
    with lock:
        while True:
            match await screen.news():
                case None:
                    lock.back()
                case str():
                    active = await screen.ask(_PATH, _INTERFACE, "GetActive", expects="b")
                    lock.says(active is not None and active.body[0])
                case signal if signal.member == "ActiveChanged" and signal.signature == "b":
                    lock.says(signal.body[0])
