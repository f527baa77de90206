"""Lives of the store that end in a power cut at every moment, and what the next start finds.

A life is written down operation by operation; `support.power_cut` says what each moment may leave behind. Each of those
disks is made in a folder and started on, and what was acknowledged must be there, without a false alarm.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from antidrift.domain.model import FaultCode, RoleName
from antidrift.store import (
    AUDIT_NAME,
    SNAPSHOT_NAME,
    Disk,
    FileStore,
    LedgerFile,
    remembered,
    sent,
    verify,
)
from standins.store_writer import a_saved, a_summary
from support.power_cut import Tree
from support.recording_disk import Journal, Killed, Note, RecordingDisk
from support.store_folder import QuickDisk, filled, load, sessions

FOLDER = Path("state", "antidrift")
LEDGER_BYTES = 500  # three lines
TORN = b'{"prev":"0123'
DAMAGED = b'{"format":"antidrift-state","version":1,"crc":"'


@dataclass(frozen=True, slots=True)
class Found:
    """What a start on one disk finds."""

    false_alarms: frozenset[FaultCode]
    """What is reported and is not so, or is so and is not reported."""
    state: int
    """The number of the snapshot; -1: there is none."""
    ended: tuple[int, ...]
    verifies: bool
    recorded: frozenset[str]
    aside: frozenset[bytes]
    mended: bool
    """Whether there was something to set aside."""
    goes_on: bool
    """Whether another session can be ended, and is there at the next start with all that was there before."""


@dataclass(frozen=True, slots=True)
class Promise:
    """What must be found, given what was said to whoever uses the store."""

    appended: int = 0
    appending: int = 0
    saved: int = -1
    saving: int = -1
    recorded: frozenset[int] = frozenset()
    recording: int = 0
    aside: bytes = b""
    """What somebody may want to look into, in a file of its own."""

    def after(self, note: Note) -> Promise:
        """The same once this has been said."""
        if note.word == "recorded":
            return replace(self, recorded=self.recorded | {note.number})
        return replace(self, **{note.word: note.number})

    def broken_by(self, found: Found) -> str:
        """In what way; "": it is kept."""
        if found.false_alarms:
            return f"there is a false alarm, or none: {', '.join(found.false_alarms)}"
        if not self.saved <= found.state <= self.saving:
            return f"the state is {found.state}"
        last = len(found.ended)
        if found.ended != tuple(range(1, last + 1)) or not self.appended <= last <= self.appending:
            return f"the sessions are {found.ended}"
        if not found.verifies:
            return "the chain does not verify"
        if self.aside and self.aside not in found.aside:
            return "what was set aside is gone"
        if not found.recorded.issuperset(map(_entry, self.recorded)):
            return "something that was sent is not in the ledger"
        return "" if found.goes_on else "it does not go on"


@dataclass(frozen=True, slots=True)
class Life:
    """How a folder looks when a process of the service begins to work on it."""

    name: str
    prepare: Callable[[Path], None]
    promise: Promise = Promise()


def _nothing(folder: Path) -> None:
    pass


def _two_sessions(folder: Path) -> None:
    folder.mkdir(parents=True)
    filled(folder, appended=2, saved=2)


def _no_snapshot_of_the_second(folder: Path) -> None:
    folder.mkdir(parents=True)
    filled(folder, appended=2, saved=1)


def _torn(folder: Path) -> None:
    _two_sessions(folder)
    with (folder / AUDIT_NAME).open("ab") as audit:
        audit.write(TORN)


def _damaged(folder: Path) -> None:
    _two_sessions(folder)
    (folder / SNAPSHOT_NAME).write_bytes(DAMAGED)


def _full_ledger(folder: Path) -> None:
    _two_sessions(folder)
    for _ in range(2):
        LedgerFile(folder, QuickDisk()).record(RoleName.COACH, "claude", "before")


_TWO = Promise(2, 2, 2, 2)
LIVES = (
    Life("first start", _nothing),
    Life("second start", _two_sessions, _TWO),
    Life("killed before the snapshot", _no_snapshot_of_the_second, Promise(2, 2, 1, 1)),
    Life("torn line", _torn, replace(_TWO, aside=TORN)),
    Life("damaged snapshot", _damaged, Promise(2, 2, aside=DAMAGED)),
    Life("full ledger", _full_ledger, _TWO),
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far to go. See `support.power_cut` for `most`."""

    most: int
    every_kill: bool
    """Kill the process of each life before each operation; or only that of the first, where something is synced."""

    def kills(self, life: Life, disk: RecordingDisk) -> Iterable[int]:
        """Before which operations of this life the process is killed."""
        if self.every_kill:
            return range(1, disk.count)
        return disk.syncs if life is LIVES[0] else ()


SMALL = Bounds(most=2, every_kill=False)
LARGE = Bounds(most=64, every_kill=True)


@dataclass(slots=True)
class Findings:
    """What was tried, and what was lost."""

    operations: int = 0
    disks: int = 0
    states: int = 0
    """Disks, each with every promise that it must keep."""
    losses: int = 0
    first_loss: str = ""
    mended: dict[Tree, Promise] = field(default_factory=dict)
    """The disks on which something was set aside, each with a promise that it must keep."""

    def lost(self, text: str) -> None:
        self.losses += 1
        self.first_loss = self.first_loss or text


@contextmanager
def workplace() -> Iterator[Path]:
    """An empty folder for the work, in memory if there is room for files in it."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="crash-points-", dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


def enumerate_crashes(
    place: Path, bounds: Bounds, lives: Sequence[Life] = LIVES, *, leave_out: str = "", until_lost: bool = False
) -> Findings:
    """Ends every life at every moment, and works in the empty folder `place`.

    `leave_out` is a place that does not sync, by its name in `places`; `until_lost` stops at the first loss.
    """
    findings = Findings()
    folders = (place / str(number) for number in count())
    found: dict[Tree, Found] = {}
    judged: set[tuple[Tree, Promise]] = set()
    for life, journal, begin in _journals(lives, folders, bounds, leave_out):
        findings.operations += sum(not isinstance(step, Note) for step in journal.steps[begin:])
        promise = life.promise
        for number, (step, platter) in enumerate(journal.replay()):
            if isinstance(step, Note):
                promise = promise.after(step)
            if number < begin:
                continue  # the same as without the kill
            for tree in platter.remains(bounds.most):
                if (tree, promise) in judged:
                    continue
                judged.add((tree, promise))
                if tree not in found:
                    found[tree] = _start_on(tree, next(folders))
                if found[tree].mended:
                    findings.mended[tree] = promise
                if wrong := promise.broken_by(found[tree]):
                    findings.lost(f"{life.name}, power cut after step {number} ({step}): {wrong}\n{_shown(tree)}")
                    if until_lost:
                        return findings
    findings.disks, findings.states = len(found), len(judged)
    return findings


def second_lives(findings: Findings, most: int) -> list[Life]:
    """The starts after `most` of the power cuts that left something to set aside, to be cut off themselves."""
    cuts = list(findings.mended.items())
    return [_after_a_cut(*cut) for cut in cuts[:: max(1, len(cuts) // most)]]


def _after_a_cut(tree: Tree, promise: Promise) -> Life:
    return Life("after a power cut", lambda folder: _make(tree, folder.parents[len(FOLDER.parts) - 1]), promise)


def places(place: Path) -> set[str]:
    """Every place in the store where something is brought to disk in one of the lives."""
    folders = (place / str(number) for number in count())
    return {place for _, journal, _ in _journals(LIVES, folders, SMALL, "") for place in journal.places}


def _journals(
    lives: Sequence[Life], folders: Iterator[Path], bounds: Bounds, leave_out: str
) -> Iterator[tuple[Life, Journal, int]]:
    """What one process does in each life; then what it does and a second one, for each moment at which it is killed.

    With each, the number of steps that are known from before.
    """

    def live(life: Life, dies_at: int | None) -> tuple[Journal, int, RecordingDisk]:
        root = next(folders)
        root.mkdir()
        life.prepare(root / FOLDER)
        journal = Journal(root)
        disk = RecordingDisk(journal, leave_out, dies_at)
        _run(root / FOLDER, disk, journal, new_sessions=1)
        begin = len(journal.steps)
        if dies_at is not None:
            _run(root / FOLDER, RecordingDisk(journal, leave_out), journal, new_sessions=0)
        shutil.rmtree(root)
        return journal, begin, disk

    disks = []
    for life in lives:
        journal, _, disk = live(life, None)
        disks.append(disk)
        yield life, journal, 0
    for life, disk in zip(lives, disks, strict=True):
        for dies_at in bounds.kills(life, disk):
            yield life, *live(life, dies_at)[:2]


def _run(folder: Path, disk: Disk, journal: Journal, new_sessions: int) -> None:
    """One process of the service: starts, asks an AI something, and ends sessions, until it is stopped or killed."""
    said = journal.note
    store = FileStore(folder, disk)
    ledger = LedgerFile(folder, disk, max_bytes=LEDGER_BYTES)
    try:
        loaded = store.load()
        state = loaded.saved.switch_count if loaded.saved else 0
        said("saving", state)
        store.save(a_saved(state))  # the service does this at every start
        said("saved", state)
        last = _number(loaded.recent[-1].session_id) if loaded.recent else 1
        for n in range(last, last + 1 + new_sessions):  # the last one too: its end may not be in the snapshot yet
            prompt = sum(isinstance(step, Note) and step.word == "recording" for step in journal.steps)
            said("recording", prompt)
            ledger.record(RoleName.COACH, "claude", _prompt(prompt))
            said("recorded", prompt)
            said("appending", n)
            store.append(a_summary(n))
            said("appended", n)
            said("saving", n)
            store.save(a_saved(n))
            said("saved", n)
    except Killed:
        pass
    finally:
        store.close()


def _start_on(tree: Tree, root: Path) -> Found:
    folder = root / FOLDER
    root.mkdir()
    _make(tree, root)
    honest = set()
    if not verify(folder / AUDIT_NAME).ok:
        honest.add(FaultCode.AUDIT_TORN)
    if (str(FOLDER / SNAPSHOT_NAME), DAMAGED) in tree:
        honest.add(FaultCode.SNAPSHOT_DAMAGED)

    store = FileStore(folder, QuickDisk())
    loaded = store.load()
    ended = sessions(folder)
    verifies = verify(folder / AUDIT_NAME, remembered(folder)).ok
    recorded = {line.sha256 for line in sent(folder, 100)}

    # It goes on.
    store.append(a_summary(len(ended) + 1))
    store.save(a_saved(len(ended) + 1))
    LedgerFile(folder, QuickDisk()).record(RoleName.COACH, "claude", "afterwards")
    store.close()
    again = load(folder)
    goes_on = (
        not again.faults
        and again.saved == a_saved(len(ended) + 1)
        and sessions(folder) == [*ended, len(ended) + 1]
        and verify(folder / AUDIT_NAME, remembered(folder)).ok
        and recorded < {line.sha256 for line in sent(folder, 100)}
    )
    found = Found(
        false_alarms=frozenset(fault.code for fault in loaded.faults) ^ honest,
        state=loaded.saved.switch_count if loaded.saved else -1,
        ended=tuple(ended),
        verifies=verifies,
        recorded=frozenset(recorded),
        aside=frozenset(path.read_bytes() for path in folder.glob("*.*.*-*")),
        mended=bool(loaded.faults),
        goes_on=goes_on,
    )
    shutil.rmtree(root)
    return found


def _make(tree: Tree, root: Path) -> None:
    for path, content in tree:
        if content is None:
            (root / path).mkdir()
        else:
            (root / path).write_bytes(content)


def _number(session_id: str) -> int:
    return int(session_id.removeprefix("session-"))


def _prompt(number: int) -> str:
    return f"prompt {number}"


def _entry(number: int) -> str:
    return hashlib.sha256(_prompt(number).encode()).hexdigest()


def _shown(tree: Tree) -> str:
    return "\n".join(path if content is None else f"{path}: {len(content)} bytes" for path, content in tree)
