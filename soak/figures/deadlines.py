"""How late a session that runs out is announced."""

from __future__ import annotations

from benchmarks.report import Report, Row
from benchmarks.sample import Sample
from benchmarks.scale import Scale
from soak import load
from soak.load import Desk

_AIM_MS = 1000


def lateness(desk: Desk, sessions: int) -> Sample:
    """Milliseconds from the deadline of each of many short sessions until a client has heard that it is over."""
    desk.lock()
    return Sample.of([int(us) / 1000 for us in desk.output("deadlines", sessions).split()])


def measure(scale: Scale, report: Report) -> None:
    sessions = scale(50)
    with load.desk() as desk:
        quiet = lateness(desk, sessions)
        outstanding = scale(2000)
        with load.flood(desk, outstanding):
            flooded = lateness(desk, sessions)
    for found, when in ((quiet, ""), (flooded, f" beside a client with {outstanding:,} calls outstanding")):
        report.add(
            Row(
                f"{sessions} sessions that run out{when}: deadline → signal",
                f"{found} ms",
                aim=f"max ≤ {_AIM_MS:,} ms",
                reached=found.highest <= _AIM_MS,
            )
        )
