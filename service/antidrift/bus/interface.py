"""The D-Bus interface: one line a member, deciding nothing. What each member promises is in `dbus/`, in the XML."""

# dbus-next's decorators are not annotated, and a method that returns nothing must not be annotated for it.
# mypy: disable-error-code="untyped-decorator,no-untyped-def,no-any-return"
# No `from __future__ import annotations` here: dbus-next reads the annotations as values.

import logging
import uuid
from collections.abc import Callable

from dbus_next.constants import PropertyAccess
from dbus_next.service import ServiceInterface, dbus_property, method
from dbus_next.service import signal as dbus_signal

from antidrift import __version__, wire
from antidrift.bus.connection import SessionBus
from antidrift.bus.errors import AccessDenied, RateLimited, to_dbus
from antidrift.bus.introspection import describe
from antidrift.bus.names import INTERFACE
from antidrift.bus.rate import RateLimit
from antidrift.bus.reports import Reporters, stops, window_of
from antidrift.bus.signature import Bool, Dict, Int64, String, Strings, UInt32
from antidrift.controller import Controller
from antidrift.domain import events, limits
from antidrift.domain.errors import InvalidArgument, Refused
from antidrift.domain.model import Fault, Instant, Phase, Source
from antidrift.domain.session import Session
from antidrift.ports import StoreError

_log = logging.getLogger(__name__)


@describe(
    values={
        "GetState": ["state"],
        "GetRecentSessions": ["sessions"],
        "StateChanged": ["state"],
    },
    const=["Version"],
)
class SessionInterface(ServiceInterface):
    """`org.antidrift.Session` over a controller, which is given later by `serve`: the two need each other."""

    def __init__(self, bus: SessionBus, reporters: Reporters, command_of: Callable[[int], str]) -> None:
        super().__init__(INTERFACE)
        self._bus = bus
        self._reporters = reporters
        self._command_of = command_of
        self._limit = RateLimit()
        self._instance = uuid.uuid4().hex
        self._reporter: str | None = None
        self._phase = Phase.LOCKED
        self._controller: Controller | None = None

    def serve(self, controller: Controller) -> None:
        """From now on, calls go to `controller`. To be called before the interface is exported."""
        self._controller = controller
        self._phase = controller.session.phase

    # Members of the contract

    @method()
    def EnterPlanning(self):
        self._do(events.EnterPlanning(self._now()))

    @method()
    def RequestCoach(self, intent: String):
        self._do(events.RequestCoach(self._now(), intent))

    @method()
    def StartCommitment(
        self, next_action: String, success_condition: String, timebox_secs: Int64, allowed_window_classes: Strings
    ):
        classes = tuple(allowed_window_classes)
        self._do(
            events.StartCommitment(
                self._now(), uuid.uuid4().hex, next_action, success_condition, timebox_secs, classes
            )
        )

    @method()
    def CancelPlanning(self):
        self._do(events.CancelPlanning(self._now()))

    @method()
    def OnTask(self):
        self._do(events.OnTask(self._now()))

    @method()
    def Refocus(self):
        self._do(events.Refocus(self._now()))

    @method()
    def Extend(self, secs: Int64):
        self._do(events.Extend(self._now(), secs))

    @method()
    def Complete(self):
        self._do(events.Complete(self._now()))

    @method()
    def End(self):
        self._do(events.End(self._now()))

    @method()
    def ReportFocus(self, window: Dict):
        try:
            self._report_focus(self._bus.sender, window)
        except Refused as refused:
            raise to_dbus(refused) from None

    @method()
    def AllowAI(self, allowed: Bool):
        self._do(events.AllowAI(self._now(), allowed))

    @method()
    def GetState(self) -> String:
        controller = self._served()
        return self._json(controller.refresh(), controller.seq, controller.store_fault)

    @method()
    def GetRecentSessions(self, n: UInt32) -> String:
        if n > limits.RECENT_MAX:
            raise to_dbus(InvalidArgument(f"n is {n}; it must be at most {limits.RECENT_MAX}"))
        return wire.summaries_json(self._served().recent(n))

    @dbus_signal()
    def StateChanged(self, state) -> String:
        return state

    @dbus_property(access=PropertyAccess.READ)
    def RuntimeState(self) -> String:
        return self._phase.value

    @dbus_property(access=PropertyAccess.READ)
    def Version(self) -> String:
        return __version__

    # ports.Publisher

    def publish(self, session: Session, seq: int, store_fault: Fault | None) -> None:
        """See `ports.Publisher`."""
        try:
            self.StateChanged(self._json(session, seq, store_fault))
            if session.phase is not self._phase:
                self._phase = session.phase
                self.emit_properties_changed({"RuntimeState": session.phase.value})
        except Exception as error:
            # The transition that is announced stands all the same. The text of the error may hold a title.
            _log.error("a state could not be announced: %s", type(error).__name__)

    # What the members share

    def _served(self) -> Controller:
        assert self._controller is not None, "exported before serve()"
        return self._controller

    def _now(self) -> Instant:
        return self._served().clock.now()

    def _do(self, command: events.Command) -> None:
        try:
            if not self._limit.allows(self._bus.sender, command.at.boot):
                raise RateLimited("too many changes from one program; wait a few seconds")
            self._served().dispatch(command)
        except (Refused, StoreError) as error:
            raise to_dbus(error) from None

    def _json(self, session: Session, seq: int, store_fault: Fault | None) -> str:
        return wire.state_json(wire.view_of(session, instance=self._instance, seq=seq, store_fault=store_fault))

    # Reports of a desktop front end

    def _report_focus(self, sender: str, report: Dict) -> None:
        if not self._reporters.allow(sender):
            raise AccessDenied(f"{sender} may not report windows: see [sensor] reporters in the config file")
        if stops(report):
            self._reporter_stopped(sender)
            return
        window = window_of(report, self._command_of)
        if self._reporter != sender:
            if self._reporter is not None:
                self._bus.forget(self._reporter)
            self._reporter = sender
            self._bus.when_gone(sender, lambda: self._reporter_stopped(sender))
        self._served().dispatch(events.WindowSeen(self._now(), Source.SHELL, window))

    def reporters_changed(self, _owner: str | None) -> None:
        """One of the names whose owners may report has another owner: whoever reported may not go on."""
        if self._reporter is not None and not self._reporters.allow(self._reporter):
            self._reporter_stopped(self._reporter)

    def _reporter_stopped(self, sender: str) -> None:
        if self._reporter != sender:
            return
        self._bus.forget(sender)
        self._reporter = None
        self._served().dispatch(events.ShellStopped(self._now()))
