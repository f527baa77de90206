"""A power cut at every moment of the store's life, with all its syncs and without each of them."""

from __future__ import annotations

from benchmarks.report import Report, Row
from benchmarks.scale import FULL, Scale
from support.crash_points import LARGE, SMALL, enumerate_crashes, places, second_lives, workplace


def measure(scale: Scale, report: Report) -> None:
    bounds = LARGE if scale == FULL else SMALL
    with workplace() as place:
        first = enumerate_crashes(place, bounds)
    with workplace() as place:
        second = enumerate_crashes(place, SMALL, second_lives(first, scale(60)))
    for what, found in (
        ("power cut at every moment of the store's life", first),
        ("… and at every moment of the start after it", second),
    ):
        report.add(
            Row(
                what,
                f"{found.losses} losses or false alarms",
                f"{found.operations:,} operations, {found.disks:,} disks, {found.states:,} times a disk and a promise",
                aim="0",
                reached=not found.losses,
            )
        )
        if found.losses:
            report.note(f"The first loss: {found.first_loss.partition(chr(10))[0]}.")

    with workplace() as place:
        syncs = sorted(places(place))
    missed = []
    for sync in syncs:
        with workplace() as place:
            if not enumerate_crashes(place, bounds, leave_out=sync, until_lost=True).losses:
                missed.append(sync)
    report.add(
        Row(
            "… without one of its syncs: found out",
            f"{len(syncs) - len(missed)} of {len(syncs)}",
            aim="all",
            reached=not missed,
        )
    )
    if missed:
        report.note(f"Nothing would be lost without: {', '.join(missed)}.")
