"""The file that a recording goes into, also when something goes wrong with it."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from antidrift.controller import Controller
from antidrift.domain.effects import CheckAI
from antidrift.domain.errors import Refused
from antidrift.domain.events import Complete, End, EnterPlanning, RequestCoach, StartCommitment, WindowSeen
from antidrift.domain.model import AwayCause, Outcome, Proposal, RoleName, Source, Window
from antidrift.domain.session import Session
from antidrift.replay import play
from antidrift.trace import CannotRecord, TraceFile, read
from antidrift.trace.format import CameBack, Stopped, Suspended, WentAway
from antidrift.trace.format import Outcome as OutcomeLine
from antidrift.trace.format import WindowSeen as WindowLine
from support.fakes import FakeAdvisor, FakeBackend, FakeClock, FakePresence, FakeSensor, MemoryStore, RecordingPublisher

FIREFOX = "Mozilla Firefox"


class Desk:
    """A controller that is recorded, in virtual time."""

    def __init__(self, recorder: TraceFile) -> None:
        self.clock, self.sensor, self.presence = FakeClock(), FakeSensor(), FakePresence()
        self.advisor = FakeAdvisor()
        self.store = MemoryStore()
        self.controller = Controller(
            Session(self.clock.now()),
            boot_id="boot",
            clock=self.clock,
            store=self.store,
            publisher=RecordingPublisher(self.store.log),
            sensor=self.sensor,
            presence=self.presence,
            backend=FakeBackend(),
            advisor=self.advisor,
            recorder=recorder,
        )

    def start(self, *classes: str, action: str = "Write", secs: int = 1500) -> None:
        self.controller.dispatch(EnterPlanning(self.clock.now()))
        self.commit(*classes, action=action, secs=secs)

    def commit(self, *classes: str, action: str = "Write", secs: int = 1500) -> None:
        self.controller.dispatch(StartCommitment(self.clock.now(), "s1", action, "Written", secs, classes))

    def report(self, title: str, window_id: str = "7") -> None:
        window = Window("firefox", title, window_id=window_id)
        self.controller.dispatch(WindowSeen(self.clock.now(), Source.SHELL, window))

    def sharpen(self) -> None:
        self.controller.dispatch(RequestCoach(self.clock.now(), "Write"))

    def look_back(self) -> None:
        self.controller.dispatch(Complete(self.clock.now()))
        self.controller.dispatch(End(self.clock.now()))


def recorded(recorder: TraceFile, happen: Callable[[Desk], None]) -> Desk:
    """The desk, after this has happened at it and its controller has ended."""

    async def live() -> Desk:
        desk = Desk(recorder)
        desk.controller.begin(())
        happen(desk)
        await desk.controller.close()
        return desk

    return asyncio.run(live())


def a_session(desk: Desk) -> None:
    desk.start()
    desk.report("Zebra")
    desk.look_back()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trace.jsonl"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    return tmp_path / "files"


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def test_a_trace_is_a_new_file_for_nobody_else(path: Path) -> None:
    before = os.umask(0)
    try:
        recorded(TraceFile(path), a_session)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_no_file_is_written_over(path: Path) -> None:
    path.write_text("mine")
    with pytest.raises(CannotRecord, match="is there already"):
        TraceFile(path)
    link = path.with_name("link")
    link.symlink_to(path.with_name("elsewhere"))
    with pytest.raises(CannotRecord, match="is there already"):
        TraceFile(link)
    with pytest.raises(CannotRecord, match="No such file or directory"):
        TraceFile(path.parent / "no" / "folder")
    assert path.read_text() == "mine"


def test_a_full_disk_ends_the_trace_and_nothing_else(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def write(fd: int, data: bytes) -> int:
        if b"start_commitment" in data:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return os.write(fd, data)

    desk = recorded(TraceFile(path, write=write), a_session)
    assert warnings(caplog) == ["the trace ends here, it could not be written: No space left on device"]
    assert [summary.session_id for summary in desk.store.summaries] == ["s1"]
    assert len(read(path).lines) > 0


def test_a_line_that_was_written_in_part_is_taken_back(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    recorded(TraceFile(path, write=lambda fd, data: os.write(fd, data[: -9 if b"start" in data else None])), a_session)
    assert warnings(caplog) == ["the trace ends here, it could not be written: there is no room for a whole line"]
    assert [line.kind for line in read(path).lines] == ["enter_planning", "ai_checked"]


def test_what_has_no_place_in_a_trace_ends_it_and_nothing_else(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def happen(desk: Desk) -> None:
        desk.clock.pass_time(32 * 24 * 3600)
        a_session(desk)

    desk = recorded(TraceFile(path), happen)
    assert len(desk.store.summaries) == 1
    assert warnings(caplog) == [
        "the trace ends here, it could not be written: something has no place in it (ValidationError)"
    ]
    assert len(read(path).lines) == 0


def test_a_trace_that_becomes_too_long_says_so_and_can_be_read(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def happen(desk: Desk) -> None:
        desk.start()
        for number in range(500):
            desk.report(f"Zebra {number}")
        desk.look_back()

    recorded(TraceFile(path, most=20_000), happen)
    assert warnings(caplog) == ["the trace is full and ends here"]
    assert 19_000 < path.stat().st_size <= 20_000
    last = read(path).lines[-1]
    assert isinstance(last, Stopped)
    assert last.full


def test_of_a_private_window_a_trace_says_that_it_is_private_and_nothing_else(path: Path, files: Path) -> None:
    def happen(desk: Desk) -> None:
        desk.start()
        desk.report(f"Gnu — {FIREFOX} Private Browsing", "7")
        desk.report(f"Zebra — {FIREFOX}", "7")
        desk.report(f"Zebra — {FIREFOX}", "8")
        desk.clock.pass_time(60)
        desk.look_back()

    desk = recorded(TraceFile(path), happen)
    trace = read(path)
    first, second, third = (line.window.title for line in trace.lines if isinstance(line, WindowLine) and line.window)
    assert first == second == f"{FIREFOX} Private Browsing"
    assert third.endswith(f" — {FIREFOX}")
    [summary] = play(trace, files).sessions
    assert summary.switch_count == desk.store.summaries[0].switch_count == 1


def test_a_sleep_that_nobody_told_of_is_recorded_once_and_counted_once(path: Path, files: Path) -> None:
    def happen(desk: Desk) -> None:
        desk.start(secs=100)
        desk.clock.pass_time(30)
        desk.clock.suspend(300)
        desk.controller.refresh()
        desk.clock.pass_time(200)
        desk.controller.dispatch(End(desk.clock.now()))

    desk = recorded(TraceFile(path), happen)
    trace = read(path)
    assert [line.secs for line in trace.lines if isinstance(line, Suspended)] == [300]
    assert not any(isinstance(line, WentAway | CameBack) for line in trace.lines)
    for summary in (*desk.store.summaries, *play(trace, files).sessions):
        assert (summary.outcome, summary.active_secs, summary.away_secs) == (Outcome.EXPIRED, 100, 300)


def test_an_absence_is_recorded_with_how_far_back_it_began(path: Path, files: Path) -> None:
    def happen(desk: Desk) -> None:
        desk.start()
        desk.clock.pass_time(300)
        desk.presence.leave(AwayCause.IDLE, 180)
        desk.clock.pass_time(60)
        desk.presence.come_back(AwayCause.IDLE)
        desk.clock.pass_time(10)
        desk.look_back()

    recorded(TraceFile(path), happen)
    [summary] = play(read(path), files).sessions
    assert (summary.active_secs, summary.away_secs) == (130, 240)


def test_an_answer_is_recorded_with_the_asking_it_belongs_to_and_how_long_it_took(path: Path, files: Path) -> None:
    async def live() -> None:
        desk = Desk(TraceFile(path))
        desk.controller.begin((CheckAI(),))
        desk.controller.dispatch(EnterPlanning(desk.clock.now()))
        desk.sharpen()
        await asyncio.sleep(0)
        desk.clock.pass_time(3)
        desk.sharpen()  # and nobody waits for the first answer any more
        await asyncio.sleep(0)
        desk.clock.pass_time(5)
        desk.advisor.answer(Proposal("Write", "Written", 1500))
        while desk.controller.session.coach.proposal is None:
            await asyncio.sleep(0)
        await desk.controller.close()

    asyncio.run(asyncio.wait_for(live(), 20))
    trace = read(path)
    first, second = (line for line in trace.lines if isinstance(line, OutcomeLine))
    assert (first.role, first.answer, first.fault) == (RoleName.COACH, None, None)
    assert (second.after, isinstance(second.answer, Proposal)) == (5, True)
    played = play(trace, files)
    assert [asking.at for asking in played.calls] == [0, 3]
    assert played.unforeseen == 0


def test_what_is_refused_live_is_refused_in_the_replay(path: Path, files: Path) -> None:
    def happen(desk: Desk) -> None:
        desk.controller.dispatch(EnterPlanning(desk.clock.now()))
        for action, classes in ((" ", ()), ("x" * 501, ()), ("Write", ("c" * 129,)), ("Write", ("c",) * 65)):
            with pytest.raises(Refused):
                desk.commit(*classes, action=action)

    recorded(TraceFile(path), happen)
    assert play(read(path), files).refused == 4
