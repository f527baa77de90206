"""The service as it is found: not there, or running in an environment of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from antidrift import __version__
from antidrift.bus.client import Client, ServiceAbsent, State
from antidrift.cli.doctor.finding import Finding, fault, good, note
from antidrift.cli.failures import FAILURES, daemon_command, explained
from antidrift.config import Paths


@dataclass(frozen=True, slots=True)
class Service:
    """What is known of the service. `environ` is its environment; None: it does not run, or cannot be looked into."""

    state: State | None = None
    pid: int | None = None
    environ: Mapping[str, str] | None = None

    @property
    def restart(self) -> str:
        """The command that makes it start anew, or start."""
        if self.pid is None:
            return daemon_command()
        if self.by_systemd:
            return "systemctl --user restart antidrift"
        return f"kill {self.pid}; {daemon_command()}"

    @property
    def by_systemd(self) -> bool:
        """Whether systemd has started it (systemd.exec(5), SYSTEMD_EXEC_PID)."""
        return self.environ is not None and self.environ.get("SYSTEMD_EXEC_PID") == str(self.pid)


async def find_service(client: Client, here: Mapping[str, str]) -> tuple[Service, list[Finding]]:
    """The service, and what is to be said about it. `here` is the environment of this command."""
    try:
        state = await client.state(start=False)
        version = await client.version()
        pid = await client.process_id()
    except ServiceAbsent as absent:
        finding = note if absent.activatable else fault
        return Service(), [finding("service", explained(absent)[0])]
    except FAILURES as failure:
        return Service(), [fault("service", explained(failure)[0])]
    service = Service(state, pid, environment_of(pid))
    findings = [good("service", f"The service runs: version {version}, process {pid}.")]
    if version != __version__:
        older = f"The service that runs is version {version}, this is {__version__}"
        findings = [note("service", f"{older}: restart it with `{service.restart}`.")]
    if service.environ is not None:
        theirs, ours = (Paths.from_environment(environ).state_dir for environ in (service.environ, here))
        if theirs != ours:
            where = f"The service keeps its files in {theirs}, this terminal would look in {ours}"
            findings.append(note("service", f"{where}: restart it from here with `{service.restart}`."))
    return service, findings


def environment_of(pid: int | None) -> dict[str, str] | None:
    """The environment with which a process was started; None where it cannot be read."""
    try:
        raw = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return None
    pairs = (entry.partition(b"=") for entry in raw.split(b"\0") if entry)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}
