"""What may stand in the files of the service: any bytes are what was written, or set aside, reported or left out."""

from __future__ import annotations

import hashlib
import io
import json
import math
import zlib
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example
from hypothesis import strategies as st

from antidrift import wire
from antidrift.bus.client import State
from antidrift.cli import sent as cli_sent
from antidrift.cli.output import Output
from antidrift.cli.terminal import Terminal
from antidrift.domain import saving
from antidrift.domain.model import Bucket, FaultCode, Instant, RoleName, SessionSummary
from antidrift.domain.session import AI, Policy, SavedSession
from antidrift.store import LEDGER_NAME, FileStore, LedgerFile, Sent, sent
from antidrift.store.audit import AUDIT_NAME, tail, verify
from antidrift.store.chain import GENESIS, BadLine, Head, follow, link, read_record
from antidrift.store.snapshot import SNAPSHOT_NAME, DamagedSnapshot, Snapshot, decode, encode
from support import example_states
from support.fuzzing import any_text, as_bytes, cpu_limit, damaged, fuzzed, nearly, outcome, texts
from support.store_folder import QuickDisk

HEAD = Head(3, "a" * 64)
SAVED = [saving.to_saved(tell().session, "0b5b5c5e-boot") for tell, _ in example_states.EXAMPLES.values()]
REVIEWED = saving.to_saved(example_states.review().session, "0b5b5c5e-boot")
SUMMARY = SessionSummary(
    "session-1", "Write it", "It is written", example_states.review().session.outcome, 1500, 1_700_000_000_000,
    1_700_001_500_000, 1200, 300, 4, (Bucket("code", "a.py", 1200.25), Bucket("firefox", "Docs", 0.5)),
)  # fmt: skip


def as_json(value: object) -> dict[str, object]:
    """A dataclass as the JSON that stands in a file."""
    document = json.loads(json.dumps(asdict(value)))  # type: ignore[call-overload]
    assert isinstance(document, dict)
    return document


def snapshot_of(saved: str, version: bytes = b"1") -> bytes:
    """A snapshot around this text, with the checksum that belongs to it."""
    content = b'"audit_seq":3,"audit_head":"%b","saved":%b}' % (b"a" * 64, saved.encode(errors="surrogatepass"))
    return b'{"format":"antidrift-state","version":%b,"crc":"%08x",%b\n' % (version, zlib.crc32(content), content)


def line_of(text: str, before: Head = GENESIS) -> bytes:
    """An audit line around the members in this text, with the hash that belongs to it and without its newline."""
    members = text.strip().removeprefix("{").removesuffix("}").encode(errors="surrogatepass")
    body = b'{"prev":"%b","seq":%d,%b' % (before.hash.encode(), before.seq + 1, members)
    return b'%b,"hash":"%b"}' % (body, hashlib.sha256(body).hexdigest().encode())


snapshots = st.one_of(
    as_bytes(st.sampled_from(SAVED).map(lambda saved: encode(Snapshot(saved, HEAD)).decode()).flatmap(damaged)),
    st.sampled_from(SAVED).map(as_json).flatmap(nearly).map(snapshot_of),
)
lines = nearly(as_json(SUMMARY)).map(line_of)
chains = st.lists(st.binary(max_size=80) | lines | as_bytes(nearly(as_json(SUMMARY))), max_size=5).map(b"\n".join)
sent_line = {"time": "2026-01-31T09:15:02.123Z", "backend": "claude", "role": "coach", "bytes": 812, "sha256": "0" * 64}
ledgers = st.lists(as_bytes(nearly(sent_line | {"prompt": "text"})), max_size=5).map(b"\n".join)


# The snapshot


@fuzzed("snapshot", data=snapshots)
@example(data=snapshot_of('{"saved":' + "[" * 1_000_000))
@example(data=snapshot_of("{" + '"a":{' * 100_000 + "}" * 100_001))
@example(data=snapshot_of(json.dumps(as_json(REVIEWED) | {"outcome": None})))
@example(data=snapshot_of(json.dumps(as_json(REVIEWED) | {"ended": None})))
@example(data=snapshot_of(json.dumps(as_json(REVIEWED) | {"switch_count": -1, "away_secs": float("nan")})))
@example(data=b'{"format":"antidrift-state","version":999999999,')
@example(data=b'{"format":"antidrift-state","version":1,"crc":"' * 20_000)
def test_any_bytes_are_a_snapshot_that_can_be_gone_on_from_or_damaged(data: bytes) -> None:
    snapshot = outcome(lambda: decode(data), DamagedSnapshot)
    if isinstance(snapshot, DamagedSnapshot):
        assert str(snapshot).isascii()
        assert len(str(snapshot)) < 100
        return
    now = Instant(5000.0, 1_700_000_900_000)
    for boot_id in (snapshot.saved.boot_id, "another"):
        session, _ = saving.restore(snapshot.saved, (), Policy(), AI(), now, boot_id)
        State.read(wire.state_json(wire.view_of(session, instance="i", seq=1, store_fault=None)))
        encode(Snapshot(saving.to_saved(session, boot_id), GENESIS))


texts_of_people = any_text.map(lambda text: text.encode(errors="replace").decode())


@fuzzed("snapshot", saved=st.sampled_from(SAVED), text=texts_of_people, secs=st.floats(0, 1e7), switches=st.integers(0))
def test_a_snapshot_reads_as_it_was_written(saved: SavedSession, text: str, secs: float, switches: int) -> None:
    saved = replace(
        saved, recap=text, carry_forward=text, buckets=(Bucket(text, text, secs),), switch_count=min(switches, 10**15)
    )
    assert decode(encode(Snapshot(saved, HEAD))) == Snapshot(saved, HEAD)


def test_a_snapshot_cut_short_anywhere_is_damaged() -> None:
    whole = encode(Snapshot(SAVED[3], HEAD))
    for length in range(len(whole)):
        with pytest.raises(DamagedSnapshot):
            decode(whole[:length])


@fuzzed("snapshot", examples=25, data=snapshots, audit=chains)
def test_whatever_lies_in_the_folder_is_loaded_or_set_aside_whole_and_the_next_write_counts(
    data: bytes, audit: bytes
) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / SNAPSHOT_NAME).write_bytes(data)
        (folder / AUDIT_NAME).write_bytes(audit)
        store = FileStore(folder, QuickDisk())
        loaded = store.load()
        if loaded.saved is None:
            assert FaultCode.SNAPSHOT_DAMAGED in [fault.code for fault in loaded.faults]
            (aside,) = folder.glob(f"{SNAPSHOT_NAME}.damaged-*")
            assert aside.read_bytes() == data
        kept = b"".join(file.read_bytes() for file in (folder / AUDIT_NAME, *folder.glob(f"{AUDIT_NAME}.torn-*")))
        assert kept == audit  # cut apart at most
        after = replace(SUMMARY, session_id="after that")
        store.append(after)
        store.save(SAVED[0])
        store.close()
        again = FileStore(folder, QuickDisk())
        assert again.load().saved == SAVED[0]
        assert again.recent(50)[-1] == after
        again.close()


# The audit


@fuzzed("audit", line=lines | as_bytes(nearly(as_json(SUMMARY))))
@example(line=b'{"prev":"' * 100_000)
@example(line=line_of("{" + '"a":[' * 100_000))
def test_any_line_is_a_record_or_a_bad_line(line: bytes) -> None:
    for found in (outcome(lambda: read_record(line), BadLine), outcome(lambda: follow(line, GENESIS), BadLine)):
        if isinstance(found, BadLine):
            assert str(found) == found.reason


@fuzzed("audit", data=chains)
@example(data=line_of(json.dumps(as_json(SUMMARY)).replace("1200.25", "Infinity")) + b"\n")
@example(data=line_of(json.dumps(as_json(SUMMARY)).replace("1200.25", "NaN")) + b"\n")
@example(data=line_of(json.dumps(as_json(SUMMARY)).replace("1200.25", "1e999")) + b"\n")
@example(data=line_of(json.dumps(as_json(SUMMARY)).replace(" 1500,", f" {'9' * 4000},")) + b"\n")
def test_of_any_chain_the_sessions_can_be_listed_and_what_is_wrong_is_named(data: bytes) -> None:
    with TemporaryDirectory() as name:
        path = Path(name) / AUDIT_NAME
        path.write_bytes(data)
        found = verify(path)
        assert 0 <= found.lines <= data.count(b"\n") + 1
        assert found.ok == (found.bad_line is None)
        summaries = tail(path, 50)
        assert len(json.loads(wire.summaries_json(summaries))) == len(summaries)
        for summary in summaries:
            assert all(math.isfinite(bucket.secs) for bucket in summary.buckets)


@fuzzed("audit", texts=st.lists(any_text, min_size=1, max_size=4))
def test_a_chain_of_any_texts_verifies_reads_as_it_was_written_and_shows_every_change(texts: list[str]) -> None:
    head, data = GENESIS, b""
    for text in texts:
        line, head = link(head, replace(SUMMARY, next_action=text, buckets=(Bucket(text, text, 1.0),)))
        data += line
    with TemporaryDirectory() as name:
        path = Path(name) / AUDIT_NAME
        path.write_bytes(data)
        assert verify(path, head).ok
        readable = [text.encode(errors="replace").decode() for text in texts]
        assert [summary.next_action for summary in tail(path, len(texts))] == readable
        middle = len(data) // 2
        path.write_bytes(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :])
        assert not verify(path, head).ok


# The list of what was sent


@fuzzed("ledger", data=ledgers, n=st.integers(1, 60))
@example(data=json.dumps(sent_line | {"bytes": math.inf}).encode(), n=1)
@example(data=json.dumps(sent_line | {"prompt": 5}).encode(), n=1)
@example(data=json.dumps(sent_line | {"prompt": ["a"]}).encode(), n=1)
@example(data=b"[" * 1_000_000, n=1)
@example(data=b'{"time":' * 100_000, n=1)
def test_any_ledger_gives_whole_lines_that_can_be_shown(data: bytes, n: int) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / LEDGER_NAME).write_bytes(data)
        found = sent(folder, n)
        assert len(found) <= n
        for line in found:
            assert [type(value) for value in (line.time, line.backend, line.role, line.bytes, line.sha256)] == [
                str, str, str, int, str,
            ]  # fmt: skip
            assert line.prompt is None or type(line.prompt) is str
        shown(found)


def shown(found: tuple[Sent, ...]) -> None:
    """As `antidrift ai sent` prints them: nothing in them controls the terminal."""
    out = Output(io.StringIO(), io.StringIO(), Terminal())
    for line in found:
        for row in cli_sent._rows(line, out):
            assert row.isprintable() or not any(char < " " or "\x7f" <= char < "\xa0" for char in row)


@fuzzed("ledger", prompts=st.lists(any_text | texts("a b"), min_size=1, max_size=4))
def test_a_ledger_reads_as_it_was_written(prompts: list[str]) -> None:
    with TemporaryDirectory() as name:
        ledger = LedgerFile(Path(name), QuickDisk(), keep_prompts=True)
        for prompt in prompts:
            ledger.record(RoleName.COACH, "claude", prompt)
        readable = [prompt.encode(errors="replace") for prompt in prompts]
        assert [(line.prompt, line.bytes) for line in sent(Path(name), 50)] == [
            (text.decode(), len(text)) for text in readable
        ]


@pytest.mark.parametrize("piece", [b"\n", b"{", b'{"prev":"', b"\n\n\x00", b'{"prev":"\n', b"\xff" * 70_000])
def test_no_chain_takes_long_to_read(piece: bytes) -> None:
    with TemporaryDirectory() as name, cpu_limit():
        path = Path(name) / AUDIT_NAME
        path.write_bytes(piece * (1_000_000 // len(piece)))
        verify(path)
        tail(path, 50)
