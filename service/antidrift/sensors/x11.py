"""The focused window on X11, watched in a thread of its own."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from antidrift.domain.model import Fault, FaultCode, Health, Window
from antidrift.sensors.watch_thread import WatchThread

if TYPE_CHECKING:
    from antidrift.sensors.x11_display import FocusDisplay, Look

logger = logging.getLogger(__name__)

OnWindow = Callable[[Window | None], None]
OnHealth = Callable[[Health, Fault | None], None]

NO_DISPLAY = Fault(FaultCode.NO_DISPLAY, "There is no X display to watch.")
DISPLAY_LOST = Fault(FaultCode.DISPLAY_LOST, "The X server cannot be reached; trying again.")
PARTIAL_VIEW = Fault(FaultCode.PARTIAL_VIEW, "Under Wayland, only the windows of X11 programs are seen.")

FIRST_RETRY = 0.5
LAST_RETRY = 5.0
"""Seconds between attempts to reach an X server, at first and at most; doubled each time."""

_REST = 0.002
"""Seconds between two looks. Bounds what a title that never stands still costs, and how late a change is seen."""

_PATIENCE = 200
"""How often it is looked again, after a rest each, until a window that was closed counts as no window."""

_LOG_INTERVAL = 60.0


class X11Sensor:
    """`ports.WindowSensor` for X11: event-driven, reconnects by itself, opens nothing before `start`.

    `display` is a display name; None: $DISPLAY, as it is at `start`. `partial`: the desktop runs on Wayland, where X11
    shows only a part of the windows; the health then is `degraded` at best.

    Health: `absent` without an X server to look at (`no_display`, `display_lost`), `degraded` while no window manager
    tells the focus or the focused window cannot be read as a whole (`window_unreadable`). When the server is lost no
    window is reported: the last one is then simply out of date.
    """

    def __init__(self, display: str | None = None, *, partial: bool = False) -> None:
        self._display = display
        self._partial = partial
        self._watch: _Watch | None = None

    def start(self, on_window: OnWindow, on_health: OnHealth) -> None:
        """Begins to watch, or starts over. Must be called on the event loop that the callbacks are to run on."""
        self.stop()
        name = os.environ.get("DISPLAY", "") if self._display is None else self._display
        self._watch = _Watch(name, self._partial, on_window, on_health)
        self._watch.start()

    def stop(self) -> None:
        """Ends watching, within milliseconds whatever the X server does. No callback comes after it returns."""
        if self._watch is not None:
            self._watch.stop()
            self._watch = None


class _Watch:
    """What happens between one `start` and its `stop`; from `_run` downwards in the thread."""

    def __init__(self, name: str, partial: bool, on_window: OnWindow, on_health: OnHealth) -> None:
        self._name = name
        self._well = (Health.DEGRADED, PARTIAL_VIEW) if partial else (Health.OK, None)
        self._on_window = on_window
        self._on_health = on_health
        self._health: tuple[Health, Fault | None] | None = None
        self._reported: tuple[Window | None, ...] = ()  # the window reported last; empty: none since connecting
        self._log = _FaultLog()
        self._thread = WatchThread("x11-sensor", self._run)
        self._interrupt = self._thread.interrupt

    def start(self) -> None:
        if self._name:
            self._thread.start()
        else:
            self._report_health(Health.ABSENT, NO_DISPLAY)

    def stop(self) -> None:
        self._thread.stop()

    def _run(self) -> None:
        retry = FIRST_RETRY
        while not self._interrupt.is_set():
            try:
                # Imported here: it takes its time, many a desktop has no X11, and it fails when nothing can be opened.
                from antidrift.sensors.x11_display import FocusDisplay, InvalidDisplayName

                try:
                    display = FocusDisplay(self._name, self._interrupt)
                except InvalidDisplayName:
                    self._report_health(Health.ABSENT, NO_DISPLAY)
                    return
                retry = FIRST_RETRY
                self._follow(display)
            except Exception as err:  # a connection that breaks off makes the library raise nearly anything
                logger.debug("X11 connection ended: %s", type(err).__name__)
            finally:
                self._interrupt.release()
            if not self._interrupt.is_set():
                self._report_health(Health.ABSENT, DISPLAY_LOST)
                self._interrupt.pause(retry)
                retry = min(2 * retry, LAST_RETRY)

    def _follow(self, display: FocusDisplay) -> None:
        """Reports what has the focus, until interrupted or the connection breaks off."""
        self._reported = ()
        while not self._interrupt.is_set():
            look = self._look(display)
            window, fault = (look.window, look.fault) if look else (None, None)
            self._report_health(*((Health.DEGRADED, fault) if fault else self._well))
            self._report_window(window)
            self._interrupt.pause(_REST)
            display.wait()

    def _look(self, display: FocusDisplay) -> Look | None:
        """What has the focus now; None: a window that was closed a while ago, and so nothing.

        One that has only just been closed is passed over, since the window manager is about to name the next. Not
        every window manager takes back the name of the last one (openbox 3.6 does not).
        """
        look = display.look()
        for _ in range(_PATIENCE):
            if look is not None or self._interrupt.pause(_REST):
                break
            look = display.look()
        return look

    def _report_window(self, window: Window | None) -> None:
        if self._reported != (window,):
            self._reported = (window,)
            self._thread.hand_over(self._on_window, window)

    def _report_health(self, health: Health, fault: Fault | None) -> None:
        if (health, fault) != self._health:
            self._health = (health, fault)
            self._log.note(fault)
            self._thread.hand_over(self._on_health, health, fault)


class _FaultLog:
    """One line when a fault begins and one when it ends, but at most one beginning a minute of each kind.

    A window that cannot be read may get the focus a hundred times an hour.
    """

    def __init__(self) -> None:
        self._told: Fault | None = None
        self._told_at: dict[FaultCode, float] = {}

    def note(self, fault: Fault | None) -> None:
        """Takes down what is wrong now; None: nothing is."""
        if self._told is not None:
            logger.info("Window sensor, no longer so: %s", self._told.message)
            self._told = None
        if fault is None:
            return
        now = time.monotonic()
        if now - self._told_at.get(fault.code, -_LOG_INTERVAL) >= _LOG_INTERVAL:
            self._told_at[fault.code] = now
            self._told = fault
            logger.warning("Window sensor: %s", fault.message)
