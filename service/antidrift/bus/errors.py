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
    return DBusError(NAMES[type(error)], str(error))  # type: ignore[no-untyped-call]
