"""The service as another program on the same bus sees it: calls, and the stream of its states."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from dbus_next.constants import MessageFlag, MessageType
from dbus_next.message import Message
from dbus_next.signature import Variant

from antidrift.bus.connection import BusLost, NoSessionBus, SessionBus
from antidrift.bus.names import BUS_NAME, ERROR_PREFIX, INTERFACE, OBJECT_PATH
from antidrift.bus.state import SCHEMA, NotAState, read

__all__ = [
    "SCHEMA",
    "BusLost",
    "CallFailed",
    "Client",
    "NewerService",
    "NoSessionBus",
    "NotAState",
    "ServiceAbsent",
    "ServiceSilent",
    "State",
    "States",
]

ANSWER_SECS = 25.0
"""How long an answer may take; activation counts too. It is what libdbus waits."""

_DAEMON = "org.freedesktop.DBus"
_DAEMON_PATH = "/org/freedesktop/DBus"
_DAEMON_ERROR = "org.freedesktop.DBus.Error."
_SHELL = "org.gnome.Shell"


class ServiceAbsent(Exception):
    """Nobody owns the service's name. `activatable`: a call that may start the service would have."""

    def __init__(self, activatable: bool) -> None:
        super().__init__("the service is not running")
        self.activatable = activatable


class ServiceSilent(Exception):
    """The service does not answer. `pid` is its process, or None if it has none."""

    def __init__(self, secs: float, pid: int | None) -> None:
        super().__init__(f"no answer within {secs:g} seconds")
        self.secs = secs
        self.pid = pid


class NewerService(Exception):
    """The service speaks a later version of the contract; its state is not understood."""


class CallFailed(Exception):
    """A call was answered with an error: its D-Bus name, and the message as it came."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name
        self.message = message

    @property
    def kind(self) -> str:
        """The last part of a name of the service's own, such as "NotActive"; "" for any other error."""
        return self.name.removeprefix(ERROR_PREFIX) if self.name.startswith(ERROR_PREFIX) else ""


@dataclass(frozen=True, slots=True)
class State:
    """One state of the service.

    `text` is the JSON as it came; `said` is what of it is understood. `received` is the moment of its arrival on the
    monotonic clock, from which a client counts down.
    """

    text: str
    said: dict[str, Any]
    received: float = field(default_factory=time.monotonic)

    @classmethod
    def read(cls, text: str) -> State:
        """The state in `text`, which came just now. Raises NotAState."""
        return cls(text, read(text))

    @property
    def view(self) -> dict[str, Any]:
        """What it says (`dbus/state.schema.json`). Raises NewerService."""
        if not self.understood:
            raise NewerService
        return self.said

    @property
    def phase(self) -> str:
        """locked, planning, active or review. Raises NewerService."""
        return str(self.view["runtime_state"])

    @property
    def understood(self) -> bool:
        """False if the service speaks a later version of the contract."""
        return bool(self.said["schema"] == SCHEMA)

    def replaces(self, other: State | None) -> bool:
        """Whether this one is newer than `other`. The numbers of another process say nothing about ours."""
        if other is None or self.said["instance"] != other.said["instance"]:
            return True
        return bool(self.said["seq"] > other.said["seq"])

    def remaining_secs(self) -> float:
        """What is left of the timebox now, never negative; 0 without a commitment. Raises NewerService."""
        commitment = self.view["commitment"]
        if commitment is None:
            return 0.0
        passed = time.monotonic() - self.received if commitment["running"] else 0.0
        return max(0.0, float(commitment["remaining_ms"]) / 1000 - passed)


class Client:
    """The calls of `org.antidrift.Session`. Every one of them raises ServiceAbsent, ServiceSilent, CallFailed, BusLost.

    With `start=False` the service is not started if it does not run: for what only looks.
    """

    def __init__(self, bus: SessionBus) -> None:
        self._bus = bus

    @classmethod
    @contextlib.asynccontextmanager
    async def connect(cls) -> AsyncIterator[Client]:
        """A client on the session bus. Raises NoSessionBus."""
        bus = await SessionBus.open()
        try:
            yield cls(bus)
        finally:
            await bus.close()

    async def call(self, member: str, signature: str = "", *arguments: Any, start: bool = True) -> Any:
        """What the method `member` returns (None: nothing)."""
        return await self._ask(_message(BUS_NAME, OBJECT_PATH, INTERFACE, member, signature, arguments, start))

    async def state(self, *, start: bool = True) -> State:
        """The state, computed now. Raises NotAState."""
        return State.read(await self.call("GetState", start=start))

    async def states(self) -> States:
        """The stream of states, from the present one on. Never starts the service."""
        states = States(self, self._bus)
        await states.subscribe()
        return states

    async def version(self) -> str:
        """The version of the running service."""
        asked = (INTERFACE, "Version")
        message = _message(BUS_NAME, OBJECT_PATH, "org.freedesktop.DBus.Properties", "Get", "ss", asked, start=False)
        version = await self._ask(message)
        return str(version.value) if isinstance(version, Variant) else "unknown"

    async def process_id(self) -> int | None:
        """The process that runs the service; None: nobody does."""
        try:
            return int(await self.ask_daemon("GetConnectionUnixProcessID", "s", BUS_NAME))
        except (ServiceAbsent, CallFailed):
            return None

    async def activatable(self) -> bool:
        """Whether the bus can start the service."""
        return BUS_NAME in await self.ask_daemon("ListActivatableNames")

    async def shell_extension(self, uuid: str) -> bool | None:
        """Whether GNOME Shell runs the extension `uuid`; None: there is no GNOME Shell on this bus."""
        message = _message(
            _SHELL, "/org/gnome/Shell", "org.gnome.Shell.Extensions", "GetExtensionInfo", "s", (uuid,), start=False
        )
        try:
            info = await self._ask(message)
        except (ServiceAbsent, ServiceSilent):
            return None
        except CallFailed:
            return False
        state = info.get("state") if isinstance(info, dict) else None
        return isinstance(state, Variant) and state.value == 1.0  # ExtensionState.ACTIVE, a double on the bus

    async def ask_daemon(self, member: str, signature: str = "", *arguments: Any) -> Any:
        """What the bus itself answers."""
        return await self._ask(_message(_DAEMON, _DAEMON_PATH, _DAEMON, member, signature, arguments, start=False))

    async def _ask(self, message: Message) -> Any:
        try:
            async with asyncio.timeout(ANSWER_SECS):
                reply = await self._bus.call(message)
        except TimeoutError:
            silent = message.destination
            raise ServiceSilent(ANSWER_SECS, None if silent == _DAEMON else await self.process_id()) from None
        except ConnectionError as end:
            raise BusLost("the bus has ended the connection") from end
        return await self._value(reply)

    async def _value(self, reply: Message | None) -> Any:
        assert reply is not None, "the message asked for a reply"
        if reply.message_type is not MessageType.ERROR:
            return reply.body[0] if reply.body else None
        name = reply.error_name or ""
        # dbus-daemon says the one, dbus-broker the other.
        if name in (_DAEMON_ERROR + "NameHasNoOwner", _DAEMON_ERROR + "ServiceUnknown"):
            raise ServiceAbsent(await self.activatable())
        raise CallFailed(name, str(reply.body[0]) if reply.body else name)


class States:
    """The states of the service in their order, each newer than the last, over its comings and goings."""

    def __init__(self, client: Client, bus: SessionBus) -> None:
        self._client = client
        self._bus = bus
        self._news: asyncio.Queue[str | _Owner | BusLost] = asyncio.Queue()
        self._last: State | None = None
        self._ending = asyncio.ensure_future(bus.wait_for_disconnect())

    async def subscribe(self) -> None:
        """Begins to listen. What came before is in the first state, so nothing is missed."""
        self._ending.add_done_callback(self._ended)
        owner = await self._bus.watch_name(BUS_NAME, lambda new: self._news.put_nowait(_Owner(new)))
        self._bus.add_message_handler(self._heard)
        rule = f"type='signal',sender='{BUS_NAME}',path='{OBJECT_PATH}',interface='{INTERFACE}',member='StateChanged'"
        await self._client.ask_daemon("AddMatch", "s", rule)
        self._news.put_nowait(_Owner(owner))

    async def next(self) -> State | None:
        """Waits for the next state; None: the service is not there (any more). Not to be used after it was cancelled.

        Raises BusLost, ServiceSilent, CallFailed, NotAState.
        """
        while True:
            match await self._news.get():
                case BusLost() as fault:
                    raise fault
                case _Owner(None):
                    self._last = None
                    return None
                case _Owner():
                    try:
                        state = await self._client.state(start=False)
                    except ServiceAbsent:
                        continue  # its going is the next piece of news
                case str(text):
                    state = State.read(text)
            if state.replaces(self._last):
                self._last = state
                return state

    def _heard(self, message: Message) -> None:
        is_ours = message.interface == INTERFACE and message.member == "StateChanged" and message.signature == "s"
        if is_ours and message.message_type is MessageType.SIGNAL and message.sender == self._bus.owner_of(BUS_NAME):
            self._news.put_nowait(message.body[0])

    def _ended(self, ending: asyncio.Future[None]) -> None:
        if not ending.cancelled() and isinstance(fault := ending.exception(), BusLost):
            self._news.put_nowait(fault)


@dataclass(frozen=True, slots=True)
class _Owner:
    name: str | None


def _message(
    destination: str,
    path: str,
    interface: str,
    member: str,
    signature: str,
    arguments: tuple[Any, ...],
    start: bool,
) -> Message:
    flags = MessageFlag.NONE if start else MessageFlag.NO_AUTOSTART
    return Message(destination, path, interface, member, flags=flags, signature=signature, body=list(arguments))
