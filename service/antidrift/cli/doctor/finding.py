"""What one check found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How much a finding matters."""

    OK = "ok"
    NOTE = "note"  # something does without
    FAULT = "fault"  # the work stops


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found, as a sentence. Where something is to be done about it, the sentence names the command."""

    check: str
    level: Level
    message: str


def good(check: str, message: str) -> Finding:
    """All is well."""
    return Finding(check, Level.OK, message)


def note(check: str, message: str) -> Finding:
    """Something is missing, and the work goes on without it."""
    return Finding(check, Level.NOTE, message)


def fault(check: str, message: str) -> Finding:
    """Something is wrong that stops the work."""
    return Finding(check, Level.FAULT, message)
