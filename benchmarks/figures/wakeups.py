"""How often an idle service is given a processor: what keeps a laptop from resting. All its threads, for a minute."""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from benchmarks import process
from benchmarks.report import Report, Row
from benchmarks.scale import Scale
from support.private_bus import PrivateBus
from support.service import Service
from support.x_server import XServer

_SETTLE_SECS = 5.0
_AIM_LOCKED = 0
_AIM_ACTIVE = 4
_IN_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder below it is made by tempfile


def measure(scale: Scale, report: Report) -> None:
    with ExitStack() as running:
        server = running.enter_context(XServer())
        server.open_window("notes.txt", ("editor", "Editor")).focus()
        services = {"locked": _started(running, server), "active": _started(running, server)}
        if _IN_MEMORY.is_dir():
            home = Path(running.enter_context(tempfile.TemporaryDirectory(dir=_IN_MEMORY)))
            services["in memory"] = _started(running, server, home)
        for what, service in services.items():
            if what != "locked":
                _begin_session(service)
        time.sleep(_SETTLE_SECS)
        # All of them at once: none does anything that another could notice.
        secs = scale(60, least=5)
        before = {what: process.context_switches(service.pid) for what, service in services.items()}
        time.sleep(secs)
        found = {what: process.context_switches(service.pid) - before[what] for what, service in services.items()}

    report.add(
        Row(
            f"context switches in {secs} s, locked",
            str(found["locked"]),
            aim=str(_AIM_LOCKED),
            reached=found["locked"] <= _AIM_LOCKED,
        )
    )
    report.add(
        Row(
            f"context switches in {secs} s, active, nothing happens",
            str(found["active"]),
            f"with its files in memory, where no disk is waited for: {found['in memory']}"
            if "in memory" in found
            else "",
            aim=f"≤ {_AIM_ACTIVE}",
            reached=found["active"] <= _AIM_ACTIVE,
        )
    )


def _started(running: ExitStack, server: XServer, home: Path | None = None) -> Service:
    bus = running.enter_context(PrivateBus())
    return running.enter_context(Service(bus, home, DISPLAY=server.display))


def _begin_session(service: Service) -> None:
    service.call("EnterPlanning")
    service.call("StartCommitment", "ssxas", "Measure", "It is measured", 7200, ["editor"])
    service.wait_for(lambda state: state["evidence"]["window"])
