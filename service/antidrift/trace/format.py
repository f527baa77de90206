"""The trace: one JSON object a line, the header first, then what happened, in order.

    {"format":"antidrift-trace","version":1,"antidrift":"0.1.0","unix_ms":...,"policy":{...},"ai":{...},"saved":null}
    {"kind":"enter_planning","t":2.5,"unix_ms":...}
    {"kind":"window","t":60.25,"unix_ms":...,"source":"shell","window":{"wm_class":"firefox","title":"...",...}}

`t` is seconds on the boot-time clock since the trace began, `unix_ms` the wall clock, so that both can be told when
somebody sets the one or sleeps through the other. `saved` is the session that the recording began with, its own
boot-time moments counted from the same zero; `recent` are those before it. What an AI said comes when it came, with
`after`, the seconds that it took. A key may be left out where it has its default; an unknown one is an error.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from antidrift.domain import events, limits
from antidrift.domain.model import (
    AwayCause,
    Fault,
    FaultCode,
    Health,
    Instant,
    Key,
    Proposal,
    Reflection,
    RoleName,
    SessionSummary,
    Task,
    Verdict,
    Window,
)
from antidrift.domain.requests import Advice, JudgeRequest, Request
from antidrift.domain.session import AI, Policy, SavedSession

VERSION = 1
BOOT_ID = "recorded"  # what the boot of the saved session is called
MAX_BYTES = 16 * 1024 * 1024  # a busy day has 2 MiB
MAX_LINE_BYTES = 256 * 1024  # the header of a session in progress has some 50 KiB
MAX_SECS = 31 * 24 * 3600.0

_Secs = Annotated[float, Field(ge=0, le=MAX_SECS)]
_UnixMs = Annotated[int, Field(gt=-(2**53), lt=2**53)]
_Int64 = Annotated[int, Field(ge=-(2**63), lt=2**63)]  # as on the bus


class BadTrace(Exception):
    """A trace cannot be played; the message names the file and the line, and says what is wrong with it."""

    def __init__(self, path: Path, line: int, why: str) -> None:
        super().__init__(f"{path.name}, line {line}: {why}")
        self.line = line


class _Model(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)


class Header(_Model):
    """What must be known before anything happens."""

    format: Literal["antidrift-trace"] = "antidrift-trace"
    version: Literal[1] = 1
    antidrift: Annotated[str, Field(max_length=40)]
    unix_ms: _UnixMs
    policy: Policy
    ai: AI
    saved: SavedSession | None
    recent: Annotated[tuple[SessionSummary, ...], Field(max_length=limits.HISTORY)] = ()


class _Line(_Model):
    t: _Secs
    unix_ms: _UnixMs


# What happens to the controller, as it happened


class Bare(_Line):
    """A command without arguments, or that the shell reports no more."""

    kind: Literal["enter_planning", "cancel_planning", "on_task", "refocus", "complete", "end", "shell_stopped"]

    def event(self, at: Instant) -> events.Event:
        """The same as a domain event."""
        return BARE[self.kind](at)


class RequestCoach(_Line):
    """See `events.RequestCoach`."""

    kind: Literal["request_coach"] = "request_coach"
    intent: str

    def event(self, at: Instant) -> events.Event:
        """The same as a domain event."""
        return events.RequestCoach(at, self.intent)


class StartCommitment(_Line):
    """See `events.StartCommitment`."""

    kind: Literal["start_commitment"] = "start_commitment"
    id: Annotated[str, Field(min_length=1, max_length=64)]
    next_action: str
    success_condition: str
    timebox_secs: _Int64
    allowed_window_classes: tuple[str, ...] = ()

    def event(self, at: Instant) -> events.Event:
        """The same as a domain event."""
        return events.StartCommitment(
            at, self.id, self.next_action, self.success_condition, self.timebox_secs, self.allowed_window_classes
        )


class Extend(_Line):
    """See `events.Extend`."""

    kind: Literal["extend"] = "extend"
    secs: _Int64

    def event(self, at: Instant) -> events.Event:
        """The same as a domain event."""
        return events.Extend(at, self.secs)


class AllowAI(_Line):
    """See `events.AllowAI`."""

    kind: Literal["allow_ai"] = "allow_ai"
    allowed: bool

    def event(self, at: Instant) -> events.Event:
        """The same as a domain event."""
        return events.AllowAI(at, self.allowed)


class TasksFetched(_Line):
    """See `events.TasksFetched`: how many there were."""

    kind: Literal["tasks"] = "tasks"
    count: Annotated[int, Field(ge=0, le=50)]
    fault: FaultCode | None = None

    def event(self, at: Instant) -> events.Event:
        """The same as a domain event."""
        tasks = tuple(Task(f"Task {n}", "trace") for n in range(1, self.count + 1))
        return events.TasksFetched(at, tasks, fault_of(self.fault))


class KnowledgeFetched(_Line):
    """See `events.KnowledgeFetched`: whether there was any."""

    kind: Literal["knowledge"] = "knowledge"
    present: bool
    fault: FaultCode | None = None

    def event(self, at: Instant) -> events.Event:
        """The same as a domain event."""
        return events.KnowledgeFetched(at, "A profile." if self.present else "", fault_of(self.fault))


Dispatched = Bare | RequestCoach | StartCommitment | Extend | AllowAI | TasksFetched | KnowledgeFetched


# What its ports tell it


def _bounded(window: Window) -> Window:
    if len(window.title) > limits.TITLE_CHARS or len(window.wm_class) > limits.CLASS_CHARS:
        raise ValueError("its title or class is too long")
    return window


class WindowSeen(_Line):
    """See `events.WindowSeen`."""

    kind: Literal["window"] = "window"
    source: Literal["x11", "shell"]
    window: Annotated[Window, AfterValidator(_bounded)] | None


class SensorChanged(_Line):
    """See `events.SensorChanged`."""

    kind: Literal["sensor"] = "sensor"
    health: Health
    fault: FaultCode | None = None


class WentAway(_Line):
    """See `events.WentAway`; the person left `ago` seconds before."""

    kind: Literal["away"] = "away"
    cause: AwayCause
    ago: _Secs = 0.0


class CameBack(_Line):
    """See `events.CameBack`."""

    kind: Literal["back"] = "back"
    cause: AwayCause


class Suspended(_Line):
    """By this moment the machine has been suspended for `secs` more, as the clocks tell."""

    kind: Literal["suspended"] = "suspended"
    secs: _Secs


class AIChecked(_Line):
    """See `events.AIChecked`."""

    kind: Literal["ai_checked"] = "ai_checked"
    backend: Annotated[str, Field(max_length=40)]
    available: bool
    fault: FaultCode | None = None


class Outcome(_Line):
    """What became of one asking: an answer or a fault `after` so many seconds; neither: nobody waited for it.

    `about` is the key that was to be judged.
    """

    kind: Literal["outcome"] = "outcome"
    role: RoleName
    about: Key | None = None
    after: _Secs = 0.0
    answer: Proposal | Verdict | Advice | Reflection | None = None
    fault: FaultCode | None = None


class Stopped(_Line):
    """The recording ends; `full`: because the trace became too long."""

    kind: Literal["stopped"] = "stopped"
    full: bool = False


Told = WindowSeen | SensorChanged | WentAway | CameBack | Suspended
Line = Dispatched | Told | AIChecked | Outcome | Stopped

BARE: dict[str, type[events.Event]] = {
    "enter_planning": events.EnterPlanning,
    "cancel_planning": events.CancelPlanning,
    "on_task": events.OnTask,
    "refocus": events.Refocus,
    "complete": events.Complete,
    "end": events.End,
    "shell_stopped": events.ShellStopped,
}

_LINE: TypeAdapter[Line] = TypeAdapter(Annotated[Line, Field(discriminator="kind")])
_ANSWERS = {
    RoleName.COACH: Proposal,
    RoleName.DRIFT_JUDGE: Verdict,
    RoleName.NUDGE: Advice,
    RoleName.REVIEWER: Reflection,
}


@dataclass(frozen=True, slots=True)
class Trace:
    """What was read."""

    header: Header
    lines: tuple[Line, ...]

    @property
    def secs(self) -> float:
        """How long it lasted on the boot-time clock."""
        return self.lines[-1].t if self.lines else 0.0


def fault_of(code: FaultCode | None) -> Fault | None:
    """A fault with that code; its words are not in a trace."""
    return None if code is None else Fault(code, code.value)


def about(request: Request) -> Key | None:
    """What tells one asking of a role from another, as far as anything does."""
    return request.key if isinstance(request, JudgeRequest) else None


def encoded(line: Header | Line) -> bytes:
    """One line of the file."""
    # A lone surrogate has no UTF-8.
    text = json.dumps(line.model_dump(mode="json"), ensure_ascii=False, separators=(",", ":"))
    return text.encode(errors="replace") + b"\n"


def read(path: Path) -> Trace:
    """The trace at `path`. Raises BadTrace, and OSError if it cannot be read."""
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise BadTrace(path, data.count(b"\n") + 1, f"the file is larger than {MAX_BYTES >> 20} MiB")
    raw = data.split(b"\n")
    if raw[-1]:
        raise BadTrace(path, len(raw), "it is cut off: no line break follows it")
    return Trace(_header(path, raw[0]), tuple(_lines(path, raw[1:-1])))


def _header(path: Path, raw: bytes) -> Header:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.get("format") != "antidrift-trace":
        raise BadTrace(path, 1, "it is no header of a trace")
    if found.get("version") != VERSION:
        raise BadTrace(path, 1, f"its version is not {VERSION}, the only one known here")
    header: Header = _checked(path, 1, raw, Header.model_validate_json)
    if not all(-(2**53) < number <= (MAX_SECS if isinstance(number, float) else 2**53) for number in _numbers(found)):
        raise BadTrace(path, 1, "a number in it is too large")
    return header


def _numbers(value: object) -> Iterator[int | float]:
    """All that are anywhere in a JSON value."""
    if isinstance(value, int | float):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _numbers(item)


def _lines(path: Path, raw: Iterable[bytes]) -> Iterator[Line]:
    t = 0.0
    for number, text in enumerate(raw, start=2):
        line: Line = _checked(path, number, text, _LINE.validate_json)
        if line.t < t:
            raise BadTrace(path, number, "it is earlier than the line before it")
        t = line.t
        if isinstance(line, Outcome):
            _check_outcome(path, number, line)
        yield line


def _checked(path: Path, number: int, raw: bytes, validate: Any) -> Any:
    if len(raw) > MAX_LINE_BYTES:
        raise BadTrace(path, number, f"it is longer than {MAX_LINE_BYTES >> 10} KiB")
    try:
        return validate(raw)
    except ValidationError as error:
        # What it holds is not quoted.
        [first, *_] = error.errors(include_url=False, include_input=False, include_context=False)
        where = ".".join(map(str, first["loc"]))
        what = "it is of no kind that is known" if first["type"].startswith("union_tag") else first["msg"]
        raise BadTrace(path, number, f"{where}: {what}" if where else what) from None


def _check_outcome(path: Path, number: int, line: Outcome) -> None:
    if line.answer is not None and not isinstance(line.answer, _ANSWERS[line.role]):
        raise BadTrace(path, number, f"answer: this is not what a {line.role} answers")
    if line.answer is not None and line.fault is not None:
        raise BadTrace(path, number, "it has both an answer and a fault")
