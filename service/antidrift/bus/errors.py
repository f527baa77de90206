"""From what the service raises to what a client reads. Every error has a name below `org.antidrift.Error.`."""

from __future__ import annotations

from dbus_next.errors import DBusError

from antidrift.bus.names import ERROR_PREFIX
from antidrift.domain.errors import (
    IllegalTransition,
    InvalidArgument,
    InvalidCommitment,
    NotActive,
    NothingToJudge,
    NotPlanning,
    Refused,
)
from antidrift.ports import StoreError


class AccessDenied(Refused):
    """The caller may not do this."""


class RateLimited(Refused):
    """The caller asks for changes faster than a person could."""


NAMES: dict[type[Exception], str] = {
    IllegalTransition: ERROR_PREFIX + "IllegalTransition",
    NotPlanning: ERROR_PREFIX + "NotPlanning",
    NotActive: ERROR_PREFIX + "NotActive",
    NothingToJudge: ERROR_PREFIX + "NothingToJudge",
    InvalidCommitment: ERROR_PREFIX + "InvalidCommitment",
    InvalidArgument: ERROR_PREFIX + "InvalidArgument",
    AccessDenied: ERROR_PREFIX + "AccessDenied",
    RateLimited: ERROR_PREFIX + "RateLimited",
    StoreError: ERROR_PREFIX + "StoreFailed",
}
INTERNAL = ERROR_PREFIX + "Internal"
"""Anything else; the connection answers with it (`connection.py`), so that no traceback leaves the process."""


def to_dbus(error: Refused | StoreError) -> DBusError:
    """The error as a client reads it: its name, and a message that says in which state and for which value."""
    # A kind of error of its own that has no name on the bus, such as StoreLocked, has that of what it is a kind of.
    name = next(NAMES[kind] for kind in type(error).__mro__ if kind in NAMES)
    return DBusError(name, str(error))  # type: ignore[no-untyped-call]
