"""Runs one program to its end, or to its cancellation, and leaves nothing of it behind.

An AI command line is a tree of processes: wrappers, hooks, shells, servers. Some of them start sessions of their own,
ignore SIGTERM, or keep the output open after their parent is gone. Ending the process group reaches only part of the
tree, so every process carries two inherited marks, and what still carries one afterwards is killed:

* the variable ANTIDRIFT_CALL, unique per call, in the environment;
* a soft RLIMIT_RTTIME (a limit on real-time scheduling, which no such program uses), for those that emptied their
  environment or made it unreadable. It names this process and the call.

asyncio's own `Process.wait()` is of no use here: it does not return while a grandchild holds the output. The end is
read from a pidfd instead, which also needs no child watcher.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import itertools
import logging
import os
import resource
import signal
import subprocess
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

log = logging.getLogger(__name__)

STDOUT_KEPT = 256 * 1024
STDERR_KEPT = 16 * 1024

# What a cancelled call may still take, in seconds: two in all, at the worst.
_TERM_GRACE = 1.0
_SWEEP_LIMIT = 0.5
_PIPES_LIMIT = 0.5
_SWEEP_PAUSE = 0.01

_CHUNK = 64 * 1024
_CALL_VARIABLE = "ANTIDRIFT_CALL"
_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


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
    dead and reaped and every descriptor closed; after a cancel that takes up to two seconds, and a second cancel does
    not cut it short. Raises OSError if the program cannot be started.
    """
    started = time.monotonic()
    with _in_flight() as serial:
        child = _Child(argv, env, cwd, serial)
        try:
            child.watch(stdin)
            await asyncio.wait([child.exited])
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

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path, serial: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._call = uuid.uuid4().hex
        self._serial = serial
        self._pidfd: int | None = None
        self._killed: set[int] = set()
        self.exited: asyncio.Future[None] = self._loop.create_future()
        self.interrupted = False
        with _limit_mark(serial):
            self._process: subprocess.Popen[bytes] = subprocess.Popen(  # noqa: S603 - an absolute path, no shell
                argv,
                bufsize=0,
                cwd=cwd,
                env={**env, _CALL_VARIABLE: self._call},
                start_new_session=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self.stdin = _Feed(self._process.stdin)
        self.stdout = _Drain(self._process.stdout, STDOUT_KEPT, last=False)
        self.stderr = _Drain(self._process.stderr, STDERR_KEPT, last=True)

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
        _calls.discard(self._serial)
        give_up = self._loop.time() + _SWEEP_LIMIT
        while self._sweep() and self._loop.time() < give_up:
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

    def _sweep(self) -> bool:
        """Kills every process of this call but the first, and of calls that are over; True: look again."""
        # The dead are remembered until they are reaped: a zombie has no environment to know it by.
        self._killed = {pid for pid in self._killed if not _gone(pid)}
        found = False
        for pid in _pids():
            if pid in self._killed or pid in (self._process.pid, os.getpid()) or not self._owns(pid):
                continue
            found = True
            if not _gone(pid):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
                self._killed.add(pid)
        return found or bool(self._killed)

    def _owns(self, pid: int) -> bool:
        serial = _serial_of(pid)
        if serial is not None:
            return serial not in _calls
        try:
            with open(f"/proc/{pid}/environ", "rb") as environ:
                return f"{_CALL_VARIABLE}={self._call}".encode() in environ.read()
        except OSError:
            return False


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


_serials = itertools.count(1)
_calls: set[int] = set()
"""Serial numbers of the calls whose processes may live."""


@contextlib.contextmanager
def _in_flight() -> Iterator[int]:
    """One call: while there is any, orphans of the tree come to this process, which reaps them.

    Only then: other parts of the program start children too, and their orphans are not ours to look after.
    """
    serial = next(_serials)
    _calls.add(serial)
    _set_subreaper(True)
    try:
        yield serial
    finally:
        _calls.discard(serial)
        _set_subreaper(bool(_calls))


def _set_subreaper(on: bool) -> None:
    libc: Any = ctypes.CDLL(None)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(on), 0, 0, 0)


def _mark(serial: int) -> int:
    """A limit in microseconds that no program would choose (36,000 years), with our pid and the call in it."""
    return (1 << 60) | (os.getpid() << 32) | serial


@contextlib.contextmanager
def _limit_mark(serial: int) -> Iterator[None]:
    """What is forked meanwhile inherits the mark; there is no await in it, so nothing else is."""
    soft, hard = resource.getrlimit(resource.RLIMIT_RTTIME)
    if hard != resource.RLIM_INFINITY:  # someone has lowered it for good: the environment must do
        yield
        return
    resource.setrlimit(resource.RLIMIT_RTTIME, (_mark(serial), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_RTTIME, (soft, hard))


def _serial_of(pid: int) -> int | None:
    """The call of this process that `pid` was started by, as far as its limit tells. Zombies keep theirs."""
    try:
        soft, _ = resource.prlimit(pid, resource.RLIMIT_RTTIME)
    except OSError:
        return None
    return soft & 0xFFFFFFFF if soft >> 32 == _mark(0) >> 32 else None


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _gone(pid: int) -> bool:
    """True if there is no such process, also because it was a dead child of ours and is reaped now."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return not os.path.exists(f"/proc/{pid}")
