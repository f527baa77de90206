"""The real clock of the service: two readings of the present, and one alarm."""

from __future__ import annotations

import asyncio
import contextlib
import time

import pytest

from antidrift.clock import BootClock


async def test_a_wall_clock_that_is_set_is_followed_and_one_that_trembles_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with contextlib.closing(BootClock()) as clock:
        first = clock.now()
        assert abs(first.unix_ms - time.time() * 1000) < 1000
        read = time.time_ns
        for ms in (40, -40):
            monkeypatch.setattr(time, "time_ns", lambda ms=ms: read() + ms * 1_000_000)
            again = clock.now()
            assert again.at(first.boot).unix_ms == first.unix_ms
        for ms in (3_600_000, -3_600_000, 1000, 0):
            monkeypatch.setattr(time, "time_ns", lambda ms=ms: read() + ms * 1_000_000)
            again = clock.now()
            assert abs(again.at(first.boot).unix_ms - first.unix_ms - ms) < 100


async def test_the_alarm_goes_off_once_and_not_before_its_moment_has_come() -> None:
    with contextlib.closing(BootClock()) as clock:
        for fraction in (0.0, 0.0001, 0.0004999, 0.000999999, 0.001):
            due = clock.now().boot + 0.002 + fraction
            came: list[float] = []
            rang = asyncio.Event()

            def ring(came: list[float] = came, rang: asyncio.Event = rang) -> None:
                came.append(clock.now().boot)
                rang.set()

            clock.wake_at(due, ring)
            async with asyncio.timeout(20):
                await rang.wait()
            assert came[0] >= due
            clock.wake_at(None, ring)
            assert len(came) == 1
