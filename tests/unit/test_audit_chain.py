"""The audit chain as bytes: what is written can be read and checked, and what is changed is found."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from io import BytesIO
from itertools import zip_longest
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from antidrift.domain.model import Bucket, Outcome, SessionSummary
from antidrift.ports import StoreError
from antidrift.store import GENESIS, Disk, Head, Reason, tail, verify
from antidrift.store.chain import link
from standins.store_writer import a_summary

NUMBERS = st.integers(min_value=0, max_value=2**53)
SUMMARIES = st.builds(
    SessionSummary,
    session_id=st.text(min_size=1),
    next_action=st.text(),
    success_condition=st.text(),
    outcome=st.sampled_from(Outcome),
    timebox_secs=NUMBERS,
    started_at_ms=NUMBERS,
    ended_at_ms=NUMBERS,
    active_secs=NUMBERS,
    away_secs=NUMBERS,
    switch_count=NUMBERS,
    buckets=st.lists(st.builds(Bucket, st.text(), st.text(), st.floats(min_value=0, max_value=1e9)), max_size=4).map(
        tuple
    ),
)


def chain(*summaries: SessionSummary) -> list[bytes]:
    lines, head = [], GENESIS
    for summary in summaries:
        line, head = link(head, summary)
        lines.append(line)
    return lines


FOUR = chain(*(a_summary(n) for n in range(1, 5)))
WHOLE = b"".join(FOUR)


@pytest.fixture
def audit(tmp_path: Path) -> Path:
    return tmp_path / "audit.jsonl"


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("chain") / "audit.jsonl"


class CountingDisk(Disk):
    """Counts the bytes that are read."""

    def __init__(self) -> None:
        self.bytes_read = 0

    def read(self, fd: int, count: int, offset: int) -> bytes:
        data = super().read(fd, count, offset)
        self.bytes_read += len(data)
        return data


def test_a_missing_or_empty_file_is_an_empty_chain_that_verifies(audit: Path) -> None:
    assert verify(audit).ok
    assert verify(audit).head == GENESIS
    assert tail(audit, 5) == ()
    audit.touch()
    assert verify(audit).ok
    assert tail(audit, 5) == ()


@given(summaries=st.lists(SUMMARIES, max_size=5))
@settings(deadline=None)
def test_what_is_linked_verifies_and_reads_back_as_it_was(summaries: list[SessionSummary], scratch: Path) -> None:
    scratch.write_bytes(b"".join(chain(*summaries)))
    verification = verify(scratch)
    assert verification.ok
    assert verification.lines == len(summaries)
    assert tail(scratch, 50) == tuple(summaries)


def test_each_line_is_a_json_object_with_the_summary_flat_between_prev_and_hash() -> None:
    first, second = (json.loads(line) for line in FOUR[:2])
    assert list(first) == [
        "prev", "seq", "session_id", "next_action", "success_condition", "outcome", "timebox_secs", "started_at_ms",
        "ended_at_ms", "active_secs", "away_secs", "switch_count", "buckets", "hash",
    ]  # fmt: skip
    assert first["prev"] == "0" * 64
    assert (first["seq"], second["seq"]) == (1, 2)
    assert second["prev"] == first["hash"]
    assert first["outcome"] == "completed"
    assert first["buckets"][0] == {
        "wm_class": "org.gnome.TextEditor", "title": "Bericht – “Entwurf” · Editor", "secs": 1300.25,
    }  # fmt: skip
    assert "“Entwurf”".encode() in FOUR[0]


def test_the_hash_can_be_checked_with_nothing_but_a_regular_expression_and_sha256() -> None:
    hashes = ["0" * 64]
    for line in FOUR:
        parts = re.fullmatch(rb'(.*),"hash":"([0-9a-f]{64})"\}\n', line)
        assert parts is not None
        body, stated = parts.groups()
        assert hashlib.sha256(body).hexdigest() == stated.decode()
        assert body[9:73].decode() == hashes[-1]
        hashes.append(stated.decode())


def test_a_title_that_imitates_the_seal_of_a_line_changes_nothing(audit: Path) -> None:
    title = '","hash":"' + "0" * 64 + '"}\n{"prev":"' + "0" * 64 + '","seq":1,'
    audit.write_bytes(b"".join(chain(a_summary(1, title), a_summary(2, title))))
    assert verify(audit).ok
    assert tail(audit, 5) == (a_summary(1, title), a_summary(2, title))


def test_a_lone_surrogate_costs_one_character_and_not_the_session(audit: Path) -> None:
    audit.write_bytes(b"".join(chain(a_summary(1, "a\ud800b"))))
    assert verify(audit).ok
    assert tail(audit, 1) == (a_summary(1, "a?b"),)


def first_difference(data: bytes) -> int:
    """The number of the first line in which `data` is not the chain that was written."""
    pairs = zip_longest(BytesIO(WHOLE).readlines(), BytesIO(data).readlines())
    return next(number for number, (old, new) in enumerate(pairs, 1) if old != new)


def assert_found(data: bytes, path: Path) -> None:
    path.write_bytes(data)
    verification = verify(path)
    assert not verification.ok
    assert verification.bad_line == first_difference(data)
    assert verification.lines == first_difference(data) - 1


@given(position=st.integers(0, len(WHOLE) - 1), mask=st.integers(1, 255))
@settings(deadline=None, max_examples=300)
def test_a_changed_byte_is_found_in_its_line(position: int, mask: int, scratch: Path) -> None:
    changed = bytearray(WHOLE)
    changed[position] ^= mask
    assert_found(bytes(changed), scratch)


@given(position=st.integers(0, len(WHOLE)), inserted=st.binary(min_size=1, max_size=3) | st.just(b"\n"))
@example(position=len(FOUR[0]) - 1, inserted=b"\n")
@example(position=len(WHOLE), inserted=b"\n")
@settings(deadline=None, max_examples=300)
def test_an_inserted_byte_is_found_in_its_line(position: int, inserted: bytes, scratch: Path) -> None:
    assert_found(WHOLE[:position] + inserted + WHOLE[position:], scratch)


@given(position=st.integers(0, len(WHOLE) - 1), count=st.integers(1, 3))
@example(position=len(FOUR[0]) - 1, count=1)
@example(position=len(WHOLE) - 1, count=1)
@settings(deadline=None, max_examples=300)
def test_a_deleted_byte_is_found_in_its_line(position: int, count: int, scratch: Path) -> None:
    assert_found(WHOLE[:position] + WHOLE[position + count :], scratch)


@pytest.mark.parametrize(
    ("lines", "bad_line", "reason"),
    [
        ([FOUR[1]], 1, Reason.SEQUENCE_GAP),
        ([FOUR[0], FOUR[2], FOUR[3]], 2, Reason.SEQUENCE_GAP),
        ([FOUR[0], FOUR[0]], 2, Reason.SEQUENCE_GAP),
        ([FOUR[0], FOUR[2], FOUR[1], FOUR[3]], 2, Reason.SEQUENCE_GAP),
        ([FOUR[0], FOUR[1].replace(b"report", b"rapport")], 2, Reason.HASH_MISMATCH),
        ([chain(a_summary(9))[0], FOUR[1]], 2, Reason.PREV_MISMATCH),
        ([FOUR[0], b"\n", FOUR[1]], 2, Reason.NOT_A_RECORD),
        ([FOUR[0], b"{}\n"], 2, Reason.NOT_A_RECORD),
        ([FOUR[0], FOUR[1][:-2] + b"\r\n"], 2, Reason.NOT_A_RECORD),
        ([FOUR[0], FOUR[1], FOUR[2][:-1]], 3, Reason.TORN_LAST_LINE),
        ([FOUR[0], b"\0" * 512], 2, Reason.TORN_LAST_LINE),
    ],
)
def test_the_first_bad_line_is_named_with_the_reason(
    lines: list[bytes], bad_line: int, reason: Reason, audit: Path
) -> None:
    audit.write_bytes(b"".join(lines))
    verification = verify(audit)
    assert not verification.ok
    assert (verification.bad_line, verification.reason) == (bad_line, reason)
    assert verification.lines == verification.head.seq == bad_line - 1


def test_lines_missing_at_the_end_are_found_when_the_end_is_known(audit: Path) -> None:
    audit.write_bytes(WHOLE)
    head = verify(audit).head
    assert verify(audit, head).ok
    audit.write_bytes(WHOLE + link(head, a_summary(5))[0])
    assert verify(audit, head).ok
    audit.write_bytes(b"".join(FOUR[:2]))
    assert verify(audit).ok
    assert (verify(audit, head).bad_line, verify(audit, head).reason) == (3, Reason.TRUNCATED)
    audit.unlink()
    assert (verify(audit, head).bad_line, verify(audit, head).reason) == (1, Reason.TRUNCATED)


def test_a_chain_written_anew_from_the_start_is_found_when_the_end_is_known(audit: Path) -> None:
    audit.write_bytes(b"".join(chain(*(replace(a_summary(n), away_secs=0) for n in range(1, 6)))))
    assert verify(audit).ok
    verification = verify(audit, Head(4, json.loads(FOUR[3])["hash"]))
    assert (verification.lines, verification.bad_line, verification.reason) == (3, 4, Reason.REWRITTEN)


def test_a_file_without_newlines_is_refused_before_it_fills_the_memory(audit: Path) -> None:
    with audit.open("wb") as file:
        file.truncate(64 * 1024 * 1024)
    disk = CountingDisk()
    assert verify(audit, disk=disk).reason is Reason.NOT_A_RECORD
    assert disk.bytes_read <= 20 * 1024 * 1024


def test_what_is_not_a_file_is_a_named_error(audit: Path) -> None:
    audit.mkdir()
    with pytest.raises(StoreError, match=r"audit\.jsonl cannot be read"):
        verify(audit)
    with pytest.raises(StoreError, match=r"audit\.jsonl cannot be read"):
        tail(audit, 1)


@pytest.mark.parametrize("n", [-1, 0, 1, 3, 4, 5, 1000])
def test_the_tail_is_the_last_n_oldest_first(n: int, audit: Path) -> None:
    audit.write_bytes(WHOLE)
    expected = [a_summary(i) for i in range(1, 5)]
    assert tail(audit, n) == tuple(expected[-n:] if n > 0 else [])


@pytest.mark.parametrize("length", [1, 60_000, 65_000, 65_536, 200_000])
def test_the_tail_reads_lines_of_any_length_over_block_borders(length: int, audit: Path) -> None:
    summaries = tuple(a_summary(n, "x" * (length + n)) for n in range(1, 7))
    audit.write_bytes(b"".join(chain(*summaries)))
    assert tail(audit, 6) == summaries
    assert tail(audit, 2) == summaries[-2:]


@pytest.mark.parametrize("size", [65_534, 65_535, 65_536, 65_537])
def test_the_tail_reads_on_where_a_line_ends_at_a_block_border(size: int, audit: Path) -> None:
    last = a_summary(4, "x" * (size - len(FOUR[3]) + len(a_summary(4).buckets[0].title.encode())))
    lines = chain(a_summary(1), a_summary(2), a_summary(3), last)
    assert len(lines[3]) == size
    audit.write_bytes(b"".join(lines))
    assert tail(audit, 4) == (a_summary(1), a_summary(2), a_summary(3), last)


def test_a_chain_of_many_blocks_verifies(audit: Path) -> None:
    audit.write_bytes(b"".join(chain(*(a_summary(n, "x" * 300_000) for n in range(1, 11)))))
    assert verify(audit).lines == 10


def test_where_the_folder_should_be_a_file_there_is_no_chain(audit: Path) -> None:
    audit.touch()
    assert verify(audit / "audit.jsonl").head == GENESIS
    assert tail(audit / "audit.jsonl", 5) == ()


@pytest.mark.parametrize(
    ("written", "changed"),
    [
        (b'"timebox_secs":1500', b'"timebox_secs":"1500"'),
        (b'"away_secs":100', b'"away_secs":-100'),
        (b'"secs":1300.25', b'"secs":NaN'),
    ],
)
def test_the_tail_leaves_out_a_number_that_nobody_can_count_on(written: bytes, changed: bytes, audit: Path) -> None:
    body = FOUR[0].partition(b',"hash":')[0].replace(written, changed)
    assert changed in body
    audit.write_bytes(b'%b,"hash":"%b"}\n' % (body, hashlib.sha256(body).hexdigest().encode()))
    assert verify(audit).ok
    assert tail(audit, 1) == ()


def test_the_tail_leaves_out_what_does_not_check(audit: Path) -> None:
    damaged = FOUR[2].replace(b"report", b"rapport")
    audit.write_bytes(FOUR[0] + FOUR[1] + damaged + FOUR[3] + b'{"prev":"')
    assert tail(audit, 4) == (a_summary(2), a_summary(4))


def test_the_tail_leaves_out_a_line_of_a_form_that_it_does_not_know(audit: Path) -> None:
    body = b'{"prev":"%b","seq":5,"story":"from the future"' % json.loads(FOUR[3])["hash"].encode()
    later = b'%b,"hash":"%b"}\n' % (body, hashlib.sha256(body).hexdigest().encode())
    audit.write_bytes(WHOLE + later)
    assert verify(audit).ok
    assert tail(audit, 2) == (a_summary(4),)


def test_the_tail_reads_one_block_whatever_the_size_of_the_file(audit: Path) -> None:
    audit.write_bytes(b"".join(chain(*(a_summary(n) for n in range(1, 5001)))))
    disk = CountingDisk()
    assert tail(audit, 5, disk) == tuple(a_summary(n) for n in range(4996, 5001))
    assert disk.bytes_read == 64 * 1024
