"""What a session is made of: frozen values, compared and replaced whole."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Phase(StrEnum):
    """Where a session stands; `machine.TRANSITIONS` says how it moves."""

    LOCKED = "locked"
    PLANNING = "planning"
    ACTIVE = "active"
    REVIEW = "review"


class Outcome(StrEnum):
    """How a session left the active phase."""

    COMPLETED = "completed"
    EXPIRED = "expired"
    INTERRUPTED = "interrupted"


class RoleName(StrEnum):
    """The four things an AI is asked for."""

    COACH = "coach"
    DRIFT_JUDGE = "drift_judge"
    NUDGE = "nudge"
    REVIEWER = "reviewer"


class FaultCode(StrEnum):
    """Every reason why something is degraded. Closed: front ends translate by it."""

    # AI programs and their answers
    UNAVAILABLE = "unavailable"  # no AI program is configured or found
    NOT_LOGGED_IN = "not_logged_in"
    TIMED_OUT = "timed_out"
    RATE_LIMITED = "rate_limited"
    OFFLINE = "offline"
    FAILED = "failed"  # the program ended with an error of another kind
    EMPTY_RESPONSE = "empty_response"
    NO_JSON = "no_json"
    INVALID_ANSWER = "invalid_answer"
    # the window sensor
    NO_DISPLAY = "no_display"  # neither an X server to look at nor a front end that reports
    DISPLAY_LOST = "display_lost"
    PARTIAL_VIEW = "partial_view"  # X11 under Wayland: only XWayland windows are seen
    WINDOW_UNREADABLE = "window_unreadable"
    # files
    DISK_FULL = "disk_full"
    READ_ONLY = "read_only"
    IO_ERROR = "io_error"
    SNAPSHOT_DAMAGED = "snapshot_damaged"
    AUDIT_TORN = "audit_torn"
    AUDIT_BROKEN = "audit_broken"
    # tasks and knowledge
    NOT_FOUND = "not_found"
    UNREADABLE = "unreadable"
    PROGRAM_FAILED = "program_failed"


class Consent(StrEnum):
    """The person's one answer to "may an AI see window titles?"."""

    UNASKED = "unasked"
    GIVEN = "given"
    REFUSED = "refused"


class Titles(StrEnum):
    """What an AI may see of window titles."""

    NEVER = "never"  # nothing: only the class of a window
    REDACT = "redact"  # without what `redaction` finds
    FULL = "full"


class Health(StrEnum):
    """What a window sensor can see."""

    OK = "ok"
    DEGRADED = "degraded"
    ABSENT = "absent"


class Source(StrEnum):
    """Who says which window has the focus."""

    X11 = "x11"
    SHELL = "shell"
    NONE = "none"


class AwayCause(StrEnum):
    """Why the person is taken to be away."""

    IDLE = "idle"
    LOCK = "lock"
    SLEEP = "sleep"
    UNOBSERVED = "unobserved"  # the service itself was not running


class DriftStatus(StrEnum):
    """What is known about the focused window."""

    IDLE = "idle"  # nothing is known, and nobody will be asked
    PENDING = "pending"  # a judgement is due or under way
    ONTASK = "ontask"
    DRIFTING = "drifting"


class CallStatus(StrEnum):
    """The coach, as a front end sees it."""

    IDLE = "idle"
    PENDING = "pending"
    READY = "ready"
    ERROR = "error"


class FetchStatus(StrEnum):
    """Something fetched or written in the background: tasks, knowledge, the reflection."""

    IDLE = "idle"
    PENDING = "pending"
    READY = "ready"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Fault:
    """Why something is degraded. `message` is one short English sentence for the person."""

    code: FaultCode
    message: str


@dataclass(frozen=True, slots=True, order=True)
class Instant:
    """One moment on two clocks.

    `boot` is seconds on CLOCK_BOOTTIME: it counts on in suspend and does not move with the wall clock, so every
    duration is reckoned on it. `unix_ms` is the wall clock, for display and for the audit only.
    """

    boot: float
    unix_ms: int

    def at(self, boot: float) -> Instant:
        """The moment `boot`, with the wall clock carried along from this one."""
        return Instant(boot, self.unix_ms + round((boot - self.boot) * 1000))


@dataclass(frozen=True, slots=True)
class Window:
    """A focused window, as its sensor saw it. Text is bounded and free of NUL; titles are untrusted.

    `command` is the base name of the program behind `pid`, where it could be found. `private`: a private browsing
    window, whose title has been dropped on the way in (`private_windows`).
    """

    wm_class: str = ""
    title: str = ""
    pid: int | None = None
    command: str = ""
    app_id: str = ""
    window_id: str = ""
    private: bool = False


@dataclass(frozen=True, slots=True)
class Key:
    """What a verdict holds for: an ordinary app as a whole, or one page of a many-purpose app.

    `page` is empty for an ordinary app. `window_id` is set only for a window without a class, which shares its
    verdict with no other.
    """

    app: str
    page: str = ""
    window_id: str = ""


@dataclass(frozen=True, slots=True)
class Allowed:
    """What is on task without asking anybody: the four matchers."""

    classes: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's word on one key."""

    on_task: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a coach suggests. Advice only: the person starts the session."""

    next_action: str
    success_condition: str
    timebox_secs: int
    allowed_window_classes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reflection:
    """What a reviewer answers: how it went, and one takeaway for next time (may be empty)."""

    recap: str
    carry_forward: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """One of today's tasks; `source` names where it comes from, for example "todo.txt"."""

    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Bucket:
    """Time spent in one window class under one (folded) title, in seconds."""

    wm_class: str
    title: str
    secs: float


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """What the audit keeps of a session, for good. Times are Unix milliseconds or seconds.

    `active_secs` is the time in the buckets, `away_secs` the rest between `started_at_ms` and `ended_at_ms`.
    """

    session_id: str
    next_action: str
    success_condition: str
    outcome: Outcome
    timebox_secs: int
    started_at_ms: int
    ended_at_ms: int
    active_secs: int
    away_secs: int
    switch_count: int
    buckets: tuple[Bucket, ...]
