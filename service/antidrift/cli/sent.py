"""`antidrift ai sent`: the list of what was sent to an AI, read from its file."""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import asdict
from datetime import datetime

from antidrift.cli.output import Output
from antidrift.cli.terminal import Ink
from antidrift.cli.text import clean, ellipsised
from antidrift.config import Paths
from antidrift.ports import StoreError
from antidrift.store import LEDGER_NAME, Sent, sent


def run(arguments: argparse.Namespace, out: Output) -> int:
    """Prints the last lines. 1: they cannot be read."""
    folder = Paths.from_environment(os.environ).state_dir
    try:
        found = sent(folder, arguments.count)
    except StoreError as error:
        out.complain(f"{error} ({folder})")
        return 1
    if arguments.json:
        out.data(json.dumps([asdict(line) for line in found]))
        return 0
    if not found:
        out.say(f"Nothing was sent to an AI yet: there is no line in {folder / LEDGER_NAME}.")
    for line in found:
        out.lines(_rows(line, out))
    return 0


def _rows(line: Sent, out: Output) -> list[str]:
    terminal = out.terminal
    row = f"{_local(line.time)}  {clean(line.backend):<6}  {clean(line.role):<11}  {line.bytes:>6} bytes  "
    rows = [terminal.ink(row, Ink.FAINT) + ellipsised(clean(line.sha256), terminal.width - len(row), terminal.ellipsis)]
    if line.prompt is not None:
        rows += [f"  {clean(part)}" for part in line.prompt.splitlines() if part]
    return rows


def _local(time: str) -> str:
    try:
        return f"{datetime.fromisoformat(time).astimezone():%Y-%m-%d %H:%M:%S}"
    except (ValueError, OverflowError):
        return clean(time)[:19]
