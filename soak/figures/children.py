"""AI programs that do everything to stay, asked ten at once, and through the service."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence

from antidrift.backends.process import Ended
from benchmarks.process import memory
from benchmarks.report import Report, Row
from benchmarks.scale import Scale
from support.nasty_children import ANSWER, KINDS, LIMIT, Aftermath, FrontDoor, Strain, strain

_AT_ONCE = 10
_AIM_SECS = 3.0
_AIM_KIB = 1024


def measure(scale: Scale, report: Report) -> None:
    rounds: list[dict[str, Strain]] = []
    resident = []
    for _ in range(scale(100 // _AT_ONCE)):
        rounds.append({kind: asyncio.run(strain([kind] * _AT_ONCE)) for kind in KINDS})
        resident.append(memory(os.getpid()).rss)
    for row in rows({kind: _together([each[kind] for each in rounds]) for kind in KINDS}):
        report.add(row)
    growth = resident[-1] - resident[0]
    report.add(
        Row(
            f"… memory of who asked, after the first {_AT_ONCE} of each kind",
            f"{growth:+,} KiB",
            aim=f"≤ {_AIM_KIB:,} KiB",
            reached=growth <= _AIM_KIB,
        )
    )
    with FrontDoor() as door:
        served = {kind: door.strain([kind] * scale(10)) for kind in KINDS}
    for row in served_rows(served):
        report.add(row)


def _together(rounds: Sequence[Strain]) -> Strain:
    return Strain(
        [call for each in rounds for call in each.calls],
        sum(each.descriptors for each in rounds),
        sum(each.zombies for each in rounds),
    )


def rows(found: Mapping[str, Strain]) -> list[Row]:
    """What the runner has left of each kind."""
    calls = [call for each in found.values() for call in each.calls]
    cut = [call for call in calls if KINDS[call.kind].status is None]
    wrong = sum(call.ended != _expected(call) for call in calls)
    late = max(call.back_after for call in calls)
    head = Row(
        f"{len(found)} kinds of nasty AI program, {len(calls):,} calls, {LIMIT:g} s each, {_AT_ONCE} at once",
        f"{wrong} ended otherwise than they should",
        f"{sum(call.was_up for call in cut):,} of {len(cut):,} were at their worst when they were cancelled",
        aim="0",
        reached=wrong == 0,
    )
    back = Row(
        "… back after the limit, or the answer",
        f"{late:.1f} s at most",
        aim=f"≤ {_AIM_SECS:g} s",
        reached=late <= _AIM_SECS,
    )
    return [head, _left("… left of them", found), back, *_missed(found)]


def served_rows(found: Mapping[str, Strain]) -> list[Row]:
    """What the service has left of each kind."""
    calls = [call for each in found.values() for call in each.calls]
    late = max(call.back_after for call in calls)
    return [
        _left(f"{len(calls):,} nasty programs asked by Sharpen, left of them", found),
        Row("… gone after going back", f"{late:.1f} s at most", aim=f"≤ {_AIM_SECS:g} s", reached=late <= _AIM_SECS),
        *_missed(found),
    ]


def _expected(call: Aftermath) -> Ended | None:
    status = KINDS[call.kind].status
    return None if status is None else Ended(status, f"{ANSWER}\n".encode(), b"")


def _left(figure: str, found: Mapping[str, Strain]) -> Row:
    calls = [call for each in found.values() for call in each.calls]
    counts = {
        "processes": sum(call.survivors for call in calls),
        "zombies": sum(each.zombies for each in found.values()),
        "descriptors": sum(abs(each.descriptors) for each in found.values()),
        "folders": sum(call.folder_left for call in calls),
    }
    said = ", ".join(f"{count} {what}" for what, count in counts.items())
    return Row(figure, said, aim="0", reached=not any(counts.values()))


def _missed(found: Mapping[str, Strain]) -> list[Row]:
    """A row for each kind that left something or kept somebody waiting."""
    missed = []
    for kind, each in found.items():
        row = _left(f"… of a program that {kind}", {kind: each})
        late = max(call.back_after for call in each.calls)
        if not row.reached or late > _AIM_SECS:
            said = f"{row.measured}; back after {late:.1f} s at most"
            missed.append(Row(row.figure, said, aim=f"0; ≤ {_AIM_SECS:g} s", reached=False))
    return missed
