from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args

import pytest

from antidrift.config import TaskSourceName
from antidrift.domain.model import FaultCode, Task
from antidrift.ports import KnowledgeSource, ProviderError, TaskSource
from antidrift.providers import knowledge_source, task_source
from antidrift.providers.tasks import Taskwarrior

PATIENCE = 20.0  # seconds; normally milliseconds


def task_file(path: Path, source: str = "todo.txt", limit: int = 50) -> TaskSource:
    found = task_source(source, path, limit)
    assert found is not None
    return found


def profile(path: Path) -> KnowledgeSource:
    found = knowledge_source(path)
    assert found is not None
    return found


SourceAt = Callable[[Path], TaskSource | KnowledgeSource]


async def refusal(source: TaskSource | KnowledgeSource) -> tuple[FaultCode, str]:
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(ProviderError) as refused:
            await source.fetch()
    return refused.value.fault.code, refused.value.fault.message


# Choosing


@pytest.mark.parametrize("name", get_args(TaskSourceName))
def test_every_source_that_the_config_knows_can_be_had(name: str) -> None:
    assert (task_source(name, Path("/x"), 20) is None) == (name == "none")


def test_without_a_profile_there_is_no_knowledge() -> None:
    assert knowledge_source(None) is None


@pytest.mark.parametrize(("name", "path"), [("trello", Path("/x")), ("todo.txt", None)])
def test_an_unknown_source_or_a_missing_path_is_a_mistake_of_the_caller(name: str, path: Path | None) -> None:
    with pytest.raises(ValueError, match=name):
        task_source(name, path, 20)


# Task files


async def test_a_file_is_read_anew_at_each_fetch(tmp_path: Path) -> None:
    file = tmp_path / "todo.txt"
    file.write_text("(B) second\n(A) first t:1999-01-01\nhidden t:2999-01-01\n")
    source = task_file(file)
    assert await source.fetch() == (Task("first", "todo.txt"), Task("second", "todo.txt"))
    file.write_text("other\n")
    assert await source.fetch() == (Task("other", "todo.txt"),)


async def test_the_limit_of_the_config_holds(tmp_path: Path) -> None:
    file = tmp_path / "tasks.md"
    file.write_text("- [ ] one\n- [ ] two\n- [ ] three\n")
    assert [task.text for task in await task_file(file, "markdown", 2).fetch()] == ["one", "two"]


async def test_a_byte_order_mark_and_bytes_that_are_not_utf8_do_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "todo.txt"
    file.write_bytes(b"\xef\xbb\xbf(A) caf\xe9\n")
    assert [task.text for task in await task_file(file).fetch()] == ["caf\ufffd"]


async def test_only_the_first_mebibyte_is_read(tmp_path: Path) -> None:
    file = tmp_path / "todo.txt"
    file.write_bytes(b"first\n" + b"x done\n" * 200_000 + b"(A) beyond\n")
    assert [task.text for task in await task_file(file).fetch()] == ["first"]


async def test_an_empty_file_is_no_fault(tmp_path: Path) -> None:
    file = tmp_path / "todo.txt"
    file.touch()
    assert await task_file(file).fetch() == ()


# What may stand at a path instead of a file


@pytest.fixture(params=[task_file, profile], ids=["tasks", "knowledge"])
def source_at(request: pytest.FixtureRequest) -> SourceAt:
    found: SourceAt = request.param
    return found


async def test_a_missing_file_is_not_found(tmp_path: Path, source_at: SourceAt) -> None:
    for file in (tmp_path / "none", tmp_path / "none" / "below", tmp_path / "\0"):
        assert await refusal(source_at(file)) == (FaultCode.NOT_FOUND, f"{file} does not exist.")


async def test_a_path_below_a_file_is_not_found(tmp_path: Path, source_at: SourceAt) -> None:
    (tmp_path / "file").touch()
    code, _ = await refusal(source_at(tmp_path / "file" / "below"))
    assert code is FaultCode.NOT_FOUND


async def test_a_folder_a_pipe_a_socket_or_a_device_is_refused_at_once(tmp_path: Path, source_at: SourceAt) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        for path in (tmp_path, tmp_path / "pipe", tmp_path / "socket", Path("/dev/zero"), Path("/dev/tty")):
            code, message = await refusal(source_at(path))
            assert code is FaultCode.UNREADABLE
            assert message.startswith(f"{path} ")


async def test_a_file_that_cannot_be_opened_is_unreadable(tmp_path: Path, source_at: SourceAt) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)  # as unreadable for root as for anybody
    assert await refusal(source_at(loop)) == (
        FaultCode.UNREADABLE,
        f"{loop} cannot be read: Too many levels of symbolic links.",
    )


async def test_refusals_leave_no_descriptor_open(tmp_path: Path, source_at: SourceAt) -> None:
    await refusal(source_at(tmp_path))  # the first one starts a thread
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        await refusal(source_at(tmp_path))
    assert len(os.listdir("/proc/self/fd")) == before


# Knowledge


async def test_a_profile_is_its_text(tmp_path: Path) -> None:
    file = tmp_path / "me.md"
    file.write_bytes("\ufeff\n# Ich\r\n\tmag Käse\x00\x1b[2J\n\n".encode())
    assert await profile(file).fetch() == "# Ich\n\tmag Käse[2J"


async def test_a_profile_is_cut_at_16_kib_between_characters(tmp_path: Path) -> None:
    file = tmp_path / "me.md"
    file.write_text("a" + "ä" * 20_000)
    text = await profile(file).fetch()
    assert text == "a" + "ä" * 8191


async def test_bytes_that_are_not_text_do_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "me.md"
    file.write_bytes(b"a\xff\xfe\x00b")
    assert await profile(file).fetch() == "a\ufffd\ufffdb"


async def test_a_blank_profile_is_an_empty_text(tmp_path: Path) -> None:
    file = tmp_path / "me.md"
    file.write_text(" \n\n")
    assert await profile(file).fetch() == ""


async def test_the_text_is_neither_kept_nor_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "me.md"
    file.write_text("secret")
    source = profile(file)
    caplog.set_level(0)
    assert await source.fetch() == "secret"
    assert "secret" not in repr(source)
    assert "secret" not in caplog.text
    file.unlink()
    file.mkdir()
    with pytest.raises(ProviderError) as refused:
        await source.fetch()
    assert "secret" not in "".join(traceback.format_exception(refused.value))


# Taskwarrior, played by a script


class Program:
    """A stand-in for `task`: a shell script in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "task"

    def write(self, script: str) -> None:
        self.path.write_text(f"#!/bin/sh\ncd '{self.folder}'\n{script}\n")
        self.path.chmod(0o755)

    def source(self, timeout_secs: float = PATIENCE) -> Taskwarrior:
        return Taskwarrior(str(self.path), timeout_secs=timeout_secs)

    async def pid(self, name: str) -> int:
        """The process id that the script has written into the file `name`."""
        async with asyncio.timeout(PATIENCE):
            while not (pid := self._written(name)):
                await asyncio.sleep(0.01)
        return pid

    def pid_at_once(self, name: str) -> int:
        """The same, with the event loop held up until then."""
        deadline = time.monotonic() + PATIENCE
        while not (pid := self._written(name)):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return pid

    def _written(self, name: str) -> int | None:
        file = self.folder / name
        text = file.read_text() if file.exists() else ""
        return int(text) if text.endswith("\n") else None


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


def running(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


async def gone(pid: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while running(pid):
            await asyncio.sleep(0.01)


@pytest.fixture
def silent_stdin() -> Iterator[None]:
    """Standard input as in a terminal where nobody types: reading it does not end."""
    saved, (reading, writing) = os.dup(0), os.pipe()
    os.dup2(reading, 0)
    yield
    os.dup2(saved, 0)
    for descriptor in (saved, reading, writing):
        os.close(descriptor)


@pytest.mark.usefixtures("silent_stdin")
async def test_the_export_is_asked_for_quietly_and_without_standard_input(program: Program) -> None:
    program.write(
        'echo "$@" > args; cat > stdin; echo \'[{"description":"Call Ann","status":"pending"}]\'; echo noise >&2'
    )
    assert await program.source().fetch() == (Task("Call Ann", "taskwarrior"),)
    assert (program.folder / "args").read_text().split() == [
        "rc.confirmation=off",
        "rc.verbose=nothing",
        "rc.hooks=off",
        "rc.gc=off",
        "rc.json.array=on",
        "status:pending",
        "export",
    ]
    assert (program.folder / "stdin").read_bytes() == b""


async def test_the_program_is_found_on_the_path(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    program.write('echo \'[{"description":"Call Ann"}]\'')
    monkeypatch.setenv("PATH", str(program.folder), prepend=os.pathsep)
    source = task_source("taskwarrior", None, 20)
    assert source is not None
    assert await source.fetch() == (Task("Call Ann", "taskwarrior"),)


async def test_a_large_export_arrives_whole(program: Program) -> None:
    (program.folder / "export").write_text(json.dumps([{"description": "task", "uuid": str(n)} for n in range(20_000)]))
    program.write("cat export")
    assert len(await program.source().fetch()) == 50


async def test_a_missing_program_is_not_found(program: Program) -> None:
    assert await refusal(program.source()) == (FaultCode.NOT_FOUND, f"The program {program.path} was not found.")


async def test_a_program_that_may_not_be_run_has_failed(program: Program) -> None:
    program.path.touch()
    assert await refusal(program.source()) == (
        FaultCode.PROGRAM_FAILED,
        f"{program.path} could not be started: Permission denied.",
    )


async def test_an_error_status_is_named_and_what_was_said_is_not(program: Program) -> None:
    program.write("echo '[]'; echo secret >&2; exit 2")
    assert await refusal(program.source()) == (FaultCode.PROGRAM_FAILED, f"{program.path} ended with status 2.")


async def test_a_program_is_not_done_when_it_has_only_closed_its_output(program: Program) -> None:
    program.write("echo '[]'; exec >&-; sleep 0.3; exit 2")
    assert await refusal(program.source()) == (FaultCode.PROGRAM_FAILED, f"{program.path} ended with status 2.")


async def test_an_answer_of_another_kind_has_failed(program: Program) -> None:
    program.write("echo 'Would you like a sample?'")
    assert await refusal(program.source()) == (
        FaultCode.PROGRAM_FAILED,
        "Taskwarrior did not answer with a list of tasks.",
    )


async def test_a_program_that_says_too_much_is_killed(program: Program) -> None:
    program.write("echo $$ > pid; exec cat /dev/zero")
    assert await refusal(program.source()) == (
        FaultCode.PROGRAM_FAILED,
        f"{program.path} answered with more than 4 MiB.",
    )
    assert not running(await program.pid("pid"))


async def test_a_program_that_takes_too_long_is_killed_with_its_children(program: Program) -> None:
    program.write("trap '' TERM; sleep 600 & echo $! > child; echo $$ > pid; wait; sleep 600")
    assert await refusal(program.source(timeout_secs=1)) == (
        FaultCode.PROGRAM_FAILED,
        f"{program.path} took longer than 1 seconds.",
    )
    assert not running(await program.pid("pid"))
    await gone(await program.pid("child"))


async def test_a_cancelled_fetch_leaves_no_process_behind(program: Program) -> None:
    program.write("sleep 600 & echo $! > child; echo $$ > pid; wait")
    fetch = asyncio.create_task(program.source().fetch())
    pid = await program.pid("pid")
    fetch.cancel()
    with pytest.raises(asyncio.CancelledError):
        await fetch
    assert not running(pid)
    await gone(await program.pid("child"))


async def test_a_fetch_that_is_cancelled_while_it_starts_leaves_no_process_behind(program: Program) -> None:
    program.write("sleep 600 & echo $! > child; echo $$ > pid; wait")
    fetch = asyncio.create_task(program.source().fetch())
    await asyncio.sleep(0)  # as far as the fetch gets at once; the loop then stands still while the program comes up
    pid, child = program.pid_at_once("pid"), program.pid_at_once("child")
    fetch.cancel()
    with pytest.raises(asyncio.CancelledError):
        await fetch
    assert not running(pid)
    await gone(child)


async def test_an_escaped_grandchild_that_holds_the_output_does_not_hold_the_fetch(program: Program) -> None:
    program.write("setsid sleep 600 & echo $! > escaped; echo '[]'; exit 0")
    began = time.monotonic()
    try:
        code, _ = await refusal(program.source(timeout_secs=0.5))
        assert code is FaultCode.PROGRAM_FAILED
        assert time.monotonic() - began < PATIENCE
    finally:
        os.kill(await program.pid("escaped"), signal.SIGKILL)


async def test_ten_fetches_leave_no_descriptor_open(program: Program) -> None:
    program.write("echo '[]'")
    await program.source().fetch()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        await program.source().fetch()
    assert len(os.listdir("/proc/self/fd")) <= before
