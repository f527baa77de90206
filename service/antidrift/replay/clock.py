"""Time that passes when it is told to."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable

from antidrift.domain.model import Instant


class VirtualClock:
    """A `ports.Clock` that stands still but for `advance` and `suspend`, and wakes whoever asked on the way."""

    def __init__(self, unix_ms: int) -> None:
        self._boot = 0.0
        self._unix_ms = unix_ms  # what the wall clock says when the boot-time clock says zero
        self._slept = 0.0
        self._alarm: tuple[float, Callable[[], None]] | None = None
        self._later: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()

    # ports.Clock

    def now(self) -> Instant:
        """See `ports.Clock`."""
        return Instant(self._boot, self._unix_ms + round(self._boot * 1000))

    def suspended(self) -> float:
        """See `ports.Clock`."""
        return self._slept

    def wake_at(self, boot: float | None, callback: Callable[[], None]) -> None:
        """See `ports.Clock`."""
        self._alarm = None if boot is None else (boot, callback)

    def close(self) -> None:
        """See `ports.Clock`."""
        self._alarm = None

    # For the one who makes it pass

    def call_later(self, secs: float, callback: Callable[[], None]) -> None:
        """Calls `callback` once, so many seconds from now. Of two at one moment the first to ask is the first."""
        heapq.heappush(self._later, (self._boot + secs, next(self._order), callback))

    def next_due(self) -> float | None:
        """When somebody is to be woken next."""
        moments = [each[0] for each in (self._alarm, *self._later[:1]) if each is not None]
        return min(moments, default=None)

    def advance(self, boot: float) -> None:
        """It is `boot` now, if it was not later already. Calls nobody: see `ring`."""
        self._boot = max(self._boot, boot)

    def suspend(self, secs: float) -> None:
        """The machine sleeps for so long; what is due meanwhile has to wait for its waking."""
        self._boot += secs
        self._slept += secs

    def set_wall(self, unix_ms: int) -> None:
        """Somebody sets the wall clock."""
        self._unix_ms = unix_ms - round(self._boot * 1000)

    def ring(self) -> bool:
        """Calls one that is due, the alarm before the others; False: nobody is."""
        if self._alarm is not None and self._alarm[0] <= self._boot:
            (_, callback), self._alarm = self._alarm, None
        elif self._later and self._later[0][0] <= self._boot:
            callback = heapq.heappop(self._later)[2]
        else:
            return False
        callback()
        return True
