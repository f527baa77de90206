"""A trace, played through the real controller and the real store in virtual time.

No bus, X server or child process takes part, and no file but those below one folder of its own. All that happens comes
from the trace, so what is written there is the same, byte for byte, each time.
"""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass
from pathlib import Path

from antidrift.controller import Controller
from antidrift.domain import events, saving
from antidrift.domain.effects import CheckAI, Effects
from antidrift.domain.errors import Refused
from antidrift.domain.model import Instant, Phase, SessionSummary, Source
from antidrift.domain.session import Session
from antidrift.ports import Recorder
from antidrift.replay.clock import VirtualClock
from antidrift.replay.world import Asking, PatientDisk, Presence, Program, Sensor, Untold, Watcher
from antidrift.store import AUDIT_NAME, FileStore, tail
from antidrift.trace.format import (
    BOOT_ID,
    AIChecked,
    CameBack,
    Header,
    Line,
    Outcome,
    SensorChanged,
    Stopped,
    Suspended,
    Trace,
    WentAway,
    WindowSeen,
    fault_of,
)


class CannotReplay(Exception):
    """The folder to replay into is not fit for it; the message says why."""


@dataclass(frozen=True, slots=True)
class Played:
    """What a day came to. Times are seconds.

    `elapsed` has the sessions of `sessions`, in that order, on the boot-time clock. `calls` are all askings of an AI;
    the trace had no answer to `unforeseen` of them, and the replay gave one. `running`: the trace ends in a session.
    """

    secs: float
    events: int
    refused: int
    sessions: tuple[SessionSummary, ...]
    elapsed: tuple[float, ...]
    running: bool
    calls: tuple[Asking, ...]
    unforeseen: int
    drifts: int
    interrupts: int
    nudges: int
    audit_sha256: str


def play(trace: Trace, folder: Path, recorder: Recorder | None = None) -> Played:
    """Plays `trace`, with state and audit in `folder`, which is made or must be empty. Raises CannotReplay.

    `recorder` takes it down anew, as it would a live session.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CannotReplay(f"{folder} is not an empty folder; nothing is ever played into files that there are")
    return asyncio.run(_Replay(trace, folder, recorder).play())


class _Replay:
    def __init__(self, trace: Trace, folder: Path, recorder: Recorder | None) -> None:
        self._trace = trace
        self._folder = folder
        self._clock = VirtualClock(trace.header.unix_ms)
        self._program = Program(trace, self._clock)
        self._sensor = Sensor()
        self._presence = Presence()
        self._watcher = Watcher()
        self._refused = 0
        self._store = FileStore(folder, PatientDisk())
        self._store.load()
        session, self._effects = _first(trace.header, self._clock.now())
        self._controller = Controller(
            session,
            boot_id=BOOT_ID,
            clock=self._clock,
            store=self._store,
            publisher=self._watcher,
            sensor=self._sensor,
            presence=self._presence,
            backend=self._program if self._program.wanted else None,
            advisor=self._program,
            tasks=Untold(),
            knowledge=Untold(),
            ai_fault=trace.header.ai.fault,
            recorder=recorder,
        )

    async def play(self) -> Played:
        self._controller.begin((*self._effects, CheckAI()))
        await self._settle()
        for line in self._trace.lines:
            slept = line.secs if isinstance(line, Suspended) else 0.0
            await self._pass_until(line.t - slept)
            if slept:
                self._clock.suspend(slept)
            self._clock.set_wall(line.unix_ms)
            self._happen(line)
            await self._settle()
        await self._controller.close()
        return self._played()

    async def _pass_until(self, boot: float) -> None:
        while (due := self._clock.next_due()) is not None and due <= boot:
            self._clock.advance(due)
            self._clock.ring()
            await self._settle()
        self._clock.advance(boot)

    async def _settle(self) -> None:
        """Lets the tasks of the controller come as far as they can.

        One that was answered goes on in the first round, and what it asks begins in the second.
        """
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    def _happen(self, line: Line) -> None:
        match line:
            case Suspended():
                self._controller.refresh()  # whoever noticed it
            case WindowSeen(source="x11"):
                if self._sensor.on_window is not None:
                    self._sensor.on_window(line.window)
            case WindowSeen():
                self._dispatch(events.WindowSeen(self._clock.now(), Source.SHELL, line.window))
            case SensorChanged():
                if self._sensor.on_health is not None:
                    self._sensor.on_health(line.health, fault_of(line.fault))
            case WentAway():
                if self._presence.on_away is not None:
                    self._presence.on_away(line.cause, line.ago)
            case CameBack():
                if self._presence.on_back is not None:
                    self._presence.on_back(line.cause)
            case AIChecked() | Outcome() | Stopped():
                pass  # `Program` knows them from the beginning
            case _:
                self._dispatch(line.event(self._clock.now()))

    def _dispatch(self, event: events.Event) -> None:
        try:
            self._controller.dispatch(event)
        except Refused:
            self._refused += 1

    def _played(self) -> Played:
        audit = self._folder / AUDIT_NAME
        written = audit.read_bytes() if audit.exists() else b""
        sessions = tail(audit, written.count(b"\n"))
        elapsed = self._watcher.elapsed
        return Played(
            secs=self._trace.secs,
            events=len(self._trace.lines),
            refused=self._refused,
            sessions=sessions,
            elapsed=tuple(elapsed[each.session_id] for each in sessions),
            running=self._controller.session.phase is Phase.ACTIVE,
            calls=tuple(self._program.asked),
            unforeseen=self._program.unforeseen,
            drifts=self._watcher.drifts,
            interrupts=self._watcher.interrupts,
            nudges=self._watcher.nudges,
            audit_sha256=hashlib.sha256(written).hexdigest(),
        )


def _first(header: Header, now: Instant) -> tuple[Session, Effects]:
    if header.saved is None:
        return Session(now, header.policy, ai=header.ai), ()
    return saving.restore(header.saved, header.recent, header.policy, header.ai, now, BOOT_ID)
