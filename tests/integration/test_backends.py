"""Both backends against stand-ins that check their arguments as the real programs do."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from antidrift.backends import BACKENDS, Program, program
from antidrift.domain.model import Fault, FaultCode
from antidrift.ports import BackendError
from standins.standin import StandIn

DEADLINE = 20.0
ROLE = 'You judge. Answer in the form {"on_task": true}'
PROMPT = 'Next action: write\n{"class": "firefox", "title": "Cat pictures – 429"}\n'
NAMES = sorted(BACKENDS)

both = pytest.mark.parametrize("name", NAMES)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, and no key of whoever runs the tests."""
    for variable in list(os.environ):
        if variable.startswith(("ANTHROPIC_", "CLAUDE", "CODEX_", "OPENAI_")):
            monkeypatch.delenv(variable)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    (tmp_path / "run").mkdir(mode=0o700)
    return tmp_path


@pytest.fixture
def stand_in(name: str, home: Path) -> StandIn:
    return StandIn(name, home / ".local/bin")


@pytest.fixture
def backend(name: str, stand_in: StandIn) -> Program:
    return BACKENDS[name](command=stand_in.program)


async def ask(backend: Program, prompt: str = PROMPT) -> str:
    async with asyncio.timeout(DEADLINE):
        return await backend.run(ROLE, prompt)


async def fault_of(backend: Program, prompt: str = PROMPT) -> Fault:
    with pytest.raises(BackendError) as caught:
        await ask(backend, prompt)
    return caught.value.fault


async def until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {DEADLINE:g} s"
        await asyncio.sleep(0.01)


def alive(pid: int) -> bool:
    return os.path.exists(f"/proc/{pid}")


@both
async def test_a_backend_gives_the_answer_to_a_role(backend: Program, stand_in: StandIn) -> None:
    stand_in.plays(verdicts={"Cat pictures – 429": False})
    assert await ask(backend) == '{"on_task": false, "reason": "Something else"}'


@both
async def test_the_role_arrives_as_the_instruction_and_the_prompt_on_standard_input(
    backend: Program, stand_in: StandIn
) -> None:
    await ask(backend)
    [call] = stand_in.calls()
    assert call["role"] == "drift_judge"
    assert call["stdin"] == PROMPT


@both
async def test_nothing_private_is_in_the_arguments_or_the_environment(backend: Program, stand_in: StandIn) -> None:
    await ask(backend)
    [call] = stand_in.calls()
    assert "Cat pictures" not in " ".join(call["argv"])
    assert "Cat pictures" not in " ".join(call["env"].values())


async def test_claude_is_asked_with_no_tools_no_memory_and_none_of_the_persons_settings(home: Path) -> None:
    stand_in = StandIn("claude", home)
    await ask(BACKENDS["claude"](stand_in.program))
    [call] = stand_in.calls()
    assert call["argv"] == [
        "--print",
        "--tools", "",
        "--no-session-persistence",
        "--output-format", "text",
        "--setting-sources", "",
        "--strict-mcp-config",
        "--disable-slash-commands",
        "--safe-mode",
        "--permission-prompts", "none",
        "--system-prompt", ROLE,
        "--model", "haiku",
        "--effort", "low",
    ]  # fmt: skip


async def test_codex_is_asked_with_no_shell_no_memory_and_none_of_the_persons_settings(home: Path) -> None:
    stand_in = StandIn("codex", home)
    await ask(BACKENDS["codex"](stand_in.program))
    [call] = stand_in.calls()
    argv, folder = call["argv"], call["cwd"]
    settings = {argv[i + 1] for i, word in enumerate(argv) if word == "--config"}
    plain = [word for i, word in enumerate(argv) if "--config" not in (word, argv[i - 1])]
    assert plain == [
        "exec",
        "--skip-git-repo-check",
        "--ignore-user-config",
        "--ignore-rules",
        "--ephemeral",
        "--sandbox", "read-only",
        "--color", "never",
        "--output-last-message", f"{folder}/answer.txt",
        "-",
    ]  # fmt: skip
    assert settings >= {
        'approval_policy="never"',
        "features.shell_tool=false",
        "features.unified_exec=false",
        "features.shell_snapshot=false",
        'web_search="disabled"',
        'history.persistence="none"',
        f'model_instructions_file="{folder}/role.md"',
    }


@both
async def test_a_model_of_the_persons_choice_is_asked_for(name: str, stand_in: StandIn) -> None:
    await ask(BACKENDS[name](stand_in.program, model="large-1"))
    [call] = stand_in.calls()
    assert call["argv"][call["argv"].index("--model") + 1] == "large-1"


@both
async def test_the_program_runs_in_an_empty_private_folder_that_is_gone_afterwards(
    backend: Program, stand_in: StandIn, home: Path
) -> None:
    await ask(backend)
    [call] = stand_in.calls()
    assert Path(call["cwd"]).parent == home / "run/antidrift"
    assert call["cwd_mode"] == "0o700"
    assert set(call["listing"]) <= {"role.md"}
    assert list((home / "run/antidrift").iterdir()) == []


@both
async def test_the_program_sees_a_scrubbed_environment(
    backend: Program, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in set(os.environ) - {"HOME", "PATH", "XDG_RUNTIME_DIR"}:
        monkeypatch.delenv(variable)
    for variable in ("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "SSH_AUTH_SOCK", "NODE_OPTIONS", "CLAUDECODE", "A_TOKEN"):
        monkeypatch.setenv(variable, "set")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example")
    await ask(backend)
    [call] = stand_in.calls()
    env = call["env"]
    # LC_CTYPE: Python sets it for itself where there is no locale.
    assert env.keys() - {"LC_CTYPE"} - backend.settings.keys() == {
        "HOME", "PATH", "TERM", "NO_COLOR", "CI", "HTTPS_PROXY", "ANTIDRIFT_CALL",
    }  # fmt: skip
    assert (env["TERM"], env["CI"], env["HTTPS_PROXY"]) == ("dumb", "1", "http://proxy.example")


@pytest.mark.parametrize(
    ("name", "own", "foreign"),
    [("claude", "ANTHROPIC_API_KEY", "CODEX_API_KEY"), ("codex", "CODEX_API_KEY", "ANTHROPIC_API_KEY")],
)
async def test_a_program_sees_its_own_key_only(
    backend: Program, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch, own: str, foreign: str
) -> None:
    monkeypatch.setenv(own, "k")
    monkeypatch.setenv(foreign, "k")
    await ask(backend)
    [call] = stand_in.calls()
    assert own in call["env"]
    assert foreign not in call["env"]


@both
async def test_large_prompts_and_large_answers_arrive_whole(backend: Program, stand_in: StandIn) -> None:
    stand_in.plays(answer_bytes=250_000)
    prompt = "ä" * 500_000
    assert len(await ask(backend, prompt)) == 250_000
    assert stand_in.calls()[0]["stdin"] == prompt


@both
@pytest.mark.parametrize("answer", ["Well, I would say so.", '```json\n{"on_task": true}\n```', '{"on_task": 1}'])
async def test_what_the_answer_means_is_not_the_backends_business(
    backend: Program, stand_in: StandIn, answer: str
) -> None:
    stand_in.plays(answer=f"\n{answer}\n\n")
    assert await ask(backend) == answer


@pytest.mark.parametrize("name", ["claude"])
async def test_an_older_claude_gets_no_option_that_it_does_not_know(backend: Program, stand_in: StandIn) -> None:
    stand_in.plays(version=[2, 1, 154], answer="yes")
    assert await ask(backend) == "yes"
    [call] = stand_in.calls()
    assert not {"--safe-mode", "--permission-prompts", "none"} & set(call["argv"])
    assert "--setting-sources" in call["argv"]


@pytest.mark.parametrize("name", ["codex"])
@pytest.mark.parametrize(("version", "told"), [([0, 135, 0], False), ([0, 171, 0], True)])
async def test_codex_is_told_to_start_no_agents_where_it_understands_that(
    backend: Program, stand_in: StandIn, version: list[int], told: bool
) -> None:
    stand_in.plays(version=version, answer="yes")
    assert await ask(backend) == "yes"
    [call] = stand_in.calls()
    assert ("agents.enabled=false" in call["argv"]) is told


@pytest.mark.parametrize(("name", "version"), [("claude", [2, 0, 5]), ("codex", [0, 80, 0])])
async def test_a_version_that_would_keep_or_do_too_much_is_refused_and_not_asked(
    backend: Program, stand_in: StandIn, version: list[int]
) -> None:
    stand_in.plays(version=version)
    fault = await fault_of(backend)
    assert fault.code is FaultCode.FAILED
    assert f"{stand_in.program} is too old: update it (npm install -g " in fault.message
    assert stand_in.calls() == []


@both
async def test_the_help_is_read_again_only_when_the_program_was_replaced(
    name: str, backend: Program, stand_in: StandIn, home: Path
) -> None:
    stand_in.plays(answer="one")
    await ask(backend)
    stand_in.plays(answer="two", help_hangs=True)
    assert await ask(backend) == "two"
    # An update puts another file under the same name.
    old = {"claude": [2, 0, 5], "codex": [0, 80, 0]}[name]
    stand_in.plays(version=old)
    replacement = home / "replacement"
    replacement.write_bytes(stand_in.program.read_bytes().replace(b"from standin", b"# new\nfrom standin"))
    replacement.chmod(0o755)
    library = stand_in.program.parent / "standin.py"
    library.symlink_to(stand_in.program.resolve().parent / "standin.py")
    replacement.rename(stand_in.program)
    assert "too old" in (await fault_of(backend)).message


@both
async def test_a_program_whose_help_hangs_is_reported_not_awaited(
    backend: Program, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "QUESTION_LIMIT", 0.5)
    stand_in.plays(help_hangs=True)
    fault = await fault_of(backend)
    assert fault.code is FaultCode.FAILED
    assert "--help` did not end within 0.5 seconds" in fault.message


@both
@pytest.mark.parametrize(
    ("played", "code", "says"),
    [
        ("not_logged_in", FaultCode.NOT_LOGGED_IN, "is not logged in: run `"),
        ("rate_limited", FaultCode.RATE_LIMITED, "has reached a usage limit"),
        ("out_of_credit", FaultCode.RATE_LIMITED, "has reached a usage limit"),
        ("offline", FaultCode.OFFLINE, "could not reach its service: check the network"),
        ("server_error", FaultCode.FAILED, "failed (exit status 1): `"),
        ("unknown_model", FaultCode.FAILED, "cannot use this model: set another `model` in the [ai] part"),
        ("killed", FaultCode.FAILED, "was ended by signal 9"),
    ],
)
async def test_a_failure_is_one_sentence_that_says_what_to_do(
    backend: Program, stand_in: StandIn, played: str, code: FaultCode, says: str
) -> None:
    stand_in.plays(fault=played)
    fault = await fault_of(backend)
    assert fault.code is code
    assert says in fault.message
    assert "Cat pictures" not in fault.message


@both
async def test_a_failed_program_is_not_believed_whatever_it_answered(backend: Program, stand_in: StandIn) -> None:
    stand_in.plays(answer='{"on_task": false, "reason": "plausible"}', exit=1)
    assert (await fault_of(backend)).code is FaultCode.FAILED


@both
@pytest.mark.parametrize("answer", ["", " \n\t\n"])
async def test_an_empty_answer_is_a_fault(backend: Program, stand_in: StandIn, answer: str) -> None:
    stand_in.plays(answer=answer)
    assert (await fault_of(backend)).code is FaultCode.EMPTY_RESPONSE


async def test_codex_without_a_login_is_not_handed_the_prompt(home: Path) -> None:
    stand_in = StandIn("codex", home).plays(logged_in=False)
    fault = await fault_of(BACKENDS["codex"](stand_in.program))
    assert fault == Fault(FaultCode.NOT_LOGGED_IN, "codex is not logged in: run `codex login`.")
    assert stand_in.calls() == []


async def test_codex_with_a_key_needs_no_login(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_API_KEY", "k")
    stand_in = StandIn("codex", home).plays(logged_in=False, answer="yes")
    assert await ask(BACKENDS["codex"](stand_in.program)) == "yes"


@both
async def test_the_login_can_be_asked_for_without_a_request(backend: Program, stand_in: StandIn) -> None:
    assert await backend.login_fault() is None
    stand_in.plays(logged_in=False)
    fault = await backend.login_fault()
    assert fault is not None
    assert fault.code is FaultCode.NOT_LOGGED_IN
    assert stand_in.calls() == []


@both
async def test_a_program_that_is_not_installed_is_unavailable(
    name: str, home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("antidrift.backends.find.search_folders", lambda: [tmp_path])
    backend = BACKENDS[name]()
    assert backend.program is None
    fault = backend.check()
    assert fault is not None
    assert fault.code is FaultCode.UNAVAILABLE
    assert fault.message.startswith(f"No program named {name} was found: install it (npm install -g ")
    assert fault.message.endswith("or set ANTIDRIFT_AI_BACKEND=none.")
    assert await fault_of(backend) == fault
    assert await backend.login_fault() == fault


@both
def test_a_program_that_is_installed_is_available_and_named(name: str, home: Path) -> None:
    stand_in = StandIn(name, home / ".local/bin")
    backend = BACKENDS[name](command="~/.local/bin/" + name)
    assert backend.check() is None
    assert backend.program == stand_in.program


@both
async def test_a_wrong_command_in_the_config_is_named(name: str, home: Path) -> None:
    fault = await fault_of(BACKENDS[name](command=home / "gone"))
    assert fault.code is FaultCode.UNAVAILABLE
    assert f"There is no program at {home / 'gone'}" in fault.message


@both
@pytest.mark.parametrize("content", ["#!/usr/bin/env nothing-of-this-name\n", "#!/nothing/of/this/name\n"])
async def test_a_program_without_its_interpreter_is_unavailable(name: str, home: Path, content: str) -> None:
    script = home / name
    script.write_text(content)
    script.chmod(0o755)
    fault = await fault_of(BACKENDS[name](script))
    assert fault.code is FaultCode.UNAVAILABLE
    assert f"{script} cannot" in fault.message


@both
async def test_a_cancelled_call_leaves_no_process_and_no_folder(
    backend: Program, stand_in: StandIn, home: Path
) -> None:
    stand_in.plays(misbehave=["starts_session", "leaves_bare_orphan", "hangs"])
    task = asyncio.create_task(ask(backend))
    await until(lambda: len(stand_in.pids()) == 3, "all its processes are up")
    task.cancel()
    await asyncio.wait([task], timeout=DEADLINE)
    assert task.cancelled()
    assert [pid for pid in stand_in.pids() if alive(pid)] == []
    assert list((home / "run/antidrift").iterdir()) == []


@both
async def test_two_calls_at_once_do_not_disturb_each_other(backend: Program, stand_in: StandIn) -> None:
    stand_in.plays(delay=0.1, verdicts={"one": True, "two": False})
    one, two = await asyncio.gather(ask(backend, '{"title": "one"}'), ask(backend, '{"title": "two"}'))
    assert '"on_task": true' in one
    assert '"on_task": false' in two


@both
async def test_the_log_holds_numbers_and_no_text(
    backend: Program, stand_in: StandIn, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    stand_in.plays(answer="a secret answer")
    await ask(backend)
    stand_in.plays(fault="server_error")
    await fault_of(backend)
    assert f"{backend.name} ended: rc 1 after " in caplog.text
    for private in ("Cat pictures", "Next action", "secret", "Internal", "You judge"):
        assert private not in caplog.text
