"""Who says that the person is away: logind, the lock screen and the idle monitor, each of which may be missing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from antidrift.bus.connection import NoSessionBus, SessionBus
from antidrift.bus.presence_claims import Claims, OnAway, OnBack
from antidrift.bus.presence_idle import LastInput, follow_idle
from antidrift.bus.presence_login import follow_login
from antidrift.bus.presence_screen import SCREEN_SAVERS, follow_screen
from antidrift.domain.model import AwayCause
from antidrift.ports import PresenceSource

_log = logging.getLogger(__name__)

RETRY_SECS = 60.0
"""How long a bus that cannot be reached is left alone. Only the system bus can be missing for longer than we live."""

Follower = Callable[[SessionBus], Coroutine[Any, Any, None]]


class DesktopPresence:
    """`ports.PresenceSource` for the desktop: sleep, lock and idle, told by signals alone.

    It has connections of its own, so that stopping leaves nothing behind on either bus: neither match rules, nor idle
    watches, nor the inhibitor. `fallback` tells of idle while Mutter does not.
    """

    def __init__(
        self,
        session_bus: str,
        system_bus: str,
        *,
        session_id: str = "",
        idle_secs: int,
        fallback: PresenceSource | None = None,
    ) -> None:
        self._session_bus = session_bus
        self._system_bus = system_bus
        self._session_id = session_id
        self._idle_secs = idle_secs
        self._fallback = fallback
        self._claims: Claims | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._missing: set[str] = set()  # the buses of which it has been said

    def start(self, on_away: OnAway, on_back: OnBack) -> None:
        """See `ports.PresenceSource`."""
        self.stop()
        claims = self._claims = Claims(on_away, on_back)
        last_input = LastInput()
        on_session_bus: list[Follower] = [
            *(partial(follow_screen, name=name, lock=claims.claim(AwayCause.LOCK)) for name in SCREEN_SAVERS),
            partial(
                follow_idle,
                idle_secs=self._idle_secs,
                idle=claims.claim(AwayCause.IDLE),
                fallback=self._fallback,
                theirs=claims.claim(AwayCause.IDLE),
                last_input=last_input,
            ),
        ]
        on_system_bus: list[Follower] = [
            partial(
                follow_login,
                session_id=self._session_id,
                sleep=claims.claim(AwayCause.SLEEP),
                lock=claims.claim(AwayCause.LOCK),
                last_input=last_input,
            )
        ]
        loop = asyncio.get_running_loop()
        self._tasks = [
            loop.create_task(self._attend(claims, "session bus", self._session_bus, on_session_bus)),
            loop.create_task(self._attend(claims, "system bus", self._system_bus, on_system_bus)),
        ]

    def stop(self) -> None:
        """See `ports.PresenceSource`."""
        if self._claims is not None:
            self._claims.close()
            self._claims = None
        for task in self._tasks:
            task.cancel()
        self._tasks = []
        if self._fallback is not None:
            self._fallback.stop()

    async def _attend(self, claims: Claims, name: str, address: str, followers: list[Follower]) -> None:
        """Follows everybody on one bus, over the loss of the bus, until `claims` is closed and this is cancelled."""
        while True:
            try:
                bus = await SessionBus.open(address, fds=True)
            except NoSessionBus as absent:
                if name not in self._missing:
                    _log.info("without the %s less is known of absences: %s", name, absent)
                    self._missing.add(name)
            else:
                if name in self._missing:
                    _log.info("the %s is there now", name)
                    self._missing.remove(name)
                try:
                    async with asyncio.TaskGroup() as group:
                        for follow in followers:
                            group.create_task(follow(bus))
                        await bus.wait_for_disconnect()
                except* ConnectionError:
                    pass  # the bus is gone
                except* Exception as faults:
                    kinds = sorted({type(fault).__name__ for fault in faults.exceptions})
                    _log.error("following absences on the %s failed: %s", name, ", ".join(kinds))
                finally:
                    bus.disconnect()
            if claims.closed:
                return  # a cancel that meets the loss of the bus is lost in the group (Python 3.11 and 3.12)
            await asyncio.sleep(RETRY_SECS)
