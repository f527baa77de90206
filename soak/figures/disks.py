"""Disks that break under the service and become whole again."""

from __future__ import annotations

from benchmarks.report import Report, Row
from benchmarks.scale import Scale
from support.broken_disks import BREAKABLE, endure

_FAULTS = {
    "full": "no space left (ENOSPC)",
    "read_only": "mounted read-only (EROFS)",
    "unsynced": "nothing can be synced (EIO)",
    "unreachable": "nothing can be opened (EIO)",
    "descriptors": "no descriptor left (EMFILE)",
}


def measure(scale: Scale, report: Report) -> None:
    times = scale(10)
    for name, breakable in BREAKABLE.items():
        borne = 0
        for _ in range(times):
            with breakable() as service:
                try:
                    endure(service)
                    borne += 1
                except AssertionError as failure:
                    report.note(f"{_FAULTS[name]}: {failure}")
        report.add(
            Row(f"disk: {_FAULTS[name]}", f"recovered {borne} of {times} times", aim="all", reached=borne == times)
        )
