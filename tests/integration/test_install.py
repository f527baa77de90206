"""Installed for a person of the test's own, from this tree, as a person does it: used, upgraded, taken away.

The tests share one installation, since one takes a quarter of a minute, and run in the order in which they stand. There
is no systemd user manager in a test, so `systemctl` is a stand-in.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from antidrift.bus.names import BUS_NAME, INTERFACE, OBJECT_PATH
from support.private_bus import PrivateBus
from support.service import Client

TREE = Path(__file__).parents[2]
SHORT_PATH = "/usr/local/bin:/usr/bin:/bin"
INSTALL_SECS = 300.0
DEADLINE = 20.0


Result = subprocess.CompletedProcess[str]


class Person:
    """A home of their own, with a space in its name, and nothing else of the environment that matters here."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.data = home / ".local/share"
        self.program = self.data / "antidrift"
        self.command = home / ".local/bin/antidrift"
        self.state = home / ".local/state/antidrift"
        self.said = ""
        self.asked: list[str] = []
        (home / "runtime").mkdir(parents=True)
        self.environment = {
            # How this machine reaches its package index, and where pip keeps what it has fetched before.
            **{name: value for name, value in os.environ.items() if name.startswith("PIP_")},
            "PIP_CACHE_DIR": os.environ.get("PIP_CACHE_DIR", os.path.expanduser("~/.cache/pip")),
            "PATH": SHORT_PATH,
            "PYTHON": sys.executable,
            "HOME": str(home),
            "XDG_RUNTIME_DIR": str(home / "runtime"),
            "LC_ALL": "C.UTF-8",
        }

    def run(self, *command: str | Path, within: float = DEADLINE, **environment: str) -> Result:
        """The result of a command, with its output and its complaints as one text."""
        return subprocess.run(
            command,
            cwd=TREE,
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=within,
            check=False,
        )

    def make(self, target: str, **environment: str) -> str:
        """What a make target that succeeds has to say."""
        done = self.run("make", "--no-print-directory", target, within=INSTALL_SECS, **environment)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def files(self) -> set[str]:
        """Everything below the home but the inside of the programs."""
        found = set()
        for folder, folders, names in os.walk(self.home):
            here = Path(folder).relative_to(self.home)
            links = [name for name in folders if Path(folder, name).is_symlink()]
            found |= {str(here / name) for name in (*names, *links)}
            folders[:] = [name for name in folders if not name.startswith("venv-")]
        return found

    def programs(self) -> set[Path]:
        return set(self.program.glob("venv-*"))

    def bus(self) -> PrivateBus:
        """Their session bus, which starts services as a desktop's does: with a short PATH."""
        environment = {name: self.environment[name] for name in ("HOME", "PATH", "LC_ALL")}
        return PrivateBus([self.data / "dbus-1/services"], environment={**environment, "ANTIDRIFT_AI_BACKEND": "none"})


def until(condition: Callable[[], object], what: str) -> None:
    ends = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < ends, f"not so within {DEADLINE:g} s: {what}"
        time.sleep(0.02)


class UserManager:
    """Stand-ins for `systemctl` and `systemd-run`, in a folder for a PATH. All goes well, and is written down."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._log = folder / "log"
        for name in ("systemctl", "systemd-run"):
            program = folder / name
            program.write_text(f'#!/bin/sh\necho "{name} $*" >>"{self._log}"\n')
            program.chmod(0o755)

    def asked(self) -> list[str]:
        return self._log.read_text().splitlines()


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Person:
    """They have installed AntiDrift, for the first time."""
    person = Person(tmp_path_factory.mktemp("install") / "home of a person")
    manager = UserManager(tmp_path_factory.mktemp("manager"))
    person.said = person.make("install", PATH=f"{manager.folder}:{SHORT_PATH}")
    person.asked = manager.asked()
    return person


@pytest.fixture(scope="module")
def bus(person: Person) -> Iterator[PrivateBus]:
    with person.bus() as bus:
        person.environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address
        yield bus
    del person.environment["DBUS_SESSION_BUS_ADDRESS"]


def service_of(bus: PrivateBus) -> int | None:
    with Client(bus.address) as client:
        return client.process_of(BUS_NAME)


def program_of(pid: int) -> Path:
    """The `venv-…` that a process runs from."""
    interpreter = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0]
    return Path(os.fsdecode(interpreter)).parents[1]


def test_installing_puts_everything_where_it_is_looked_for(person: Person) -> None:
    extension = {file for file in person.files() if file.startswith(".local/share/gnome-shell/extensions/")}
    assert person.files() - extension == {
        ".local/bin/antidrift",
        ".local/bin/antidriftd",
        ".local/share/antidrift/venv",
        ".local/share/dbus-1/services/org.antidrift.Session.service",
        ".config/systemd/user/antidrift.service",
        ".local/share/man/man1/antidrift.1",
        ".local/share/man/man1/antidriftd.1",
        ".local/share/bash-completion/completions/antidrift",
        ".local/share/zsh/site-functions/_antidrift",
        ".local/share/fish/vendor_completions.d/antidrift.fish",
    }
    assert person.run(person.command, "--version").stdout.startswith("antidrift ")


def test_installing_enables_the_unit_and_says_what_is_next(person: Person) -> None:
    assert person.asked == [
        "systemctl --user daemon-reload",
        "systemctl --user enable --quiet antidrift.service",
        "systemctl --user try-restart antidrift.service",
    ]
    assert "No session bus answers here" in person.said
    assert f"{person.command} doctor" in person.said, "the short name is offered only if it is on the PATH"


def test_what_is_installed_does_not_need_the_tree(person: Person) -> None:
    where = person.run(person.program / "venv/bin/python", "-c", "import antidrift; print(*antidrift.__path__)").stdout
    packages = Path(where.strip())
    assert packages.is_relative_to(person.program)
    assert (packages / "py.typed").exists()
    prompts = {file.name for file in TREE.glob("service/antidrift/roles/prompts/*.md")}
    assert {file.name for file in packages.glob("roles/prompts/*.md")} == prompts != set()


def test_the_first_call_starts_the_service(person: Person, bus: PrivateBus) -> None:
    assert service_of(bus) is None
    call = ("busctl", "--user", "--json=short", "call", BUS_NAME, OBJECT_PATH, INTERFACE)
    planning = person.run(*call, "EnterPlanning")
    assert planning.returncode == 0, planning.stdout
    state = json.loads(json.loads(person.run(*call, "GetState").stdout)["data"][0])
    assert state["runtime_state"] == "planning"
    pid = service_of(bus)
    assert pid is not None
    assert program_of(pid) == (person.program / "venv").resolve()


def test_a_whole_session_runs_with_what_is_installed(person: Person, bus: PrivateBus) -> None:
    for command in (
        ("start", "Write the test", "--minutes", "30"),
        ("extend", "5"),
        ("status",),
        ("complete",),
        ("end",),
    ):
        done = person.run(person.command, *command)
        assert done.returncode == 0, (command, done.stdout)
    assert "Write the test" in person.run(person.command, "audit", "tail").stdout
    assert person.run(person.command, "audit", "verify").returncode == 0


def test_a_failure_on_the_way_changes_nothing(person: Person, tmp_path: Path) -> None:
    before, programs = person.files(), person.programs()
    no_network = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path), "PIP_CONFIG_FILE": os.devnull}
    failed = person.run("make", "install", within=INSTALL_SECS, **no_network)
    assert failed.returncode != 0
    assert "is installed." not in failed.stdout
    assert (person.files(), person.programs()) == (before, programs)
    assert person.run(person.command, "--version").returncode == 0


def test_a_command_of_the_same_name_from_elsewhere_is_not_replaced(person: Person, tmp_path: Path) -> None:
    other = Person(tmp_path / "other")
    other.command.parent.mkdir(parents=True)
    other.command.write_text("something else")
    refused = other.run("make", "install", within=INSTALL_SECS)
    assert refused.returncode != 0
    assert f"{other.command} is not of this installation" in refused.stdout
    assert other.files() == {".local/bin/antidrift"}


def test_upgrading_leaves_a_running_service_its_program_and_says_how_to_end_it(
    person: Person, bus: PrivateBus, tmp_path: Path
) -> None:
    assert person.run(person.command, "plan").returncode == 0
    old = service_of(bus)
    assert old is not None
    before, files = person.programs(), person.files()

    manager = UserManager(tmp_path)
    said = person.make("install", NO_AI="1", PATH=f"{manager.folder}:{person.command.parent}:{SHORT_PATH}")
    assert manager.asked() == [
        "systemctl --user daemon-reload",  # and no "enable": somebody may have disabled it since
        "systemd-run --user --wait --quiet -p PrivateUsers=yes -p ProtectSystem=strict true",
        "systemctl --user try-restart antidrift.service",
    ]
    assert f"kill {old}" in said
    assert "antidrift doctor" in said
    assert str(person.command) not in said, "it is on the PATH"
    assert person.files() == files | {".config/systemd/user/antidrift.service.d/no-ai.conf"}
    assert person.programs() == before | {(person.program / "venv").resolve()}
    assert program_of(old) in before

    os.kill(old, signal.SIGTERM)
    until(lambda: service_of(bus) is None, "the old service has ended")
    assert person.run(person.command, "start", "Go on").returncode == 0, "it is still planning"
    new = service_of(bus)
    assert new is not None
    assert program_of(new) == (person.program / "venv").resolve()


def test_uninstalling_takes_away_everything_but_the_sessions(person: Person, bus: PrivateBus) -> None:
    own = person.home / ".local/share/man/man1/mine.1"
    own.write_text("not of AntiDrift")
    assert person.run(person.command, "status").returncode == 0, "the service runs"
    said = person.make("uninstall")
    assert service_of(bus) is None
    kept = {file for file in person.files() if not file.startswith(".local/state/antidrift/")}
    assert kept == {".local/share/man/man1/mine.1"}
    assert (person.state / "audit.jsonl").exists()
    assert str(person.state) in said
    assert not person.program.exists()
    assert not (person.home / ".local/bin").exists(), "folders that are empty now are gone too"

    assert "sessions and settings are gone" in person.make("uninstall", PURGE="1"), "it may be run again"
    assert not person.state.exists()
    own.unlink()
