"""The JSON of a state as a client takes it in: whatever stands there, what comes out has the shape of the contract.

The readers below mirror `dbus/state.schema.json`, as those of the extension do, and a test holds them against it. They
are plain functions, since a status line may ask once a second and pydantic takes longer to import than all the rest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final

from antidrift.domain.model import (
    AwayCause,
    CallStatus,
    Consent,
    DriftStatus,
    FetchStatus,
    Health,
    Outcome,
    Phase,
    Source,
)

SCHEMA: Final = 1
"""The version of the state that is understood (`wire.SCHEMA`)."""

_MOST = 2**53 - 1  # what every reader of JSON has exactly (RFC 8259, 6)
_LAST_MS = 253_370_764_800_000  # the year 9999, after which Python knows no date

Reader = Callable[[object, str], Any]
"""Gives the value back if it is what is expected where it stands. Raises NotAState."""


class NotAState(ValueError):
    """The text is no state. The message says where, never what stood there: states hold window titles."""


def read(text: object) -> dict[str, Any]:
    """The state in `text`, certain in all its parts; one of another schema only in `schema`, `instance` and `seq`.

    Keys that are not known are left out: the service adds some without notice. Raises NotAState.
    """
    if not isinstance(text, str):
        raise NotAState("it is no text")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise NotAState("it is not JSON") from None
    head: dict[str, Any] = _HEAD(value, "state")
    if head["schema"] != SCHEMA:
        return head
    state: dict[str, Any] = _STATE(value, "state")
    for section in _SECTIONS[state["runtime_state"]]:
        _must_have(state[section], f"state.{section}")
    return state


def _must_have(value: object, where: str) -> None:
    if value is None:
        raise NotAState(f"{where} is missing")


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise NotAState(f"{where} is no text")
    return value


def _flag(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise NotAState(f"{where} is neither true nor false")
    return value


def _integer(value: object, where: str) -> int:
    if type(value) is not int or abs(value) > _MOST:
        raise NotAState(f"{where} is no integer")
    return value


def _moment(value: object, where: str) -> int:
    moment = _integer(value, where)
    if not 0 <= moment <= _LAST_MS:
        raise NotAState(f"{where} is no moment")
    return moment


def _one_of(values: type[StrEnum]) -> Reader:
    known = frozenset(map(str, values))

    def reader(value: object, where: str) -> str:
        if not isinstance(value, str) or value not in known:
            raise NotAState(f"{where} is none of {', '.join(values)}")
        return value

    return reader


def _nullable(reader: Reader) -> Reader:
    return lambda value, where: None if value is None else reader(value, where)


def _list(reader: Reader) -> Reader:
    def read_all(value: object, where: str) -> list[Any]:
        if not isinstance(value, list):
            raise NotAState(f"{where} is no list")
        return [reader(item, f"{where}[{index}]") for index, item in enumerate(value)]

    return read_all


def _record(readers: Mapping[str, Reader]) -> Reader:
    def read_all(value: object, where: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise NotAState(f"{where} is no object")
        for key in readers:
            if key not in value:
                raise NotAState(f"{where}.{key} is missing")
        return {key: reader(value[key], f"{where}.{key}") for key, reader in readers.items()}

    return read_all


def _coach(value: object, where: str) -> dict[str, Any]:
    coach: dict[str, Any] = _COACH(value, where)
    if coach["status"] == CallStatus.READY:
        _must_have(coach["proposal"], f"{where}.proposal")
    if coach["status"] == CallStatus.ERROR:
        _must_have(coach["error"], f"{where}.error")
    return coach


def _away(value: object, where: str) -> dict[str, Any]:
    away: dict[str, Any] = _AWAY(value, where)
    if away["active"]:
        _must_have(away["cause"], f"{where}.cause")
        _must_have(away["since_ms"], f"{where}.since_ms")
    return away


# A code is for translation only, so one that is new is no reason to show nothing.
_error = _nullable(_record({"code": _text, "message": _text}))
_fetch = _one_of(FetchStatus)

_PROPOSAL = _record(
    {
        "next_action": _text,
        "success_condition": _text,
        "timebox_secs": _integer,
        "allowed_window_classes": _list(_text),
    }
)
_COACH = _record(
    {"status": _one_of(CallStatus), "request_id": _integer, "proposal": _nullable(_PROPOSAL), "error": _error}
)
_COMMITMENT = _record(
    {
        "id": _text,
        "next_action": _text,
        "success_condition": _text,
        "timebox_secs": _integer,
        "started_at_ms": _integer,
        "deadline_ms": _integer,
        "remaining_ms": _integer,
        "running": _flag,
        "allowed_window_classes": _list(_text),
        "allowed_sites": _list(_text),
    }
)
_DRIFT = _record(
    {
        "status": _one_of(DriftStatus),
        "reason": _text,
        "nudge": _text,
        "subject": _nullable(_record({"class": _text, "site": _text})),
        "episode": _integer,
        "since_ms": _nullable(_moment),
        "interrupt": _flag,
    }
)
_AWAY = _record(
    {
        "active": _flag,
        "cause": _nullable(_one_of(AwayCause)),
        "since_ms": _nullable(_moment),
        "total_secs": _integer,
        "paused": _flag,
    }
)
_EVIDENCE = _record(
    {
        "health": _one_of(Health),
        "source": _one_of(Source),
        "error": _error,
        "window": _nullable(_record({"class": _text, "title": _text})),
        "window_since_ms": _nullable(_moment),
        "switch_count": _integer,
        "buckets": _list(_record({"class": _text, "title": _text, "secs": _integer})),
    }
)
# What holds in every schema: enough to tell that a state is newer than this program.
_HEAD = _record({"schema": _integer, "instance": _text, "seq": _integer})
_STATE = _record(
    {
        "schema": _integer,
        "instance": _text,
        "seq": _integer,
        "runtime_state": _one_of(Phase),
        "commitment": _nullable(_COMMITMENT),
        "coach": _nullable(_coach),
        "tasks": _nullable(
            _record({"status": _fetch, "items": _list(_record({"text": _text, "source": _text})), "error": _error})
        ),
        "knowledge": _nullable(_record({"status": _fetch, "error": _error})),
        "reflection": _nullable(_record({"status": _fetch, "recap": _text, "carry_forward": _text})),
        "drift": _nullable(_DRIFT),
        "away": _nullable(_away),
        "evidence": _nullable(_EVIDENCE),
        "outcome": _nullable(_one_of(Outcome)),
        "ai": _record(
            {
                "backend": _text,
                "available": _flag,
                "consent": _one_of(Consent),
                "error": _error,
                "retry_at_ms": _nullable(_moment),
            }
        ),
        "store": _record({"error": _error}),
    }
)
_SECTIONS = {
    Phase.LOCKED: ("reflection",),
    Phase.PLANNING: ("coach", "tasks", "knowledge", "reflection"),
    Phase.ACTIVE: ("commitment", "drift", "away", "evidence"),
    Phase.REVIEW: ("commitment", "reflection", "away", "evidence", "outcome"),
}
"""Which sections each phase has; the others are null."""
