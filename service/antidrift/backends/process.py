"""Runs one program to its end, or to its cancellation, and leaves nothing of it behind.

An AI command line is a tree of processes: wrappers, hooks, shells, servers. Some of them start sessions of their own,
ignore SIGTERM, or keep the output open after their parent is gone. Ending the process group reaches only part of the
tree; what is left of it is looked for, and ended too (`descent`).

asyncio's own `Process.wait()` is of no use here: it does not return while a grandchild holds the output. The end is
read from a pidfd instead, which also needs no child watcher.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from antidrift.backends import descent

log = logging.getLogger(__name__)

STDOUT_KEPT = 256 * 1024
STDERR_KEPT = 16 * 1024

# What a cancelled call may still take, in seconds: two and a half in all, at the worst.
_TERM_GRACE = 1.0
_SWEEP_LIMIT = 1.0
_PIPES_LIMIT = 0.5
_SWEEP_PAUSE = 0.01
_REAP_EVERY = 1.0
_CHASE = 200  # rounds; one that is another process every moment is caught in a few

_CHUNK = 64 * 1024


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended. `returncode` is negative for a signal.

    `stdout` is the first 256 KiB of it, `stderr` the last 16 KiB (an error comes last); the rest was read and dropped.
    """

    returncode: int
    stdout: bytes
    stderr: bytes


async def run_program(argv: Sequence[str], *, env: Mapping[str, str], cwd: Path, stdin: bytes = b"") -> Ended:
    """Starts `argv` in a session of its own, feeds it `stdin`, and returns when it has ended.

    There is no time limit: the caller cancels. Cancelled or not, when this returns or raises, the whole process tree is
    dead and reaped and every descriptor closed; after a cancel that takes up to 2.5 seconds, and a second cancel does
    not cut it short. Raises OSError if the program cannot be started, as for want of descriptors or memory.
    """
    started = time.monotonic()
    with descent.in_flight() as call:
        child = _Child(argv, env, cwd, call)
        try:
            child.watch(stdin)
            while not child.exited.done():
                await asyncio.wait([child.exited], timeout=_REAP_EVERY)
                descent.reap()
        finally:
            await child.clean_up()
            log.debug(
                "%s ended: rc %s after %.1f s; %d bytes in, %d out, %d err",
                os.path.basename(argv[0]),
                child.returncode,
                time.monotonic() - started,
                len(stdin),
                child.stdout.total,
                child.stderr.total,
            )
    if child.interrupted:
        raise asyncio.CancelledError
    assert child.returncode is not None
    return Ended(child.returncode, bytes(child.stdout.kept), bytes(child.stderr.kept))


class _Child:
    """One started program, its pipes, and the end of both."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path, call: descent.Call) -> None:
        self._loop = asyncio.get_running_loop()
        self._call = call
        self._pidfd: int | None = None
        self.exited: asyncio.Future[None] = self._loop.create_future()
        self.interrupted = False
        with contextlib.ExitStack() as opened:
            # Not subprocess.PIPE: where only some of the pipes can be had, Python before 3.11.4 leaves those open.
            (stdin, to_child), (stdout, from_child), (stderr, errors_of_child) = (_pipe(opened) for _ in range(3))
            with call.starts():
                self._process: subprocess.Popen[bytes] = subprocess.Popen(  # noqa: S603 - an absolute path, no shell
                    argv,
                    cwd=cwd,
                    env={**env, **call.environ},
                    start_new_session=True,
                    stdin=stdin,
                    stdout=from_child,
                    stderr=errors_of_child,
                )
            opened.pop_all()
        call.first = self._process.pid
        for end in (stdin, from_child, errors_of_child):
            end.close()
        self.stdin = _Feed(to_child)
        self.stdout = _Drain(stdout, STDOUT_KEPT, last=False)
        self.stderr = _Drain(stderr, STDERR_KEPT, last=True)

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    def watch(self, stdin: bytes) -> None:
        self._pidfd = os.pidfd_open(self._process.pid)
        self._loop.add_reader(self._pidfd, self._on_exit)
        self.stdout.start()
        self.stderr.start()
        self.stdin.start(stdin)

    def _on_exit(self) -> None:
        # Not reaped yet: until then neither its pid nor its group can come to mean something else.
        assert self._pidfd is not None
        self._loop.remove_reader(self._pidfd)
        self.exited.set_result(None)

    async def clean_up(self) -> None:
        """Ends what is left of the tree, then the pipes. Goes on when cancelled, and notes it in `interrupted`."""
        if not self.exited.done():
            self._signal_group(signal.SIGTERM)
            await self._wait([self.exited], _TERM_GRACE)
        self._signal_group(signal.SIGKILL)
        self._call.may_live = False
        give_up = self._loop.time() + _SWEEP_LIMIT
        await self._wait([self.exited], _SWEEP_LIMIT)  # after which all its children are ours
        while left := self._sweep():
            if self._loop.time() > give_up:
                log.warning("%d processes that an AI program started could not be ended", left)
                break
            await self._wait([self._loop.create_future()], _SWEEP_PAUSE)
        await self._wait([self.exited, self.stdout.ended, self.stderr.ended], _PIPES_LIMIT)
        for pipe in (self.stdin, self.stdout, self.stderr):
            pipe.close()
        if self._pidfd is not None:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
        self._process.poll()

    async def _wait(self, futures: Iterable[asyncio.Future[None]], secs: float) -> None:
        """Waits for all of `futures`, `secs` at most, whoever cancels meanwhile."""
        deadline = self._loop.time() + secs
        while (left := deadline - self._loop.time()) > 0 and (
            pending := [future for future in futures if not future.done()]
        ):
            try:
                await asyncio.wait(pending, timeout=left)
            except asyncio.CancelledError:
                self.interrupted = True

    def _signal_group(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _sweep(self) -> int:
        """Kills what is left of the tree but the first process, and reaps it; how many there were, also dead ones."""
        seen: set[int] = set()
        for _ in range(_CHASE):
            descent.reap()  # so that a round takes less time than one that is another every moment needs to change
            orphans = _end(self._call.orphans())
            if orphans <= seen:
                break
            seen |= orphans
        return len(_end(self._call.remains()))


class _Drain:
    """Reads a pipe to its end, so that the writer never blocks, and keeps the first or the last bytes of it."""

    def __init__(self, pipe: IO[bytes], keep: int, *, last: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self._pipe = pipe
        self._keep = keep
        self._last = last
        self.kept = bytearray()
        self.total = 0
        self.ended: asyncio.Future[None] = self._loop.create_future()

    def start(self) -> None:
        os.set_blocking(self._pipe.fileno(), False)
        self._loop.add_reader(self._pipe.fileno(), self._read)

    def _read(self) -> None:
        try:
            data = os.read(self._pipe.fileno(), _CHUNK)
        except BlockingIOError:
            return
        if not data:
            self.close()
            return
        self.total += len(data)
        if self._last:
            self.kept += data
            del self.kept[: -self._keep]
        else:
            self.kept += data[: self._keep - len(self.kept)]

    def close(self) -> None:
        if not self._pipe.closed:
            self._loop.remove_reader(self._pipe.fileno())
            self._pipe.close()
        if not self.ended.done():
            self.ended.set_result(None)


class _Feed:
    """Writes a pipe as fast as the reader takes it, then closes it; a reader that goes away is no error."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._loop = asyncio.get_running_loop()
        self._pipe = pipe
        self._left = memoryview(b"")

    def start(self, data: bytes) -> None:
        self._left = memoryview(data)
        os.set_blocking(self._pipe.fileno(), False)
        self._loop.add_writer(self._pipe.fileno(), self._write)

    def _write(self) -> None:
        try:
            self._left = self._left[os.write(self._pipe.fileno(), self._left[:_CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._left = self._left[:0]
        if not self._left:
            self.close()

    def close(self) -> None:
        if not self._pipe.closed:
            self._loop.remove_writer(self._pipe.fileno())
            self._pipe.close()


def _pipe(opened: contextlib.ExitStack) -> tuple[IO[bytes], IO[bytes]]:
    """The end to read from and the end to write to; `opened` closes them."""
    reads, writes = os.pipe()
    return (
        opened.enter_context(open(reads, "rb", buffering=0)),
        opened.enter_context(open(writes, "wb", buffering=0)),
    )


def _end(pids: Iterable[int]) -> set[int]:
    """Kills these processes, and reaps who is dead already."""
    ended = set()
    for pid in pids:
        ended.add(pid)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            # Its group first: that is done in one step, in which nobody can fork himself away.
            group = os.getpgid(pid)
            if group != os.getpgrp():
                os.killpg(group, signal.SIGKILL)
            os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
    return ended
