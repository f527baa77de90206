"""Programs that do everything to stay, asked through the runner, and what is left of them afterwards.

What is left is counted by two marks of which the runner knows nothing, and which none of them puts off: each program is
run by a copy of Python of its own, and so is everything that it starts; and all of it holds one lock.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from antidrift.backends.environment import private_folder
from antidrift.backends.process import Ended, run_program
from standins.standin import StandIn
from support.private_bus import PrivateBus
from support.service import Service

LIMIT = 0.5
"""Seconds after which a call is cancelled."""

DEADLINE = 20.0
PROMPT = b"p" * 1_000_000  # far more than a pipe holds
ANSWER = "an answer"

_PYTHON = Path("/usr/bin/python3")  # what runs the stand-ins elsewhere, too


@dataclass(frozen=True, slots=True)
class Kind:
    """One way to be nasty: what the stand-in does, and how many processes it has told of when it is at its worst.

    `status` is what it ends with by itself; None: it does not.
    """

    misbehave: tuple[str, ...]
    processes: int = 1
    status: int | None = None


KINDS = {  # as the end of "a program that ..."
    "hangs": Kind(("hangs",)),
    "ignores SIGTERM": Kind(("ignores_term", "hangs")),
    "never reads": Kind(("never_reads", "hangs")),
    "never reads, and answers": Kind(("never_reads",), status=0),
    "answers, and fails": Kind((), status=1),
    "writes 1 GB of output": Kind(("floods",)),
    "writes 1 GB of errors": Kind(("floods_stderr",)),
    "drips": Kind(("drips",)),
    "closes its output": Kind(("closes_output", "hangs")),
    "stops itself": Kind(("stops_itself",)),
    "makes twenty zombies": Kind(("makes_zombies", "hangs"), 21),
    "makes twenty zombies, and answers": Kind(("makes_zombies",), 21, 0),
    "starts a group": Kind(("starts_group", "hangs"), 2),
    "starts a session": Kind(("starts_session", "hangs"), 2),
    "starts a session, and answers": Kind(("starts_session",), status=0),
    "leaves an orphan that holds the output": Kind(("leaves_orphan", "hangs"), 2),
    "leaves an orphan that holds the output, and answers": Kind(("leaves_orphan",), 2, 0),
    "leaves an orphan that ignores SIGTERM": Kind(("ignores_term", "leaves_orphan", "hangs"), 2),
    "leaves an orphan without environment": Kind(("leaves_bare_orphan", "hangs"), 2),
    "leaves an orphan without environment, and answers": Kind(("leaves_bare_orphan",), 2, 0),
    "leaves an orphan without limits": Kind(("leaves_unlimited_orphan", "hangs"), 2),
    "leaves an orphan without environment and limits": Kind(("leaves_free_orphan", "hangs"), 2),
    "leaves an orphan without environment and limits, and answers": Kind(("leaves_free_orphan",), 2, 0),
    "takes in orphans": Kind(("adopts", "leaves_free_orphan", "leaves_bare_orphan", "hangs"), 3),
    "traces its child": Kind(("traces", "hangs"), 2),
    "starts ever new children": Kind(("breeds", "hangs"), 2),
    "is another process every moment": Kind(("moves_on", "hangs"), 2),
    "is another process every moment, and answers": Kind(("moves_on",), 2, 0),
    "is another session every moment": Kind(("moves_away", "hangs"), 2),
    "is another session every moment, without environment and limits": Kind(("moves_away_free", "hangs"), 2),
    "litters the working folder": Kind(("litters", "hangs"), 2),
}


@dataclass(frozen=True, slots=True)
class Aftermath:
    """What one call left, looked at right after it returned.

    `back_after` is in seconds from its cancellation; without one, from when all its processes were there. `was_up`:
    they were there in time.
    """

    kind: str
    ended: Ended | None
    back_after: float
    was_up: bool
    survivors: int
    folder_left: bool


@dataclass(frozen=True, slots=True)
class Strain:
    """What calls left: each of them, and all together."""

    calls: list[Aftermath]
    descriptors: int
    zombies: int


async def strain(kinds: Sequence[str], limit: float | None = LIMIT) -> Strain:
    """Calls one program of each of `kinds`, all at once. Cancels what does not end by itself.

    `limit` is in seconds from the start; None: as soon as all its processes are there.
    """
    with tempfile.TemporaryDirectory(prefix="nasty-") as folder:
        shutil.copy(_PYTHON, Path(folder, "python"))
        stand_ins = [_stand_in(KINDS[name], Path(folder, str(number))) for number, name in enumerate(kinds)]
        before, dead = descriptors(os.getpid()), zombies(os.getpid())
        try:
            aftermaths = await asyncio.gather(*map(_call, kinds, stand_ins, [limit] * len(kinds)))
            left = set(zombies(os.getpid())) - set(dead)
            return Strain(aftermaths, descriptors(os.getpid()) - before, len(left))
        finally:
            _end(Path(folder))


class FrontDoor:
    """The real service, whose `claude` is nasty: asked by Sharpen, and left by going back.

    Context manager around a bus, a service and a folder.
    """

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as running:
            folder = Path(running.enter_context(tempfile.TemporaryDirectory(prefix="nasty-")))
            self._run = folder / "run"
            self._run.mkdir(mode=0o700)
            self._python = folder / "python"
            shutil.copy(_PYTHON, self._python)
            self._claude = StandIn("claude", folder / "bin", self._python)
            self._service = running.enter_context(
                Service(
                    running.enter_context(PrivateBus()),
                    PATH=f"{folder / 'bin'}:/usr/bin:/bin",
                    XDG_RUNTIME_DIR=str(self._run),
                    ANTIDRIFT_AI_BACKEND="claude",
                )
            )
            self._ask(Kind((), status=0))  # for its options, and for what a first call leaves in memory
            self._running = running.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, where: TracebackType | None
    ) -> None:
        _end(self._python.parent)
        self._running.close()

    def strain(self, kinds: Sequence[str]) -> Strain:
        """One after the other. What is left is looked for until there is nothing, `DEADLINE` seconds at most."""
        before = descriptors(self._service.pid)
        aftermaths = [self._call(name) for name in kinds]
        return Strain(aftermaths, descriptors(self._service.pid) - before, len(zombies(self._service.pid)))

    def _call(self, name: str) -> Aftermath:
        started = self._ask(KINDS[name])
        while self._is_left() and time.monotonic() < started + DEADLINE:
            time.sleep(0.01)
        back_after = time.monotonic() - started
        folder_left = any(self._run.glob("antidrift/*"))
        return Aftermath(name, None, back_after, True, survivors(self._claude), folder_left)

    def _ask(self, kind: Kind) -> float:
        """Returns when nobody waits for the answer any more, and since when."""
        processes = len(self._claude.pids()) + kind.processes
        self._claude.plays(misbehave=kind.misbehave, exit=kind.status or 0)
        self._service.call("EnterPlanning")
        self._service.call("RequestCoach", "s", "the quarterly report")
        self._service.wait_for(lambda _: len(self._claude.pids()) >= processes)
        if kind.status is not None:
            self._service.wait_for(lambda state: state["coach"]["status"] in ("ready", "error"))
        started = time.monotonic()
        self._service.call("CancelPlanning")
        return started

    def _is_left(self) -> bool:
        return bool(survivors(self._claude)) or any(self._run.glob("antidrift/*"))


def survivors(stand_in: StandIn) -> int:
    """How many processes of it live. A look at all may miss one that is another at every moment; its lock tells."""
    return max(len(_run_by(stand_in.program.parent)), stand_in.lives())


def zombies(parent: int) -> list[int]:
    """Dead children that `parent` has not collected."""
    return [pid for pid in _pids() if _state_and_parent(pid) == ("Z", parent)]


def descriptors(pid: int) -> int:
    """How many descriptors a process has open."""
    return len(os.listdir(f"/proc/{pid}/fd"))


async def _call(name: str, stand_in: StandIn, limit: float | None) -> Aftermath:
    kind = KINDS[name]

    def is_up() -> bool:
        return len(stand_in.pids()) >= kind.processes

    async def ask(folder: Path) -> Ended:
        argv = [str(stand_in.program), "--print"]
        return await run_program(argv, env={"PATH": os.environ["PATH"]}, cwd=folder, stdin=PROMPT)

    ended = None
    with private_folder() as folder:
        task = asyncio.create_task(ask(folder))
        if kind.status is None:
            if limit is None:
                await until(is_up, f"all processes of one that {name} are there")
            await asyncio.wait([task], timeout=limit or 0)
            cancelled = time.monotonic()
            task.cancel()
        was_up = is_up()
        with contextlib.suppress(asyncio.CancelledError):
            async with asyncio.timeout(DEADLINE):
                ended = await task
        back_after = time.time() - stand_in.told_at() if kind.status is not None else time.monotonic() - cancelled
        left = survivors(stand_in)
    return Aftermath(name, ended, back_after, was_up or is_up(), left, folder.exists())


def _stand_in(kind: Kind, folder: Path) -> StandIn:
    folder.mkdir()
    # A link is copy enough: a process knows the name by which its program was called.
    python = folder / "python"
    python.hardlink_to(folder.parent / "python")
    plays = {"misbehave": kind.misbehave, "answer": ANSWER, "exit": kind.status or 0}
    return StandIn("claude", folder, python).plays(**plays)


async def until(condition: Callable[[], bool], what: str) -> None:
    """Waits for it, and fails when it does not come."""
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {DEADLINE:g} s"
        await asyncio.sleep(0.01)


def _end(folder: Path) -> None:
    for pid in _run_by(folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _run_by(folder: Path) -> list[int]:
    """The processes whose program lies below `folder`."""
    found = []
    for pid in _pids():
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{pid}/exe").startswith(f"{folder}/"):
                found.append(pid)
    return found


def _state_and_parent(pid: int) -> tuple[str, int]:
    try:
        state, parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return "", 0
    return state, int(parent)
