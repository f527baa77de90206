"""The store on a real file system: what it keeps, for whom, and what it does about a damaged snapshot."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antidrift.domain.model import FaultCode, Phase
from antidrift.ports import Loaded, Store, StoreError
from antidrift.store import GENESIS, FileStore, StoreLocked, remembered, tail, verify
from standins.store_writer import a_saved, a_summary
from support.store_folder import codes, filled, load, sessions


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "antidrift"


# What is kept


def test_a_missing_folder_is_made_and_is_empty(folder: Path) -> None:
    assert load(folder) == Loaded(saved=None, recent=(), faults=())
    assert folder.is_dir()


def test_what_was_saved_and_appended_is_there_after_a_restart(folder: Path) -> None:
    store = FileStore(folder)
    store.load()
    for n in range(1, 8):
        store.append(a_summary(n))
        store.save(a_saved(n))
    store.close()
    assert load(folder) == Loaded(saved=a_saved(7), recent=tuple(a_summary(n) for n in range(3, 8)))


def test_a_state_without_a_session_is_kept_too(folder: Path) -> None:
    bare = replace(a_saved(1), phase=Phase.LOCKED, commitment=None, outcome=None, ended=None, buckets=(), recap="")
    store: Store = FileStore(folder)
    store.load()
    store.save(bare)
    store.close()
    assert load(folder).saved == bare


def test_text_of_any_kind_survives_and_a_lone_surrogate_costs_one_character(folder: Path) -> None:
    store = FileStore(folder)
    store.load()
    store.save(replace(a_saved(1), recap='"\\\n\0\u2028\U0001f600', carry_forward="a\ud800b"))
    store.close()
    saved = load(folder).saved
    assert saved is not None
    assert (saved.recap, saved.carry_forward) == ('"\\\n\0\u2028\U0001f600', "a?b")


def test_recent_gives_the_last_n_oldest_first(folder: Path) -> None:
    filled(folder, appended=4, saved=4)
    store = FileStore(folder)
    assert store.recent(2) == (a_summary(3), a_summary(4))
    assert store.recent(50) == tuple(a_summary(n) for n in range(1, 5))
    assert store.recent(0) == ()


def test_a_summary_is_appended_once_however_often_it_is_tried(folder: Path) -> None:
    filled(folder, appended=2, saved=1)
    store = FileStore(folder)
    store.load()
    store.append(a_summary(2))
    store.append(a_summary(3))
    store.append(a_summary(3))
    store.close()
    assert sessions(folder) == [1, 2, 3]
    assert verify(folder / "audit.jsonl").ok


def test_the_snapshot_says_where_the_chain_ended(folder: Path) -> None:
    assert remembered(folder) is None
    filled(folder, appended=3, saved=3)
    assert remembered(folder) == verify(folder / "audit.jsonl").head
    (folder / "state.json").write_bytes(b"0")
    assert remembered(folder) is None


def test_a_store_that_nobody_loaded_knows_where_the_chain_ends_all_the_same(folder: Path) -> None:
    filled(folder, appended=3, saved=3)
    store = FileStore(folder)
    store.save(a_saved(3))
    store.close()
    assert remembered(folder) == verify(folder / "audit.jsonl").head


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_nobody_else_may_look_whatever_the_umask(umask: int, folder: Path) -> None:
    before = os.umask(umask)
    try:
        filled(folder, appended=1, saved=1)
        with (folder / "audit.jsonl").open("ab") as file:
            file.write(b"torn")
        load(folder)
    finally:
        os.umask(before)
    assert folder.parent.stat().st_mode & 0o777 == 0o700
    assert folder.stat().st_mode & 0o777 == 0o700
    modes = {path.name.partition("-")[0]: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert modes == dict.fromkeys(["lock", "state.json", "audit.jsonl", "audit.jsonl.torn"], 0o600)


def test_an_audit_that_others_could_read_is_closed_to_them_at_the_next_append(folder: Path) -> None:
    filled(folder, appended=1, saved=1)
    (folder / "audit.jsonl").chmod(0o644)
    filled(folder, appended=2, saved=2)
    assert (folder / "audit.jsonl").stat().st_mode & 0o777 == 0o600


# One writer


def test_a_second_writer_is_told_who_holds_the_folder(folder: Path) -> None:
    first, second = FileStore(folder), FileStore(folder)
    first.load()
    with pytest.raises(StoreLocked, match=f"in use by process {os.getpid()}") as refusal:
        second.load()
    assert refusal.value.holder == os.getpid()
    with pytest.raises(StoreLocked):
        second.save(a_saved(1))
    with pytest.raises(StoreLocked):
        second.append(a_summary(1))
    first.close()
    second.load()
    second.close()


def test_a_holder_that_could_not_write_its_pid_is_still_a_holder(folder: Path) -> None:
    first, second = FileStore(folder), FileStore(folder)
    first.load()
    (folder / "lock").write_bytes(b"")
    with pytest.raises(StoreLocked, match="in use by another process") as refusal:
        second.load()
    assert refusal.value.holder is None
    first.close()


def test_a_child_program_does_not_keep_the_lock(folder: Path) -> None:
    store = FileStore(folder)
    store.load()
    program = [sys.executable, "-c", "print(flush=True); input()"]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, close_fds=False) as child:
        assert child.stdout is not None
        child.stdout.readline()  # Popen may return a moment before the new program has closed what it must not keep
        store.close()
        assert load(folder).faults == ()
        child.communicate(b"\n")


def test_the_chain_is_read_and_verified_while_a_service_holds_the_lock(folder: Path) -> None:
    filled(folder, appended=3, saved=3)
    store = FileStore(folder)
    store.load()
    assert verify(folder / "audit.jsonl", remembered(folder)).lines == 3
    assert tail(folder / "audit.jsonl", 1) == (a_summary(3),)
    store.close()


# A damaged snapshot


def enveloped(content: bytes) -> bytes:
    return b'{"format":"antidrift-state","version":1,"crc":"%08x",%b\n' % (zlib.crc32(content), content)


HEAD = b'"audit_seq":0,"audit_head":"%b",' % GENESIS.hash.encode()
DAMAGED = {
    "empty": b"",
    "zero": b"0",
    "null": b"null",
    "an empty object": b"{}",
    "zeros": b"\0" * 4096,
    "not UTF-8": b"\xff\xfe{",
    "not ours": b'{"format":"other","version":1}\n',
    "another version": b'{"format":"antidrift-state","version":2,"story":[]}\n',
    "a wrong checksum": b'{"format":"antidrift-state","version":1,"crc":"00000000",' + HEAD + b'"saved":{}}\n',
    "no chain": enveloped(b'"saved":{}}'),
    "an empty state": enveloped(HEAD + b'"saved":{}}'),
    "a state that is a list": enveloped(HEAD + b'"saved":[]}'),
    "a state that is not JSON": enveloped(HEAD + b'"saved":{"phase":}}'),
    "a state that is not UTF-8": enveloped(HEAD + b'"saved":{"phase":"\xff"}}'),
    "nesting": enveloped(HEAD + b'"saved":{"phase":' + b"[" * 100_000 + b"}}"),
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED.keys())
def test_a_damaged_snapshot_is_set_aside_and_the_service_starts(content: bytes, folder: Path) -> None:
    filled(folder, appended=2, saved=2)
    (folder / "state.json").write_bytes(content)
    store = FileStore(folder)
    loaded = store.load()
    assert loaded.saved is None
    assert loaded.recent == (a_summary(1), a_summary(2))
    assert codes(loaded) == [FaultCode.SNAPSHOT_DAMAGED]
    [aside] = folder.glob("state.json.damaged-*")
    assert aside.name in loaded.faults[0].message
    assert aside.read_bytes() == content
    store.save(a_saved(3))
    store.close()
    assert load(folder) == Loaded(a_saved(3), (a_summary(1), a_summary(2)))


def test_a_folder_in_the_snapshots_place_is_set_aside(folder: Path) -> None:
    (folder / "state.json").mkdir(parents=True)
    assert codes(load(folder)) == [FaultCode.SNAPSHOT_DAMAGED]
    assert load(folder).faults == ()


def test_a_pipe_in_the_snapshots_place_is_set_aside_and_nobody_waits_for_its_writer(folder: Path) -> None:
    folder.mkdir(parents=True)
    os.mkfifo(folder / "state.json")
    assert codes(load(folder)) == [FaultCode.SNAPSHOT_DAMAGED]
    assert load(folder).faults == ()


def test_a_pipe_in_the_audits_place_refuses_a_session_and_never_swallows_it(folder: Path) -> None:
    folder.mkdir(parents=True)
    os.mkfifo(folder / "audit.jsonl")
    store = FileStore(folder)
    assert codes(store.load()) == []
    with pytest.raises(StoreError):
        store.append(a_summary(1))
    (folder / "audit.jsonl").unlink()
    store.append(a_summary(1))
    store.close()
    assert sessions(folder) == [1]


def test_a_huge_snapshot_is_set_aside_without_being_read(folder: Path) -> None:
    folder.mkdir(parents=True)
    with (folder / "state.json").open("wb") as file:
        file.truncate(1 << 36)
    [fault] = load(folder).faults
    assert fault.code is FaultCode.SNAPSHOT_DAMAGED
    assert "state.json was not usable (it is far too large); it is now state.json.damaged-" in fault.message
    assert load(folder).faults == ()


def test_a_snapshot_with_any_byte_changed_is_not_believed(folder: Path) -> None:
    filled(folder, appended=1, saved=1)
    content = (folder / "state.json").read_bytes()
    for position in range(len(content)):
        changed = bytearray(content)
        changed[position] ^= 1
        (folder / "state.json").write_bytes(changed)
        loaded = load(folder)
        assert (loaded.saved, codes(loaded)) == (None, [FaultCode.SNAPSHOT_DAMAGED]), position


@given(content=st.binary(max_size=200))
@settings(deadline=None, max_examples=50)
def test_no_bytes_whatever_keep_the_service_from_starting(
    content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "state.json").write_bytes(content)
    (folder / "audit.jsonl").write_bytes(content)
    store = FileStore(folder)
    loaded = store.load()
    assert loaded.saved is None
    assert loaded.recent == ()
    store.append(a_summary(1))
    store.save(a_saved(1))
    store.close()
    assert load(folder).saved == a_saved(1)
    assert sessions(folder) == [1]


def test_the_newest_five_damaged_snapshots_are_kept(folder: Path) -> None:
    folder.mkdir(parents=True)
    for n in range(8):
        (folder / "state.json").write_bytes(b"%d" % n)
        load(folder)
    kept = sorted(folder.glob("state.json.damaged-*"))
    assert [path.read_bytes() for path in kept] == [b"3", b"4", b"5", b"6", b"7"]


def test_a_fault_says_nothing_of_what_the_file_holds(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "state.json").write_bytes(enveloped(HEAD + b'"saved":{"recap":"something private"}}'))
    assert "private" not in load(folder).faults[0].message
