"""The panel button of the extension and its menu, as a person at the lab's desktop sees them."""

from __future__ import annotations

import json
from typing import Any

from shell.drive import Desktop


class Panel:
    """What is in the panel, and the menu below it."""

    def __init__(self, desktop: Desktop, uuid: str) -> None:
        self._desktop = desktop
        self.uuid = uuid
        self.button = f"Main.panel.statusArea['{uuid}']"
        self._box = f"__lab.sleep(50).then(() => {self.button} ? __lab.describe({self.button}) : null)"

    @property
    def is_open(self) -> bool:
        """Whether the menu is open."""
        return bool(self._desktop.js(f"{self.button}.menu.isOpen"))

    def open(self) -> None:
        """Opens the menu by pointer."""
        if not self.is_open:
            box, before = self._desktop.js(self._box), None
            while box is None or box["w"] is None or box != before:  # until it stands still
                box, before = self._desktop.js(self._box), box
            self._desktop.click_at(box["x"] + box["w"] / 2, box["y"] + box["h"] / 2)
            self._desktop.wait(f"{self.button}.menu.isOpen")

    def close(self) -> None:
        """Closes it as Escape does."""
        self._desktop.key("Escape")
        self._desktop.wait(f"!{self.button}.menu.isOpen")

    def wait_closed(self) -> None:
        """Returns once it has closed by itself."""
        self._desktop.wait(f"!{self.button}.menu.isOpen")

    def wait_name(self, name: str) -> None:
        """Returns once a screen reader calls the button so."""
        self._desktop.wait(f"{self.button}.accessible_name === {json.dumps(name)}")

    def time(self) -> str:
        """The text beside the icon; empty if it is hidden."""
        found: str = self._desktop.js(
            f"__lab.shown({self.button}).filter(actor => actor.text).map(a => a.text)[0] ?? ''"
        )
        return found

    def text_of(self, entry: str) -> str:
        """What stands in the entry that a screen reader calls so."""
        found: str = self._desktop.js(
            f"__lab.shown({self.button}.menu.actor).find(actor => actor.constructor.name === 'St_Entry' && "
            f"actor.accessible_name === {json.dumps(entry)}).text"
        )
        return found

    def texts(self) -> list[str]:
        """All texts that are shown in the menu."""
        found: list[str] = self._desktop.js(
            f"__lab.shown({self.button}.menu.actor).filter(a => a.constructor.name === 'St_Label').map(a => a.text)"
        )
        return found

    def focus(self) -> str:
        """What a screen reader calls the actor that has the keyboard; empty where it has no name."""
        found: str = self._desktop.js(
            "(focus => focus?.accessible_name || focus?.label || focus?.text || '')(global.stage.key_focus)"
        )
        return found

    def wait_focus(self, name: str) -> None:
        """Returns once the actor of this name has the keyboard."""
        self._desktop.wait(
            "(global.stage.key_focus?.accessible_name || global.stage.key_focus?.label || '') === " + json.dumps(name)
        )

    def tab_to(self, name: str) -> list[str]:
        """Presses Tab until the actor of this name has the keyboard; returns what was passed on the way."""
        passed: list[str] = []
        while self.focus() != name:
            passed.append(self.focus())
            assert len(passed) < 40, f"Tab does not reach {name!r}, only {passed}"
            self._desktop.key("Tab")
        return passed

    def focusable(self) -> list[dict[str, Any]]:
        """Everything in the menu that can have the keyboard: type, name, and rectangle."""
        found: list[dict[str, Any]] = self._desktop.js(
            f"__lab.shown({self.button}.menu.actor).filter(a => a.can_focus && a !== {self.button}.menu.actor)"
            ".map(a => ({...__lab.describe(a), name: a.accessible_name || a.label || ''}))"
        )
        return found
