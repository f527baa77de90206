"""Absences: as the real Mutter notices them, and as the panel and its menu tell of them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from antidrift.bus.names import BUS_NAME
from antidrift.bus.presence import DesktopPresence
from antidrift.domain.model import AwayCause
from shell.drive import Desktop
from shell.panel import Panel
from support.desktop import FakeScreenSaver
from support.service import DEADLINE, NO_BUS
from support.time_machine import TimeMachine

if TYPE_CHECKING:
    from shell.conftest import Lab

pytestmark = pytest.mark.shell

REPORTS = 'sensor.reporters = ["any"]'
EDITOR = {"class": ("s", "Editor"), "title": ("s", "Report")}


class LabTimeMachine(TimeMachine):
    """A `TimeMachine` on the bus of the lab, whose daemon cannot name processes outside of its own namespace."""

    def _owns_its_name(self) -> bool:
        return bool(self.client.connection.name_has_owner(BUS_NAME))


@pytest.fixture
def screen(lab: Lab) -> Iterator[FakeScreenSaver]:
    """Who tells of a lock: there is no GDM in the lab, and so the shell has no lock screen of its own."""
    with FakeScreenSaver(lab.address) as screen:
        yield screen


@pytest.fixture
def service(lab: Lab, screen: FakeScreenSaver) -> Iterator[LabTimeMachine]:
    with LabTimeMachine(lab, REPORTS) as service:
        service.call("EnterPlanning")
        service.call("StartCommitment", "ssxas", "Write the report", "Two pages", 1500, ["Editor"])
        service.client.call("ReportFocus", "a{sv}", EDITOR)
        screen.wait(lambda: ("GetActive",) in screen.calls, "the service has asked about the screen")
        yield service


def test_the_panel_and_the_menu_tell_of_an_absence_and_afterwards_how_long_it_was(
    desktop: Desktop, panel: Panel, screen: FakeScreenSaver, service: LabTimeMachine
) -> None:
    icon = f"__lab.shown({panel.button}).find(actor => actor.gicon)?.gicon.to_string().split('/').pop()"
    service.pass_time(600)
    screen.lock()
    panel.wait_name("AntiDrift: session running, away")
    assert desktop.js(icon) == "antidrift-away-symbolic.svg"
    assert panel.time() == "15 min"
    panel.open()
    desktop.wait(
        f"{shown(panel)}.some(text => /^Away since \\d?\\d\\W+\\d\\d.*: screen locked. The time waits.$/.test(text))"
    )
    assert not any(re.match("On task|Drifting", text) for text in panel.texts())

    service.pass_time(300)
    assert panel.time() == "15 min"
    screen.unlock()
    panel.wait_name("AntiDrift: session running")
    desktop.wait_for("Away for 5 min so far.")
    assert panel.time() == "15 min"
    desktop.click("Complete")
    desktop.wait_for("Completed")
    desktop.wait(f"{shown(panel)}.join().includes('Away,5 min')")


def test_a_session_that_an_absence_has_ended_says_so_in_the_menu(
    desktop: Desktop, panel: Panel, screen: FakeScreenSaver, service: LabTimeMachine
) -> None:
    service.pass_time(600)
    screen.lock()
    panel.wait_name("AntiDrift: session running, away")
    service.pass_time(601)
    panel.wait_name("AntiDrift: session over, time to look back")
    panel.open()
    desktop.wait_for("Interrupted")
    assert "Away" not in panel.texts()


async def test_mutter_tells_that_nobody_is_there_and_any_key_that_somebody_is(lab: Lab, desktop: Desktop) -> None:
    told: list[str] = []
    presence = DesktopPresence(lab.address, NO_BUS, idle_secs=1)
    desktop.key("Shift_L")
    presence.start(lambda cause, ago: told.append(f"{cause} {1 <= ago < 10}"), lambda cause: told.append("back"))
    try:
        for _ in range(2):
            await until(lambda: told == [f"{AwayCause.IDLE} True"])
            await asyncio.to_thread(desktop.key, "Shift_L")
            await until(lambda: told[1:] == ["back"])
            told.clear()
    finally:
        presence.stop()


async def test_to_mutter_who_types_and_never_moves_the_pointer_is_there(lab: Lab, desktop: Desktop) -> None:
    told: list[AwayCause] = []
    presence = DesktopPresence(lab.address, NO_BUS, idle_secs=2)
    desktop.key("Shift_L")
    presence.start(lambda cause, ago: told.append(cause), lambda cause: None)
    try:
        async with asyncio.timeout(DEADLINE):
            for _ in range(30):
                await asyncio.to_thread(desktop.key, "Shift_L")
                await asyncio.sleep(0.1)
        assert told == []
        await until(lambda: told == [AwayCause.IDLE])
    finally:
        presence.stop()


def shown(panel: Panel) -> str:
    """The texts of the menu, in JavaScript."""
    return f"__lab.shown({panel.button}.menu.actor).filter(a => a.constructor.name === 'St_Label').map(a => a.text)"


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE):
        while not condition():
            await asyncio.sleep(0.01)
