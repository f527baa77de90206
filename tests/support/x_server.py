"""A real X server without a screen, with a window manager, and real windows to give the focus to.

    with XServer() as server:
        window = server.open_window(title="report.odt", wm_class=("soffice", "LibreOffice"))
        window.focus()

Needs Xvfb and openbox. Everything that is started here ends with the `with` block.
"""

from __future__ import annotations

import contextlib
import os
import random
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from Xlib import X, Xatom
from Xlib.display import Display
from Xlib.protocol import event

TIMEOUT = 20.0
"""Seconds until something that never came is called a failure; all of it normally takes milliseconds."""

_OPENBOX = """<?xml version="1.0"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
  <focus><focusNew>no</focusNew></focus>
</openbox_config>
"""
"""A window that opens gets no focus: which one has it is for the test to say."""

Property = tuple[str, int, bytes | list[int]]
"""The type (an atom's name), the unit (8 or 32 bits) and the value of a window property."""


def eventually(condition: Callable[[], bool], what: str) -> None:
    """Returns once `condition` holds; for what happens in other processes."""
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not so within {TIMEOUT:.0f} s: {what}")
        time.sleep(0.002)


class XServer:
    """Xvfb on a free display number, and openbox. May be killed, started again on the same number, and frozen."""

    def __init__(self) -> None:
        # Not the lowest free number, which -displayfd would choose: another test's server may take that one while
        # this one is down.
        self.display = f":{random.randint(1_000, 50_000)}"
        self._server: subprocess.Popen[bytes] | None = None
        self._manager: subprocess.Popen[bytes] | None = None
        self._connection: Any = None
        self._windows: list[XWindow] = []
        self._home = tempfile.TemporaryDirectory(prefix="antidrift-x-")

    def __enter__(self) -> XServer:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def connection(self) -> Any:
        """The connection of the test process itself, an `Xlib.display.Display`; a new one after each `start`."""
        return self._connection

    @property
    def environment(self) -> dict[str, str]:
        """The environment for a program that is to open windows here."""
        return {"DISPLAY": self.display, "HOME": self._home.name, "PATH": os.environ["PATH"]}

    def start(self) -> None:
        """Starts the server, on the same display number each time, and the window manager."""
        reading, writing = os.pipe()
        # Without -noreset a server starts over, and forgets everything, each time that its last client leaves.
        command = ["Xvfb", self.display, "-displayfd", str(writing), "-nolisten", "tcp", "-noreset"]
        with open(reading, "rb") as ready, self._log("Xvfb.log").open("ab") as log:
            self._server = subprocess.Popen(command, pass_fds=[writing], stdout=log, stderr=log)
            os.close(writing)
            self._wait_for_number(ready)
        self._connection = Display(self.display)
        # A window that is destroyed twice is no news to a test.
        self._connection.set_error_handler(lambda *_: None)
        self.start_window_manager()

    def start_window_manager(self) -> None:
        """Starts openbox, and waits until it manages windows."""
        # It shows itself on the root window earlier than it listens to windows, and then misses one that opens.
        ready = Path(self._home.name, "ready")
        ready.unlink(missing_ok=True)
        settings = Path(self._home.name, "rc.xml")
        settings.write_text(_OPENBOX)
        with self._log("openbox.log").open("ab") as log:
            self._manager = subprocess.Popen(
                ["openbox", "--sm-disable", "--config-file", settings, "--startup", f"touch {ready}"],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        eventually(ready.exists, "openbox is ready")

    def kill_window_manager(self) -> None:
        """Ends openbox as a crash would: nothing is tidied up on the root window."""
        _end(self._manager)

    def kill(self) -> None:
        """Ends the server as a crash would. Its windows and every connection to it are gone."""
        _end(self._server)
        _end(self._manager)
        self._close_connection()

    def restart(self) -> None:
        """Kills the server if it still runs, and starts it on the same display number."""
        self.kill()
        self.start()

    def freeze(self) -> None:
        """Stops the server: it takes connections, and answers nothing. Nothing here may be called but `thaw`."""
        assert self._server is not None
        self._server.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Lets a frozen server go on."""
        assert self._server is not None
        self._server.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """Ends everything."""
        self.kill()
        # A killed server leaves them behind.
        number = self.display.removeprefix(":")
        for left in (f"/tmp/.X11-unix/X{number}", f"/tmp/.X{number}-lock"):
            Path(left).unlink(missing_ok=True)
        self._home.cleanup()

    def atom(self, name: str) -> int:
        """The number that the server has for a name."""
        number: int = self._connection.intern_atom(name)
        return number

    def open_window(
        self,
        title: str | None = None,
        wm_class: tuple[str, str] | None = None,
        pid: int | None = None,
        properties: Mapping[str, Property] | None = None,
    ) -> XWindow:
        """Opens a window, and waits until it is on the screen. It gets no focus by itself: see `XWindow.focus`.

        `title` is set both ways, as toolkits do; `wm_class` is (instance, class); `properties` are set as they are.
        """
        root = self._connection.screen().root
        resource = root.create_window(10, 10, 200, 100, 0, X.CopyFromParent, X.InputOutput, event_mask=X.NoEventMask)
        window = XWindow(self, resource)
        if title is not None:
            window.retitle(title)
        if wm_class is not None:
            window.set("WM_CLASS", "STRING", 8, b"".join(name.encode("latin-1") + b"\0" for name in wm_class))
        if pid is not None:
            window.set("_NET_WM_PID", "CARDINAL", 32, [pid])
        for name, value in (properties or {}).items():
            window.set(name, *value)
        resource.map()
        self._windows.append(window)
        eventually(lambda: window.has("WM_STATE"), "the window is managed")
        return window

    def close_windows(self) -> None:
        """Destroys every window that was opened here."""
        for window in self._windows:
            window.destroy()
        self._windows.clear()
        # openbox leaves the name of the last window behind.
        self.claim_active(0)

    def claim_active(self, window_id: int) -> None:
        """Writes _NET_ACTIVE_WINDOW on the root window, as a window manager would. openbox does not mind."""
        root = self._connection.screen().root
        root.change_property(self.atom("_NET_ACTIVE_WINDOW"), Xatom.WINDOW, 32, [window_id])
        self._connection.sync()

    def forget_active(self) -> None:
        """Takes _NET_ACTIVE_WINDOW off the root window."""
        self._connection.screen().root.delete_property(self.atom("_NET_ACTIVE_WINDOW"))
        self._connection.sync()

    def active_window(self) -> int:
        """The id of the window that has the focus; 0: none."""
        return self._window_on_root("_NET_ACTIVE_WINDOW")

    def _window_on_root(self, name: str) -> int:
        found = self._connection.screen().root.get_full_property(self.atom(name), X.AnyPropertyType)
        return int(found.value[0]) if found and len(found.value) else 0

    def _log(self, name: str) -> Path:
        return Path(self._home.name, name)

    def _wait_for_number(self, ready: BinaryIO) -> None:
        # Xvfb writes its number once it takes connections, or ends and so closes the pipe.
        select.select([ready], [], [], TIMEOUT)
        if not select.select([ready], [], [], 0)[0] or not ready.readline():
            raise AssertionError(f"Xvfb does not start: {self._log('Xvfb.log').read_text()}")

    def _close_connection(self) -> None:
        if self._connection is not None:
            self._connection.display.socket.close()
            self._connection = None
        self._windows.clear()


class XWindow:
    """A window of the test process."""

    def __init__(self, server: XServer, resource: Any) -> None:
        self._server = server
        self._resource = resource

    @property
    def id(self) -> int:
        """The window's number; a sensor gives it in hexadecimal."""
        number: int = self._resource.id
        return number

    def focus(self) -> None:
        """Gives it the focus, and waits until it has it."""
        self.activate()
        eventually(lambda: self._server.active_window() == self.id, "the window has the focus")

    def activate(self) -> None:
        """Asks the window manager to give it the focus, as a task bar does, and does not wait."""
        connection = self._server.connection
        message = event.ClientMessage(
            window=self.id,
            client_type=self._server.atom("_NET_ACTIVE_WINDOW"),
            # 2: on behalf of the person, whom no focus stealing prevention stands against
            data=(32, [2, X.CurrentTime, 0, 0, 0]),
        )
        mask = X.SubstructureRedirectMask | X.SubstructureNotifyMask
        connection.screen().root.send_event(message, event_mask=mask)
        connection.flush()

    def retitle(self, title: str) -> None:
        """Changes the title, both in _NET_WM_NAME and in WM_NAME."""
        self.set("_NET_WM_NAME", "UTF8_STRING", 8, title.encode())
        self.set("WM_NAME", "STRING", 8, title.encode("latin-1", "replace"))

    def set(self, name: str, kind: str, unit: int, value: bytes | list[int]) -> None:
        """Sets a property, and waits until the server has it."""
        self._resource.change_property(self._server.atom(name), self._server.atom(kind), unit, value)
        self._server.connection.sync()

    def unset(self, name: str) -> None:
        """Removes a property."""
        self._resource.delete_property(self._server.atom(name))
        self._server.connection.sync()

    def has(self, name: str) -> bool:
        """Whether the window has such a property."""
        return self._resource.get_property(self._server.atom(name), X.AnyPropertyType, 0, 0) is not None

    def destroy(self) -> None:
        """Destroys the window."""
        self._resource.destroy()
        self._server.connection.sync()


def _end(process: subprocess.Popen[bytes] | None) -> None:
    if process is not None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.wait()
