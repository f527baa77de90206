"""What leaves the machine, and what does not, with the real service and a stand-in for the AI program."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from antidrift.cli import main
from antidrift.roles.drift_judge import DRIFT_JUDGE
from standins.standin import StandIn
from support.canaries import Lookout, canaries
from support.monitor import Monitor
from support.private_bus import PrivateBus
from support.service import Service

REPORTERS = 'sensor.reporters = ["any"]\n'
PRIVATE = "Zebra gifts — Mozilla Firefox Private Browsing"
LATER = "Zebra gifts, page two — Mozilla Firefox"


class Desk:
    """A service with an AI program, and the person's command line beside it."""

    def __init__(self, folder: Path, bus: PrivateBus, config: str) -> None:
        self.claude = StandIn("claude", folder / "bin")
        self.home = folder / "home"
        files = self.home / "antidrift"
        files.mkdir(parents=True, mode=0o700)
        (files / "config.toml").write_text(f"{REPORTERS}{config}")
        self.service = Service(
            bus, self.home, ["--verbose"], PATH=f"{folder}/bin:/usr/bin:/bin", ANTIDRIFT_AI_BACKEND="claude"
        )

    def focus(self, wm_class: str, title: str, number: int = 0) -> None:
        report = {"class": ("s", wm_class), "title": ("s", title), "window_id": ("u", number)}
        self.service.client.call("ReportFocus", "a{sv}", report)

    def start(self, *classes: str) -> None:
        self.service.client.call("EnterPlanning")
        self.service.call("StartCommitment", "ssxas", "Write the report", "Two pages", 1500, list(classes))

    def says(self, *arguments: str, status: int = 0) -> str:
        """What a command prints; on standard error, if it is to fail."""
        out, errors = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
        environ: Mapping[str, str] = self.service.environment
        with (
            mock.patch.dict(os.environ, environ, clear=True),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(errors),
        ):
            assert main(list(arguments)) == status, errors.getvalue()
        out.flush()
        return errors.getvalue() if status else out.buffer.getvalue().decode()  # type: ignore[attr-defined]

    def called(self, count: int) -> list[dict[str, Any]]:
        """The calls of the AI program, as soon as there are so many."""
        self.service.wait_for(lambda _: len(self.claude.calls()) >= count)
        return self.claude.calls()

    def everything_kept(self) -> dict[Path, str]:
        found = {path: path.read_bytes().decode(errors="replace") for path in self.home.rglob("*") if path.is_file()}
        assert found
        return found


@pytest.fixture
def bus() -> Iterator[PrivateBus]:
    with PrivateBus() as made:
        yield made


def test_explain_shows_to_the_byte_what_the_ai_program_gets(tmp_path: Path, bus: PrivateBus) -> None:
    desk = Desk(tmp_path, bus, "")
    with desk.service:
        desk.start("code")
        desk.focus("firefox", "Inbox - ada@example.org - “Mail” — Mozilla Firefox")
        [call] = desk.called(1)
        found = json.loads(desk.says("explain", "--json"))
        text = desk.says("explain")
    got = call["stdin"]
    ours, theirs = (prompt.split("BEGIN DATA ")[1].split("\n")[0] for prompt in (found["prompt"], got))
    assert found["prompt"].replace(ours, theirs) == got
    assert found["instruction"] in call["argv"]
    assert "ada@example.org" not in got
    token = text.split("BEGIN DATA ")[1].split("\n")[0]
    assert f"\n{got.replace(theirs, token)}\n" in text
    assert f"\n{DRIFT_JUDGE.instruction}\n" in text


def test_explain_does_not_go_by_a_config_file_that_the_service_has_not_read(tmp_path: Path, bus: PrivateBus) -> None:
    desk = Desk(tmp_path, bus, "")
    with desk.service:
        desk.start("code")
        (desk.home / "antidrift" / "config.toml").write_text('privacy.titles = "never"\n')
        assert "was changed after the service had started" in desk.says("explain", status=1)


def test_the_ledger_lists_what_the_ai_program_got_and_no_word_of_it(tmp_path: Path, bus: PrivateBus) -> None:
    desk = Desk(tmp_path, bus, "")
    with desk.service:
        desk.start("code")
        assert "Nothing was sent" in desk.says("ai", "sent")
        desk.focus("firefox", "Zebra — Mozilla Firefox")
        [call] = desk.called(1)
        [line] = json.loads(desk.says("ai", "sent", "--json"))
        row = desk.says("ai", "sent", "-n", "5")
    got = call["stdin"].encode()
    assert (line["backend"], line["role"], line["bytes"]) == ("claude", "drift_judge", len(got))
    assert line["sha256"] == hashlib.sha256(got).hexdigest()
    assert line["prompt"] is None
    assert f"claude  drift_judge  {len(got):>6} bytes" in row
    ledger = desk.home / "antidrift" / "sent.jsonl"
    assert stat.S_IMODE(ledger.stat().st_mode) == 0o600
    assert "Zebra" not in ledger.read_text()


def test_the_ledger_keeps_the_texts_if_the_person_wants_that(tmp_path: Path, bus: PrivateBus) -> None:
    desk = Desk(tmp_path, bus, "privacy.keep_prompts = true\n")
    with desk.service:
        desk.start("code")
        desk.focus("firefox", "Zebra — Mozilla Firefox")
        [call] = desk.called(1)
        [line] = json.loads(desk.says("ai", "sent", "--json"))
    assert line["prompt"] == call["stdin"]


def test_where_the_ledger_cannot_be_written_nothing_is_sent_and_the_state_says_why(
    tmp_path: Path, bus: PrivateBus
) -> None:
    desk = Desk(tmp_path, bus, "")
    with desk.service:
        (desk.home / "antidrift" / "sent.jsonl").mkdir()
        desk.start("code")
        desk.focus("firefox", "Zebra — Mozilla Firefox")
        state = desk.service.wait_for(lambda state: state["ai"]["error"])
        assert state["ai"]["error"]["message"].startswith("Nothing was sent to claude, because sent.jsonl")
        assert state["drift"]["status"] == "idle"
        assert desk.claude.calls() == []


def test_with_never_the_reviewer_gets_classes_and_no_page_is_judged(tmp_path: Path, bus: PrivateBus) -> None:
    desk = Desk(tmp_path, bus, 'privacy.titles = "never"\n')
    with desk.service:
        desk.start("code")
        for number, title in enumerate(("Zebra one", "Zebra two")):
            desk.focus("code", title, number)
            desk.focus("firefox", f"{title} — Mozilla Firefox", 10 + number)
        assert desk.service.state()["drift"]["status"] == "idle"
        assert 'titles = "never"' in desk.says("explain")
        desk.service.call("Complete")
        [call] = desk.called(1)
    assert call["role"] == "reviewer"
    assert "Zebra" not in call["stdin"]
    assert "firefox" in call["stdin"]


def test_a_private_window_is_a_class_on_the_bus_and_in_every_file_and_goes_to_no_ai(
    tmp_path: Path, bus: PrivateBus
) -> None:
    desk = Desk(tmp_path, bus, 'privacy.titles = "full"\nprivacy.keep_prompts = true\n')
    with desk.service, Monitor(bus) as monitor:
        desk.start("code")
        desk.focus("firefox", PRIVATE, 7)
        desk.focus("code", "report.py", 1)
        desk.focus("firefox", LATER, 7)
        state = desk.service.state()
        assert (state["evidence"]["window"], state["drift"]["status"]) == (
            {"class": "firefox", "title": "(private)"},
            "idle",
        )
        assert "private window" in desk.says("explain")
        desk.service.call("Complete")
        [call] = desk.called(1)
        desk.service.wait_for(lambda state: state["reflection"]["status"] == "ready")
        desk.service.call("End")
        assert "firefox" in desk.service.client.call("GetRecentSessions", "u", 1)
        news = [message for message in monitor.news() if message["type"] != "method_call"]
        desk.service.stop()
    assert call["role"] == "reviewer"
    assert "Zebra" not in call["stdin"] + desk.service.log
    assert "firefox" not in call["stdin"], "nor that there was such a window"
    assert [path for path, text in desk.everything_kept().items() if "Zebra" in text] == []
    assert len(news) > 10
    assert "Zebra" not in json.dumps(news, ensure_ascii=False), "what the service has answered and announced"


def test_planted_secrets_reach_no_prompt_log_argument_environment_or_other_file(
    tmp_path: Path, bus: PrivateBus
) -> None:
    desk = Desk(tmp_path, bus, "")
    planted = canaries(60, seed=99)
    desk.claude.plays(answers={"drift_judge": "I cannot say", "nudge": "{"})
    with desk.service:
        for start in range(0, len(planted), 20):
            desk.start("code")
            for number, canary in enumerate(planted[start : start + 20]):
                desk.focus("code" if number % 3 else "firefox", canary.title, number)
            desk.called(start // 20 + 1)
            desk.service.call("Complete")
            desk.service.wait_for(lambda state: state["reflection"]["status"] != "pending")
            desk.service.call("End")
        desk.service.call("EnterPlanning")
        desk.service.call("RequestCoach", "s", "write the report")
        desk.service.wait_for(lambda state: state["coach"]["status"] == "ready")
        desk.service.stop()
    calls = desk.claude.calls()
    assert {"coach", "drift_judge", "nudge", "reviewer"} == {call["role"] for call in calls}
    lookout = Lookout(planted)
    assert lookout.found_in(json.dumps(calls)) == [], "prompts, arguments, environment, working folder"
    assert lookout.found_in(desk.service.log) == []
    holding = {path.name for path, text in desk.everything_kept().items() if lookout.found_in(text)}
    assert {"audit.jsonl"} <= holding <= {"audit.jsonl", "state.json"}, "that is where the time that was spent is kept"
