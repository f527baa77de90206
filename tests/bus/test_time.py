"""Countdown and buckets of the real service, while clocks are set, timeboxes moved, and a day goes by in an instant."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from support.desktop import FakeScreenSaver
from support.private_bus import PrivateBus
from support.service import State
from support.time_machine import TimeMachine

REPORTS = 'sensor.reporters = ["any"]\n'
CODE = {"class": ("s", "code"), "title": ("s", "a.py")}
SLACK = {"class": ("s", "Slack"), "title": ("s", "#random")}
DAY = 24 * 3600
ANTIDRIFT = [sys.executable, "-c", "import sys; from antidrift.cli import main; sys.exit(main())"]


@pytest.fixture
def bus() -> Iterator[PrivateBus]:
    with PrivateBus() as bus:
        yield bus


@pytest.fixture
def service(bus: PrivateBus) -> Iterator[TimeMachine]:
    with TimeMachine(bus, REPORTS) as service:
        yield service
        assert "ERROR" not in service.log


def begin(service: TimeMachine, secs: int = 1500) -> None:
    service.call("EnterPlanning")
    service.call("StartCommitment", "ssxas", "Write the report", "Two pages", secs, ["code"])
    service.client.call("ReportFocus", "a{sv}", CODE)


def spent(state: State) -> dict[str, int]:
    """Seconds by class."""
    return {bucket["class"]: bucket["secs"] for bucket in state["evidence"]["buckets"]}


def says(service: TimeMachine, *arguments: str) -> str:
    """What `antidrift` prints, when it ends well."""
    command = [*ANTIDRIFT, *arguments]
    return subprocess.run(command, env=service.environment, capture_output=True, text=True, check=True).stdout


# The wall clock


def test_setting_the_wall_clock_moves_neither_the_countdown_nor_the_buckets_nor_the_record(
    service: TimeMachine,
) -> None:
    """An hour, as daylight saving time does, and a day; then to 1970, as an empty battery does, and beyond 2038."""
    ahead = 0.0  # of the clock on the wall of the machine that runs this test
    for by in (3600, -3600, DAY, -DAY, None, 2**31 + 60):
        begin(service)
        service.pass_time(300)
        to_1970 = -(time.time() + ahead + 300)
        service.set_wall_clock(to_1970 if by is None else by)
        ahead += 600 + (to_1970 if by is None else by)
        state = service.state()
        assert 1195_000 < state["commitment"]["remaining_ms"] <= 1200_000
        assert 300 <= spent(state)["code"] < 305
        service.pass_time(300)
        state = service.state()
        assert (state["runtime_state"], state["away"]["total_secs"]) == ("active", 0)
        assert 895_000 < state["commitment"]["remaining_ms"] <= 900_000
        assert 600 <= spent(state)["code"] < 605
        assert state["commitment"]["deadline_ms"] - state["commitment"]["started_at_ms"] == 1500_000
        service.client.call("Complete")
        service.client.call("End")
        (record,) = json.loads(service.client.call("GetRecentSessions", "u", 1))
        assert 600 <= record["active_secs"] < 605
        assert abs((record["ended_at_ms"] - record["started_at_ms"]) / 1000 - record["active_secs"]) <= 1
        assert (
            record["started_at_ms"] == 0 if by is None else abs(record["ended_at_ms"] / 1000 - time.time() - ahead) < 20
        )
    assert "6 lines in " in says(service, "audit", "verify")


def test_the_deadline_is_the_same_millisecond_whenever_it_is_told(service: TimeMachine) -> None:
    begin(service)
    seen = [service.state()["commitment"] for _ in range(200)]
    assert len({(commitment["started_at_ms"], commitment["deadline_ms"]) for commitment in seen}) == 1


def test_a_session_over_midnight_and_into_another_day_is_one_session(service: TimeMachine) -> None:
    begin(service, secs=3 * 3600)
    to_midnight = DAY - time.time() % DAY
    service.set_wall_clock(to_midnight - 1)
    service.pass_time(3600)
    state = service.state()
    assert (
        state["commitment"]["deadline_ms"] // (DAY * 1000) == (state["commitment"]["started_at_ms"] // (DAY * 1000)) + 1
    )
    assert 7195_000 < state["commitment"]["remaining_ms"] <= 7200_000
    assert 3600 <= spent(state)["code"] < 3605


# The timebox


def test_a_timebox_shortened_below_what_has_passed_is_refused_and_what_is_left_is_never_negative(
    service: TimeMachine,
) -> None:
    begin(service)
    service.call("Extend", "x", 600)
    service.pass_time(900)
    before = service.state()["commitment"]["deadline_ms"]
    for secs in (-2100, -1250, -(2**63)):
        name, message = service.refusal("Extend", "x", secs)
        assert name == "org.antidrift.Error.InvalidArgument"
        assert str(secs) in message
    state = service.state()
    assert state["commitment"]["deadline_ms"] == before
    assert 1195_000 < state["commitment"]["remaining_ms"] <= 1200_000
    service.call("Extend", "x", -1100)
    assert 95_000 < service.state()["commitment"]["remaining_ms"] <= 100_000
    service.pass_time(101)
    state = service.wait_for(lambda s: s["runtime_state"] == "review")
    assert (state["outcome"], state["commitment"]["remaining_ms"]) == ("expired", 0)
    assert 1000 <= spent(state)["code"] <= 1001


def test_time_that_leaps_over_the_deadline_counts_only_up_to_it(service: TimeMachine) -> None:
    begin(service)
    service.pass_time(5000)
    state = service.wait_for(lambda s: s["runtime_state"] == "review")
    assert state["outcome"] == "expired"
    assert 1499 <= spent(state)["code"] + state["away"]["total_secs"] <= 1501


# Absences


def test_how_long_a_pause_may_last_is_the_persons_choice(bus: PrivateBus) -> None:
    with (
        FakeScreenSaver(bus.address) as screen,
        TimeMachine(bus, f"{REPORTS}[presence]\ninterrupted_after_secs = 60\n") as service,
    ):
        begin(service)
        screen.wait(lambda: ("GetActive",) in screen.calls, "the service has asked about the screen")
        service.pass_time(100)
        screen.lock()
        service.wait_for(lambda s: s["away"]["active"])
        service.pass_time(55)
        screen.unlock()
        state = service.wait_for(lambda s: not s["away"]["active"])
        assert state["runtime_state"] == "active"
        screen.lock()
        service.wait_for(lambda s: s["away"]["active"])
        service.pass_time(61)
        state = service.wait_for(lambda s: s["runtime_state"] == "review")
        assert state["outcome"] == "interrupted"
        assert 100 <= spent(state)["code"] < 105


def test_status_and_watch_tell_of_an_absence_and_afterwards_how_long_it_was(bus: PrivateBus) -> None:
    with FakeScreenSaver(bus.address) as screen, TimeMachine(bus, REPORTS) as service:
        begin(service)
        screen.wait(lambda: ("GetActive",) in screen.calls, "the service has asked about the screen")
        service.pass_time(300)
        watch: subprocess.Popen[str] = subprocess.Popen(
            [*ANTIDRIFT, "watch"], env=service.environment, stdout=subprocess.PIPE, text=True
        )
        assert watch.stdout is not None
        try:
            assert " left of 25 min  Write the report" in watch.stdout.readline()
            screen.lock()
            service.wait_for(lambda s: s["away"]["active"])
            assert ": screen locked; the time waits." in says(service, "status")
            line = watch.stdout.readline()
            assert ": screen locked; the time waits." in line
            assert ", paused  Write the report" in line
            service.pass_time(240)
            screen.unlock()
            service.wait_for(lambda s: not s["away"]["active"])
            assert "Away for 4 min so far." in watch.stdout.readline()
            status = says(service, "status")
            assert "Away for 4 min so far." in status
            assert any(
                line.split()[0] == "4" and line.endswith(" away") for line in status.splitlines() if line.strip()
            )
        finally:
            watch.kill()
            watch.wait()
            watch.stdout.close()


# What adds up


def test_a_long_day_of_jittering_windows_adds_up_to_the_second(service: TimeMachine) -> None:
    begin(service, secs=DAY)
    started = time.monotonic()
    for n in range(60):
        service.client.call("ReportFocus", "a{sv}", (CODE, SLACK)[n % 2])
        service.pass_time(450.15 + n % 7 / 10)
    state = service.state()
    passed = sum(450.15 + n % 7 / 10 for n in range(60))
    assert (
        passed - 1
        <= sum(spent(state).values()) + state["away"]["total_secs"]
        <= passed + 1 + time.monotonic() - started
    )
