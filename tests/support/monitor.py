"""Everything that the service is asked and says, in the order in which the bus passes it on."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
import time
from types import TracebackType
from typing import Any, Self

from antidrift.bus.names import BUS_NAME, INTERFACE
from support.private_bus import PrivateBus
from support.service import DEADLINE, Client, State

Message = dict[str, Any]
"""One message as `busctl --json=short monitor` writes it."""


class Monitor:
    """Context manager around a busctl that watches. What `news` returns is complete."""

    def __init__(self, bus: PrivateBus) -> None:
        self._address = bus.address
        self._messages: queue.Queue[Message | None] = queue.Queue()
        self._markers = 0

    def __enter__(self) -> Self:
        self._client = Client(self._address)
        self._busctl = subprocess.Popen(
            ["busctl", f"--address={self._address}", "--json=short", "monitor", BUS_NAME],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self._wait_until_it_watches()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, where: TracebackType | None
    ) -> None:
        self._busctl.kill()
        self._busctl.wait()
        self._reader.join()
        assert self._busctl.stdout is not None
        self._busctl.stdout.close()
        self._client.close()

    def news(self) -> list[Message]:
        """What has passed since the last look, up to now."""
        marker = self._pass_by()
        news: list[Message] = []
        cookie: object = None
        while True:
            message = self._messages.get(timeout=DEADLINE)
            assert message is not None, "busctl has ended"
            if message.get("sender") == self._client.name:
                if message["member"] == marker:
                    cookie = message["cookie"]
            elif message.get("destination") == self._client.name:
                if cookie is not None and message.get("reply_cookie") == cookie:
                    return news
            else:
                news.append(message)

    def _pass_by(self) -> str:
        """Calls a method that does not exist, and so can be told from any other call; returns its name."""
        self._markers += 1
        marker = f"Marker{self._markers}"
        self._client.refusal(marker)
        return marker

    def _wait_until_it_watches(self) -> None:
        """busctl does not say so in every version: it watches when it has seen something."""
        ends = time.monotonic() + DEADLINE
        while True:
            self._pass_by()
            try:
                assert self._messages.get(timeout=0.1) is not None, "busctl has ended"
                break
            except queue.Empty:
                assert time.monotonic() < ends, "busctl sees nothing"
        self.news()

    def _read(self) -> None:
        assert self._busctl.stdout is not None
        for line in self._busctl.stdout:
            self._messages.put(json.loads(line))
        self._messages.put(None)


def announced(message: Message) -> State | None:
    """The state in a StateChanged; None for any other message."""
    if message["type"] != "signal" or message["interface"] != INTERFACE or message["member"] != "StateChanged":
        return None
    state: State = json.loads(message["payload"]["data"][0])
    return state


def states(messages: list[Message]) -> list[State]:
    """The states that were announced, in their order."""
    return [state for message in messages if (state := announced(message)) is not None]
