"""What one line of the audit chain is, on bytes alone.

    {"prev":"<64 hex>","seq":<n>, ... the summary ... ,"hash":"<64 hex>"}\\n

`hash` is the SHA-256 of the bytes before `,"hash":"`, and `prev` the hash of the line before (64 zeros for the
first), so each line seals all that went before. Both stand at fixed offsets from the ends of the line: checking needs
no JSON parser and no canonical form, and any language can do it with a regular expression. Within a JSON string every
quote is escaped, so no title can imitate either end.

The chain makes tampering evident, by accident, editor, sync tool or partial restore. It cannot stop a program of the
same user from writing a whole new chain.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from enum import StrEnum

from antidrift.domain.model import SessionSummary

START = b'{"prev":"'
_SEAL = len(b',"hash":""}') + 64
_RECORD = re.compile(rb'\{"prev":"([0-9a-f]{64})","seq":([1-9][0-9]{0,17}),.*,"hash":"([0-9a-f]{64})"\}', re.DOTALL)


class Reason(StrEnum):
    """What is wrong with a line, or with the chain as a whole."""

    NOT_A_RECORD = "not_a_record"  # it does not have the form of a line
    HASH_MISMATCH = "hash_mismatch"  # its bytes were changed
    SEQUENCE_GAP = "sequence_gap"  # lines before it are missing, or out of order
    PREV_MISMATCH = "prev_mismatch"  # the line before it is another one
    TORN_LAST_LINE = "torn_last_line"  # the last line does not end
    TRUNCATED = "truncated"  # lines that the snapshot vouches for are missing at the end
    REWRITTEN = "rewritten"  # the line that the snapshot vouches for is another one


class BadLine(ValueError):
    """A line is not the next one of the chain."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Head:
    """The last line of a chain: its number, from 1, and its hash, in hexadecimal."""

    seq: int
    hash: str


GENESIS = Head(0, "0" * 64)


@dataclass(frozen=True, slots=True)
class Record:
    """A line that its own hash confirms; whether it belongs where it stands is another question."""

    head: Head
    before: Head


def link(before: Head, summary: SessionSummary) -> tuple[bytes, Head]:
    """The line that adds `summary` after `before`, with its newline, and the head that it makes."""
    seq = before.seq + 1
    text = json.dumps({"prev": before.hash, "seq": seq, **asdict(summary)}, ensure_ascii=False, separators=(",", ":"))
    # A lone surrogate has no UTF-8; a question mark in a title is better than a session that cannot end.
    body = text.encode(errors="replace")[:-1]
    digest = hashlib.sha256(body).hexdigest()
    return b'%b,"hash":"%b"}\n' % (body, digest.encode()), Head(seq, digest)


def follow(line: bytes, before: Head) -> Head:
    """The head after `line`, given without its newline. Raises BadLine if it is not the line after `before`."""
    seq = before.seq + 1
    digest = hashlib.sha256(line[:-_SEAL]).hexdigest()
    # There is exactly one way to be right; only a line that is wrong gets a closer look.
    if line.startswith(b'{"prev":"%b","seq":%d,' % (before.hash.encode(), seq)) and line.endswith(
        b',"hash":"%b"}' % digest.encode()
    ):
        return Head(seq, digest)
    record = read_record(line)
    raise BadLine(Reason.SEQUENCE_GAP if record.head.seq != seq else Reason.PREV_MISMATCH)


def read_record(line: bytes) -> Record:
    """What a line says of itself, given without its newline. Raises BadLine if its own hash denies it."""
    match = _RECORD.fullmatch(line)
    if match is None:
        raise BadLine(Reason.NOT_A_RECORD)
    prev, seq, stated = match.groups()
    if hashlib.sha256(line[:-_SEAL]).hexdigest() != stated.decode():
        raise BadLine(Reason.HASH_MISMATCH)
    return Record(Head(int(seq), stated.decode()), Head(int(seq) - 1, prev.decode()))
