"""Codex as a backend: one answer, no shell, no tools, nothing kept, none of the person's rules and hooks."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from antidrift.backends.options import only_offered
from antidrift.backends.process import STDOUT_KEPT, Ended
from antidrift.backends.program import Program
from antidrift.ports import BackendError

# Unknown keys are ignored by every version, so the newest list is sent to all of them. Without it codex offers its
# model a shell, with which a hostile window title could have files read, and starts the person's login shell itself.
_CONFIGURATION = (
    'approval_policy="never"',
    "features.shell_tool=false",
    "features.unified_exec=false",
    "features.shell_snapshot=false",
    "features.multi_agent=false",
    "features.multi_agent_v2=false",
    "features.plugins=false",
    "features.apps=false",
    "features.hooks=false",
    "features.goals=false",
    "features.image_generation=false",
    "features.view_image=false",
    "features.memories=false",
    "features.sleep_tool=false",
    "features.tool_suggest=false",
    "features.daemon_auto_start=false",
    "features.unbounded_connection_retries=false",
    "skills.bundled.enabled=false",
    'web_search="disabled"',
    "project_doc_max_bytes=0",
    "include_environment_context=false",
    "include_permissions_instructions=false",
    "include_collaboration_mode_instructions=false",
    'history.persistence="none"',
    "analytics.enabled=false",
    'model_reasoning_effort="low"',
)
# Since 0.144 the model decides whether it may start further agents, and since 0.145 this overrules it; but versions
# before that end over it. In `exec --help` they all look alike, so it waits for an option that came later.
_NO_AGENTS = "agents.enabled=false"
_NO_AGENTS_SINCE = "--worktree"
_KEY = "CODEX_API_KEY"


class CodexBackend(Program):
    """`codex exec`, checked with 0.135.0, 0.144.0, 0.145.0 and 0.171.0.

    Which models there are depends on the person's plan, so without a choice of theirs codex takes its own default.
    """

    name: ClassVar[str] = "codex"
    install: ClassVar[str] = "npm install -g @openai/codex"
    log_in: ClassVar[str] = "run `codex login`"
    try_it: ClassVar[str] = "codex exec --skip-git-repo-check hello"
    help_arguments: ClassVar[Sequence[str]] = ("exec", "--help")
    login_arguments: ClassVar[Sequence[str]] = ("login", "status")
    variables: ClassVar[Sequence[str]] = (_KEY, "OPENAI_API_KEY", "CODEX_HOME")
    required: ClassVar[frozenset[str]] = frozenset(
        {"--ephemeral", "--ignore-user-config", "--sandbox", "--output-last-message", "--config"}
    )

    def _arguments(self, role: str, folder: Path, offered: frozenset[str]) -> list[str]:
        instructions = folder / "role.md"
        instructions.write_text(role, encoding="utf-8")
        options = [
            ("--skip-git-repo-check",),
            ("--ignore-user-config",),
            ("--ignore-rules",),
            ("--ephemeral",),
            ("--sandbox", "read-only"),
            ("--color", "never"),
            ("--output-last-message", str(_answer_file(folder))),
        ]
        if self.model is not None:
            options.append(("--model", self.model))
        # A TOML string is written like one of JSON.
        role_file = f"model_instructions_file={json.dumps(str(instructions), ensure_ascii=False)}"
        options += [("--config", setting) for setting in (*_CONFIGURATION, role_file)]
        if _NO_AGENTS_SINCE in offered:
            options.append(("--config", _NO_AGENTS))
        return ["exec", *only_offered(options, offered), "-"]

    def _answer(self, ended: Ended, folder: Path) -> bytes:
        # Its standard output is a log. The file may be missing, and is empty after some failures.
        try:
            # Without blocking, whatever the program may have put there.
            descriptor = os.open(_answer_file(folder), os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        except FileNotFoundError:
            return b""
        with open(descriptor, "rb") as file:
            return file.read(STDOUT_KEPT)

    async def _before(self, program: Path) -> None:
        # Without a login it tries to connect until the caller gives up; its own word on that takes a tenth of a second.
        # This key is no login in its eyes, but serves; OPENAI_API_KEY it does not use here.
        if not os.environ.get(_KEY) and (fault := await self.login_fault()) is not None:
            raise BackendError(fault)


def _answer_file(folder: Path) -> Path:
    return folder / "answer.txt"
