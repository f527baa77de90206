"""A session bus of its own for a test: a real `dbus-daemon` in a temporary folder."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

START_SECS = 20.0

# What the session.conf that comes with dbus-daemon allows; its built-in limits are those of a system bus.
_LIMITS = {
    "max_incoming_bytes": 1_000_000_000,
    "max_outgoing_bytes": 1_000_000_000,
    "max_message_size": 1_000_000_000,
    "max_completed_connections": 100_000,
    "max_connections_per_user": 100_000,
    "max_match_rules_per_connection": 50_000,
    "max_replies_per_connection": 50_000,
}

_PR_SET_PDEATHSIG = 1  # prctl(2)
_libc = ctypes.CDLL(None)


class PrivateBus:
    """Context manager around one `dbus-daemon`. Nothing outlives it, not even when the test run is killed.

    `service_dirs` hold `.service` files for activation; what the daemon activates gets `environment` (by default that
    of the tests). The socket is `folder / "bus"`, as in a user's $XDG_RUNTIME_DIR.
    """

    def __init__(self, service_dirs: Sequence[Path] = (), environment: Mapping[str, str] | None = None) -> None:
        self._service_dirs = service_dirs
        self._environment = environment
        self.address = ""

    def __enter__(self) -> Self:
        # Not pytest's tmp_path: a socket's path must fit in 107 bytes.
        self._temporary = tempfile.TemporaryDirectory(prefix="private-bus-")
        self.folder = Path(self._temporary.name)
        (self.folder / "bus.conf").write_text(self._config())
        try:
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, where: TracebackType | None
    ) -> None:
        self.kill()
        self._temporary.cleanup()

    def start(self) -> None:
        """Starts the daemon; after `kill`, a new one at the same address, which knows nobody."""
        (self.folder / "bus").unlink(missing_ok=True)
        self._daemon = subprocess.Popen(
            [
                "dbus-daemon",
                f"--config-file={self.folder / 'bus.conf'}",
                "--nofork",
                "--nopidfile",
                "--nosyslog",
                "--print-address",
            ],
            stdout=subprocess.PIPE,
            env=self._environment,
            preexec_fn=_die_with_parent,
        )
        # Without the number of this daemon ("guid="), so that it is the address of the next one too.
        self.address, _, _ = self._read_address().partition(",guid=")

    @property
    def pid(self) -> int:
        return self._daemon.pid

    def env(self, **more: str) -> dict[str, str]:
        """The environment for a program that shall find this bus, and no other."""
        found = {name: value for name, value in os.environ.items() if not name.startswith("DBUS_")}
        return {**found, "DBUS_SESSION_BUS_ADDRESS": self.address, **more}

    def freeze(self) -> None:
        """Stops the daemon as a machine under load does: connections stay, nothing is read. Returns when it stands."""
        self._daemon.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self._daemon.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def thaw(self) -> None:
        self._daemon.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """Ends the daemon at once, frozen or not; every connection breaks. May be called again."""
        self._daemon.kill()
        self._daemon.wait()
        if self._daemon.stdout is not None:
            self._daemon.stdout.close()

    def _config(self) -> str:
        service_dirs = "".join(f"<servicedir>{folder}</servicedir>" for folder in self._service_dirs)
        limits = "".join(f'<limit name="{name}">{value}</limit>' for name, value in _LIMITS.items())
        return (
            "<busconfig><type>session</type>"
            f"<listen>unix:path={self.folder}/bus</listen><auth>EXTERNAL</auth>{service_dirs}"
            '<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>'
            f'<allow own="*"/></policy>{limits}</busconfig>'
        )

    def _read_address(self) -> str:
        assert self._daemon.stdout is not None
        readable, _, _ = select.select([self._daemon.stdout], [], [], START_SECS)
        address = self._daemon.stdout.readline().decode().strip() if readable else ""
        if not address:
            raise RuntimeError("dbus-daemon did not start")
        return address


def _die_with_parent() -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
