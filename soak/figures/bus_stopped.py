"""The bus daemon stands still in the middle of a session, while clients call."""

from __future__ import annotations

import time
from dataclasses import dataclass

from benchmarks.report import Report, Row
from benchmarks.scale import Scale
from soak import load
from soak.load import REPORTER, Answers, Burst, Clients, Desk
from support.service import Client

_AIM_KIB = 1024
_AIM_SECS = 1.0
_CLIENTS = 4
_SESSION_SECS = 3600


@dataclass(frozen=True, slots=True)
class Thawed:
    """`countdown`: how many seconds the time left is off; `reckoned`: the times per window and away together.

    `at_once`: how many of the calls that were sent together have an answer. `growth` in KiB.
    """

    asked: int
    answers: Answers
    at_once: int
    countdown: float
    reckoned: float
    growth: int

    @property
    def answered(self) -> int:
        return self.answers.number + self.at_once


def freeze(desk: Desk, secs: float, calls: int) -> Thawed:
    """Stops the daemon for `secs` while some clients make `calls` each, and another has sent all of its own at once.

    Of the latter the service has then some to answer, and nobody takes the answers. Raises CalledProcessError for a
    disconnect.
    """
    desk.lock()
    with Client(desk.bus.address) as shell:
        shell.own(REPORTER)
        desk.start_session(_SESSION_SECS, "editor")
        began = _boot()
        shell.call("ReportFocus", "a{sv}", {"class": ("s", "editor"), "title": ("s", "report.txt")})
        before = desk.memory()
        with Clients(desk, _CLIENTS, calls, harmless=True, reporting=False) as clients, Burst(desk, 1, calls) as burst:
            desk.bus.freeze()
            try:
                burst.let_answer()
                time.sleep(secs)
            finally:
                desk.bus.thaw()
            at_once, _ = burst.answers()
            answers = clients.answers()
        growth = desk.memory() - before
        state, passed = desk.state(), _boot() - began
    desk.lock()
    left = state["commitment"]["remaining_ms"] / 1000
    reckoned = sum(bucket["secs"] for bucket in state["evidence"]["buckets"]) + state["away"]["total_secs"]
    return Thawed(
        (_CLIENTS + 1) * calls, answers, at_once, abs(_SESSION_SECS - passed - left), abs(passed - reckoned), growth
    )


def measure(scale: Scale, report: Report) -> None:
    secs = scale(10)
    with load.desk() as desk:
        freeze(desk, 0, scale(2500))  # so that what a first time leaves in memory is there
        found = freeze(desk, secs, scale(2500))
    report.add(
        Row(
            f"bus daemon stopped for {secs} s: {found.asked:,} calls of {_CLIENTS + 1} clients",
            f"{found.answered:,} answers, {sum(found.answers.wrong.values())} of them wrong; 0 disconnects",
            aim="all answered",
            reached=found.answered == found.asked and not found.answers.wrong,
        )
    )
    report.add(
        Row(
            "… time left, and time per window with time away, compared with the boot-time clock",
            f"{found.countdown:.2f} s and {found.reckoned:.2f} s off",
            aim=f"≤ {_AIM_SECS:.0f} s",
            reached=max(found.countdown, found.reckoned) <= _AIM_SECS,
        )
    )
    report.add(
        Row(
            "… memory of the service",
            f"{found.growth:+,} KiB",
            aim=f"≤ {_AIM_KIB:,} KiB",
            reached=found.growth <= _AIM_KIB,
        )
    )


def _boot() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)
