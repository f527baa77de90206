"""An audit chain that was cut off, edited, shortened or replaced: what is reported, and that no session is lost."""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import replace
from errno import EIO
from pathlib import Path

import pytest

from antidrift.domain.model import FaultCode
from antidrift.ports import StoreError
from antidrift.store import FileStore, Reason, verify
from standins.store_writer import a_saved, a_summary
from support.store_folder import QuickDisk, codes, filled, load, sessions


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "antidrift"


# An unfinished end


def test_an_append_cut_off_at_any_byte_is_set_aside_and_the_chain_goes_on(folder: Path) -> None:
    filled(folder, appended=3, saved=2)
    audit = folder / "audit.jsonl"
    whole = audit.read_bytes()
    start = whole.rindex(b"\n", 0, -1) + 1
    for size in range(start, len(whole)):
        audit.write_bytes(whole[:size])
        store = FileStore(folder, QuickDisk())
        loaded = store.load()
        assert loaded.recent == (a_summary(1), a_summary(2)), size
        if size == start:
            assert loaded.faults == ()
        else:
            assert codes(loaded) == [FaultCode.AUDIT_TORN], size
            [aside] = folder.glob("audit.jsonl.torn-*")
            assert aside.name in loaded.faults[0].message
            assert aside.read_bytes() == whole[start:size]
            aside.unlink()
        store.append(a_summary(3))
        store.close()
        assert audit.read_bytes() == whole, size
    assert load(folder).faults == ()


GARBAGE = {
    "zeros": b"\0" * 512,
    "more zeros than a block": b"\0" * 100_000,
    "a newline": b"\n",
    "newlines": b"\n\n\n",
    "a line": b"garbage\n",
    "lines": b"gar\nba\nge",
    "a beginning and a newline": b'{"prev":"0123\n',
    "a line longer than a block": b"\xff" * 70_000 + b"\n",
}


@pytest.mark.parametrize("before", [0, 1, 2, 12])
@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=GARBAGE.keys())
def test_garbage_at_the_end_is_set_aside_and_the_chain_goes_on(before: int, garbage: bytes, folder: Path) -> None:
    filled(folder, appended=before, saved=before)
    audit = folder / "audit.jsonl"
    with audit.open("ab") as file:
        file.write(garbage)
    loaded = load(folder)
    assert codes(loaded) == [FaultCode.AUDIT_TORN]
    [aside] = folder.glob("audit.jsonl.torn-*")
    assert aside.read_bytes() == garbage
    store = FileStore(folder)
    store.append(a_summary(before + 1))
    store.close()
    assert sessions(folder) == list(range(1, before + 2))
    assert verify(audit).ok


def test_an_end_torn_while_the_service_runs_is_set_aside_by_the_next_append_and_logged(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = FileStore(folder)
    store.load()
    store.append(a_summary(1))
    with (folder / "audit.jsonl").open("ab") as file:
        file.write(b'{"prev":"')
    with caplog.at_level(logging.INFO):
        store.append(a_summary(2))
    store.close()
    assert verify(folder / "audit.jsonl").lines == 2
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    [aside] = folder.glob("audit.jsonl.torn-*")
    assert caplog.records[0].getMessage() == (
        f"audit.jsonl had an unfinished end (a power cut?), which is now in {aside.name}."
    )
    head = verify(folder / "audit.jsonl").head
    assert caplog.records[1].getMessage() == f"audit seq=2 head={head.hash}"
    assert "Entwurf" not in caplog.text


# A broken chain: reported, left as it is, and no session is lost


def broken_then_continued(folder: Path, content: bytes) -> tuple[list[FaultCode], bytes]:
    """Puts `content` in the place of the audit; what a start says, and what is there after one more session (9)."""
    audit = folder / "audit.jsonl"
    audit.write_bytes(content)
    store = FileStore(folder)
    faults = codes(store.load())
    store.append(a_summary(9))
    store.save(a_saved(9))
    store.close()
    assert sessions(folder)[-1] == 9
    return faults, audit.read_bytes()


def test_lines_missing_at_the_end_leave_a_gap_that_verify_finds_for_good(folder: Path) -> None:
    filled(folder, appended=4, saved=4)
    lines = (folder / "audit.jsonl").read_bytes().splitlines(keepends=True)
    faults, after = broken_then_continued(folder, b"".join(lines[:2]))
    assert faults == [FaultCode.AUDIT_BROKEN]
    assert after.startswith(b"".join(lines[:2]))
    assert sessions(folder) == [1, 2, 9]
    verification = verify(folder / "audit.jsonl")
    assert (verification.bad_line, verification.reason) == (3, Reason.SEQUENCE_GAP)
    # It goes on from there, and the next start says so again.
    assert codes(load(folder)) == [FaultCode.AUDIT_BROKEN]
    assert json.loads(after.splitlines()[-1])["seq"] == 5
    assert json.loads(after.splitlines()[-1])["prev"] == json.loads(lines[3])["hash"]


def test_a_break_that_the_start_has_told_is_not_logged_again(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    filled(folder, appended=4, saved=4)
    lines = (folder / "audit.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "audit.jsonl").write_bytes(b"".join(lines[:2]))
    store = FileStore(folder)
    [fault] = store.load().faults
    assert fault.message == "audit.jsonl was shortened by something else: it ends with session 2 of 4."
    store.append(a_summary(9))
    store.close()
    assert caplog.records == []


def test_a_deleted_audit_leaves_a_gap_at_its_first_line(folder: Path) -> None:
    filled(folder, appended=4, saved=4)
    (folder / "audit.jsonl").unlink()
    loaded = load(folder)
    assert codes(loaded) == [FaultCode.AUDIT_BROKEN]
    assert loaded.saved == a_saved(4)
    faults, _ = broken_then_continued(folder, b"")
    assert faults == [FaultCode.AUDIT_BROKEN]
    verification = verify(folder / "audit.jsonl")
    assert (verification.bad_line, verification.reason) == (1, Reason.SEQUENCE_GAP)


def test_a_line_cut_short_that_the_snapshot_vouches_for_is_set_aside_and_leaves_a_gap(folder: Path) -> None:
    filled(folder, appended=3, saved=3)
    whole = (folder / "audit.jsonl").read_bytes()
    faults, _ = broken_then_continued(folder, whole[:-20])
    assert sorted(faults) == [FaultCode.AUDIT_BROKEN, FaultCode.AUDIT_TORN]
    verification = verify(folder / "audit.jsonl")
    assert (verification.bad_line, verification.reason) == (3, Reason.SEQUENCE_GAP)


@pytest.mark.parametrize("line", [0, 1, 2, 3])
def test_an_edited_line_is_left_as_it_is(line: int, folder: Path) -> None:
    filled(folder, appended=4, saved=4)
    lines = (folder / "audit.jsonl").read_bytes().splitlines(keepends=True)
    lines[line] = lines[line].replace(b"report", b"rapport")
    edited = b"".join(lines)
    faults, after = broken_then_continued(folder, edited)
    assert faults == [FaultCode.AUDIT_BROKEN]
    assert after.startswith(edited)
    verification = verify(folder / "audit.jsonl")
    assert (verification.bad_line, verification.reason) == (line + 1, Reason.HASH_MISMATCH)


def test_a_chain_without_its_beginning_is_reported(folder: Path) -> None:
    filled(folder, appended=4, saved=4)
    lines = (folder / "audit.jsonl").read_bytes().splitlines(keepends=True)
    faults, _ = broken_then_continued(folder, b"".join(lines[1:]))
    assert faults == [FaultCode.AUDIT_BROKEN]


def test_a_last_line_replaced_by_another_is_found_by_the_next_one(folder: Path, tmp_path: Path) -> None:
    filled(folder, appended=3, saved=3)
    filled(tmp_path / "other", appended=2, saved=2)
    store = FileStore(tmp_path / "other")
    store.append(replace(a_summary(3), away_secs=0))
    store.close()
    faults, _ = broken_then_continued(folder, (tmp_path / "other" / "audit.jsonl").read_bytes())
    assert faults == [FaultCode.AUDIT_BROKEN]
    verification = verify(folder / "audit.jsonl")
    assert (verification.bad_line, verification.reason) == (4, Reason.PREV_MISMATCH)


def test_a_chain_written_anew_and_longer_is_found_at_the_start(folder: Path, tmp_path: Path) -> None:
    filled(folder, appended=3, saved=3)
    store = FileStore(tmp_path / "other")
    for n in range(1, 6):
        store.append(replace(a_summary(n), away_secs=0))
    store.close()
    faults, _ = broken_then_continued(folder, (tmp_path / "other" / "audit.jsonl").read_bytes())
    assert faults == [FaultCode.AUDIT_BROKEN]


@pytest.mark.parametrize(("appended", "saved"), [(2, 0), (2, 2), (12, 0), (12, 12)])
def test_newlines_converted_by_an_editor_cost_nothing_but_the_peace(appended: int, saved: int, folder: Path) -> None:
    filled(folder, appended, saved)
    converted = (folder / "audit.jsonl").read_bytes().replace(b"\n", b"\r\n")
    faults, after = broken_then_continued(folder, converted)
    assert faults == [FaultCode.AUDIT_BROKEN]
    assert after.startswith(converted)
    assert verify(folder / "audit.jsonl").reason is Reason.NOT_A_RECORD


def test_an_older_copy_put_back_while_the_service_runs_leaves_a_gap(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = FileStore(folder)
    store.load()
    audit, copy = folder / "audit.jsonl", tmp_path / "copy"
    for n in range(1, 4):
        store.append(a_summary(n))
        if n == 1:
            copy.write_bytes(audit.read_bytes())
    copy.rename(audit)
    store.append(a_summary(4))
    break_found = "audit.jsonl was shortened by something else: it ends with session 1 of 3."
    assert [record.getMessage() for record in caplog.records] == [break_found]
    store.append(a_summary(5))
    store.close()
    assert sessions(folder) == [1, 4, 5]
    verification = verify(audit)
    assert (verification.bad_line, verification.reason) == (2, Reason.SEQUENCE_GAP)
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_a_session_goes_behind_a_line_that_a_later_version_wrote(folder: Path) -> None:
    filled(folder, appended=2, saved=2)
    audit = folder / "audit.jsonl"
    body = b'{"prev":"%b","seq":3,"story":"from the future"' % verify(audit).head.hash.encode()
    with audit.open("ab") as file:
        file.write(b'%b,"hash":"%b"}\n' % (body, hashlib.sha256(body).hexdigest().encode()))
    store = FileStore(folder)
    assert store.load().faults == ()
    store.append(a_summary(4))
    store.close()
    assert verify(audit).lines == 4
    assert sessions(folder) == [1, 2, 4]


class UnsyncedDisk(QuickDisk):
    """Cannot bring a file's content to the platter, as long as it is `failing`."""

    failing = False

    def datasync(self, fd: int) -> None:
        if self.failing:
            raise OSError(EIO, "Input/output error")


@pytest.mark.parametrize("saved", [1, 2])
def test_a_line_that_was_found_there_but_never_reached_the_disk_is_written_anew_in_its_place(
    saved: int, folder: Path
) -> None:
    filled(folder, appended=2, saved=saved)
    disk = UnsyncedDisk()
    store = FileStore(folder, disk)
    store.load()
    disk.failing = True
    with pytest.raises(StoreError):
        store.append(a_summary(2))
    disk.failing = False
    store.append(a_summary(2))
    store.append(a_summary(3))
    store.close()
    assert verify(folder / "audit.jsonl").lines == 3
    assert sessions(folder) == [1, 2, 3]
