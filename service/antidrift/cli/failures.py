"""What goes wrong between a command and the service, as one sentence that says what to do about it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from antidrift.bus.client import (
    BusLost,
    CallFailed,
    NewerService,
    NoSessionBus,
    NotAState,
    ServiceAbsent,
    ServiceSilent,
)
from antidrift.cli.render import TOO_NEW

REFUSED = 1
USAGE = 2
UNREACHABLE = 3
INTERRUPTED = 130

FAILURES = (BusLost, CallFailed, NewerService, NoSessionBus, NotAState, ServiceAbsent, ServiceSilent)

_DAEMON_ERROR = "org.freedesktop.DBus.Error."


def explained(failure: Exception) -> tuple[str, int]:
    """The sentence for one of FAILURES, and the exit status."""
    match failure:
        case ServiceAbsent():
            return f"The AntiDrift service is not running. {how_to_start(failure.activatable)}", UNREACHABLE
        case ServiceSilent(pid=None):
            return f"The AntiDrift service has not answered within {failure.secs:g} seconds.", UNREACHABLE
        case ServiceSilent():
            silent = f"The AntiDrift service has not answered within {failure.secs:g} seconds"
            return f"{silent}: end it with `kill -KILL {failure.pid}` and start it again.", UNREACHABLE
        case NoSessionBus():
            return no_bus(failure), UNREACHABLE
        case BusLost():
            return "The session bus has ended the connection.", UNREACHABLE
        case NewerService():
            return TOO_NEW, REFUSED
        case NotAState():
            return f"What the AntiDrift service says cannot be read ({failure}): start it again.", REFUSED
        case CallFailed(name="org.freedesktop.DBus.Error.NoReply"):
            return f"The AntiDrift service ended before it had answered. {how_to_start(False)}", UNREACHABLE
        case CallFailed() if failure.name.startswith((_DAEMON_ERROR + "Spawn.", _DAEMON_ERROR + "TimedOut")):
            return f"The AntiDrift service could not be started: run `{daemon_command()}` to see why.", UNREACHABLE
        case _:
            return str(failure), REFUSED


def no_bus(failure: NoSessionBus) -> str:
    """Where the bus was looked for, and how to have one."""
    reason = str(failure)
    return (
        f"{reason[:1].upper()}{reason[1:]}; set DBUS_SESSION_BUS_ADDRESS to the bus of your desktop, "
        "or open a shell with a bus of its own with `dbus-run-session -- sh`."
    )


def how_to_start(activatable: bool) -> str:
    """How the service comes to run."""
    if activatable:
        return "The first command that needs it starts it, for example `antidrift plan`."
    return f"Start it with `{daemon_command()}`."


def daemon_command() -> str:
    """What starts the service from a terminal, as it is installed here."""
    if shutil.which("antidriftd"):
        return "antidriftd"
    beside = Path(sys.executable).with_name("antidriftd")
    return str(beside) if beside.exists() else f"{sys.executable} -m antidrift"
