"""A `Disk` that writes down what is done to it, and by which place in the store."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from support.power_cut import ROOT, Cut, Folder, Named, Operation, Platter, Synced, Wrote
from support.store_folder import QuickDisk


@dataclass(frozen=True, slots=True)
class Note:
    """Something was said between two operations: that a line is about to be appended, that it is on disk now."""

    word: str
    number: int


class Killed(BaseException):
    """The process ends here, as after kill -9. What it has done stays in the page cache."""


class Journal:
    """Everything that was done below `root`, over all processes, from the state in which it was found."""

    def __init__(self, root: Path) -> None:
        self.steps: list[Operation | Note] = []
        self.places: set[str] = set()  # where something was synced
        self._root = root
        self._nodes = {root: ROOT}
        self._found = Platter()
        for path in sorted(root.rglob("*")):
            node = self._nodes[path] = len(self._nodes)
            self._found.folders[self._nodes[path.parent]][path.name] = node
            if path.is_dir():
                self._found.folders[node] = {}
            else:
                self._found.files[node] = path.read_bytes()
        self._made = len(self._nodes)

    def note(self, word: str, number: int) -> None:
        """Says something."""
        self.steps.append(Note(word, number))

    def replay(self) -> Iterator[tuple[Operation | Note | None, Platter]]:
        """The disk as it was found, then after each step. It is the same object that changes."""
        platter = Platter({**self._found.files}, {node: {**names} for node, names in self._found.folders.items()})
        yield None, platter
        for step in self.steps:
            if not isinstance(step, Note):
                platter.do(step)
            yield step, platter

    def node(self, path: Path) -> int | None:
        """The number of a file or folder; None: it is not below `root`."""
        return self._nodes.get(path)

    def name(self, path: Path) -> None:
        """A file or folder was made."""
        node = self._nodes[path] = self._made
        self._made += 1
        if path.is_dir():
            self.steps.append(Folder(node))
        self._entries(path.parent, (path.name, node))

    def rename(self, old: Path, new: Path) -> None:
        self._nodes[new] = self._nodes.pop(old)
        self._entries(old.parent, (old.name, None), (new.name, self._nodes[new]))

    def remove(self, path: Path) -> None:
        del self._nodes[path]
        self._entries(path.parent, (path.name, None))

    def _entries(self, folder: Path, *entries: tuple[str, int | None]) -> None:
        self.steps.append(Named(self._nodes[folder], entries))


class RecordingDisk(QuickDisk):
    """The disk of one process.

    `leave_out` is a place that does not sync. With `dies_at` the process is killed before its operation of that number,
    from 0; `count` says how many there were.
    """

    def __init__(self, journal: Journal, leave_out: str = "", dies_at: int | None = None) -> None:
        self.count = 0
        self.syncs: list[int] = []  # which of them brought something to disk
        self._journal = journal
        self._leave_out = leave_out
        self._dies_at = dies_at
        self._open: dict[int, int] = {}

    def make_folder(self, folder: Path) -> None:
        self._live()
        super().make_folder(folder)
        self._journal.name(folder)

    def open(self, path: Path, flags: int) -> int:
        new = bool(flags & os.O_CREAT) and not path.exists()
        if new:
            self._live()
        fd = super().open(path, flags)
        if new:
            self._journal.name(path)
        node = self._journal.node(path)
        assert node is not None
        self._open[fd] = node
        return fd

    def write(self, fd: int, data: bytes) -> int:
        self._live()
        appends = fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_APPEND
        offset = self.size(fd) if appends else os.lseek(fd, 0, os.SEEK_CUR)
        count = super().write(fd, data)
        self._journal.steps.append(Wrote(self._open[fd], offset, data[:count]))
        return count

    def truncate(self, fd: int, size: int) -> None:
        self._live()
        super().truncate(fd, size)
        self._journal.steps.append(Cut(self._open[fd], size))

    def sync(self, fd: int) -> None:
        self._sync(self._open[fd], "sync")

    def datasync(self, fd: int) -> None:
        self._sync(self._open[fd], "datasync")

    def sync_folder(self, folder: Path) -> None:
        node = self._journal.node(folder)
        if node is not None:
            self._sync(node, "sync_folder")

    def rename(self, old: Path, new: Path) -> None:
        self._live()
        super().rename(old, new)
        self._journal.rename(old, new)

    def remove(self, path: Path) -> None:
        if path.exists():
            self._live()
            super().remove(path)
            self._journal.remove(path)

    def _sync(self, node: int, operation: str) -> None:
        self.syncs.append(self.count)
        self._live()
        place = f"{operation} in {_caller()}"
        self._journal.places.add(place)
        if place != self._leave_out:
            self._journal.steps.append(Synced(node))

    def _live(self) -> None:
        if self._dies_at is not None and self.count >= self._dies_at:
            raise Killed
        self.count += 1


def _caller() -> str:
    """The function of the store that syncs; for `write_new`, the one that lets it, too."""
    frame = sys._getframe(3)
    where = f"{Path(frame.f_code.co_filename).stem}.{frame.f_code.co_name}"
    if frame.f_code.co_name == "write_new":
        assert frame.f_back is not None
        return f"{where} for {Path(frame.f_back.f_code.co_filename).stem}.{frame.f_back.f_code.co_name}"
    return where
