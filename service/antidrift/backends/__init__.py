"""The AI programs that can be asked, by the name under which one is chosen."""

from __future__ import annotations

from antidrift.backends.claude import ClaudeBackend
from antidrift.backends.codex import CodexBackend
from antidrift.backends.program import Program

BACKENDS: dict[str, type[Program]] = {
    "claude": ClaudeBackend,
    "codex": CodexBackend,
}

__all__ = ["BACKENDS", "ClaudeBackend", "CodexBackend", "Program"]
