#!/usr/bin/env python3
"""Plays one whole session in a real GNOME Shell, with real windows, keys and clicks, and leaves a picture of each step.

    tests/shell/lab run gnome-extension -- .venv/bin/python tests/shell/demo.py FOLDER

`make demo` does. An AI program stands in, and the service waits for tenths of its seconds.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "service"), str(ROOT / "tests")]

from shell.conftest import Lab  # noqa: E402
from shell.desk import BOXES, Desk, Window  # noqa: E402
from shell.drive import Desktop  # noqa: E402
from shell.panel import Panel  # noqa: E402
from shell.pictures import hide_the_padlock, name_apps  # noqa: E402

EDITOR, BROWSER = "org.gnome.TextEditor", "org.mozilla.firefox"
CONFIG = f"""
[always_allowed]
classes = ["{EDITOR}"]
"""
PAGE = "Average rainfall in March, by decade"
LOOK_BACK = {
    "recap": "You wrote the paragraph on March, and looked up its rainfall on the way.",
    "carry_forward": "Begin with the figures for April.",
}


class Play:
    """The desk, and a folder for what is seen."""

    def __init__(self, desk: Desk, folder: Path) -> None:
        self.desk = desk
        self.desktop: Desktop = desk.desktop
        self.panel = Panel(desk.desktop, desk.lab.uuid)
        self._folder = folder
        self._step = 0

    def tell(self, name: str, sentence: str) -> None:
        """Says what has happened, and pictures the whole screen."""
        self._step += 1
        self.desktop.move_to(640, 700)  # or it would hover over what was clicked
        self.desktop.js("__lab.sleep(400)")
        file = self._folder / f"{self._step:02}-{name}.png"
        self.desktop.shot(file)
        print(f"{self._step:2}  {sentence}", flush=True)

    def opened(self, app_id: str, title: str, text: str, area: tuple[int, int, int, int]) -> Window:
        """Opens a window with a text in it, at x, y, in such a width and height."""
        window = self.desk.app(app_id, title)
        window.tell(f"text {text}")
        self.desktop.js(f"{window.meta}.move_resize_frame(false, {', '.join(map(str, area))})")
        return window


def session(play: Play) -> None:
    """From the first line to the look-back."""
    desktop, panel, service, claude = play.desktop, play.panel, play.desk.service, play.desk.claude
    claude.plays(
        verdicts={PAGE: {"on_task": False, "reason": "Reading about the weather is not writing."}},
        answers={"reviewer": json.dumps(LOOK_BACK)},
    )
    browser = play.opened(
        BROWSER, PAGE, "Rainfall in March||1990s: 48 mm|2000s: 44 mm|2010s: 39 mm", (560, 200, 560, 400)
    )
    editor = play.opened(EDITOR, "Spring report", "Spring report||", (60, 270, 560, 400))
    panel.wait_name("AntiDrift: no session")
    play.tell("desktop", "Two windows are open: an editor, which is always on task, and a browser.")

    panel.open()
    panel.wait_focus("What will you do?")
    desktop.type_text("Write the paragraph on March")
    play.tell("line", "The menu asks for one line: what is to be done.")

    desktop.key("Return")
    service.wait_for(lambda state: state["runtime_state"] == "active")
    panel.wait_closed()
    editor.focus()
    service.wait_for(lambda state: state["drift"]["status"] == "ontask")
    desktop.type_text("March was dry again. ")
    play.tell("on-task", "Enter has started 25 minutes, and the editor is in front.")

    browser.focus()
    service.wait_for(lambda state: state["drift"]["status"] == "drifting")
    desktop.wait(f"{BOXES}.length === 1")
    play.tell("interrupt", "The AI takes the page in the browser for a drift; as that goes on, a box asks once.")

    desktop.click("This is on task")
    desktop.wait(f"{BOXES}.length === 0")
    service.wait_for(lambda state: state["drift"]["status"] == "ontask")
    panel.open()
    desktop.wait_for("Complete")
    play.tell("overruled", "\u201cThis is on task\u201d: the page is allowed from now on, and the menu agrees.")
    panel.close()

    editor.focus()
    desktop.type_text("It had 39 mm of rain, 5 mm less than ten years before.")
    play.tell("written", "The paragraph gets its figure.")

    panel.open()
    desktop.click("Complete")
    service.wait_for(lambda state: (state["reflection"] or {}).get("status") == "ready")
    desktop.wait_for(LOOK_BACK["recap"])
    play.tell("look-back", "Complete: the AI looks back in one sentence, and keeps one for next time.")

    desktop.click("End")
    service.wait_for(lambda state: state["runtime_state"] == "locked")
    panel.open()
    panel.wait_focus("What will you do?")
    play.tell("next", "End: the next session begins with what was to be taken along.")
    panel.close()


def main(folder: str) -> None:
    """Makes the folder new, and plays into it."""
    pictures = Path(folder)
    pictures.mkdir(parents=True, exist_ok=True)
    for old in pictures.glob("*.png"):
        old.unlink()
    lab = Lab(os.environ)
    with Desk(lab, CONFIG) as desk:
        name_apps(lab, desk.desktop, {EDITOR: "Text Editor", BROWSER: "Firefox"})
        hide_the_padlock(desk.desktop)
        session(Play(desk, pictures))
    print(f"The pictures are in {pictures}.")


if __name__ == "__main__":
    main(*sys.argv[1:])
