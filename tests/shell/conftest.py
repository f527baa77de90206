"""One GNOME Shell for all tests that need one, with the extension in it, and the real service on its bus.

Where the tests run inside `lab run` already (`make test-shell`, which needs no root), they use that shell; otherwise
the first of them starts one, and the last ends it. A test fails if a stack trace of the extension reached the log of
the shell while it ran.
"""

from __future__ import annotations

import base64
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from shell.drive import Desktop
from shell.panel import Panel
from support.service import Service

HERE = Path(__file__).parent
EXTENSION = HERE.parents[1] / "gnome-extension"


class Lab:
    """What a run of the lab has told about itself."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self.uuid = environment["LAB_UUID"]
        self.address = environment["DBUS_SESSION_BUS_ADDRESS"]
        self.state = Path(environment["LAB_STATE"])
        """A folder that the host and the shell see at the same path."""
        self.home = self.state / "home"
        """The home of the person in the GNOME root."""

    @property
    def log(self) -> str:
        """What the shell has written to standard error."""
        return Path(self._environment["LAB_LOG"]).read_text(errors="replace")

    def start(self, *command: str, **options: Any) -> subprocess.Popen[str]:
        """Starts a program of the GNOME root, such as xterm, on the bus and display of the run."""
        return subprocess.Popen(
            [str(HERE / "lab"), "enter", *command],
            env=self._environment,
            text=True,
            **{"stdin": subprocess.DEVNULL, **options},
        )

    def run(self, *command: str) -> str:
        """What such a program prints, once it has ended well."""
        program = self.start(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        printed, complained = program.communicate(timeout=60)
        assert program.returncode == 0, complained
        return printed

    def host_command(self, *command: str) -> str:
        """How a program in the GNOME root, such as the bus, runs a program of the host: the Exec= of a service file."""
        return " ".join([self._environment["LAB_HOST_EXEC"], *command])

    def gsettings(self, schema: str, key: str, value: str) -> None:
        """Changes a setting, as a person would in a dialog; it acts at once."""
        schemas = self.home / f".local/share/gnome-shell/extensions/{self.uuid}/schemas"
        own = ["--schemadir", str(schemas)] if schema.endswith(".antidrift") else []
        self.run("gsettings", *own, "set", schema, key, value)


class LabService(Service):
    """The service on the bus of the lab, whose daemon cannot name processes outside of its own namespace."""

    def _owns_its_name(self) -> bool:
        return self.client.connection.name_has_owner("org.antidrift.Session")


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    """A GNOME Shell with the extension enabled."""
    if "LAB_STATE" in os.environ:
        yield Lab(os.environ)
        return
    # What runs beside the shell says where it is, and then waits for the end of its input.
    command = [str(HERE / "lab"), "run", str(EXTENSION), "--", "sh", "-c", "env -0 | base64 -w0; echo; exec cat"]
    with tempfile.TemporaryFile("w+") as complaints:
        run = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, text=True)
        assert run.stdin is not None
        assert run.stdout is not None
        said = base64.b64decode(run.stdout.readline()).decode(errors="surrogateescape")
        if said:
            environment = dict(line.split("=", 1) for line in said.split("\0") if line)
            yield Lab({**environment, "LAB_OUTSIDE": "1"})
        run.stdin.close()
        run.stdout.close()
        status = run.wait(60)
        complaints.seek(0)
        assert status == 0, f"the lab ended with status {status}:\n{complaints.read()}"


@pytest.fixture(scope="session")
def _connection(lab: Lab) -> Iterator[Desktop]:
    desktop = Desktop(lab.address, lab.state)
    yield desktop
    desktop.close()


@pytest.fixture
def desktop(lab: Lab, _connection: Desktop) -> Iterator[Desktop]:
    """The shell, with no menu open and nothing typed; checked afterwards for stack traces of the extension."""
    before = len(lab.log)
    yield _connection
    _connection.js(f"Main.panel.statusArea['{lab.uuid}']?.menu.close()")
    module = f"Main.extensionManager.lookup('{lab.uuid}').dir.get_child('lib/draft.js').get_uri()"
    _connection.js(f"import({module}).then(({{draft}}) => draft.clear())")
    said = lab.log[before:]
    if f"extensions/{lab.uuid}/" in said:
        sys.stderr.write(said)
        pytest.fail("the extension left a stack trace in the log of the shell")


@pytest.fixture
def panel(desktop: Desktop, lab: Lab) -> Panel:
    """The panel button and its menu."""
    return Panel(desktop, lab.uuid)


@pytest.fixture
def service(lab: Lab) -> Iterator[Service]:
    """The real service, without an AI, on the bus of the shell; new and empty for each test."""
    with LabService(lab) as service:
        yield service
