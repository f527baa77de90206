"""What a power cut may leave on a disk, worked out from everything that was done to it since it was last synced.

The rules are a little worse than those of ext4, xfs and btrfs:

- What is synced stays. fsync(2) of a file keeps its content and not its name; that of a folder keeps its names.
- The rest is there or not, each file and each folder by itself, whatever the order in which it was done.
- Names in one folder come in any order too, but two changes of one name in theirs; a rename happens or does not.
- Of a file's changes, in order, any number is there; a cut may be missing below the writes that came after it.
- What was written last may be there in part, sector by sector in any order. What is missing in between reads as
  zeros, or as something else; the file may be as long as if all were there, or end with the last sector that is.

Left out: sectors that are damaged while they are written, files that lose what was synced, owners and modes. Where
there are too many combinations, those are taken that lack everything but one piece, or have everything but one, and
all that are cut off at one place: `most` says where that begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, product
from math import prod
from typing import TypeVar

SECTOR = 512  # bytes that are written whole or not at all
ROOT = 0

Tree = tuple[tuple[str, bytes | None], ...]
"""A whole disk: each path with the content of its file, or None for a folder; a folder before what is in it."""

_JUNK = b"~" * (SECTOR - 1) + b"\n"  # what else a sector may hold that was never written: a line of nonsense

_Choice = TypeVar("_Choice")


@dataclass(frozen=True, slots=True)
class Named:
    """The entries of a folder changed, all of these at once: made, renamed, removed (None)."""

    folder: int
    entries: tuple[tuple[str, int | None], ...]


@dataclass(frozen=True, slots=True)
class Wrote:
    """Bytes were written to a file."""

    file: int
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Cut:
    """A file was given another size."""

    file: int
    size: int


@dataclass(frozen=True, slots=True)
class Synced:
    """A file or a folder was brought to disk."""

    node: int


@dataclass(frozen=True, slots=True)
class Folder:
    """There is a new folder, which has no name yet."""

    node: int


Operation = Named | Wrote | Cut | Synced | Folder


@dataclass(slots=True)
class Platter:
    """A disk and what is on its way to it. Nodes are numbered; the folder at the top is ROOT."""

    files: dict[int, bytes] = field(default_factory=dict)
    folders: dict[int, dict[str, int]] = field(default_factory=lambda: {ROOT: {}})
    _names: dict[int, list[Named]] = field(default_factory=dict)
    _data: dict[int, list[Wrote | Cut]] = field(default_factory=dict)

    def do(self, operation: Operation) -> None:
        """Takes down one more thing that was done."""
        match operation:
            case Named(folder):
                self._names.setdefault(folder, []).append(operation)
            case Wrote(file) | Cut(file):
                self._data.setdefault(file, []).append(operation)
            case Folder(node):
                self.folders[node] = {}
            case Synced(node):
                for change in self._data.pop(node, []):
                    self.files[node] = _changed(self.files.get(node, b""), change)
                if names := self._names.pop(node, []):
                    self.folders[node] = _renamed(self.folders[node], names)

    def remains(self, most: int) -> Iterator[Tree]:
        """Every disk that may be found after a power cut at this moment; one may come more than once."""
        folders = sorted(self._names)
        files = sorted(self._data)
        lists: list[Sequence[dict[str, int] | bytes]] = [
            *(tuple(_listings(self.folders[node], self._names[node], most)) for node in folders),
            *(tuple(dict.fromkeys(_contents(self.files.get(node, b""), self._data[node], most))) for node in files),
        ]
        for chosen in _combined(lists, most):
            now = dict(zip([*folders, *files], chosen, strict=True))
            yield tuple(self._walk(ROOT, "", now))

    def _walk(self, node: int, path: str, now: dict[int, dict[str, int] | bytes]) -> Iterator[tuple[str, bytes | None]]:
        listing = now.get(node, self.folders.get(node))
        if isinstance(listing, dict):
            if path:
                yield path, None
            for name, child in sorted(listing.items()):
                yield from self._walk(child, f"{path}/{name}" if path else name, now)
        else:
            content = now.get(node, self.files.get(node, b""))
            assert isinstance(content, bytes)
            yield path, content


def _renamed(listing: dict[str, int], changes: Sequence[Named]) -> dict[str, int]:
    new: dict[str, int | None] = {**listing}
    for change in changes:
        new.update(change.entries)
    return {name: node for name, node in new.items() if node is not None}


def _listings(listing: dict[str, int], changes: Sequence[Named], most: int) -> Iterator[dict[str, int]]:
    for kept in _subsets(len(changes), most):
        missing: set[str] = set()
        for number, change in enumerate(changes):
            names = {name for name, _ in change.entries}
            if number not in kept:
                missing |= names
            elif names & missing:
                break  # a later change of the same name is there without the earlier one
        else:
            yield _renamed(listing, [changes[number] for number in sorted(kept)])


def _changed(content: bytes, change: Wrote | Cut) -> bytes:
    if isinstance(change, Cut):
        return content[: change.size].ljust(change.size, b"\0")
    before = content[: change.offset].ljust(change.offset, b"\0")
    return before + change.data + content[change.offset + len(change.data) :]


def _contents(old: bytes, changes: Sequence[Wrote | Cut], most: int) -> Iterator[bytes]:
    stages = [old]
    for change in changes:
        stages.append(_changed(stages[-1], change))
    uncut = old
    for change in changes:
        if isinstance(change, Wrote):
            uncut = _changed(uncut, change)
    yield old
    yield from _torn(old, stages[-1], most)
    yield uncut
    yield from stages  # the last is what all was meant to be


def _torn(old: bytes, new: bytes, most: int) -> Iterator[bytes]:
    sectors = [n for n in range(0, max(len(old), len(new)), SECTOR) if old[n : n + SECTOR] != new[n : n + SECTOR]]
    for kept in _subsets(len(sectors), most):
        there = {sectors[number] for number in kept}
        least = max([len(old), *(min(len(new), start + SECTOR) for start in there)])
        for size in {least, max(least, len(new))}:
            for never_written in (bytes(SECTOR), _JUNK):
                parts = (
                    new[n : n + SECTOR]
                    if n in there
                    else old[n : n + SECTOR] + never_written[len(old[n : n + SECTOR]) :]
                    for n in range(0, size, SECTOR)
                )
                yield b"".join(parts)[:size]


def _subsets(count: int, most: int) -> Iterator[frozenset[int]]:
    """Which of so many pieces are there: first nothing, last everything."""
    every = range(count)
    if 2**count <= most:
        yield from map(frozenset, chain.from_iterable(combinations(every, size) for size in range(count + 1)))
        return
    yield from (frozenset(range(end)) for end in every)
    yield from (frozenset({only}) for only in every)
    yield from (frozenset(range(start, count)) for start in range(1, count))
    yield from (frozenset(every) - {missing} for missing in every)
    yield frozenset(every)


def _combined(lists: Sequence[Sequence[_Choice]], most: int) -> Iterator[tuple[_Choice, ...]]:
    """One of each list; where that is too much, all firsts or all lasts but for one list."""
    if prod(map(len, lists)) <= most:
        yield from product(*lists)
        return
    for extremes in ([choices[0] for choices in lists], [choices[-1] for choices in lists]):
        for place, choices in enumerate(lists):
            for choice in choices:
                yield (*extremes[:place], choice, *extremes[place + 1 :])
