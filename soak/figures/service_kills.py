"""kill -9 of the whole service, at random moments, while a client drives it."""

from __future__ import annotations

from benchmarks.report import Report, Row
from benchmarks.scale import Scale
from support.service_kills import kill_services


def measure(scale: Scale, report: Report) -> None:
    toll = kill_services(scale(100))
    report.add(
        Row(
            "kill -9 of the service",
            f"{len(toll.losses)} losses or false alarms",
            f"{toll.kills} kills, {toll.acknowledged:,} calls answered",
            aim="0",
            reached=not toll.losses,
        )
    )
    if toll.losses:
        report.note(f"The first loss of the service: {toll.losses[0]}.")
