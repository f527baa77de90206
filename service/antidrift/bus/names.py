"""The names of the D-Bus contract, each typed once. `dbus/org.antidrift.Session.xml` documents what they mean."""

from __future__ import annotations

from typing import Final

BUS_NAME: Final = "org.antidrift.Session"
OBJECT_PATH: Final = "/org/antidrift/Session"
INTERFACE: Final = "org.antidrift.Session"
ERROR_PREFIX: Final = "org.antidrift.Error."
