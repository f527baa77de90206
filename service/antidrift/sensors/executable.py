"""Which program a process runs."""

from __future__ import annotations

import os

from antidrift.sensors import x11_text


def program_of(pid: int) -> str:
    """The base name of the executable of process `pid`, "" where it cannot be seen."""
    try:
        return x11_text.program_name(os.readlink(f"/proc/{pid}/exe".encode()))
    except OSError:
        return ""
