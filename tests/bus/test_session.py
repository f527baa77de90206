"""Whole sessions through the front door: a real bus, real windows on a real X server, real child processes."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from standins.standin import StandIn
from support.monitor import Monitor
from support.private_bus import PrivateBus
from support.service import CallFailed, Service, State
from support.x_server import XServer, XWindow, eventually

CATS = "Ten cats - YouTube — Mozilla Firefox"
RUST = "Crust of Rust - YouTube — Mozilla Firefox"
NEWS = "Hacker News — Mozilla Firefox"
REPORT = "report.odt — LibreOffice Writer"


@pytest.fixture(scope="module")
def x_server() -> Iterator[XServer]:
    with XServer() as server:
        yield server


@pytest.fixture
def bus() -> Iterator[PrivateBus]:
    with PrivateBus() as bus:
        yield bus


class Desk:
    """A person's desktop: windows, an AI program on PATH, and the service."""

    def __init__(self, x_server: XServer, bus: PrivateBus, folder: Path, **environment: str) -> None:
        self.x_server = x_server
        self.claude = StandIn("claude", folder / "bin")
        self.service = Service(
            bus,
            DISPLAY=x_server.display,
            PATH=f"{folder / 'bin'}:/usr/bin:/bin",
            **{"ANTIDRIFT_AI_BACKEND": "claude", **environment},
        )

    def window(self, wm_class: str, title: str) -> XWindow:
        return self.x_server.open_window(title, (wm_class, wm_class))

    def start(self, *classes: str, secs: int = 1500) -> None:
        self.service.call("EnterPlanning")
        self.service.call("StartCommitment", "ssxas", "Write the report", "Two pages", secs, list(classes))

    def asked(self, role: str) -> list[dict[str, Any]]:
        return [call for call in self.claude.calls() if call["role"] == role]


@pytest.fixture
def desk(x_server: XServer, bus: PrivateBus, tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(x_server, bus, tmp_path)
    with desk.service:
        yield desk
    x_server.close_windows()


def drift(status: str) -> Any:
    return lambda state: state["drift"] and state["drift"]["status"] == status


def shows(wm_class: str, status: str) -> Any:
    """The window of this class has the focus, and the status is about it."""

    def holds(state: State) -> bool:
        window = state["evidence"] and state["evidence"]["window"]
        return bool(window) and window["class"] == wm_class and state["drift"]["status"] == status

    return holds


def has_seen(wm_class: str) -> Any:
    """At least a second of this class is in the buckets."""
    return lambda state: any(b["class"] == wm_class and b["secs"] >= 1 for b in state["evidence"]["buckets"])


def test_a_whole_session_with_coach_drift_interrupt_on_task_recap_and_takeaway(desk: Desk) -> None:
    desk.claude.plays(verdicts={CATS: {"on_task": False, "reason": "Cats are no report"}, NEWS: False})
    service = desk.service
    writer, browser = desk.window("libreoffice-writer", REPORT), desk.window("firefox", CATS)

    service.call("EnterPlanning")
    service.call("RequestCoach", "s", "the quarterly report")
    proposal = service.wait_for(lambda s: s["coach"]["status"] == "ready")["coach"]["proposal"]
    service.call(
        "StartCommitment", "ssxas", proposal["next_action"], proposal["success_condition"], 1500, ["libreoffice-writer"]
    )

    writer.focus()
    service.wait_for(shows("libreoffice-writer", "ontask"))
    browser.focus()
    state = service.wait_for(drift("drifting"))
    assert state["drift"]["reason"] == "Cats are no report"
    assert state["drift"]["subject"] == {"class": "firefox", "site": "YouTube"}
    assert not state["drift"]["interrupt"]
    service.wait_for(lambda s: s["drift"]["interrupt"])

    service.call("OnTask")
    state = service.wait_for(drift("ontask"))
    assert state["commitment"]["allowed_sites"] == ["YouTube"]
    browser.retitle(RUST)
    service.wait_for(lambda s: s["evidence"]["window"]["title"] == RUST)
    assert service.state()["drift"]["status"] == "ontask"
    eventually(lambda: desk.asked("nudge"), "two allowed titles are looked at together")

    service.call("Extend", "x", 300)
    assert 29 * 60_000 < service.state()["commitment"]["remaining_ms"] < 30 * 60_000
    service.call("Complete")
    state = service.wait_for(lambda s: s["reflection"]["status"] == "ready")
    assert state["outcome"] == "completed"
    assert state["reflection"]["recap"] == "You wrote the outline."
    assert {bucket["class"] for bucket in state["evidence"]["buckets"]} >= {"libreoffice-writer", "firefox"}
    service.call("End")
    service.call("EnterPlanning")
    assert service.state()["reflection"]["carry_forward"] == "Start with the headings again."
    (record,) = json.loads(service.call("GetRecentSessions", "u", 5))
    assert (record["outcome"], record["switch_count"]) == ("completed", 1)

    # Each role was asked once: the nudge when there were two allowed titles, the judge about one window only.
    assert [call["role"] for call in desk.claude.calls()] == ["coach", "drift_judge", "nudge", "reviewer"]
    (judged,) = desk.asked("drift_judge")
    assert CATS in judged["stdin"]
    assert REPORT not in judged["stdin"]


def test_a_suppressed_window_is_judged_when_the_debounce_lapses_and_refocus_clears_the_verdict(desk: Desk) -> None:
    desk.claude.plays(verdicts={NEWS: True, CATS: False})
    service = desk.service
    browser, terminal = desk.window("firefox", NEWS), desk.window("XTerm", "~")
    desk.start("xterm")
    browser.focus()
    service.wait_for(shows("firefox", "ontask"))
    first = time.monotonic()
    browser.retitle(CATS)
    service.wait_for(drift("pending"))
    service.wait_for(drift("drifting"), within=20)
    assert time.monotonic() - first > 8
    terminal.focus()  # "back to task", typed into a terminal that now has the focus
    service.wait_for(shows("XTerm", "ontask"))
    service.call("Refocus")
    browser.focus()
    service.wait_for(shows("firefox", "pending"))
    assert len(desk.asked("drift_judge")) == 2


def test_an_app_that_sharpens_nothing_and_judges_nothing_still_gives_a_whole_session(
    x_server: XServer, bus: PrivateBus, tmp_path: Path
) -> None:
    desk = Desk(x_server, bus, tmp_path, ANTIDRIFT_AI_BACKEND="none")
    with desk.service as service:
        service.call("EnterPlanning")
        service.call("RequestCoach", "s", "anything")
        state = service.state()
        assert state["coach"]["error"]["code"] == "unavailable"
        desk.window("firefox", CATS).focus()
        service.call("StartCommitment", "ssxas", "Write", "Written", 60, ["code"])
        state = service.wait_for(lambda s: s["evidence"]["window"])
        assert (state["drift"]["status"], state["evidence"]["health"]) == ("idle", "ok")
        service.call("Complete")
        assert service.state()["reflection"]["status"] == "idle"
        service.call("End")
    assert desk.claude.calls() == []
    x_server.close_windows()


def test_no_title_reaches_an_ai_before_the_recorded_yes_which_is_kept(
    x_server: XServer, bus: PrivateBus, tmp_path: Path
) -> None:
    desk = Desk(x_server, bus, tmp_path, ANTIDRIFT_AI_BACKEND="")
    with desk.service as service:
        browser = desk.window("firefox", CATS)
        desk.start()
        browser.focus()
        state = service.wait_for(lambda s: s["evidence"]["window"])
        assert (state["ai"]["available"], state["ai"]["consent"]) == (True, "unasked")
        service.call("Complete")
        service.call("End")
        assert desk.claude.calls() == []
        desk.start()
        service.call("AllowAI", "b", True)
        service.wait_for(drift("ontask"))
        assert len(desk.asked("drift_judge")) == 1
        service.stop()
        service.start()
        assert service.state()["ai"]["consent"] == "given"
    x_server.close_windows()


@pytest.mark.parametrize(
    ("scenario", "code"),
    [
        ({"fault": "not_logged_in"}, "not_logged_in"),
        ({"answer": "I would say it is off task."}, "no_json"),
        ({"answer": ""}, "empty_response"),
        ({"answer": '{"on_task": "no", "reason": "x"}'}, "invalid_answer"),
        ({"answer": '{"on_task": false, "reason": "x"}', "exit": 1}, "failed"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_failing_ai_never_fabricates_drift_and_says_why_in_one_sentence(
    desk: Desk, scenario: dict[str, Any], code: str
) -> None:
    desk.claude.plays(**scenario)
    desk.start()
    desk.window("firefox", CATS).focus()
    state = desk.service.wait_for(lambda s: s["ai"]["error"])
    assert state["ai"]["error"]["code"] == code
    assert state["drift"]["status"] == "idle"
    assert "\n" not in state["ai"]["error"]["message"]
    assert CATS not in desk.service.log


def test_a_nudge_notices_the_wrong_work_in_the_right_app(desk: Desk) -> None:
    advice = "Two files of another project in a row."
    desk.claude.plays(answers={"nudge": json.dumps({"on_track": False, "message": advice})})
    editor = desk.window("code", "report.md")
    desk.start("code")
    editor.focus()
    desk.service.wait_for(shows("code", "ontask"))
    editor.retitle("game.py")
    state = desk.service.wait_for(lambda s: s["drift"]["nudge"])
    assert (state["drift"]["nudge"], state["drift"]["status"]) == (advice, "ontask")
    desk.window("firefox", CATS).focus()
    desk.service.wait_for(lambda s: not s["drift"]["nudge"])


def test_the_timebox_runs_out_into_review(desk: Desk) -> None:
    desk.start(secs=1)
    state = desk.service.wait_for(lambda s: s["runtime_state"] == "review")
    assert state["outcome"] == "expired"
    assert state["commitment"]["remaining_ms"] == 0


def test_a_page_in_four_names_of_one_browser_is_one_app_with_one_verdict(desk: Desk) -> None:
    desk.claude.plays(verdicts={CATS: True})
    windows = [desk.window(name, CATS) for name in ("Google-chrome", "google-chrome", "com.google.Chrome")]
    desk.start()
    for window in windows:
        window.focus()
        desk.service.wait_for(drift("ontask"))
    assert len(desk.asked("drift_judge")) == 1


# Tasks and knowledge


def test_the_profile_grounds_the_coach_and_is_on_no_bus_in_no_log_and_in_no_file_of_ours(
    desk: Desk, bus: PrivateBus, tmp_path: Path
) -> None:
    service = desk.service
    service.stop()
    profile, todo = tmp_path / "about-me.md", tmp_path / "todo.txt"
    profile.write_text("I am a marmot keeper from Davos.\n")
    todo.write_text("(B) Feed the marmots\n(A) Answer the ministry\nx 2026-01-01 Done already\n")
    (service.folder / "config.toml").write_text(
        f'knowledge.path = "{profile}"\n[tasks]\nsource = "todo.txt"\npath = "{todo}"\n'
    )
    service.start()
    with Monitor(bus) as monitor:
        service.call("EnterPlanning")
        state = service.wait_for(lambda s: "pending" not in (s["tasks"]["status"], s["knowledge"]["status"]))
        assert [task["text"] for task in state["tasks"]["items"]] == ["Answer the ministry", "Feed the marmots"]
        assert state["knowledge"] == {"status": "ready", "error": None}
        service.call("RequestCoach", "s", "the winter plan")
        service.wait_for(lambda s: s["coach"]["status"] == "ready")
        service.call("StartCommitment", "ssxas", "Write", "Written", 1500, [])
        passed = json.dumps(monitor.news())
    (coached,) = desk.asked("coach")
    assert "marmot keeper from Davos" in coached["stdin"]
    assert "Feed the marmots" in passed  # a check of the test: what crosses the bus is seen
    kept = "".join(file.read_text() for file in service.folder.iterdir() if file.name != "config.toml")
    for place in (passed, service.log, kept, json.dumps([coached["argv"], coached["env"]])):
        assert "Davos" not in place


def test_sources_that_are_missing_are_absent_with_a_reason_and_planning_goes_on(desk: Desk, tmp_path: Path) -> None:
    service = desk.service
    service.stop()
    (service.folder / "config.toml").write_text(
        f'knowledge.path = "{tmp_path}/none.md"\n[tasks]\nsource = "markdown"\npath = "{tmp_path}/none.md"\n'
    )
    service.start()
    service.call("EnterPlanning")
    state = service.wait_for(lambda s: "pending" not in (s["tasks"]["status"], s["knowledge"]["status"]))
    for section in (state["tasks"], state["knowledge"]):
        assert (section["status"], section["error"]["code"]) == ("absent", "not_found")
    service.call("StartCommitment", "ssxas", "Write", "Written", 1500, [])


# Restart


def test_a_killed_service_goes_on_where_it_was_with_buckets_and_allowed_context(desk: Desk) -> None:
    desk.claude.plays(verdicts={CATS: False})
    service = desk.service
    browser = desk.window("firefox", CATS)
    desk.start("code")
    browser.focus()
    service.wait_for(drift("drifting"))
    service.call("OnTask")
    before = service.wait_for(has_seen("firefox"))
    service.call("Extend", "x", 60)  # a transition: it puts the evidence on disk as well
    service.kill()
    service.start()
    after = service.state()
    assert after["runtime_state"] == "active"
    assert after["commitment"]["id"] == before["commitment"]["id"]
    assert after["commitment"]["allowed_sites"] == ["YouTube"]
    assert after["commitment"]["timebox_secs"] == 1560
    assert after["commitment"]["remaining_ms"] < before["commitment"]["remaining_ms"] + 60_000
    assert has_seen("firefox")(after)
    service.wait_for(shows("firefox", "ontask"))
    assert after["instance"] != before["instance"]


def test_drift_starts_idle_after_a_restart_and_the_window_is_judged_anew(desk: Desk) -> None:
    desk.claude.plays(verdicts={CATS: False})
    browser = desk.window("firefox", CATS)
    desk.start("code")
    browser.focus()
    desk.service.wait_for(drift("drifting"))
    desk.claude.plays(verdicts={CATS: True})
    desk.service.stop()
    desk.service.start()
    desk.service.wait_for(drift("ontask"))
    assert len(desk.asked("drift_judge")) == 2


def test_a_timebox_that_ran_out_while_the_service_was_down_is_expired(desk: Desk) -> None:
    desk.start(secs=2)
    state = desk.service.state()
    desk.service.kill()
    time.sleep(2.2)
    desk.service.start()
    after = desk.service.state()
    assert (after["runtime_state"], after["outcome"]) == ("review", "expired")
    desk.service.call("End")
    (record,) = json.loads(desk.service.call("GetRecentSessions", "u", 1))
    assert record["ended_at_ms"] == pytest.approx(state["commitment"]["deadline_ms"], abs=50)


def test_a_review_that_was_pending_when_the_service_stopped_is_asked_for_once_more(desk: Desk) -> None:
    desk.claude.plays(delay=30)
    desk.start()
    desk.service.call("Complete")
    desk.service.wait_for(lambda s: s["reflection"]["status"] == "pending")
    desk.service.call("End")
    desk.service.stop()
    desk.claude.plays()
    desk.service.start()
    state = desk.service.wait_for(lambda s: s["reflection"]["status"] == "ready")
    assert state["reflection"]["carry_forward"] == "Start with the headings again."


# Disk


def test_a_full_disk_refuses_commands_by_name_and_loses_nothing_and_recovers_by_itself(desk: Desk) -> None:
    service = desk.service
    desk.start("code")
    before = service.state()
    _, hard = resource.prlimit(service.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(service.pid, resource.RLIMIT_FSIZE, (0, hard))
    name, message = service.refusal("Complete")
    assert name == "org.antidrift.Error.StoreFailed"
    assert message
    after = service.state()
    assert after["store"]["error"]
    assert after["runtime_state"] == "active"
    assert after["commitment"]["id"] == before["commitment"]["id"]
    resource.prlimit(service.pid, resource.RLIMIT_FSIZE, (hard, hard))
    service.wait_for(lambda s: s["store"]["error"] is None)
    service.call("Complete")
    service.call("End")


def test_expiry_happens_even_when_the_disk_is_full(desk: Desk) -> None:
    service = desk.service
    desk.start(secs=1)
    _, hard = resource.prlimit(service.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(service.pid, resource.RLIMIT_FSIZE, (0, hard))
    state = service.wait_for(lambda s: s["runtime_state"] == "review")
    assert state["store"]["error"]
    resource.prlimit(service.pid, resource.RLIMIT_FSIZE, (hard, hard))
    service.wait_for(lambda s: s["store"]["error"] is None)
    service.kill()
    service.start()
    assert service.state()["outcome"] == "expired"


def test_a_damaged_snapshot_is_set_aside_and_shown_until_the_next_plan(desk: Desk) -> None:
    service = desk.service
    desk.start()
    service.stop()
    (service.folder / "state.json").write_text("0")
    service.start()
    state = service.state()
    assert state["runtime_state"] == "locked"
    assert state["store"]["error"]["code"] == "snapshot_damaged"
    assert list(service.folder.glob("state.json.damaged-*"))
    service.call("EnterPlanning")
    assert service.state()["store"]["error"] is None


# The life of the process


def test_the_service_ends_with_an_error_when_the_bus_goes_away(bus: PrivateBus) -> None:
    with Service(bus) as service:
        bus.kill()
        assert service.wait() == 1
        assert "the bus has ended the connection" in service.log


def test_it_ends_cleanly_on_sigterm_and_saves_what_was_seen(desk: Desk) -> None:
    desk.window("code", "main.py").focus()
    desk.start("code")
    desk.service.wait_for(has_seen("code"))
    assert desk.service.stop() == 0
    desk.service.start()
    assert has_seen("code")(desk.service.state())


def test_a_second_instance_says_so_and_exits_1(bus: PrivateBus) -> None:
    with Service(bus) as first:
        second = subprocess.run(
            [sys.executable, "-m", "antidrift"],
            env=first.environment,
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
        assert second.returncode == 1
        assert "org.antidrift.Session is owned by another process on this bus" in second.stderr
        assert "Traceback" not in second.stderr
        assert first.state()["runtime_state"] == "locked"


def test_nothing_private_is_in_the_log_the_arguments_or_the_environment_of_a_child(desk: Desk) -> None:
    desk.claude.plays(verdicts={CATS: {"on_task": False, "reason": "Cats are no report"}})
    desk.start()
    desk.window("firefox", CATS).focus()
    desk.service.wait_for(drift("drifting"))
    desk.service.call("Complete")
    desk.service.wait_for(lambda s: s["reflection"]["status"] == "ready")
    for call in desk.claude.calls():
        outside = json.dumps([call["argv"], call["env"]])
        assert "cats" not in outside
        assert "report" not in outside.lower().replace("reported", "")
        assert call["listing"] == []
    for private in ("cats", "Write the report", "Cats are no report", "outline"):
        assert private not in desk.service.log


def test_a_refused_call_says_in_which_state_and_changes_nothing(desk: Desk) -> None:
    before = desk.service.state()
    with pytest.raises(CallFailed, match="Complete is not possible in locked"):
        desk.service.call("Complete")
    assert desk.service.state() == before
