"""The real programs, as npm installs them today, with our arguments and without a login.

Not part of the default run: it downloads some 300 MB. ANTIDRIFT_REAL_AI_CACHE names a folder to install into and to use
again. Whether they accept what we send is seen without any account: a stub on the loopback answers in their vendor's
place, and without one they must fail with a sentence for the person.

    pytest -m real_ai tests/real_ai
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from antidrift.backends import BACKENDS, ClaudeBackend, CodexBackend, Program
from antidrift.domain.model import FaultCode
from antidrift.ports import BackendError

pytestmark = pytest.mark.real_ai

LIMIT = 60.0
PACKAGES = ("@anthropic-ai/claude-code", "@openai/codex")
ROLE = "You judge one window. Answer with one JSON object."
PROMPT = 'Next action: write the outline\n{"class": "firefox", "title": "Cat pictures"}'
ANSWER = '{"on_task": false, "reason": "Cats"}'

both = pytest.mark.parametrize("name", sorted(BACKENDS))


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with both programs in it."""
    cache = os.environ.get("ANTIDRIFT_REAL_AI_CACHE")
    folder = Path(cache) if cache else tmp_path_factory.mktemp("npm")
    found = folder / "node_modules/.bin"
    if not all((found / name).exists() for name in BACKENDS):
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), *PACKAGES]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, timeout=600)
    return found


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which nobody has logged in, and nobody's keys."""
    for variable in list(os.environ):
        if variable.startswith(("ANTHROPIC_", "CLAUDE", "CODEX_", "OPENAI_", "AWS_")):
            monkeypatch.delenv(variable)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


async def fault_code(backend: Program) -> FaultCode:
    with pytest.raises(BackendError) as caught:
        async with asyncio.timeout(LIMIT):
            await backend.run(ROLE, PROMPT)
    message = caught.value.fault.message
    print(f"{backend.name}: {caught.value.fault.code}: {message}")
    assert message.startswith(f"{backend.name} ")
    assert message.endswith(".")
    assert "options" not in message
    return caught.value.fault.code


@both
async def test_without_a_login_the_person_is_told_to_log_in(name: str, programs: Path) -> None:
    backend = BACKENDS[name](programs / name)
    assert await fault_code(backend) is FaultCode.NOT_LOGGED_IN
    fault = await backend.login_fault()
    assert fault is not None
    assert fault.code is FaultCode.NOT_LOGGED_IN


@both
async def test_with_a_wrong_key_the_person_is_told_so_or_that_there_is_no_network(
    name: str, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv({"claude": "ANTHROPIC_API_KEY", "codex": "CODEX_API_KEY"}[name], "sk-wrong")
    code = await fault_code(BACKENDS[name](programs / name))
    assert code in (FaultCode.NOT_LOGGED_IN, FaultCode.OFFLINE)


async def test_claude_answers_and_sends_what_we_gave_it_and_no_tools(
    programs: Path, vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-stub")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", vendor.address)
    async with asyncio.timeout(LIMIT):
        assert await ClaudeBackend(programs / "claude").run(ROLE, PROMPT) == ANSWER
    [request] = vendor.asked("/v1/messages")
    assert request.get("tools", []) == []
    assert "haiku" in request["model"]
    assert ROLE in json.dumps(request["system"])
    assert "Cat pictures" in json.dumps(request["messages"])


class RedirectedCodex(CodexBackend):
    """Our arguments and one more: codex takes the address of its service from nowhere else."""

    def __init__(self, command: Path, address: str) -> None:
        super().__init__(command)
        self._address = address

    def _arguments(self, role: str, folder: Path, offered: frozenset[str]) -> list[str]:
        *arguments, stdin = super()._arguments(role, folder, offered)
        return [*arguments, "--config", f'openai_base_url="{self._address}/v1"', stdin]


async def test_codex_answers_and_sends_what_we_gave_it_and_no_shell(
    programs: Path, vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_API_KEY", "sk-stub")
    async with asyncio.timeout(LIMIT):
        assert await RedirectedCodex(programs / "codex", vendor.address).run(ROLE, PROMPT) == ANSWER
    [request] = vendor.asked("/v1/responses")
    print(f"codex: a request of {len(json.dumps(request))} bytes with {sorted(tool_names(request))}")
    assert not {"exec_command", "shell", "local_shell", "write_stdin", "web_search", "spawn_agent"} & tool_names(
        request
    )
    assert ROLE in json.dumps(request)
    assert "Cat pictures" in json.dumps(request["input"])


def tool_names(value: object) -> set[str]:
    """Every tool that a request offers, at whatever depth, with those that another one documents as its own."""
    if isinstance(value, list):
        return set[str]().union(*map(tool_names, value))
    if not isinstance(value, dict):
        return set()
    names = {tool["name"] for tool in value.get("tools", []) if "name" in tool}
    names |= set(re.findall(r"^### `(\w+)`", str(value.get("description", "")), re.MULTILINE))
    return names.union(*map(tool_names, value.values()))


@both
async def test_a_cancelled_program_leaves_no_process(
    name: str, programs: Path, vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    vendor.silent = True
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-stub")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", vendor.address)
    monkeypatch.setenv("CODEX_API_KEY", "sk-stub")
    command = programs / name
    backend = RedirectedCodex(command, vendor.address) if name == "codex" else ClaudeBackend(command)
    task = asyncio.create_task(backend.run(ROLE, PROMPT))
    deadline = time.monotonic() + LIMIT
    while not vendor.requests and time.monotonic() < deadline:
        await asyncio.wait([task], timeout=0.05)
    assert running_from(programs), "the program should be waiting for its answer"
    task.cancel()
    await asyncio.wait([task], timeout=LIMIT)
    assert task.cancelled()
    assert running_from(programs) == []


def running_from(programs: Path) -> list[str]:
    """The command lines of the processes whose program, or whose script, was installed there."""
    there = str(programs.parent.resolve())
    found = []
    for process in Path("/proc").iterdir():
        try:
            words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except (OSError, ValueError):
            continue
        if process.name.isdigit() and any(there in os.path.realpath(word) for word in words[:2] if "/" in word):
            found.append(" ".join(words)[:80])
    return found


class Vendor:
    """Answers in place of both vendors, on the loopback, and keeps what it was asked."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.silent = False
        self.over = threading.Event()
        vendor = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_error(404)

            def do_POST(self) -> None:
                path = self.path.partition("?")[0]
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                vendor.requests.append((path, json.loads(body or b"{}")))
                if vendor.silent:
                    vendor.over.wait(LIMIT)
                    return
                events = {"/v1/messages": MESSAGES, "/v1/responses": RESPONSES}.get(path)
                if events is None:
                    self.send_error(404)
                    return
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                for event in events:
                    self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

            def log_message(self, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def asked(self, path: str) -> list[dict[str, Any]]:
        return [body for where, body in self.requests if where == path]

    def close(self) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def vendor() -> Iterator[Vendor]:
    vendor = Vendor()
    yield vendor
    vendor.close()


# The least that each program takes for an answer.
MESSAGES: list[dict[str, Any]] = [
    {
        "type": "message_start",
        "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "stub", "content": [],
            "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
        },
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": ANSWER}},
    {"type": "content_block_stop", "index": 0},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 1},
    },
    {"type": "message_stop"},
]  # fmt: skip
RESPONSES: list[dict[str, Any]] = [
    {"type": "response.created", "response": {"id": "resp_1"}},
    {
        "type": "response.output_item.done",
        "output_index": 0,
        "item": {
            "id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": ANSWER, "annotations": []}],
        },
    },
    {
        "type": "response.completed",
        "response": {
            "id": "resp_1",
            "usage": {
                "input_tokens": 1, "input_tokens_details": None, "output_tokens": 1,
                "output_tokens_details": None, "total_tokens": 2,
            },
        },
    },
]  # fmt: skip
