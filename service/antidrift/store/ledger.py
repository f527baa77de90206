"""sent.jsonl: what was sent to an AI, one line a prompt, for the person to look at.

    {"time":"2026-01-31T09:15:02.123Z","backend":"claude","role":"drift_judge","bytes":812,"sha256":"<64 hex>"}

`bytes` and `sha256` are those of what went to the program's standard input; the text itself is there as `prompt` only
if the person wants it kept. The line is on disk before anything is sent. So one that is there may stand for a prompt
that was never sent, because the program then did not start; one that is missing stands for nothing.

A file of more than `MAX_BYTES` is put aside, in the place of the one that was put aside before.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from antidrift.domain.model import RoleName
from antidrift.store.files import APPEND, DISK, READ, Disk, opened, store_error

LEDGER_NAME = "sent.jsonl"
OLDER_NAME = "sent.1.jsonl"
MAX_BYTES = 1024 * 1024

_TYPES = {"time": str, "backend": str, "role": str, "bytes": int, "sha256": str}


@dataclass(frozen=True, slots=True)
class Sent:
    """One line. `time` is in UTC (ISO 8601); `prompt` is None where it was not kept."""

    time: str
    backend: str
    role: str
    bytes: int
    sha256: str
    prompt: str | None = None


class LedgerFile:
    """`ports.Ledger` over a folder that is there. One process writes to it: the holder of the folder's lock."""

    def __init__(
        self, folder: Path, disk: Disk = DISK, *, keep_prompts: bool = False, max_bytes: int = MAX_BYTES
    ) -> None:
        self._folder = folder
        self._path = folder / LEDGER_NAME
        self._disk = disk
        self._keep_prompts = keep_prompts
        self._max_bytes = max_bytes

    def record(self, role: RoleName, backend: str, prompt: str) -> None:
        """See `ports.Ledger`. Raises StoreError."""
        sent = prompt.encode(errors="replace")
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "backend": backend,
            "role": role,
            "bytes": len(sent),
            "sha256": hashlib.sha256(sent).hexdigest(),
        }
        if self._keep_prompts:
            line["prompt"] = sent.decode()
        try:
            self._append(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        except OSError as error:
            what = f"Nothing was sent to {backend}, because {LEDGER_NAME}, which lists what is sent, cannot be written"
            raise store_error(error, what) from error

    def _append(self, line: bytes) -> None:
        disk = self._disk
        with opened(disk, self._path, APPEND) as fd:
            size = disk.size(fd)
            if not size or size + len(line) <= self._max_bytes:
                self._write(fd, size, line)
                return
        disk.rename(self._path, self._folder / OLDER_NAME)
        with opened(disk, self._path, APPEND) as fd:
            self._write(fd, 0, line)

    def _write(self, fd: int, size: int, line: bytes) -> None:
        disk = self._disk
        if not size:
            disk.sync_folder(self._folder)  # a line is on disk only if the file's name is
        elif disk.read(fd, 1, size - 1) != b"\n":
            line = b"\n" + line  # the power was cut in the middle of a line: it is lost, this one is not
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[disk.write(fd, bytes(rest)) :]
            disk.datasync(fd)
        except OSError:
            with suppress(OSError):
                disk.truncate(fd, size)
            raise


def sent(folder: Path, n: int, disk: Disk = DISK) -> tuple[Sent, ...]:
    """The last `n` lines, oldest first, those of the file that was put aside among them. Raises StoreError.

    A line that is none is left out.
    """
    found: list[Sent] = []
    for name in (LEDGER_NAME, OLDER_NAME):
        if len(found) < n:
            try:
                found = [*_lines(_read(disk, folder / name)), *found]
            except FileNotFoundError:
                continue
            except OSError as error:
                raise store_error(error, f"{name} cannot be read") from error
    return tuple(found[-n:])


def _read(disk: Disk, path: Path) -> bytes:
    with opened(disk, path, READ) as fd:
        return disk.read(fd, 2 * MAX_BYTES, 0)


def _lines(data: bytes) -> Iterable[Sent]:
    for line in data.splitlines():
        try:
            fields = json.loads(line)
            found = Sent(**{name: fields[name] for name in _TYPES}, prompt=fields.get("prompt"))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            continue
        fits = all(type(getattr(found, name)) is kind for name, kind in _TYPES.items())
        if fits and isinstance(found.prompt, str | None):
            yield found
