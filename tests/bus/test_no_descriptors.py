"""The service as a process that may open nothing more (EMFILE): what needs to says so, and works afterwards."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from antidrift.backends.environment import private_folder
from standins.standin import StandIn
from support.broken_disks import no_more_descriptors, set_descriptors
from support.desktop import FakeLogind
from support.private_bus import PrivateBus
from support.service import DEADLINE, PACKAGES, Service
from support.x_server import XServer

INHIBIT = ("Inhibit", "sleep", "AntiDrift", "The running session is being saved", "delay")
FIRST_WATCH = """
import asyncio, resource
from antidrift.sensors.x11 import X11Sensor

async def main():
    reports = asyncio.Queue()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
    sensor = X11Sensor()
    sensor.start(lambda window: None, lambda health, fault: reports.put_nowait(health))
    print(await reports.get())
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    print(await reports.get())
    sensor.stop()

asyncio.run(main())
"""


@contextmanager
def without_descriptors(pid: int) -> Iterator[None]:
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    no_more_descriptors(pid)
    try:
        yield
    finally:
        set_descriptors(pid, before)


def test_an_ai_is_not_asked_and_the_next_question_is_answered(tmp_path: Path) -> None:
    claude = StandIn("claude", tmp_path / "bin")
    path = f"{tmp_path / 'bin'}:/usr/bin:/bin"
    with PrivateBus() as bus, Service(bus, PATH=path, ANTIDRIFT_AI_BACKEND="claude") as service:
        service.call("EnterPlanning")
        for is_first in (True, False):  # the first time not even the modules can be read that ask it
            with without_descriptors(service.pid):
                service.call("RequestCoach", "s", "Write the report")
                coach = service.wait_for(lambda state: state["coach"]["status"] == "error")["coach"]
                assert "too many open files" in coach["error"]["message"].lower()
            service.call("RequestCoach", "s", "Write the report")
            service.wait_for(lambda state: state["coach"]["status"] == "ready")
            assert len(claude.calls()) == (1 if is_first else 2)
        service.stop()
        assert service.log.count("The roles of the AI cannot be loaded: too many open files.") == 1
        assert service.log.count("the roles of the AI are loaded") == 1


def test_the_folder_of_a_call_that_could_not_be_made_does_not_stay() -> None:
    with without_descriptors(os.getpid()), private_folder() as folder:
        pass
    assert not folder.exists()


def test_an_x_server_that_restarts_is_seen_again_as_soon_as_there_are_descriptors() -> None:
    with XServer() as x_server, PrivateBus() as bus, Service(bus, DISPLAY=x_server.display) as service:
        service.call("EnterPlanning")
        service.call("StartCommitment", "ssxas", "Write the report", "Two pages", 1500, ["code"])
        x_server.open_window("a.py", ("code", "code")).focus()
        service.wait_for(lambda state: (state["evidence"]["window"] or {}).get("class") == "code")
        with without_descriptors(service.pid):
            x_server.kill()
            service.wait_for(lambda state: state["evidence"]["health"] == "absent")
            x_server.start()
            x_server.open_window("#random", ("slack", "Slack")).focus()
        service.wait_for(lambda state: (state["evidence"]["window"] or {}).get("class") == "Slack")
        service.stop()
        assert service.log.count("The X server cannot be reached") == 2  # when it began, and when it was over


def test_a_sensor_that_cannot_even_be_imported_begins_when_it_can() -> None:
    with XServer() as x_server:
        done = subprocess.run(
            [sys.executable, "-c", FIRST_WATCH],
            env={**os.environ, "PYTHONPATH": str(PACKAGES), "DISPLAY": x_server.display},
            capture_output=True,
            text=True,
            timeout=2 * DEADLINE,
            check=False,
        )
    assert done.stdout.split() == ["absent", "ok"], done.stderr


def test_a_delay_of_sleep_that_cannot_be_held_is_held_again_after_the_next_sleep() -> None:
    with (
        PrivateBus() as bus,
        PrivateBus() as system_bus,
        FakeLogind(system_bus.address) as logind,
        Service(bus, DBUS_SYSTEM_BUS_ADDRESS=system_bus.address) as service,
    ):
        service.call("EnterPlanning")
        service.call("StartCommitment", "ssxas", "Write the report", "Two pages", 1500, ["code"])
        logind.wait_for_inhibitor()
        with without_descriptors(service.pid):
            sleep_and_wake(service, logind)
            logind.wait(lambda: logind.calls.count(INHIBIT) == 2, "sleep is to be delayed again")
            for locked in (True, False):  # what is heard of this comes behind the answer to that
                logind.set_locked_hint(locked)
                service.wait_for(lambda state, locked=locked: state["away"]["active"] is locked)
        sleep_and_wake(service, logind)
        logind.wait_for_inhibitor()
        assert "following absences" not in service.log
        assert "Traceback" not in service.log


def sleep_and_wake(service: Service, logind: FakeLogind) -> None:
    logind.prepare_for_sleep()
    service.wait_for(lambda state: state["away"]["cause"] == "sleep")
    logind.wake_up()
    service.wait_for(lambda state: state["away"]["cause"] is None)
