"""Reading a file that the person named, whatever stands at its path."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from antidrift.domain.model import Fault, FaultCode
from antidrift.ports import ProviderError


def read_start(path: Path, limit: int) -> bytes:
    """The first `limit` bytes of a regular file. Blocks on the disk only: a FIFO or a device is refused, not read.

    Raises ProviderError: NOT_FOUND, or UNREADABLE for everything else.
    """
    try:
        # Non-blocking, or a FIFO without a writer would hold this call for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise _error(FaultCode.UNREADABLE, path, "is not a regular file")
            with open(descriptor, "rb", closefd=False) as stream:
                return stream.read(limit)
        finally:
            os.close(descriptor)
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:  # ValueError: a NUL in the path
        raise _error(FaultCode.NOT_FOUND, path, "does not exist") from error
    except OSError as error:
        raise _error(FaultCode.UNREADABLE, path, f"cannot be read: {error.strerror}") from error


def _error(code: FaultCode, path: Path, what: str) -> ProviderError:
    shown = os.fsencode(path).decode(errors="replace")  # the message crosses the bus, which takes UTF-8 only
    return ProviderError(Fault(code, f"{shown} {what}."))
