"""state.json: the one snapshot, replaced whole.

    {"format":"antidrift-state","version":1,"crc":"<8 hex>","audit_seq":<n>,"audit_head":"<64 hex>","saved":{ ... }}

`crc` is the CRC-32 of all bytes behind `"crc":"…",`, so damage is seen before anything is believed. `audit_seq` and
`audit_head` say where the audit chain ended when the snapshot was written: the audit is always written first, so a
chain that ends earlier has been shortened.

Replacing: a new file beside it, synced, renamed over it, and the folder synced. At every moment `state.json` is either
the old or the new one. One that cannot be understood is set aside under a dated name, never overwritten.
"""

from __future__ import annotations

import json
import re
import zlib
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from antidrift.domain.model import Phase
from antidrift.domain.session import SavedSession
from antidrift.store.chain import Head
from antidrift.store.files import DISK, READ, Disk, dated, opened, write_new
from antidrift.store.numbers import bounded

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SNAPSHOT_NAME = "state.json"
VERSION = 1
MAX_BYTES = 16 * 1024 * 1024  # an all-day session has some 100 kB
KEPT_DAMAGED = 5

_ENVELOPE = re.compile(rb'\{"format":"antidrift-state","version":([0-9]{1,9}),')
_CHECKED = re.compile(rb'"crc":"([0-9a-f]{8})",("audit_seq":.*\})\n', re.DOTALL)
_CONTENT = re.compile(rb'"audit_seq":([0-9]{1,18}),"audit_head":"([0-9a-f]{64})","saved":(\{.*\})\}', re.DOTALL)


class DamagedSnapshot(ValueError):
    """There is something in the snapshot's place that is not one of ours; the message says in what way."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was written: the session, and where the audit chain ended then."""

    saved: SavedSession
    audit: Head


def encode(snapshot: Snapshot) -> bytes:
    """The bytes of state.json."""
    # A lone surrogate (an AI may send one) has no UTF-8; a question mark is better than a state that cannot be saved.
    saved = json.dumps(asdict(snapshot.saved), ensure_ascii=False, separators=(",", ":")).encode(errors="replace")
    head = snapshot.audit
    content = b'"audit_seq":%d,"audit_head":"%b","saved":%b}' % (head.seq, head.hash.encode(), saved)
    return b'{"format":"antidrift-state","version":%d,"crc":"%08x",%b\n' % (VERSION, zlib.crc32(content), content)


def decode(data: bytes) -> Snapshot:
    """The snapshot in `data`. Raises DamagedSnapshot."""
    head, saved = _unwrap(data)
    try:
        snapshot = Snapshot(_adapter().validate_json(saved, strict=True), head)
    except ValueError as error:  # pydantic's message quotes the content: it must not go on
        raise DamagedSnapshot("its content has the wrong shape") from error
    if not bounded(snapshot.saved):
        raise DamagedSnapshot("a number in it is out of bounds")
    if snapshot.saved.phase is Phase.REVIEW and None in (snapshot.saved.outcome, snapshot.saved.ended):
        raise DamagedSnapshot("its session is over, without an end")
    return snapshot


def remembered(folder: Path, disk: Disk = DISK) -> Head | None:
    """Where the audit chain ended when the snapshot in `folder` was written; None: nobody can tell.

    It needs no lock. To be read before the chain, which only grows.
    """
    try:
        return _unwrap(_read(disk, folder / SNAPSHOT_NAME))[0]
    except (OSError, DamagedSnapshot):
        return None


class SnapshotFile:
    """The snapshot of one folder."""

    def __init__(self, disk: Disk, folder: Path) -> None:
        self._disk = disk
        self._folder = folder
        self._path = folder / SNAPSHOT_NAME
        self._in_the_way = False  # a damaged one that could not be set aside yet

    def read(self) -> Snapshot | None:
        """The snapshot; None: there is none. Raises DamagedSnapshot, which asks for `set_aside`."""
        try:
            return decode(_read(self._disk, self._path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            self._in_the_way = True
            raise DamagedSnapshot(f"it cannot be read: {(error.strerror or 'unknown error').lower()}") from error
        except DamagedSnapshot:
            self._in_the_way = True
            raise

    def set_aside(self) -> Path:
        """Gives a damaged snapshot a dated name, which is returned. Only the newest five are kept. Raises OSError."""
        aside = dated(self._path, "damaged")
        self._disk.rename(self._path, aside)
        self._in_the_way = False
        with suppress(OSError):  # old ones are only litter
            for name in sorted(n for n in self._disk.names(self._folder) if n.startswith(f"{SNAPSHOT_NAME}.damaged-"))[
                :-KEPT_DAMAGED
            ]:
                self._disk.remove(self._folder / name)
        return aside

    def write(self, snapshot: Snapshot) -> None:
        """Replaces the snapshot; it is on disk when this returns. Raises OSError.

        After an error the old one is in place, but for an error of the very last step, the folder's sync: then it is
        the new one, which a power cut may still take back.
        """
        if self._in_the_way:
            self.set_aside()
        new = self._path.with_name(f"{SNAPSHOT_NAME}.new")
        self._disk.remove(new)  # left there by a process that was killed
        try:
            write_new(self._disk, new, encode(snapshot))
            self._disk.rename(new, self._path)
        except OSError:
            with suppress(OSError):
                self._disk.remove(new)
            raise
        self._disk.sync_folder(self._folder)


def _read(disk: Disk, path: Path) -> bytes:
    with opened(disk, path, READ) as fd:
        size = disk.size(fd)
        if size > MAX_BYTES:
            raise DamagedSnapshot("it is far too large")
        return disk.read(fd, size, 0)


def _unwrap(data: bytes) -> tuple[Head, bytes]:
    envelope = _ENVELOPE.match(data)
    if envelope is None:
        raise DamagedSnapshot("it is not a snapshot")
    version = int(envelope[1])
    if version != VERSION:
        raise DamagedSnapshot(f"it was written by another version, with format {version}")
    checked = _CHECKED.fullmatch(data, envelope.end())
    if checked is None or zlib.crc32(checked[2]) != int(checked[1], 16):
        raise DamagedSnapshot("its checksum is wrong")
    content = _CONTENT.fullmatch(checked[2])
    if content is None:
        raise DamagedSnapshot("its content has the wrong shape")
    return Head(int(content[1]), content[2].decode()), content[3]


@cache
def _adapter() -> TypeAdapter[SavedSession]:
    # Imported when first needed: a program that only verifies the chain starts without pydantic.
    from pydantic import TypeAdapter

    return TypeAdapter(SavedSession)
