"""What a client waits for GetState, against a service on the same library that answers with the same constant text."""

from __future__ import annotations

import statistics
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from antidrift.bus.names import BUS_NAME, INTERFACE, OBJECT_PATH
from benchmarks import programs
from benchmarks.report import Report, Row
from benchmarks.scale import Scale
from support.private_bus import PrivateBus
from support.service import Service

_AIM = 1.3
_BARE = "org.antidrift.bench.Bare"
_FLOOR = "org.antidrift.bench.Floor"
_BUCKETS = 20


def measure(scale: Scale, report: Report) -> None:
    with (
        programs.compiled("round_trip", "floor") as [round_trip, floor],
        PrivateBus() as bus,
        Service(bus) as service,
    ):
        _let_anybody_report(service)
        _compare("locked", bus, service, round_trip, floor, scale, report)
        service.call("EnterPlanning")
        service.wait_for(lambda state: state["tasks"]["status"] == "absent")
        _compare("planning", bus, service, round_trip, floor, scale, report)
        service.call("StartCommitment", "ssxas", "Measure", "It is measured", 7200, ["editor"])
        _fill_buckets(service)
        _compare(f"active, {_BUCKETS} buckets", bus, service, round_trip, floor, scale, report)


def _let_anybody_report(service: Service) -> None:
    """So that windows come over the bus, and no X server takes part."""
    service.stop()
    (service.folder / "config.toml").write_text('[sensor]\nreporters = ["any"]\n')
    service.start()


def _fill_buckets(service: Service) -> None:
    for n in range(_BUCKETS + 1):  # a bucket opens when its window has had the focus for some time
        window = {"class": "editor", "title": f"chapter {n}, and what it is about – Editor"}
        service.client.connection.call_blocking(BUS_NAME, OBJECT_PATH, INTERFACE, "ReportFocus", "a{sv}", (window,))
        time.sleep(0.005)  # the service counts in whole milliseconds
    service.wait_for(lambda state: len(state["evidence"]["buckets"]) == _BUCKETS)


def _compare(
    phase: str, bus: PrivateBus, service: Service, round_trip: str, floor: str, scale: Scale, report: Report
) -> None:
    answer = str(service.client.call("GetState"))
    with tempfile.TemporaryDirectory() as folder, ExitStack() as children:
        constant = Path(folder, "answer")
        constant.write_text(answer)
        for command in (programs.python("bare"), [floor]):
            name = _FLOOR if command == [floor] else _BARE
            children.enter_context(programs.running([*command, name, str(constant)], bus.env()))
        rounds, calls = scale(150, least=10), 20
        names = (BUS_NAME, _BARE, _FLOOR)
        said = programs.output([round_trip, str(rounds), str(calls), *names], bus.env())
    medians: dict[int, list[float]] = {number: [] for number in range(len(names))}
    for line in said.splitlines():
        number, median = line.split()
        medians[int(number)].append(float(median))
    ours, bare, bottom = (statistics.median(medians[number]) for number in range(len(names)))
    ratio = statistics.median(a / b for a, b in zip(medians[0], medians[1], strict=True))
    report.add(
        Row(
            f"`GetState` round trip, {phase} ({len(answer.encode()):,} bytes)",
            f"{ours:.0f} µs",
            f"constant text on the same library {bare:.0f} µs; in C {bottom:.0f} µs",
            f"{ratio:.2f}",
            f"≤ {_AIM}",
            ratio <= _AIM,
        )
    )
