"""Ten thousand calls at once: all of them sent before the first is answered."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.report import Report, Row
from benchmarks.scale import Scale
from soak import load
from soak.load import Burst, Desk

_CONNECTIONS = 100


@dataclass(frozen=True, slots=True)
class Answered:
    """How many calls were sent and answered, and how many answers were not in the order of their sender's calls."""

    sent: int
    answers: int
    out_of_order: int


def ask(desk: Desk, connections: int, calls: int) -> Answered:
    """`calls` from each of many connections. Raises CalledProcessError if a client is disconnected."""
    with Burst(desk, connections, calls) as burst:
        answers, out_of_order = burst.answers()
    return Answered(connections * calls, answers, out_of_order)


def measure(scale: Scale, report: Report) -> None:
    calls = scale(10_000)
    with load.desk() as desk:
        desk.start_session(7200, "editor")
        for who, connections in (("one client", 1), (f"{_CONNECTIONS} clients", _CONNECTIONS)):
            found = ask(desk, connections, calls // connections)
            report.add(
                Row(
                    f"{found.sent:,} calls at once from {who}",
                    f"{found.answers:,} answers, {found.out_of_order} not in the order of their sender's calls",
                    aim="all, in order",
                    reached=found.answers == found.sent and not found.out_of_order,
                )
            )
