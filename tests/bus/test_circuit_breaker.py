"""An AI that keeps failing, through the front door: how often it is started, and what a person is told meanwhile."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from standins.standin import StandIn
from support.private_bus import PrivateBus
from support.service import DEADLINE, PACKAGES, State
from support.time_machine import TimeMachine

MINUTE = 60.0
DEBOUNCE = 11.0


class Desk:
    """A session of a person whose `claude` fails, and who goes from one unknown page to the next."""

    def __init__(self, service: TimeMachine, claude: StandIn) -> None:
        self.service = service
        self.claude = claude
        self.leapt = 0.0
        self._pages = 0

    def look_elsewhere(self) -> None:
        self._pages += 1
        page = {"class": ("s", "firefox"), "title": ("s", f"page {self._pages} — Mozilla Firefox")}
        self.service.client.call("ReportFocus", "a{sv}", page)

    def pass_time(self, secs: float) -> None:
        self.leapt += secs
        self.service.pass_time(secs)

    def wait_left(self, state: State) -> float:
        """Seconds until the AI is tried again."""
        return float(state["ai"]["retry_at_ms"]) / 1000 - time.time() - self.leapt

    def asked(self) -> int:
        return len(self.claude.calls())


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    claude = StandIn("claude", tmp_path / "bin").plays(fault="server_error")
    path = f"{tmp_path / 'bin'}:/usr/bin:/bin"
    config = 'sensor.reporters = ["any"]'
    with PrivateBus() as bus, TimeMachine(bus, config, PATH=path, ANTIDRIFT_AI_BACKEND="claude") as service:
        service.call("EnterPlanning")
        service.call("StartCommitment", "ssxas", "Write the report", "Two pages", 12 * 3600, ["code"])
        yield Desk(service, claude)


def test_three_failures_in_a_row_stop_the_asking_and_each_failed_try_doubles_the_wait_until_one_works(
    desk: Desk,
) -> None:
    service = desk.service
    for times in range(1, 4):
        desk.look_elsewhere()
        service.wait_for(lambda _, times=times: desk.asked() == times)
        service.wait_for(lambda state: state["ai"]["error"] and state["drift"]["status"] == "idle")
        desk.pass_time(DEBOUNCE)

    told = service.wait_for(lambda state: state["ai"]["retry_at_ms"] is not None)
    for number, minutes in enumerate((5, 10, 20, 40, 60, 60)):
        left = desk.wait_left(told) + (DEBOUNCE if number == 0 else 0)
        assert minutes * MINUTE - DEADLINE < left < minutes * MINUTE + 1
        desk.look_elsewhere()
        desk.pass_time(desk.wait_left(told) - DEADLINE)
        assert service.state()["drift"]["status"] == "idle"
        assert desk.asked() == 3 + number
        if minutes == 60:
            desk.claude.plays()
        desk.pass_time(DEADLINE)
        service.wait_for(lambda _, number=number: desk.asked() == 4 + number)
        if minutes == 60:
            break
        before = told["ai"]["retry_at_ms"]
        told = service.wait_for(lambda state, before=before: state["ai"]["retry_at_ms"] not in (None, before))

    state = service.wait_for(lambda state: state["drift"]["status"] == "ontask")
    assert (state["ai"]["error"], state["ai"]["retry_at_ms"]) == (None, None)
    service.stop()  # so that all that it said is in the log
    said = [line for line in service.log.splitlines() if "drift_judge" in line]
    assert [re.sub(r"failed .* after .*|ok after .*", "", line) for line in said] == [
        "antidriftd: WARNING: drift_judge: ",
        "antidriftd: INFO: drift_judge: ",
    ]


def test_a_person_reads_what_is_wrong_and_when_it_is_tried_again(desk: Desk) -> None:
    service = desk.service
    for _ in range(3):
        desk.look_elsewhere()
        service.wait_for(lambda state: state["ai"]["error"] and state["drift"]["status"] == "idle")
        desk.pass_time(DEBOUNCE)
    state = service.wait_for(lambda state: state["ai"]["retry_at_ms"] is not None)
    assert state["ai"]["error"]["code"] == "failed"
    again = datetime.fromtimestamp(state["ai"]["retry_at_ms"] / 1000).astimezone()
    said = subprocess.run(
        [sys.executable, "-c", "from antidrift.cli import main; main(['status'])"],
        env={**service.environment, "LC_ALL": "C.UTF-8", "PYTHONPATH": str(PACKAGES)},
        capture_output=True,
        encoding="utf-8",
        timeout=DEADLINE,
        check=True,
    )
    assert f"{state['ai']['error']['message']} It is asked again from {again:%H:%M} on." in " ".join(
        said.stdout.split()
    )
