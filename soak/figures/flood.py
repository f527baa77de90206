"""What others wait for an answer while one client asks as fast as it can."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.report import Report, Row
from benchmarks.scale import Scale
from soak import load
from soak.load import Answers, Clients, Desk

_CLIENTS = 3


@dataclass(frozen=True, slots=True)
class Served:
    """What others were answered before the flood, and during it."""

    idle: Answers
    flooded: Answers


def serve(desk: Desk, outstanding: int, calls: int) -> Served:
    """`calls` of each of some clients, alone and beside one that always waits for `outstanding` answers.

    Raises CalledProcessError or RuntimeError if a client is disconnected.
    """
    with Clients(desk, _CLIENTS, calls, harmless=True) as clients:
        idle = clients.answers()
    with load.flood(desk, outstanding), Clients(desk, _CLIENTS, calls, harmless=True) as clients:
        flooded = clients.answers()
    return Served(idle, flooded)


def measure(scale: Scale, report: Report) -> None:
    outstanding = scale(2000)
    with load.desk() as desk:
        desk.start_session(7200, "editor")
        found = serve(desk, outstanding, scale(100))
    idle, flooded = found.idle.took, found.flooded.took
    report.add(
        Row(
            f"{found.flooded.number:,} calls of {_CLIENTS} clients beside one with {outstanding:,} outstanding",
            f"{found.flooded.latency}; {sum(found.flooded.wrong.values())} answers wrong",
            f"without it: {found.idle.latency}",
            f"{flooded.median / idle.median:.0f} (p50)",
            "all served",
            not found.flooded.wrong,
        )
    )
