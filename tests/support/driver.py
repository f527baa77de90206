"""Drives the pure session in virtual time, as the controller would: events in, effects recorded, deadlines kept."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from antidrift.domain import drift, machine
from antidrift.domain.effects import Ask, Cancel, Effect
from antidrift.domain.events import (
    AIChecked,
    EnterPlanning,
    Event,
    RoleAnswered,
    RoleFailed,
    StartCommitment,
    TimePassed,
    WindowSeen,
)
from antidrift.domain.model import (
    Consent,
    DriftStatus,
    Fault,
    FaultCode,
    Instant,
    RoleName,
    Source,
    Window,
)
from antidrift.domain.requests import ROLE_OF, Answer, Request
from antidrift.domain.session import AI, Policy, Session

START = Instant(1000.0, 1_700_000_000_000)
WORKING_AI = AI("stand-in", available=True, answer=Consent.GIVEN)
NO_AI = AI()
BROKEN = Fault(FaultCode.FAILED, "it broke")


@dataclass
class Driver:
    """A session, its virtual clock, and everything it has asked for."""

    session: Session = field(default_factory=lambda: Session(START, ai=WORKING_AI))
    now: Instant = START
    effects: list[Effect] = field(default_factory=list)
    in_flight: dict[RoleName, Request] = field(default_factory=dict)
    asked: list[Request] = field(default_factory=list)
    sessions_started: int = 0

    @classmethod
    def active(cls, *allowed: str, ai: AI = WORKING_AI, policy: Policy | None = None, minutes: int = 25) -> Driver:
        """A session that has just been started."""
        driver = cls(Session(START, policy or Policy(), ai=ai))
        driver.do(EnterPlanning)
        driver.start(*allowed, minutes=minutes)
        return driver

    def start(self, *allowed: str, minutes: int = 25) -> None:
        self.sessions_started += 1
        name = f"session-{self.sessions_started}"
        self.do(StartCommitment, name, "Write the report", "Two pages are written", minutes * 60, allowed)

    def do(self, event: type[Event], *values: Any) -> tuple[Effect, ...]:
        """One event of this type, now."""
        return self.take(event(self.now, *values))

    def take(self, event: Event) -> tuple[Effect, ...]:
        self.session, effects = machine.step(self.session, event)
        self.effects += effects
        for effect in effects:
            match effect:
                case Ask(request):
                    self.asked.append(request)
                    self.in_flight[ROLE_OF[type(request)]] = request
                case Cancel(role):
                    self.in_flight.pop(role, None)
        return effects

    def wait(self, secs: float) -> None:
        """Lets time pass, waking at every deadline on the way."""
        until = self.now.boot + secs
        for _ in range(10_000):
            due = machine.next_deadline(self.session)
            if due is None or due > until:
                break
            assert due >= self.now.boot, "a deadline lies in the past"
            self.now = self.now.at(due)
            self.do(TimePassed)
            after = machine.next_deadline(self.session)
            assert after is None or after > due, "the same deadline came twice"
        else:
            raise AssertionError("a busy timer")
        self.now = self.now.at(until)
        self.do(TimePassed)

    def set_wall_clock(self, hours: float) -> None:
        self.now = replace(self.now, unix_ms=self.now.unix_ms + round(hours * 3_600_000))

    def focus(self, wm_class: str, title: str = "", **more: Any) -> None:
        """The focus is on a window, as X11 says."""
        self.see(Window(wm_class=wm_class, title=title, **more))

    def see(self, window: Window | None, source: Source = Source.X11) -> None:
        self.do(WindowSeen, source, window)

    def answer(self, role: RoleName, answer: Answer) -> Request:
        """The request of `role` that is in flight is answered."""
        request = self.in_flight.pop(role)
        self.do(RoleAnswered, request, answer)
        return request

    def fail(self, role: RoleName, fault: Fault = BROKEN) -> Request:
        request = self.in_flight.pop(role)
        self.do(RoleFailed, request, fault)
        return request

    def check_ai(self, *, available: bool) -> None:
        self.do(AIChecked, "stand-in", available, None if available else BROKEN)

    @property
    def status(self) -> DriftStatus:
        return drift.status(self.session, self.session.clock)

    @property
    def reason(self) -> str:
        return drift.shown(self.session, self.session.clock).reason

    def asked_of(self, role: RoleName) -> list[Request]:
        return [request for request in self.asked if ROLE_OF[type(request)] is role]
