"""Idle as the X server counts it, on a real X server with real key presses."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from Xlib import X
from Xlib.ext import xtest

from antidrift.domain.model import AwayCause
from antidrift.sensors import x11_idle
from antidrift.sensors.interrupt import Interrupt
from antidrift.sensors.x11_idle import X11Idle, secs_since_input
from support.x_server import TIMEOUT, XServer

SPACE = 65  # the keycode; any will do


@pytest.fixture(scope="module")
def server() -> Iterator[XServer]:
    with XServer() as server:
        yield server


class Person:
    """What is told of a person who uses the keyboard alone."""

    def __init__(self, server: XServer, idle_secs: float) -> None:
        self._server = server
        self.source = X11Idle(server.display, idle_secs)
        self.away: bool | None = None
        self.told: list[tuple[str, float]] = []

    def start(self) -> None:
        self.source.start(self._left, self._came_back)

    def type(self) -> None:
        for kind in (X.KeyPress, X.KeyRelease):
            xtest.fake_input(self._server.connection, kind, SPACE)
        self._server.connection.sync()

    def _left(self, cause: AwayCause, ago: float) -> None:
        assert cause is AwayCause.IDLE
        self.told.append(("away", ago))

    def _came_back(self, cause: AwayCause) -> None:
        assert cause is AwayCause.IDLE
        self.told.append(("back", 0.0))

    @property
    def words(self) -> list[str]:
        return [word for word, _ in self.told]


@pytest.fixture
async def person(server: XServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Person]:
    """Idle after a second without a key press."""
    monkeypatch.setattr(x11_idle, "RETURN_SECS", 0.02)
    monkeypatch.setattr(x11_idle, "RETRY_SECS", 0.02)
    person = Person(server, 1.0)
    person.type()
    yield person
    person.source.stop()


@pytest.fixture
def questions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The display of every question that is put."""
    asked: list[str] = []

    def ask(display: str, interrupt: Interrupt) -> float:
        asked.append(display)
        return secs_since_input(display, interrupt)

    monkeypatch.setattr(x11_idle, "secs_since_input", ask)
    return asked


async def until(condition: Any) -> None:
    async with asyncio.timeout(TIMEOUT):
        while not condition():
            await asyncio.sleep(0.002)


async def test_who_presses_no_key_is_away_since_the_last_one(person: Person) -> None:
    typed = time.monotonic()
    person.start()
    await until(lambda: person.told)
    ((word, ago),) = person.told
    assert word == "away"
    assert 1.0 <= ago <= time.monotonic() - typed + 0.1


async def test_a_key_press_ends_it_and_the_next_absence_is_told_of_again(person: Person) -> None:
    person.start()
    await until(lambda: person.words == ["away"])
    person.type()
    await until(lambda: person.words == ["away", "back"])
    await until(lambda: person.words == ["away", "back", "away"])


async def test_who_types_and_never_moves_the_pointer_is_not_idle(server: XServer, person: Person) -> None:
    def secs() -> float:
        return secs_since_input(server.display, Interrupt())

    await until(lambda: secs() >= 0.3)
    typed = time.monotonic()
    person.type()
    assert secs() <= time.monotonic() - typed + 0.01


async def test_the_server_is_asked_once_in_the_idle_time_while_there_is_input(
    server: XServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0

    def just_now(_display: str, _interrupt: Interrupt) -> float:
        nonlocal asked
        asked += 1
        return 0.0

    monkeypatch.setattr(x11_idle, "secs_since_input", just_now)
    person = Person(server, 0.2)
    began = time.monotonic()
    person.start()
    await until(lambda: asked >= 4)
    assert time.monotonic() - began >= 0.6
    person.source.stop()


async def test_a_server_that_goes_takes_the_absence_with_it_and_one_that_comes_back_counts_again(
    server: XServer, person: Person
) -> None:
    person.start()
    await until(lambda: person.words == ["away"])
    server.kill()
    await until(lambda: person.words == ["away", "back"])
    server.start()
    await until(lambda: person.words == ["away", "back", "away"])


async def test_stopping_takes_no_time_while_the_server_answers_nothing(
    server: XServer, person: Person, questions: list[str]
) -> None:
    server.freeze()
    try:
        person.start()
        await until(lambda: questions)
        began = time.monotonic()
        person.source.stop()
        assert time.monotonic() - began < 0.9
    finally:
        server.thaw()
    await asyncio.sleep(0)
    assert person.told == []


async def test_a_name_that_is_no_display_counts_nobody_as_idle(person: Person, questions: list[str]) -> None:
    source = X11Idle("nonsense", 0.0)
    source.start(lambda *_: pytest.fail("somebody is idle"), lambda _: pytest.fail("somebody is back"))
    await until(lambda: len(questions) >= 3)
    source.stop()
