"""How often an idle service is given a processor: what keeps a laptop from resting. All its threads, for a minute."""

from __future__ import annotations

import time

from benchmarks import process
from benchmarks.report import Report, Row
from benchmarks.scale import Scale
from support.private_bus import PrivateBus
from support.service import Service
from support.x_server import XServer

_SETTLE_SECS = 5.0
_AIM_LOCKED = 0
_AIM_ACTIVE = 4


def measure(scale: Scale, report: Report) -> None:
    with (
        XServer() as server,
        PrivateBus() as one_bus,
        PrivateBus() as other_bus,
        Service(one_bus, DISPLAY=server.display) as locked,
        Service(other_bus, DISPLAY=server.display) as active,
    ):
        server.open_window("notes.txt", ("editor", "Editor")).focus()
        active.call("EnterPlanning")
        active.call("StartCommitment", "ssxas", "Measure", "It is measured", 7200, ["editor"])
        active.wait_for(lambda state: state["evidence"]["window"])
        time.sleep(_SETTLE_SECS)
        # Both at once: neither does anything that the other could notice.
        secs = scale(60, least=5)
        before = {service: process.context_switches(service.pid) for service in (locked, active)}
        time.sleep(secs)
        found = {service: process.context_switches(service.pid) - before[service] for service in before}
        for service, phase, aim in ((locked, "locked", _AIM_LOCKED), (active, "active, nothing happens", _AIM_ACTIVE)):
            switches = found[service]
            aimed = "0" if aim == 0 else f"≤ {aim}"
            report.add(Row(f"context switches in {secs} s, {phase}", f"{switches}", aim=aimed, reached=switches <= aim))
