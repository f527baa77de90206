"""The list of what was sent to an AI: complete, bounded, for nobody else to see, and nothing is sent without it."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from antidrift.domain.model import Fault, FaultCode, Key, RoleName, Verdict
from antidrift.domain.requests import JudgeRequest
from antidrift.ports import StoreError
from antidrift.roles.caller import RoleCaller
from antidrift.store import LEDGER_NAME, Disk, LedgerFile, sent
from antidrift.store.ledger import MAX_BYTES, OLDER_NAME

JUDGE = JudgeRequest("c1", Key("firefox"), "Write", "Written", "firefox", "Cats")
CHAPTER = "Kapitel Öl\n"


class BrokenDisk(Disk):
    """One operation fails, as long as `broken` names it."""

    def __init__(self, broken: str, error: int = errno.ENOSPC) -> None:
        self.broken = broken
        self._error = error

    def open(self, path: Path, flags: int) -> int:
        self._check("open")
        return super().open(path, flags)

    def write(self, fd: int, data: bytes) -> int:
        if self.broken == "write half" and len(data) > 1:
            return super().write(fd, data[: len(data) // 2])
        if self.broken == "write half":
            self._fail()
        self._check("write")
        return super().write(fd, data)

    def datasync(self, fd: int) -> None:
        self._check("datasync")
        super().datasync(fd)

    def rename(self, old: Path, new: Path) -> None:
        self._check("rename")
        super().rename(old, new)

    def _check(self, name: str) -> None:
        if name == self.broken:
            self._fail()

    def _fail(self) -> None:
        raise OSError(self._error, os.strerror(self._error))


class Backend:
    """An AI program that notes what it is asked, and looks into the ledger meanwhile."""

    name = "claude"

    def __init__(self, look: Callable[[], object] = lambda: None) -> None:
        self.prompts: list[str] = []
        self.seen: list[object] = []
        self._look = look

    def check(self) -> Fault | None:
        return None

    async def run(self, role: str, prompt: str) -> str:
        self.prompts.append(prompt)
        self.seen.append(self._look())
        return '{"on_task": true}'


# One line a prompt


def test_a_line_says_when_what_went_where_and_no_word_of_it(tmp_path: Path) -> None:
    LedgerFile(tmp_path).record(RoleName.COACH, "codex", CHAPTER)
    [line] = (tmp_path / LEDGER_NAME).read_text().splitlines()
    found = json.loads(line)
    assert abs(datetime.fromisoformat(found.pop("time")) - datetime.now(UTC)) < timedelta(minutes=1)
    assert found == {
        "backend": "codex",
        "role": "coach",
        "bytes": len(CHAPTER.encode()),
        "sha256": hashlib.sha256(CHAPTER.encode()).hexdigest(),
    }


def test_the_text_is_kept_if_that_is_wanted(tmp_path: Path) -> None:
    LedgerFile(tmp_path, keep_prompts=True).record(RoleName.COACH, "codex", CHAPTER)
    [line] = sent(tmp_path, 10)
    assert line.prompt == CHAPTER


def test_a_text_that_utf8_cannot_carry_is_kept_as_it_is_sent(tmp_path: Path) -> None:
    LedgerFile(tmp_path, keep_prompts=True).record(RoleName.COACH, "codex", "a\ud800b")
    [line] = sent(tmp_path, 10)
    assert (line.prompt, line.sha256) == ("a?b", hashlib.sha256(b"a?b").hexdigest())


def test_only_the_person_may_look_into_it(tmp_path: Path) -> None:
    ledger = LedgerFile(tmp_path)
    before = os.umask(0)
    try:
        ledger.record(RoleName.COACH, "codex", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / LEDGER_NAME).stat().st_mode) == 0o600


def test_the_last_lines_come_newest_last(tmp_path: Path) -> None:
    ledger = LedgerFile(tmp_path, keep_prompts=True)
    for number in range(20):
        ledger.record(RoleName.NUDGE, "claude", str(number))
    assert [line.prompt for line in sent(tmp_path, 3)] == ["17", "18", "19"]


def test_where_nothing_was_sent_there_is_nothing(tmp_path: Path) -> None:
    assert sent(tmp_path, 10) == sent(tmp_path / "absent", 10) == ()


def test_a_torn_line_is_left_out_and_takes_no_other_with_it(tmp_path: Path) -> None:
    ledger = LedgerFile(tmp_path)
    ledger.record(RoleName.NUDGE, "claude", "one")
    with (tmp_path / LEDGER_NAME).open("a") as file:
        file.write('{"time":"2026-')
    ledger.record(RoleName.NUDGE, "claude", "two")
    assert [line.bytes for line in sent(tmp_path, 10)] == [3, 3]


@pytest.mark.parametrize("junk", [b"[]", b"5", b"null", b'{"time":1}', b"\xff\xfe", b"[" * 9000])
def test_what_is_no_line_of_it_is_left_out(tmp_path: Path, junk: bytes) -> None:
    (tmp_path / LEDGER_NAME).write_bytes(junk + b"\n")
    LedgerFile(tmp_path).record(RoleName.NUDGE, "claude", "one")
    assert len(sent(tmp_path, 10)) == 1


def test_it_never_grows_beyond_two_files_of_a_mebibyte(tmp_path: Path) -> None:
    ledger = LedgerFile(tmp_path, keep_prompts=True)
    for number in range(60):
        ledger.record(RoleName.COACH, "claude", f"{number} " + "x" * 50_000)
        assert all(path.stat().st_size <= MAX_BYTES for path in tmp_path.iterdir())
    assert {path.name for path in tmp_path.iterdir()} == {LEDGER_NAME, OLDER_NAME}
    kept = [line.prompt.split()[0] for line in sent(tmp_path, 1000) if line.prompt is not None]
    assert kept == [str(number) for number in range(60 - len(kept), 60)], "the newest ones, without a gap"
    assert len(kept) > 20


# Nothing is sent without it


async def test_the_line_is_there_before_the_prompt_is_sent(tmp_path: Path) -> None:
    backend = Backend(look=lambda: sent(tmp_path, 10))
    assert await RoleCaller(backend, ledger=LedgerFile(tmp_path)).ask(JUDGE) == Verdict(on_task=True)
    [seen], [prompt] = backend.seen, backend.prompts
    assert seen == sent(tmp_path, 10)
    [line] = sent(tmp_path, 10)
    assert (line.backend, line.role, line.sha256) == (
        "claude",
        "drift_judge",
        hashlib.sha256(prompt.encode()).hexdigest(),
    )


@pytest.mark.parametrize("operation", ["open", "write", "write half", "datasync"])
async def test_what_cannot_be_recorded_is_not_sent_and_the_fault_says_so(tmp_path: Path, operation: str) -> None:
    disk, backend = BrokenDisk(operation), Backend()
    caller = RoleCaller(backend, ledger=LedgerFile(tmp_path, disk))
    fault = await caller.ask(JUDGE)
    assert isinstance(fault, Fault)
    assert fault.code is FaultCode.DISK_FULL
    assert fault.message.startswith("Nothing was sent to claude, because sent.jsonl")
    assert (backend.prompts, sent(tmp_path, 10)) == ([], ())
    disk.broken = ""
    assert await caller.ask(JUDGE) == Verdict(on_task=True), "it recovers by itself"
    assert len(sent(tmp_path, 10)) == len(backend.prompts) == 1


def test_a_ledger_that_cannot_be_put_aside_is_a_fault_too(tmp_path: Path) -> None:
    (tmp_path / LEDGER_NAME).write_bytes(b"\n" * MAX_BYTES)
    with pytest.raises(StoreError, match="not writable"):
        LedgerFile(tmp_path, BrokenDisk("rename", errno.EROFS)).record(RoleName.COACH, "claude", "x")
    assert (tmp_path / LEDGER_NAME).stat().st_size == MAX_BYTES


def test_a_ledger_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"sent\.jsonl cannot be read"):
        sent(tmp_path, 10, BrokenDisk("open", errno.EIO))
