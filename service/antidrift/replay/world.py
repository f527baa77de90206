"""What stands in for the desk, the AI program and the disk while a trace is played."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from antidrift.domain.model import (
    AwayCause,
    Fault,
    FaultCode,
    Health,
    Key,
    Phase,
    Proposal,
    Reflection,
    RoleName,
    Verdict,
    Window,
)
from antidrift.domain.requests import ROLE_OF, Advice, Answer, Request
from antidrift.domain.session import Session
from antidrift.replay.clock import VirtualClock
from antidrift.store import Disk
from antidrift.trace.format import AIChecked, Outcome, Trace, about, fault_of

ANSWERS_AFTER_SECS = 2.0  # where the trace says nothing
_ANSWERS: dict[RoleName, Answer] = {
    RoleName.COACH: Proposal("Write", "Written", 1500),
    RoleName.DRIFT_JUDGE: Verdict(on_task=True),
    RoleName.NUDGE: Advice(""),
    RoleName.REVIEWER: Reflection("A session."),
}


class PatientDisk(Disk):
    """The disk without waiting for it: what a power cut leaves behind is of no concern here."""

    def sync(self, fd: int) -> None:
        """Nothing."""

    def datasync(self, fd: int) -> None:
        """Nothing."""

    def sync_folder(self, folder: Path) -> None:
        """Nothing."""


class Sensor:
    """A `ports.WindowSensor` that sees what it is told."""

    def __init__(self) -> None:
        self.on_window: Callable[[Window | None], None] | None = None
        self.on_health: Callable[[Health, Fault | None], None] | None = None

    def start(
        self, on_window: Callable[[Window | None], None], on_health: Callable[[Health, Fault | None], None]
    ) -> None:
        """See `ports.WindowSensor`."""
        self.on_window, self.on_health = on_window, on_health

    def stop(self) -> None:
        """See `ports.WindowSensor`."""
        self.on_window = self.on_health = None


class Presence:
    """A `ports.PresenceSource` that knows what it is told."""

    def __init__(self) -> None:
        self.on_away: Callable[[AwayCause, float], None] | None = None
        self.on_back: Callable[[AwayCause], None] | None = None

    def start(self, on_away: Callable[[AwayCause, float], None], on_back: Callable[[AwayCause], None]) -> None:
        """See `ports.PresenceSource`."""
        self.on_away, self.on_back = on_away, on_back

    def stop(self) -> None:
        """See `ports.PresenceSource`."""
        self.on_away = self.on_back = None


class Untold:
    """A source of tasks or of knowledge that never answers: what it found is in the trace, as an event."""

    async def fetch(self) -> NoReturn:
        """See `ports.TaskSource` and `ports.KnowledgeSource`."""
        await asyncio.Event().wait()
        raise AssertionError("nobody sets it")


@dataclass(frozen=True, slots=True)
class Asking:
    """One asking of an AI; `at` is seconds from the beginning."""

    role: RoleName
    at: float
    about: Key | None


class Program:
    """A `ports.Backend` and a `ports.Advisor`: the AI program, as the trace knew it."""

    def __init__(self, trace: Trace, clock: VirtualClock) -> None:
        self._clock = clock
        first = trace.header.ai
        self.name = first.backend
        self.asked: list[Asking] = []
        self.unforeseen = 0
        """How often it was asked for what the trace has no answer to."""
        self._checks = deque(line for line in trace.lines if isinstance(line, AIChecked))
        self.wanted = any(name != "none" for name in (first.backend, *(line.backend for line in self._checks)))
        """Whether there was a program at all, or the person wanted none."""
        self._fault = None if first.available else first.fault or Fault(FaultCode.UNAVAILABLE, "unavailable")
        self._outcomes: dict[tuple[RoleName, Key | None], deque[Outcome]] = defaultdict(deque)
        for line in trace.lines:
            if isinstance(line, Outcome):
                self._outcomes[line.role, line.about].append(line)

    def check(self) -> Fault | None:
        """See `ports.Backend`."""
        if self._checks:
            line = self._checks.popleft()
            self.name = line.backend
            self._fault = fault_of(None if line.available else line.fault or FaultCode.UNAVAILABLE)
        return self._fault

    async def run(self, role: str, prompt: str) -> str:
        """See `ports.Backend`. Nobody is asked by way of it."""
        raise NotImplementedError

    async def ask(self, request: Request) -> Answer | Fault:
        """See `ports.Advisor`."""
        role, key = ROLE_OF[type(request)], about(request)
        self.asked.append(Asking(role, self._clock.now().boot, key))
        after, outcome = self._outcome(role, key)
        answer: asyncio.Future[Answer | Fault] = asyncio.get_running_loop().create_future()
        if outcome is not None:
            self._clock.call_later(after, lambda: _answered(answer, outcome))
        return await answer

    def _outcome(self, role: RoleName, key: Key | None) -> tuple[float, Answer | Fault | None]:
        recorded = self._outcomes[role, key]
        if not recorded:
            self.unforeseen += 1
            return ANSWERS_AFTER_SECS, _ANSWERS[role]
        line = recorded.popleft()
        return line.after, line.answer or fault_of(line.fault)


def _answered(answer: asyncio.Future[Answer | Fault], outcome: Answer | Fault) -> None:
    if not answer.done():  # nobody waits for it any more
        answer.set_result(outcome)


class Watcher:
    """A `ports.Publisher` that counts what a person would have seen."""

    def __init__(self) -> None:
        self.drifts = 0
        self.interrupts = 0
        self.nudges = 0
        self.elapsed: dict[str, float] = {}
        """Seconds that each session lasted on the boot-time clock, by its id."""
        self._shown = (0, False, "")

    def publish(self, session: Session, seq: int, store_fault: Fault | None) -> None:
        """See `ports.Publisher`."""
        drift = session.drift
        episode, interrupt, nudge = self._shown
        self.drifts += max(0, drift.episode - episode)
        self.interrupts += drift.interrupt and not interrupt
        self.nudges += bool(drift.nudge) and drift.nudge != nudge
        self._shown = (drift.episode, drift.interrupt, drift.nudge)
        if session.phase is Phase.REVIEW and session.commitment is not None and session.ended is not None:
            self.elapsed[session.commitment.id] = session.ended.boot - session.commitment.started.boot
