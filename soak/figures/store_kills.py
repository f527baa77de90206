"""kill -9 of a process that writes the store, at random moments."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.report import Report, Row
from benchmarks.scale import Scale
from support.store_kills import Writers, kill_writers


def measure(scale: Scale, report: Report) -> None:
    with tempfile.TemporaryDirectory(prefix="soak-") as folder, Writers() as writers:
        toll = kill_writers(writers, Path(folder), scale(1000))
    report.add(
        Row(
            "kill -9 of the writer of the store",
            f"{len(toll.losses)} losses or false alarms",
            f"{toll.kills:,} kills, {toll.acknowledged:,} writes acknowledged",
            aim="0",
            reached=not toll.losses,
        )
    )
    if toll.losses:
        report.note(f"The first loss of the store: {toll.losses[0]}.")
