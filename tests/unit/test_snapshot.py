"""The snapshot as bytes: what is written reads back as it was, and what is not ours is refused by name."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace

import pytest

from antidrift.domain.model import Phase
from antidrift.store import GENESIS, Head
from antidrift.store.snapshot import DamagedSnapshot, Snapshot, decode, encode
from standins.store_writer import a_saved

SNAPSHOT = Snapshot(a_saved(7), Head(7, "0123456789abcdef" * 4))
WRITTEN = encode(SNAPSHOT)


def enveloped(content: bytes) -> bytes:
    """`content` as the snapshot that it would be, with a checksum that is right."""
    return b'{"format":"antidrift-state","version":1,"crc":"%08x",%b\n' % (zlib.crc32(content), content)


CONTENT = WRITTEN[WRITTEN.index(b'"audit_seq"') : -1]


def flaw_of(data: bytes) -> str:
    with pytest.raises(DamagedSnapshot) as refused:
        decode(data)
    return str(refused.value)


@pytest.mark.parametrize(
    "snapshot",
    [
        SNAPSHOT,
        Snapshot(a_saved(1), GENESIS),
        Snapshot(replace(a_saved(1), recap='"}\n{"crc":"\u2028\0\U0001f600'), Head(10**18 - 1, "f" * 64)),
        Snapshot(
            replace(a_saved(1), phase=Phase.LOCKED, commitment=None, outcome=None, ended=None, buckets=()), GENESIS
        ),
    ],
)
def test_what_is_written_reads_back_as_it_was(snapshot: Snapshot) -> None:
    assert decode(encode(snapshot)) == snapshot


def test_it_is_one_line_of_json_that_says_what_it_is_and_where_the_chain_ended() -> None:
    assert (WRITTEN.count(b"\n"), WRITTEN[-1:]) == (1, b"\n")
    document = json.loads(WRITTEN)
    assert list(document) == ["format", "version", "crc", "audit_seq", "audit_head", "saved"]
    assert (document["format"], document["version"]) == ("antidrift-state", 1)
    assert (document["audit_seq"], document["audit_head"]) == (7, SNAPSHOT.audit.hash)
    assert document["saved"]["commitment"]["next_action"] == "Write the report"
    assert encode(SNAPSHOT).decode() == json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"


def test_the_checksum_is_the_crc_32_of_all_that_stands_behind_it() -> None:
    assert enveloped(CONTENT) == WRITTEN


def test_a_lone_surrogate_costs_one_character_and_not_the_state() -> None:
    written = encode(replace(SNAPSHOT, saved=replace(SNAPSHOT.saved, recap="a\ud800b")))
    assert decode(written).saved.recap == "a?b"


def test_text_of_any_language_stands_there_as_it_is() -> None:
    assert "Übung – 日本".encode() in encode(replace(SNAPSHOT, saved=replace(SNAPSHOT.saved, recap="Übung – 日本")))


@pytest.mark.parametrize(
    "data", [b"", b"{}", b" " + WRITTEN, WRITTEN.replace(b"antidrift-state", b"antidrift-lists"), b'{"version":1}']
)
def test_what_does_not_begin_like_a_snapshot_is_none(data: bytes) -> None:
    assert flaw_of(data) == "it is not a snapshot"


@pytest.mark.parametrize("version", [0, 2, 10])
def test_another_version_is_named_and_not_read(version: int) -> None:
    flaw = flaw_of(WRITTEN.replace(b'"version":1', b'"version":%d' % version))
    assert flaw == f"it was written by another version, with format {version}"


@pytest.mark.parametrize(
    "data",
    [
        WRITTEN[:-1],
        WRITTEN + b"\n",
        WRITTEN + WRITTEN,
        WRITTEN.replace(b"Steady.", b"Shaky.."),
        WRITTEN.replace(b'"crc":"', b'"crc":"0'),
        WRITTEN.replace(b'"crc":"', b'"checksum":"'),
    ],
)
def test_a_change_anywhere_shows_in_the_checksum(data: bytes) -> None:
    assert flaw_of(data) == "its checksum is wrong"


@pytest.mark.parametrize(
    "content",
    [
        CONTENT.replace(b'"audit_seq":7', b'"audit_seq":-7'),
        CONTENT.replace(b'"audit_seq":7', b'"audit_seq":"7"'),
        CONTENT.replace(b"0123456789abcdef", b"0123456789ABCDEF"),
        CONTENT.replace(b"0123456789abcdef", b"", 1),
        CONTENT.replace(b'"saved":{', b'"saved":[{').replace(b"}}", b"}]}"),
        b'"audit_seq":7,"audit_head":"%b","saved":{}}' % SNAPSHOT.audit.hash.encode(),
        CONTENT.replace(b'"switch_count":7', b'"switch_count":"7"'),
        CONTENT.replace(b'"phase":"review"', b'"phase":"asleep"'),
    ],
)
def test_content_of_another_shape_is_refused_however_right_its_checksum_is(content: bytes) -> None:
    assert content != CONTENT
    assert flaw_of(enveloped(content)) == "its content has the wrong shape"


@pytest.mark.parametrize("number", [b"-1.0", b"Infinity", b"NaN", b"1e300"])
def test_a_number_that_nobody_can_count_on_is_refused(number: bytes) -> None:
    content = CONTENT.replace(b'"away_secs":100.0', b'"away_secs":' + number)
    assert content != CONTENT
    assert flaw_of(enveloped(content)) == "a number in it is out of bounds"


@pytest.mark.parametrize("missing", ["outcome", "ended"])
def test_a_session_that_is_over_without_an_end_is_refused(missing: str) -> None:
    saved = replace(SNAPSHOT.saved, **{missing: None})
    assert flaw_of(encode(replace(SNAPSHOT, saved=saved))) == "its session is over, without an end"
