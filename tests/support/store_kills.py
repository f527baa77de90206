"""A process that writes the store is killed, again and again, and what it was told must be there."""

from __future__ import annotations

import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

import antidrift
from antidrift.domain.model import FaultCode
from antidrift.store import AUDIT_NAME, FileStore, remembered, tail, verify
from standins import store_writer
from standins.store_writer import a_summary

MOST_HEARD = 6  # acknowledgements waited for before a kill, so that a slow disk does not keep the writers from writing
LONGEST_WAIT = 0.01  # seconds after the last of them
DEADLINE = 20.0  # seconds for anything that takes milliseconds

Said = list[tuple[str, str]]


class Writers:
    """Context manager that starts writers one after another, and hears what they were told."""

    def __enter__(self) -> Self:
        path = os.pathsep.join([str(Path(antidrift.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
        self._process = subprocess.Popen(
            [sys.executable, store_writer.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
        )
        self._heard = b""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, where: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(DEADLINE)
        self._process.stdout.close()

    def start(self, folder: Path, first: int, file_limit: int | None = None) -> int:
        """Lets a writer begin with session `first`; returns its pid."""
        order = {"folder": str(folder), "first": first, "file_limit": file_limit}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()
        word, number = self._hear()
        assert word == "pid"
        return int(number)

    def hear(self, count: int) -> Said:
        """The next things that the writer says."""
        return [self._hear() for _ in range(count)]

    def until_gone(self) -> Said:
        """What the writer says until it is dead."""
        said = []
        while (line := self._hear()) != ("gone", ""):
            said.append(line)
        return said

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


def last_number(said: Said, word: str, default: int) -> int:
    """The last session of which the writer was told this."""
    return max((int(number) for w, number in said if w == word), default=default)


@dataclass(slots=True)
class Toll:
    """What the kills have cost: a sentence for each of them after which something was not as it must be."""

    kills: int
    acknowledged: int = 0
    losses: list[str] = field(default_factory=list)


def kill_writers(writers: Writers, folder: Path, kills: int) -> Toll:
    """Kills so many writers at random moments, and starts on what each of them leaves in `folder`."""
    audit = folder / AUDIT_NAME
    chance = random.Random(9)
    toll = Toll(kills)
    appended = saved = 0
    for kill in range(kills):
        # It begins with the session that is last on disk, as a service does that was killed before its snapshot.
        pid = writers.start(folder, max(appended, 1))
        said = writers.hear(chance.randint(0, MOST_HEARD))
        time.sleep(chance.uniform(0, LONGEST_WAIT))
        os.kill(pid, signal.SIGKILL)
        said += writers.until_gone()
        toll.acknowledged += sum(word in ("appended", "saved") for word, _ in said)
        appended, saved = last_number(said, "appended", appended), last_number(said, "saved", saved)

        store = FileStore(folder)
        loaded = store.load()
        store.close()
        # Linux lets a SIGKILL end a write() between two pages: half a line, which was acknowledged to nobody.
        torn = list(folder.glob(f"{AUDIT_NAME}.torn-*"))
        fragments = [fragment.read_bytes() for fragment in torn]
        for fragment in torn:
            fragment.unlink()
        on_disk = int(loaded.recent[-1].session_id.removeprefix("session-")) if loaded.recent else 0
        state = loaded.saved.switch_count if loaded.saved else 0
        as_it_must_be = (
            {fault.code for fault in loaded.faults} == ({FaultCode.AUDIT_TORN} if torn else set()),
            not any(b"\n" in fragment for fragment in fragments),
            verify(audit, remembered(folder)).ok,
            appended <= on_disk <= appended + 1,
            saved <= state <= saved + 1,
        )
        if not all(as_it_must_be):
            toll.losses.append(
                f"kill {kill}: session {appended} was acknowledged and state {saved}, "
                f"session {on_disk} is there and state {state}, {loaded.faults}, {as_it_must_be}"
            )
        appended, saved = on_disk, state
    if tail(audit, appended + 1) != tuple(a_summary(n) for n in range(1, appended + 1)):
        toll.losses.append("in the end the sessions are not those that were written")
    return toll
