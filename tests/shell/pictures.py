#!/usr/bin/env python3
"""Takes the pictures of the README: each state of the menu, the interrupt, the nudge, and the preferences.

    tests/shell/lab run --size 1280x800 gnome-extension -- \
        .venv/bin/python tests/shell/pictures.py FOLDER [dark] [light] [large]

`make pictures` does. It is the real shell with the real service. An AI program stands in, and the evidence of a session
that has just begun is multiplied in the snapshot of the service, so that the pictures show minutes.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "service"), str(ROOT / "tests")]

from antidrift.store.snapshot import SNAPSHOT_NAME, decode, encode  # noqa: E402
from shell.accessible import Preferences  # noqa: E402
from shell.conftest import Lab  # noqa: E402
from shell.desk import BOXES  # noqa: E402
from shell.drive import Desktop  # noqa: E402
from shell.hasty_service import HastyService  # noqa: E402
from standins.standin import StandIn  # noqa: E402

MARGIN = 12
LOOKS = {
    "dark": {"color-scheme": "prefer-dark", "text-scaling-factor": "1.0"},
    "light": {"color-scheme": "prefer-light", "text-scaling-factor": "1.0"},
    "large": {"color-scheme": "prefer-dark", "text-scaling-factor": "1.5"},
}
TASKS = "Answer the letter from the tax office\nBook the room for Thursday\nRead chapter 4\n"
CONFIG = """
[sensor]
reporters = ["any"]
[tasks]
source = "todo.txt"
path = "{tasks}"
"""
WRITER, TERMINAL, BROWSER = "libreoffice-writer", "org.gnome.Terminal", "firefox"

APPS = {WRITER: "LibreOffice Writer", TERMINAL: "Terminal", BROWSER: "Firefox"}
PROPOSAL = {
    "next_action": "Write section 3 of the quarterly report",
    "success_condition": "All three figures have captions",
    "timebox_minutes": 30,
    "allowed_window_classes": [WRITER, TERMINAL],
}
CATS = "Ten cats — Mozilla Firefox"
VERDICTS = {CATS: {"on_task": False, "reason": "Cats do not serve the report."}}
NUDGE = {"on_track": False, "message": "This is a letter to the landlord, not section 3 of the report."}
LOOK_BACK = {
    "recap": "You wrote most of section 3; the captions of figures 2 and 3 are open. Two short trips to the browser.",
    "carry_forward": "Start with the captions of figures 2 and 3.",
}


class Photographer:
    """One desktop, one service, and a folder for what is seen."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.lab = Lab(os.environ)
        self.desktop = Desktop(self.lab.address, self.lab.state)
        self.menu = f"Main.panel.statusArea['{self.lab.uuid}'].menu"
        self.folder = folder
        self.claude = StandIn("claude", home / "bin")
        tasks = home / "todo.txt"
        tasks.write_text(TASKS)
        (home / "antidrift").mkdir(mode=0o700)
        (home / "antidrift" / "config.toml").write_text(CONFIG.format(tasks=tasks))
        environment = {"PATH": f"{home / 'bin'}:/usr/bin:/bin", "ANTIDRIFT_AI_BACKEND": ""}
        self.service = HastyService(self.lab, home, **environment)
        self.look = ""
        name_apps(self.lab, self.desktop, APPS)
        hide_the_padlock(self.desktop)

    def wear(self, look: str) -> None:
        """Changes colours and size of text."""
        self.look = look
        for key, value in LOOKS[look].items():
            self.lab.gsettings("org.gnome.desktop.interface", key, value)
        self.desktop.js("__lab.sleep(500)")

    def take(self, name: str, *settled: str) -> None:
        """Pictures the menu and the panel above it, once all of `settled` is shown."""
        self.desktop.js(f"{self.menu}.open()")
        for text in settled:
            self.desktop.wait_for(text)
        self.desktop.move_to(400, 600)
        self.take_actor(name, f"{self.menu}.actor", below_panel=True)
        self.desktop.js(f"{self.menu}.close()")

    def take_actor(self, name: str, actor: str, *, below_panel: bool = False) -> None:
        """Pictures an actor, in JavaScript, with a margin; and the panel if it hangs from there."""
        self.desktop.js("__lab.sleep(300)")
        box = self.desktop.js(f"__lab.describe({actor})")
        self._take_area(name, (box["x"], 0 if below_panel else box["y"], box["x"] + box["w"], box["y"] + box["h"]))

    def take_window(self, name: str, height: int) -> None:
        """Pictures the focused window, made so high."""
        window = "global.display.focus_window"
        self.desktop.js(f"{window}.move_resize_frame(false, 320, 60, 640, {height})")
        self.desktop.wait(f"{window}.get_frame_rect().height === {height}")
        self.desktop.js("__lab.sleep(3500)")  # after a key, GTK shows for three seconds where the focus is
        x, y, w, h = self.desktop.js(f"(({{x, y, width, height}}) => [x, y, width, height])({window}.get_frame_rect())")
        self._take_area(name, (x, y, x + w, y + h))

    def _take_area(self, name: str, sides: tuple[float, float, float, float]) -> None:
        left, top, right, bottom = sides
        left, top, right, bottom = (
            max(left - MARGIN, 0),
            max(top - MARGIN, 0),
            min(right + MARGIN, 1280),
            bottom + MARGIN,
        )
        self.desktop.shot(self.folder / f"{name}-{self.look}.png", (left, top, right - left, bottom - top))

    def sees(self, wm_class: str, title: str) -> None:
        """The person turns to a window."""
        self.service.client.call("ReportFocus", "a{sv}", {"class": ("s", wm_class), "title": ("s", title)})

    def let_pass(self, minutes: dict[str, float]) -> None:
        """As if the session had gone on with these classes for so many minutes."""
        self.service.stop()
        file = self.service.folder / SNAPSHOT_NAME
        snapshot = decode(file.read_bytes())
        saved = snapshot.saved
        assert saved.commitment is not None
        secs = sum(minutes.values()) * 60
        started = replace(
            saved.commitment.started,
            boot=saved.commitment.started.boot - secs,
            unix_ms=saved.commitment.started.unix_ms - round(secs * 1000),
        )
        commitment = replace(saved.commitment, started=started, deadline=saved.commitment.deadline - secs)
        buckets = tuple(
            replace(bucket, secs=bucket.secs + minutes.get(bucket.wm_class, 0) * 60) for bucket in saved.buckets
        )
        aged = replace(saved, commitment=commitment, buckets=buckets)
        file.write_bytes(encode(replace(snapshot, saved=aged)))
        self.service.start()


def name_apps(lab: Lab, desktop: Desktop, apps: Mapping[str, str]) -> None:
    """Makes apps known to the desktop: window classes, and what people call them."""
    folder = lab.home / ".local/share/applications"
    folder.mkdir(exist_ok=True)
    for wm_class, name in apps.items():
        entry = f"[Desktop Entry]\nType=Application\nName={name}\nExec=true\nStartupWMClass={wm_class}\n"
        (folder / f"{wm_class}.desktop").write_text(entry)
        desktop.wait(f"!!Shell.AppSystem.get_default().lookup_app('{wm_class}.desktop')")


def hide_the_padlock(desktop: Desktop) -> None:
    """Takes the sign from the panel by which the shell warns of what the lab needs, that programs may look into it."""
    desktop.js("Main.panel.statusArea.quickSettings._unsafeMode?.hide()")


def session(at: Photographer) -> None:
    """One session from the first line to the look back, with a picture of each state."""
    at.take("absent", "AntiDrift is not running")
    with at.service:
        plan(at)
        work(at)
        drift(at)
        if at.look == "dark":
            nudge(at)
        look_back(at)
        preferences(at)


def plan(at: Photographer) -> None:
    service, desktop = at.service, at.desktop
    at.claude.plays(answers={"coach": json.dumps(PROPOSAL)}, verdicts=VERDICTS)
    desktop.wait("!__lab.find('Connecting to AntiDrift…')")
    service.wait_for(lambda state: state["ai"]["available"])
    at.take("consent", "Yes")
    service.call("AllowAI", "b", True)
    desktop.js(f"{at.menu}.open()")
    desktop.wait("!!global.stage.key_focus")
    desktop.type_text("the quarterly report")
    at.take("locked", "Start 25 min")
    desktop.js(f"{at.menu}.open()")
    desktop.click("Plan…")
    desktop.wait_for("Book the room for Thursday")
    desktop.click("Sharpen")
    service.wait_for(lambda state: state["coach"]["status"] == "ready")
    at.take("planning", "Start session")
    desktop.js(f"{at.menu}.open()")
    desktop.click("Start session")
    service.wait_for(lambda state: state["runtime_state"] == "active")


def work(at: Photographer) -> None:
    on_task(at)
    time.sleep(1.1)
    at.sees(TERMINAL, "figures")
    time.sleep(1.1)
    at.sees(BROWSER, "Quarterly figures — Mozilla Firefox")
    time.sleep(1.1)
    at.let_pass({WRITER: 15, TERMINAL: 3, BROWSER: 1})
    on_task(at)
    at.take("active", "Complete")


def on_task(at: Photographer) -> None:
    at.sees(WRITER, "report.odt — LibreOffice Writer")
    at.service.wait_for(lambda state: state["drift"]["status"] == "ontask")


def drift(at: Photographer) -> None:
    at.sees(BROWSER, CATS)
    at.desktop.wait_for("End session")
    at.take_actor("interrupt", f"{BOXES}[0]", below_panel=True)
    at.desktop.click("Close")
    at.desktop.wait(f"{BOXES}.length === 0")
    at.take("drifting", "Back to task")
    at.service.call("Refocus")


def nudge(at: Photographer) -> None:
    at.claude.plays(answers={"nudge": json.dumps(NUDGE)})
    at.sees(WRITER, "landlord.odt — LibreOffice Writer")
    at.desktop.wait_for("Heads up")
    at.take_actor("nudge", "Main.messageTray.get_first_child().get_first_child()", below_panel=True)


def look_back(at: Photographer) -> None:
    at.claude.plays(answers={"reviewer": json.dumps(LOOK_BACK)}, delay=4)
    at.service.call("Complete")
    at.take("review-pending", "End")
    at.service.wait_for(lambda state: state["reflection"]["status"] == "ready")
    at.take("review", "End")
    at.service.call("End")
    at.take("locked-again", "Start 25 min")


def preferences(at: Photographer) -> None:
    with Preferences(at.lab) as window:
        window.find("\u2068claude\u2069\nIt may see window titles.", "label")
        at.take_window("preferences", 690)
        window.turn_to("Shortcuts")
        at.take_window("preferences-shortcuts", 430)


@contextmanager
def photographer(folder: Path) -> Iterator[Photographer]:
    """A desktop and a service that has never been used."""
    with tempfile.TemporaryDirectory(prefix="antidrift-pictures-") as home:
        at = Photographer(folder, Path(home))
        yield at
        at.desktop.close()


def main(folder: str, *looks: str) -> None:
    """All pictures of the chosen looks."""
    for look in looks or ("dark", "light"):
        with photographer(Path(folder)) as at:
            at.wear(look)
            session(at)


if __name__ == "__main__":
    main(*sys.argv[1:])
