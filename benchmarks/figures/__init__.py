"""One figure a module: `measure(scale, report)` adds its rows, or raises CannotMeasure and says what is missing."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.figures import audit, day, focus, long_session, memory, round_trip, start, wakeups
from benchmarks.report import Report
from benchmarks.scale import Scale

FIGURES: dict[str, Callable[[Scale, Report], None]] = {
    "focus": focus.measure,
    "round-trip": round_trip.measure,
    "start": start.measure,
    "memory": memory.measure,
    "wakeups": wakeups.measure,
    "audit": audit.measure,
    "long-session": long_session.measure,
    "day": day.measure,
}
