"""Sleep and the lock of the session, as logind tells them: org.freedesktop.login1(5)."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from typing import Final, Self

from dbus_next.message import Message

from antidrift.bus.connection import NoSessionBus, SessionBus
from antidrift.bus.presence_claims import Claim
from antidrift.bus.presence_idle import LastInput
from antidrift.bus.presence_provider import Provider

LOGIND: Final = "org.freedesktop.login1"

_PATH = "/org/freedesktop/login1"
_MANAGER = "org.freedesktop.login1.Manager"
_SESSION = "org.freedesktop.login1.Session"
_AUTO = "/org/freedesktop/login1/session/auto"


async def follow_login(bus: SessionBus, session_id: str, sleep: Claim, lock: Claim, last_input: LastInput) -> None:
    """Holds `sleep` (since the last input) and `lock` while logind says so, and delays sleep until it has been said.

    `bus` must take file descriptors; `session_id` is $XDG_SESSION_ID, or "". Ends only by being cancelled.
    """
    login = Provider(bus, LOGIND)
    await login.subscribe(_PATH, _MANAGER, "PrepareForSleep")
    await login.watch()
    session: str | None = None
    with sleep, lock, _Inhibitor(bus, login) as inhibitor:
        while True:
            match await login.news():
                case None:
                    inhibitor.release()
                    sleep.back()
                    lock.back()
                case str():
                    session = await find_session(login, session_id)
                    if session is not None:
                        await login.subscribe(session, "org.freedesktop.DBus.Properties", "PropertiesChanged")
                    lock.says(session is not None and await is_locked(login, session))
                    sleep.says(bool(await login.property(_PATH, _MANAGER, "PreparingForSleep", "b")))
                    await inhibitor.take()
                case signal if signal.member == "PrepareForSleep" and signal.signature == "b":
                    if signal.body[0]:
                        sleep.away(await last_input.secs_ago())  # what was seen up to now is on disk when this returns
                        inhibitor.release()
                    else:
                        sleep.back()
                        await inhibitor.take()
                case signal if signal.path == session and (hint := _changed_hint(signal)) is not None:
                    lock.says(hint)


@dataclass(frozen=True, slots=True)
class Login:
    """What there is of logind: itself, and a session of the person that it knows."""

    present: bool = False
    session: bool = False


async def look_for_login(address: str, session_id: str, *, within: float) -> Login:
    """Looks for logind on the bus at `address`, for at most `within` seconds. Watches nothing, and holds nothing up."""
    try:
        async with asyncio.timeout(within):
            bus = await SessionBus.open(address)
            try:
                login = Provider(bus, LOGIND)
                present = await login.property(_PATH, _MANAGER, "PreparingForSleep", "b") is not None
                return Login(present, present and await find_session(login, session_id) is not None)
            finally:
                await bus.close()
    except (NoSessionBus, ConnectionError, TimeoutError):
        return Login()


async def find_session(login: Provider, session_id: str) -> str | None:
    """The object path of the person's session; None: they have none.

    Of `/session/auto`, which follows whoever asks, no change is ever announced: only its Id is taken from there. Before
    systemd 243 a service of the user manager had no session there; $XDG_SESSION_ID may then tell.
    """
    for name in (await login.property(_AUTO, _SESSION, "Id", "s"), session_id):
        found = await login.ask(_PATH, _MANAGER, "GetSession", "s", name, expects="o") if name else None
        if found is not None:
            return str(found.body[0])
    return None


async def is_locked(login: Provider, session: str) -> bool:
    """Whether the person's session is locked, as far as whoever locks it tells logind."""
    return bool(await login.property(session, _SESSION, "LockedHint", "b"))


def _changed_hint(signal: Message) -> bool | None:
    if signal.member != "PropertiesChanged" or signal.signature != "sa{sv}as" or signal.body[0] != _SESSION:
        return None
    hint = signal.body[1].get("LockedHint")
    return hint.value if hint is not None and hint.signature == "b" else None


class _Inhibitor:
    """Makes logind wait with sleep for as long as a file descriptor of it is open; by default 5 seconds at most."""

    def __init__(self, bus: SessionBus, login: Provider) -> None:
        self._bus = bus
        self._login = login
        self._fd: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    async def take(self) -> None:
        """Asks for one, unless it is held already. It may be refused: the last minute may then not be on disk."""
        if self._fd is not None:
            return
        wish = ("sleep", "AntiDrift", "The running session is being saved", "delay")
        answer = await self._login.ask(_PATH, _MANAGER, "Inhibit", "ssss", *wish, expects="h")
        if answer is not None and answer.body[0] < len(answer.unix_fds):  # it says which of those that it brought
            self._fd = self._bus.take_fd(answer, answer.body[0])

    def release(self) -> None:
        """Lets the machine sleep."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
