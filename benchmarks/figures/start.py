"""How long the service takes to start: from the start of the process until it owns its name."""

# ruff: noqa: S603 - the programs are ours

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from antidrift.bus.connection import SessionBus
from antidrift.bus.names import BUS_NAME
from benchmarks.report import Report, Row
from benchmarks.sample import Sample
from benchmarks.scale import Scale
from support.private_bus import PrivateBus
from support.service import Service

_DEADLINE_SECS = 30.0
_DAEMON = [sys.executable, "-m", "antidrift"]
_IMPORTS = {
    "asyncio": "import asyncio",
    "libraries": "import asyncio, dbus_next.aio, dbus_next.service; from pydantic import BaseModel",
}
_KINDS = ("fresh", "snapshot", *_IMPORTS)
_SHOWN = 5


def measure(scale: Scale, report: Report) -> None:
    with PrivateBus() as bus, tempfile.TemporaryDirectory() as folder:
        environment = _environment(bus)
        kept = Path(folder, "kept")
        _leave_a_session(bus, kept)
        taken = asyncio.run(_take_turns(bus.address, environment, Path(folder), kept, scale(10, least=3)))
        asyncio_ms, libraries_ms = taken["asyncio"].median, taken["libraries"].median
        for what in ("fresh", "snapshot"):
            ours = taken[what]
            report.add(
                Row(
                    f"start → name owned, {'no files' if what == 'fresh' else 'a snapshot and an audit'}",
                    f"{ours.median:.0f} ms",
                    f"importing asyncio {asyncio_ms:.0f} ms; asyncio, dbus_next, pydantic {libraries_ms:.0f} ms",
                    f"{ours.median / asyncio_ms:.1f}; {ours.median / libraries_ms:.2f}",
                )
            )
        costs = _cost_of_imports(environment | {"ANTIDRIFT_HOME": str(kept / "antidrift")})
        dearest = sorted(costs.items(), key=lambda item: -item[1])[:_SHOWN]
        report.note(
            "What the start imports, the five dearest, each with what it imports itself (`-X importtime`, which slows "
            "all of it): " + ", ".join(f"`{name}` {ms:.0f} ms" for name, ms in dearest) + "."
        )


async def _take_turns(
    address: str, environment: dict[str, str], folder: Path, kept: Path, times: int
) -> dict[str, Sample]:
    """Milliseconds. Each turn does everything once, so that a busy minute falls on everything."""
    bus = await SessionBus.open(address)
    watcher = _Watcher()
    await bus.watch_name(BUS_NAME, watcher.changed)
    taken: dict[str, list[float]] = defaultdict(list)
    for turn in range(-1, times):  # the first one, which fills the caches, does not count
        for what in sorted(_KINDS, key=lambda kind: (_KINDS.index(kind) + turn) % len(_KINDS)):
            match what:
                case "fresh":
                    ms = await _start(watcher, environment | {"ANTIDRIFT_HOME": str(folder / f"fresh-{turn}")})
                case "snapshot":
                    ms = await _start(watcher, environment | {"ANTIDRIFT_HOME": str(kept / "antidrift")})
                case _:
                    ms = _import(_IMPORTS[what], environment)
            if turn >= 0:
                taken[what].append(ms)
    await bus.close()
    return {what: Sample.of(values) for what, values in taken.items()}


class _Watcher:
    """Waits for the name to be owned, or free again."""

    def __init__(self) -> None:
        self._waiting: asyncio.Future[float] | None = None
        self._owned = False

    def changed(self, owner: str | None) -> None:
        if self._waiting is not None and not self._waiting.done() and self._owned is (owner is not None):
            self._waiting.set_result(time.perf_counter())

    async def when(self, *, owned: bool) -> float:
        self._owned, self._waiting = owned, asyncio.get_running_loop().create_future()
        async with asyncio.timeout(_DEADLINE_SECS):
            return await self._waiting


async def _start(watcher: _Watcher, environment: Mapping[str, str]) -> float:
    began = time.perf_counter()
    process = subprocess.Popen(_DAEMON, env=environment, stderr=subprocess.DEVNULL)  # noqa: ASYNC220 - it is being timed
    try:
        owned = await watcher.when(owned=True)
        process.terminate()
        await watcher.when(owned=False)
        process.wait(_DEADLINE_SECS)
    finally:
        process.kill()
        process.wait()
    return (owned - began) * 1000


def _import(statement: str, environment: Mapping[str, str]) -> float:
    """Until the modules are there; what ending the interpreter takes is not counted, as it is not with the service."""
    program = f"{statement}; import os; os.write(1, b'.')"
    began = time.perf_counter()
    with subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        there = time.perf_counter()
    return (there - began) * 1000


def _environment(bus: PrivateBus) -> dict[str, str]:
    """As a session manager gives it. A variable for Python, such as the one against byte code files, would tell."""
    plain = {name: value for name, value in bus.env().items() if not name.startswith("PYTHON")}
    return plain | {"ANTIDRIFT_AI_BACKEND": "none", "DISPLAY": ""}


def _leave_a_session(bus: PrivateBus, home: Path) -> None:
    home.mkdir()
    with Service(bus, home) as service:
        service.call("EnterPlanning")
        service.call("StartCommitment", "ssxas", "Measure", "It is measured", 1500, ["editor"])
        service.call("Complete")
        service.call("End")


def _cost_of_imports(environment: Mapping[str, str]) -> dict[str, float]:
    """Milliseconds for each package that a module of ours imports from elsewhere, and for our own."""
    command = [sys.executable, "-X", "importtime", "-m", "antidrift"]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    lines = []
    assert process.stderr is not None
    for line in process.stderr:
        lines.append(line)
        if "is served" in line:
            os.kill(process.pid, signal.SIGTERM)
    process.wait(_DEADLINE_SECS)
    costs: dict[str, float] = defaultdict(float)
    for name, importer, own, whole in _imports(lines):
        package, by = name.split(".")[0], importer.split(".")[0]
        if package == "antidrift":
            costs["antidrift"] += own / 1000
        elif by in ("antidrift", ""):
            costs[package] += whole / 1000
    return costs


def _imports(lines: list[str]) -> Iterator[tuple[str, str, int, int]]:
    """Each module, the one that imported it ("": none), and its own and whole time in microseconds."""
    # A line comes when its import ends, so whoever imported it is the next line that is indented less.
    found: list[tuple[int, str, int, int]] = []
    for line in lines:
        fields = line.removeprefix("import time:").split("|")
        if line.startswith("import time:") and len(fields) == 3 and fields[0].strip().isdigit():
            name = fields[2].rstrip()
            found.append((len(name) - len(name.lstrip()), name.strip(), int(fields[0]), int(fields[1])))
    for at, (depth, name, own, whole) in enumerate(found):
        importer = next((other for further, other, _, _ in found[at + 1 :] if further < depth), "")
        yield name, importer, own, whole
