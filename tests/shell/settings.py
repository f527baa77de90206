"""The settings of the extension, as the shell has them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shell.conftest import Lab
    from shell.drive import Desktop


class Settings:
    """Values are in the notation of `gsettings`: texts in quotes."""

    def __init__(self, lab: Lab, desktop: Desktop) -> None:
        self._desktop = desktop
        self._settings = f"Main.extensionManager.lookup('{lab.uuid}').stateObj.getSettings()"

    def get(self, key: str) -> str:
        """The value of one of them."""
        value: str = self._desktop.js(self._value(key))
        return value

    def set(self, key: str, value: str) -> None:
        """Changes one of them."""
        self._desktop.js(
            f"{self._settings}.set_value('{key}', GLib.Variant.parse(null, {json.dumps(value)}, null, null))"
        )

    def reset(self) -> None:
        """Brings the defaults back."""
        keys = f"{self._settings}.settings_schema.list_keys()"
        self._desktop.js(f"{keys}.forEach(key => {self._settings}.reset(key))")

    def wait_for(self, key: str, value: str) -> None:
        """Returns once it has that value; another program may have changed it."""
        self._desktop.wait(f"{self._value(key)} === {json.dumps(value)}")

    def _value(self, key: str) -> str:
        return f"{self._settings}.get_value('{key}').print(false)"
