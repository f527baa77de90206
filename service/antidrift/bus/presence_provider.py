"""Another program on a bus that says something about the person: it may be there or not, come, go, and come back."""

from __future__ import annotations

import asyncio
from typing import Any

from dbus_next.constants import MessageFlag, MessageType
from dbus_next.message import Message

from antidrift.bus.connection import SessionBus

_DAEMON = "org.freedesktop.DBus"
_DAEMON_PATH = "/org/freedesktop/DBus"
_PROPERTIES = "org.freedesktop.DBus.Properties"


class Provider:
    """Whoever owns `name`: what it says unasked, in order with its coming and going, and what it answers.

    It is never started by being asked. One that does not answer is waited for; cancelling is the way out.
    """

    def __init__(self, bus: SessionBus, name: str) -> None:
        self.name = name
        self._bus = bus
        self._news: asyncio.Queue[str | Message | None] = asyncio.Queue()

    async def watch(self) -> None:
        """Begins to watch who owns the name; the owner of this moment is the first piece of news."""
        self._bus.add_message_handler(self._heard)
        self._news.put_nowait(await self._bus.watch_name(self.name, self._news.put_nowait))

    async def news(self) -> str | Message | None:
        """What has happened next: a signal, or another owner of the name; None: nobody owns it any more.

        An answer says how things stand now, so a signal from before the asking may come after it. The last signal of
        such a row says the same as the answer.
        """
        return await self._news.get()

    async def subscribe(self, path: str, interface: str, member: str) -> None:
        """From now on, this signal is news."""
        rule = f"type='signal',sender='{self.name}',path='{path}',interface='{interface}',member='{member}'"
        await self._bus.call(Message(_DAEMON, _DAEMON_PATH, _DAEMON, "AddMatch", signature="s", body=[rule]))

    async def ask(
        self, path: str, interface: str, member: str, signature: str = "", *arguments: Any, expects: str
    ) -> Message | None:
        """The answer to a call; None: an error, or an answer of another signature than `expects`."""
        answer = await self._bus.call(
            Message(
                self.name,
                path,
                interface,
                member,
                flags=MessageFlag.NO_AUTOSTART,
                signature=signature,
                body=list(arguments),
            )
        )
        fits = answer is not None and answer.message_type is MessageType.METHOD_RETURN and answer.signature == expects
        return answer if fits else None

    async def property(self, path: str, interface: str, name: str, expects: str) -> Any:
        """The value of a property; None: it cannot be had, or is of another type than `expects`."""
        answer = await self.ask(path, _PROPERTIES, "Get", "ss", interface, name, expects="v")
        if answer is None or answer.body[0].signature != expects:
            return None
        return answer.body[0].value

    def _heard(self, message: Message) -> None:
        is_signal = message.message_type is MessageType.SIGNAL and message.interface != _DAEMON
        if is_signal and message.sender == self._bus.owner_of(self.name):
            self._news.put_nowait(message)
