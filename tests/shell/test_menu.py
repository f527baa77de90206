"""The panel button and its menu, in a real GNOME Shell with the real service."""

from __future__ import annotations

import json
import resource
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shell.conftest import Lab, LabService
from shell.drive import Desktop
from shell.panel import Panel
from standins.standin import StandIn
from support.service import Service

pytestmark = pytest.mark.shell

LINE = "What will you do?"
PROPOSAL = {
    "next_action": "Write the outline",
    "success_condition": "The outline has five headings",
    "timebox_minutes": 40,
    "allowed_window_classes": ["org.gnome.TextEditor", "firefox"],
}
LEAKS = Path(__file__).with_name("leaks.js").read_text()
# For each button that was in the panel the shell itself keeps one handler, GNOME 50 two.
OF_THE_SHELL = ("Panel::destroy", "Clutter_ClickGesture::recognize")
MARKUP = "<b>Bold</b> & <span>"
TURNED = "Report \u202egnp.exe"


class Coached:
    """The service with a stand-in for `claude` on PATH, tasks, and nobody asked yet whether titles may be seen."""

    def __init__(self, lab: Lab, folder: Path) -> None:
        self.claude = StandIn("claude", folder / "bin").plays(answers={"coach": json.dumps(PROPOSAL)})
        tasks = folder / "todo.txt"
        tasks.write_text("Answer the letter\nBook the room\n" + "".join(f"Chapter {n}\n" for n in range(8)))
        (folder / "antidrift").mkdir(mode=0o700)
        config = f'[tasks]\nsource = "todo.txt"\npath = "{tasks}"\n[sensor]\nreporters = ["any"]\n'
        (folder / "antidrift" / "config.toml").write_text(config)
        self.service = LabService(
            lab, home=folder, PATH=f"{folder / 'bin'}:/usr/local/bin:/usr/bin:/bin", ANTIDRIFT_AI_BACKEND=""
        )


@pytest.fixture
def coached(lab: Lab, tmp_path: Path) -> Iterator[Coached]:
    coached = Coached(lab, tmp_path)
    with coached.service as service:
        service.wait_for(lambda state: state["ai"]["available"])
        yield coached


def active(service: Service, **expected: object) -> None:
    """Waits for a session with such a commitment."""
    commitment = service.wait_for(lambda state: state["runtime_state"] == "active")["commitment"]
    assert {key: commitment[key] for key in expected} == expected


def start(service: Service, action: str = "Write the report", secs: int = 1500) -> None:
    service.call("EnterPlanning")
    service.call("StartCommitment", "ssxas", action, "Two pages", secs, [])


# A session


def test_one_line_and_enter_starts_a_session_with_the_defaults_that_are_shown(
    desktop: Desktop, panel: Panel, service: Service
) -> None:
    panel.wait_name("AntiDrift: no session")
    panel.open()
    panel.wait_focus(LINE)
    desktop.type_text("Write the report")
    desktop.wait_for("25 minutes. Done when: \u2068Write the report\u2069")
    desktop.js(
        "void (globalThis.__focused = [], globalThis.__watch = global.stage.connect('notify::key-focus', () => "
        "__focused.push(global.stage.key_focus?.accessible_name ?? null)))"
    )
    desktop.key("Return")

    active(service, next_action="Write the report", success_condition="Write the report", timebox_secs=25 * 60)
    panel.wait_closed()
    desktop.js("void global.stage.disconnect(__watch)")
    assert "Next action" not in desktop.js("__focused"), "the service was planning for a moment; that is not shown"
    panel.wait_name("AntiDrift: session running")
    assert panel.time() == "25 min"


def test_a_whole_session_by_pointer(desktop: Desktop, panel: Panel, coached: Coached) -> None:
    service = coached.service
    service.call("AllowAI", "b", True)
    panel.open()
    desktop.type_text("the report")
    desktop.click("Plan…")
    desktop.click("Sharpen")
    desktop.wait_for("TextEditor")
    assert panel.text_of("Next action") == "Write the outline"
    assert panel.text_of("Done when") == "The outline has five headings"
    assert panel.text_of("Minutes") == "40"

    desktop.click("Firefox")
    desktop.click("More minutes")
    desktop.click("Start session")
    active(
        service,
        next_action="Write the outline",
        success_condition="The outline has five headings",
        timebox_secs=45 * 60,
        allowed_window_classes=["org.gnome.TextEditor"],
    )
    panel.wait_closed()

    panel.open()
    desktop.wait_for("Write the outline")
    desktop.wait_for("Done when: \u2068The outline has five headings\u2069")
    desktop.click("Five minutes more")
    service.wait_for(lambda state: state["commitment"]["timebox_secs"] == 50 * 60)
    assert panel.is_open
    coached.claude.plays(delay=1)
    desktop.click("Complete")
    desktop.wait_for("Completed")
    desktop.wait_for("The look-back is being written…")
    desktop.wait_for("You wrote the outline.")
    desktop.wait_for("Take along: \u2068Start with the headings again.\u2069")
    desktop.click("End")
    desktop.wait_for("Last time: \u2068Start with the headings again.\u2069")
    assert service.state()["runtime_state"] == "locked"
    panel.wait_focus(LINE)


def test_a_whole_session_by_keyboard_alone(desktop: Desktop, panel: Panel, coached: Coached) -> None:
    service = coached.service
    service.call("AllowAI", "b", False)
    desktop.key("Ctrl+Super+a")
    panel.wait_focus(LINE)
    desktop.type_text("the report")
    assert panel.tab_to("Plan…") == [LINE]
    desktop.key("Return")
    panel.wait_focus("Next action")
    desktop.wait_for("Answer the letter")

    desktop.key("Shift+Tab", "Shift+Tab")
    panel.wait_focus("Rough idea")
    desktop.key("End")
    desktop.type_text(", at last")
    desktop.key("Return")
    desktop.wait_for("TextEditor")
    assert coached.claude.calls()[-1]["role"] == "coach"
    assert "the report, at last" in coached.claude.calls()[-1]["stdin"]

    passed = panel.tab_to("Done when")
    assert passed[:4] == ["Rough idea", "Sharpen", "Next action", "Answer the letter"]
    desktop.key("Ctrl+a")
    desktop.type_text("Six headings")
    panel.tab_to("Minutes")
    desktop.key("Up", "Up", "Down")
    assert panel.text_of("Minutes") == "45"
    panel.tab_to("TextEditor")
    desktop.key("space")
    passed = panel.tab_to("Start session")
    assert passed == ["TextEditor", "Firefox", "Cancel"]
    desktop.key("Return")
    active(
        service,
        next_action="Write the outline",
        success_condition="Six headings",
        timebox_secs=45 * 60,
        allowed_window_classes=["firefox"],
    )

    panel.wait_closed()
    desktop.key("Ctrl+Super+a")
    desktop.wait_for("Complete")
    panel.tab_to("Complete")
    desktop.key("Return")
    desktop.wait_for("Completed")
    panel.tab_to("End")
    desktop.key("Return")
    service.wait_for(lambda state: state["runtime_state"] == "locked")
    panel.wait_focus(LINE)
    panel.close()


# The plan


def test_a_proposal_fills_in_once_and_never_what_the_person_has_typed(
    desktop: Desktop, panel: Panel, coached: Coached
) -> None:
    coached.service.call("EnterPlanning")
    panel.open()
    desktop.click("Done when")
    desktop.type_text("Mine")
    desktop.click("Rough idea")
    desktop.type_text("the report")
    desktop.key("Return")
    desktop.wait_for("TextEditor")
    assert panel.text_of("Next action") == "Write the outline"
    assert panel.text_of("Done when") == "Mine"

    desktop.click("Next action")
    desktop.key("Ctrl+a")
    desktop.type_text("My own words")
    coached.service.call("AllowAI", "b", True)  # another state, with the same proposal in it
    desktop.wait_gone("Yes")
    assert panel.text_of("Next action") == "My own words"

    desktop.click("Next action")
    desktop.key("Ctrl+a", "BackSpace")
    coached.service.call("AllowAI", "b", False)
    coached.service.call("AllowAI", "b", True)
    desktop.js("__lab.sleep(100)")
    assert panel.text_of("Next action") == ""
    desktop.type_text("My own words")

    other = {**PROPOSAL, "next_action": "Another", "timebox_minutes": 10}
    coached.claude.plays(answers={"coach": json.dumps(other)})
    desktop.click("Sharpen")
    coached.service.wait_for(lambda state: state["coach"]["request_id"] == 2 and state["coach"]["status"] == "ready")
    desktop.wait_for("Sharpen")
    assert panel.text_of("Next action") == "My own words"
    assert panel.text_of("Minutes") == "10"


def test_a_task_is_picked_by_one_click_and_the_rest_are_a_click_away(
    desktop: Desktop, panel: Panel, coached: Coached
) -> None:
    coached.service.call("EnterPlanning")
    panel.open()
    desktop.click("6 more…")
    desktop.click("Chapter 6")
    assert panel.text_of("Next action") == "Chapter 6"
    assert panel.text_of("Rough idea") == "Chapter 6"
    desktop.click("Start session")
    active(coached.service, next_action="Chapter 6", success_condition="Chapter 6")


def test_without_an_ai_the_plan_asks_for_no_rough_idea(desktop: Desktop, panel: Panel, service: Service) -> None:
    service.call("EnterPlanning")
    panel.open()
    desktop.wait_for("Next action")
    assert desktop.find("Sharpen") is None
    panel.wait_focus("Next action")


def test_typing_goes_on_undisturbed_while_states_arrive(desktop: Desktop, panel: Panel, coached: Coached) -> None:
    coached.service.call("EnterPlanning")
    panel.open()
    desktop.click("Next action")
    done = threading.Event()

    def stir() -> None:
        allowed = True
        while not done.wait(0.05):
            coached.service.call("AllowAI", "b", allowed)
            allowed = not allowed

    stirring = threading.Thread(target=stir)
    before = coached.service.state()["seq"]
    stirring.start()
    try:
        desktop.type_text("Every letter of this arrives in its order")
    finally:
        done.set()
        stirring.join()
    assert coached.service.state()["seq"] > before + 3
    assert panel.text_of("Next action") == "Every letter of this arrives in its order"
    assert panel.focus() == "Next action"
    assert panel.is_open


def test_a_half_typed_plan_survives_closing_the_menu_and_a_lock_and_unlock(
    desktop: Desktop, panel: Panel, service: Service
) -> None:
    panel.open()
    desktop.type_text("Half a li")
    panel.close()
    panel.open()
    assert panel.text_of(LINE) == "Half a li"
    desktop.click("Plan…")
    desktop.click("Done when")
    desktop.type_text("Half a condi")

    uuid = panel.uuid
    desktop.js("Main.sessionMode.pushMode('unlock-dialog')")
    desktop.wait(f"Main.extensionManager.lookup('{uuid}').state === 2 && !Main.panel.statusArea['{uuid}']")
    assert desktop.js("Main.modalCount") == 0
    desktop.js("Main.sessionMode.popMode('unlock-dialog')")
    desktop.wait(f"Main.extensionManager.lookup('{uuid}').state === 1")
    panel.wait_name("AntiDrift: planning")
    panel.open()
    assert panel.text_of("Next action") == "Half a li"
    assert panel.text_of("Done when") == "Half a condi"

    desktop.click("Cancel")
    panel.wait_focus(LINE)
    desktop.wait_for("25 minutes; press Enter to start.")
    assert panel.text_of(LINE) == ""


# What goes wrong


def test_a_start_that_fails_says_why_keeps_the_line_and_leaves_no_plan_behind(
    desktop: Desktop, panel: Panel, service: Service
) -> None:
    panel.open()
    desktop.type_text("Write the report")
    # Enough for the plan, but not for the commitment: the snapshot of an active session is longer.
    service.call("EnterPlanning")
    size = (service.folder / "state.json").stat().st_size
    service.call("CancelPlanning")
    _, hard = resource.prlimit(service.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(service.pid, resource.RLIMIT_FSIZE, (size + 40, hard))
    desktop.key("Return")
    desktop.wait(f"__lab.shown({panel.button}.menu.actor).some(a => a.text?.includes('could not be written'))")
    assert panel.text_of(LINE) == "Write the report"
    panel.wait_focus(LINE)
    assert service.state()["runtime_state"] == "locked"

    resource.prlimit(service.pid, resource.RLIMIT_FSIZE, (hard, hard))
    desktop.key("Return")
    active(service, next_action="Write the report")


def test_a_plan_that_cannot_be_started_says_what_is_missing(desktop: Desktop, panel: Panel, service: Service) -> None:
    panel.open()
    desktop.key("Return")
    desktop.wait_for("Say what you will do next.")
    desktop.type_text("x")
    desktop.wait_gone("Say what you will do next.")
    desktop.click("Plan…")
    desktop.click("Minutes")
    desktop.wait_for("Next action")
    panel.tab_to("Minutes")
    desktop.key("Ctrl+a")
    desktop.type_text("0")
    desktop.key("Return")
    desktop.wait_for("The minutes are a number from 1 to 1440.")
    assert service.state()["runtime_state"] == "planning"


def test_a_coach_that_fails_says_why_beside_the_rough_idea(desktop: Desktop, panel: Panel, coached: Coached) -> None:
    coached.claude.plays(fault="offline")
    coached.service.call("EnterPlanning")
    panel.open()
    desktop.click("Rough idea")
    desktop.type_text("the report")
    desktop.key("Return")
    coach = coached.service.wait_for(lambda state: state["coach"]["status"] == "error")["coach"]
    desktop.wait_for(coach["error"]["message"])
    assert panel.text_of("Rough idea") == "the report"


def test_the_question_about_window_titles_is_asked_until_it_is_answered(
    desktop: Desktop, panel: Panel, coached: Coached
) -> None:
    panel.open()
    desktop.wait_for("May \u2068claude\u2069 see window titles, to tell work from drift?")
    desktop.click("Yes")
    coached.service.wait_for(lambda state: state["ai"]["consent"] == "given")
    desktop.wait_gone("Yes")
    coached.service.call("AllowAI", "b", False)
    start(coached.service)
    desktop.wait_for("Complete")
    assert desktop.find("Yes") is None


def test_a_shortcut_that_can_do_nothing_says_why_in_a_notification(
    desktop: Desktop, panel: Panel, service: Service
) -> None:
    panel.wait_name("AntiDrift: no session")
    desktop.key("Ctrl+Super+t")
    desktop.wait_for(service.refusal("OnTask")[1])
    desktop.js("Main.messageTray.getSources().forEach(source => source.destroy())")


# Drift


def test_a_drift_is_said_in_words_and_shapes_and_answered_in_the_menu(
    desktop: Desktop, panel: Panel, coached: Coached
) -> None:
    service = coached.service
    coached.claude.plays(verdicts={"Ten cats": {"on_task": False, "reason": "Cats are no report"}})
    service.call("AllowAI", "b", True)
    start(service)
    window = {"class": ("s", "viewer"), "title": ("s", "Ten cats")}
    icon = f"__lab.shown({panel.button}).find(actor => actor.gicon)?.gicon.to_string().split('/').pop()"
    panel.wait_name("AntiDrift: session running")
    assert desktop.js(icon) == "antidrift-active-symbolic.svg"
    service.client.call("ReportFocus", "a{sv}", window)
    service.wait_for(lambda state: state["drift"]["status"] == "drifting", 30)
    panel.wait_name("AntiDrift: session running, drifting")
    assert desktop.js(icon) == "antidrift-drifting-symbolic.svg"

    panel.open()
    desktop.wait_for("Drifting – \u2068Viewer\u2069: \u2068Cats are no report\u2069")
    desktop.click("This is on task")
    service.wait_for(lambda state: state["drift"]["status"] == "ontask")
    desktop.wait_for("On task – \u2068Viewer\u2069")
    desktop.wait_gone("This is on task")
    assert panel.is_open


def test_text_from_outside_is_shown_as_it_is(desktop: Desktop, panel: Panel, coached: Coached) -> None:
    service = coached.service
    start(service, action=f"{MARKUP} {TURNED}")
    service.client.call("ReportFocus", "a{sv}", {"class": ("s", f"{MARKUP}"), "title": ("s", TURNED)})
    service.wait_for(
        lambda state: any(bucket["class"] == MARKUP and bucket["secs"] for bucket in state["evidence"]["buckets"])
    )
    panel.open()
    desktop.wait_for("<b>Bold</b> & <span> Report gnp.exe")
    desktop.wait("__lab.shown(global.stage).some(actor => actor.text === '<b>Bold</b> & <span>')")
    assert not any("\u202e" in text for text in panel.texts())
    used = f"__lab.shown({panel.button}.menu.actor).filter(a => a.clutter_text?.use_markup).length"
    assert desktop.js(used) == 0


# The panel


def test_the_panel_wakes_once_a_minute_and_shows_the_last_one_in_seconds(
    desktop: Desktop, panel: Panel, service: Service
) -> None:
    # Every timer that any part of the extension sets, and how often it goes off.
    desktop.js(
        "void (() => { globalThis.__waits = []; globalThis.__woken = 0; globalThis.__timeout_add ??= GLib.timeout_add;"
        f"GLib.timeout_add = (priority, ms, call) => {{ if (!new Error().stack.includes('{panel.uuid}'))"
        "return __timeout_add(priority, ms, call);"
        "__waits.push(ms); return __timeout_add(priority, ms, () => { __woken++; return call(); }); }; })()"
    )
    try:
        panel.wait_name("AntiDrift: no session")
        service.call("EnterPlanning")
        service.call("CancelPlanning")
        desktop.js("__lab.sleep(1500)")
        assert desktop.js("[__waits, __woken]") == [[], 0]
        start(service)
        panel.wait_name("AntiDrift: session running")
        desktop.js("__lab.sleep(1500)")
        waits = desktop.js("__waits")
        # A state that arrives sets the one timer anew; none is short.
        assert waits
        assert min(waits) > 50_000
        assert desktop.js("__woken") == 0
        service.call("Extend", "x", -1448)
        desktop.wait(f"/^0:\\d\\d$/.test({panel.button}.get_first_child().get_last_child().text)")
        desktop.wait("__waits.filter(ms => ms <= 1000).length >= 2")
    finally:
        desktop.js("void (GLib.timeout_add = __timeout_add)")


def test_settings_hide_the_time_and_move_the_button(desktop: Desktop, panel: Panel, service: Service, lab: Lab) -> None:
    schema = "org.gnome.shell.extensions.antidrift"
    start(service)
    panel.wait_name("AntiDrift: session running")
    try:
        lab.gsettings(schema, "show-time", "false")
        desktop.wait(f"!{panel.button}.get_first_child().get_last_child().visible")
        lab.gsettings(schema, "panel-position", "left")
        desktop.wait(f"Main.panel._leftBox.contains({panel.button})")
        panel.wait_name("AntiDrift: session running")
        panel.open()
        desktop.wait_for("Complete")
    finally:
        lab.gsettings(schema, "show-time", "true")
        lab.gsettings(schema, "panel-position", "right")
    desktop.wait(f"Main.panel._rightBox.contains({panel.button})")


def test_everything_that_can_have_the_focus_has_a_name_and_is_reached_at_large_text(
    desktop: Desktop, panel: Panel, coached: Coached, lab: Lab
) -> None:
    coached.service.call("EnterPlanning")
    lab.gsettings("org.gnome.desktop.interface", "text-scaling-factor", "1.5")
    try:
        panel.open()
        desktop.wait_for("Book the room")
        for actor in panel.focusable():
            assert actor["name"], actor
        view = desktop.js(f"__lab.describe({panel.button}.menu.box.get_first_child())")
        assert view["y"] + view["h"] <= 720
        for name in ("Sharpen", "Yes", "Start session"):
            panel.tab_to(name)
            button = desktop.wait_for(name)
            assert view["y"] <= button["y"] <= view["y"] + view["h"] - button["h"], f"{name} is scrolled into view"
            assert view["x"] <= button["x"] <= view["x"] + view["w"] - button["w"]
        desktop.key("Return")
        desktop.wait_for("Say what you will do next.")
    finally:
        lab.gsettings("org.gnome.desktop.interface", "text-scaling-factor", "1.0")


# Coming and going


def test_without_a_service_the_menu_says_so_and_offers_a_start_only_where_there_is_one(
    desktop: Desktop, panel: Panel, lab: Lab, tmp_path: Path
) -> None:
    panel.wait_name("AntiDrift: not running")
    panel.open()
    desktop.wait_for("AntiDrift is not running")
    assert desktop.find("Start AntiDrift") is None
    panel.close()

    service = LabService(lab, home=tmp_path)
    with activation(desktop, lab, service):
        panel.open()
        desktop.wait_for("Start AntiDrift")
        desktop.js("__lab.sleep(300)")
        panel.wait_name("AntiDrift: not running")  # looking has not started it
        desktop.click("Start AntiDrift")
        panel.wait_focus(LINE)
        panel.wait_name("AntiDrift: no session")
        desktop.type_text("Write the report")
        desktop.key("Return")
        panel.wait_name("AntiDrift: session running")
    panel.wait_name("AntiDrift: not running")


class activation:  # noqa: N801 - used as a function
    """While this lasts the bus knows how to start the service; ends what it has started."""

    def __init__(self, desktop: Desktop, lab: Lab, service: LabService) -> None:
        self._desktop = desktop
        self._file = lab.home / ".local/share/dbus-1/services/org.antidrift.Session.service"
        variables = [f"{name}={value}" for name, value in service.environment.items()]
        command = lab.host_command("/usr/bin/env", *variables, sys.executable, "-m", "antidrift")
        self._text = f"[D-BUS Service]\nName=org.antidrift.Session\nExec={command}\n"

    def __enter__(self) -> None:
        self._file.write_text(self._text)
        self._bus_call("ReloadConfig", "null")

    def __exit__(self, *_: object) -> None:
        self._file.unlink()
        self._bus_call("ReloadConfig", "null")
        pid = self._bus_call("GetConnectionUnixProcessID", "new GLib.Variant('(s)', ['org.antidrift.Session'])")[0]
        self._desktop.js(f"GLib.spawn_command_line_sync('kill {pid}') && null")

    def _bus_call(self, member: str, parameters: str) -> list[int]:
        found: list[int] = self._desktop.js(
            "Gio.DBus.session.call_sync('org.freedesktop.DBus', '/org/freedesktop/DBus', 'org.freedesktop.DBus', "
            f"'{member}', {parameters}, null, 0, -1, null).recursiveUnpack()"
        )
        return found


def test_the_menu_recovers_when_the_service_starts_late_is_killed_and_comes_back(
    desktop: Desktop, panel: Panel, service: Service
) -> None:
    start(service)
    panel.open()
    desktop.wait_for("Complete")
    service.kill()
    panel.wait_name("AntiDrift: not running")
    desktop.wait_for("AntiDrift is not running")
    assert panel.is_open
    assert panel.time() == ""
    service.start()
    panel.wait_name("AntiDrift: session running")
    panel.tab_to("Complete")
    desktop.key("Return")
    desktop.wait_for("Completed")


def left(desktop: Desktop, service: Service) -> dict[str, Any]:
    """What the shell holds, seen from inside and from outside, once garbage is collected."""
    found: dict[str, Any] = desktop.js("__left()")
    found["live"] = [name for name in found["live"] if name not in OF_THE_SHELL]
    bus = service.client.connection
    owner = bus.get_name_owner("org.gnome.Shell")
    daemon = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.Debug.Stats")
    found["rules"] = int(bus.call_blocking(*daemon, "GetConnectionStats", "s", (owner,))["MatchRules"])
    return found


def test_two_hundred_cycles_leave_nothing_behind(desktop: Desktop, panel: Panel, service: Service) -> None:
    start(service)
    panel.wait_name("AntiDrift: session running")
    desktop.js(LEAKS)
    one = f"Main.extensionManager.lookup('{panel.uuid}').stateObj"
    desktop.js(f"void {one}.disable()")
    before = left(desktop, service)
    cycle = f"{one}.enable(); await __lab.sleep(i % 3); {one}.disable();"
    desktop.js(f"(async () => {{ for (let i = 0; i < 200; i++) {{ {cycle} }} }})()")
    try:
        desktop.js("__lab.sleep(200)")
        after = left(desktop, service)
    finally:
        desktop.js(f"void ({one}.enable(), __stop())")
    assert after.pop("live") == []
    assert after.pop("sources") == 0
    # The shell itself comes and goes with a few of these; a leak would count in hundreds.
    assert {kind: after[kind] - before[kind] < 100 for kind in after} == dict.fromkeys(after, True)
    panel.wait_name("AntiDrift: session running")
