"""What the menu makes of states that the real service seldom or never sends."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shell.conftest import Lab
from shell.drive import Desktop
from shell.panel import Panel

pytestmark = pytest.mark.shell

STATES = Path(__file__).parents[1] / "fixtures" / "state"


class StrangeService:
    """A program on the bus of the lab."""

    def __init__(self, lab: Lab) -> None:
        script = lab.state / "strange_service.js"
        shutil.copyfile(Path(__file__).with_name("strange_service.js"), script)
        self._program = lab.start("gjs", "-m", str(script), stdin=subprocess.PIPE)

    def says(self, state: str | dict[str, Any]) -> None:
        """From now on, this is the state."""
        assert self._program.stdin is not None
        self._program.stdin.write((state if isinstance(state, str) else json.dumps(state)) + "\n")
        self._program.stdin.flush()

    def close(self) -> None:
        """Ends it."""
        assert self._program.stdin is not None
        self._program.stdin.close()
        self._program.wait(20)


@pytest.fixture
def strange(lab: Lab, panel: Panel) -> Iterator[StrangeService]:
    strange = StrangeService(lab)
    yield strange
    strange.close()
    panel.wait_name("AntiDrift: not running")


def example(name: str, **changes: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((STATES / f"{name}.json").read_text())
    return {**found, **changes}


def test_every_example_state_is_shown(desktop: Desktop, panel: Panel, strange: StrangeService) -> None:
    shown = {
        "untouched": "What will you do?",
        "locked": "Last time: \u2068Close the browser before you begin.\u2069",
        "planning": "Water the <b>plants</b>",
        "degraded-planning": "Files: The disk is full.",
        "active": "Draft section two",
        "drifting": "Back to task",
        "away": "Draft section two",
        "degraded-active": "No windows are seen: The X server cannot be reached.",
        "review-pending": "The look-back is being written…",
        "review": "Take along: \u2068Close the browser before you begin.\u2069",
        "degraded-review": "There is no look-back: the AI gave no answer.",
    }
    assert set(shown) == {file.stem for file in STATES.glob("*.json")}
    strange.says(example("untouched"))
    panel.wait_name("AntiDrift: no session")
    panel.open()
    for number, (name, text) in enumerate(shown.items()):
        strange.says(example(name, seq=100 + number))
        desktop.wait_for(text)
        assert panel.is_open
        assert desktop.js(f"{panel.button}.menu.actor.contains(global.stage.key_focus)"), name


def test_a_service_that_is_newer_than_the_extension_is_named_as_such(
    desktop: Desktop, panel: Panel, strange: StrangeService
) -> None:
    strange.says({"schema": 2, "instance": "x", "seq": 1, "surprise": True})
    newer = "The AntiDrift service is newer than this extension. Update the extension."
    panel.wait_name(f"AntiDrift: {newer}")
    panel.open()
    desktop.wait_for(newer)
    strange.says(example("locked"))
    panel.wait_name("AntiDrift: no session")


def test_an_older_state_is_dropped_and_another_process_begins_anew(
    desktop: Desktop, panel: Panel, strange: StrangeService
) -> None:
    strange.says(example("active", seq=7))
    panel.wait_name("AntiDrift: session running")
    desktop.js(
        f"void (globalThis.__names = [], {panel.button}.connect('notify::accessible-name', "
        "button => __names.push(button.accessible_name)))"
    )
    strange.says(example("locked", seq=6))
    strange.says(example("drifting", seq=8))
    panel.wait_name("AntiDrift: session running, drifting")
    assert "AntiDrift: no session" not in desktop.js("__names")
    strange.says(example("locked", instance="another", seq=0))
    panel.wait_name("AntiDrift: no session")


def test_what_is_no_state_changes_nothing(desktop: Desktop, panel: Panel, strange: StrangeService) -> None:
    strange.says(example("active", seq=7))
    panel.wait_name("AntiDrift: session running")
    for nonsense in ("[]", "{", '{"schema": 1, "instance": "x", "seq": 9}', "null"):
        strange.says(nonsense)
    strange.says(example("drifting", seq=8))
    panel.wait_name("AntiDrift: session running, drifting")
