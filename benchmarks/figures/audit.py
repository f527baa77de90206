"""Reading the last sessions of a long audit, and verifying all of it."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from antidrift.domain.model import Bucket, Outcome, SessionSummary
from antidrift.store import AUDIT_NAME, tail, verify
from antidrift.store.chain import GENESIS, link
from benchmarks.report import CannotMeasure, Report, Row
from benchmarks.sample import Sample
from benchmarks.scale import Scale

_AIM_TAIL_MS = 1.0
_AIM_LINES_A_SEC = 200_000
_RECENT = 5
_SHORT = 1_000  # lines


def measure(scale: Scale, report: Report) -> None:
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as folder:
        long, short = Path(folder, AUDIT_NAME), Path(folder, "short.jsonl")
        lines = scale(1_000_000)
        needed = 2 * lines * len(link(GENESIS, _summary())[0])
        if shutil.disk_usage(folder).free < needed:
            raise CannotMeasure(f"there are no {needed >> 20} MiB free where temporary files go")
        _write(long, lines)
        _write(short, _SHORT)
        _measure_tail(long, short, lines, report)
        _measure_verify(long, lines, report)


def _measure_tail(long: Path, short: Path, lines: int, report: Report) -> None:
    if len(tail(long, _RECENT)) != _RECENT:  # and it imports what it needs
        raise AssertionError("the audit cannot be read")
    taken: dict[Path, list[float]] = {long: [], short: []}
    for _ in range(200):
        for path, values in taken.items():
            values.append(_secs(lambda path=path: tail(path, _RECENT)) * 1000)  # type: ignore[misc]
    of_long, of_short = (Sample.of(values).median for values in taken.values())
    report.add(
        Row(
            f"audit: the last {_RECENT} of {lines:,} sessions",
            f"{of_long:.2f} ms",
            f"of {_SHORT:,} sessions {of_short:.2f} ms",
            f"{of_long / of_short:.2f}",
            f"≤ {_AIM_TAIL_MS:.0f} ms",
            of_long <= _AIM_TAIL_MS,
        )
    )


def _measure_verify(path: Path, lines: int, report: Report) -> None:
    if verify(path).lines != lines:
        raise AssertionError("the chain does not verify")
    taken = [(_secs(lambda: verify(path)), _secs(lambda: _hash_lines(path))) for _ in range(3)]
    ours, bare = (lines / Sample.of(column).median for column in zip(*taken, strict=True))
    ratio = Sample.of([verifying / hashing for verifying, hashing in taken]).median
    report.add(
        Row(
            f"audit: verify {lines:,} sessions of {path.stat().st_size // lines} bytes",
            f"{ours:,.0f} lines/s",
            f"SHA-256 of each line and nothing else {bare:,.0f} lines/s",
            f"{ratio:.2f} (time)",
            f"≥ {_AIM_LINES_A_SEC:,} lines/s",
            ours >= _AIM_LINES_A_SEC,
        )
    )


def _hash_lines(path: Path) -> None:
    with path.open("rb") as file:
        for line in file:
            hashlib.sha256(line).hexdigest()


def _write(path: Path, lines: int) -> None:
    """A chain of so many lines: the first is the store's own, the others follow it by the rule in `store.chain`.

    The store would take a minute, most of it to make the same JSON again. `verify` tells whether the rule was kept.
    """
    first, head = link(GENESIS, _summary())
    summary = first[first.index(b',"session_id"') : first.rindex(b',"hash":"')]
    with path.open("wb") as file:
        file.write(first)
        seal = head.hash.encode()
        for seq in range(2, lines + 1):
            body = b'{"prev":"%b","seq":%d%b' % (seal, seq, summary)
            seal = hashlib.sha256(body).hexdigest().encode()
            file.write(b'%b,"hash":"%b"}\n' % (body, seal))


def _summary() -> SessionSummary:
    return SessionSummary(
        session_id="0b9d8a1c5f3e4a7f9b2d6c8e1f0a3b5d",
        next_action="Write the parser test",
        success_condition="It fails without the fix",
        outcome=Outcome.COMPLETED,
        timebox_secs=1500,
        started_at_ms=1_700_000_000_000,
        ended_at_ms=1_700_001_500_000,
        active_secs=1400,
        away_secs=100,
        switch_count=12,
        buckets=(
            Bucket("code", "test_parser.py – parser – Visual Studio Code", 1100.0),
            Bucket("org.gnome.Terminal", "pytest – ~/parser", 300.0),
        ),
    )


def _secs(do: Callable[[], object]) -> float:
    began = time.perf_counter()
    do()
    return time.perf_counter() - began
