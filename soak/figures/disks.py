"""Disks that break under the service and become whole again."""

from __future__ import annotations

from benchmarks.report import CannotMeasure, Report, Row
from benchmarks.scale import Scale
from support.broken_disks import BREAKABLE, endure
from support.small_disk import NoNamespaces

_FAULTS = {
    "full": "no space left (ENOSPC)",
    "read_only": "mounted read-only (EROFS)",
    "unsynced": "nothing can be synced (EIO)",
    "unreachable": "nothing can be opened (EIO)",
    "descriptors": "no descriptor left (EMFILE)",
}


def measure(scale: Scale, report: Report) -> None:
    times = scale(10)
    for name, fault in _FAULTS.items():
        borne = 0
        for _ in range(times):
            try:
                with BREAKABLE[name]() as service:
                    endure(service)
                borne += 1
            except AssertionError as failure:
                report.note(f"{fault}: {failure}")
            except NoNamespaces as failure:
                raise CannotMeasure(str(failure)) from failure
        report.add(Row(f"disk: {fault}", f"recovered {borne} of {times} times", aim="all", reached=borne == times))
