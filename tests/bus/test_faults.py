"""What breaks around the service: the buses, the desktop, the disk, and what the person wrote into the config file."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from antidrift.bus import presence
from antidrift.bus.presence import DesktopPresence
from antidrift.config import MAX_FILE_BYTES
from antidrift.domain.model import AwayCause
from support.desktop import DEADLINE, FakeLogind, FakeMutter, FakeScreenShield
from support.private_bus import PrivateBus
from support.service import Client, Service, State
from support.time_machine import TimeMachine
from support.x_server import XServer

CODE = {"class": ("s", "code"), "title": ("s", "a.py")}
SHELL = "org.gnome.Shell"
STORE_FAILED = "org.antidrift.Error.StoreFailed"
ANTIDRIFT = [sys.executable, "-c", "import sys; from antidrift.cli import main; sys.exit(main())"]


@pytest.fixture
def bus() -> Iterator[PrivateBus]:
    with PrivateBus() as bus:
        yield bus


def begin(service: Service) -> State:
    service.call("EnterPlanning")
    service.call("StartCommitment", "ssxas", "Write the report", "Two pages", 1500, ["code"])
    return service.state()


def away(state: State) -> str | None:
    cause: str | None = state["away"]["cause"]
    return cause


def doctor(service: Service) -> dict[str, tuple[str, str]]:
    """What is found, by the name of the check."""
    done = subprocess.run(
        [*ANTIDRIFT, "doctor", "--json"],
        env=service.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return {finding["check"]: (finding["level"], finding["message"]) for finding in json.loads(done.stdout)["findings"]}


# The buses


def test_a_bus_that_restarts_ends_the_service_with_an_error_and_the_next_one_goes_on_with_the_session() -> None:
    """Status 1 is what `Restart=on-failure` of the unit is for; without systemd, the next call starts it."""
    with PrivateBus() as bus, Service(bus) as first:
        before = begin(first)
        first.wait_for(lambda state: sum(bucket["secs"] for bucket in state["evidence"]["buckets"]) >= 1)
        bus.kill()
        assert first.wait() == 1
        assert first.log.endswith("antidriftd: ERROR: the bus has ended the connection\n")
        assert "Traceback" not in first.log
        bus.start()
        with Service(bus, home=first.home) as second:
            state = second.state()
            assert state["runtime_state"] == "active"
            assert state["commitment"]["id"] == before["commitment"]["id"]
            for key in ("started_at_ms", "deadline_ms"):
                # Each process reads for itself how far the clocks are apart, in whole milliseconds.
                assert abs(state["commitment"][key] - before["commitment"][key]) <= 2
            assert sum(bucket["secs"] for bucket in state["evidence"]["buckets"]) >= 1
            second.call("Complete")
            second.call("End")


def test_without_a_bus_the_service_says_so_and_exits_1(bus: PrivateBus, tmp_path: Path) -> None:
    service = Service(bus, home=tmp_path)
    bus.kill()
    done = subprocess.run(
        [sys.executable, "-m", "antidrift"],
        env=service.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("antidriftd: ERROR: no bus can be reached at unix:path=")
    assert done.stderr.count("\n") == 1


def test_a_logind_that_comes_late_is_listened_to(bus: PrivateBus) -> None:
    with PrivateBus() as system_bus, TimeMachine(bus, DBUS_SYSTEM_BUS_ADDRESS=system_bus.address) as service:
        begin(service)
        with FakeLogind(system_bus.address, locked=True) as logind:
            service.wait_for(lambda state: away(state) == "lock")
            logind.set_locked_hint(False)
            service.wait_for(lambda state: away(state) is None)
            logind.prepare_for_sleep()
            service.wait_for(lambda state: away(state) == "sleep")
        service.wait_for(lambda state: away(state) is None)


async def test_a_system_bus_that_comes_late_is_listened_to(bus: PrivateBus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "RETRY_SECS", 0.01)
    told: list[AwayCause] = []
    with PrivateBus() as system_bus:
        system_bus.kill()
        source = DesktopPresence(bus.address, system_bus.address, idle_secs=60)
        source.start(lambda cause, ago: told.append(cause), told.append)
        for told_times in (2, 4):  # it comes, and comes again
            await asyncio.to_thread(system_bus.start)
            with FakeLogind(system_bus.address, locked=True):
                await until(lambda n=told_times: len(told) == n - 1)
            system_bus.kill()
            await until(lambda n=told_times: len(told) == n)
        source.stop()
    assert told == [AwayCause.LOCK] * 4


async def test_stopping_ends_all_in_whatever_moment_a_bus_is_lost() -> None:
    """Else the service would outlive its bus: the loss of the bus can meet the cancelling of who notices it."""
    before = asyncio.all_tasks()
    for turns in range(12):
        with PrivateBus() as bus, FakeMutter(bus.address) as mutter:
            source = DesktopPresence(bus.address, bus.address, idle_secs=60)
            source.start(lambda cause, ago: None, lambda cause: None)
            await until(lambda mutter=mutter: mutter.watches)
            bus.kill()
            for _ in range(turns):
                await asyncio.sleep(0)
            source.stop()
            await until(lambda: asyncio.all_tasks() == before)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE):
        while not condition():
            await asyncio.sleep(0.002)


# The desktop


def test_a_shell_that_crashes_takes_all_its_words_with_it_and_is_believed_again_when_it_is_back(
    bus: PrivateBus,
) -> None:
    with FakeMutter(bus.address) as mutter, FakeScreenShield(bus.address) as shield, TimeMachine(bus) as service:
        begin(service)
        for _ in range(2):
            with Client(bus.address) as shell:
                shell.own(SHELL)
                shell.call("ReportFocus", "a{sv}", CODE)
                mutter.wait_for_watch()
                shield.wait(lambda: ("GetActive",) in shield.calls, "the service has asked about the screen")
                service.pass_time(200)
                mutter.leave(190)
                service.wait_for(lambda state: away(state) == "idle")
                shield.lock()
                service.wait_for(lambda state: away(state) == "lock")
                assert service.state()["evidence"]["health"] == "ok"
                mutter.vanish()
                shield.vanish()
            state = service.wait_for(lambda state: away(state) is None and state["evidence"]["source"] == "none")
            assert (state["evidence"]["health"], state["evidence"]["window"]) == ("absent", None)
            assert state["evidence"]["error"]["code"] == "no_display"
            assert state["drift"]["status"] == "idle"
            shield.locked = False
            shield.calls.clear()
            mutter.appear()
            shield.appear()
        state = service.state()
        assert state["runtime_state"] == "active"
        assert 380 <= state["away"]["total_secs"] < 400


def test_an_x_server_that_restarts_is_told_of_and_seen_again(bus: PrivateBus) -> None:
    with XServer() as server, Service(bus, DISPLAY=server.display) as service:
        server.open_window("a.py", ("code", "code")).focus()
        begin(service)
        service.wait_for(lambda state: state["evidence"]["health"] == "ok" and state["drift"]["status"] == "ontask")
        server.kill()
        state = service.wait_for(lambda state: state["evidence"]["health"] == "absent")
        assert (state["evidence"]["source"], state["evidence"]["error"]["code"]) == ("none", "display_lost")
        assert (state["evidence"]["window"], state["drift"]["status"]) == (None, "idle")
        server.start()
        server.open_window("b.py", ("code", "code")).focus()
        state = service.wait_for(lambda state: state["evidence"]["window"] is not None)
        assert (state["evidence"]["health"], state["evidence"]["error"]) == ("ok", None)
        assert state["evidence"]["window"]["title"] == "b.py"
        assert state["drift"]["status"] == "ontask"


def test_in_a_wayland_session_with_an_x_server_in_it_the_extension_wins(bus: PrivateBus) -> None:
    """X11 sees some windows there, and the wrong one wherever the focus is on a window of Wayland."""
    with (
        XServer() as server,
        Service(bus, DISPLAY=server.display, XDG_SESSION_TYPE="wayland", WAYLAND_DISPLAY="wayland-0") as service,
        Client(bus.address) as shell,
    ):
        old = server.open_window("old.py", ("code", "code"))
        game = server.open_window("A game", ("game", "Game"))
        old.focus()
        begin(service)
        state = service.wait_for(lambda state: state["evidence"]["window"] is not None)
        assert (state["evidence"]["source"], state["evidence"]["error"]["code"]) == ("x11", "partial_view")
        shell.own(SHELL)
        shell.call("ReportFocus", "a{sv}", CODE)
        for window in (game, old, game):
            window.focus()
            state = service.wait_for(lambda state: state["evidence"]["window"] is not None)
            assert (state["evidence"]["source"], state["evidence"]["window"]["title"]) == ("shell", "a.py")
            assert (state["evidence"]["health"], state["drift"]["status"]) == ("ok", "ontask")
        shell.disown(SHELL)
        service.wait_for(lambda state: (state["evidence"]["window"] or {}).get("title") == "A game")
        assert service.state()["evidence"]["source"] == "x11"


# The disk

# Neither root nor anybody else may then write where the mode does not let them.
OBEDIENT = () if os.getuid() else ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")


def set_writable(folder: Path, writable: bool) -> None:
    """As when the file system is mounted again, read-only or not."""
    for path in folder.iterdir():
        path.chmod(0o600 if writable else 0o400)
    folder.chmod(0o700 if writable else 0o500)


def test_a_home_that_cannot_be_written_is_told_of_whether_from_the_start_or_later_and_recovers(
    bus: PrivateBus, tmp_path: Path
) -> None:
    tmp_path.chmod(0o500)
    service = Service(bus, home=tmp_path, launcher=OBEDIENT)
    try:
        with service:
            state = service.state()
            assert (state["runtime_state"], state["store"]["error"]["code"]) == ("locked", "read_only")
            name, message = service.refusal("EnterPlanning")
            assert (name, message) == (STORE_FAILED, "state.json could not be written: the folder is not writable.")
            assert service.state()["runtime_state"] == "locked"
            assert doctor(service)["files"][0] == "fault"
            tmp_path.chmod(0o700)
            state = begin(service)
            assert state["store"]["error"] is None

            set_writable(service.folder, False)
            for command in ("Complete", "Complete"):
                assert service.refusal(command)[0] == STORE_FAILED
            assert service.refusal("Extend", "x", 60)[0] == STORE_FAILED
            state = service.state()
            assert (state["runtime_state"], state["store"]["error"]["code"]) == ("active", "read_only")
            assert state["commitment"]["timebox_secs"] == 1500
            assert "not writable" in doctor(service)["files"][1]
            set_writable(service.folder, True)
            service.wait_for(lambda state: state["store"]["error"] is None)
            service.call("Complete")
            service.call("End")
            assert len(json.loads(service.call("GetRecentSessions", "u", 5))) == 1
            warnings = [line for line in service.log.splitlines() if "not writable" in line]
            assert len(warnings) <= 3, "it is said when it begins, not each time"
    finally:
        tmp_path.chmod(0o700)


def test_a_service_that_starts_on_a_read_only_disk_goes_on_with_what_is_there(bus: PrivateBus, tmp_path: Path) -> None:
    with Service(bus, home=tmp_path, launcher=OBEDIENT) as service:
        begin(service)
        service.stop()
        set_writable(service.folder, False)
        try:
            service.start()
            state = service.state()
            assert (state["runtime_state"], state["store"]["error"]["code"]) == ("active", "read_only")
        finally:
            set_writable(service.folder, True)
        service.wait_for(lambda state: state["store"]["error"] is None)
        service.call("Complete")


def test_a_file_in_the_place_of_the_home_is_told_of_and_no_reason_to_end(bus: PrivateBus, tmp_path: Path) -> None:
    (tmp_path / "antidrift").write_text("mine")
    with Service(bus, home=tmp_path) as service:
        state = service.state()
        assert (state["runtime_state"], state["store"]["error"]["code"]) == ("locked", "io_error")
        assert service.refusal("EnterPlanning")[0] == STORE_FAILED
        assert doctor(service)["files"][0] == "fault"
        assert (tmp_path / "antidrift").read_text() == "mine"
        (tmp_path / "antidrift").unlink()
        assert begin(service)["store"]["error"] is None


def test_a_folder_that_is_missing_is_made_and_one_that_is_removed_made_again(bus: PrivateBus, tmp_path: Path) -> None:
    deep = tmp_path / "not" / "there" / "yet"
    with Service(bus, home=tmp_path, ANTIDRIFT_HOME=str(deep)) as service:
        begin(service)
        assert deep.stat().st_mode & 0o777 == 0o700
        for path in deep.iterdir():
            path.unlink()
        deep.rmdir()
        service.call("Complete")
        service.call("End")
        assert {"audit.jsonl", "state.json"} <= {path.name for path in deep.iterdir()}


# The config file


def broken_toml(path: Path) -> str:
    path.write_text("presence.idle_secs = 45\n[sensor\n")
    return "is not valid TOML"


def a_folder(path: Path) -> str:
    path.mkdir()
    return "is not a regular file"


def a_pipe(path: Path) -> str:
    os.mkfifo(path)
    return "is not a regular file"


def forbidden(path: Path) -> str:
    path.write_text("presence.idle_secs = 45\n")
    path.chmod(0)
    return "cannot be read: Permission denied"


def huge(path: Path) -> str:
    with path.open("wb") as file:
        file.truncate(100_000_000)
    return f"is larger than {MAX_FILE_BYTES // 1024} KiB"


CONFIG_FAULTS = (broken_toml, a_folder, a_pipe, forbidden, huge)


def test_a_config_file_that_is_no_use_is_named_and_the_defaults_hold(bus: PrivateBus, tmp_path: Path) -> None:
    with FakeMutter(bus.address) as mutter:
        for fault in CONFIG_FAULTS:
            home = tmp_path / fault.__name__
            (home / "antidrift").mkdir(mode=0o700, parents=True)
            config = home / "antidrift" / "config.toml"
            problem = f"{config} {fault(config)}"
            with Service(bus, home=home, launcher=OBEDIENT) as service:
                begin(service)
                mutter.wait_for_watch()
                assert mutter.watches == [180_000]
                if fault in (a_pipe, huge):
                    level, message = doctor(service)["config"]
                    assert (level, message.startswith(problem)) == ("note", True)
                    assert f"; correct it, then `kill {service.pid}; " in message
                service.call("Complete")
                service.call("End")
                assert service.stop() == 0
                # Only now: the log comes through a pipe.
                assert f"config: {problem}" in service.log
                assert "Traceback" not in service.log
            mutter.vanish()
            mutter.appear()


def test_a_config_file_that_is_broken_while_the_service_runs_breaks_nothing(bus: PrivateBus) -> None:
    with TimeMachine(bus, 'sensor.reporters = ["any"]') as service:
        begin(service)
        (service.folder / "config.toml").write_text("[[[")
        service.client.call("ReportFocus", "a{sv}", CODE)
        assert service.state()["drift"]["status"] == "ontask"
        service.call("Complete")
        service.call("End")
        service.stop()
        service.start()
        assert service.state()["runtime_state"] == "locked"
        assert service.refusal("ReportFocus", "a{sv}", CODE)[0] == "org.antidrift.Error.AccessDenied"
        service.stop()
        assert "is not valid TOML" in service.log
