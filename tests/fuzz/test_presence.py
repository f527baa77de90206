"""What logind, the lock screen and the idle monitor may say: no type of answer or signal stops who listens to them."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from antidrift.bus.connection import SessionBus  # first, because it makes dbus-next importable on later Pythons

# isort: split
from dbus_next.constants import MessageType
from dbus_next.message import Message
from dbus_next.signature import Variant
from hypothesis import example
from hypothesis import strategies as st

from antidrift.bus.presence_claims import Claims
from antidrift.bus.presence_idle import IDLE_MONITOR, LastInput, follow_idle
from antidrift.bus.presence_login import follow_login
from antidrift.bus.presence_provider import Provider
from antidrift.bus.presence_screen import follow_screen
from antidrift.domain.events import WentAway
from antidrift.domain.model import AwayCause, Instant
from support.driver import Driver
from support.fuzzing import fuzzed

OWNER = ":1.7"
SESSION = "org.freedesktop.login1.Session"
PATHS = ["/org/freedesktop/login1", "/org/gnome/ScreenSaver", "/org/gnome/Mutter/IdleMonitor/Core", "/session"]
MEMBERS = ["PrepareForSleep", "PropertiesChanged", "ActiveChanged", "WatchFired", "Mood"]

Body = tuple[str, list[Any]]
"""A signature, and what stands in the message."""

hints = st.dictionaries(
    st.sampled_from(["LockedHint", "IdleHint"]),
    st.sampled_from([Variant("b", True), Variant("s", "yes"), Variant("v", Variant("b", True)), Variant("u", 1)]),
)
bodies: st.SearchStrategy[Body] = st.one_of(
    st.booleans().map(lambda value: ("b", [value])),
    st.sampled_from([0, 1, 2, 2**32 - 1]).map(lambda value: ("u", [value])),
    st.sampled_from([0, 180_000, 2**63, 2**64 - 1]).map(lambda value: ("t", [value])),
    st.sampled_from(["", "1", "it's", "x" * 300]).map(lambda value: ("s", [value])),
    st.sampled_from(["/", "/session"]).map(lambda value: ("o", [value])),
    st.sampled_from([Variant("b", True), Variant("s", "1"), Variant("v", Variant("b", False)), Variant("as", [])]).map(
        lambda value: ("v", [value])
    ),
    st.sampled_from([0, 1, 2**32 - 1]).map(lambda index: ("h", [index])),
    st.tuples(st.sampled_from([SESSION, "x"]), hints).map(lambda both: ("sa{sv}as", [*both, []])),
    st.sampled_from([("", []), ("ay", [b""]), ("bb", [True, True]), ("(b)", [[True]]), ("d", [math.nan])]),
)
answers = st.lists(st.none() | bodies, min_size=1, max_size=8)
signals = st.lists(st.tuples(st.sampled_from(PATHS), st.sampled_from(MEMBERS), bodies), max_size=8)


class LyingBus:
    """A bus on which somebody owns every name, and answers what the test says, over and over; None: with an error."""

    take_fd = SessionBus.take_fd

    def __init__(self, says: list[Body | None]) -> None:
        self._says = says
        self._asked = 0
        self._heard: list[Callable[[Message], object]] = []
        self._watchers: list[Callable[[str | None], None]] = []
        self._fds: set[int] = set()

    async def call(self, message: Message) -> Message:
        await asyncio.sleep(0)
        call = Message("a.b", "/", "a.b", "C", serial=1)
        if message.destination == "org.freedesktop.DBus":
            return Message.new_method_return(call)
        body = self._says[self._asked % len(self._says)]
        self._asked += 1
        if body is None:
            return Message.new_error(call, "org.example.No", "no")
        fds = [os.open(os.devnull, os.O_RDONLY)] if body[0] == "h" else []
        self._fds.update(fds)
        return Message.new_method_return(call, *body, fds)

    def add_message_handler(self, handler: Callable[[Message], object]) -> None:
        self._heard.append(handler)

    async def watch_name(self, _name: str, on_change: Callable[[str | None], None]) -> str:
        self._watchers.append(on_change)
        return OWNER

    def owner_of(self, _name: str) -> str:
        return OWNER

    def tell(self, path: str, member: str, body: Body) -> None:
        signal = Message(
            path=path, interface="a.b", member=member, message_type=MessageType.SIGNAL, signature=body[0], body=body[1]
        )
        signal.sender = OWNER
        for handler in self._heard:
            handler(signal)

    def change_owner(self, owner: str | None) -> None:
        for watcher in self._watchers:
            watcher(owner)

    def close(self) -> None:
        for fd in self._fds:
            os.close(fd)


def last_input(bus: Any) -> LastInput:
    """What the idle monitor on this bus says of it."""
    found = LastInput()
    found.ask_of(Provider(bus, IDLE_MONITOR))
    return found


Follow = Callable[[Any, Claims], Coroutine[Any, Any, None]]

FOLLOWERS: dict[str, Follow] = {
    "logind": lambda bus, claims: follow_login(
        bus, "1", claims.claim(AwayCause.SLEEP), claims.claim(AwayCause.LOCK), last_input(bus)
    ),
    "lock screen": lambda bus, claims: follow_screen(bus, "org.gnome.ScreenSaver", claims.claim(AwayCause.LOCK)),
    "idle monitor": lambda bus, claims: follow_idle(
        bus, 180, claims.claim(AwayCause.IDLE), None, claims.claim(AwayCause.IDLE), LastInput()
    ),
}


@pytest.mark.parametrize("name", FOLLOWERS)
@fuzzed("desktop signals", says=answers, told=signals)
@example(says=[("h", [1])], told=[])
@example(says=[("t", [2**64 - 1])], told=[(PATHS[0], "PrepareForSleep", ("b", [True]))])
@example(says=[("u", [1]), ("t", [2**64 - 1])], told=[(PATHS[2], "WatchFired", ("u", [1]))])
def test_whatever_is_answered_and_told_nobody_stops_listening_and_absences_end_with_whoever_told_of_them(
    name: str, says: list[Body | None], told: list[tuple[str, str, Body]]
) -> None:
    away: list[tuple[AwayCause, float]] = []
    now_away: set[AwayCause] = set()

    def on_away(cause: AwayCause, ago: float) -> None:
        away.append((cause, ago))
        now_away.add(cause)

    async def follow() -> None:
        bus = LyingBus(says)
        following = asyncio.ensure_future(FOLLOWERS[name](bus, Claims(on_away, now_away.discard)))
        try:
            await settle()
            for signal in told:
                bus.tell(*signal)
            bus.change_owner(":1.8")
            await settle()
            bus.change_owner(None)
            await settle()
            assert not following.done(), following.exception()
            assert not now_away
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
            bus.close()

    asyncio.run(follow())
    for cause, ago in away:
        assert type(ago) in (int, float)
        assert 0 <= ago < math.inf
        driver = Driver.active("code")
        driver.wait(60)
        driver.do(WentAway, cause, Instant(driver.now.boot - ago, driver.now.unix_ms))
        assert 0 <= driver.session.evidence.away_secs <= 60


async def settle() -> None:
    """Returns when nobody has anything to do any more."""
    for _ in range(120):
        await asyncio.sleep(0)
