"""Which processes a call has left, whatever they did to get away.

Every process that a call starts, and all that those start, inherit two marks:

* the variable ANTIDRIFT_CALL, unique per call, in the environment;
* a soft RLIMIT_RTTIME (a limit on real-time scheduling, which no such program uses), for those that emptied their
  environment or made it unreadable. It names this process and the call.

A process that has put off both is known by its descent. While there is a call, orphans below this process become its
children (PR_SET_CHILD_SUBREAPER, prctl(2)), and what else it has started carries the limit of no call: a child without
any mark is an orphan that has put them off.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import resource
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_VARIABLE = "ANTIDRIFT_CALL"
_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
_NO_CALL = 0


class Call:
    """One call: what marks its processes, and which of all processes are its own."""

    def __init__(self, serial: int) -> None:
        self.serial = serial
        self.name = uuid.uuid4().hex
        self.first: int | None = None
        """The process that was started for it, which it need not look for."""
        self.may_live = True
        """Whether other calls leave its processes alone."""

    @property
    def environ(self) -> dict[str, str]:
        """What its processes find in their environment."""
        return {_VARIABLE: self.name}

    def starts(self) -> contextlib.AbstractContextManager[None]:
        """What is forked meanwhile inherits its mark; there may be no await in it, so that nothing else is."""
        return _limit(_mark(self.serial))

    def orphans(self) -> Iterator[int]:
        """Those of `remains` that are children of this process, which is told in some microseconds.

        The youngest first: one that lives on in ever new children is to be met before it has the next one.
        """
        others = [call.name.encode() for call in _calls if call.may_live]
        for pid in reversed(_orphans()):
            serial = _serial_of(pid)
            if serial is None:
                environ = _environ(pid) if others else b""
                if not any(name in environ for name in others):
                    yield pid
            elif not any(call.may_live and call.serial == serial for call in _calls):
                yield pid

    def remains(self) -> Iterator[int]:
        """Every process of this call but the first, and of calls that are over; dead ones if they are ours to reap.

        An orphan without any mark is taken for one of this call. Each is looked at only when its turn comes: its number
        may be another's soon after.
        """
        return filter(self._owns, _all())

    def _owns(self, pid: int) -> bool:
        if any(call.first == pid for call in _calls):
            return False
        serial = _serial_of(pid)
        if serial is not None:
            owned = serial != _NO_CALL and not any(call.may_live and call.serial == serial for call in _calls)
        else:
            environ = _environ(pid)
            others = (call.name.encode() for call in _calls if call.may_live)
            owned = self.name.encode() in environ or (_is_orphan(pid) and not any(name in environ for name in others))
        return owned and (not _is_dead(pid) or _is_child(pid))


_serials = itertools.count(_NO_CALL + 1)
_calls: set[Call] = set()
_watch = contextlib.ExitStack()


@contextlib.contextmanager
def in_flight() -> Iterator[Call]:
    """One call, until nothing of it is left. While there is any, orphans come to this process, which is to reap them.

    Only then: other parts of the program start children too, and their orphans are not ours to look after.
    """
    if not _calls:
        _watch.enter_context(_limit(_mark(_NO_CALL)))
        _mark_strangers(os.getpid())
        _set_subreaper(True)
        _watch.callback(_set_subreaper, False)
    call = Call(next(_serials))
    _calls.add(call)
    try:
        yield call
    finally:
        _calls.discard(call)
        if not _calls:
            _watch.close()


def reap() -> None:
    """Collects the orphans that have died: of all calls, as one that forks without end would use up all numbers."""
    for pid in _orphans():
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


def _mark_strangers(parent: int) -> None:
    """What was started before there was a call, and everything that it will start, belongs to none."""
    for pid in _children(parent):
        with contextlib.suppress(OSError):
            _, hard = resource.prlimit(pid, resource.RLIMIT_RTTIME)
            if hard == resource.RLIM_INFINITY and _serial_of(pid) is None:
                resource.prlimit(pid, resource.RLIMIT_RTTIME, (_mark(_NO_CALL), hard))
        _mark_strangers(pid)


def _set_subreaper(on: bool) -> None:
    libc: Any = ctypes.CDLL(None)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(on), 0, 0, 0)


def _mark(serial: int) -> int:
    """A limit in microseconds that no program would choose (36,000 years), with our pid and the call in it."""
    return (1 << 60) | (os.getpid() << 32) | serial


@contextlib.contextmanager
def _limit(mark: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_RTTIME)
    if hard != resource.RLIM_INFINITY:  # someone has lowered it for good: the environment must do, which the dead lack
        yield
        return
    resource.setrlimit(resource.RLIMIT_RTTIME, (mark, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_RTTIME, (soft, hard))


def _serial_of(pid: int) -> int | None:
    """The call that `pid` was started by, as far as its limit tells; that of another service is none. Zombies tell."""
    try:
        soft, _ = resource.prlimit(pid, resource.RLIMIT_RTTIME)
    except OSError:
        return None
    if soft >> 60 != 1:
        return None
    return soft & 0xFFFFFFFF if soft >> 32 == _mark(0) >> 32 else _NO_CALL


def _orphans() -> list[int]:
    """The children that this process did not start itself, oldest first.

    There may be thousands that have died, while one that forks without end makes more: nothing is read for each.
    """
    first = {call.first for call in _calls}
    none_is_unmarked = _serial_of(os.getpid()) != _NO_CALL
    found = []
    for pid in _children(os.getpid()):
        serial = _serial_of(pid)
        if pid in first or serial == _NO_CALL or (serial is None and none_is_unmarked):
            continue
        found.append(pid)
    return found


def _is_orphan(pid: int) -> bool:
    """Whether it is a child that this process did not start, if it has no mark."""
    return _is_child(pid) and _serial_of(pid) is None and _serial_of(os.getpid()) == _NO_CALL


def _is_child(pid: int) -> bool:
    return _stat(pid)[1:2] == [str(os.getpid())]


def _is_dead(pid: int) -> bool:
    return _stat(pid)[:1] == ["Z"]


def _stat(pid: int) -> list[str]:
    """Its state, its parent and so on, from the third field on; proc_pid_stat(5)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _environ(pid: int) -> bytes:
    """Its environment as it was started with; empty if it cannot be read."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def _all() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _children(pid: int) -> list[int]:
    """Oldest first; proc_pid_task_children(5). None where the kernel does not tell."""
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, path.read_text().split())
    return found
