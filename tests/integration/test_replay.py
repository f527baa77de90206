"""A made-up working day, replayed through the real controller and the real store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from antidrift.daemon import main
from antidrift.domain.model import Outcome, RoleName, SessionSummary
from antidrift.replay import CannotReplay, Played, play, text
from antidrift.store import AUDIT_NAME, verify
from antidrift.trace import BadTrace, Trace, TraceFile, read
from antidrift.trace.format import RequestCoach
from support import working_day

JUDGE, NUDGE, REVIEWER = RoleName.DRIFT_JUDGE, RoleName.NUDGE, RoleName.REVIEWER
APART_SECS = {JUDGE: 10.0, NUDGE: 300.0}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("day") / "day.jsonl"
    working_day.write(file)
    return file


@pytest.fixture(scope="module")
def trace(path: Path) -> Trace:
    return read(path)


@pytest.fixture(scope="module")
def played(trace: Trace, tmp_path_factory: pytest.TempPathFactory) -> Played:
    return play(trace, tmp_path_factory.mktemp("played") / "files")


def test_an_audit_is_the_same_byte_for_byte_in_another_process(path: Path, tmp_path: Path, played: Played) -> None:
    said = subprocess.run(
        [sys.executable, "-m", "antidrift", "--replay", path, "--into", tmp_path / "files"],
        # Neither a bus nor a home, and strings that hash differently.
        env={"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "1", "HOME": "/nonexistent"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert said.stdout == text(played)
    assert f"sha256 {played.audit_sha256}" in said.stdout
    assert verify(tmp_path / "files" / AUDIT_NAME).lines == len(played.sessions)


def test_the_day_is_like_a_day(played: Played) -> None:
    """A check of the test: what happens in it is what is to be replayed."""
    assert played.secs == working_day.HOURS * 3600
    assert {summary.outcome for summary in played.sessions} == set(Outcome)
    assert sum(summary.away_secs > 60 for summary in played.sessions) > 3
    assert min(played.drifts, played.interrupts, played.nudges) > 3
    assert len(Counter(asking.role for asking in played.calls)) == len(RoleName)
    assert played.refused == 0
    assert not played.running


def test_every_second_of_each_session_is_at_a_window_or_away(played: Played) -> None:
    for summary, elapsed in zip(played.sessions, played.elapsed, strict=True):
        assert summary.active_secs + summary.away_secs == pytest.approx(elapsed, abs=1)
        assert summary.switch_count > 10


def test_an_ai_is_asked_no_more_often_than_debounce_and_caches_promise(trace: Trace, played: Played) -> None:
    asked = {role: [asking for asking in played.calls if asking.role is role] for role in RoleName}
    for role, secs in APART_SECS.items():
        for earlier, later in pairwise(asked[role]):
            started_anew = any(earlier.at < start <= later.at for start in starts(trace))
            assert later.at - earlier.at >= secs or started_anew
    sharpened = sum(isinstance(line, RequestCoach) for line in trace.lines)
    assert len(asked[RoleName.COACH]) <= sharpened
    assert len(asked[REVIEWER]) == len(played.sessions)
    for begin, end in pairwise([*starts(trace), trace.secs]):
        of_session = Counter(asking.about for asking in asked[JUDGE] if begin <= asking.at < end)
        for key, count in of_session.items():
            # Once; and once more after each failure, and after each "back to task".
            assert count <= 1 + asked_again(trace, begin, end), key
    print(text(played))


def test_a_day_takes_the_same_course_once_its_words_are_hidden(trace: Trace, played: Played, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden.jsonl"
    play(trace, tmp_path / "first", TraceFile(hidden))
    again = play(read(hidden), tmp_path / "second")
    assert "parser" not in hidden.read_text()
    assert again.audit_sha256 != played.audit_sha256
    assert [course(summary) for summary in again.sessions] == [course(summary) for summary in played.sessions]
    assert again.elapsed == pytest.approx(played.elapsed, abs=1e-3)
    assert [asking.role for asking in again.calls] == [asking.role for asking in played.calls]
    assert [asking.at for asking in again.calls] == pytest.approx([asking.at for asking in played.calls], abs=1e-3)
    assert (again.drifts, again.interrupts, again.nudges) == (played.drifts, played.interrupts, played.nudges)
    assert (again.refused, again.unforeseen) == (0, 0)


def course(summary: SessionSummary) -> tuple[object, ...]:
    """What is the same whatever the words."""
    buckets = sorted((bucket.wm_class, bucket.secs) for bucket in summary.buckets)
    return summary.outcome, summary.switch_count, summary.active_secs, summary.away_secs, buckets


def starts(trace: Trace) -> list[float]:
    return [line.t for line in trace.lines if line.kind == "start_commitment"]


def asked_again(trace: Trace, begin: float, end: float) -> int:
    within = [line for line in trace.lines if begin <= line.t < end]
    return sum(line.kind == "refocus" or (line.kind == "outcome" and line.fault is not None) for line in within)


# What is no trace

HEADER = '{"format":"antidrift-trace","version":1,"antidrift":"1","unix_ms":0,"policy":{},"ai":{},"saved":null}\n'
GOOD = '{"kind":"enter_planning","t":2.0,"unix_ms":2000}\n'


@pytest.mark.parametrize(
    ("content", "line", "why"),
    [
        ("", 1, "no header"),
        ("[1]\n", 1, "no header"),
        (HEADER.replace('"version":1', '"version":2'), 1, "version is not 1"),
        (HEADER.replace('"policy":{}', '"policy":{"titels":"never"}'), 1, "policy.titels: Unexpected"),
        (HEADER + "\n", 2, "Invalid JSON"),
        (HEADER + GOOD + "{]\n", 3, "Invalid JSON"),
        (HEADER + GOOD + GOOD.replace("2.0", "1.9"), 3, "earlier than the line before it"),
        (HEADER + GOOD.replace("2.0", "-1.0"), 2, "t: Input should be greater"),
        (HEADER + GOOD.replace("2.0", "NaN"), 2, "finite"),
        (HEADER + GOOD.replace("2.0", '"2"'), 2, "t: Input should be a valid number"),
        (HEADER + GOOD.replace("enter_planning", "reboot"), 2, "it is of no kind that is known"),
        (HEADER + GOOD.replace("kind", "sort"), 2, "it is of no kind that is known"),
        (HEADER + GOOD.replace("}", ',"path":"/etc"}'), 2, "path: Extra inputs"),
        (HEADER + GOOD[:-1], 2, "cut off"),
        (HEADER + '{"kind":"extend","t":1,"unix_ms":0,"secs":1.5}\n', 2, "secs: Input should be a valid integer"),
        (
            HEADER + '{"kind":"outcome","t":1,"unix_ms":0,"role":"nudge","answer":{"on_task":true}}\n',
            2,
            "not what a nudge answers",
        ),
        (
            HEADER + json.dumps({"kind": "request_coach", "t": 1, "unix_ms": 0, "intent": "x" * 300_000}) + "\n",
            2,
            "KiB",
        ),
    ],
)
def test_a_bad_line_is_refused_by_its_number(content: str, line: int, why: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(content)
    with pytest.raises(BadTrace, match=why) as raised:
        read(path)
    assert raised.value.line == line
    assert f"bad.jsonl, line {line}: " in str(raised.value)


def test_a_bad_trace_ends_the_replay_with_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(HEADER + "nonsense\n")
    assert main(["--replay", str(path)]) == 1
    assert main(["--replay", str(tmp_path / "missing.jsonl")]) == 1
    assert capsys.readouterr().out == ""


def test_nothing_is_played_into_files_that_there_are(trace: Trace, tmp_path: Path) -> None:
    (tmp_path / "audit.jsonl").write_text("mine")
    with pytest.raises(CannotReplay, match="not an empty folder"):
        play(trace, tmp_path)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["mine"]


def test_what_the_rules_refuse_is_refused_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "refused.jsonl"
    path.write_text(HEADER + GOOD + GOOD)
    played = play(read(path), tmp_path / "files")
    assert (played.refused, played.sessions, played.events) == (1, (), 2)
    assert "2 lines, 1 of them refused" in text(played)
