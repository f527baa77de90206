"""A hundred thousand signals, while a monitor that is attached to the bus stands still."""

# ruff: noqa: S603 - the program is busctl

from __future__ import annotations

import json
import select
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Timer

from antidrift.bus.names import INTERFACE
from benchmarks import programs
from benchmarks.report import Report, Row
from benchmarks.scale import Scale
from soak import load
from soak.load import REPORTER, Answers, Clients, Desk

_AIM_KIB = 1024
_PATIENCE_SECS = 300


@dataclass(frozen=True, slots=True)
class Heard:
    """What came of the signals. `growth` in KiB, while the monitor stood still."""

    signals: int
    by_monitor: int
    others: Answers
    growth: int


def emit(desk: Desk, first: int, rest: int) -> Heard:
    """As many signals as reports, of a window that is allowed and one that is not, in turns: each changes what shows.

    `first` signals before memory is looked at, `rest` after that, other clients calling meanwhile. Raises
    CalledProcessError if a client is disconnected.
    """
    desk.lock()
    desk.start_session(7200, "editor")
    with _monitor(desk) as monitor:
        began = desk.state()["seq"]
        monitor.send_signal(signal.SIGSTOP)
        _report_beside_others(desk, first)
        before = desk.memory()
        others = _report_beside_others(desk, rest)
        growth = desk.memory() - before
        last = desk.state()["seq"]
        monitor.send_signal(signal.SIGCONT)
        by_monitor = _numbers_until(last, monitor)
    desk.lock()
    return Heard(last - began, len([n for n in by_monitor if n > began]), others, growth)


def measure(scale: Scale, report: Report) -> None:
    first, rest = scale(10_000), scale(90_000)
    with load.desk() as desk:
        found = emit(desk, first, rest)
    others = found.others
    report.add(
        Row(
            f"{found.signals:,} signals while a monitor stands still",
            f"{found.by_monitor:,} of them heard by it when it goes on; 0 disconnects",
            aim=f"≥ {first + rest:,} signals, all heard",
            reached=found.by_monitor == found.signals >= first + rest,
        )
    )
    report.add(
        Row(
            f"… memory of the service after the first {first:,}",
            f"{found.growth:+,} KiB",
            aim=f"≤ {_AIM_KIB:,} KiB",
            reached=found.growth <= _AIM_KIB,
        )
    )
    report.add(
        Row(
            f"… {others.number:,} calls of two other clients meanwhile",
            f"{others.latency}; {sum(others.wrong.values())} answers wrong",
            aim="all served",
            reached=not others.wrong,
        )
    )


def _report_beside_others(desk: Desk, count: int) -> Answers:
    with Clients(desk, 2, max(count // 20, 1), harmless=True, reporting=False) as others:
        _report(desk, count)
        return others.answers()


def _report(desk: Desk, count: int) -> None:
    desk.output("reports", REPORTER, count)


@contextmanager
def _monitor(desk: Desk) -> Iterator[subprocess.Popen[str]]:
    """A monitor that watches: busctl does not say so in every version, it does when it has written of something."""
    rule = f"--match=type='signal',interface='{INTERFACE}',member='StateChanged'"
    command = ["busctl", f"--address={desk.bus.address}", "--json=short", "monitor", rule]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as monitor:
        try:
            while not select.select([monitor.stdout], [], [], 0.1)[0]:
                _report(desk, 2)
            yield monitor
        finally:
            monitor.kill()


def _numbers_until(last: int, monitor: subprocess.Popen[str]) -> list[int]:
    """The numbers of the states that the monitor writes of, up to `last`; fewer if it ends before."""
    numbers = []
    patience = Timer(_PATIENCE_SECS, monitor.kill)
    patience.start()
    for line in programs.output_of(monitor):
        numbers.append(json.loads(json.loads(line)["payload"]["data"][0])["seq"])
        if numbers[-1] >= last:
            break
    patience.cancel()
    return numbers
