#!/usr/bin/env python3
"""Takes the pictures of the README: each state of the menu, from the real shell with the real service.

    tests/shell/lab run gnome-extension -- .venv/bin/python tests/shell/pictures.py FOLDER [dark] [light] [large]

`make pictures` does. An AI program stands in, and the evidence of a session that has just begun is multiplied in the
snapshot of the service, so that the pictures show minutes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "service"), str(ROOT / "tests")]

from antidrift.store.snapshot import SNAPSHOT_NAME, decode, encode  # noqa: E402
from shell.drive import Desktop  # noqa: E402
from standins.standin import StandIn  # noqa: E402
from support.service import Service  # noqa: E402

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
    "next_action": "Write section 3 of the quarterly report, figures included",
    "success_condition": "All three figures have captions",
    "timebox_minutes": 30,
    "allowed_window_classes": [WRITER, TERMINAL],
}
LOOK_BACK = {
    "recap": "You wrote most of section 3; the captions of figures 2 and 3 are open. Two short trips to the browser.",
    "carry_forward": "Start with the captions of figures 2 and 3.",
}


class Photographer:
    """One desktop, one service, and a folder for what is seen."""

    def __init__(self, folder: Path, home: Path) -> None:
        bus = SimpleNamespace(address=os.environ["DBUS_SESSION_BUS_ADDRESS"])
        self.desktop = Desktop(bus.address, Path(os.environ["LAB_STATE"]))
        self.folder = folder
        self.claude = StandIn("claude", home / "bin")
        tasks = home / "todo.txt"
        tasks.write_text(TASKS)
        (home / "antidrift").mkdir(mode=0o700)
        (home / "antidrift" / "config.toml").write_text(CONFIG.format(tasks=tasks))
        environment = {"PATH": f"{home / 'bin'}:/usr/bin:/bin", "ANTIDRIFT_AI_BACKEND": ""}
        self.service = Service(bus, home=home, **environment)
        self.look = ""
        for wm_class, name in APPS.items():
            entry = f"[Desktop Entry]\nType=Application\nName={name}\nExec=true\nStartupWMClass={wm_class}\n"
            applications = Path(os.environ["LAB_STATE"]) / "home/.local/share/applications"
            applications.mkdir(exist_ok=True)
            (applications / f"{wm_class}.desktop").write_text(entry)
        self.desktop.wait(f"!!Shell.AppSystem.get_default().lookup_app('{BROWSER}.desktop')")

    def wear(self, look: str) -> None:
        """Changes colours and size of text."""
        self.look = look
        for key, value in LOOKS[look].items():
            command = [os.environ["LAB"], "enter", "gsettings", "set", "org.gnome.desktop.interface", key, value]
            subprocess.run(command, check=True)
        self.desktop.js("__lab.sleep(500)")

    def take(self, name: str, *settled: str) -> None:
        """Pictures the menu, once all of `settled` is shown."""
        menu = f"Main.panel.statusArea['{os.environ['LAB_UUID']}'].menu"
        self.desktop.js(f"{menu}.open()")
        for text in settled:
            self.desktop.wait_for(text)
        self.desktop.move_to(400, 600)
        self.desktop.js("__lab.sleep(300)")
        box = self.desktop.js(f"__lab.describe({menu}.actor)")
        top = 0.0
        left, right = box["x"] - 12, min(box["x"] + box["w"] + 12, 1280)
        self.desktop.shot(self.folder / f"{name}-{self.look}.png", (left, top, right - left, box["y"] + box["h"] + 12))
        self.desktop.js(f"{menu}.close()")

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


def session(at: Photographer) -> None:
    """One session from the first line to the look back, with a picture of each state."""
    service, desktop, claude = at.service, at.desktop, at.claude
    at.take("absent", "AntiDrift is not running")
    with service:
        claude.plays(
            answers={"coach": json.dumps(PROPOSAL)},
            verdicts={"Ten cats — Mozilla Firefox": {"on_task": False, "reason": "Cats do not serve the report."}},
        )
        desktop.wait("!__lab.find('Connecting to AntiDrift…')")
        service.wait_for(lambda state: state["ai"]["available"])
        at.take("consent", "Yes")
        service.call("AllowAI", "b", True)
        menu = f"Main.panel.statusArea['{os.environ['LAB_UUID']}'].menu"
        desktop.js(f"{menu}.open()")
        desktop.wait("!!global.stage.key_focus")
        desktop.type_text("the quarterly report")
        at.take("locked", "Start 25 min")
        desktop.js(f"{menu}.open()")
        desktop.click("Plan…")
        desktop.wait_for("Book the room for Thursday")
        desktop.click("Sharpen")
        service.wait_for(lambda state: state["coach"]["status"] == "ready")
        at.take("planning", "Start session")
        desktop.js(f"{menu}.open()")
        desktop.click("Start session")
        service.wait_for(lambda state: state["runtime_state"] == "active")
        at.sees(WRITER, "report.odt — LibreOffice Writer")
        service.wait_for(lambda state: state["drift"]["status"] == "ontask")
        time.sleep(1.1)
        at.sees(TERMINAL, "figures")
        time.sleep(1.1)
        at.sees(BROWSER, "Quarterly figures — Mozilla Firefox")
        time.sleep(1.1)
        at.let_pass({WRITER: 15, TERMINAL: 3, BROWSER: 1})
        at.sees(WRITER, "report.odt — LibreOffice Writer")
        service.wait_for(lambda state: state["drift"]["status"] == "ontask")
        at.take("active", "Complete")
        at.sees(BROWSER, "Ten cats — Mozilla Firefox")
        service.wait_for(lambda state: state["drift"]["status"] == "drifting", 30)
        at.take("drifting", "Back to task")
        service.call("Refocus")
        claude.plays(answers={"reviewer": json.dumps(LOOK_BACK)}, delay=4)
        service.call("Complete")
        at.take("review-pending", "End")
        service.wait_for(lambda state: state["reflection"]["status"] == "ready")
        at.take("review", "End")
        service.call("End")
        at.take("locked-again", "Start 25 min")


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
