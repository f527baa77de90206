"""How much memory the service takes, and whether calls leave something behind."""

from __future__ import annotations

import sys

from benchmarks import process, programs
from benchmarks.report import Report, Row
from benchmarks.scale import Scale
from support.private_bus import PrivateBus
from support.service import Service

_AIM_KIB = 500
_LIBRARIES = "import asyncio, dbus_next.aio, dbus_next.service; from pydantic import BaseModel"


def measure(scale: Scale, report: Report) -> None:
    with programs.compiled("soak") as [soak], PrivateBus() as bus, Service(bus) as service:
        idle = process.memory(service.pid)
        libraries = _memory_of_libraries(bus)
        report.add(
            Row(
                "memory, locked",
                str(idle),
                f"Python with asyncio, dbus_next, pydantic: {libraries}",
                f"{idle.pss / libraries.pss:.2f} (PSS)",
            )
        )
        service.call("EnterPlanning")
        service.call("StartCommitment", "ssxas", "Measure", "It is measured", 7200, ["editor"])
        first, rest = scale(10_000), scale(90_000)
        answers = [_soak(soak, first, bus)]
        before = process.memory(service.pid)
        answers.append(_soak(soak, rest, bus))
        after = process.memory(service.pid)
        answered, refused, limited = (sum(numbers) for numbers in zip(*answers, strict=True))
        growth = after.rss - before.rss
        report.add(
            Row(
                f"memory after {first + rest:,} calls ({answered:,} `GetState`, {refused:,} refused, "
                f"{limited:,} over the rate limit)",
                f"{after}; {growth:+} KiB since call {first:,}",
                f"after {first:,} calls: {before}",
                f"{after.rss / before.rss:.3f}",
                f"< {_AIM_KIB} KiB growth",
                growth < _AIM_KIB,
            )
        )


def _soak(program: str, calls: int, bus: PrivateBus) -> tuple[int, ...]:
    return tuple(map(int, programs.output([program, str(calls)], bus.env()).split()))


def _memory_of_libraries(bus: PrivateBus) -> process.Memory:
    command = [sys.executable, "-c", f"{_LIBRARIES}; import time; print('ready', flush=True); time.sleep(60)"]
    with programs.running(command, bus.env()) as child:
        return process.memory(child.pid)
