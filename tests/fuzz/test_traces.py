"""What may stand in a trace: it is refused by the number of a line, or it is played to its end."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import example
from hypothesis import strategies as st

from antidrift.domain.model import Outcome
from antidrift.domain.saving import to_saved
from antidrift.replay import play
from antidrift.trace import BadTrace, read
from antidrift.trace.format import BOOT_ID, Header, encoded
from support.driver import WORKING_AI, Driver
from support.fuzzing import as_bytes, fuzzed, nearly, outcome


def a_header() -> dict[str, Any]:
    """That of a recording which begins in the middle of a session."""
    driver = Driver.active("code", minutes=60)
    driver.focus("firefox", "Zebra — Mozilla Firefox")
    driver.wait(60)
    saved = to_saved(driver.session, BOOT_ID)
    header = Header(antidrift="1", unix_ms=0, policy=driver.session.policy, ai=WORKING_AI, saved=saved)
    return json.loads(encoded(header))


WINDOW = {"wm_class": "firefox", "title": "Zebra — Mozilla Firefox", "window_id": "1"}
LINES: list[dict[str, Any]] = [
    a_header(),
    {"kind": "window", "t": 1.5, "unix_ms": 1500, "source": "shell", "window": WINDOW},
    {"kind": "outcome", "t": 3, "unix_ms": 0, "role": "drift_judge", "about": {"app": "firefox", "page": "Zebra"},
     "after": 1.0, "answer": {"on_task": False, "reason": "x"}},
    {"kind": "away", "t": 30, "unix_ms": 0, "cause": "idle", "ago": 10},
    {"kind": "back", "t": 40, "unix_ms": 0, "cause": "idle"},
    {"kind": "suspended", "t": 400, "unix_ms": 0, "secs": 300},
    {"kind": "extend", "t": 410, "unix_ms": 0, "secs": 60},
    {"kind": "complete", "t": 420, "unix_ms": 0},
    {"kind": "end", "t": 430, "unix_ms": 0},
    {"kind": "enter_planning", "t": 440, "unix_ms": 0},
    {"kind": "tasks", "t": 440, "unix_ms": 0, "count": 3},
    {"kind": "start_commitment", "t": 450, "unix_ms": 0, "id": "1", "next_action": "a", "success_condition": "b",
     "timebox_secs": 600, "allowed_window_classes": ["code"]},
    {"kind": "ai_checked", "t": 450, "unix_ms": 0, "backend": "claude", "available": True},
    {"kind": "stopped", "t": 4000, "unix_ms": 0},
]  # fmt: skip


@st.composite
def traces(draw: st.DrawFn) -> str:
    """A trace of which one line is only nearly right."""
    lines = [json.dumps(line) for line in LINES]
    changed = draw(st.integers(0, len(lines) - 1))
    lines[changed] = draw(nearly(LINES[changed]))
    return "\n".join(lines) + "\n"


GOOD = "\n".join(map(json.dumps, LINES)) + "\n"


@fuzzed("traces", examples=40, data=as_bytes(traces()))
@example(data=GOOD.encode())
@example(data=GOOD.replace("4000", "2678400").encode())
@example(data=GOOD.replace('"interrupted_after_secs": 600.0', '"interrupted_after_secs": -1e300').encode())
@example(data=b"[" * 300_000 + b"\n")
@example(data=b"\n" * 100_000)
def test_any_bytes_are_refused_by_a_line_or_played_to_the_end(data: bytes) -> None:
    with TemporaryDirectory() as name:
        path = Path(name) / "trace.jsonl"
        path.write_bytes(data)
        trace = outcome(lambda: read(path), BadTrace)
        if isinstance(trace, BadTrace):
            assert 1 <= trace.line <= data.count(b"\n") + 1
            assert str(trace).startswith(f"trace.jsonl, line {trace.line}: ")
            assert len(str(trace)) < 1000
            return
        played = play(trace, Path(name) / "files")
        assert played.events == len(trace.lines)


def test_what_the_traces_are_made_of_is_one() -> None:
    """A check of the test."""
    with TemporaryDirectory() as name:
        path = Path(name) / "trace.jsonl"
        path.write_text(GOOD)
        played = play(read(path), Path(name) / "files")
        assert [summary.outcome for summary in played.sessions] == [Outcome.COMPLETED]
        assert (played.refused, played.running, len(played.calls)) == (0, False, 4)
