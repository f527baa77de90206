"""The panel button and its menu, in a real GNOME Shell with the real service."""

from __future__ import annotations

import pytest

from shell.drive import Desktop
from support.service import Service

pytestmark = pytest.mark.shell


def test_one_line_and_enter_starts_a_session(desktop: Desktop, service: Service) -> None:
    desktop.click("AntiDrift: no session")
    desktop.type_text("Write the report")
    desktop.shot("/tmp/locked.png")
    desktop.key("Return")

    commitment = service.wait_for(lambda state: state["runtime_state"] == "active")["commitment"]
    assert commitment["next_action"] == "Write the report"
    assert commitment["success_condition"] == "Write the report"
    assert commitment["timebox_secs"] == 25 * 60
    desktop.wait_for("AntiDrift: session running")
    desktop.wait_for("25 min")
    desktop.click("AntiDrift: session running")
    desktop.wait_for("Complete")
    desktop.shot("/tmp/active.png")
