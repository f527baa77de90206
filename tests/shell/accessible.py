"""The preferences as a screen reader finds them, and as a person without a pointer uses them.

They are a GTK program of their own, so the shell sees a window and no more. GTK tells an accessibility bus what is in
it (AT-SPI); here that is the session bus, and `registry.js` stands in for the rest of it.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import dbus
import dbus.bus

from shell.drive import DEADLINE, Desktop, LabError

if TYPE_CHECKING:
    from shell.conftest import Lab

REGISTRY = Path(__file__).with_name("registry.js")
ATSPI = "org.a11y.atspi"
CHECKED, FOCUSED, SELECTED, SHOWING = 4, 12, 23, 25
"""Of AtspiStateType."""


@dataclass(frozen=True)
class Widget:
    """One thing that a screen reader knows: what it is called, and what is said beside that."""

    path: str
    name: str
    description: str
    states: frozenset[int]


class Preferences:
    """Context manager around the window. It is closed with its end."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._desktop = Desktop(lab.address, lab.state)
        self._bus = dbus.bus.BusConnection(lab.address)
        self._bus.set_exit_on_disconnect(False)

    def __enter__(self) -> Self:
        script = self._lab.state / REGISTRY.name
        shutil.copyfile(REGISTRY, script)
        self._registry = self._lab.start("gjs", "-m", str(script), stdout=subprocess.PIPE)
        assert self._registry.stdout is not None
        assert self._registry.stdout.readline() == "ready\n"
        # The service that shows the windows of all extensions is started by the bus, with these.
        here = {"GTK_A11Y": "atspi", "AT_SPI_BUS_ADDRESS": self._lab.address, "ADW_DISABLE_PORTAL": "1"}
        daemon = "org.freedesktop.DBus"
        self._call(daemon, "/org/freedesktop/DBus", daemon, "UpdateActivationEnvironment", "a{ss}", here)
        self._lab.run("gnome-extensions", "prefs", self._lab.uuid)
        self._desktop.wait("global.display.focus_window?.title === 'AntiDrift'")
        self._program, _ = self._registry.stdout.readline().split()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, where: TracebackType | None
    ) -> None:
        while self._desktop.js("global.display.focus_window?.title === 'AntiDrift'"):
            self._desktop.key("Escape", "Alt+F4")
        self.until(lambda: not self._bus.name_has_owner(self._program), "the program has ended")
        self._registry.kill()
        self._registry.communicate()
        self._bus.close()
        self._desktop.close()

    def find(self, name: str, role: str | None = None) -> Widget:
        """The shown widget with this name, of this role if that is given; waits for it."""
        found: list[Widget] = []

        def look() -> bool:
            named = [widget for widget in self._shown() if widget.name == name]
            found[:] = [widget for widget in named if role in (None, self._role(widget))]
            return bool(found)

        self.until(look, f"{name!r} is shown")
        return found[0]

    def shows(self, name: str) -> bool:
        """Whether anything that is shown has this name just now."""
        return any(widget.name == name for widget in self._shown())

    def is_selected(self, name: str) -> bool:
        """Whether the tab with this name is the one whose page is shown."""
        return SELECTED in self.find(name, "tab").states

    def turn_to(self, page: str) -> None:
        """Shows the page "General" or "Shortcuts"."""
        other, key = ("Shortcuts", "Left") if page == "General" else ("General", "Right")
        if self.is_selected(other):
            self.press(other, "tab", key, "space")
            self.until(lambda: self.is_selected(page), f"the page {page} is shown")

    def press(self, name: str, role: str, *keys: str) -> None:
        """Goes to a widget with Tab and presses keys there, Return by default."""
        self.find(name, role)
        passed: list[Widget] = []
        while not (focused := self._focused()) or (focused.name, self._role(focused)) != (name, role):
            if focused in passed:
                raise LabError(f"Tab does not lead to {name!r}, but to {[widget.name for widget in passed]}")
            if focused:
                passed.append(focused)
            self._desktop.key("Tab")
            self.until(lambda before=focused: self._focused() not in (None, before), "Tab moves the focus")
        self._desktop.key(*(keys or ("Return",)))

    def _focused(self) -> Widget | None:
        return next((widget for widget in self._told().values() if FOCUSED in widget.states), None)

    def until(self, is_true: Callable[[], bool], what: str) -> None:
        """Waits until something is true. `what` says in words what that is."""
        ends = time.monotonic() + DEADLINE
        while not is_true():
            if time.monotonic() > ends:
                names = sorted({widget.name for widget in self._shown()})
                raise LabError(f"not within {DEADLINE:g} s: {what}; shown: {names}")
            time.sleep(0.03)

    def _shown(self) -> list[Widget]:
        """Everything that is shown."""
        known: dict[str, Widget] = {}
        # GTK tells all that it has been asked for before in one call, but no more.
        while new := [widget for path, widget in self._told().items() if path not in known]:
            for widget in new:
                known[widget.path] = widget
                self._tell_children(widget)
        return list(known.values())

    def _told(self) -> dict[str, Widget]:
        items = self._call(self._program, "/org/a11y/atspi/cache", f"{ATSPI}.Cache", "GetItems", "")
        told = {}
        for (_, path), _, _, _, _, _, name, _, description, (low, high) in items:
            bits = int(low) | int(high) << 32
            if bits >> SHOWING & 1:
                states = frozenset(bit for bit in range(64) if bits >> bit & 1)
                told[str(path)] = Widget(str(path), str(name), str(description), states)
        return told

    def _tell_children(self, widget: Widget) -> None:
        with contextlib.suppress(dbus.DBusException):  # it has gone meanwhile
            self._call(self._program, widget.path, f"{ATSPI}.Accessible", "GetChildren", "")

    def _role(self, widget: Widget) -> str:
        try:
            return str(self._call(self._program, widget.path, f"{ATSPI}.Accessible", "GetRoleName", ""))
        except dbus.DBusException:
            return "gone"

    def _call(self, name: str, path: str, interface: str, method: str, signature: str, *arguments: object) -> Any:
        return self._bus.call_blocking(name, path, interface, method, signature, arguments, timeout=DEADLINE)
