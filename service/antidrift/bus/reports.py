"""`ReportFocus`: who may report, and what a report may hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from dbus_next.signature import Variant

from antidrift.domain import limits
from antidrift.domain.errors import InvalidArgument
from antidrift.domain.model import Window
from antidrift.domain.titles import clean

SHELL = "org.gnome.Shell"
ANY = "any"

_APP_ID_CHARS = 255
_WINDOW_ID_CHARS = 64


class Reporters:
    """The bus names whose owners may report: GNOME Shell, where the extension lives, and those of the config file."""

    def __init__(self, configured: Iterable[str], owner_of: Callable[[str], str | None]) -> None:
        self._names = (SHELL, *(name for name in configured if name != ANY))
        self._anybody = ANY in configured
        self._owner_of = owner_of

    @property
    def names(self) -> tuple[str, ...]:
        """The names to be watched on the bus."""
        return self._names

    def allow(self, sender: str) -> bool:
        """Whether `sender` (a unique name) may report."""
        return self._anybody or any(self._owner_of(name) == sender for name in self._names)


def stops(report: Mapping[str, Variant]) -> bool:
    """Whether the report says `reporting: false`. Raises InvalidArgument for another type."""
    reporting = report.get("reporting")
    if reporting is None:
        return False
    if reporting.signature != "b":
        raise InvalidArgument(f"reporting has the type {reporting.signature}; it must be b")
    return not reporting.value


def window_of(report: Mapping[str, Variant], command_of: Callable[[int], str]) -> Window | None:
    """The reported window, its text on one line; an empty report is "no window focused". Raises InvalidArgument.

    Unknown keys are ignored, so that a newer front end can say more.
    """
    if not set(report) - {"reporting"}:
        return None
    pid = _number(report, "pid")
    return Window(
        wm_class=_text(report, "class", limits.CLASS_CHARS),
        title=_text(report, "title", limits.TITLE_CHARS),
        pid=pid,
        command="" if pid is None else command_of(pid),
        app_id=_text(report, "app_id", _APP_ID_CHARS),
        window_id=_identity(report, "window_id"),
    )


def _text(report: Mapping[str, Variant], key: str, most: int) -> str:
    value = report.get(key)
    if value is None:
        return ""
    if value.signature != "s":
        raise InvalidArgument(f"{key} has the type {value.signature}; it must be s")
    text: str = value.value
    if len(text) > most:
        raise InvalidArgument(f"{key} has {len(text)} characters; at most {most} are allowed")
    return clean(text)


def _number(report: Mapping[str, Variant], key: str) -> int | None:
    value = report.get(key)
    if value is None:
        return None
    if value.signature not in ("i", "u", "x", "t"):
        raise InvalidArgument(f"{key} has the type {value.signature}; it must be an integer")
    number: int = value.value
    return number if 0 < number < 2**31 else None


def _identity(report: Mapping[str, Variant], key: str) -> str:
    value = report.get(key)
    if value is not None and value.signature in ("i", "u", "x", "t"):
        return str(value.value)
    return _text(report, key, _WINDOW_ID_CHARS)
