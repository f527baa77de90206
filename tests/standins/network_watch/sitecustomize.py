"""Python runs this before the service: the same service, which notes whom it connects to and what it starts.

Each line of the file that `NETWORK_WATCH` names is one audit event of Python (PEP 578) and the address or program it is
about; the events are raised below everything that the service and its libraries do in Python.
"""

from __future__ import annotations

import os
import sys
from typing import Any

WATCHED = {
    "socket.bind",
    "socket.connect",
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "socket.sendto",
    "subprocess.Popen",
    "os.exec",
    "os.posix_spawn",
    "os.system",
}

_notes = os.open(os.environ["NETWORK_WATCH"], os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if event in WATCHED:
        about = arguments[1] if event in ("socket.bind", "socket.connect", "socket.sendto") else arguments[0]
        os.write(_notes, f"{event} {about!r}\n".encode())


sys.addaudithook(_note)
