"""Away and back, as logind, the lock screen and the idle monitor tell it: the real service on buses of its own."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from antidrift.bus.presence import DesktopPresence
from antidrift.bus.presence_claims import Claims
from antidrift.domain.model import AwayCause
from standins.standin import StandIn
from support.desktop import DEADLINE, FakeLogind, FakeMutter, FakeProgram, FakeScreenSaver, FakeScreenShield
from support.fakes import FakePresence
from support.private_bus import PrivateBus
from support.service import NO_BUS, Client, State
from support.time_machine import TimeMachine

REPORTS = 'sensor.reporters = ["any"]'
SLACK = {"class": ("s", "Slack"), "title": ("s", "#random")}
CODE = {"class": ("s", "code"), "title": ("s", "a.py")}


@pytest.fixture
def bus() -> Iterator[PrivateBus]:
    with PrivateBus() as bus:
        yield bus


@pytest.fixture
def system_bus() -> Iterator[PrivateBus]:
    with PrivateBus() as bus:
        yield bus


@pytest.fixture
def logind(system_bus: PrivateBus) -> Iterator[FakeLogind]:
    with FakeLogind(system_bus.address) as logind:
        yield logind


@pytest.fixture
def screen(bus: PrivateBus) -> Iterator[FakeScreenSaver]:
    with FakeScreenSaver(bus.address) as screen:
        yield screen


@pytest.fixture
def mutter(bus: PrivateBus) -> Iterator[FakeMutter]:
    with FakeMutter(bus.address) as mutter:
        yield mutter


@pytest.fixture
def service(bus: PrivateBus, system_bus: PrivateBus) -> Iterator[TimeMachine]:
    """The service, which takes reports of windows from everybody."""
    with TimeMachine(bus, REPORTS, DBUS_SYSTEM_BUS_ADDRESS=system_bus.address) as service:
        yield service
        assert "ERROR" not in service.log


def begin(service: TimeMachine, secs: int = 1500) -> State:
    """Starts a session in which the editor is allowed and has the focus."""
    service.call("EnterPlanning")
    service.call("StartCommitment", "ssxas", "Write the report", "Two pages", secs, ["code"])
    service.client.call("ReportFocus", "a{sv}", CODE)
    return service.state()


def asked(program: FakeProgram, member: str) -> None:
    """Returns once the service has asked, and so heard how things stand."""
    program.wait(lambda: any(call[0] == member for call in program.calls), f"{member} was called")


def away(cause: str | None) -> Any:
    """The person is away for this reason; None: they are there."""
    return lambda s: s["away"] and (s["away"]["cause"] if s["away"]["active"] else None) == cause


def bucket(state: State, wm_class: str) -> float:
    """Seconds in the windows of this class."""
    return float(sum(b["secs"] for b in state["evidence"]["buckets"] if b["class"] == wm_class))


# Lock


def test_a_locked_screen_pauses_the_timebox_and_an_unlocked_one_resumes_it(
    screen: FakeScreenSaver, service: TimeMachine
) -> None:
    begin(service)
    asked(screen, "GetActive")
    service.pass_time(60)
    screen.lock()
    state = service.wait_for(away("lock"))
    assert (state["away"]["paused"], state["commitment"]["running"]) == (True, False)
    service.pass_time(300)
    screen.unlock()
    state = service.wait_for(away(None))
    assert state["commitment"]["running"]
    assert 1435_000 < state["commitment"]["remaining_ms"] <= 1440_000
    assert 300 <= state["away"]["total_secs"] < 305
    assert 60 <= bucket(state, "code") < 65


def test_a_screen_that_stays_locked_ends_the_session_at_the_moment_of_leaving(
    screen: FakeScreenSaver, service: TimeMachine
) -> None:
    begin(service)
    asked(screen, "GetActive")
    service.pass_time(60)
    screen.lock()
    service.wait_for(away("lock"))
    service.pass_time(601)
    state = service.wait_for(lambda s: s["runtime_state"] == "review")
    assert state["outcome"] == "interrupted"
    service.call("End")
    (record,) = json.loads(service.call("GetRecentSessions", "u", 1))
    assert 60 <= record["active_secs"] < 65
    assert record["away_secs"] == 0
    assert record["ended_at_ms"] - record["started_at_ms"] < 65_000


def test_two_programs_that_tell_of_one_lock_are_counted_once(
    screen: FakeScreenSaver, logind: FakeLogind, service: TimeMachine
) -> None:
    begin(service)
    asked(screen, "GetActive")
    logind.wait_for_inhibitor()
    screen.lock()
    service.wait_for(away("lock"))
    logind.set_locked_hint(True)
    service.pass_time(100)
    screen.unlock()
    service.pass_time(100)
    assert away("lock")(service.state())
    logind.set_locked_hint(False)
    state = service.wait_for(away(None))
    assert 200 <= state["away"]["total_secs"] < 205
    assert 1495_000 < state["commitment"]["remaining_ms"] <= 1500_000


@pytest.mark.parametrize("anonymous", [False, True])
def test_without_a_lock_screen_on_the_bus_the_real_session_of_logind_tells(
    bus: PrivateBus, system_bus: PrivateBus, anonymous: bool
) -> None:
    addresses = {"DBUS_SYSTEM_BUS_ADDRESS": system_bus.address, "XDG_SESSION_ID": FakeLogind.session_id}
    with (
        FakeLogind(system_bus.address, anonymous=anonymous) as logind,
        TimeMachine(bus, **addresses) as service,
    ):
        begin_unseen(service)
        logind.wait_for_inhibitor()
        logind.set_locked_hint(True)
        service.wait_for(away("lock"))
        logind.set_locked_hint(False)
        service.wait_for(away(None))


def begin_unseen(service: TimeMachine) -> None:
    """Starts a session of which no windows are seen."""
    service.call("EnterPlanning")
    service.call("StartCommitment", "ssxas", "Write", "Written", 1500, [])


def test_a_screen_that_is_locked_when_the_session_starts_counts(bus: PrivateBus, system_bus: PrivateBus) -> None:
    with (
        FakeLogind(system_bus.address, locked=True),
        TimeMachine(bus, DBUS_SYSTEM_BUS_ADDRESS=system_bus.address) as service,
    ):
        begin_unseen(service)
        service.wait_for(away("lock"))


def test_the_shell_is_asked_itself_where_nobody_has_started_its_lock_screen_service(
    bus: PrivateBus, service: TimeMachine
) -> None:
    with FakeScreenShield(bus.address) as shield:
        begin(service)
        asked(shield, "GetActive")
        shield.lock()
        service.wait_for(away("lock"))
        shield.unlock()
        service.wait_for(away(None))


def test_a_lock_screen_that_crashes_locks_nobody_out_and_is_asked_again_when_it_is_back(
    screen: FakeScreenSaver, service: TimeMachine
) -> None:
    begin(service)
    asked(screen, "GetActive")
    screen.lock()
    service.wait_for(away("lock"))
    screen.vanish()
    service.wait_for(away(None))
    screen.appear()
    service.wait_for(away("lock"))


def test_what_a_stranger_says_of_the_screen_counts_for_nothing(
    bus: PrivateBus, screen: FakeScreenSaver, service: TimeMachine
) -> None:
    begin(service)
    asked(screen, "GetActive")
    with FakeMutter(bus.address) as stranger:
        stranger.emit(screen.path, screen.interface, "ActiveChanged", "b", True)
    screen.emit(screen.path, screen.interface, "ActiveChanged", "s", "nonsense")
    assert away(None)(service.state())
    screen.lock()
    service.wait_for(away("lock"))


# Idle


def test_idle_is_dated_back_to_the_last_input_and_does_not_pause_the_timebox(
    mutter: FakeMutter, service: TimeMachine
) -> None:
    begin(service)
    mutter.wait_for_watch()
    assert mutter.watches == [180_000]
    service.pass_time(300)
    mutter.leave(200)
    state = service.wait_for(away("idle"))
    assert 200 <= state["away"]["total_secs"] < 205
    assert 100 <= bucket(state, "code") < 105
    assert (state["away"]["paused"], state["commitment"]["running"]) == (False, True)
    mutter.come_back()
    state = service.wait_for(away(None))
    assert 1195_000 < state["commitment"]["remaining_ms"] <= 1200_000
    service.pass_time(300)
    mutter.leave(181)
    service.wait_for(away("idle"))


def test_who_is_back_before_anybody_could_ask_was_not_away(mutter: FakeMutter, service: TimeMachine) -> None:
    begin(service)
    mutter.wait_for_watch()
    service.pass_time(300)
    mutter.leave_for_a_moment()
    asked(mutter, "GetIdletime")
    service.pass_time(300)
    mutter.come_back()
    mutter.leave(200)
    state = service.wait_for(away("idle"))
    assert 200 <= state["away"]["total_secs"] < 205
    mutter.come_back()
    service.wait_for(away(None))


def test_an_idle_monitor_that_restarts_is_given_its_watches_again(mutter: FakeMutter, service: TimeMachine) -> None:
    begin(service)
    mutter.wait_for_watch()
    service.pass_time(300)
    mutter.leave(200)
    service.wait_for(away("idle"))
    mutter.vanish()
    service.wait_for(away(None))
    mutter.appear()
    mutter.wait_for_watch()
    mutter.leave(200)
    service.wait_for(away("idle"))
    mutter.come_back()
    service.wait_for(away(None))


def test_the_idle_seconds_are_those_of_the_config_file(bus: PrivateBus, mutter: FakeMutter) -> None:
    with TimeMachine(bus, "presence.idle_secs = 45") as service:
        begin_unseen(service)
        mutter.wait_for_watch()
        assert mutter.watches == [45_000]


def test_idle_lock_and_sleep_in_one_absence_count_no_second_twice(
    mutter: FakeMutter, screen: FakeScreenSaver, logind: FakeLogind, service: TimeMachine
) -> None:
    begin(service)
    mutter.wait_for_watch()
    asked(screen, "GetActive")
    logind.wait_for_inhibitor()
    service.pass_time(300)
    mutter.leave(180)
    service.wait_for(away("idle"))
    service.pass_time(20)
    screen.lock()
    service.wait_for(away("lock"))
    service.pass_time(20)
    logind.prepare_for_sleep()
    logind.wait_for_release()
    service.sleep(200)
    logind.wake_up()
    service.pass_time(20)
    mutter.come_back()
    screen.unlock()
    state = service.wait_for(away(None))
    assert 440 <= state["away"]["total_secs"] < 446
    assert 120 <= bucket(state, "code") < 126
    assert 1174_000 < state["commitment"]["remaining_ms"] <= 1180_000  # 300 and 20 seconds have run, 240 were paused


# Sleep


def test_a_short_sleep_resumes_quietly_even_if_the_timer_wakes_before_logind_speaks(
    logind: FakeLogind, service: TimeMachine
) -> None:
    begin(service, secs=120)
    logind.wait_for_inhibitor()
    logind.prepare_for_sleep()
    state = service.wait_for(away("sleep"))
    assert not state["commitment"]["running"]
    logind.wait_for_release()
    service.sleep(400)
    state = service.state()
    assert state["runtime_state"] == "active"
    logind.wake_up()
    logind.wait_for_inhibitor()
    state = service.wait_for(away(None))
    assert 110_000 < state["commitment"]["remaining_ms"] <= 120_000
    assert 400 <= state["away"]["total_secs"] < 405


def test_who_was_idle_for_a_while_when_the_machine_went_to_sleep_is_away_since_the_last_input(
    mutter: FakeMutter, logind: FakeLogind, service: TimeMachine
) -> None:
    begin(service)
    mutter.wait_for_watch()
    logind.wait_for_inhibitor()
    service.pass_time(300)
    mutter.leave(100)
    logind.prepare_for_sleep()
    logind.wait_for_release()
    assert 300 <= bucket(service.state(), "code") < 305
    service.sleep(90)
    mutter.come_back()
    logind.wake_up()
    state = service.wait_for(away(None))
    assert 190 <= state["away"]["total_secs"] < 195
    assert 200 <= bucket(state, "code") < 205
    assert 1195_000 < state["commitment"]["remaining_ms"] <= 1200_000  # only sleep pauses


def test_a_shell_that_hangs_keeps_nobody_from_sleeping(
    mutter: FakeMutter, logind: FakeLogind, service: TimeMachine
) -> None:
    begin(service)
    mutter.wait_for_watch()
    logind.wait_for_inhibitor()
    mutter.hangs_at = "GetIdletime"
    logind.prepare_for_sleep()
    logind.wait_for_release()
    assert away("sleep")(service.state())


@pytest.mark.parametrize("told", [True, False])
def test_a_night_is_no_work_whether_or_not_somebody_tells_of_it(
    logind: FakeLogind, service: TimeMachine, told: bool
) -> None:
    begin(service)
    logind.wait_for_inhibitor()
    service.pass_time(600)
    if told:
        logind.prepare_for_sleep()
        logind.wait_for_release()
    service.sleep(8 * 3600)
    state = service.wait_for(lambda s: s["runtime_state"] == "review")
    assert state["outcome"] == "interrupted"
    assert 600 <= bucket(state, "code") < 605
    assert state["away"]["total_secs"] < 1


def test_what_was_seen_is_on_disk_before_sleep_is_no_longer_delayed(logind: FakeLogind, service: TimeMachine) -> None:
    begin(service)
    logind.wait_for_inhibitor()
    service.wait_for(lambda s: bucket(s, "code") >= 0.3)
    # From this moment on the machine may be without power.
    logind.on_release = lambda: os.kill(service.pid, signal.SIGKILL)
    logind.prepare_for_sleep()
    service.wait()
    logind.wait_for_release()
    service.start()
    assert bucket(service.state(), "code") >= 0.3


def test_sleep_is_delayed_only_while_a_session_runs_and_again_after_every_sleep(
    logind: FakeLogind, service: TimeMachine
) -> None:
    service.call("EnterPlanning")
    assert logind.calls == []
    service.call("CancelPlanning")
    begin(service)
    for _ in range(3):
        logind.wait_for_inhibitor()
        assert logind.inhibitors == 1
        logind.prepare_for_sleep()
        logind.wait_for_release()
        logind.wake_up()
    logind.wait_for_inhibitor()
    service.call("Complete")
    logind.wait_for_release()
    service.call("End")
    begin(service)
    logind.wait_for_inhibitor()
    service.stop()
    logind.wait_for_release()
    assert ("Inhibit", "sleep", "AntiDrift", "The running session is being saved", "delay") in logind.calls


def test_a_logind_that_allows_no_delay_tells_of_sleep_all_the_same(bus: PrivateBus, system_bus: PrivateBus) -> None:
    with (
        FakeLogind(system_bus.address, stingy=True) as logind,
        TimeMachine(bus, DBUS_SYSTEM_BUS_ADDRESS=system_bus.address) as service,
    ):
        begin_unseen(service)
        asked(logind, "Inhibit")
        logind.prepare_for_sleep()
        service.wait_for(away("sleep"))
        logind.wake_up()
        service.wait_for(away(None))


def test_a_logind_that_restarts_is_asked_for_everything_again(logind: FakeLogind, service: TimeMachine) -> None:
    begin(service)
    logind.wait_for_inhibitor()
    logind.prepare_for_sleep()
    service.wait_for(away("sleep"))
    logind.vanish()
    service.wait_for(away(None))
    logind.preparing, logind.locked = False, True
    logind.appear()
    service.wait_for(away("lock"))
    logind.wait_for_inhibitor()
    logind.set_locked_hint(False)
    service.wait_for(away(None))
    logind.vanish()
    logind.appear()
    logind.wait_for_inhibitor()


# What an absence does


def test_an_interrupt_is_withdrawn_when_the_person_leaves_and_nobody_is_judged_before_they_are_back(
    bus: PrivateBus, screen: FakeScreenSaver, tmp_path: Path
) -> None:
    claude = StandIn("claude", tmp_path / "bin")
    claude.plays(verdicts={"#random": False, "#more": False})
    path = f"{tmp_path / 'bin'}:/usr/bin:/bin"
    with TimeMachine(bus, REPORTS, ANTIDRIFT_AI_BACKEND="claude", PATH=path) as service:
        begin(service)
        asked(screen, "GetActive")
        service.client.call("ReportFocus", "a{sv}", SLACK)
        service.pass_time(11)
        service.wait_for(lambda s: s["drift"]["status"] == "drifting")
        service.pass_time(9)
        service.wait_for(lambda s: s["drift"]["interrupt"])

        screen.lock()
        state = service.wait_for(away("lock"))
        assert not state["drift"]["interrupt"]
        assert state["drift"]["status"] == "idle"
        calls = len(claude.calls())
        service.client.call("ReportFocus", "a{sv}", {"class": ("s", "Other"), "title": ("s", "#more")})
        service.pass_time(60)
        assert service.state()["drift"]["status"] == "idle"
        assert len(claude.calls()) == calls

        screen.unlock()
        service.wait_for(away(None))
        service.pass_time(11)
        service.wait_for(lambda s: s["drift"]["status"] == "drifting")


def test_a_screen_unlocked_between_two_sessions_is_not_locked_in_the_second(
    screen: FakeScreenSaver, service: TimeMachine
) -> None:
    begin(service)
    asked(screen, "GetActive")
    screen.lock()
    service.wait_for(away("lock"))
    service.pass_time(700)
    service.wait_for(lambda s: s["outcome"] == "interrupted")
    service.call("End")
    screen.unlock()
    state = begin(service)
    assert (state["away"]["active"], state["commitment"]["running"]) == (False, True)


def test_a_session_that_ends_leaves_nothing_on_either_bus(
    bus: PrivateBus, system_bus: PrivateBus, mutter: FakeMutter, logind: FakeLogind, service: TimeMachine
) -> None:
    with Client(bus.address) as here, Client(system_bus.address) as there:

        def connections() -> list[set[str]]:
            return [{str(n) for n in c.connection.list_names()} for c in (here, there)]

        before = connections()
        begin(service)
        mutter.wait_for_watch()
        logind.wait_for_inhibitor()
        assert [len(now - then) for now, then in zip(connections(), before, strict=True)] == [1, 1]
        service.call("Complete")
        mutter.wait(lambda: connections() == before, "the connections are closed")


def test_a_machine_without_any_of_them_is_no_error(bus: PrivateBus) -> None:
    with TimeMachine(bus) as service:
        for _ in range(2):
            begin_unseen(service)
            service.call("Complete")
            service.call("End")
        service.stop()
        assert service.log.count("without the system bus") == 1
        warnings = {line for line in service.log.splitlines() if "WARNING" in line or "ERROR" in line}
        assert warnings == {"antidriftd: WARNING: Window sensor: There is no X display to watch."}


def test_a_system_bus_that_is_lost_takes_nothing_else_along(
    system_bus: PrivateBus, logind: FakeLogind, screen: FakeScreenSaver, service: TimeMachine
) -> None:
    begin(service)
    asked(screen, "GetActive")
    logind.wait_for_inhibitor()
    logind.set_locked_hint(True)
    service.wait_for(away("lock"))
    system_bus.kill()
    service.wait_for(away(None))
    screen.lock()
    service.wait_for(away("lock"))


# The stand-in for the idle monitor


@dataclass
class Heard:
    """What a presence source has told."""

    told: list[tuple[str, AwayCause]] = field(default_factory=list)

    def away(self, cause: AwayCause, ago: float) -> None:
        self.told.append((f"away for {ago:g}", cause))

    def back(self, cause: AwayCause) -> None:
        self.told.append(("back", cause))


def test_of_several_claims_the_first_and_the_last_are_told_of_and_none_once_they_are_closed() -> None:
    heard = Heard()
    claims = Claims(heard.away, heard.back)
    first, second, other = (claims.claim(cause) for cause in (AwayCause.LOCK, AwayCause.LOCK, AwayCause.IDLE))
    for claim in (first, first, second, other):
        claim.away(3)
    for claim in (first, first, other, second):
        claim.back()
    assert heard.told == [
        ("away for 3", AwayCause.LOCK),
        ("away for 3", AwayCause.IDLE),
        ("back", AwayCause.IDLE),
        ("back", AwayCause.LOCK),
    ]
    first.away()
    claims.close()
    first.back()
    other.away()
    assert len(heard.told) == 5


async def until(condition: Any) -> None:
    async with asyncio.timeout(DEADLINE):
        while not condition():
            await asyncio.sleep(0.002)


async def test_the_fallback_tells_of_idle_for_as_long_as_the_monitor_does_not(
    bus: PrivateBus, mutter: FakeMutter
) -> None:
    mutter.vanish()
    fallback, heard = FakePresence(), Heard()
    presence = DesktopPresence(bus.address, NO_BUS, idle_secs=60, fallback=fallback)
    presence.start(heard.away, heard.back)
    await until(lambda: fallback.watching)
    fallback.leave(AwayCause.IDLE, 61.0)
    mutter.appear()
    await until(lambda: mutter.watches)
    await until(lambda: not fallback.watching)
    mutter.leave(70)
    await until(lambda: len(heard.told) == 3)
    mutter.vanish()
    await until(lambda: fallback.watching)
    presence.stop()
    assert not fallback.watching
    idle = AwayCause.IDLE
    assert heard.told == [("away for 61", idle), ("back", idle), ("away for 70", idle), ("back", idle)]


async def test_nothing_is_told_after_stopping(bus: PrivateBus, screen: FakeScreenSaver) -> None:
    screen.locked = True
    heard = Heard()
    presence = DesktopPresence(bus.address, NO_BUS, idle_secs=60)
    presence.start(heard.away, heard.back)
    await until(lambda: heard.told)
    presence.stop()
    screen.unlock()
    presence.start(heard.away, heard.back)
    await until(lambda: len(screen.calls) == 2)
    presence.stop()
    assert heard.told == [("away for 0", AwayCause.LOCK)]
