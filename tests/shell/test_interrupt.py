"""The box that asks when a drift goes on: real windows, real keys, the real service."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from shell.desk import BOXES, Desk, Window, until
from shell.drive import Desktop

if TYPE_CHECKING:
    from shell.conftest import Lab

pytestmark = pytest.mark.shell

BUTTONS = ("Back to task", "This is on task", "End session")
NOTIFICATIONS = "org.gnome.desktop.notifications"
SETTINGS = "org.gnome.shell.extensions.antidrift"

CTRL_ALT_TAB_TAB = """async () => {
    const {Clutter} = imports.gi;
    const seat = (Clutter.get_default_backend?.() ?? global.stage.context.get_backend()).get_default_seat();
    const keyboard = seat.create_virtual_device(Clutter.InputDeviceType.KEYBOARD_DEVICE);
    const {KEY_Control_L, KEY_Alt_L, KEY_Tab} = Clutter;
    const {PRESSED, RELEASED} = Clutter.KeyState;
    for (const [key, state] of [
        [KEY_Control_L, PRESSED], [KEY_Alt_L, PRESSED],
        [KEY_Tab, PRESSED], [KEY_Tab, RELEASED], [KEY_Tab, PRESSED], [KEY_Tab, RELEASED],
        [KEY_Alt_L, RELEASED], [KEY_Control_L, RELEASED],
    ]) {
        keyboard.notify_keyval(GLib.get_monotonic_time(), key, state);
        await __lab.sleep(20);
    }
}"""


@pytest.fixture(scope="module")
def desk(lab: Lab) -> Iterator[Desk]:
    with Desk(lab) as desk:
        desk.claude.plays(verdicts={"Cats": False, "Dogs": False})
        yield desk


@pytest.fixture(scope="module")
def editor(desk: Desk) -> Window:
    return desk.xterm("Editor", "Report")


@pytest.fixture(scope="module")
def dogs(desk: Desk) -> Window:
    return desk.app("org.antidrift.Dogs", "Dogs")


@pytest.fixture(scope="module")
def cats(desk: Desk) -> Window:
    """An xterm, so that it shows where the keys go."""
    return desk.xterm("Cats", "Cats")


@pytest.fixture
def session(desk: Desk, editor: Window, dogs: Window, cats: Window, desktop: Desktop) -> Iterator[Desk]:
    """A session in which the editor is on task, and Cats and Dogs are not."""
    editor.focus()
    desk.start("Editor")
    yield desk
    desktop.js("global.stage.set_key_focus(null)")
    desktop.move_to(640, 700)


def test_it_names_the_task_and_what_is_in_front(session: Desk, cats: Window, desktop: Desktop) -> None:
    session.drift_in(cats)
    box = desktop.wait(f"{BOXES}.map(__lab.describe).find(box => box.w > 0)")
    assert box["name"] == "Still on “\u2068Write the report\u2069”? \u2068Cats\u2069: \u2068Something else\u2069"
    assert desktop.js(f"{BOXES}[0].accessible_role === imports.gi.Atk.Role.NOTIFICATION")
    assert [desktop.find(button) is not None for button in BUTTONS] == [True] * 3


def test_it_stands_in_the_middle_at_the_top_of_the_screen(session: Desk, cats: Window, desktop: Desktop) -> None:
    session.drift_in(cats)
    box = desktop.wait(f"{BOXES}.map(__lab.describe).find(box => box.w > 0)")
    assert abs(box["x"] + box["w"] / 2 - 640) <= 1
    assert desktop.js("Main.panel.height") <= box["y"] < 60


def test_what_is_typed_goes_on_into_the_window(session: Desk, cats: Window, desktop: Desktop) -> None:
    before = len(cats.typed)
    session.drift_in(cats)
    desktop.type_text("shown ")
    box = desktop.wait(f"{BOXES}.map(__lab.describe).find(box => box.w > 0)")
    button = desktop.wait_for("This is on task")
    desktop.move_to(button["x"] + 10, button["y"] + 10)
    desktop.type_text("hovered ")
    desktop.click_at(box["x"] + box["w"] / 2, box["y"] + 10)
    desktop.type_text("clicked ")
    desktop.click("Back to task")
    desktop.wait(f"{BOXES}.length === 0")
    desktop.type_text("answered.")
    until(lambda: cats.typed[before:] == "shown hovered clicked answered.", lambda: cats.typed[before:])


def test_back_to_task_takes_the_verdict_back(session: Desk, cats: Window, desktop: Desktop) -> None:
    session.drift_in(cats)
    desktop.click("Back to task")
    state = session.service.wait_for(lambda state: state["drift"]["status"] != "drifting")
    assert state["commitment"]["allowed_window_classes"] == ["Editor"]
    desktop.wait(f"{BOXES}.length === 0")


def test_this_is_on_task_allows_the_app(session: Desk, cats: Window, desktop: Desktop) -> None:
    session.drift_in(cats)
    desktop.click("This is on task")
    state = session.service.wait_for(lambda state: state["drift"]["status"] == "ontask")
    assert [name.casefold() for name in state["commitment"]["allowed_window_classes"]] == ["editor", "cats"]
    desktop.wait(f"{BOXES}.length === 0")


def test_end_session_leads_to_the_review(session: Desk, cats: Window, desktop: Desktop) -> None:
    session.drift_in(cats)
    desktop.click("End session")
    assert session.service.wait_for(lambda state: state["runtime_state"] == "review")["outcome"] == "completed"
    desktop.wait(f"{BOXES}.length === 0")


def test_closed_it_stays_away_until_the_next_drift(
    session: Desk, editor: Window, dogs: Window, cats: Window, desktop: Desktop
) -> None:
    session.drift_in(dogs)
    desktop.click("Close")
    desktop.wait(f"{BOXES}.length === 0")
    session.service.call("Extend", "x", 60)  # a new state, with the same drift
    assert session.service.state()["drift"]["interrupt"]
    assert desktop.js(f"{BOXES}.length") == 0

    editor.focus()
    session.drift_in(cats)
    desktop.wait(f"{BOXES}.length === 1")


def test_it_is_closed_by_d_bus_and_by_a_click_into_another_window(
    session: Desk, editor: Window, cats: Window, desktop: Desktop
) -> None:
    """Another program holds Escape, and so the box must not need it."""
    grabbed = desktop.js("global.display.grab_accelerator('Escape', 0)")
    try:
        session.drift_in(cats)
        desktop.wait(f"{BOXES}.length === 1")
        session.service.call("Refocus")
        desktop.wait(f"{BOXES}.length === 0")

        editor.focus()
        session.drift_in(cats)
        desktop.wait(f"{BOXES}.length === 1")
        desktop.js(f"{cats.meta}.move_frame(true, 640, 300)")
        desktop.js(f"{editor.meta}.move_frame(true, 0, 400)")
        frame = f"{editor.meta}.get_frame_rect()"
        desktop.wait(f"{frame}.y >= 400")
        before = len(editor.typed)
        desktop.click_at(*desktop.js(f"(({{x, y, width, height}}) => [x + width / 4, y + height / 2])({frame})"))
        desktop.wait(f"{BOXES}.length === 0")
        desktop.type_text("on")
        until(lambda: editor.typed[before:] == "on", lambda: editor.typed[before:])
    finally:
        desktop.js(f"global.display.ungrab_accelerator({grabbed})")


def test_it_goes_when_the_person_goes_back_by_themselves(
    session: Desk, editor: Window, cats: Window, desktop: Desktop
) -> None:
    session.drift_in(cats)
    desktop.wait(f"{BOXES}.length === 1")
    editor.focus()
    desktop.wait(f"{BOXES}.length === 0")


def test_there_is_never_more_than_one(session: Desk, dogs: Window, cats: Window, desktop: Desktop) -> None:
    session.drift_in(cats)
    desktop.wait(f"{BOXES}.length === 1")
    first = desktop.wait_for("This is on task")
    session.service.call("Extend", "x", 60)
    session.drift_in(dogs)
    desktop.wait(f"{BOXES}.length === 1 && {BOXES}[0].accessible_name.includes('Dogs')")
    assert desktop.wait_for("This is on task")["y"] == first["y"]


def test_do_not_disturb_leaves_it_to_the_panel(session: Desk, cats: Window, desktop: Desktop) -> None:
    lab = session.lab
    lab.gsettings(NOTIFICATIONS, "show-banners", "false")
    session.drift_in(cats)
    assert desktop.js(f"{BOXES}.length") == 0
    lab.gsettings(NOTIFICATIONS, "show-banners", "true")
    desktop.wait(f"{BOXES}.length === 1")
    lab.gsettings(NOTIFICATIONS, "show-banners", "false")
    desktop.wait(f"{BOXES}.length === 0")
    lab.gsettings(NOTIFICATIONS, "show-banners", "true")


def test_ten_drifts_under_do_not_disturb_pile_up_nowhere(
    session: Desk, editor: Window, cats: Window, dogs: Window, desktop: Desktop
) -> None:
    lab = session.lab
    kept = "Main.messageTray.getSources().flatMap(source => source.notifications).length"
    cue = f"Main.panel.statusArea['{lab.uuid}'].accessible_name"
    lab.gsettings(NOTIFICATIONS, "show-banners", "false")
    before = desktop.js(kept)
    try:
        for n in range(10):
            session.drift_in(cats if n % 2 else dogs)
            desktop.wait(f"{cue} === 'AntiDrift: session running, drifting'")
            assert desktop.js(f"[{BOXES}.length, {kept}, Main.messageTray._banner === null]") == [0, before, True]
            editor.focus()
            desktop.wait(f"{cue} === 'AntiDrift: session running'")
        session.drift_in(cats)
    finally:
        lab.gsettings(NOTIFICATIONS, "show-banners", "true")
    desktop.wait(f"{BOXES}.length === 1")
    assert desktop.js(kept) == before


def test_the_person_may_want_no_box_at_all(session: Desk, cats: Window, desktop: Desktop) -> None:
    session.drift_in(cats)
    desktop.wait(f"{BOXES}.length === 1")
    session.lab.gsettings(SETTINGS, "interrupt-style", "panel-only")
    desktop.wait(f"{BOXES}.length === 0")
    session.lab.gsettings(SETTINGS, "interrupt-style", "banner")
    desktop.wait(f"{BOXES}.length === 1")


def test_it_goes_with_the_service(session: Desk, cats: Window, desktop: Desktop) -> None:
    session.drift_in(cats)
    desktop.wait(f"{BOXES}.length === 1")
    session.service.kill()
    desktop.wait(f"{BOXES}.length === 0")
    session.service.start()


def test_it_goes_when_the_extension_is_disabled(session: Desk, cats: Window, desktop: Desktop) -> None:
    session.drift_in(cats)
    desktop.wait(f"{BOXES}.length === 1")
    chrome = desktop.js("Main.layoutManager._trackedActors.length")
    session.cycle_the_extension(
        lambda: desktop.wait(f"{BOXES}.length === 0 && Main.layoutManager._trackedActors.length < {chrome}")
    )
    desktop.wait(f"{BOXES}.length === 1")


def test_why_an_answer_is_refused_is_said_in_the_box(session: Desk, cats: Window, desktop: Desktop) -> None:
    session.start(*(f"App {number}" for number in range(64)))
    session.drift_in(cats)
    desktop.click("This is on task")
    desktop.wait(f"{BOXES}[0].get_last_child().visible")
    said = desktop.js(f"__lab.shown({BOXES}[0].get_last_child()).find(actor => actor.text).text")
    assert "64" in said or said.endswith(".")
    assert "GDBus" not in said
    desktop.click("Back to task")
    desktop.wait(f"{BOXES}.length === 0")


def test_it_is_reached_and_left_by_keyboard(session: Desk, cats: Window, desktop: Desktop) -> None:
    session.drift_in(cats)
    desktop.wait(f"{BOXES}.length === 1")
    before = len(cats.typed)
    _focus_by_keyboard(desktop)
    desktop.key("Escape")
    desktop.type_text("x")
    until(lambda: cats.typed[before:] == "x", lambda: cats.typed[before:])

    _focus_by_keyboard(desktop)
    desktop.key("Tab", "Tab")
    desktop.wait("global.stage.key_focus?.label === 'This is on task'")
    desktop.key("Return")
    session.service.wait_for(lambda state: state["drift"]["status"] == "ontask")
    desktop.wait(f"{BOXES}.length === 0")
    desktop.type_text("y")
    until(lambda: cats.typed[before:] == "xy", lambda: cats.typed[before:])


def test_it_makes_room_for_the_banner_of_another_program(session: Desk, cats: Window, desktop: Desktop) -> None:
    session.drift_in(cats)
    alone = desktop.wait(f"{BOXES}.map(__lab.describe).find(box => box.w > 0)")
    desktop.js("Main.notify('Mail', 'Something came')")
    banner = desktop.wait_for("Something came")
    desktop.wait(f"__lab.describe({BOXES}[0]).y > {banner['y'] + banner['h']}")
    desktop.js("Main.messageTray.getSources().forEach(source => source.destroy())")
    desktop.wait(f"__lab.describe({BOXES}[0]).y === {alone['y']}")


def test_long_labels_stand_below_each_other(session: Desk, cats: Window, desktop: Desktop) -> None:
    session.drift_in(cats)
    low = desktop.wait_for("End session")
    assert desktop.wait_for("Back to task")["y"] == low["y"]
    label = "Donaudampfschifffahrtsgesellschaftskapitänspatent"
    desktop.js(f"__lab.shown({BOXES}[0]).find(actor => actor.label === 'This is on task').label = '{label}'")
    desktop.wait(f"__lab.find('End session').y > {low['y']}")
    box = desktop.js(f"{BOXES}.map(__lab.describe).find(box => box.w > 0)")
    first, _, last = desktop.js(f"__lab.shown({BOXES}[0]).filter(actor => actor.label).map(__lab.describe)")
    assert first["w"] == last["w"]
    assert last["y"] + last["h"] <= box["y"] + box["h"]


def test_a_long_reason_is_shown_in_full(session: Desk, cats: Window, desktop: Desktop) -> None:
    reason = "Cats are not what the report is about, however long one looks at them. " * 4
    session.claude.plays(verdicts={"Cats": {"on_task": False, "reason": reason}})
    session.drift_in(cats)
    box = desktop.wait(f"{BOXES}.map(__lab.describe).find(box => box.w > 0)")
    last = desktop.wait_for("End session")
    assert last["y"] + last["h"] <= box["y"] + box["h"]
    session.claude.plays(verdicts={"Cats": False, "Dogs": False})


def test_the_text_is_shown_as_it_is(session: Desk, cats: Window, desktop: Desktop) -> None:
    session.claude.plays(verdicts={"Cats": {"on_task": False, "reason": "<b>Cats</b> & \u202edogs\x07"}})
    session.start("Editor", action="<i>Write</i> & <think>")
    session.drift_in(cats)
    texts = desktop.wait(f"__lab.shown({BOXES}[0]).map(actor => actor.text).filter(text => text)")
    assert "Still on “\u2068<i>Write</i> & <think>\u2069”?" in texts
    assert "\u2068Cats\u2069: \u2068<b>Cats</b> & dogs\u2069" in texts
    session.claude.plays(verdicts={"Cats": False, "Dogs": False})


def _focus_by_keyboard(desktop: Desktop) -> None:
    """Ctrl+Alt+Tab to the last of the three places: windows, top bar, AntiDrift."""
    desktop.js(f"({CTRL_ALT_TAB_TAB})()")
    desktop.wait(f"global.stage.key_focus !== null && {BOXES}[0].contains(global.stage.key_focus)")
