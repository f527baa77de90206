"""The way out of a wait in another thread."""

from __future__ import annotations

import contextlib
import socket
import threading


class Interrupt:
    """Lets one thread end what another one waits for: a pause, or a read on a socket that may never return.

    Once set it stays set; every later pause or read ends at once.
    """

    def __init__(self) -> None:
        self._set = threading.Event()
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None

    def is_set(self) -> bool:
        """Whether the waiting thread is to end."""
        return self._set.is_set()

    def pause(self, seconds: float) -> bool:
        """Waits for that long, or shorter; True: do not go on."""
        return self._set.wait(seconds)

    def hold(self, sock: socket.socket) -> None:
        """From now on, `set` also ends reads on this socket, and `release` closes it."""
        with self._lock:
            self._socket = sock
            if self._set.is_set():
                _shut_down(sock)

    def release(self) -> None:
        """Closes the socket that is held, if any.

        Closing under the lock keeps `set` from shutting down a descriptor that belongs to somebody else by now.
        """
        with self._lock:
            if self._socket is not None:
                self._socket.close()
                self._socket = None

    def set(self) -> None:
        """Ends the wait, now and for good. Never blocks."""
        with self._lock:
            self._set.set()
            if self._socket is not None:
                _shut_down(self._socket)


def _shut_down(sock: socket.socket) -> None:
    # A peer that went first leaves nothing to shut down.
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)
