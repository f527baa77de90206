"""One connection to an X server, and the one question put to it: which window has the focus?

python-xlib is used below its `Xlib.display`: `Xlib.protocol` opens a connection without asking for extensions and the
keyboard, gives windows as plain numbers, and lets several requests be under way at once.

Everything here blocks, for as long as the X server likes. It belongs into a thread of its own.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from typing import Any, ClassVar

from Xlib import X, error, xauth
from Xlib.protocol import display as protocol
from Xlib.protocol import request
from Xlib.support import connect

from antidrift.domain.model import Fault, FaultCode, Window
from antidrift.sensors import x11_text
from antidrift.sensors.executable import program_of
from antidrift.sensors.interrupt import Interrupt

UNMANAGED = Fault(FaultCode.WINDOW_UNREADABLE, "No window manager says which window has the focus.")
UNREADABLE = Fault(FaultCode.WINDOW_UNREADABLE, "Some of what the focused window says about itself cannot be read.")

# A display that does not take the connection is given up after this many seconds.
_CONNECT_TIMEOUT = 5.0
# What is read of a property, in units of four bytes: 1,000 characters in any of the encodings, and some to spare.
_PROPERTY_LENGTH = 2_048
_PID_LIMIT = 2**31

_ENCODINGS = ("UTF8_STRING", "STRING", "COMPOUND_TEXT")
_ATOMS = (
    "_NET_ACTIVE_WINDOW",
    "_NET_SUPPORTING_WM_CHECK",
    "_NET_WM_NAME",
    "_NET_WM_PID",
    "_NET_WM_WINDOW_TYPE",
    "_NET_WM_WINDOW_TYPE_DESKTOP",
    "WM_NAME",
    "WM_CLASS",
    *_ENCODINGS,
)
_ROOT_PROPERTIES = ("_NET_ACTIVE_WINDOW", "_NET_SUPPORTING_WM_CHECK")
_WINDOW_EVENTS = X.PropertyChangeMask | X.StructureNotifyMask
_WINDOW_PROPERTIES = ("_NET_WM_WINDOW_TYPE", "WM_CLASS", "_NET_WM_NAME", "WM_NAME", "_NET_WM_PID")

# python-xlib prints to standard output what it thinks of an empty or damaged ~/.Xauthority. Without a cookie the
# server decides, and its refusal is reported like any other.
xauth.print = lambda *_: None


class InvalidDisplayName(ValueError):
    """The name is not that of any display; trying again is useless."""


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at the desktop showed. `window` is None when nothing that a person works in has the focus."""

    window: Window | None
    fault: Fault | None = None


class FocusDisplay:
    """An X server, watched for its focused window.

    `name` is a display name such as ":0"; `interrupt` ends every wait in here and closes the connection. Any exception
    but InvalidDisplayName, here or later, means that the connection could not be made or has ended.
    """

    def __init__(self, name: str, interrupt: Interrupt) -> None:
        look_for_server(name)
        self._x = Connection(name, interrupt)
        self._root: int = self._x.info.roots[self._x.default_screen].root
        asked = {atom: request.InternAtom(self._x, defer=True, name=atom, only_if_exists=False) for atom in _ATOMS}
        for interned in asked.values():
            interned.reply()
        self._atoms: dict[str, int] = {atom: interned.atom for atom, interned in asked.items()}
        self._encodings = {self._atoms[encoding]: encoding for encoding in _ENCODINGS}
        self._focused: int = X.NONE
        self._manager: int = X.NONE
        self._complete = True
        self._select(self._root, X.PropertyChangeMask)

    def look(self) -> Look | None:
        """Reads which window has the focus; None: one that does not exist any more, and soon another one should."""
        active, manager = (self._ask(self._root, name) for name in _ROOT_PROPERTIES)
        window = self._first_number(active)
        self._manager = self._first_number(manager)
        # A window manager without the EWMH's check window is taken at its word as long as it says something.
        if not (self._manager_lives() if self._manager else self._value(active, 32)[0]):
            return Look(None, UNMANAGED)
        self._watch(window if window != self._root else X.NONE)
        return self._read(self._focused) if self._focused else Look(None)

    def wait(self) -> None:
        """Waits until something may have changed since the last look began."""
        # Replies bring events along, into a queue that the socket knows nothing of; next_event looks there first.
        while not self._concerns(self._x.next_event()):
            pass
        # What else has come by now is answered by the same look; not what is still coming, which may be no end.
        for _ in range(self._x.pending_events()):
            self._x.next_event()

    def _concerns(self, event: Any) -> bool:
        if event.type == X.DestroyNotify:
            return event.window in (self._manager, self._focused)
        if event.type != X.PropertyNotify:
            return False
        watched = {self._focused: _WINDOW_PROPERTIES, self._root: _ROOT_PROPERTIES}
        return any(event.atom == self._atoms[name] for name in watched.get(event.window, ()))

    def _manager_lives(self) -> bool:
        # EWMH: the window manager keeps a window that names itself. Its id on the root window may outlive both.
        self._select(self._manager, _WINDOW_EVENTS)
        return self._first_number(self._ask(self._manager, "_NET_SUPPORTING_WM_CHECK")) == self._manager

    def _watch(self, window: int) -> None:
        if self._focused not in (X.NONE, window, self._manager):
            self._select(self._focused, X.NoEventMask)
        self._focused = window
        if window:
            # Before anything is read: a change between the reading and this would go unseen.
            self._select(window, _WINDOW_EVENTS)

    def _read(self, window: int) -> Look | None:
        kind, wm_class, net_name, name, pid = (self._ask(window, prop) for prop in _WINDOW_PROPERTIES)
        # Asked last: a window that still exists at this point has existed for everything above.
        exists = request.GetWindowAttributes(self._x, defer=True, window=window)
        self._complete = True
        try:
            exists.reply()
        except error.BadWindow:
            return None
        except error.XError:
            self._complete = False

        title = x11_text.decode(*self._text(net_name), x11_text.TITLE_LIMIT)
        if not title:
            title = x11_text.decode(*self._text(name), x11_text.TITLE_LIMIT)
        process = self._first_number(pid)
        known_pid = process if 0 < process < _PID_LIMIT else None
        found = Window(
            wm_class=x11_text.decode_class(*self._text(wm_class)),
            title=title,
            pid=known_pid,
            command=program_of(known_pid) if known_pid else "",
            window_id=f"{window:#x}",
        )
        if self._atoms["_NET_WM_WINDOW_TYPE_DESKTOP"] in self._numbers(kind):
            return Look(None)
        if not self._complete:
            return Look(found, UNREADABLE)
        # Under Wayland, mutter gives the X11 focus to a blank window of its own while no X11 window has it.
        return Look(found if found.wm_class or found.title or found.pid else None)

    def _text(self, asked: Any) -> tuple[str, bytes]:
        kind, data = self._value(asked, 8)
        return self._encodings.get(kind, ""), data or b""

    def _numbers(self, asked: Any) -> list[int]:
        return list(self._value(asked, 32)[1] or ())

    def _first_number(self, asked: Any) -> int:
        return next(iter(self._numbers(asked)), 0)

    def _value(self, asked: Any, form: int) -> tuple[int, Any]:
        """The type and value of a property of units of `form` bits.

        (0, None) if it is absent; also if it is refused or of another form, and then `_complete` is no longer so.
        """
        try:
            asked.reply()
        except error.XError:
            self._complete = False
            return X.NONE, None
        if asked.property_type == X.NONE:
            return X.NONE, None
        found_form, value = asked.value
        if found_form != form:
            self._complete = False
            return X.NONE, None
        return asked.property_type, value

    def _select(self, window: int, mask: int) -> None:
        """Asks for events, and does not wait: that the window is gone comes to light in the next reading."""
        request.ChangeWindowAttributes(self._x, window=window, attrs={"event_mask": mask})

    def _ask(self, window: int, name: str) -> Any:
        """Asks for a property and does not wait: all of a window's properties take one round trip."""
        return request.GetProperty(
            self._x,
            defer=True,
            delete=False,
            window=window,
            property=self._atoms[name],
            type=X.AnyPropertyType,
            long_offset=0,
            long_length=_PROPERTY_LENGTH,
        )


class Connection(protocol.Display):  # type: ignore[misc]  # python-xlib has no types
    """A connection that another thread can end while it is being set up, and that keeps what fails late to itself."""

    # Windows and other resources are plain numbers.
    resource_classes: ClassVar[dict[str, type]] = {}

    def __init__(self, name: str, interrupt: Interrupt) -> None:
        self._interrupt = interrupt
        super().__init__(name)

    @property
    def socket(self) -> socket.socket:
        """Assigned by the library before it first waits for the server, which may be frozen."""
        return self._socket

    @socket.setter
    def socket(self, connected: socket.socket) -> None:
        self._socket = connected
        self._interrupt.hold(connected)

    def close_internal(self, whom: str) -> None:
        """Called by the library when the connection has ended."""
        self._interrupt.release()
        super().close_internal(whom)

    def default_error_handler(self, err: error.XError) -> None:
        """Errors of requests that nobody waits for: the window is gone, which is ordinary. (They went to stderr.)"""


def look_for_server(name: str) -> None:
    """Returns if a server takes connections on this display. Raises InvalidDisplayName, OSError.

    The library does not bear its own connect to fail: it leaves the socket open, tries TCP in place of a local socket,
    and may wait for minutes.
    """
    try:
        _, protocol_name, host, number, _ = connect.get_display(name)
    except error.DisplayNameError:
        raise InvalidDisplayName(name) from None
    if protocol_name != "unix" and host not in ("", "unix"):
        socket.create_connection((host, 6000 + number), _CONNECT_TIMEOUT).close()
        return
    path = f"/tmp/.X11-unix/X{number}"  # noqa: S108  # where X servers listen
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(_CONNECT_TIMEOUT)
        probe.connect(path if os.path.exists(path) else "\0" + path)
