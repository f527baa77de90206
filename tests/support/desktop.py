"""Stand-ins for the programs of a desktop that know whether a person is there, on buses of a test's own.

    with FakeMutter(bus.address) as mutter:
        mutter.leave(200)
        mutter.come_back()

Each is one program with a connection of its own, which answers from a thread while the test goes on. `vanish` ends it
as a crash would; `appear` starts it again, and it has forgotten what it was asked.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import threading
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, ClassVar, Self

from antidrift.bus import names as names  # first, because it makes dbus-next importable on later Pythons

# isort: split
from dbus_next.aio.message_bus import MessageBus
from dbus_next.constants import MessageType
from dbus_next.message import Message
from dbus_next.signature import Variant

DEADLINE = 20.0
"""Seconds until something that never came is called a failure; all of it normally takes milliseconds."""

Answer = tuple[str, list[Any]]
"""Signature and body."""


class Refused(Exception):
    """The call is answered with an error."""


class FakeProgram:
    """Context manager around one program that owns one name."""

    name: ClassVar[str]

    def __init__(self, address: str) -> None:
        self._address = address
        self._bus: MessageBus | None = None
        self.calls: list[tuple[str, ...]] = []
        """The members that were called, each with the text among its arguments."""
        self.hangs_at: str | None = None
        """A member that is never answered."""

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self.appear()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, where: TracebackType | None
    ) -> None:
        self.vanish()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(DEADLINE)
        self._loop.close()

    def appear(self) -> None:
        """Comes to the bus. It owns its name when this returns."""
        self._run(self._appear())

    def vanish(self) -> None:
        """Leaves the bus, if it is there."""
        self._run(self._vanish())

    def answer(self, message: Message) -> Answer:
        """What a call is answered with. Raises Refused."""
        raise NotImplementedError

    def emit(self, path: str, interface: str, member: str, signature: str, *body: Any) -> None:
        """Sends a signal; it is on its way when this returns."""
        self._run(self._send(Message.new_signal(path, interface, member, signature, list(body))))

    def wait(self, condition: Callable[[], object], what: str) -> None:
        """Returns once `condition` holds, which is looked at in the thread of the program."""

        async def until() -> None:
            async with asyncio.timeout(DEADLINE):
                while not condition():
                    await asyncio.sleep(0.002)

        try:
            self._run(until())
        except TimeoutError:
            raise AssertionError(f"not so within {DEADLINE:g} s: {what}; {self.name} was asked {self.calls}") from None

    async def sent(self, message: Message) -> None:
        """Called when an answer has been written."""

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(2 * DEADLINE)

    async def _appear(self) -> None:
        self._bus = await MessageBus(bus_address=self._address, negotiate_unix_fd=True).connect()
        self._bus.add_message_handler(self._handle)
        await self._bus.request_name(self.name)

    async def _vanish(self) -> None:
        bus, self._bus = self._bus, None
        if bus is not None:
            bus.disconnect()
            with contextlib.suppress(EOFError, OSError):
                await bus.wait_for_disconnect()
            bus._stream.close()
            bus._sock.close()

    async def _send(self, message: Message) -> None:
        assert self._bus is not None, f"{self.name} has vanished"
        await self._bus.send(message)

    def _handle(self, message: Message) -> bool:
        if message.message_type is not MessageType.METHOD_CALL:
            return False
        self.calls.append((str(message.member), *(word for word in message.body if isinstance(word, str))))
        if message.member == self.hangs_at:
            return True
        try:
            signature, body = self.answer(message)
        except Refused as refused:
            reply = Message.new_error(message, "org.freedesktop.DBus.Error.Failed", str(refused))
        else:
            fds = body if signature == "h" else []
            reply = Message.new_method_return(message, signature, [0] if fds else body, list(fds))
        self._loop.create_task(self._reply(reply))
        return True

    async def _reply(self, reply: Message) -> None:
        with contextlib.suppress(AssertionError):  # it has vanished meanwhile
            await self._send(reply)
        await self.sent(reply)


class FakeScreenSaver(FakeProgram):
    """GNOME's lock screen, under the name that everybody knows."""

    name = "org.gnome.ScreenSaver"
    path = "/org/gnome/ScreenSaver"
    interface = "org.gnome.ScreenSaver"

    def __init__(self, address: str, *, locked: bool = False) -> None:
        super().__init__(address)
        self.locked = locked

    def lock(self) -> None:
        """The screen is locked."""
        self._change(locked=True)

    def unlock(self) -> None:
        """The person types their password."""
        self._change(locked=False)

    def _change(self, *, locked: bool) -> None:
        self.locked = locked
        self.emit(self.path, self.interface, "ActiveChanged", "b", locked)

    def answer(self, message: Message) -> Answer:
        """See `FakeProgram`."""
        if (message.path, message.interface, message.member) != (self.path, self.interface, "GetActive"):
            raise Refused(message.member)
        return "b", [self.locked]


class FakeScreenShield(FakeScreenSaver):
    """The same, under the name that GNOME Shell itself owns."""

    name = "org.gnome.Shell.ScreenShield"


class FakeMutter(FakeProgram):
    """Mutter's idle monitor. How long there was no input is what the test says, and stands still."""

    name = "org.gnome.Mutter.IdleMonitor"
    path = "/org/gnome/Mutter/IdleMonitor/Core"
    _numbers = itertools.count(1)  # never the same twice, whoever asks

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self._idle_ms = 0
        self._idle_watches: dict[int, int] = {}  # each with its interval in milliseconds
        self._active_watches: list[int] = []

    def appear(self) -> None:
        """See `FakeProgram`."""
        self._idle_ms = 0
        self._idle_watches, self._active_watches = {}, []
        super().appear()

    @property
    def watches(self) -> list[int]:
        """The intervals in milliseconds for which somebody waits."""
        return sorted(self._idle_watches.values())

    def leave(self, secs: float) -> None:
        """There has been no input for so long now."""
        self._idle_ms = round(secs * 1000)
        for number in [n for n, interval in self._idle_watches.items() if interval <= self._idle_ms]:
            self._fire(number)

    def leave_for_a_moment(self) -> None:
        """The person was away for long enough, and is back before anybody can ask."""
        for number in self._idle_watches:
            self._fire(number)

    def come_back(self) -> None:
        """A key is pressed."""
        self._idle_ms = 0
        fired, self._active_watches = self._active_watches, []
        for number in fired:
            self._fire(number)

    def wait_for_watch(self) -> None:
        """Returns once somebody wants to hear when the person is idle."""
        self.wait(lambda: self._idle_watches, "an idle watch is set")

    def wait_for_question(self) -> None:
        """Returns once somebody wants to hear when the person comes back."""
        self.wait(lambda: self._active_watches, "an active watch is set")

    def answer(self, message: Message) -> Answer:
        """See `FakeProgram`."""
        assert (message.path, message.interface) == (self.path, self.name)
        match message.member, message.body:
            case "AddIdleWatch", [int(interval)]:
                number = next(self._numbers)
                self._idle_watches[number] = interval
                return "u", [number]
            case "AddUserActiveWatch", []:
                number = next(self._numbers)
                self._active_watches.append(number)
                return "u", [number]
            case "GetIdletime", []:
                return "t", [self._idle_ms]
        raise Refused(message.member)

    async def sent(self, message: Message) -> None:
        """As Mutter does: who sets a watch when its time has passed already is told at once."""
        number = message.body[0]
        if message.signature == "u" and self._idle_watches.get(number, self._idle_ms + 1) <= self._idle_ms:
            await self._send(Message.new_signal(self.path, self.name, "WatchFired", "u", [number]))

    def _fire(self, number: int) -> None:
        self.emit(self.path, self.name, "WatchFired", "u", number)


class FakeLogind(FakeProgram):
    """logind, with one session. `anonymous`: it does not know whose session a service of the user manager is in."""

    name = "org.freedesktop.login1"
    path = "/org/freedesktop/login1"
    manager = "org.freedesktop.login1.Manager"
    session = "org.freedesktop.login1.Session"
    session_id = "c2"
    session_path = "/org/freedesktop/login1/session/c2"
    auto_path = "/org/freedesktop/login1/session/auto"

    def __init__(self, address: str, *, locked: bool = False, anonymous: bool = False, stingy: bool = False) -> None:
        super().__init__(address)
        self.locked = locked
        self.preparing = False
        self._anonymous = anonymous
        self._stingy = stingy
        self._held: list[int] = []  # our ends of the inhibitors
        self.on_release: Callable[[], None] = lambda: None
        """Called in the moment in which the last inhibitor is released, which lets the machine sleep."""

    @property
    def inhibitors(self) -> int:
        """How many are held."""
        return len(self._held)

    def set_locked_hint(self, locked: bool) -> None:
        """Whoever locks the screen tells logind of it."""
        self.locked = locked
        changed = {"LockedHint": Variant("b", locked)}
        properties = "org.freedesktop.DBus.Properties"
        self.emit(self.session_path, properties, "PropertiesChanged", "sa{sv}as", self.session, changed, [])

    def prepare_for_sleep(self) -> None:
        """Says that the machine will sleep."""
        self.preparing = True
        self.emit(self.path, self.manager, "PrepareForSleep", "b", True)

    def wake_up(self) -> None:
        """Says that the machine has slept."""
        self.preparing = False
        self.emit(self.path, self.manager, "PrepareForSleep", "b", False)

    def wait_for_inhibitor(self) -> None:
        """Returns once somebody wants to be waited for."""
        self.wait(lambda: self._held, "sleep is delayed")

    def wait_for_release(self) -> None:
        """Returns once nobody wants to be waited for any more."""
        self.wait(lambda: not self._held, "sleep is not delayed any more")

    def send_unasked(self, unique_name: str) -> None:
        """Sends somebody an inhibitor for which they have not asked."""

        async def send() -> None:
            fd = self._inhibitor()
            signal = Message(
                destination=unique_name,
                path=self.path,
                interface=self.manager,
                member="Stray",
                message_type=MessageType.SIGNAL,
                signature="h",
                body=[0],
                unix_fds=[fd],
            )
            await self._send(signal)
            await self.sent(signal)

        self._run(send())

    def vanish(self) -> None:
        """See `FakeProgram`."""
        super().vanish()
        self._run(self._let_go())

    async def _let_go(self) -> None:
        for fd in self._held:
            self._loop.remove_reader(fd)
            os.close(fd)
        self._held = []

    def answer(self, message: Message) -> Answer:
        """See `FakeProgram`."""
        match message.path, message.member, message.body:
            case self.path, "GetSession", [self.session_id]:
                return "o", [self.session_path]
            case self.path, "Inhibit", ["sleep", str(), str(), "delay"] if not self._stingy:
                return "h", [self._inhibitor()]
            case self.path, "Get", [self.manager, "PreparingForSleep"]:
                return "v", [Variant("b", self.preparing)]
            case self.auto_path, "Get", [self.session, "Id"] if not self._anonymous:
                return "v", [Variant("s", self.session_id)]
            case self.session_path, "Get", [self.session, "LockedHint"]:
                return "v", [Variant("b", self.locked)]
        raise Refused(message.member)

    async def sent(self, message: Message) -> None:
        """Theirs is the only one to keep open what delays sleep."""
        for fd in message.unix_fds:
            os.close(fd)

    def _inhibitor(self) -> int:
        """The end that is given away."""
        ours, theirs = os.pipe()
        self._held.append(ours)
        self._loop.add_reader(ours, self._released, ours)
        return theirs

    def _released(self, fd: int) -> None:
        self._loop.remove_reader(fd)
        os.close(fd)
        self._held.remove(fd)
        if not self._held:
            self.on_release()
