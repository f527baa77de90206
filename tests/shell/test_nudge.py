"""The word in passing, in the right app at the wrong work: an ordinary notification of the shell."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from shell.desk import Desk, Window
from shell.drive import Desktop

if TYPE_CHECKING:
    from shell.conftest import Lab

pytestmark = pytest.mark.shell

NOTIFICATIONS = "org.gnome.desktop.notifications"
SETTINGS = "org.gnome.shell.extensions.antidrift"
SOURCES = "Main.messageTray.getSources().filter(source => source.title === 'AntiDrift')"
HEADS_UP = f"{SOURCES}.flatMap(source => source.notifications).map(notification => notification.body)"


class Writing:
    """A session in the editor, where what the AI thinks of it changes with the title of the document."""

    _titles = itertools.count()

    def __init__(self, desk: Desk, editor: Window) -> None:
        self.desk = desk
        self._editor = editor

    def nudged(self, message: str) -> None:
        """The AI has seen another title, and says this; empty: all is well."""
        answer = {"on_track": not message, "message": message}
        self.desk.claude.plays(answers={"nudge": json.dumps(answer)})
        # Letters: titles that differ in their numbers only are one to the service.
        number = next(self._titles)
        self._editor.retitle(f"Chapter {chr(97 + number // 26)}{chr(97 + number % 26)}")
        self.desk.service.wait_for(lambda state: state["drift"]["nudge"] == message)

    def reported_by_another(self) -> None:
        """Another program reports the same window, so that the service does not lose sight of it with the extension."""
        window = {"class": ("s", "org.antidrift.Editor"), "title": ("s", self._editor.title)}
        self.desk.service.client.call("ReportFocus", "a{sv}", window)


@pytest.fixture(scope="module")
def desk(lab: Lab) -> Iterator[Desk]:
    with Desk(lab) as desk:
        yield desk


@pytest.fixture(scope="module")
def editor(desk: Desk) -> Window:
    return desk.app("org.antidrift.Editor", "Document")


@pytest.fixture
def writing(desk: Desk, editor: Window, desktop: Desktop) -> Iterator[Writing]:
    desk.start("org.antidrift.Editor")
    writing = Writing(desk, editor)
    writing.nudged("")
    yield writing
    desk.service.call("Complete")
    desktop.wait(f"{SOURCES}.length === 0")
    desktop.move_to(640, 700)


def test_it_says_what_the_ai_says(writing: Writing, desktop: Desktop) -> None:
    writing.nudged("This is <b>the wrong</b> chapter & not the report.")
    desktop.wait_for("Heads up")
    shown = desktop.js(
        "__lab.shown(Main.messageTray).map(actor => actor.text?.replaceAll('\u200b', '')).filter(text => text)"
    )
    assert "This is <b>the wrong</b> chapter & not the report." in shown


def test_it_takes_no_keys(writing: Writing, desktop: Desktop) -> None:
    writing.nudged("This is another chapter.")
    desktop.wait_for("Heads up")
    assert desktop.js("global.stage.key_focus") is None


def test_it_offers_nothing_to_click(writing: Writing, desktop: Desktop) -> None:
    writing.nudged("See https://evil.example/a or www.evil.example or mail@evil.example or evil.example/b now.")
    desktop.wait_for("Heads up")
    said = desktop.wait(f"{HEADS_UP}[0]")
    assert said.replace("\u200b", "").startswith("See https://evil.example/a or www.evil.example")
    urls = "(await import('resource:///org/gnome/shell/misc/util.js')).findUrls"
    assert desktop.js(f"(async () => {urls}('See https://evil.example/a'))()") != []
    assert desktop.js(f"(async () => {urls}({json.dumps(said)}))()") == []


def test_dismissed_it_stays_away(writing: Writing, desktop: Desktop) -> None:
    writing.nudged("This is another chapter.")
    _dismiss(desktop)
    writing.desk.service.call("Extend", "x", 60)  # a new state, with the same nudge
    assert desktop.js(HEADS_UP) == []


def test_dismissed_it_stays_away_over_a_lock(writing: Writing, desktop: Desktop) -> None:
    writing.nudged("This is another chapter.")
    _dismiss(desktop)
    writing.reported_by_another()
    _lock_and_unlock(desktop, writing.desk)
    assert writing.desk.service.state()["drift"]["nudge"] == "This is another chapter."
    assert desktop.js(HEADS_UP) == []


def test_another_one_is_shown_after_one_was_dismissed(writing: Writing, desktop: Desktop) -> None:
    writing.nudged("This is another chapter.")
    _dismiss(desktop)
    writing.nudged("This is another book.")
    desktop.wait(f"{HEADS_UP}[0] === 'This is another book.'")


def test_the_same_one_is_shown_again_after_all_was_well(writing: Writing, desktop: Desktop) -> None:
    writing.nudged("This is another chapter.")
    _dismiss(desktop)
    writing.nudged("")
    writing.nudged("This is another chapter.")
    desktop.wait(f"{HEADS_UP}[0] === 'This is another chapter.'")


def test_it_goes_when_all_is_well(writing: Writing, desktop: Desktop) -> None:
    writing.nudged("This is another chapter.")
    desktop.wait(f"{SOURCES}.length === 1")
    writing.nudged("")
    desktop.wait(f"{SOURCES}.length === 0")


def test_a_new_one_takes_the_place_of_the_old(writing: Writing, desktop: Desktop) -> None:
    writing.nudged("This is another chapter.")
    desktop.wait_for("This is another chapter.")
    writing.nudged("This is another book.")
    desktop.wait_for("This is another book.")
    assert desktop.js(HEADS_UP) == ["This is another book."]


def test_a_lock_hides_it_and_does_not_count_as_an_answer(writing: Writing, desktop: Desktop) -> None:
    writing.nudged("This is another chapter.")
    desktop.wait(f"{SOURCES}.length === 1")
    writing.reported_by_another()
    _lock_and_unlock(desktop, writing.desk, f"{SOURCES}.length === 0")
    assert writing.desk.service.state()["drift"]["nudge"] == "This is another chapter."
    desktop.wait(f"{SOURCES}.length === 1")


def test_the_person_may_want_none(writing: Writing, desktop: Desktop) -> None:
    writing.desk.lab.gsettings(SETTINGS, "show-nudges", "false")
    writing.nudged("This is another chapter.")
    assert desktop.js(HEADS_UP) == []
    writing.desk.lab.gsettings(SETTINGS, "show-nudges", "true")
    desktop.wait(f"{SOURCES}.length === 1")
    writing.desk.lab.gsettings(SETTINGS, "show-nudges", "false")
    desktop.wait(f"{SOURCES}.length === 0")
    writing.desk.lab.gsettings(SETTINGS, "show-nudges", "true")
    desktop.wait(f"{SOURCES}.length === 1")


def test_do_not_disturb_keeps_it_quiet(writing: Writing, desktop: Desktop) -> None:
    writing.desk.lab.gsettings(NOTIFICATIONS, "show-banners", "false")
    writing.nudged("This is another chapter.")
    assert desktop.find("Heads up") is None
    writing.desk.lab.gsettings(NOTIFICATIONS, "show-banners", "true")


def _dismiss(desktop: Desktop) -> None:
    desktop.wait_for("Heads up")
    close = desktop.wait(
        "__lab.shown(Main.messageTray).filter(actor => actor.has_style_class_name?.('message-close-button'))"
        ".map(__lab.describe)[0]"
    )
    desktop.click_at(close["x"] + close["w"] / 2, close["y"] + close["h"] / 2)
    desktop.wait(f"{SOURCES}.length === 0")


def _lock_and_unlock(desktop: Desktop, desk: Desk, while_locked: str = "true") -> None:
    """A change of the session mode, as by a lock; the lab has no lock screen."""
    enabled = f"Main.extensionManager.lookup('{desk.lab.uuid}').state === 1"
    desktop.js("Main.sessionMode.pushMode('unlock-dialog')")
    desktop.wait(f"!({enabled}) && {while_locked}")
    desktop.js("Main.sessionMode.popMode('unlock-dialog')")
    desktop.wait(enabled)
    desk.service.wait_for(lambda state: state["evidence"]["source"] == "shell")
