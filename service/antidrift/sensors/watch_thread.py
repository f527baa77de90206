"""A thread for what blocks, beside an event loop that must not."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from antidrift.sensors.interrupt import Interrupt

_STOP_TIMEOUT = 1.0


class WatchThread:
    """Runs `run` once, and carries what it finds to the event loop on which this was made.

    Ended by its interrupt: `run` must return soon after that is set, and wait for nothing that it does not end.
    """

    def __init__(self, name: str, run: Callable[[], None]) -> None:
        self.interrupt = Interrupt()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=run, name=name, daemon=True)

    def start(self) -> None:
        """Begins; call once."""
        self._thread.start()

    def stop(self) -> None:
        """Ends it, within milliseconds as a rule. Nothing is carried over after this returns. Also when not started."""
        self.interrupt.set()
        if self._thread.is_alive():
            # Only a connection attempt to another machine can take longer. It ends by itself, and nobody hears of it.
            self._thread.join(_STOP_TIMEOUT)

    def hand_over(self, callback: Callable[..., None], *values: object) -> None:
        """Has `callback` called on the event loop. From any thread."""
        try:
            self._loop.call_soon_threadsafe(self._deliver, callback, *values)
        except RuntimeError:
            # The loop was closed without stopping us: nobody is left to tell.
            self.interrupt.set()

    def _deliver(self, callback: Callable[..., None], *values: object) -> None:
        # On the loop, as `stop` is: what was under way when it was called is not delivered.
        if not self.interrupt.is_set():
            callback(*values)
