"""Folders in which a store has been at work, and what is found in them."""

from __future__ import annotations

from pathlib import Path

from antidrift.domain.model import FaultCode
from antidrift.ports import Loaded
from antidrift.store import Disk, FileStore, tail
from standins.store_writer import a_saved, a_summary


class QuickDisk(Disk):
    """Does not wait for the platter: without a power cut nobody can tell, and hundreds of starts take no time."""

    def sync(self, fd: int) -> None:
        pass

    def datasync(self, fd: int) -> None:
        pass

    def sync_folder(self, folder: Path) -> None:
        pass


def filled(folder: Path, appended: int, saved: int) -> None:
    """A folder after so many sessions; the snapshot was last written after session `saved`."""
    store = FileStore(folder, QuickDisk())
    store.load()
    for n in range(1, appended + 1):
        store.append(a_summary(n))
        if n <= saved:
            store.save(a_saved(n))
    store.close()


def load(folder: Path) -> Loaded:
    """What a start of the service finds."""
    store = FileStore(folder, QuickDisk())
    try:
        return store.load()
    finally:
        store.close()


def codes(loaded: Loaded) -> list[FaultCode]:
    return [fault.code for fault in loaded.faults]


def sessions(folder: Path) -> list[int]:
    """The sessions in the chain that check, in order."""
    return [int(summary.session_id.removeprefix("session-")) for summary in tail(folder / "audit.jsonl", 10_000)]
