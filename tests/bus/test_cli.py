"""`antidrift` as a child process, against the real `antidriftd` on a bus of its own."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import io
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import dbus
import dbus.bus
import pytest
from dbus_next.message import Message
from dbus_next.signature import Variant

import antidrift
from antidrift.bus import client as bus_client
from antidrift.bus.client import BusLost, Client, ServiceSilent
from antidrift.bus.connection import SessionBus
from antidrift.bus.names import BUS_NAME, INTERFACE, OBJECT_PATH
from antidrift.cli import main, session
from antidrift.cli.arguments import arguments_of
from antidrift.cli.doctor.finding import Level
from antidrift.cli.doctor.service import Service
from antidrift.cli.doctor.windows import check_windows
from antidrift.cli.failures import explained
from antidrift.cli.output import Output
from standins.standin import ANSWERS, StandIn
from support.desktop import FakeLogind, FakeMutter, FakeScreenSaver
from support.private_bus import PrivateBus
from support.service import NO_BUS
from support.x_server import XServer

DEADLINE = 20.0
PACKAGE = Path(antidrift.__file__).parents[1]
PROGRAMS = {"antidrift": "antidrift.cli", "antidriftd": "antidrift.daemon"}
CATS = "Reddit - funny cats - Mozilla Firefox"


def eventually(condition: Callable[[], Any], what: str) -> Any:
    """What `condition` gives as soon as that is true."""
    give_up = time.monotonic() + DEADLINE
    while not (found := condition()):
        if time.monotonic() > give_up:
            raise AssertionError(f"not so within {DEADLINE:.0f} s: {what}")
        time.sleep(0.005)
    return found


class Desk:
    """A person's surroundings: a home, programs, a bus, and the service where it was started."""

    def __init__(self, folder: Path, bus: PrivateBus) -> None:
        self.folder = folder
        self.bus = bus
        self.home = folder / "home"
        self.files = folder / "files"
        self.programs = folder / "programs"
        for made in (self.home, self.files, self.programs):
            made.mkdir(mode=0o700, parents=True)
        for name, module in PROGRAMS.items():
            file = self.programs / name
            file.write_text(f"#!{sys.executable}\nimport sys\nfrom {module} import main\nsys.exit(main())\n")
            file.chmod(0o700)
        self.environ = {
            "HOME": str(self.home),
            "ANTIDRIFT_HOME": str(self.files),
            "PATH": f"{self.programs}:/usr/bin:/bin",
            "PYTHONPATH": str(PACKAGE),
            "DBUS_SESSION_BUS_ADDRESS": bus.address,
            "DBUS_SYSTEM_BUS_ADDRESS": NO_BUS,
            "LC_ALL": "C.UTF-8",
        }
        self.daemon: subprocess.Popen[bytes] | None = None
        self._connection: dbus.bus.BusConnection | None = None

    def configure(self, text: str) -> None:
        (self.files / "config.toml").write_text(text)

    def start_service(self, **environ: str) -> None:
        """Returns when the service owns its name."""
        log = (self.folder / "log").open("ab")
        with log:
            self.daemon = subprocess.Popen(
                [self.programs / "antidriftd"], env={**self.environ, **environ}, stderr=log
            )
        eventually(lambda: self.connection.name_has_owner(BUS_NAME), "the service runs")

    def stop_service(self) -> None:
        if self.daemon is not None:
            self.daemon.kill() if self.daemon.poll() is None else None
            self.daemon.wait()
            self.daemon = None
            eventually(lambda: not self.connection.name_has_owner(BUS_NAME), "the service is gone")

    def close(self) -> None:
        if self.daemon is not None:
            self.daemon.kill()
            self.daemon.wait()
        if self._connection is not None:
            self._connection.close()

    @property
    def connection(self) -> dbus.bus.BusConnection:
        """A connection of another program, by another library."""
        if self._connection is None:
            self._connection = dbus.bus.BusConnection(self.bus.address)
        return self._connection

    def call(self, member: str, *arguments: Any, signature: str = "") -> Any:
        return self.connection.call_blocking(BUS_NAME, OBJECT_PATH, INTERFACE, member, signature, arguments)

    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.call("GetState"))
        return found

    def focus(self, name: str, title: str) -> None:
        self.call("ReportFocus", {"class": name, "title": title}, signature="a{sv}")

    def run(self, *arguments: str, **environ: str | None) -> subprocess.CompletedProcess[str]:
        """`antidrift` with these arguments, as a child process; a variable that is None is not set."""
        return subprocess.run(
            [self.programs / "antidrift", *arguments],
            env=self._merged(environ),
            capture_output=True,
            encoding="utf-8",
            timeout=2 * DEADLINE,
            check=False,
        )

    def run_here(self, *arguments: str, **environ: str | None) -> subprocess.CompletedProcess[str]:
        """The same within the process of the tests, which spares the start of an interpreter."""
        streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
        with (
            mock.patch.dict(os.environ, self._merged(environ), clear=True),
            contextlib.redirect_stdout(streams[0]),
            contextlib.redirect_stderr(streams[1]),
        ):
            status = main(list(arguments))
        for stream in streams:
            stream.flush()
        stdout, stderr = (stream.buffer.getvalue().decode() for stream in streams)  # type: ignore[attr-defined]
        return subprocess.CompletedProcess(arguments, status, stdout, stderr)

    def says(self, *arguments: str, status: int = 0, child: bool = False, **environ: str | None) -> str:
        """What is printed, after a look at the exit status: on standard output, or on standard error if it fails."""
        done = (self.run if child else self.run_here)(*arguments, **environ)
        assert done.returncode == status, done
        assert "Traceback" not in done.stderr
        if status == 0:
            assert done.stderr == ""
        return done.stdout if status == 0 or arguments[0] == "doctor" else done.stderr

    def _merged(self, environ: Mapping[str, str | None]) -> dict[str, str]:
        return {name: value for name, value in {**self.environ, **environ}.items() if value is not None}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """Nothing runs but the bus."""
    with PrivateBus() as bus, contextlib.closing(Desk(tmp_path, bus)) as made:
        yield made


@pytest.fixture
def alone(desk: Desk) -> Desk:
    """A service of its own runs, without an AI, and takes anybody's word for the focused window."""
    desk.configure('ai.backend = "none"\nsensor.reporters = ["any"]\n')
    desk.start_service()
    return desk


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """The same as `alone`, for all tests that do nothing to it but drive it."""
    with PrivateBus() as bus, contextlib.closing(Desk(tmp_path_factory.mktemp("shared"), bus)) as made:
        made.configure('ai.backend = "none"\nsensor.reporters = ["any"]\n')
        made.start_service()
        yield made


@pytest.fixture
def served(shared: Desk) -> Iterator[Desk]:
    """The shared service, locked and blind, as it will be left again."""
    yield shared
    shared.call("ReportFocus", {"reporting": False}, signature="a{sv}")
    for phase, command in (("planning", "CancelPlanning"), ("active", "Complete"), ("review", "End")):
        if shared.state()["runtime_state"] == phase:
            shared.call(command)


class Watching:
    """`antidrift watch`, on a terminal of its own or on a pipe."""

    def __init__(self, desk: Desk, *arguments: str, columns: int = 0) -> None:
        environ = {**desk.environ, "TERM": "xterm"}
        self.text = ""
        if columns:
            self._read_end, there = pty.openpty()
            fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        else:
            self._read_end, there = os.pipe()
        # A session of its own, and Ctrl-C as the signal that it is.
        self.process = subprocess.Popen(
            [desk.programs / "antidrift", "watch", *arguments],
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=there,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        os.close(there)

    def __enter__(self) -> Watching:
        return self

    def __exit__(self, *fault: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._read_end)

    def sees(self, part: str) -> str:
        """Reads until `part` has come, and returns everything up to it since the last call."""
        give_up = time.monotonic() + DEADLINE
        while part not in self.text:
            assert time.monotonic() < give_up, f"{part!r} did not come; this did: {self.text!r}"
            self._read(0.2)
        end = self.text.index(part) + len(part)
        seen, self.text = self.text[:end], self.text[end:]
        return seen

    def interrupt(self) -> int:
        """Ctrl-C; the exit status, with what came last in `text`."""
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(DEADLINE)
        while self._read(0):
            pass
        return status

    def _read(self, wait: float) -> bool:
        if not select.select([self._read_end], [], [], wait)[0]:
            return False
        try:
            data = os.read(self._read_end, 65536)
        except OSError:  # a terminal whose other end is closed
            return False
        self.text += data.decode()
        return bool(data)


# One session, from the first word to the last


def test_a_session_goes_from_one_line_to_the_audit_chain(alone: Desk) -> None:
    assert "`antidrift start" in alone.says("status", child=True)
    assert alone.says("start", "Write", "the", "outline", child=True) == "Started: Write the outline (25 min).\n"
    alone.focus("code", "outline.md")
    assert alone.says("extend", "-5", child=True) == "20 min left of 20.\n"
    assert alone.says("extend", "--", "50", child=True) == "1 h 10 min left of 1 h 10 min.\n"
    status = alone.says("status", child=True).splitlines()
    assert status[:2] == ["1 h 10 min left of 1 h 10 min", "Write the outline"]
    assert alone.says("complete", child=True).startswith("Completed.\nWrite the outline\n")
    assert "`antidrift end`" in alone.says("status", child=True)
    assert alone.says("end", child=True) == "The session is closed.\n"
    assert "Write the outline" in alone.says("audit", "tail", child=True)
    assert alone.says("audit", "verify", COLUMNS="500", child=True).startswith("1 line in ")
    assert alone.state()["runtime_state"] == "locked"


def test_start_says_everything_that_was_said_to_it(served: Desk) -> None:
    served.says("start", "Write", "--done", "Five headings", "--timebox", "1h30m", "--app", "code", "--app", "gimp")
    started = served.state()["commitment"]
    assert started["next_action"] == "Write"
    assert started["success_condition"] == "Five headings"
    assert started["timebox_secs"] == 5400
    assert started["allowed_window_classes"] == ["code", "gimp"]


def test_start_from_planning_starts_there(served: Desk) -> None:
    served.says("plan")
    served.says("start", "Write")
    assert served.state()["runtime_state"] == "active"


def test_a_start_that_is_refused_does_not_leave_planning_behind(served: Desk) -> None:
    assert "next_action has 501 characters" in served.says("start", "x" * 501, status=1)
    assert served.state()["runtime_state"] == "locked"
    served.says("plan")
    served.says("start", "x" * 501, status=1)
    assert served.state()["runtime_state"] == "planning", "unless it was there before"


def test_start_without_a_word_says_what_is_missing(served: Desk) -> None:
    for _ in range(2):
        assert served.says("start", status=2) == "antidrift: Say what you will do: `antidrift start TEXT`.\n"
        served.says("plan")


def test_a_refusal_is_the_services_word_and_says_what_leads_on(served: Desk) -> None:
    refusals = [
        ("complete", "Complete is not possible in locked", "`antidrift start TEXT`"),
        ("ontask", "OnTask is for a running session; the session is locked", "`antidrift start TEXT`"),
    ]
    served.call("EnterPlanning")
    refusals_while_planning = [("end", "End is not possible in planning", "`antidrift cancel`")]
    for command, refusal, hint in refusals_while_planning:
        assert re.fullmatch(rf"antidrift: {refusal}\. .*{re.escape(hint)}.*\n", served.says(command, status=1))
    served.says("cancel")
    for command, refusal, hint in refusals:
        assert re.fullmatch(rf"antidrift: {refusal}\. .*{re.escape(hint)}.*\n", served.says(command, status=1))
    served.says("start", "Write")
    said = served.says("start", "again", status=1)
    assert said.startswith("antidrift: StartCommitment is not possible in active. ")
    assert "`antidrift complete`" in said
    assert "at most 24 hours" in served.says("extend", "1440", status=1)
    served.says("complete")
    said = served.says("plan", status=1)
    assert said.startswith("antidrift: EnterPlanning is not possible in review. ")
    assert "`antidrift end`" in said


def test_status_as_json_is_what_the_service_says_on_one_line(served: Desk) -> None:
    served.says("start", "Write 標題")
    served.focus("code", "quote \" and \x1b")
    (line,) = served.says("status", "--json", child=True, PYTHONIOENCODING="ascii").splitlines()
    state = json.loads(line)
    assert state["commitment"]["next_action"] == "Write 標題"
    assert state.keys() == served.state().keys()
    assert state["evidence"]["window"] == served.state()["evidence"]["window"]


def test_on_task_says_what_is_allowed_from_now_on(served: Desk) -> None:
    served.says("start", "Write")
    assert "no window has the focus" in served.says("ontask", status=1)
    served.focus("Gimp", "outline.xcf")
    assert served.says("ontask") == "On task for this session: Gimp.\n"
    assert served.says("refocus") == "Back to task.\n"


def test_plan_shows_todays_tasks(desk: Desk) -> None:
    todo = desk.home / "todo.txt"
    todo.write_text("(A) Answer the bank\nx done\nBuy \x1b[31mpaper\n")
    desk.configure(f'ai.backend = "none"\n[tasks]\nsource = "todo.txt"\npath = "{todo}"\n')
    desk.start_service()
    assert "Today's tasks\n  * Answer the bank\n  * Buy [31mpaper\n" in desk.says("plan")
    assert "* Answer the bank" in desk.says("plan"), "and again while planning"


# The coach, and consent


def test_sharpen_enters_planning_and_start_takes_the_proposal(desk: Desk) -> None:
    proposed = ANSWERS["coach"] | {"timebox_minutes": 40}
    StandIn("claude", desk.programs).plays(answers={"coach": json.dumps(proposed)})
    desk.start_service()
    text = desk.says("sharpen", "the", "outline")
    assert "Write the outline\n  Done when: The outline has five headings\n  Time: 40 min, in " in text
    assert "`antidrift start`" in text
    assert "The coach proposes" in desk.says("status")
    assert desk.says("start").splitlines()[0] == "Started: Write the outline (40 min)."
    assert desk.state()["commitment"]["allowed_window_classes"] == ["org.gnome.TextEditor"]


def test_what_is_said_to_start_comes_before_the_proposal(desk: Desk) -> None:
    StandIn("claude", desk.programs)
    desk.start_service()
    desk.says("sharpen", "the", "outline")
    desk.says("start", "--minutes", "50", "--done", "Four will do", "--app", "code")
    started = desk.state()["commitment"]
    assert (started["next_action"], started["success_condition"]) == ("Write the outline", "Four will do")
    assert (started["timebox_secs"], started["allowed_window_classes"]) == (3000, ["code"])


def test_sharpen_in_a_session_is_refused(served: Desk) -> None:
    served.says("start", "Write")
    assert "RequestCoach is for planning; the session is active. " in served.says("sharpen", "x", status=1)


def test_a_coach_that_thinks_is_waited_for_until_ctrl_c_which_leaves_no_planning_behind(desk: Desk) -> None:
    StandIn("claude", desk.programs).plays(delay=600)
    desk.start_service()
    with subprocess.Popen(
        [desk.programs / "antidrift", "sharpen", "x"], env=desk.environ, stdout=-1, stderr=-1, text=True
    ) as waiting:
        eventually(lambda: (desk.state()["coach"] or {}).get("status") == "pending", "the coach is asked")
        assert "still thinking" in desk.says("start", status=2)
        waiting.send_signal(signal.SIGINT)
        assert waiting.communicate(timeout=DEADLINE) == ("", "")
    assert waiting.returncode == 130
    assert desk.state()["runtime_state"] == "locked"


def test_planning_that_ends_elsewhere_ends_the_wait_for_the_coach(desk: Desk) -> None:
    StandIn("claude", desk.programs).plays(delay=600)
    desk.start_service()
    with subprocess.Popen(
        [desk.programs / "antidrift", "sharpen", "x"], env=desk.environ, stderr=-1, text=True
    ) as waiting:
        eventually(lambda: (desk.state()["coach"] or {}).get("status") == "pending", "the coach is asked")
        desk.call("CancelPlanning")
        assert "ended elsewhere" in waiting.communicate(timeout=DEADLINE)[1]
    assert waiting.returncode == 1


def test_consent_is_given_taken_back_and_shown(desk: Desk) -> None:
    StandIn("claude", desk.programs)
    desk.start_service()
    assert "May claude see window titles" in desk.says("status")
    assert "`antidrift ai allow` or `antidrift ai refuse`" in desk.says("ai", "status", COLUMNS="200")
    assert desk.says("ai", "allow") == "The AI program is claude. It may see window titles.\n"
    assert desk.state()["ai"]["consent"] == "given"
    assert desk.says("ai", "refuse") == "The AI program is claude. It may not see window titles.\n"
    assert desk.state()["ai"]["consent"] == "refused"


def test_a_drift_is_shown_with_the_judges_reason(desk: Desk) -> None:
    StandIn("claude", desk.programs).plays(verdicts={CATS: {"on_task": False, "reason": "Cats are no outline"}})
    desk.configure('ai.backend = "claude"\nsensor.reporters = ["any"]\n')
    desk.start_service()
    desk.says("start", "Write the outline")
    desk.focus("firefox", CATS)
    eventually(lambda: desk.state()["drift"]["status"] == "drifting", "the judge has spoken")
    assert "Drifting: Cats are no outline (firefox" in desk.says("status")


# What is missing at the first run: one sentence, and the command that helps


def test_without_a_service_what_only_looks_says_how_to_start_it(desk: Desk) -> None:
    for command in (["status"], ["status", "--json"], ["ai", "status"], ["start", "x"]):
        said = desk.says(*command, status=3, child=True)
        assert said == "antidrift: The AntiDrift service is not running. Start it with `antidriftd`.\n"


def test_where_antidriftd_is_not_on_the_path_the_command_is_one_that_works_all_the_same(desk: Desk) -> None:
    (desk.programs / "antidriftd").unlink()
    said = desk.says("status", status=3)
    command = re.search("`(.*)`", said)
    assert command is not None
    version = subprocess.run(f"{command[1]} --version", shell=True, env=desk.environ, capture_output=True, check=True)
    assert version.stdout.startswith(b"antidriftd ")


@pytest.mark.parametrize("environ", [{}, {"XDG_RUNTIME_DIR": "/nonexistent"}])
def test_without_a_bus_it_says_where_one_is_named_and_how_to_have_one(desk: Desk, environ: dict[str, str]) -> None:
    for command in ("status", "watch"):
        said = desk.says(command, status=3, child=True, DBUS_SESSION_BUS_ADDRESS=None, **environ)
        assert said.count("\n") == 1
        assert "DBUS_SESSION_BUS_ADDRESS" in said
        assert "`dbus-run-session -- sh`" in said


def test_without_an_ai_program_the_coach_says_how_to_install_it(desk: Desk) -> None:
    desk.start_service()
    said = desk.says("sharpen", "the outline", status=1)
    assert said.startswith("antidrift: No program named claude was found: install it (npm install -g ")
    assert said.count("\n") == 1
    assert desk.state()["runtime_state"] == "locked"
    assert "AI: No program named claude was found: install it" in desk.says("status", COLUMNS="500")


@pytest.mark.parametrize(
    ("name", "command"), [("claude", "run `claude` once in a terminal"), ("codex", "run `codex login`")]
)
def test_without_a_login_the_coach_says_how_to_log_in(desk: Desk, name: str, command: str) -> None:
    StandIn(name, desk.programs).plays(fault="not_logged_in")
    desk.start_service(ANTIDRIFT_AI_BACKEND=name)
    said = desk.says("sharpen", "the outline", status=1)
    assert said.startswith(f"antidrift: {name} is not logged in: {command}")
    assert said.count("\n") == 1


def test_without_a_display_status_says_where_to_turn(desk: Desk) -> None:
    desk.configure('ai.backend = "none"\n')
    desk.start_service()
    desk.says("start", "Write")
    eventually(lambda: desk.state()["evidence"]["error"], "the sensor has told")
    said = desk.says("status", COLUMNS="500")
    assert "No windows are seen: There is no X display to watch. `antidrift doctor` says what to do.\n" in said


# Activation


@pytest.fixture
def activatable(tmp_path: Path) -> Iterator[Desk]:
    """A bus that can start the service, and a service file that does so; `folder / "started"` says that it did."""
    services = tmp_path / "services"
    services.mkdir()
    program = tmp_path / "activated"
    environ = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    with PrivateBus([services], environ) as bus, contextlib.closing(Desk(tmp_path / "desk", bus)) as desk:
        variables = " ".join(f"{name}={value}" for name, value in desk.environ.items())
        daemon = desk.programs / "antidriftd"
        program.write_text(
            f"#!/bin/sh\necho $$ > {tmp_path}/started\nexec env {variables} {daemon} 2>{tmp_path}/log\n"
        )
        program.chmod(0o700)
        desk.configure('ai.backend = "none"\n')
        (services / f"{BUS_NAME}.service").write_text(f"[D-BUS Service]\nName={BUS_NAME}\nExec={program}\n")
        desk.connection.call_blocking(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReloadConfig", "", ()
        )
        yield desk
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            os.kill(int((tmp_path / "started").read_text()), signal.SIGKILL)


def test_what_only_looks_never_starts_the_service_and_what_a_person_asks_for_does(
    activatable: Desk, tmp_path: Path
) -> None:
    for command in ("status", "doctor"):
        said = activatable.says(command, status=3 if command == "status" else 1, COLUMNS="500")
        assert "The AntiDrift service is not running. The first command that needs it starts it" in said
    assert not (tmp_path / "started").exists()
    assert activatable.says("start", "Write").startswith("Started: Write")
    assert activatable.state()["runtime_state"] == "active"


def test_a_service_that_cannot_be_started_says_how_to_see_why(activatable: Desk, tmp_path: Path) -> None:
    (tmp_path / "activated").write_text("#!/bin/sh\nexit 7\n")
    said = activatable.says("plan", status=3)
    assert said == "antidrift: The AntiDrift service could not be started: run `antidriftd` to see why.\n"


# A service that does not answer


async def test_a_service_that_hangs_is_waited_for_so_long_and_no_longer(
    alone: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert bus_client.ANSWER_SECS == 25
    assert alone.daemon is not None
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", alone.bus.address)
    monkeypatch.setattr(bus_client, "ANSWER_SECS", 0.2)
    alone.daemon.send_signal(signal.SIGSTOP)
    with pytest.raises(ServiceSilent) as silent:
        async with asyncio.timeout(DEADLINE):
            await session.run(arguments_of(["status"]), Output.standard({}))
    sentence, status = explained(silent.value)
    assert f"within 0.2 seconds: end it with `kill -KILL {alone.daemon.pid}`" in sentence
    assert status == 3


async def test_a_bus_that_hangs_does_not_hold_a_client_either(
    alone: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", alone.bus.address)
    async with Client.connect() as client:
        monkeypatch.setattr(bus_client, "ANSWER_SECS", 0.2)
        alone.bus.freeze()
        with pytest.raises(ServiceSilent):
            async with asyncio.timeout(DEADLINE):
                await client.ask_daemon("ListNames")
        alone.bus.thaw()


async def test_a_bus_that_goes_while_a_client_waits_for_an_answer_ends_the_wait(
    alone: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", alone.bus.address)
    assert alone.daemon is not None
    alone.daemon.send_signal(signal.SIGSTOP)
    async with Client.connect() as client, asyncio.timeout(DEADLINE):
        waiting = asyncio.ensure_future(client.state())
        await client.ask_daemon("ListNames")  # answered behind the other call, which is on its way now
        alone.bus.kill()
        with pytest.raises(BusLost):
            await waiting
        with pytest.raises(BusLost):
            await client.state()


def test_a_service_that_dies_while_it_is_asked_is_told_from_one_that_is_not_there(alone: Desk) -> None:
    assert alone.daemon is not None
    alone.daemon.send_signal(signal.SIGSTOP)
    with subprocess.Popen(
        [alone.programs / "antidrift", "status"], env=alone.environ, stderr=-1, text=True
    ) as asking:
        # The bus knows the asker as soon as it is connected; its question follows at once, or finds nobody.
        before = len(alone.connection.list_names())
        eventually(lambda: len(alone.connection.list_names()) > before or asking.poll(), "it is on the bus")
        alone.daemon.kill()
        said = asking.communicate(timeout=DEADLINE)[1]
    assert asking.returncode == 3
    assert said.startswith(
        ("antidrift: The AntiDrift service ended before it had answered.", "antidrift: The AntiDrift service is not")
    )


# Watching


def test_watch_counts_down_in_place_and_leaves_a_clean_terminal(served: Desk) -> None:
    served.says("start", "Write the outline of the quarterly report")
    with Watching(served, columns=40) as watch:
        frames = watch.sees("left of") + watch.sees("left of") + watch.sees("left of")
        served.call("Complete")
        frames += watch.sees("Completed: Write the outline")
        assert watch.interrupt() == 0
        frames += watch.text
    assert len(set(re.findall(r"(\d+:\d\d) left of 25 min", frames))) >= 2, "the time runs"
    first, *rest = re.split(r"\r(?:\x1b\[(\d+)A)?\x1b\[J", re.sub(r"\x1b\[\d*m", "", frames))
    before = first.splitlines()
    for up, frame in zip(rest[::2], rest[1::2], strict=True):
        assert int(up or 0) == len(before) - 1, "the cursor goes to the first line that was drawn"
        before = frame.splitlines()
        assert all(len(line) < 40 for line in before), "no line wraps"
    assert frames.endswith("\r\n")
    assert not frames.endswith("\r\n\r\n")


def test_watch_sleeps_while_nothing_runs(served: Desk) -> None:
    with Watching(served, columns=80) as watch:
        watch.sees("No session is running.")
        # The first line is drawn; what takes no time from now on is asleep.
        spent = [_cpu_ticks(watch.process.pid)]
        deadline = time.monotonic() + 1.2
        while time.monotonic() < deadline:
            assert not watch._read(0.1), watch.text
        spent.append(_cpu_ticks(watch.process.pid))
        assert spent[1] - spent[0] <= 2


def _cpu_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def test_watch_prints_one_line_for_each_change_into_a_pipe(served: Desk) -> None:
    with Watching(served) as watch:
        watch.sees("No session is running.\n")
        served.says("start", "Write")
        watch.sees("left of 25 min  Write\n")
        for number in range(5):
            served.focus("code", f"file{number}.py")
        served.call("Complete")
        seen = watch.sees("Completed: Write | `antidrift end` closes it.\n")
        assert len(seen.splitlines()) <= 3, "titles that change are no change of what is told"
        assert watch.interrupt() == 0
        assert watch.text == ""


def test_watch_waits_for_a_service_that_is_not_there_and_outlives_one_that_goes(desk: Desk) -> None:
    desk.configure('ai.backend = "none"\n')
    with Watching(desk, columns=120) as watch:
        watch.sees("The AntiDrift service is not running; waiting for it. Start it with `antidriftd`.")
        desk.start_service()
        watch.sees("The AntiDrift service is there.")
        watch.sees("No session is running.")
        desk.call("EnterPlanning")
        watch.sees("Planning")
        desk.stop_service()
        watch.sees("The AntiDrift service has stopped; waiting for it.")
        desk.start_service()
        watch.sees("The AntiDrift service is there.")
        watch.sees("Planning")
        assert watch.interrupt() == 0


def test_watch_as_json_prints_each_newer_state_as_a_line(served: Desk) -> None:
    with Watching(served, "--json") as watch:
        watch.sees("\n")
        served.call("EnterPlanning")
        eventually(lambda: served.state()["tasks"]["status"] != "pending", "tasks are fetched")
        served.call("CancelPlanning")
        seen = [json.loads(watch.sees("\n"))]
        while seen[-1]["runtime_state"] != "locked":
            seen.append(json.loads(watch.sees("\n")))
        assert [state["seq"] for state in seen] == sorted({state["seq"] for state in seen})
        assert seen[0]["runtime_state"] == "planning"


def test_watch_ends_when_the_bus_does(alone: Desk) -> None:
    with Watching(alone) as watch:
        watch.sees("No session is running.\n")
        alone.bus.kill()
        watch.sees("antidrift: The session bus has ended the connection.\n")
        assert watch.process.wait(DEADLINE) == 3


# The audit chain


def test_the_audit_is_read_without_bus_or_service(desk: Desk) -> None:
    for command in ("verify", "tail"):
        assert "No session has ended yet" in desk.says("audit", command, DBUS_SESSION_BUS_ADDRESS=None)
    assert json.loads(desk.says("audit", "tail", "--json")) == []


def test_a_chain_that_was_tampered_with_is_told_by_its_line(alone: Desk) -> None:
    for _ in range(3):
        alone.says("start", "Write")
        alone.call("Complete")
        alone.call("End")
    chain = alone.files / "audit.jsonl"
    whole = chain.read_bytes()
    good = json.loads(alone.says("audit", "verify", "--json"))
    assert (good["ok"], good["lines"], good["head"]) == (True, 3, good["remembered"])
    assert [s["next_action"] for s in json.loads(alone.says("audit", "tail", "-n", "2", "--json"))] == ["Write"] * 2

    chain.write_bytes(whole.replace(b"Write", b"Wrote", 2))
    said = alone.says("audit", "verify", status=1)
    assert said.startswith("antidrift: Line 1 of audit.jsonl is bad: its content was changed (hash_mismatch).")
    chain.write_bytes(b"".join(whole.splitlines(keepends=True)[:2]))
    said = alone.says("audit", "verify", status=1)
    assert "Line 3 of audit.jsonl is bad: it was there, and is missing with all that followed (truncated)" in said
    done = alone.run("audit", "verify", "--json")
    assert (done.returncode, json.loads(done.stdout)["reason"]) == (1, "truncated")
    findings = {f["check"]: f for f in json.loads(alone.says("doctor", "--json", status=1))["findings"]}
    assert findings["audit"]["level"] == "fault"


def test_a_reader_that_has_seen_enough_is_no_error(served: Desk) -> None:
    done = subprocess.run(
        f"{served.programs}/antidrift status | true; echo ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        env=served.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("0\n", "")


# The doctor


def doctor(desk: Desk, status: int, **environ: str | None) -> dict[str, tuple[str, str]]:
    """What is found, by the name of the check."""
    report = json.loads(desk.says("doctor", "--json", status=status, **environ))
    assert report["ok"] is (status == 0)
    return {finding["check"]: (finding["level"], finding["message"]) for finding in report["findings"]}


def test_the_doctor_finds_nothing_wrong_where_nothing_is(desk: Desk) -> None:
    StandIn("claude", desk.programs)
    todo, profile = desk.home / "todo.txt", desk.home / "profile.md"
    todo.write_text("one\ntwo\n")
    profile.write_text("likes cats")
    desk.configure(
        f'ai.backend = "claude"\nai.command = "{desk.programs}/claude"\nsensor.reporters = ["any"]\n'
        f'knowledge.path = "{profile}"\n[tasks]\nsource = "todo.txt"\npath = "{todo}"\n'
    )
    desk.start_service()
    found = doctor(desk, 0)
    assert [check for check, (level, _) in found.items() if level != "ok"] == ["windows", "idle", "lock", "sleep"]
    assert found["service"][1].startswith(f"The service runs: version {antidrift.__version__}, process ")
    assert found["ai"][1] == f"claude is found at {desk.programs}/claude."
    assert found["tasks"][1].endswith(": 2 are offered.")
    assert found["profile"][1].endswith(": 10 characters.")
    text = desk.says("doctor", COLUMNS="60")
    assert text.startswith("ok  There is a session bus.\n")
    assert text.endswith("\n\nNothing stops the work.\n")
    assert all(len(line) <= 60 for line in text.splitlines() if "/" not in line)


def test_the_doctor_tells_what_stops_the_work_from_what_does_not(desk: Desk) -> None:
    desk.configure("ai.backend = 7\n")
    desk.files.chmod(0o755)
    found = doctor(desk, 1)
    assert found["service"] == ("fault", "The AntiDrift service is not running. Start it with `antidriftd`.")
    assert found["windows"][0] == "fault"
    assert "`DISPLAY=:0 antidriftd`" in found["windows"][1]
    assert found["config"][0] == found["ai"][0] == "note"
    assert "ai.backend" in found["config"][1]
    assert found["files"] == ("note", f"Others may look into {desk.files}: close it with `chmod 700 {desk.files}`.")


def test_the_doctor_says_who_tells_of_absences_and_what_it_means_that_nobody_does(desk: Desk) -> None:
    found = doctor(desk, 1)
    assert found["idle"][1].endswith("time away counts as work, unless you lock the screen.")
    assert found["lock"][1] == "Nobody here tells when the screen is locked: a session goes on behind it."
    assert found["sleep"][1].endswith("but is noticed only on waking up.")
    with PrivateBus() as system_bus, FakeLogind(system_bus.address):
        found = doctor(desk, 1, DBUS_SYSTEM_BUS_ADDRESS=system_bus.address)
        assert found["sleep"] == ("ok", "logind tells when the machine is about to sleep; that pauses a session.")
        assert found["lock"][1].startswith("logind tells when the screen is locked, provided")
    with FakeMutter(desk.bus.address), FakeScreenSaver(desk.bus.address):
        found = doctor(desk, 1)
        assert found["idle"] == ("ok", "GNOME tells when neither keyboard nor pointer is used.")
        assert found["lock"] == ("ok", "GNOME tells when the screen is locked; that pauses a session.")
    with XServer() as server:
        found = doctor(desk, 1, DISPLAY=server.display)
        assert found["idle"] == ("ok", "The X server tells when neither keyboard nor pointer is used.")
        found = doctor(desk, 1, DISPLAY=server.display, XDG_SESSION_TYPE="wayland")
        assert found["idle"][0] == "note"


def test_the_doctor_does_without_a_bus(desk: Desk) -> None:
    found = doctor(desk, 1, DBUS_SESSION_BUS_ADDRESS=None)
    assert found["bus"][0] == "fault"
    assert "`dbus-run-session -- sh`" in found["bus"][1]
    assert "service" not in found
    assert found["audit"] == ("ok", "The audit chain is whole; it holds no session yet.")


def test_the_doctor_names_the_ai_program_that_is_missing_or_not_logged_in(desk: Desk) -> None:
    assert "install it (npm install -g @anthropic-ai/claude-code)" in doctor(desk, 1)["ai"][1]
    StandIn("claude", desk.programs).plays(logged_in=False)
    found = doctor(desk, 1)
    assert found["login"] == ("note", "claude is not logged in: run `claude` once in a terminal and log in.")


@pytest.mark.parametrize(
    ("privacy", "sees"),
    [
        ("", "window titles without addresses, numbers and the like;"),
        ('titles = "never"', "the classes of windows, and no title;"),
        (
            'titles = "full"\nexclude_apps = ["keepassxc"]',
            "window titles as they are, but those of 1 app that you excluded;",
        ),
        (
            'exclude_apps = ["a", "b"]',
            "window titles without addresses, numbers and the like, but those of 2 apps that you excluded;",
        ),
    ],
)
def test_the_doctor_says_what_an_ai_that_may_see_titles_sees(desk: Desk, privacy: str, sees: str) -> None:
    StandIn("claude", desk.programs)
    desk.configure(f'ai.backend = "claude"\n[privacy]\n{privacy}\n')
    level, message = doctor(desk, 1)["consent"]
    assert level == "ok"
    assert message == f"The AI may see {sees} `antidrift ai refuse` takes that back."


def test_the_doctor_sees_that_a_service_with_a_short_path_does_not_find_the_program(desk: Desk) -> None:
    elsewhere = desk.folder / "elsewhere"
    StandIn("claude", elsewhere)
    desk.start_service()
    full_path = f"{elsewhere}:{desk.environ['PATH']}"
    said = desk.says("sharpen", "x", status=1, PATH=full_path)
    assert said == (
        f"antidrift: claude is at {elsewhere}/claude, where the service does not look: "
        "`antidrift doctor` says what to do.\n"
    )
    message = doctor(desk, 1, PATH=full_path)["ai"][1]
    assert desk.daemon is not None
    assert message == (
        f'claude is at {elsewhere}/claude, where the service does not look: write `command = "{elsewhere}/claude"` '
        f"below [ai] in {desk.files}/config.toml, then `kill {desk.daemon.pid}; antidriftd`."
    )
    desk.stop_service()
    message = doctor(desk, 1, PATH=full_path)["ai"][1]
    assert "where a service that the desktop starts does not look: write `command =" in message


def test_the_doctor_sees_that_the_service_was_started_without_a_display_that_is_there(desk: Desk) -> None:
    desk.configure('ai.backend = "none"\n')
    desk.start_service()
    found = doctor(desk, 1, DISPLAY=":99")
    assert desk.daemon is not None
    restart = f"kill {desk.daemon.pid}; antidriftd"
    assert found["windows"] == (
        "fault",
        f"The service was started without DISPLAY and sees no window: restart it from here with `{restart}`.",
    )


def test_the_doctor_sees_a_display_that_does_not_answer(desk: Desk) -> None:
    found = doctor(desk, 1, DISPLAY=":987")
    assert found["windows"][1].startswith("The X server :987 cannot be reached, so no window is seen: ")


def test_the_doctor_sees_that_the_service_keeps_its_files_elsewhere(alone: Desk) -> None:
    found = json.loads(alone.says("doctor", "--json", ANTIDRIFT_HOME=str(alone.home)))["findings"]
    messages = [finding["message"] for finding in found]
    assert any(m.startswith(f"The service keeps its files in {alone.files}, this terminal") for m in messages)
    assert f"The files are in {alone.files}, for nobody else to see." in messages


def test_the_doctor_sees_files_that_cannot_be_kept(desk: Desk) -> None:
    desk.configure("")
    occupied = desk.home / "file"
    occupied.write_text("")
    assert doctor(desk, 1, ANTIDRIFT_HOME=str(occupied))["files"] == (
        "fault",
        f"{occupied} is not a folder: move it away, as with `mv {occupied} {occupied}.old`.",
    )
    assert doctor(desk, 1, ANTIDRIFT_HOME=str(occupied / "below"))["files"][0] == "fault"
    assert "will be made" in doctor(desk, 1, ANTIDRIFT_HOME=str(desk.home / "new"))["files"][1]
    (desk.files / "state.json").write_text("not ours")
    assert doctor(desk, 1)["snapshot"][1].startswith("state.json cannot be used")


@pytest.mark.parametrize(
    ("state", "level", "part"),
    [
        (1.0, Level.OK, "GNOME Shell reports the focused window (GNOME on Wayland)."),
        (2.0, Level.FAULT, "enable it with `gnome-extensions enable antidrift@antidrift.org`."),
        (None, Level.FAULT, "name a program that reports them in [sensor] reporters in config.toml."),
    ],
)
async def test_the_doctor_asks_gnome_shell_for_the_extension(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, state: float | None, level: Level, part: str
) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", desk.bus.address)
    shell = await SessionBus.open()
    if state is not None:
        await shell.claim_name("org.gnome.Shell")

    def answer(message: Message) -> Message | None:
        if message.member != "GetExtensionInfo":
            return None
        assert message.body == ["antidrift@antidrift.org"]
        return Message.new_method_return(message, "a{sv}", [{"state": Variant("d", state)}])

    shell.add_message_handler(answer)
    here = {"XDG_SESSION_TYPE": "wayland", "XDG_CURRENT_DESKTOP": "GNOME"}
    async with Client.connect() as client:
        finding = await check_windows(client, Service(), {}, here, (), Path("config.toml"))
    await shell.close()
    assert finding.level is level
    assert finding.message.endswith(part)
