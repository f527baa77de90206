"""The store of one folder: the snapshot and the audit chain, written by one process at a time.

A folder that cannot be written is survived: what is there is read, each write fails with a StoreError that says why,
and as soon as one succeeds everything is as if it had always been so. Nothing needs to be restarted.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from antidrift.domain.model import Fault, FaultCode, SessionSummary
from antidrift.domain.session import SavedSession
from antidrift.ports import Loaded, StoreError
from antidrift.store.audit import AUDIT_NAME, AuditLog, tail
from antidrift.store.chain import GENESIS
from antidrift.store.files import DISK, Disk, fault_of, store_error
from antidrift.store.lock import FolderLock
from antidrift.store.snapshot import SNAPSHOT_NAME, DamagedSnapshot, Snapshot, SnapshotFile

RECENT = 5

log = logging.getLogger(__name__)


class FileStore:
    """`ports.Store` over a folder. Nothing is touched before `load`.

    The methods block (a write waits for the disk: usually 1 ms, at times 30) and are called one at a time; `recent`
    alone may run beside the others.
    """

    def __init__(self, folder: Path, disk: Disk = DISK) -> None:
        self._folder = folder
        self._disk = disk
        self._lock = FolderLock(disk, folder)
        self._snapshot = SnapshotFile(disk, folder)
        self._audit = AuditLog(disk, folder)
        self._loaded = False

    def load(self) -> Loaded:
        """What was saved last. Takes the lock and keeps it; a missing folder is made, and empty.

        Raises StoreLocked if another process holds the lock, and nothing else: all that is damaged or cannot be written
        is among the faults.
        """
        faults: list[Fault] = []
        try:
            self._lock.hold()
            writable = True
        except OSError as error:
            writable = False
            faults.append(fault_of(error, f"Nothing can be kept in {self._folder}"))

        found = None
        try:
            found = self._snapshot.read()
        except DamagedSnapshot as damage:
            faults.append(self._set_aside(damage, writable))

        recent: tuple[SessionSummary, ...] = ()
        try:
            faults += self._audit.resume(found.audit if found is not None else GENESIS, repair=writable)
            recent = tail(self._folder / AUDIT_NAME, RECENT, self._disk)
        except OSError as error:
            faults.append(fault_of(error, f"{AUDIT_NAME} cannot be taken up"))
        except StoreError as error:
            faults.append(error.fault)
        self._loaded = True
        return Loaded(found.saved if found is not None else None, recent, tuple(faults))

    def save(self, saved: SavedSession) -> None:
        """Replaces the snapshot; it is on disk when this returns. Raises StoreError, the old one kept."""
        with self._writing(SNAPSHOT_NAME):
            self._snapshot.write(Snapshot(saved, self._audit.head))

    def append(self, summary: SessionSummary) -> None:
        """Adds a summary to the chain, once; it is on disk when this returns.

        Raises StoreError, the chain unchanged.
        """
        with self._writing(AUDIT_NAME):
            self._audit.append(summary)

    def recent(self, n: int) -> tuple[SessionSummary, ...]:
        """The last `n` summaries, oldest first. Raises StoreError if the chain cannot be read."""
        return tail(self._folder / AUDIT_NAME, n, self._disk)

    def close(self) -> None:
        """Lets go of the lock."""
        self._lock.release()

    @contextmanager
    def _writing(self, name: str) -> Iterator[None]:
        try:
            if not self._loaded:
                self.load()
            self._lock.hold()
            yield
        except OSError as error:
            raise store_error(error, f"{name} could not be written") from error

    def _set_aside(self, damage: DamagedSnapshot, writable: bool) -> Fault:
        where = "it will be set aside when the folder can be written"
        if writable:
            try:
                where = f"it is now {self._snapshot.set_aside().name}"
            except OSError as error:
                where = f"it could not be set aside: {(error.strerror or 'unknown error').lower()}"
        return Fault(FaultCode.SNAPSHOT_DAMAGED, f"{SNAPSHOT_NAME} was not usable ({damage}); {where}.")
