"""A process that writes the store is killed, again and again, and meets its own file size limit."""

from __future__ import annotations

import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import antidrift
from antidrift.domain.model import FaultCode
from antidrift.store import FileStore, remembered, tail, verify
from standins import store_writer
from standins.store_writer import a_saved, a_summary

CYCLES = 200
MOST_HEARD = 6  # acknowledgements waited for before a kill, so that a slow disk does not keep the writers from writing
LONGEST_WAIT = 0.01  # seconds after the last of them
DEADLINE = 20.0  # seconds for anything that takes milliseconds


class Writers:
    """Starts writers one after another, and hears what they were told."""

    def __init__(self) -> None:
        path = os.pathsep.join([str(Path(antidrift.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
        self._process = subprocess.Popen(
            [sys.executable, store_writer.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
        )
        self._heard = b""

    def start(self, folder: Path, first: int, file_limit: int | None = None) -> int:
        """Lets a writer begin with session `first`; returns its pid."""
        order = {"folder": str(folder), "first": first, "file_limit": file_limit}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()
        word, number = self._hear()
        assert word == "pid"
        return int(number)

    def hear(self, count: int) -> list[tuple[str, str]]:
        """The next things that the writer says."""
        return [self._hear() for _ in range(count)]

    def until_gone(self) -> list[tuple[str, str]]:
        """What the writer says until it is dead."""
        said = []
        while (line := self._hear()) != ("gone", ""):
            said.append(line)
        return said

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(DEADLINE)
        self._process.stdout.close()

    def _hear(self) -> tuple[str, str]:
        assert self._process.stdout is not None
        end = time.monotonic() + DEADLINE
        while b"\n" not in self._heard:
            fd = self._process.stdout.fileno()
            ready, _, _ = select.select([fd], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the writer says nothing"
            piece = os.read(fd, 65536)
            assert piece, "the writer's parent is dead"
            self._heard += piece
        line, self._heard = self._heard.split(b"\n", 1)
        word, _, number = line.decode().partition(" ")
        return word, number


@pytest.fixture(scope="module")
def writers() -> Iterator[Writers]:
    started = Writers()
    yield started
    started.close()


def last_number(said: list[tuple[str, str]], word: str, default: int) -> int:
    """The last session of which the writer was told this."""
    return max((int(number) for w, number in said if w == word), default=default)


def test_two_hundred_kills_lose_nothing_that_was_acknowledged_and_raise_no_false_alarm(
    writers: Writers, tmp_path: Path
) -> None:
    audit = tmp_path / "audit.jsonl"
    chance = random.Random(9)
    appended = saved = 0
    for cycle in range(CYCLES):
        # It begins with the session that is last on disk, as a service does that was killed before its snapshot.
        pid = writers.start(tmp_path, max(appended, 1))
        said = writers.hear(chance.randint(0, MOST_HEARD))
        time.sleep(chance.uniform(0, LONGEST_WAIT))
        os.kill(pid, signal.SIGKILL)
        said += writers.until_gone()
        appended, saved = last_number(said, "appended", appended), last_number(said, "saved", saved)

        store = FileStore(tmp_path)
        loaded = store.load()
        store.close()
        # Linux lets a SIGKILL end a write() between two pages: half a line, which was acknowledged to nobody.
        torn = list(tmp_path.glob("audit.jsonl.torn-*"))
        assert {fault.code for fault in loaded.faults} == ({FaultCode.AUDIT_TORN} if torn else set()), f"cycle {cycle}"
        for fragment in torn:
            assert b"\n" not in fragment.read_bytes()
            fragment.unlink()
        assert verify(audit, remembered(tmp_path)).ok, f"cycle {cycle}"
        on_disk = int(loaded.recent[-1].session_id.removeprefix("session-")) if loaded.recent else 0
        assert appended <= on_disk <= appended + 1, f"cycle {cycle}"
        state = loaded.saved.switch_count if loaded.saved else 0
        assert saved <= state <= saved + 1, f"cycle {cycle}"
        appended, saved = on_disk, state
    assert appended > CYCLES / 2, "the writers hardly came to write"
    assert tail(audit, appended + 1) == tuple(a_summary(n) for n in range(1, appended + 1))


def test_a_file_size_limit_refuses_with_the_chain_and_the_snapshot_intact(writers: Writers, tmp_path: Path) -> None:
    writers.start(tmp_path, 1, file_limit=8192)
    said = writers.until_gone()
    appended = last_number(said, "appended", 0)
    assert appended > 5
    assert [word for word in said if word[0] == "refused"] == [("refused", "disk_full")] * store_writer.MOST_REFUSALS

    audit = tmp_path / "audit.jsonl"
    assert verify(audit, remembered(tmp_path)).lines == appended
    store = FileStore(tmp_path)
    loaded = store.load()
    assert loaded.faults == ()
    assert loaded.saved == a_saved(last_number(said, "saved", 0))
    store.append(a_summary(appended + 1))
    store.close()
    assert verify(audit).lines == appended + 1
