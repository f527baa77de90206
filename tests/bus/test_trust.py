"""Who may do what, and what leaves the machine, with nothing between: the real service on a bus of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from antidrift.bus.names import ERROR_PREFIX
from standins.standin import StandIn
from support.monitor import Monitor, states
from support.private_bus import PrivateBus
from support.service import PACKAGES, Client, Service
from support.x_server import XServer

WATCH = Path(__file__).parents[1] / "standins" / "network_watch"
TITLE = "Zebra crossings — Mozilla Firefox"


@pytest.fixture
def bus() -> Iterator[PrivateBus]:
    with PrivateBus() as bus:
        yield bus


def report(client: Client, title: str) -> None:
    client.call("ReportFocus", "a{sv}", {"class": ("s", "firefox"), "title": ("s", title)})


def a_session(service: Service) -> None:
    """From one end to the other, with an intent that nobody sharpens."""
    service.call("EnterPlanning")
    service.call("RequestCoach", "s", "the report")
    service.wait_for(lambda state: state["coach"]["status"] != "pending")
    service.call("StartCommitment", "ssxas", "Write", "Written", 1500, ["code"])
    service.wait_for(lambda state: state["evidence"]["window"] is not None)
    service.call("Complete")
    service.call("End")


class Watched(Service):
    """A `Service` that notes whom it connects to and what it starts."""

    def __init__(self, bus: PrivateBus, **environment: str) -> None:
        super().__init__(bus, **environment)
        self._notes = self.home / "network"
        self._environment["PYTHONPATH"] = f"{WATCH}:{PACKAGES}"
        self._environment["NETWORK_WATCH"] = str(self._notes)

    def notes(self) -> list[tuple[str, str]]:
        """What it did, and with what, in order."""
        lines = self._notes.read_text().splitlines()
        return [(event, about) for event, _, about in (line.partition(" ") for line in lines)]


def test_without_an_ai_a_whole_session_speaks_to_sockets_of_this_machine_and_starts_uname_alone(
    bus: PrivateBus, tmp_path: Path
) -> None:
    with XServer() as x, Watched(bus, DISPLAY=x.display) as service:
        x.open_window(TITLE, ("Navigator", "firefox")).focus()
        a_session(service)
        service.stop()
        notes = service.notes()
    # python-xlib asks on what system it runs.
    assert {note for note in notes if note[0] != "socket.connect"} == {("subprocess.Popen", "'uname'")}
    peers = {about for event, about in notes if event == "socket.connect"}
    assert any(str(bus.folder) in peer for peer in peers), "a check of the test: the bus is seen"
    assert any(".X11-unix" in peer for peer in peers), "and the X server"
    # The address of a socket in the file system or in the abstract namespace is a text; that of a network is a tuple.
    assert [peer for peer in peers if peer.startswith("(")] == []


def test_with_an_ai_the_service_itself_speaks_to_nobody_else_and_starts_that_program_alone(
    bus: PrivateBus, tmp_path: Path
) -> None:
    ai = StandIn("claude", tmp_path / "bin")
    path = f"{ai.program.parent}:{os.environ['PATH']}"
    with Watched(bus, ANTIDRIFT_AI_BACKEND="claude", PATH=path) as service:
        service.call("EnterPlanning")
        service.call("RequestCoach", "s", "the report")
        service.wait_for(lambda state: state["coach"]["status"] == "ready")
        service.stop()
        notes = service.notes()
    started = [about for event, about in notes if event != "socket.connect"]
    assert started, "a check of the test: the program is seen"
    assert {about for about in started if str(ai.program) not in about} == set()
    assert [about for event, about in notes if event == "socket.connect" and about.startswith("(")] == []


def test_every_program_of_the_person_hears_the_titles(bus: PrivateBus) -> None:
    """What a session bus is, stated so that nobody relies on more."""
    with Service(bus) as service, Monitor(bus) as anybody, Client(bus.address) as shell:
        shell.own("org.gnome.Shell")
        service.call("EnterPlanning")
        service.call("StartCommitment", "ssxas", "Write", "Written", 1500, [])
        report(shell, TITLE)
        service.wait_for(lambda state: state["evidence"]["window"] is not None)
        service.call("Complete")
        heard = states(anybody.news())
    windows = [state["evidence"]["window"] for state in heard if state["evidence"]]
    assert TITLE in {window["title"] for window in windows if window}


def test_a_bus_name_that_the_config_file_lists_may_report_and_no_other(bus: PrivateBus, tmp_path: Path) -> None:
    (tmp_path / "antidrift").mkdir()
    (tmp_path / "antidrift" / "config.toml").write_text('sensor.reporters = ["org.example.Watcher"]\n')
    with Service(bus, tmp_path) as service, Client(bus.address) as watcher, Client(bus.address) as stranger:
        watcher.own("org.example.Watcher")
        stranger.own("org.example.Stranger")
        service.call("EnterPlanning")
        service.call("StartCommitment", "ssxas", "Write", "Written", 1500, [])
        report(watcher, TITLE)
        refused, _ = stranger.refusal("ReportFocus", "a{sv}", {"class": ("s", "x"), "title": ("s", "y")})
        assert refused == f"{ERROR_PREFIX}AccessDenied"
        assert service.state()["evidence"]["window"]["title"] == TITLE
