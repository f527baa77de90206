"""Stand-ins for what the controller needs, written out; they record into plain lists."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from antidrift.domain.model import AwayCause, Fault, FaultCode, Health, Instant, Phase, SessionSummary, Task, Window
from antidrift.domain.requests import Answer, Request
from antidrift.domain.session import SavedSession, Session
from antidrift.ports import Loaded, ProviderError, StoreError

DISK_FULL = Fault(FaultCode.DISK_FULL, "The disk is full.")


@dataclass
class FakeClock:
    """Time that passes when a test says so, waking whoever asked to be woken on the way."""

    boot: float = 1000.0
    slept: float = 0.0
    set_by_secs: float = 0.0  # how far the clock on the wall has been set forward
    _alarm: tuple[float, Callable[[], None]] | None = None

    def now(self) -> Instant:
        return Instant(self.boot, 1_700_000_000_000 + round((self.boot - 1000.0 + self.set_by_secs) * 1000))

    def suspended(self) -> float:
        return self.slept

    def wake_at(self, boot: float | None, callback: Callable[[], None]) -> None:
        self._alarm = None if boot is None else (boot, callback)

    def close(self) -> None:
        self._alarm = None

    @property
    def alarm(self) -> float | None:
        return None if self._alarm is None else self._alarm[0]

    def suspend(self, secs: float) -> None:
        """Time passes without anything running; what came due meanwhile has to wait for the waking."""
        self.boot += secs
        self.slept += secs

    def pass_time(self, secs: float) -> None:
        until = self.boot + secs
        wakings = 0
        while self._alarm is not None and self._alarm[0] <= until:
            due, callback = self._alarm
            self._alarm = None
            self.boot = max(self.boot, due)
            callback()
            wakings += 1
            assert wakings < 1000, "a busy timer"
        self.boot = until


@dataclass
class MemoryStore:
    """A store without a disk, which can be full."""

    full: bool = False
    log: list[str] = field(default_factory=list)
    saved: list[SavedSession] = field(default_factory=list)
    summaries: list[SessionSummary] = field(default_factory=list)

    def load(self) -> Loaded:
        return Loaded(self.saved[-1] if self.saved else None, tuple(self.summaries[-5:]))

    def save(self, saved: SavedSession) -> None:
        self._check()
        self.log.append(f"save {saved.phase}")
        self.saved.append(saved)

    def append(self, summary: SessionSummary) -> None:
        self._check()
        if not self.summaries or self.summaries[-1].session_id != summary.session_id:
            self.log.append("append")
            self.summaries.append(summary)

    def recent(self, n: int) -> tuple[SessionSummary, ...]:
        return tuple(self.summaries[-n:]) if n else ()

    def close(self) -> None:
        self.log.append("close")

    def _check(self) -> None:
        if self.full:
            raise StoreError(DISK_FULL)


@dataclass
class RecordingPublisher:
    """What front ends were told."""

    log: list[str]
    published: list[tuple[Session, int, Fault | None]] = field(default_factory=list)

    def publish(self, session: Session, seq: int, store_fault: Fault | None) -> None:
        self.log.append(f"publish {session.phase}")
        self.published.append((session, seq, store_fault))

    @property
    def phases(self) -> list[Phase]:
        return [session.phase for session, _, _ in self.published]


@dataclass
class FakeSensor:
    """A sensor that sees what a test shows it."""

    watching: bool = False
    on_window: Callable[[Window | None], None] | None = None
    on_health: Callable[[Health, Fault | None], None] | None = None

    def start(
        self, on_window: Callable[[Window | None], None], on_health: Callable[[Health, Fault | None], None]
    ) -> None:
        self.watching, self.on_window, self.on_health = True, on_window, on_health
        on_health(Health.OK, None)

    def stop(self) -> None:
        self.watching = False

    def show(self, window: Window | None) -> None:
        assert self.watching
        assert self.on_window is not None
        self.on_window(window)


@dataclass
class FakePresence:
    """Tells that the person is away when a test says so."""

    watching: bool = False
    on_away: Callable[[AwayCause, float], None] | None = None
    on_back: Callable[[AwayCause], None] | None = None

    def start(self, on_away: Callable[[AwayCause, float], None], on_back: Callable[[AwayCause], None]) -> None:
        self.watching, self.on_away, self.on_back = True, on_away, on_back

    def stop(self) -> None:
        self.watching = False

    def leave(self, cause: AwayCause, ago: float = 0.0) -> None:
        assert self.watching
        assert self.on_away is not None
        self.on_away(cause, ago)

    def come_back(self, cause: AwayCause) -> None:
        assert self.watching
        assert self.on_back is not None
        self.on_back(cause)


@dataclass
class FakeAdvisor:
    """Answers when a test says so."""

    asked: list[Request] = field(default_factory=list)
    cancelled: list[Request] = field(default_factory=list)
    _waiting: list[asyncio.Future[Answer | Fault]] = field(default_factory=list)

    async def ask(self, request: Request) -> Answer | Fault:
        answer: asyncio.Future[Answer | Fault] = asyncio.get_running_loop().create_future()
        self.asked.append(request)
        self._waiting.append(answer)
        try:
            return await answer
        except asyncio.CancelledError:
            self.cancelled.append(request)
            raise

    def answer(self, outcome: Answer | Fault) -> None:
        """The latest request is answered."""
        self._waiting[-1].set_result(outcome)

    def break_off(self) -> None:
        """The latest request is cancelled from below, by nobody's wish."""
        self._waiting[-1].cancel()


@dataclass
class FakeBackend:
    """An AI program that is there, or is not."""

    name: str = "stand-in"
    fault: Fault | None = None

    def check(self) -> Fault | None:
        return self.fault

    async def run(self, role: str, prompt: str) -> str:
        raise NotImplementedError("the advisor answers")


@dataclass
class FakeSource:
    """Tasks or knowledge, or why there is none; `hangs` never comes back."""

    value: tuple[Task, ...] | str = ()
    fault: Fault | None = None
    error: Exception | None = None
    hangs: bool = False

    async def fetch(self) -> tuple[Task, ...] | str:
        if self.hangs:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error
        if self.fault is not None:
            raise ProviderError(self.fault)
        return self.value
