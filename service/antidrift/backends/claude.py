"""Claude Code as a backend: one answer, no tools, nothing kept, and none of the person's hooks and servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from antidrift.backends.options import only_offered
from antidrift.backends.program import Program


class ClaudeBackend(Program):
    """`claude --print`, checked with 2.1.154 to 2.1.332.

    Without a model of the person's choice it asks for "haiku", the fast and cheap one: windows are judged many times an
    hour, and a verdict that comes late is worth nothing. The program's own default is its largest model.
    """

    name: ClassVar[str] = "claude"
    install: ClassVar[str] = "npm install -g @anthropic-ai/claude-code"
    log_in: ClassVar[str] = "run `claude` once in a terminal and log in"
    try_it: ClassVar[str] = "claude --print hello"
    help_arguments: ClassVar[Sequence[str]] = ("--help",)
    login_arguments: ClassVar[Sequence[str]] = ("auth", "status")
    variables: ClassVar[Sequence[str]] = (
        "ANTHROPIC_*",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CONFIG_DIR",
        # For those who reach it through a cloud. Their settings file is not read, see below; the environment is.
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
        "CLAUDE_CODE_USE_FOUNDRY",
        "AWS_*",
        "CLOUD_ML_REGION",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "GOOGLE_CLOUD_PROJECT",
        "VERTEX_REGION_*",
    )
    settings: ClassVar[Mapping[str, str]] = {
        # No telemetry files, no update check in the middle of a judgement.
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        # By default it tries for three minutes before it says what is wrong. Two attempts of 12 s fit into the shortest
        # limit of a role, so the person reads "offline" and not "too slow".
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "API_TIMEOUT_MS": "12000",
    }
    required: ClassVar[frozenset[str]] = frozenset(
        {"--print", "--tools", "--no-session-persistence", "--setting-sources", "--system-prompt"}
    )

    def _arguments(self, role: str, folder: Path, offered: frozenset[str]) -> list[str]:
        options = (
            ("--print",),
            ("--tools", ""),
            ("--no-session-persistence",),
            ("--output-format", "text"),
            # No settings of user, project or folder: they hold hooks, which would run for every window judged.
            ("--setting-sources", ""),
            ("--strict-mcp-config",),
            ("--disable-slash-commands",),
            ("--safe-mode",),
            ("--permission-prompts", "none"),
            ("--system-prompt", role),
            ("--model", self.model or "haiku"),
            ("--effort", "low"),
        )
        return only_offered(options, offered)
