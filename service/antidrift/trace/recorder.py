"""Recording a live session: everything that moves the controller, as lines of a trace with the words taken out."""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Concatenate, ParamSpec

from antidrift import __version__
from antidrift.domain import events, limits, private_windows, saving
from antidrift.domain.model import Fault, FaultCode, Instant, Key, RoleName, Source, Window
from antidrift.domain.requests import ROLE_OF, Request
from antidrift.domain.session import Policy, Session
from antidrift.ports import PortError
from antidrift.trace import format as lines
from antidrift.trace.hidden import Hidden

# A title that says "private" to anybody who looks, and nothing of the page.
PRIVATE_TITLE = "Mozilla Firefox Private Browsing"

_ROOM_FOR_THE_END = 256  # bytes

_Arguments = ParamSpec("_Arguments")

_BARE = {event: kind for kind, event in lines.BARE.items()}

log = logging.getLogger(__name__)


class CannotRecord(PortError):
    """The file of the trace cannot be made; the message says why."""

    def __init__(self, why: str) -> None:
        super().__init__(Fault(FaultCode.IO_ERROR, why))


def _never_raises(
    method: Callable[Concatenate[TraceFile, _Arguments], None],
) -> Callable[Concatenate[TraceFile, _Arguments], None]:
    """A session must not suffer from being recorded, whatever is wrong with the recorder."""

    @functools.wraps(method)
    def guarded(self: TraceFile, /, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> None:
        try:
            method(self, *args, **kwargs)
        except Exception as error:
            # Not with its words: they may hold a title.
            self.give_up(f"something has no place in it ({type(error).__name__})")

    return guarded


class TraceFile:
    """A `ports.Recorder` into one new file. What it cannot write is lost to the trace, and to nothing else.

    The file is made at once, 0600, and never over another; it holds `most` bytes at most. `write` is write(2). Raises
    CannotRecord.
    """

    def __init__(
        self, path: Path, *, write: Callable[[int, bytes], int] = os.write, most: int = lines.MAX_BYTES
    ) -> None:
        try:
            self._fd: int | None = os.open(
                path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
            )
        except FileExistsError:
            raise CannotRecord(f"{path} is there already; a trace is never written over another file") from None
        except OSError as error:
            raise CannotRecord(f"{path} cannot be made: {error.strerror}") from None
        self._write_to = write
        self._room = most - _ROOM_FOR_THE_END
        self._written = 0
        self._began = Instant(0.0, 0)
        self._t = 0.0
        self._hidden = Hidden(Policy())
        self._waiting: dict[RoleName, tuple[Request, Instant]] = {}

    # ports.Recorder

    @_never_raises
    def began(self, session: Session) -> None:
        """See `ports.Recorder`."""
        self._began = session.clock
        self._hidden = Hidden(session.policy)
        self._write(
            lines.Header(
                antidrift=__version__,
                unix_ms=session.clock.unix_ms,
                policy=self._hidden.policy(session.policy),
                ai=self._hidden.ai(session.ai, session.clock),
                saved=self._hidden.saved(saving.to_saved(session, lines.BOOT_ID)),
                recent=tuple(map(self._hidden.summary, session.recent)),
            )
        )

    @_never_raises
    def happened(self, event: events.Event, session: Session) -> None:
        """See `ports.Recorder`."""
        if isinstance(event, events.RoleAnswered | events.RoleFailed):
            self._came_back(event)
        elif self._fd is not None and (line := self._line(event, session)) is not None:
            self._write(line)

    @_never_raises
    def suspended(self, at: Instant, secs: float) -> None:
        """See `ports.Recorder`."""
        self._write(lines.Suspended(**self._when(at), secs=round(secs, 6)))

    @_never_raises
    def asked(self, at: Instant, request: Request) -> None:
        """See `ports.Recorder`."""
        role = ROLE_OF[type(request)]
        self._given_up(role, at)
        self._waiting[role] = (request, at)

    @_never_raises
    def close(self, at: Instant) -> None:
        """See `ports.Recorder`."""
        for role in tuple(self._waiting):
            self._given_up(role, at)
        self._write(lines.Stopped(**self._when(at)))
        self._let_go()

    # Lines

    def _line(self, event: events.Event, session: Session) -> lines.Line | None:
        when = self._when(event.at)
        hide = self._hidden
        match event:
            case events.RequestCoach():
                return lines.RequestCoach(**when, intent=hide.sentence(event.intent))
            case events.StartCommitment():
                return lines.StartCommitment(
                    **when,
                    id=event.id,
                    next_action=hide.sentence(event.next_action),
                    success_condition=hide.sentence(event.success_condition),
                    timebox_secs=event.timebox_secs,
                    allowed_window_classes=_classes(event.allowed_window_classes),
                )
            case events.Extend(secs=secs):
                return lines.Extend(**when, secs=secs)
            case events.AllowAI(allowed=allowed):
                return lines.AllowAI(**when, allowed=allowed)
            case events.WindowSeen():
                window = self._window(event, session)
                return lines.WindowSeen(
                    **when, source="shell" if event.source is Source.SHELL else "x11", window=window
                )
            case events.SensorChanged(health=health, fault=fault):
                return lines.SensorChanged(**when, health=health, fault=_code(fault))
            case events.WentAway(cause=cause, since=since):
                return lines.WentAway(**when, cause=cause, ago=round(max(0.0, event.at.boot - since.boot), 6))
            case events.CameBack(cause=cause):
                return lines.CameBack(**when, cause=cause)
            case events.AIChecked():
                return lines.AIChecked(
                    **when, backend=event.backend, available=event.available, fault=_code(event.fault)
                )
            case events.TasksFetched(items=items, fault=fault):
                return lines.TasksFetched(**when, count=len(items), fault=_code(fault))
            case events.KnowledgeFetched(text=text, fault=fault):
                return lines.KnowledgeFetched(**when, present=bool(text), fault=_code(fault))
        kind = _BARE.get(type(event))
        return None if kind is None else lines.Bare.model_validate({**when, "kind": kind})

    def _came_back(self, event: events.RoleAnswered | events.RoleFailed) -> None:
        role = ROLE_OF[type(event.request)]
        asked = self._waiting.pop(role, None)
        if asked is None:
            return
        self._write(
            lines.Outcome(
                **self._when(event.at),
                role=role,
                about=self._about(event.request),
                after=round(max(0.0, event.at.boot - asked[1].boot), 6),
                answer=self._hidden.answer(event.answer) if isinstance(event, events.RoleAnswered) else None,
                fault=_code(event.fault) if isinstance(event, events.RoleFailed) else None,
            )
        )

    def _given_up(self, role: RoleName, at: Instant) -> None:
        asked = self._waiting.pop(role, None)
        if asked is not None:
            self._write(lines.Outcome(**self._when(at), role=role, about=self._about(asked[0])))

    def _window(self, event: events.WindowSeen, session: Session) -> Window | None:
        if event.window is None:
            return None
        _, known = private_windows.admit(session, event.source, event.window)
        return self._hidden.window(event.window, title=PRIVATE_TITLE if known.private else None)

    def _about(self, request: Request) -> Key | None:
        key = lines.about(request)
        return None if key is None else self._hidden.key(key)

    def _when(self, at: Instant) -> dict[str, Any]:
        # Of two events at one moment the second may have been dated a little before the first.
        self._t = max(self._t, round(at.boot - self._began.boot, 6))
        return {"t": self._t, "unix_ms": at.unix_ms}

    # The file

    def _write(self, line: lines.Header | lines.Line) -> None:
        if self._fd is None:
            return
        data = lines.encoded(line)
        self._room -= len(data)
        if self._room >= 0:
            self._append(data)
            return
        log.warning("the trace is full and ends here")
        self._append(lines.encoded(lines.Stopped(t=self._t, unix_ms=line.unix_ms, full=True)))
        self._let_go()

    def _append(self, data: bytes) -> None:
        assert self._fd is not None
        try:
            whole = self._write_to(self._fd, data) == len(data)
            why = "there is no room for a whole line"
        except OSError as error:
            whole, why = False, error.strerror or "unknown error"
        if whole:
            self._written += len(data)
            return
        with suppress(OSError):  # the rest can be played
            os.ftruncate(self._fd, self._written)
        self.give_up(why)

    def give_up(self, why: str) -> None:
        """The trace is no more from here on, and the log says so once."""
        if self._fd is not None:
            log.warning("the trace ends here, it could not be written: %s", why)
            self._let_go()

    def _let_go(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def _classes(values: tuple[str, ...]) -> tuple[str, ...]:
    """So many, and so much of each, that what is refused live is refused again."""
    return tuple(value[: limits.CLASS_CHARS + 1] for value in values[: limits.ALLOWED_CLASSES + 1])


def _code(fault: Fault | None) -> FaultCode | None:
    return None if fault is None else fault.code
