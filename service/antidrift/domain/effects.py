"""Everything a session can ask of the world. `Append` must be on disk before the step counts; the rest follows it."""

from __future__ import annotations

from dataclasses import dataclass

from antidrift.domain.model import RoleName, SessionSummary
from antidrift.domain.requests import Request


@dataclass(frozen=True, slots=True)
class Append:
    """Add the summary to the audit chain."""

    summary: SessionSummary


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the role that the request is for; report back with RoleAnswered or RoleFailed."""

    request: Request


@dataclass(frozen=True, slots=True)
class Cancel:
    """Stop asking this role; nobody waits for the answer any more."""

    role: RoleName


@dataclass(frozen=True, slots=True)
class CheckAI:
    """Look whether the AI program can be asked; report back with AIChecked."""


@dataclass(frozen=True, slots=True)
class FetchTasks:
    """Report back with TasksFetched."""


@dataclass(frozen=True, slots=True)
class FetchKnowledge:
    """Report back with KnowledgeFetched."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Start the window sensor."""


@dataclass(frozen=True, slots=True)
class Unwatch:
    """Stop the window sensor: nothing is watched outside a session."""


Effect = Append | Ask | Cancel | CheckAI | FetchTasks | FetchKnowledge | Watch | Unwatch
Effects = tuple[Effect, ...]
