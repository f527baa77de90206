"""Whether a long day makes a session large or slow: very many windows, no two titles alike.

The session itself, in virtual time; no process and no bus takes part.
"""

from __future__ import annotations

import time

from antidrift import wire
from antidrift.domain import limits
from antidrift.domain.model import RoleName, Verdict
from benchmarks.report import Report, Row
from benchmarks.sample import Sample
from benchmarks.scale import Scale
from support.driver import Driver

_AIM_KIB = 64
_AIM_RATIO = 1.5
_APART_SECS = 0.25
_COMPARED = 1_000
_LONG = "見出し、長い題名" * limits.TITLE_CHARS  # three bytes a character


def measure(scale: Scale, report: Report) -> None:
    observations = scale(100_000, least=4 * _COMPARED)
    session = Driver.active("editor", minutes=24 * 60)
    taken: list[float] = []
    largest = 0
    for n in range(observations):
        session.wait(_APART_SECS)
        title = f"{n} {_LONG}"[: limits.TITLE_CHARS]
        began = time.perf_counter()
        session.focus("editor" if n % 2 else "firefox", title)
        taken.append((time.perf_counter() - began) * 1e6)
        _answer(session)
        if n % _COMPARED == 0 or n == observations - 1:
            largest = max(largest, _state_bytes(session))
    report.add(
        Row(
            f"state after {observations:,} observations, no two titles alike",
            f"{largest / 1024:.1f} KiB at most",
            f"an empty session: {_state_bytes(Driver.active('editor')) / 1024:.1f} KiB",
            aim=f"< {_AIM_KIB} KiB",
            reached=largest < _AIM_KIB * 1024,
        )
    )
    first, last = Sample.of(taken[:_COMPARED]).median, Sample.of(taken[-_COMPARED:]).median
    report.add(
        Row(
            f"one observation, the last {_COMPARED:,} of {observations:,}",
            f"{last:.0f} µs",
            f"the first {_COMPARED:,}: {first:.0f} µs",
            f"{last / first:.2f}",
            f"flat (≤ {_AIM_RATIO})",
            last / first <= _AIM_RATIO,
        )
    )


def _answer(session: Driver) -> None:
    """The AI answers at once, so that there are as many verdicts as there can be."""
    if RoleName.DRIFT_JUDGE in session.in_flight:
        session.answer(RoleName.DRIFT_JUDGE, Verdict(on_task=True))
    # Nobody here reads what was asked for.
    session.effects.clear()
    session.asked.clear()


def _state_bytes(session: Driver) -> int:
    view = wire.view_of(session.session, instance="0" * 32, seq=1, store_fault=None)
    return len(wire.state_json(view).encode())
