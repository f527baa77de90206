#!/usr/bin/env python3
"""Drives the GNOME Shell of the lab with real key and pointer events.

    desktop = Desktop(bus_address, state_folder)
    desktop.click("AntiDrift"); desktop.type_text("Write the report"); desktop.key("Return")

On a terminal, inside `lab run`:
    drive.py js CODE | wait CODE | find NAME | click NAME | click X,Y | key COMBINATION... | type TEXT | shot FILE.png
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import dbus
import dbus.bus

PRELUDE = Path(__file__).with_name("drive.js").read_text()
DEADLINE = 15.0
"""Seconds until something that never came is called a failure."""


class LabError(Exception):
    """The shell refused a call, an expression threw, or something did not come true in time."""


class Desktop:
    """The shell on one session bus. `state` is the folder that the run shares with the shell."""

    def __init__(self, address: str, state: Path) -> None:
        self._bus = dbus.bus.BusConnection(address)
        self._bus.set_exit_on_disconnect(False)
        self._state = state

    def close(self) -> None:
        """Leaves the bus."""
        self._bus.close()

    def js(self, expression: str) -> Any:
        """The value of a JavaScript expression or promise in the shell.

        It sees Main, global, GLib, Gio, Meta, Shell, and what drive.js has put into __lab.
        """
        code = f"{PRELUDE}(async () => JSON.stringify((await ({expression})) ?? null))()"
        return json.loads(json.loads(self._call("org.gnome.Shell", "Eval", "s", code)))

    def wait(self, expression: str, within: float = DEADLINE) -> Any:
        """The value of a JavaScript expression, as soon as it is truthy."""
        ends = time.monotonic() + within
        while not (value := self.js(expression)):
            if time.monotonic() > ends:
                raise LabError(f"not true within {within:g} s: {expression}")
            time.sleep(0.03)
        return value

    def find(self, name: str) -> dict[str, Any] | None:
        """Rectangle, type, text and focus of the shown actor with this name, accessible name, label, text or hint."""
        found: dict[str, Any] | None = self.js(f"__lab.find({json.dumps(name)})")
        return found

    def wait_for(self, name: str, within: float = DEADLINE) -> dict[str, Any]:
        """Like `find`, once the actor is there and has stopped moving."""
        ends = time.monotonic() + within
        before = None
        while not (found := self.find(name)) or found != before:
            if time.monotonic() > ends:
                raise LabError(f"nothing that is shown is named {name!r}" if not found else f"{name!r} keeps moving")
            before = found
            time.sleep(0.05)
        return found

    def wait_gone(self, name: str, within: float = DEADLINE) -> None:
        """Returns once nothing that is shown has this name."""
        self.wait(f"!__lab.find({json.dumps(name)})", within)

    def click(self, name: str, button: int = 1) -> None:
        """Clicks in the middle of a named actor."""
        actor = self.wait_for(name)
        self.click_at(actor["x"] + actor["w"] / 2, actor["y"] + actor["h"] / 2, button)

    def click_at(self, x: float, y: float, button: int = 1) -> None:
        """Clicks somewhere."""
        self.js(f"__lab.click({x}, {y}, {button})")

    def move_to(self, x: float, y: float) -> None:
        """Moves the pointer."""
        self.js(f"__lab.move({x}, {y})")

    def key(self, *combinations: str) -> None:
        """Presses key combinations, such as 'Super+j', 'Escape', 'Ctrl+a'."""
        self.js(f"__lab.key(...{json.dumps(combinations)})")

    def type_text(self, text: str) -> None:
        """Types a text; what the US layout has no key for comes as from an input method."""
        self.js(f"__lab.type({json.dumps(text)})")

    def shot(self, path: str | Path, area: tuple[float, float, float, float] | None = None) -> None:
        """Saves a screenshot as PNG, of x, y, width and height, or of the whole screen."""
        taken = self._state / "shot.png"
        if area is None:
            self._call("org.gnome.Shell.Screenshot", "Screenshot", "bbs", False, False, str(taken))
        else:
            box = [round(side) for side in area]
            self._call("org.gnome.Shell.Screenshot", "ScreenshotArea", "iiiibs", *box, False, str(taken))
        shutil.copyfile(taken, path)

    def _call(self, name: str, method: str, signature: str, *arguments: object) -> str:
        path = "/" + name.replace(".", "/")
        try:
            done, answer = self._bus.call_blocking(name, path, name, method, signature, arguments, timeout=60.0)
        except dbus.DBusException as error:
            raise LabError(str(error)) from None
        if not done:
            raise LabError(str(answer))
        return str(answer)


def main(verb: str, *arguments: str) -> None:
    """One call on a terminal."""
    desktop = Desktop(os.environ["DBUS_SESSION_BUS_ADDRESS"], Path(os.environ["LAB_STATE"]))
    if verb == "click" and re.fullmatch(r"\d+,\d+", arguments[0]):
        desktop.click_at(*map(int, arguments[0].split(",")))
        return
    calls = {
        "js": desktop.js,
        "wait": desktop.wait,
        "find": desktop.find,
        "click": desktop.click,
        "key": desktop.key,
        "type": desktop.type_text,
        "shot": desktop.shot,
    }
    result = calls[verb](*arguments)
    if result is not None:
        print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
