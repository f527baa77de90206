"""A million calls, right and wrong, from eight clients at once."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.report import Report, Row
from benchmarks.scale import Scale
from soak import load
from soak.load import Answers, Clients, Desk

_CLIENTS = 8
_AIM_KIB = 1024
_AIM_RATIO = 10
_READINGS = 5
_CALLS_BETWEEN = 100


@dataclass(frozen=True, slots=True)
class Strained:
    """`looks`: how often a bystander looked at the state meanwhile, each time a valid one. `growth` in KiB."""

    idle: Answers
    answers: Answers
    looks: int
    growth: int


def strain(desk: Desk, first: int, rest: int) -> Strained:
    """`first` calls whose traces in memory are caches, some by one client alone, then `rest` calls that may leave none.

    Raises CalledProcessError if a client is disconnected, and ValidationError for a state that is none.
    """
    looks = 0

    def look() -> None:
        nonlocal looks
        desk.state()
        looks += 1

    with Clients(desk, _CLIENTS, first // _CLIENTS) as clients:
        warm = clients.answers()
    desk.lock()
    with Clients(desk, 1, first // _CLIENTS) as clients:
        idle = clients.answers()
    desk.lock()
    before = _kept(desk)
    with Clients(desk, _CLIENTS, rest // _CLIENTS) as clients:
        answers = clients.answers(look)
    desk.lock()
    return Strained(idle, Answers(answers.kinds + warm.kinds, answers.took), looks, _kept(desk) - before)


def _kept(desk: Desk) -> int:
    """KiB that stay. Calls of 1 MB leave free room behind, which the allocator gives back some calls later."""
    readings = []
    for _ in range(_READINGS):
        with Clients(desk, 1, _CALLS_BETWEEN) as clients:
            clients.answers()
        desk.lock()
        readings.append(desk.memory())
    return min(readings)


def measure(scale: Scale, report: Report) -> None:
    first, rest = scale(10_000), scale(990_000)
    with load.desk() as desk:
        found = strain(desk, first, rest)
    answers = found.answers
    idle, loaded = found.idle.took.median, answers.took.quantile(99, 100)
    asked = (first // _CLIENTS + rest // _CLIENTS) * _CLIENTS
    report.add(
        Row(
            f"{asked:,} calls from {_CLIENTS} clients at once",
            f"{answers.number:,} answers, {sum(answers.wrong.values())} of them wrong; 0 disconnects",
            f"{found.looks:,} looks at the state meanwhile, each time a valid one",
            aim="each has one answer, of a kind that it may have",
            reached=answers.number == asked and not answers.wrong,
        )
    )
    report.add(
        Row(
            f"… memory after the first {first:,}",
            f"{found.growth:+,} KiB",
            aim=f"≤ {_AIM_KIB:,} KiB",
            reached=found.growth <= _AIM_KIB,
        )
    )
    report.add(
        Row(
            "… what each client waited for an answer",
            answers.latency,
            f"one client alone, the same calls: {found.idle.latency}",
            f"{loaded / idle:.1f} (p99 to the p50 alone)",
            f"≤ {_AIM_RATIO}",
            loaded <= _AIM_RATIO * idle,
        )
    )
    report.note(f"The {answers.number:,} answers: {load.listed(answers.kinds)}.")
