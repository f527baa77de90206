"""Everything that can happen to a session. Each event carries its time.

A command is asked for by a person and may be refused (`errors.Refused`); anything else has happened and is taken
as it is. Commands are named like the D-Bus methods that send them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from antidrift.domain.model import AwayCause, Fault, Health, Instant, Source, Task, Window
from antidrift.domain.requests import Answer, Request


@dataclass(frozen=True, slots=True)
class Event:
    """Something at a time."""

    at: Instant


class Command(Event):
    """A person's wish."""

    __slots__ = ()


# Commands


@dataclass(frozen=True, slots=True)
class EnterPlanning(Command):
    """locked → planning."""


@dataclass(frozen=True, slots=True)
class RequestCoach(Command):
    """Sharpen a rough intent."""

    intent: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class StartCommitment(Command):
    """planning → active. `id` is new and unique; the rest is as the person gave it, unchecked."""

    id: str
    next_action: str = field(repr=False)
    success_condition: str = field(repr=False)
    timebox_secs: int
    allowed_window_classes: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class CancelPlanning(Command):
    """planning → locked."""


@dataclass(frozen=True, slots=True)
class OnTask(Command):
    """The person says "This is on task"."""


@dataclass(frozen=True, slots=True)
class Refocus(Command):
    """The person goes "Back to task"."""


@dataclass(frozen=True, slots=True)
class Extend(Command):
    """Move the deadline; negative seconds shorten."""

    secs: int


@dataclass(frozen=True, slots=True)
class Complete(Command):
    """active → review."""


@dataclass(frozen=True, slots=True)
class End(Command):
    """review → locked."""


@dataclass(frozen=True, slots=True)
class AllowAI(Command):
    """The person's answer to "may an AI see window titles?"."""

    allowed: bool


# Happenings


@dataclass(frozen=True, slots=True)
class TimePassed(Event):
    """A deadline of `machine.next_deadline` came."""


@dataclass(frozen=True, slots=True)
class WindowSeen(Event):
    """A sensor saw the focus move or a title change; None: no window has the focus."""

    source: Source
    window: Window | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class SensorChanged(Event):
    """The X11 sensor works, works in part, or does not work."""

    health: Health
    fault: Fault | None


@dataclass(frozen=True, slots=True)
class ShellStopped(Event):
    """The desktop front end reports no more: X11 takes over again."""


@dataclass(frozen=True, slots=True)
class WentAway(Event):
    """The person left, or is taken to have left at `since` (not later than `at`). Of a sleep: the last input."""

    cause: AwayCause
    since: Instant


@dataclass(frozen=True, slots=True)
class CameBack(Event):
    """One cause of an absence has ended."""

    cause: AwayCause


@dataclass(frozen=True, slots=True)
class RoleAnswered(Event):
    """An AI answered."""

    request: Request
    answer: Answer


@dataclass(frozen=True, slots=True)
class RoleFailed(Event):
    """An AI was asked and there is no usable answer."""

    request: Request
    fault: Fault


@dataclass(frozen=True, slots=True)
class AIChecked(Event):
    """Whether the AI program can be asked at all; `fault` says why not, unless the person wants none."""

    backend: str
    available: bool
    fault: Fault | None


@dataclass(frozen=True, slots=True)
class TasksFetched(Event):
    """Today's tasks, or why there are none. Neither tasks nor fault: nothing is configured."""

    items: tuple[Task, ...] = field(repr=False)
    fault: Fault | None


@dataclass(frozen=True, slots=True)
class KnowledgeFetched(Event):
    """The private profile, or why there is none. Neither text nor fault: nothing is configured."""

    text: str = field(repr=False)
    fault: Fault | None
