"""The whole state of the service, and the part of it that survives a restart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from antidrift.domain.model import (
    Allowed,
    AwayCause,
    Bucket,
    CallStatus,
    Consent,
    Fault,
    FetchStatus,
    Health,
    Instant,
    Key,
    Outcome,
    Phase,
    Proposal,
    RoleName,
    SessionSummary,
    Source,
    Task,
    Titles,
    Verdict,
    Window,
)
from antidrift.domain.requests import Request


@dataclass(frozen=True, slots=True)
class Policy:
    """What the person's configuration decides; it does not change while the service runs."""

    always_allowed: Allowed = Allowed()
    many_purpose: frozenset[str] = frozenset()  # canonical class names, beside the built-in browsers
    aliases: Mapping[str, str] = field(default_factory=dict)  # case-folded name -> canonical name
    interrupted_after_secs: float = 600.0  # away by sleep or lock for longer ends the session
    idle_secs: float = 180.0  # so long without input is an absence
    titles: Titles = Titles.REDACT  # what an AI may see of them
    exclude_apps: frozenset[str] = frozenset()  # canonical class names of apps whose titles an AI never sees
    home: str = ""  # the person's home folder, which is not shown to an AI; "": one of the usual places


@dataclass(frozen=True, slots=True)
class Commitment:
    """What the person has committed to. `deadline` is in boot-time seconds and moves with extensions and pauses."""

    id: str
    next_action: str
    success_condition: str
    timebox_secs: int
    started: Instant
    deadline: float
    allowed_window_classes: tuple[str, ...] = ()
    allowed_sites: tuple[str, ...] = ()
    allowed_keys: tuple[Key, ...] = ()  # single pages, where a browser's title names no site


@dataclass(frozen=True, slots=True)
class Coach:
    """The coach's answer to the latest intent; `request_id` tells one request from the next."""

    status: CallStatus = CallStatus.IDLE
    request_id: int = 0
    proposal: Proposal | None = None
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class Tasks:
    """Today's tasks, offered while planning."""

    status: FetchStatus = FetchStatus.IDLE
    items: tuple[Task, ...] = ()
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class Knowledge:
    """The private profile. Only its status is ever shown."""

    status: FetchStatus = FetchStatus.IDLE
    text: str = field(default="", repr=False)
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class Looking:
    """Where the reflection on the last session stands; `generation` counts the reviews of this process."""

    status: FetchStatus = FetchStatus.IDLE
    recap: str = ""
    carry_forward: str = ""
    generation: int = 0


@dataclass(frozen=True, slots=True)
class Stretch:
    """Time that went into one bucket lately, kept so that it can be taken back (idle is noticed late)."""

    start: float
    end: float
    bucket: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where the time of the running session went. Times are boot-time seconds.

    `reckoned_until` is the moment up to which time has been put either into a bucket or into `away_secs`.
    """

    window: Window | None = None
    window_since: Instant = Instant(0.0, 0)  # means nothing without a window
    reckoned_until: float = 0.0
    buckets: Mapping[tuple[str, str], float] = field(default_factory=dict)
    lately: tuple[Stretch, ...] = ()
    away_secs: float = 0.0
    switch_count: int = 0
    last_focus: tuple[str, str] | None = None  # (class, window id) of the last window that was not neutral


@dataclass(frozen=True, slots=True)
class Presence:
    """Whether the person is there. `since` is when the present absence began, `paused_since` its sleep or lock.

    `last_input` is known while the machine sleeps, until the absence is reckoned from then on.
    """

    causes: frozenset[AwayCause] = frozenset()
    since: Instant | None = None
    paused_since: float | None = None
    last_input: Instant | None = None


@dataclass(frozen=True, slots=True)
class Drift:
    """What is known about the windows of the running session. Times are boot-time seconds."""

    verdicts: Mapping[Key, Verdict] = field(default_factory=dict)
    focus: Window | None = None  # the last window that was not neutral
    key: Key | None = None  # its key
    key_since: Instant = Instant(0.0, 0)
    refocused: Key | None = None  # not judged again before it has lost and regained the focus
    unanswered: Key | None = None  # its judgement failed: not judged again before it is seen anew
    onset: Instant | None = None  # since when the drift that shows now has lasted
    episode: int = 0
    interrupt: bool = False
    interrupted_at: Mapping[Key, float] = field(default_factory=dict)
    last_drift: tuple[Window, float] | None = None  # the last window that drifted, and until when
    titles: tuple[str, ...] = ()  # distinct titles of locally matched windows, as an AI may see them, newest last
    nudge: str = ""
    nudged_titles: tuple[str, ...] = ()  # what the last answered nudge was about
    on_track_titles: frozenset[str] = frozenset()  # those that a nudge found nothing wrong with, together with others
    stretch: int = 0  # counts on-task stretches: a nudge belongs to one


@dataclass(frozen=True, slots=True)
class SensorState:
    """What one window sensor last said. `window` is meaningful once `reported`."""

    health: Health = Health.ABSENT
    fault: Fault | None = None
    reported: bool = False
    window: Window | None = None


@dataclass(frozen=True, slots=True)
class Sensors:
    """The two window sensors; the shell wins while it reports, and has no health of its own."""

    x11: SensorState = SensorState()
    shell: SensorState = SensorState()


@dataclass(frozen=True, slots=True)
class AI:
    """What is known about the AI program. `failures` counts failures in a row.

    `answer` is the person's own to "may an AI see window titles?"; `named` says that they named an AI program in the
    environment or the config file, which is an answer too for as long as it stands there.
    """

    backend: str = "none"
    available: bool = False
    answer: Consent = Consent.UNASKED
    named: bool = False
    fault: Fault | None = None
    failures: int = 0
    retry_at: Instant | None = None  # the circuit breaker: nobody is asked before

    @property
    def consent(self) -> Consent:
        """What holds: the person's own answer, else what they named."""
        return Consent.GIVEN if self.named and self.answer is Consent.UNASKED else self.answer


@dataclass(frozen=True, slots=True)
class Call:
    """The calls to one role: what is in flight, and when it was last asked (boot-time seconds)."""

    in_flight: Request | None = None
    last_asked: float | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """Everything the service knows. `clock` is the time of the last event."""

    clock: Instant
    policy: Policy = Policy()
    phase: Phase = Phase.LOCKED
    commitment: Commitment | None = None
    outcome: Outcome | None = None
    ended: Instant | None = None  # when the active phase ended
    coach: Coach = Coach()
    tasks: Tasks = Tasks()
    knowledge: Knowledge = Knowledge()
    looking: Looking = Looking()
    evidence: Evidence = Evidence()
    presence: Presence = Presence()
    drift: Drift = Drift()
    sensors: Sensors = Sensors()
    private_windows: tuple[tuple[Source, str], ...] = ()  # ids of private browsing windows, newest last
    ai: AI = AI()
    calls: Mapping[RoleName, Call] = field(default_factory=dict)
    recent: tuple[SessionSummary, ...] = ()  # the last five ended sessions, oldest first


@dataclass(frozen=True, slots=True)
class SavedSession:
    """What must outlive the process. Boot-time values are those of the boot `boot_id`.

    A pause that is going on is already added to the deadline, and an absence to `away_secs`.
    """

    saved: Instant
    boot_id: str
    phase: Phase
    consent: Consent  # the person's own answer
    commitment: Commitment | None
    outcome: Outcome | None
    ended: Instant | None
    buckets: tuple[Bucket, ...]
    away_secs: float
    switch_count: int
    reflection_status: FetchStatus
    recap: str
    carry_forward: str
