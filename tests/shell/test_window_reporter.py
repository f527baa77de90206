"""The shell as the sensor of windows: what reaches the service of real windows, and when."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from shell.desk import Desk, Window, reports, until
from shell.drive import Desktop
from support.monitor import Monitor

if TYPE_CHECKING:
    from shell.conftest import Lab

pytestmark = pytest.mark.shell

WITHIN_MS = 20


class Watched:
    """A desk, and what the shell reports from it."""

    def __init__(self, desk: Desk, monitor: Monitor) -> None:
        self.desk = desk
        self._monitor = monitor
        self._seen: list[dict[str, Any]] = []

    def messages(self) -> list[dict[str, Any]]:
        """Every call of ReportFocus so far."""
        self._seen += [message for message in self._monitor.news() if message.get("member") == "ReportFocus"]
        return self._seen

    def news(self, how_many: int) -> list[dict[str, Any]]:
        """What is reported from now on, once it is so many; fails if it is more."""
        until(lambda: len(self.messages()) >= how_many, lambda: f"only {reports(self._seen)}")
        found = reports(self._seen)
        self._seen = []
        assert len(found) == how_many, found
        return found

    def forget(self) -> None:
        """Forgets what has been reported so far, also what is still on its way from the shell."""
        self.desk.desktop.js("__lab.sleep(50)")
        self.messages()
        self._seen = []


@pytest.fixture(scope="module")
def desk(lab: Lab) -> Iterator[Desk]:
    with Desk(lab) as desk:
        desk.claude.plays(verdicts={"Cats": False})
        yield desk


@pytest.fixture(scope="module")
def editor(desk: Desk) -> Window:
    """An app on Wayland."""
    return desk.app("org.antidrift.Editor", "Report")


@pytest.fixture(scope="module")
def cats(desk: Desk) -> Window:
    """A window on XWayland."""
    return desk.xterm("Cats", "Cats")


@pytest.fixture
def watched(lab: Lab, desk: Desk, editor: Window, cats: Window, desktop: Desktop) -> Iterator[Watched]:
    """With the focus in the editor."""
    if editor.title != "Report":
        editor.retitle("Report")
        desktop.wait(f"!!{editor.meta}")
    editor.focus()
    with Monitor(lab) as monitor:
        watched = Watched(desk, monitor)
        desktop.js("__lab.sleep(300)")  # beyond the pause after a title
        watched.forget()
        yield watched


def test_the_evidence_and_the_drift_follow_the_focus(watched: Watched, editor: Window, cats: Window) -> None:
    desk = watched.desk
    desk.start("org.antidrift.Editor")
    for _ in range(2):
        editor.focus()
        desk.service.wait_for(lambda state: shows(state, "org.antidrift.Editor", "Report", "ontask"))
        cats.focus()
        desk.service.wait_for(lambda state: shows(state, "Cats", "Cats", "drifting"))
    state = desk.service.state()
    assert state["evidence"]["source"] == "shell"
    assert state["evidence"]["switch_count"] == 3
    desk.service.call("Complete")


def test_it_tells_class_title_process_and_ids(watched: Watched, editor: Window, cats: Window, desktop: Desktop) -> None:
    cats.focus()
    [seen] = watched.news(1)
    assert seen == {
        "class": "Cats",
        "title": "Cats",
        "app_id": "",
        "pid": desktop.js(f"{cats.meta}.get_pid()"),
        "window_id": desktop.js(f"{cats.meta}.get_stable_sequence()"),
    }
    editor.focus()
    [seen] = watched.news(1)
    assert seen == {
        "class": "org.antidrift.Editor",
        "title": "Report",
        "app_id": "org.antidrift.Editor",
        "pid": desktop.js(f"{editor.meta}.get_pid()"),
        "window_id": desktop.js(f"{editor.meta}.get_stable_sequence()"),
    }


def test_a_dialog_counts_as_its_window_under_its_own_title(watched: Watched, editor: Window, desktop: Desktop) -> None:
    editor.tell("dialog Save as")
    desktop.wait("global.display.focus_window?.title === 'Save as'")
    [seen] = watched.news(1)
    assert (seen["class"], seen["title"], seen["app_id"]) == ("org.antidrift.Editor", "Save as", "org.antidrift.Editor")
    assert seen["window_id"] == desktop.js(f"{editor.meta}.get_stable_sequence()")
    editor.tell("enddialog")
    [seen] = watched.news(1)
    assert seen["title"] == "Report"


def test_nothing_is_said_about_the_shell_itself(watched: Watched, lab: Lab, cats: Window, desktop: Desktop) -> None:
    desktop.js("Main.overview.show()")
    desktop.wait("Main.overview.visible")
    desktop.js("Main.overview.hide()")
    desktop.wait("!Main.overview.visible")
    for menu in ("dateMenu", "quickSettings", lab.uuid):
        desktop.js(f"Main.panel.statusArea['{menu}'].menu.open()")
        desktop.wait(f"Main.panel.statusArea['{menu}'].menu.isOpen")
        desktop.js(f"Main.panel.statusArea['{menu}'].menu.close()")
    desktop.wait("Main.modalCount === 0")
    cats.focus()
    [seen] = watched.news(1)
    assert seen["title"] == "Cats"


def test_an_empty_desktop_is_an_empty_report(watched: Watched, editor: Window, cats: Window, desktop: Desktop) -> None:
    desktop.js(f"{cats.meta}.minimize()")
    desktop.js(f"{editor.meta}.minimize()")
    assert watched.news(1) == [{}]
    editor.focus()
    assert [seen["title"] for seen in watched.news(1)] == ["Report"]
    desktop.js(f"{cats.meta}.unminimize()")


def test_a_desktop_that_empties_behind_a_menu_is_told_when_the_menu_closes(
    watched: Watched, lab: Lab, editor: Window, cats: Window, desktop: Desktop
) -> None:
    desktop.js(f"{cats.meta}.minimize()")
    desktop.js(f"Main.panel.statusArea['{lab.uuid}'].menu.open()")
    desktop.wait("global.stage.key_focus !== null")
    desktop.js(f"{editor.meta}.minimize()")
    desktop.wait("global.display.focus_window === null")
    assert watched.messages() == []
    desktop.js(f"Main.panel.statusArea['{lab.uuid}'].menu.close()")
    assert watched.news(1) == [{}]
    desktop.js(f"{cats.meta}.unminimize()")
    editor.focus()
    desktop.js("__lab.sleep(50)")
    watched.forget()


def test_a_change_is_reported_within_twenty_milliseconds(
    watched: Watched, editor: Window, cats: Window, desktop: Desktop
) -> None:
    desktop.js(
        "(() => { const seen = globalThis.__changes = []; globalThis.__changesId = global.display.connect("
        "'notify::focus-window', () => seen.push(GLib.get_real_time())); })()"
    )
    for _ in range(10):
        cats.focus()
        editor.focus()
    until(lambda: len(watched.messages()) >= 20, lambda: f"{len(watched.messages())} reports")
    changed = desktop.js("(global.display.disconnect(__changesId), __changes)")
    reported = [message["timestamp-realtime"] for message in watched.messages()]
    assert len(changed) == len(reported) == 20
    took = [(late - early) / 1000 for early, late in zip(changed, reported, strict=True)]
    assert statistics.median(took) < WITHIN_MS, took


def test_a_title_that_ticks_is_told_at_once_then_now_and_then_and_at_last(
    watched: Watched, editor: Window, desktop: Desktop
) -> None:
    editor.tell("tick 100 5")
    desktop.wait("global.display.focus_window?.title === 'Tick 100'")
    editor.title = "Tick 100"
    until(lambda: reports(watched.messages())[-1:][0]["title"] == "Tick 100", lambda: reports(watched.messages()))
    titles = [seen["title"] for seen in reports(watched.messages())]
    assert titles[0] == "Tick 1"
    assert len(titles) < 20


def test_long_texts_are_cut_to_what_the_service_takes(watched: Watched, editor: Window, lab: Lab) -> None:
    editor.retitle("\N{CAT FACE}" * 1005)  # more would not fit into a message of Wayland
    [seen] = watched.news(1)
    assert seen["title"] == "\N{CAT FACE}" * 1000
    other = watched.desk.xterm("C" * 300, "Long")
    [seen] = watched.news(1)
    assert seen["class"] == "C" * 128
    watched.desk.close(other)
    watched.news(1)
    assert "cannot report" not in lab.log


def test_a_new_service_is_told_once(watched: Watched) -> None:
    watched.desk.service.kill()
    watched.desk.service.start()
    watched.desk.service.client.call("GetState")
    assert [seen["title"] for seen in watched.news(1)] == ["Report"]
    watched.desk.desktop.js("__lab.sleep(50)")
    assert watched.messages() == []


def test_it_says_when_it_stops_and_begins_anew(watched: Watched, cats: Window) -> None:
    def stopped() -> None:
        assert watched.news(1) == [{"reporting": False}]
        cats.focus()
        watched.desk.desktop.js("__lab.sleep(50)")
        assert watched.messages() == []

    watched.desk.cycle_the_extension(stopped)
    assert [seen["title"] for seen in watched.news(1)] == ["Cats"]


def test_nothing_is_said_while_nothing_changes(watched: Watched, desktop: Desktop) -> None:
    desktop.js("__lab.sleep(700)")
    assert watched.messages() == []


def shows(state: Any, wm_class: str, title: str, status: str) -> bool:
    """The window has the focus, and the status is about it."""
    window = {"class": wm_class, "title": title}
    return bool(state["evidence"]["window"] == window and state["drift"]["status"] == status)
