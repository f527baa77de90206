"""One writer at a time: a lock file that is held for as long as the process lives.

flock(2) is let go by the kernel with the last descriptor, so a killed process leaves no stale lock. The file stays:
to remove it would let two processes hold "the" lock, on two different files of the same name.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

from antidrift.domain.model import Fault, FaultCode
from antidrift.ports import StoreError
from antidrift.store.files import UPDATE, Disk

LOCK_NAME = "lock"

# Of folders high above ours: it may not be read; it has no disk (an automounter's); nothing in it can have changed.
_NOT_OURS = frozenset({errno.EACCES, errno.EINVAL, errno.EROFS})


class StoreLocked(StoreError):
    """Another process writes to this folder. `holder` is its pid, or None if it has not said."""

    def __init__(self, folder: Path, holder: int | None) -> None:
        who = f"process {holder}" if holder else "another process"
        super().__init__(Fault(FaultCode.IO_ERROR, f"The folder {folder} is in use by {who}."))
        self.holder = holder


class FolderLock:
    """The lock of one folder."""

    def __init__(self, disk: Disk, folder: Path) -> None:
        self._disk = disk
        self._folder = folder
        self._path = folder / LOCK_NAME
        self._fd: int | None = None

    def hold(self) -> None:
        """Takes the lock, unless it is held; makes the folder if it is missing. Raises StoreLocked, OSError."""
        if self._fd is not None:
            if self._disk.is_at(self._fd, self._path):
                return
            self.release()  # somebody removed the folder or the lock: what is held locks nothing
        if not self._path.exists():
            self._make_folder(self._folder)  # the lock is made behind it, so one that is there says that all of it is
        fd = self._disk.open(self._path, UPDATE)
        try:
            self._disk.lock(fd)
        except BlockingIOError:
            holder = self._read_holder(fd)
            self._disk.close(fd)
            raise StoreLocked(self._folder, holder) from None
        except OSError:
            self._disk.close(fd)
            raise
        self._fd = fd
        self._write_holder(fd)

    def release(self) -> None:
        """Lets go of the lock."""
        if self._fd is not None:
            self._disk.close(self._fd)
            self._fd = None

    def _make_folder(self, folder: Path) -> None:
        # One at a time, because os.makedirs gives the folders above it the mode that the umask leaves. Also the name of
        # the lowest that was there is put on disk: a process that had made it may have been killed before it did that.
        try:
            self._disk.make_folder(folder)
        except FileExistsError:
            if not folder.is_dir():
                raise
        except FileNotFoundError:
            self._make_folder(folder.parent)
            self._disk.make_folder(folder)
        else:
            self._sync_name(folder.parent)
        self._sync_name(folder)

    def _sync_name(self, folder: Path) -> None:
        try:
            self._disk.sync_folder(folder.parent)
        except OSError as error:
            if error.errno not in _NOT_OURS:
                raise

    def _write_holder(self, fd: int) -> None:
        with suppress(OSError):  # the lock is what counts; the pid is for a message, and a disk may be full
            self._disk.truncate(fd, 0)
            self._disk.write(fd, b"%d\n" % os.getpid())

    def _read_holder(self, fd: int) -> int | None:
        try:
            return int(self._disk.read(fd, 32, 0))
        except (OSError, ValueError):
            return None
