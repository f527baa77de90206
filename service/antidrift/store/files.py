"""Every system call of the store.

What the store does to the disk it does through a `Disk`, one plain operation a method. So a test can let any one
of them fail, or write them all down and work out what a power cut would have left behind.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from antidrift.domain.model import Fault, FaultCode
from antidrift.ports import StoreError

READ = os.O_RDONLY | os.O_NONBLOCK  # opening a FIFO that lies in the file's place must not wait for its writer
APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT
CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
UPDATE = os.O_RDWR | os.O_CREAT

# EFBIG is a file size limit (setrlimit); for the person both mean "no more room".
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_READ_ONLY = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


class Disk:
    """The operations, each of which raises OSError. Descriptors are closed on exec, so no child keeps a lock."""

    def make_folder(self, folder: Path) -> None:
        """Makes one folder, 0700 whatever the umask."""
        os.mkdir(folder, 0o700)
        os.chmod(folder, 0o700)

    def open(self, path: Path, flags: int) -> int:
        """Opens a file; one that may be made by this is 0600 from then on, whatever the umask or its past."""
        fd = os.open(path, flags, 0o600)
        if flags & os.O_CREAT:
            try:
                os.fchmod(fd, 0o600)
            except OSError:
                os.close(fd)
                raise
        return fd

    def close(self, fd: int) -> None:
        os.close(fd)

    def size(self, fd: int) -> int:
        return os.fstat(fd).st_size

    def read(self, fd: int, count: int, offset: int) -> bytes:
        return os.pread(fd, count, offset)

    def write(self, fd: int, data: bytes) -> int:
        """One write(2); returns how many bytes were taken."""
        return os.write(fd, data)

    def truncate(self, fd: int, size: int) -> None:
        os.ftruncate(fd, size)

    def sync(self, fd: int) -> None:
        os.fsync(fd)

    def datasync(self, fd: int) -> None:
        os.fdatasync(fd)

    def sync_folder(self, folder: Path) -> None:
        """Puts the names in a folder on disk: without it a new or renamed file may be gone after a power cut."""
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def rename(self, old: Path, new: Path) -> None:
        os.rename(old, new)

    def remove(self, path: Path) -> None:
        """Removes a file; one that is not there is removed already."""
        path.unlink(missing_ok=True)

    def names(self, folder: Path) -> list[str]:
        return os.listdir(folder)

    def lock(self, fd: int) -> None:
        """Takes an exclusive flock(2) without waiting; BlockingIOError: another process has it."""
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def is_at(self, fd: int, path: Path) -> bool:
        """Whether the open file is still the one that `path` names."""
        try:
            return os.path.samestat(os.fstat(fd), os.stat(path))
        except (FileNotFoundError, NotADirectoryError):
            return False


DISK = Disk()


@contextmanager
def opened(disk: Disk, path: Path, flags: int) -> Iterator[int]:
    """An open descriptor for the length of a block."""
    fd = disk.open(path, flags)
    try:
        yield fd
    finally:
        disk.close(fd)


def write_new(disk: Disk, path: Path, data: bytes) -> None:
    """Makes a file of its own with this content, which is on disk when this returns (its name is not)."""
    with opened(disk, path, CREATE) as fd:
        rest = memoryview(data)
        while rest:
            rest = rest[disk.write(fd, bytes(rest)) :]
        disk.sync(fd)


def dated(path: Path, why: str) -> Path:
    """The name under which something is set aside. Such names sort by time."""
    return path.with_name(f"{path.name}.{why}-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}")


def fault_of(error: OSError, what: str) -> Fault:
    """Why something could not be written, for the person. `what` begins the sentence."""
    if error.errno in _FULL:
        return Fault(FaultCode.DISK_FULL, f"{what}: there is no space left.")
    if error.errno in _READ_ONLY:
        return Fault(FaultCode.READ_ONLY, f"{what}: the folder is not writable.")
    return Fault(FaultCode.IO_ERROR, f"{what}: {(error.strerror or 'unknown error').lower()}.")


def store_error(error: OSError, what: str) -> StoreError:
    """The same as an exception."""
    return StoreError(fault_of(error, what))
