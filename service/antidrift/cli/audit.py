"""`antidrift audit`: the chain of ended sessions, read from its file."""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from antidrift.cli.output import Output
from antidrift.cli.terminal import Ink
from antidrift.cli.text import clean, duration, ellipsised, wrapped
from antidrift.config import Paths
from antidrift.domain.model import SessionSummary
from antidrift.ports import StoreError
from antidrift.store import AUDIT_NAME, GENESIS, SNAPSHOT_NAME, Head, Reason, Verification, remembered, tail, verify

REASONS = {
    Reason.NOT_A_RECORD: "it is not a record of a session",
    Reason.HASH_MISMATCH: "its content was changed",
    Reason.SEQUENCE_GAP: "lines before it are missing, or out of order",
    Reason.PREV_MISMATCH: "the line before it is not the one that was there",
    Reason.TORN_LAST_LINE: "it is the last one and unfinished; the service sets it aside when it starts",
    Reason.TRUNCATED: "it was there, and is missing with all that followed",
    Reason.REWRITTEN: "it is not the line that the service wrote",
}


def run(arguments: argparse.Namespace, out: Output) -> int:
    """Carries out `verify` or `tail`. 1: the chain is broken or cannot be read."""
    folder = Paths.from_environment(os.environ).state_dir
    try:
        if arguments.action == "verify":
            return _verify(folder, arguments.json, out)
        return _tail(folder, arguments.count, arguments.json, out)
    except StoreError as error:
        out.complain(f"{error} ({folder})")
        return 1


def examined(folder: Path) -> tuple[Verification, Head | None]:
    """The whole chain, held against what the snapshot remembers of it (None: nothing). Raises StoreError."""
    known = remembered(folder)
    return verify(folder / AUDIT_NAME, known), known


def broken_sentence(found: Verification) -> str:
    """The first bad line of a chain, and what is wrong with it."""
    assert found.reason is not None
    before = f"; the {found.lines} before it are good" if found.lines > 1 else ""
    return f"Line {found.bad_line} of {AUDIT_NAME} is bad: {REASONS[found.reason]} ({found.reason}){before}."


def _verify(folder: Path, as_json: bool, out: Output) -> int:
    found, known = examined(folder)
    if as_json:
        out.data(
            json.dumps(
                {
                    "path": str(folder / AUDIT_NAME),
                    "ok": found.ok,
                    "lines": found.lines,
                    "head": asdict(found.head),
                    "remembered": None if known is None else asdict(known),
                    "bad_line": found.bad_line,
                    "reason": found.reason,
                }
            )
        )
        return 0 if found.ok else 1
    if not found.ok:
        out.complain(f"{broken_sentence(found)} The file is {folder / AUDIT_NAME}.")
        return 1
    if found.head == GENESIS:
        out.say(f"No session has ended yet: there is no line in {folder / AUDIT_NAME}.")
        return 0
    out.say(f"{_lines(found.lines)} in {folder / AUDIT_NAME}, every one as it was written and in its place.")
    out.say(f"The last is number {found.head.seq}, with the hash {found.head.hash}.")
    if known is None:
        out.say(f"{SNAPSHOT_NAME} does not say how far the chain went, so lines cut off its end would not show.")
    return 0


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"


def _tail(folder: Path, count: int, as_json: bool, out: Output) -> int:
    summaries = tail(folder / AUDIT_NAME, count)
    if as_json:
        from antidrift.wire import summaries_json

        out.data(summaries_json(summaries))
        return 0
    if not summaries:
        out.say(f"No session has ended yet: there is no line in {folder / AUDIT_NAME}.")
    for summary in summaries:
        out.lines(_rows(summary, out))
    return 0


def _rows(summary: SessionSummary, out: Output) -> list[str]:
    terminal = out.terminal
    started = datetime.fromtimestamp(summary.started_at_ms / 1000).astimezone()
    lasted = duration((summary.ended_at_ms - summary.started_at_ms) / 1000)
    start = f"{started:%Y-%m-%d %H:%M}  {lasted:>10}  {summary.outcome:<11}  "
    what = clean(summary.next_action)
    if terminal.width < len(start) + 24:
        return [terminal.ink(start.rstrip(), Ink.FAINT), *wrapped(f"  {what}", terminal.width, "  ")]
    return [terminal.ink(start, Ink.FAINT) + ellipsised(what, terminal.width - len(start), terminal.ellipsis)]
