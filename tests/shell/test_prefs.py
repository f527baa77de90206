"""The preferences: a real window, used by keyboard, found by what a screen reader says."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shell.accessible import CHECKED, Preferences
from shell.drive import Desktop
from shell.hasty_service import HastyService
from shell.settings import Settings
from standins.standin import StandIn
from support.service import Service

if TYPE_CHECKING:
    from shell.conftest import Lab

pytestmark = pytest.mark.shell


@pytest.fixture(scope="module")
def window(lab: Lab) -> Iterator[Preferences]:
    """One window for all, since its program takes two seconds to end."""
    with Preferences(lab) as prefs:
        yield prefs


@pytest.fixture
def settings(lab: Lab, desktop: Desktop) -> Iterator[Settings]:
    settings = Settings(lab, desktop)
    yield settings
    settings.reset()


@pytest.fixture
def prefs(window: Preferences, lab: Lab, desktop: Desktop, settings: Settings) -> Iterator[Preferences]:
    """The first page, and the defaults; checked afterwards for warnings and stack traces."""
    log = lab.state / "bus.log"
    before = len(log.read_text(errors="replace"))
    window.turn_to("General")
    yield window
    said = log.read_text(errors="replace")[before:]
    assert "org.gnome.Shell.Extensions:" not in said, said


def test_a_switch_changes_its_setting_and_follows_it(prefs: Preferences, settings: Settings) -> None:
    assert CHECKED in prefs.find("Show the time left", "switch").states
    prefs.press("Show the time left", "switch", "space")
    settings.wait_for("show-time", "false")
    settings.set("show-time", "true")
    prefs.until(lambda: CHECKED in prefs.find("Show the time left", "switch").states, "the switch is on again")


def test_a_choice_changes_its_setting_and_follows_it(prefs: Preferences, settings: Settings) -> None:
    prefs.press("Position", "combo box", "Return", "Home", "Return")
    settings.wait_for("panel-position", "'left'")
    prefs.find("Left", "label")
    settings.set("interrupt-style", "'panel-only'")
    prefs.find("Panel icon only", "label")


def test_it_says_whether_the_service_runs_and_does_not_start_it(prefs: Preferences, lab: Lab) -> None:
    prefs.find("Not running", "label")
    assert not prefs.shows("AI program")
    with HastyService(lab) as service:
        prefs.find("Running, version 0.1.0", "label")
        prefs.find("None. Everything works without one.", "label")
        service.stop()
        prefs.find("Not running", "label")
        assert not prefs.shows("AI program")


def test_it_names_the_ai_and_what_it_may_see(prefs: Preferences, lab: Lab, tmp_path: Path) -> None:
    StandIn("claude", tmp_path)
    with HastyService(lab, PATH=f"{tmp_path}:/usr/bin:/bin", ANTIDRIFT_AI_BACKEND="claude") as service:
        prefs.find("\u2068claude\u2069\nIt may see window titles.", "label")
        service.call("AllowAI", "b", False)
        prefs.find("\u2068claude\u2069\nIt may not see window titles.", "label")


def test_the_config_file_is_created_only_on_request(prefs: Preferences, lab: Lab) -> None:
    file = lab.home / ".config/antidrift/config.toml"
    prefs.find("~/.config/antidrift/config.toml", "label")
    prefs.press("Create…", "button")
    prefs.press("Cancel", "button")
    prefs.until(lambda: not prefs.shows("Cancel"), "the question is gone")
    assert not file.exists()
    prefs.press("Create…", "button")
    prefs.press("Create", "button")
    prefs.find("Open", "button")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    file.unlink()


def test_a_shortcut_is_pressed_and_acts_at_once(
    prefs: Preferences, settings: Settings, service: Service, desktop: Desktop
) -> None:
    prefs.turn_to("Shortcuts")
    row = prefs.find("Plan a session", "list item")
    assert row.description == "Ctrl+Super+N"
    prefs.press("Plan a session", "list item")
    prefs.find("Press the new shortcut", "label")
    desktop.key("Ctrl+Alt+k")
    settings.wait_for("shortcut-plan", "['<Control><Alt>k']")
    settings.wait_for("shortcut-menu", "['<Control><Super>a']")
    assert prefs.find("Plan a session", "list item").description == "Ctrl+Alt+K"
    desktop.key("Ctrl+Alt+k")
    service.wait_for(lambda state: state["runtime_state"] == "planning")


def test_a_shortcut_that_is_taken_is_refused_by_the_name_of_its_use(
    prefs: Preferences, settings: Settings, desktop: Desktop, lab: Lab
) -> None:
    prefs.turn_to("Shortcuts")
    prefs.press("Plan a session", "list item")
    prefs.find("Press the new shortcut", "label")
    desktop.key("Ctrl+Super+e")
    prefs.find("Ctrl+Super+E is already used for “Complete the session”.")
    desktop.key("Ctrl+Alt+Delete")
    prefs.find("Ctrl+Alt+Delete is already used for “Log out”.")
    assert not desktop.js(f"Main.panel.statusArea['{lab.uuid}'].menu.isOpen")
    desktop.key("Shift+k", "k")
    desktop.key("Escape")
    settings.wait_for("shortcut-plan", "['<Control><Super>n']")
    settings.wait_for("shortcut-complete", "['<Control><Super>e']")


def test_a_shortcut_can_be_taken_away_and_its_default_brought_back(
    prefs: Preferences, settings: Settings, desktop: Desktop
) -> None:
    prefs.turn_to("Shortcuts")
    prefs.press("Plan a session", "list item")
    prefs.find("Press the new shortcut", "label")
    desktop.key("BackSpace")
    settings.wait_for("shortcut-plan", "[]")
    assert prefs.find("Plan a session", "list item").description == "None"
    prefs.press("Restore the default", "button")
    settings.wait_for("shortcut-plan", "['<Control><Super>n']")


def test_closing_the_window_while_a_shortcut_is_asked_for_keeps_the_old_ones(
    prefs: Preferences, settings: Settings, desktop: Desktop
) -> None:
    prefs.turn_to("Shortcuts")
    prefs.press("Plan a session", "list item")
    prefs.find("Press the new shortcut", "label")
    settings.wait_for("shortcut-menu", "[]")
    desktop.key("Alt+F4")
    settings.wait_for("shortcut-menu", "['<Control><Super>a']")
    settings.wait_for("shortcut-plan", "['<Control><Super>n']")
    prefs.until(lambda: not prefs.shows("Press the new shortcut"), "the dialog is closed")
