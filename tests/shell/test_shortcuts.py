"""The keyboard shortcuts: real keys, the real service."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from shell.desk import Desk, Window
from shell.drive import Desktop
from shell.settings import Settings

if TYPE_CHECKING:
    from shell.conftest import Lab

pytestmark = pytest.mark.shell

DEFAULTS = {
    "shortcut-menu": "<Control><Super>a",
    "shortcut-plan": "<Control><Super>n",
    "shortcut-complete": "<Control><Super>e",
    "shortcut-on-task": "<Control><Super>t",
    "shortcut-refocus": "<Control><Super>b",
}
MENU, PLAN, COMPLETE, ON_TASK, REFOCUS = ("Ctrl+Super+" + letter for letter in "anetb")

# Which of some shortcuts GNOME uses already, found as the preferences find it.
FIND_CLASHES = """
import 'gi://Gdk?version=4.0';
import 'gi://Gtk?version=4.0';
import {programArgs} from 'system';
const {stockUse} = await import(programArgs[0]);
const uses = programArgs.slice(1).map(accelerator => [accelerator, stockUse(accelerator)]);
print(JSON.stringify(Object.fromEntries(uses)));
"""


@pytest.fixture(scope="module")
def desk(lab: Lab) -> Iterator[Desk]:
    with Desk(lab) as desk:
        desk.claude.plays(verdicts={"Cats": False})
        yield desk


@pytest.fixture(scope="module")
def editor(desk: Desk) -> Window:
    return desk.xterm("Editor", "Report")


@pytest.fixture(scope="module")
def cats(desk: Desk) -> Window:
    return desk.xterm("Cats", "Cats")


@pytest.fixture
def is_open(lab: Lab) -> str:
    """Whether the menu is open, in JavaScript."""
    return f"Main.panel.statusArea['{lab.uuid}'].menu.isOpen"


@pytest.fixture
def settings(lab: Lab, desktop: Desktop) -> Iterator[Settings]:
    settings = Settings(lab, desktop)
    yield settings
    settings.reset()


def uses_in_gnome(lab: Lab, *accelerators: str) -> dict[str, str | None]:
    script = lab.state / "clashes.js"
    script.write_text(FIND_CLASHES)
    module = lab.home / f".local/share/gnome-shell/extensions/{lab.uuid}/lib/prefs/accelerators.js"
    found: dict[str, str | None] = json.loads(lab.run("gjs", "-m", str(script), module.as_uri(), *accelerators))
    return found


def test_the_defaults_clash_with_none_of_gnome_and_with_none_of_their_own(lab: Lab, settings: Settings) -> None:
    assert {key: settings.get(key) for key in DEFAULTS} == {key: f"['{value}']" for key, value in DEFAULTS.items()}
    assert uses_in_gnome(lab, *DEFAULTS.values()) == dict.fromkeys(DEFAULTS.values())


def test_a_clash_is_found_however_it_is_spelled(lab: Lab) -> None:
    uses = uses_in_gnome(lab, "<Alt>F4", "<Primary><Alt>Delete", "<Shift><Super>A", "<Super>A", "<Control><Alt>j")
    assert uses.pop("<Super>A") is not None  # GNOME has named it anew
    assert uses == {
        "<Alt>F4": "Close window",
        "<Primary><Alt>Delete": "Log out",
        "<Shift><Super>A": None,
        "<Control><Alt>j": None,
    }


def test_the_menu_opens_and_closes(desk: Desk, editor: Window, desktop: Desktop, is_open: str) -> None:
    editor.focus()
    for _ in range(2):
        desktop.key(MENU)
        desktop.wait(is_open)
        desktop.key(MENU)
        desktop.wait(f"!{is_open}")


def test_the_menu_opens_from_the_overview(desk: Desk, desktop: Desktop, is_open: str) -> None:
    desktop.js("Main.overview.show()")
    desktop.wait("Main.overview.visible && !Main.overview.animationInProgress")
    desktop.key(MENU)
    desktop.wait(is_open)
    desktop.key(MENU)
    desktop.wait(f"!{is_open}")
    desktop.js("Main.overview.hide()")
    desktop.wait("!Main.overview.visible")


def test_planning_begins_where_there_is_no_session(desk: Desk, editor: Window, desktop: Desktop, is_open: str) -> None:
    editor.focus()
    desktop.key(PLAN)
    desktop.wait(is_open)
    desk.service.wait_for(lambda state: state["runtime_state"] == "planning")


def test_a_session_is_completed_and_its_review_shown(
    desk: Desk, editor: Window, desktop: Desktop, is_open: str
) -> None:
    editor.focus()
    desk.start("Editor")
    desktop.key(COMPLETE)
    desk.service.wait_for(lambda state: state["outcome"] == "completed")
    desktop.wait(is_open)


def test_a_drifting_window_is_called_on_task(desk: Desk, editor: Window, cats: Window, desktop: Desktop) -> None:
    editor.focus()
    desk.start("Editor")
    desk.drift_in(cats)
    desktop.key(ON_TASK)
    state = desk.service.wait_for(lambda state: state["drift"]["status"] == "ontask")
    assert state["commitment"]["allowed_window_classes"] == ["Editor", "Cats"]


def test_a_drift_is_left_behind_by_going_back_to_task(
    desk: Desk, editor: Window, cats: Window, desktop: Desktop
) -> None:
    editor.focus()
    desk.start("Editor")
    desk.drift_in(cats)
    desktop.key(REFOCUS)
    state = desk.service.wait_for(lambda state: state["drift"]["status"] != "drifting")
    assert state["commitment"]["allowed_window_classes"] == ["Editor"]


def test_a_changed_shortcut_takes_the_place_of_the_old_one(
    desk: Desk, editor: Window, desktop: Desktop, settings: Settings, is_open: str
) -> None:
    editor.focus()
    settings.set("shortcut-menu", "['<Control><Alt>m']")
    desktop.key(MENU)
    assert not desktop.js(is_open)
    desktop.key("Ctrl+Alt+m")
    desktop.wait(is_open)
    desktop.key("Ctrl+Alt+m")
    desktop.wait(f"!{is_open}")
    settings.set("shortcut-menu", "@as []")
    desktop.key("Ctrl+Alt+m")
    assert not desktop.js(is_open)


def test_they_are_gone_with_the_extension_and_back_with_it(
    desk: Desk, editor: Window, desktop: Desktop, is_open: str
) -> None:
    bound = (
        "Object.entries(Main.wm._allowedKeybindings).filter(([name, modes]) => name.startsWith('shortcut-') && modes)"
    )
    editor.focus()
    desk.cycle_the_extension(lambda: desktop.wait(f"{bound}.length === 0"))
    assert desktop.js(f"{bound}.length") == len(DEFAULTS)
    desktop.key(MENU)
    desktop.wait(is_open)


def test_fifty_locks_and_unlocks_later_each_shortcut_still_acts_once(
    desk: Desk, editor: Window, desktop: Desktop, is_open: str
) -> None:
    """A lock disables the extension and an unlock enables it, which is when shortcuts of other extensions got lost."""
    editor.focus()
    said = len(desk.lab.log)
    names = json.dumps(list(DEFAULTS))
    bound = f"{names}.filter(name => Main.wm._allowedKeybindings[name]).length"
    until = "for (let ms = 0; {} && ms < 5000; ms += 2) await __lab.sleep(2);"
    cycle = (
        f"Main.sessionMode.pushMode('unlock-dialog'); {until.format(f'{bound} > 0')} seen.push({bound});"
        f"Main.sessionMode.popMode('unlock-dialog'); {until.format(f'{bound} < {len(DEFAULTS)}')} seen.push({bound});"
    )
    as_wanted = f"seen.every((count, i) => count === i % 2 * {len(DEFAULTS)})"
    cycles = f"const seen = []; for (let i = 0; i < 50 && {as_wanted}; i++) {{ {cycle} }} return seen;"
    seen = desktop.js(f"(async () => {{ {cycles} }})()")
    assert seen == [0, len(DEFAULTS)] * 50
    opened = f"void (globalThis.__opened = 0, Main.panel.statusArea['{desk.lab.uuid}'].menu.connect("
    desktop.js(opened + "'open-state-changed', (_menu, isOpen) => __opened += isOpen))")
    desktop.key(MENU)
    desktop.wait(is_open)
    desktop.key(MENU)
    desktop.wait(f"!{is_open}")
    assert desktop.js("__opened") == 1
    desk.start("Editor")
    desktop.key(COMPLETE)
    desk.service.wait_for(lambda state: state["runtime_state"] == "review")
    complaints = [
        line for line in desk.lab.log[said:].splitlines() if "keybinding" in line.lower() or desk.lab.uuid in line
    ]
    assert complaints == []
