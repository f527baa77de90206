"""Whether keyboard and pointer are used, as the X server counts it: the MIT-SCREEN-SAVER extension, version 1.0.

For X11 desktops that have no idle monitor on the bus. Under Wayland the X server sees only what X11 programs are given,
and a person in any other program would seem idle.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from antidrift.domain.model import AwayCause
from antidrift.sensors.interrupt import Interrupt
from antidrift.sensors.watch_thread import WatchThread

_log = logging.getLogger(__name__)

OnAway = Callable[[AwayCause, float], None]
OnBack = Callable[[AwayCause], None]

RETURN_SECS = 2.0
"""How often it is looked whether an idle person has come back: the server tells nobody of input."""

RETRY_SECS = 60.0
"""How long a server that does not tell is left alone."""

_LEAST_SECS = 0.05


class NoIdleTime(Exception):
    """The X server does not count the time without input."""


def secs_since_input(display: str, interrupt: Interrupt) -> float:
    """Seconds since a key was pressed or the pointer moved.

    Blocks for as long as the server likes; `interrupt` ends that. Any exception means that the time cannot be had.
    """
    # Imported here: it takes its time, and many a desktop has no X11.
    from Xlib.ext import screensaver
    from Xlib.protocol import request

    from antidrift.sensors.x11_display import Connection, look_for_server

    look_for_server(display)
    try:
        # One connection for each question. One that is kept gathers events that nobody reads, and dies unnoticed.
        x = Connection(display, interrupt)
        extension = request.QueryExtension(x, name=screensaver.extname)
        if not extension.present:
            raise NoIdleTime(display)
        root = x.info.roots[x.default_screen].root
        answer = screensaver.QueryInfo(display=x, opcode=extension.major_opcode, drawable=root)
        return float(answer.idle) / 1000
    finally:
        interrupt.release()


class X11Idle:
    """`ports.PresenceSource` for idle alone, in a thread of its own: it asks once in `idle_secs` while there is input.

    A server that cannot be asked counts nobody as idle.
    """

    def __init__(self, display: str, idle_secs: float) -> None:
        self._display = display
        self._idle_secs = idle_secs
        self._watch: _Watch | None = None

    def start(self, on_away: OnAway, on_back: OnBack) -> None:
        """See `ports.PresenceSource`."""
        self.stop()
        self._watch = _Watch(self._display, self._idle_secs, on_away, on_back)
        self._watch.start()

    def stop(self) -> None:
        """See `ports.PresenceSource`. Returns within milliseconds whatever the X server does."""
        if self._watch is not None:
            self._watch.stop()
            self._watch = None


class _Watch:
    """What happens between one `start` and its `stop`; `_run` and `_look` in the thread."""

    def __init__(self, display: str, idle_secs: float, on_away: OnAway, on_back: OnBack) -> None:
        self._display = display
        self._idle_secs = idle_secs
        self._on_away = on_away
        self._on_back = on_back
        self._thread = WatchThread("x11-idle", self._run)
        self._interrupt = self._thread.interrupt

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._thread.stop()

    def _run(self) -> None:
        away = False
        wait = 0.0
        while not self._interrupt.pause(wait):
            secs = self._look()
            idle = secs is not None and secs >= self._idle_secs
            if idle and not away:
                self._thread.hand_over(self._on_away, AwayCause.IDLE, secs)
            elif away and not idle:
                self._thread.hand_over(self._on_back, AwayCause.IDLE)
            away = idle
            if secs is None:
                wait = RETRY_SECS
            elif idle:
                wait = RETURN_SECS
            else:
                wait = max(self._idle_secs - secs, _LEAST_SECS)

    def _look(self) -> float | None:
        try:
            return secs_since_input(self._display, self._interrupt)
        except Exception as fault:  # a connection that breaks off makes the library raise nearly anything
            _log.debug("the X server does not tell who is idle: %s", type(fault).__name__)
            return None
