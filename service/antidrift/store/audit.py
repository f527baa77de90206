"""audit.jsonl: one line per ended session, appended, read from its end, verified.

Appending: one write(2) of a whole line, then fdatasync(2), then it counts. The file is opened anew each time (a
session ends every half hour), so the end that is appended to is the one that is there now, whoever replaced, cut or
edited the file meanwhile, and no descriptor outlives an fsync that failed.

**An unfinished end.** A power cut can leave the remains of the one line that was being written: a part of it, zeros
or garbage. They are what lies behind the last line that checks, if they hold no more than one line's beginning, and
if the snapshot does not vouch for what would be missing. They are copied to a file of their own and cut off, and the
chain goes on.

**A broken chain.** Everything else that is wrong is reported and left exactly as it is, and sessions that end are
appended all the same: to refuse them would lose them. The break stays visible, because the chain goes on from the
end that this program *remembers* (the snapshot says it, and later appends), not from what the file now ends with:

- lines are missing at the end (an old copy was restored): the next line has the next number and points to a line
  that is not there, which `verify` finds as a sequence gap at that very place;
- the last line is another one: the next line points to the one that was there, a mismatch of `prev`;
- a line further up is wrong: it stays so.

Only when the file has more lines than are remembered (the process died between the audit and the snapshot) does the
chain go on from the file. Deleting audit.jsonl is a missing end, too; to begin a new chain, remove state.json with it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from errno import ENOSPC
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from antidrift.domain.model import Fault, FaultCode, SessionSummary
from antidrift.store.chain import GENESIS, START, BadLine, Head, Reason, follow, link, read_record
from antidrift.store.files import APPEND, DISK, READ, Disk, dated, opened, store_error, write_new
from antidrift.store.numbers import bounded

if TYPE_CHECKING:
    from pydantic import TypeAdapter

AUDIT_NAME = "audit.jsonl"

_BLOCK = 64 * 1024  # bytes read at a time from the end
_LONG_BLOCK = 1024 * 1024  # the same from the start
_MAX_LINE = 16 * 1024 * 1024  # what a verifier holds in memory at most; ours have a few kB
_LOOK_BACK = 8  # lines examined at the end before something is appended

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Verification:
    """What a walk over the whole chain found.

    `lines` good lines stand before the first bad one, `bad_line` (counted from 1; None: all are good). `head` is the
    last good line.
    """

    lines: int
    head: Head
    bad_line: int | None = None
    reason: Reason | None = None

    @property
    def ok(self) -> bool:
        """Whether every line is as it was written, and in its place."""
        return self.reason is None


def verify(path: Path, expected: Head | None = None, disk: Disk = DISK) -> Verification:
    """Walks over the chain at `path` and stops at the first bad line; a missing file is an empty chain.

    `expected` is where the chain is known to have reached (`remembered`): lines cut off the end show by nothing else.
    It needs no lock, and memory for one line. Raises StoreError if the file cannot be read.
    """
    head = GENESIS
    try:
        for line, whole in _lines_forwards(disk, path):
            if not whole:
                raise BadLine(Reason.TORN_LAST_LINE)
            found = follow(line, head)
            if expected is not None and found.seq == expected.seq and found != expected:
                raise BadLine(Reason.REWRITTEN)
            head = found
        if expected is not None and head.seq < expected.seq:
            raise BadLine(Reason.TRUNCATED)
    except OSError as error:
        raise store_error(error, f"{path.name} cannot be read") from error
    except BadLine as bad:
        return Verification(head.seq, head, head.seq + 1, bad.reason)
    return Verification(head.seq, head)


def tail(path: Path, n: int, disk: Disk = DISK) -> tuple[SessionSummary, ...]:
    """The summaries in the last `n` lines at `path`, oldest first; lines that do not check are left out.

    The time it takes does not depend on the size of the file. It needs no lock. Raises StoreError if the file cannot
    be read; a missing one is empty.
    """
    try:
        with opened(disk, path, READ) as fd:
            lines = [line for _, line in islice(_lines_backwards(disk, fd), max(n, 0))]
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        raise store_error(error, f"{path.name} cannot be read") from error
    return tuple(summary for line in reversed(lines) if (summary := _summary(line)) is not None)


@dataclass(frozen=True, slots=True)
class _End:
    """How the file ends. Sizes and offsets are bytes."""

    head: Head  # the last line that checks
    before: Head  # the line before that, by its own account
    session_id: str  # its session, "" without such a line
    start: int  # where it begins
    stop: int  # where it ends
    remains: int  # where the remains of an unfinished line begin; the file's size: there are none
    size: int
    broken: str  # what is wrong besides, as a sentence; "": nothing


class AuditLog:
    """The chain of one folder, for its one writer."""

    def __init__(self, disk: Disk, folder: Path) -> None:
        self._disk = disk
        self._folder = folder
        self._path = folder / AUDIT_NAME
        self._head = GENESIS
        self._doubtful = ""  # the session whose line was written but, for all we know, is not on disk
        self._broken = ""

    @property
    def head(self) -> Head:
        """The end of the chain, as far as it is known to be on disk."""
        return self._head

    def resume(self, known: Head, repair: bool) -> tuple[Fault, ...]:
        """Takes up the chain, which had reached `known` when the snapshot was written, and says what is wrong.

        More lines than that were written by a process that was killed, and may not be on disk: until the next append
        has brought them there, the head stays where it is, and no snapshot vouches for them.
        With `repair` (it needs the lock) an unfinished end is set aside. Raises OSError.
        """
        self._head = known
        faults: list[Fault] = []
        try:
            with opened(self._disk, self._path, READ) as fd:
                end = self._examine(fd)
        except (FileNotFoundError, NotADirectoryError):
            end = _End(GENESIS, GENESIS, "", 0, 0, 0, 0, _shortened(GENESIS, known))
        if end.remains < end.size:
            if repair:
                with opened(self._disk, self._path, APPEND) as fd:
                    faults.append(self._set_aside(fd, end))
            else:
                faults.append(_torn("stays there until the folder can be written"))
        if end.broken:
            faults.append(Fault(FaultCode.AUDIT_BROKEN, end.broken))
        self._broken = end.broken
        return tuple(faults)

    def append(self, summary: SessionSummary) -> None:
        """Adds one line; it is on disk when this returns.

        Nothing is added if the last line is of the same session. Raises OSError; the chain is then as it was.
        """
        with opened(self._disk, self._path, APPEND) as fd:
            if self._disk.size(fd) == 0:
                self._disk.sync_folder(self._folder)  # a line is on disk only if the file's name is
            end = self._settle(fd)
            if end.session_id == summary.session_id:
                # Written by a process that died before it could say so, or a second try.
                self._sync(fd, summary.session_id)
                self._head = _later(end.head, self._head)
                return
            line, head = link(_later(end.head, self._head), summary)
            self._write(fd, line, summary.session_id)
            self._head = head
        # The journal is a witness that a program of the same user cannot rewrite.
        log.info("audit seq=%d head=%s", head.seq, head.hash)

    def _settle(self, fd: int) -> _End:
        """Makes the file end with a whole line that counts."""
        end = self._examine(fd)
        if end.remains < end.size:
            log.warning("%s", self._set_aside(fd, end).message)
            end = self._examine(fd)
        if end.session_id and end.session_id == self._doubtful and end.stop == end.size:
            # An fsync that failed is not tried again: the kernel may have dropped the pages and call them clean.
            # The line is written anew; nobody was told that it is there.
            self._disk.truncate(fd, end.start)
            if self._head == end.head:
                self._head = end.before
            end = self._examine(fd)
        if end.broken and not self._broken:
            log.warning("%s", end.broken)
        self._broken = end.broken
        return end

    def _write(self, fd: int, line: bytes, session_id: str) -> None:
        size = self._disk.size(fd)
        try:
            self._doubtful = session_id
            if self._disk.write(fd, line) < len(line):
                raise OSError(ENOSPC, "only a part was written")
            self._disk.datasync(fd)
            self._doubtful = ""
        except OSError:
            with suppress(OSError):  # what stays is cut off before the next line
                self._disk.truncate(fd, size)
            raise

    def _sync(self, fd: int, session_id: str) -> None:
        self._doubtful = session_id
        self._disk.datasync(fd)
        self._doubtful = ""

    def _set_aside(self, fd: int, end: _End) -> Fault:
        aside = dated(self._path, "torn")
        write_new(self._disk, aside, self._disk.read(fd, end.size - end.remains, end.remains))
        self._disk.sync_folder(self._folder)
        self._disk.truncate(fd, end.remains)  # if a power cut takes this back, the remains are set aside once more
        return _torn(f"is now in {aside.name}")

    def _examine(self, fd: int) -> _End:
        """Looks at the last lines, and at nothing else."""
        size = self._disk.size(fd)
        window: list[tuple[int, bytes]] = []  # newest first
        last: tuple[int, bytes] | None = None  # the last line that checks
        for offset, line in islice(_lines_backwards(self._disk, fd), _LOOK_BACK):
            window.append((offset, line))
            if last is None and _checks(line):
                last = offset, line
        complete = not window or window[-1][0] == 0  # the window reaches back to the first line

        head, before, session_id, start, stop = GENESIS, GENESIS, "", 0, 0
        if last is not None:
            start, line = last
            stop = start + len(line)
            record = read_record(line[:-1])
            head, before, session_id = record.head, record.before, _session_id(line)
        elif not complete:
            stop = size
        remains = _unfinished(window, stop, size, head.seq < self._head.seq)
        broken = _changed(window, complete, remains, self._head) or _shortened(head, self._head)
        return _End(head, before, session_id, start, stop, remains, size, broken)


def _unfinished(window: list[tuple[int, bytes]], stop: int, size: int, vouched: bool) -> int:
    """Where the remains of an unfinished line begin, behind `stop`, which is where the last line that checks ends.

    `vouched`: the chain is known to have reached further than that line.
    """
    behind = [(offset, line) for offset, line in window if offset >= stop]
    if behind and not vouched and sum(line.count(START) for _, line in behind) <= 1:
        return behind[-1][0]
    # Damaged lines are left as they are; but what has no newline at its end would swallow the next line.
    if window and not window[0][1].endswith(b"\n"):
        return window[0][0]
    return size


def _changed(window: list[tuple[int, bytes]], complete: bool, remains: int, known: Head) -> str:
    """What is wrong with the lines in the window up to `remains`; "": nothing."""
    lines = [line for offset, line in reversed(window) if offset < remains]
    try:
        heads = [GENESIS if complete or not lines else read_record(lines.pop(0)[:-1]).head]
        for line in lines:
            heads.append(follow(line[:-1], heads[-1]))
        if any(head.seq == known.seq and head != known for head in heads):
            raise BadLine(Reason.REWRITTEN)
    except BadLine:
        return f"{AUDIT_NAME} was changed by something else: its last lines are not the ones that were written."
    return ""


def _shortened(found: Head, known: Head) -> str:
    if found.seq < known.seq:
        return f"{AUDIT_NAME} was shortened by something else: it ends with session {found.seq} of {known.seq}."
    return ""


def _later(found: Head, known: Head) -> Head:
    """Where the chain goes on: see the head of this module."""
    return found if found.seq > known.seq else known


def _torn(where: str) -> Fault:
    return Fault(FaultCode.AUDIT_TORN, f"{AUDIT_NAME} had an unfinished end (a power cut?), which {where}.")


def _lines_backwards(disk: Disk, fd: int) -> Iterator[tuple[int, bytes]]:
    """Each line with its offset and its newline, the last one first; only the first that comes may lack a newline."""
    position = disk.size(fd)
    later: list[bytes] = []  # the parts, newest first, of the line whose beginning is still to be read
    while position > 0:
        start = max(0, position - _BLOCK)
        block = disk.read(fd, position - start, start)
        cut = before = len(block)
        while (newline := block.rfind(b"\n", 0, before)) >= 0:
            line = b"".join([block[newline + 1 : cut], *reversed(later)])
            if line:
                yield start + newline + 1, line
            later = []
            cut, before = newline + 1, newline
        later.append(block[:cut])
        position = start
    if later:
        yield 0, b"".join(reversed(later))


def _lines_forwards(disk: Disk, path: Path) -> Iterator[tuple[bytes, bool]]:
    """Each line without its newline, and whether it had one. A line that is far too long ends the walk."""
    with suppress(FileNotFoundError, NotADirectoryError), opened(disk, path, READ) as fd:
        offset, rest = 0, b""
        while block := disk.read(fd, _LONG_BLOCK, offset):
            offset += len(block)
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                yield line, True
            if len(rest) > _MAX_LINE:
                break
        if rest:
            yield rest, len(rest) > _MAX_LINE


def _checks(line: bytes) -> bool:
    try:
        read_record(line.removesuffix(b"\n"))
    except BadLine:
        return False
    return line.endswith(b"\n")


def _session_id(line: bytes) -> str:
    summary = _summary(line)
    return summary.session_id if summary is not None else ""


def _summary(line: bytes) -> SessionSummary | None:
    """The summary in a line that checks. None too for one that a later version, or somebody else, wrote otherwise."""
    if not _checks(line):
        return None
    try:
        summary = _adapter().validate_json(line, strict=True)
    except ValueError:
        return None
    return summary if bounded(summary) else None


@cache
def _adapter() -> TypeAdapter[SessionSummary]:
    # Imported when first needed: a program that only verifies the chain starts without pydantic.
    from pydantic import TypeAdapter

    return TypeAdapter(SessionSummary)
