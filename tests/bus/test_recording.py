"""A live session of the real service is recorded, and its replay takes the same course without a word of it."""

from __future__ import annotations

import json
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from antidrift.domain.model import SessionSummary
from antidrift.replay import Played, play
from antidrift.store import AUDIT_NAME, tail
from antidrift.trace import Trace, read
from standins.standin import StandIn
from support.desktop import FakeMutter, FakeScreenSaver
from support.private_bus import PrivateBus
from support.service import Service
from support.time_machine import TimeMachine

CONFIG = """
sensor.reporters = ["any"]
always_allowed.titles = ["Walrus minutes"]
always_allowed.domains = ["narwhal.example", "seahorse.com"]
class_aliases = { "Code-Special" = "code" }
tasks = { source = "todo.txt", path = "~/todo.txt" }
"""
# Every animal is a secret: titles, plans, tasks, settings, answers, a user name.
ANIMALS = [
    "walrus", "narwhal", "seahorse", "zebra", "gnu", "okapi", "lynx", "ibis", "marten", "badger", "ferret", "weasel",
    "heron", "otter", "beaver", "moose",
]  # fmt: skip
SHOP = "Zebra blankets - Gnu Shop — Mozilla Firefox"
SHOP_AGAIN = "(2) Zebra blankets - Gnu Shop — Mozilla Firefox"
DOCS = "Okapi manual - Lynx Docs — Mozilla Firefox"
MORE_DOCS = "Okapi index - lynx docs — Mozilla Firefox"
UNANSWERED = "Marten news - Badger Times — Mozilla Firefox"
ALLOWED = "Sea Horse questions - Sea Horse — Mozilla Firefox"
PRIVATE = "Ferret rings — Mozilla Firefox Private Browsing"
ADDRESS = "Mail to ibis@weasel.org - Mail"


@dataclass(frozen=True)
class Live:
    """What was recorded, and what it was when it happened."""

    path: Path
    summaries: tuple[SessionSummary, ...]
    calls: Counter[str]
    drifts: int
    interrupts: int
    prompts: str
    log: str


class Desk:
    """A person at work, while a service records."""

    def __init__(self, service: TimeMachine, claude: StandIn) -> None:
        self.service = service
        self.claude = claude
        self.drifts = 0
        self.interrupts = 0

    def focus(self, wm_class: str, title: str, number: int, status: str) -> None:
        report = {"class": ("s", wm_class), "title": ("s", title), "window_id": ("u", number), "pid": ("u", 1)}
        self.service.client.call("ReportFocus", "a{sv}", report)
        self.service.wait_for(lambda state: state["drift"]["status"] == status)

    def work(self, secs: float) -> None:
        self.service.pass_time(secs)
        self.service.state()

    def drift_on(self, secs: float) -> None:
        self.work(secs)
        self.service.wait_for(lambda state: state["drift"]["interrupt"])
        self.interrupts += 1

    def morning(self, screen: FakeScreenSaver, mutter: FakeMutter) -> None:
        service = self.service
        service.call("EnterPlanning")
        service.wait_for(lambda state: state["tasks"]["status"] == "ready")
        service.call("RequestCoach", "s", "feed the walrus")
        service.wait_for(lambda state: state["coach"]["status"] == "ready")
        service.call("StartCommitment", "ssxas", "Feed the walrus", "The gnu is fed", 1500, ["code"])
        mutter.wait_for_watch()
        screen.wait(lambda: screen.calls, "it was asked")
        self.focus("Code-Special", "okapi.py - lynx - Editor", 1, "ontask")
        self.work(20)
        self.focus("firefox", SHOP, 2, "drifting")
        self.drift_on(12)
        service.call("Refocus")
        self.focus("Code-Special", "● heron.py - lynx - Editor", 1, "ontask")
        service.wait_for(lambda state: state["drift"]["nudge"])
        self.work(15)
        self.focus("firefox", SHOP_AGAIN, 2, "drifting")
        self.work(11)
        self.focus("firefox", DOCS, 2, "drifting")
        service.call("OnTask")
        service.wait_for(lambda state: state["drift"]["status"] == "ontask")
        self.work(30)
        self.focus("firefox", MORE_DOCS, 2, "ontask")
        self.focus("firefox", ALLOWED, 3, "ontask")
        self.focus("firefox", PRIVATE, 4, "idle")
        self.work(11)
        self.claude.plays(fault="offline")
        self.focus("firefox", UNANSWERED, 3, "idle")
        self.claude.plays(**SCENARIO)
        self.work(11)
        self.focus("Slack", ADDRESS, 5, "ontask")
        self.work(40)
        screen.lock()
        service.wait_for(lambda state: state["away"]["paused"])
        service.pass_time(100)
        screen.unlock()
        service.wait_for(lambda state: not state["away"]["active"])
        service.sleep(120)
        service.wait_for(lambda state: state["away"]["total_secs"] >= 219)
        self.focus("Code-Special", "heron.py - lynx - Editor", 1, "ontask")
        self.work(250)
        mutter.leave(190)
        service.wait_for(lambda state: state["away"]["active"])
        service.pass_time(30)
        mutter.come_back()
        service.wait_for(lambda state: not state["away"]["active"])
        service.call("Extend", "x", 300)
        service.set_wall_clock(3600)
        self.work(10)
        self.drifts += service.state()["drift"]["episode"]
        service.call("Complete")
        service.wait_for(lambda state: state["reflection"]["status"] == "ready")
        service.call("End")

    def afternoon(self) -> None:
        service = self.service
        service.call("EnterPlanning")
        service.call("StartCommitment", "ssxas", "Comb the otter", "It shines", 60, ["code"])
        self.focus("firefox", SHOP, 2, "drifting")
        self.drifts += service.state()["drift"]["episode"]
        self.drift_on(12)
        self.work(49)
        service.wait_for(lambda state: state["outcome"] == "expired" and state["reflection"]["status"] == "ready")
        service.call("End")


SCENARIO: dict[str, Any] = {
    "verdicts": {
        SHOP: {"on_task": False, "reason": "A beaver shop"},
        SHOP_AGAIN: {"on_task": False, "reason": "A beaver shop"},
        DOCS: {"on_task": False, "reason": "A moose manual"},
    },
    "answers": {
        "nudge": json.dumps({"on_track": False, "message": "Still feeding the walrus?"}),
        "reviewer": json.dumps({"recap": "You fed a walrus.", "carry_forward": "Feed the otter"}),
    },
}


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("live")
    path = folder / "trace.jsonl"
    claude = StandIn("claude", folder / "bin").plays(**SCENARIO)
    with (
        PrivateBus() as bus,
        FakeScreenSaver(bus.address) as screen,
        FakeMutter(bus.address) as mutter,
        TimeMachine(
            bus,
            CONFIG,
            options=["--record", str(path)],
            PATH=f"{folder}/bin:/usr/bin:/bin",
            ANTIDRIFT_AI_BACKEND="claude",
        ) as service,
    ):
        (service.home / "todo.txt").write_text("Feed the walrus\nComb the otter\n")
        desk = Desk(service, claude)
        desk.morning(screen, mutter)
        desk.afternoon()
        assert service.stop() == 0
        calls = claude.calls()
        yield Live(
            path,
            tail(service.folder / AUDIT_NAME, 10),
            Counter(call["role"] for call in calls),
            desk.drifts,
            desk.interrupts,
            "".join(call["stdin"] for call in calls),
            service.log,
        )


@pytest.fixture(scope="module")
def trace(live: Live) -> Trace:
    return read(live.path)


@pytest.fixture(scope="module")
def played(trace: Trace, tmp_path_factory: pytest.TempPathFactory) -> Played:
    return play(trace, tmp_path_factory.mktemp("played") / "files")


def test_the_replay_accounts_for_the_same_sessions(live: Live, played: Played) -> None:
    assert len(played.sessions) == len(live.summaries) == 2
    for replayed, recorded in zip(played.sessions, live.summaries, strict=True):
        assert replayed.session_id == recorded.session_id
        assert (replayed.outcome, replayed.timebox_secs) == (recorded.outcome, recorded.timebox_secs)
        assert replayed.switch_count == recorded.switch_count
        assert replayed.active_secs == pytest.approx(recorded.active_secs, abs=1)
        assert replayed.away_secs == pytest.approx(recorded.away_secs, abs=1)
        assert replayed.started_at_ms == pytest.approx(recorded.started_at_ms, abs=1000)
        assert replayed.ended_at_ms == pytest.approx(recorded.ended_at_ms, abs=1000)
        for one, other in zip(replayed.buckets, recorded.buckets, strict=True):
            assert one.secs == pytest.approx(other.secs, abs=1)
        assert Counter(b.wm_class for b in replayed.buckets) == Counter(b.wm_class for b in recorded.buckets)
    assert live.summaries[0].away_secs > 400


def test_the_replay_asks_an_ai_as_often_and_finds_as_much_drift(live: Live, played: Played) -> None:
    assert Counter(str(asking.role) for asking in played.calls) == live.calls
    assert set(live.calls) == {"coach", "drift_judge", "nudge", "reviewer"}
    assert played.unforeseen == 0
    assert played.drifts == live.drifts > 2
    assert played.interrupts == live.interrupts
    assert played.nudges > 0
    assert not played.refused


def test_a_recording_replays_to_the_same_bytes_each_time(trace: Trace, played: Played, tmp_path: Path) -> None:
    assert play(trace, tmp_path / "again").audit_sha256 == played.audit_sha256


def test_no_word_of_what_a_person_a_window_or_an_ai_said_is_in_a_trace(live: Live) -> None:
    recorded = live.path.read_text().casefold()
    assert [animal for animal in ANIMALS if animal in recorded] == []
    assert "walrus" in live.prompts.casefold(), "a check of the test: they were there to be recorded"
    for kept in ("Code-Special", "firefox", "Slack", "Mozilla Firefox"):
        assert kept.casefold() in recorded, "what stays readable"


def test_a_trace_is_for_nobody_but_the_person(live: Live) -> None:
    assert stat.S_IMODE(live.path.stat().st_mode) == 0o600


def test_a_trace_is_never_written_over_another_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("mine")
    with PrivateBus() as bus:
        service = Service(bus, tmp_path / "home", ["--record", str(path)])
        with pytest.raises(AssertionError, match=r"ended with status 1(.|\n)*is there already"):
            service.__enter__()
    assert path.read_text() == "mine"


def test_a_recording_after_a_restart_has_the_look_back_that_is_asked_for_again(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    claude = StandIn("claude", tmp_path / "bin").plays(delay=30)
    environment = {"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "ANTIDRIFT_AI_BACKEND": "claude"}
    with PrivateBus() as bus:
        with Service(bus, tmp_path, **environment) as service:
            service.call("EnterPlanning")
            service.call("StartCommitment", "ssxas", "Feed the walrus", "The gnu is fed", 1500, ["code"])
            service.call("Complete")
            service.call("End")
        claude.plays(**SCENARIO)
        with Service(bus, tmp_path, ["--record", str(path)], **environment) as service:
            service.wait_for(lambda state: state["reflection"]["status"] == "ready")
    assert "walrus" not in path.read_text().casefold()
    [asking] = play(read(path), tmp_path / "files").calls
    assert asking.role == "reviewer"


def test_a_recording_that_begins_in_the_middle_of_a_session_replays_it_from_there(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    (tmp_path / "antidrift").mkdir()
    (tmp_path / "antidrift" / "config.toml").write_text('sensor.reporters = ["any"]')
    with PrivateBus() as bus:
        with Service(bus, tmp_path) as service:
            service.call("EnterPlanning")
            service.call("StartCommitment", "ssxas", "Feed the walrus", "The gnu is fed", 1500, ["code"])
            service.client.call("ReportFocus", "a{sv}", {"class": ("s", "code"), "title": ("s", "Zebra")})
            service.wait_for(lambda state: state["evidence"]["buckets"])
        with Service(bus, tmp_path, ["--record", str(path)]) as service:
            service.client.call("ReportFocus", "a{sv}", {"class": ("s", "code"), "title": ("s", "Zebra two")})
            service.wait_for(lambda state: len(state["evidence"]["buckets"]) == 3)
            service.call("Complete")
            service.call("End")
    [recorded] = tail(tmp_path / "antidrift" / AUDIT_NAME, 10)
    assert "zebra" not in path.read_text().casefold()
    [replayed] = play(read(path), tmp_path / "files").sessions
    assert replayed.session_id == recorded.session_id
    assert len(replayed.buckets) == len(recorded.buckets) == 3, "(none) is one of them"
    assert replayed.active_secs == pytest.approx(recorded.active_secs, abs=1)
    assert replayed.away_secs == pytest.approx(recorded.away_secs, abs=1)
