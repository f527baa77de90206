"""What is sent to which version, and what is made of its words: no program is started here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from antidrift.backends import BACKENDS
from antidrift.backends.environment import environment, private_folder
from antidrift.backends.failures import classify
from antidrift.backends.find import find_program
from antidrift.backends.options import offered_by, only_offered
from antidrift.domain.model import FaultCode

# As commander writes it: two columns, wrapped text that talks of options, a name too long for its column.
CLAUDE_HELP = """\
Usage: claude [options] [command] [prompt]

Options:
  --add-dir <directories...>            Additional directories
  --allowedTools, --allowed-tools <tools...>
      Comma-separated list (see --named-in-text)
  --bare                                Minimal mode. Provide context via
                                        --wrapped-text[-file], --more-text.
  -p, --print                           Print response and exit --not-this
  --tools <tools...>                    Use "" to disable all tools
  -v, --version                         Output the version number

Commands:
  auth                                  Manage authentication
"""

# As clap writes it: a line for the names, text below.
CODEX_HELP = """\
Options:
  -c, --config <key=value>
          Override a value. Examples: - `-c model="o3"`

      --skip-git-repo-check
          Allow running outside a repository, equivalent to `-c x=y`
          --not-this either

  -i, --image <FILE>...
          Optional image(s)
"""


def test_the_options_of_a_help_in_two_columns_are_read() -> None:
    assert offered_by(CLAUDE_HELP) == {
        "--add-dir", "--allowedTools", "--allowed-tools", "--bare", "--print", "--tools", "--version",
    }  # fmt: skip


def test_the_options_of_a_help_in_paragraphs_are_read() -> None:
    assert offered_by(CODEX_HELP) == {"--config", "--skip-git-repo-check", "--image"}


def test_an_option_that_is_not_offered_goes_with_its_value() -> None:
    options = [("--tools", ""), ("--effort", "low"), ("--print",)]
    assert only_offered(options, frozenset({"--tools", "--print"})) == ["--tools", "", "--print"]


@pytest.mark.parametrize("name", BACKENDS)
def test_a_backend_goes_by_the_name_it_is_chosen_by(name: str) -> None:
    assert BACKENDS[name]().name == name


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Not logged in · Please run /login", FaultCode.NOT_LOGGED_IN),
        ("Invalid API key · Fix external API key", FaultCode.NOT_LOGGED_IN),
        ('{\n  "loggedIn": false,\n  "authMethod": "none"\n}', FaultCode.NOT_LOGGED_IN),
        ("ERROR: unexpected status 401 Unauthorized: {}, url: …", FaultCode.NOT_LOGGED_IN),
        ('API Error: 429 {"type":"error","error":{"type":"rate_limit_error"}}', FaultCode.RATE_LIMITED),
        ("API Error: 529 Overloaded", FaultCode.RATE_LIMITED),
        ("5-hour limit reached ∙ resets 3pm", FaultCode.RATE_LIMITED),
        ("You've hit your session limit · resets 3pm", FaultCode.RATE_LIMITED),
        ("ERROR: You've hit your usage limit. Upgrade to …", FaultCode.RATE_LIMITED),
        ("API Error: Unable to connect to API (ConnectionRefused)", FaultCode.OFFLINE),
        ("API Error: Connection error.", FaultCode.OFFLINE),
        ("ERROR: Connection failed: error sending request", FaultCode.OFFLINE),
        ("ERROR: Reconnecting... 5/5\nERROR: unexpected status 401 Unauthorized", FaultCode.NOT_LOGGED_IN),
        ("API Error: 500 Internal server error", FaultCode.FAILED),
        ("2026-11-30T17:26:00.000429Z ERROR something else", FaultCode.FAILED),
        ("", FaultCode.FAILED),
    ],
)
def test_the_words_of_a_program_tell_what_is_wrong(text: str, code: FaultCode) -> None:
    assert classify(text, "") is code


def test_a_prompt_that_is_quoted_in_the_log_says_nothing() -> None:
    prompt = 'Next action: fix it\n{"class": "firefox", "title": "429 Too Many Requests"}'
    assert classify(f"user\n{prompt}\n\nERROR: Connection failed: error sending request", prompt) is FaultCode.OFFLINE


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, and the PATH of a service that D-Bus activated."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.delenv("NVM_DIR", raising=False)
    return tmp_path


def install(path: Path, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


NAME = "an-ai-nobody-has"


@pytest.mark.parametrize(
    "folder",
    [".local/bin", ".claude/local", ".npm-global/bin", ".bun/bin", ".nvm/versions/node/v22.1.0/bin"],
)
def test_a_program_is_found_where_installers_put_it(home: Path, folder: str) -> None:
    file = install(home / folder / NAME)
    assert find_program(NAME) == file


def test_path_comes_first(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(home / ".local/bin" / NAME)
    first = install(home / "first" / NAME)
    monkeypatch.setenv("PATH", f".::{home}/first:/usr/bin")
    assert find_program(NAME) == first


def test_the_newest_node_that_has_the_program_is_taken(home: Path) -> None:
    versions = home / ".nvm/versions/node"
    install(versions / "v9.11.2/bin" / NAME)
    newest = install(versions / "v22.9.0/bin" / NAME)
    install(versions / "v8.0.0/bin" / NAME)
    (versions / "v24.0.0/bin").mkdir(parents=True)
    assert find_program(NAME) == newest


def test_what_cannot_be_executed_or_is_no_file_is_not_found(home: Path) -> None:
    install(home / ".local/bin" / NAME, mode=0o644)
    (home / ".bun/bin" / NAME).mkdir(parents=True)
    assert find_program(NAME) is None


def test_a_configured_command_decides_alone(home: Path) -> None:
    install(home / ".local/bin" / NAME)
    chosen = install(home / "elsewhere/other")
    assert find_program(NAME, str(chosen)) == chosen
    assert find_program(NAME, "~/elsewhere/other") == chosen
    assert find_program(NAME, str(home / "missing")) is None
    assert find_program(NAME, "elsewhere/other") is None


def test_a_program_sees_only_listed_variables(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name not in ("HOME", "PATH"):
            monkeypatch.delenv(name)
    wanted = {"LANG": "de_DE.UTF-8", "LC_TIME": "C", "HTTPS_PROXY": "http://proxy", "AN_API_KEY": "k"}
    refused = {
        "DBUS_SESSION_BUS_ADDRESS": "unix:", "DISPLAY": ":0", "WAYLAND_DISPLAY": "w", "SSH_AUTH_SOCK": "s",
        "LD_PRELOAD": "evil.so", "PYTHONPATH": "p", "NODE_OPTIONS": "--inspect", "BASH_ENV": "b", "CLAUDECODE": "1",
        "OTHER_API_KEY": "secret",
    }  # fmt: skip
    for name, value in (wanted | refused).items():
        monkeypatch.setenv(name, value)
    seen = environment(home / "bin/program", ["AN_*"])
    path = seen.pop("PATH").split(":")
    assert seen == wanted | {"HOME": str(home), "TERM": "dumb", "NO_COLOR": "1", "CI": "1"}
    assert path[0] == str(home / "bin")
    assert "/usr/bin" in path


def test_the_folder_of_a_call_is_private_empty_and_gone_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with private_folder() as folder:
        assert folder.parent == tmp_path / "antidrift"
        assert folder.stat().st_mode & 0o777 == 0o700
        assert list(folder.iterdir()) == []
        (folder / "file").write_text("left behind")
    assert list((tmp_path / "antidrift").iterdir()) == []


def test_a_runtime_folder_that_is_missing_is_no_reason_to_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "missing"))
    with private_folder() as folder:
        assert folder.is_dir()
