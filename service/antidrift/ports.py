"""What the controller needs from outside, as protocols. Each adapter package implements one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from antidrift.domain.events import Event
from antidrift.domain.model import AwayCause, Fault, Health, Instant, RoleName, SessionSummary, Task, Window
from antidrift.domain.requests import Answer, Request
from antidrift.domain.session import SavedSession, Session


class PortError(Exception):
    """Something outside failed. `fault` says what, in a sentence that may be shown to the person."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class BackendError(PortError):
    """An AI program is missing, failed, or said nothing usable."""


class ProviderError(PortError):
    """Tasks or knowledge could not be fetched."""


class StoreError(PortError):
    """A file could not be written; what was on disk before is still there."""


class Backend(Protocol):
    """One way to ask an AI command line."""

    @property
    def name(self) -> str:
        """The name by which it is chosen: "claude" or "codex"."""

    def check(self) -> Fault | None:
        """Why it cannot be asked, as far as a look at the file system tells (no child is started); None: it can."""

    async def run(self, role: str, prompt: str) -> str:
        """The model's answer to `prompt`, as text.

        `role` is the static instruction of the caller: it holds nothing private and may stand in argv. `prompt`
        goes through standard input only. There is no time limit here: the caller cancels, and a cancelled call
        leaves no process behind. Raises BackendError.
        """


class Ledger(Protocol):
    """Where the person can see what was sent to an AI."""

    def record(self, role: RoleName, backend: str, prompt: str) -> None:
        """Notes that `prompt` is about to be sent; on disk when this returns. Raises StoreError: then it may not be."""


class Advisor(Protocol):
    """The four roles, behind one call (`roles.caller`)."""

    async def ask(self, request: Request) -> Answer | Fault:
        """The answer to one request, or why there is none. Never raises but CancelledError."""


class Publisher(Protocol):
    """Where every visible change goes."""

    def publish(self, session: Session, seq: int, store_fault: Fault | None) -> None:
        """Tells every front end. Must not raise: a bus that does not drain never breaks a transition."""


class WindowSensor(Protocol):
    """Something that watches the focused window while a session is active."""

    def start(
        self, on_window: Callable[[Window | None], None], on_health: Callable[[Health, Fault | None], None]
    ) -> None:
        """Begins to watch; both callbacks run on the event loop of the caller. None: no window has the focus."""

    def stop(self) -> None:
        """Ends watching and lets go of everything. No callback comes after it returns. May be started again."""


class PresenceSource(Protocol):
    """Something that tells when the person leaves and comes back, while a session is active."""

    def start(self, on_away: Callable[[AwayCause, float], None], on_back: Callable[[AwayCause], None]) -> None:
        """Begins to watch; both callbacks run on the event loop of the caller.

        `on_away` gets the cause and how many seconds ago the person left, and `on_back` the cause that has ended; of
        each cause they are called in turn. An absence that lasts already is told of too. Once `on_away` has returned,
        what it was told is on disk if the cause is sleep: the source keeps the machine awake until then where it can.
        """

    def stop(self) -> None:
        """Ends watching and lets go of everything. No callback comes after it returns. May be started again."""


class TaskSource(Protocol):
    """Where today's tasks come from."""

    async def fetch(self) -> tuple[Task, ...]:
        """Open tasks, the first to do first. Raises ProviderError."""


class KnowledgeSource(Protocol):
    """A private text about the person that grounds the coach. It never crosses the bus."""

    async def fetch(self) -> str:
        """The text, bounded. Raises ProviderError."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the store found at start. `faults` names everything that was set aside or looks wrong."""

    saved: SavedSession | None
    recent: tuple[SessionSummary, ...]
    faults: tuple[Fault, ...] = ()


class Store(Protocol):
    """The files that must outlive the process. One writer at a time, held by a lock."""

    def load(self) -> Loaded:
        """The last saved session and the last five summaries, oldest first. Never raises for damaged content."""

    def save(self, saved: SavedSession) -> None:
        """Replaces the snapshot; it is on disk when this returns. Raises StoreError, the old one kept."""

    def append(self, summary: SessionSummary) -> None:
        """Adds one summary to the audit chain; it is on disk when this returns.

        A summary whose `session_id` is that of the last line is already there and is not added again, so a
        transition that failed half-way can be tried again. Raises StoreError, the chain unchanged.
        """

    def recent(self, n: int) -> tuple[SessionSummary, ...]:
        """The last `n` summaries, oldest first, whatever the size of the chain."""

    def close(self) -> None:
        """Lets go of the lock and the files."""


class Recorder(Protocol):
    """Takes down everything that moves the controller, so that it can be played again. No method may raise."""

    def began(self, session: Session) -> None:
        """The controller begins with this session."""

    def happened(self, event: Event, session: Session) -> None:
        """`event` is about to be taken in, or refused, by this session.

        What the controller makes of the time itself is not told: a clock that stands in makes it again.
        """

    def suspended(self, at: Instant, secs: float) -> None:
        """At this moment the controller noticed that the machine had been suspended for `secs`."""

    def asked(self, at: Instant, request: Request) -> None:
        """An AI is asked. What it answers happens later; an earlier request of that role is answered no more."""

    def close(self, at: Instant) -> None:
        """The controller has ended."""


class Clock(Protocol):
    """The present, on both clocks, and one wake-up."""

    def now(self) -> Instant:
        """This moment."""

    def suspended(self) -> float:
        """Seconds that the machine has been suspended, counted from some fixed moment: only growth means anything."""

    def wake_at(self, boot: float | None, callback: Callable[[], None]) -> None:
        """Calls `callback` once at `boot` (seconds on the boot-time clock); replaces the wake-up asked for before.

        None only cancels.
        """

    def close(self) -> None:
        """Cancels the wake-up for good."""
