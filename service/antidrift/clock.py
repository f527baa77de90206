"""The present and one wake-up, both on the boot-time clock, which counts on while the machine is suspended."""

from __future__ import annotations

import asyncio
import ctypes
import math
import os
import struct
import time
from collections.abc import Callable

from antidrift.domain.model import Instant

_TFD_NONBLOCK = 0o4000
_TFD_CLOEXEC = 0o2000000
_TFD_TIMER_ABSTIME = 1
_STEP_MS = 100
"""By how much the wall clock must have moved against the boot-time clock to have been set."""


class BootClock:
    """A `ports.Clock` on CLOCK_BOOTTIME, with a timerfd as its alarm.

    asyncio's own timers stand still in suspend; a timerfd that came due meanwhile fires on waking up. Must be made
    while an event loop runs. `os.timerfd_create` came with Python 3.13, so libc is called directly.
    """

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd: int = self._libc.timerfd_create(time.CLOCK_BOOTTIME, _TFD_NONBLOCK | _TFD_CLOEXEC)
        if self._fd < 0:
            raise OSError(ctypes.get_errno(), "timerfd_create on CLOCK_BOOTTIME")
        self._wall_minus_boot_ms = 0
        self._callback: Callable[[], None] | None = None
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._fd, self._fired)

    def now(self) -> Instant:
        """This moment, in whole milliseconds on both clocks.

        Two clocks are never read at one moment: how far they are apart is kept until one of them is set, so that the
        same moment, such as a deadline, is the same millisecond on the wall clock whenever it is reckoned.
        """
        boot_ms = time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000
        apart = time.time_ns() // 1_000_000 - boot_ms
        if abs(apart - self._wall_minus_boot_ms) > _STEP_MS:
            self._wall_minus_boot_ms = apart
        return Instant(boot_ms / 1000, boot_ms + self._wall_minus_boot_ms)

    def suspended(self) -> float:
        """See `ports.Clock`. The boot-time clock counts on in suspend, the monotonic one stands still."""
        return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)

    def wake_at(self, boot: float | None, callback: Callable[[], None]) -> None:
        """See `ports.Clock`."""
        self._callback = None if boot is None else callback
        # Zero disarms; a moment that has passed already fires at once. In the next millisecond `now` is not before it.
        ms = 0 if boot is None else max(math.floor(boot * 1000), 0) + 1
        new = struct.pack("@qqqq", 0, 0, *divmod(ms * 1_000_000, 1_000_000_000))
        if self._libc.timerfd_settime(self._fd, _TFD_TIMER_ABSTIME, new, None) < 0:
            raise OSError(ctypes.get_errno(), "timerfd_settime")

    def close(self) -> None:
        """See `ports.Clock`."""
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1

    def _fired(self) -> None:
        try:
            os.read(self._fd, 8)
        except BlockingIOError:
            return  # it was set anew between becoming readable and being read
        callback, self._callback = self._callback, None
        if callback is not None:
            callback()


def boot_id() -> str:
    """The kernel's name for this boot; "" where it has none."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""
