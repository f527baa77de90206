"""Python runs this before the service: the same service, whose clocks leap when they are told (`support.time_machine`).

A leap "asleep" is what a suspension is: the boot-time clock has counted on, the monotonic one has not, and what came
due meanwhile goes off at once. One of the "wall" is what setting the wall clock is: no other clock knows of it. Any
other leap is time in which nothing happened.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

from antidrift import clock
from antidrift.domain.model import Instant

ORDER = Path(os.environ["TIME_MACHINE"])


class LeapingClock(clock.BootClock):
    """The boot-time clock, and all the leaps up to now."""

    def __init__(self) -> None:
        super().__init__()
        self._leapt = self._slept = self._set = 0.0
        self._due: tuple[float | None, Callable[[], None]] = (None, lambda: None)
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, self._leap)

    def now(self) -> Instant:
        """The present, after all leaps."""
        present = super().now()
        return Instant(present.boot + self._leapt, present.unix_ms + round((self._leapt + self._set) * 1000))

    def suspended(self) -> float:
        """Seconds asleep, those of the machine itself included."""
        return super().suspended() + self._slept

    def wake_at(self, boot: float | None, callback: Callable[[], None]) -> None:
        """As without leaps."""
        self._due = (boot, callback)
        super().wake_at(None if boot is None else boot - self._leapt, callback)

    def _leap(self) -> None:
        order = json.loads(ORDER.read_text())
        match order["kind"]:
            case "wall":
                self._set += order["secs"]
            case "asleep":
                self._leapt += order["secs"]
                self._slept += order["secs"]
            case _:
                self._leapt += order["secs"]
        self.wake_at(*self._due)
        ORDER.unlink()


clock.BootClock = LeapingClock  # type: ignore[misc]
