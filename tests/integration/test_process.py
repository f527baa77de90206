"""The runner against programs that do everything to stay: nothing of them may be left, and nobody may wait for them."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import itertools
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from antidrift.backends import descent, process
from antidrift.backends.process import STDERR_KEPT, STDOUT_KEPT, Ended, run_program
from soak.figures import children
from standins.standin import StandIn
from support import nasty_children
from support.nasty_children import DEADLINE, KINDS, Strain, until

BACK_WITHIN = 10.0  # seconds after a cancel; thirty programs at once take a slow machine longer than one
BIG = b"p" * 1_000_000


def state(pid: int) -> str:
    """R, S, Z and so on; "" if there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def descriptors() -> int:
    return nasty_children.descriptors(os.getpid())


def findings(strain: Strain) -> dict[str, Strain]:
    """By kind, as the table of `make soak` has them."""
    return {call.kind: Strain([call], strain.descriptors, strain.zombies) for call in strain.calls}


def zombies() -> list[int]:
    return nasty_children.zombies(os.getpid())


def environ() -> dict[str, str]:
    return {"PATH": os.environ["PATH"]}


async def call(stand_in: StandIn, stdin: bytes) -> Ended:
    argv = [str(stand_in.program), "--print"]
    return await run_program(argv, env=environ(), cwd=stand_in.program.parent, stdin=stdin)


@pytest.fixture(scope="module")
def everything() -> Strain:
    """All of them at once, as they would take half a minute one by one."""
    return asyncio.run(nasty_children.strain(list(KINDS), limit=None))


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_left_of_a_program_that(everything: Strain, kind: str) -> None:
    [left] = [each for each in everything.calls if each.kind == kind]
    assert left.was_up
    assert left.survivors == 0
    assert not left.folder_left


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.status is None])
def test_a_cancelled_call_is_back_soon_from_a_program_that(everything: Strain, kind: str) -> None:
    [left] = [each for each in everything.calls if each.kind == kind]
    assert left.ended is None
    assert left.back_after < BACK_WITHIN


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.status is not None])
def test_the_answer_comes_with_its_status_from_a_program_that(everything: Strain, kind: str) -> None:
    [left] = [each for each in everything.calls if each.kind == kind]
    assert left.ended == Ended(KINDS[kind].status or 0, b"an answer\n", b"")


def test_none_of_them_leaves_a_zombie_or_an_open_descriptor(everything: Strain) -> None:
    assert (everything.zombies, everything.descriptors) == (0, 0)


def test_the_table_of_the_soak_says_the_same(everything: Strain) -> None:
    head, left, *_ = children.rows(findings(everything))
    assert (head.measured, head.reached) == ("0 ended otherwise than they should", True)
    assert (left.measured, left.reached) == ("0 processes, 0 zombies, 0 descriptors, 0 folders", True)


def test_a_kind_that_leaves_a_process_has_a_row_of_its_own_in_the_table(everything: Strain) -> None:
    [hangs] = [call for call in everything.calls if call.kind == "hangs"]
    found = findings(everything) | {"hangs": Strain([replace(hangs, survivors=2)], 0, 0)}
    rows = {row.figure: row for row in children.rows(found)}
    assert not rows["… left of them"].reached
    row = rows["… of a program that hangs"]
    assert (row.measured.partition(";")[0], row.reached) == ("2 processes, 0 zombies, 0 descriptors, 0 folders", False)


@pytest.fixture
def sleeper() -> Iterator[list[int]]:
    """Process ids that a test wants dead at its end, whatever it found."""
    pids: list[int] = []
    yield pids
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


async def python(code: str, stdin: bytes = b"") -> Ended:
    async with asyncio.timeout(DEADLINE):
        return await run_program([sys.executable, "-c", code], env=environ(), cwd=Path("/"), stdin=stdin)


async def test_all_of_a_large_input_arrives_and_is_closed() -> None:
    ended = await python("import sys; print(len(sys.stdin.buffer.read()))", BIG)
    assert ended == Ended(0, b"1000000\n", b"")


async def test_a_program_that_closes_its_input_early_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    ended = await python("import os, time; os.read(0, 10); os.close(0); time.sleep(0.2); print('enough')", BIG)
    assert ended == Ended(0, b"enough\n", b"")
    assert caplog.text == ""


async def test_the_head_of_the_output_and_the_tail_of_the_errors_are_kept_and_the_rest_is_drained() -> None:
    ended = await python(
        "import sys\nsys.stdout.write('head' + 64_000_000 * 'x'); sys.stderr.write(1_000_000 * 'x' + 'tail')"
    )
    assert ended.returncode == 0
    assert (len(ended.stdout), ended.stdout[:5]) == (STDOUT_KEPT, b"headx")
    assert (len(ended.stderr), ended.stderr[-5:]) == (STDERR_KEPT, b"xtail")


async def test_the_end_by_a_signal_is_a_negative_number() -> None:
    assert (await python("import os; os.kill(os.getpid(), 9)")).returncode == -signal.SIGKILL


async def test_a_program_that_cannot_be_started_raises_and_leaks_nothing(tmp_path: Path) -> None:
    before = descriptors()
    with pytest.raises(FileNotFoundError):
        await run_program([str(tmp_path / "nothing")], env={}, cwd=tmp_path)
    assert descriptors() == before


async def test_many_calls_leave_no_descriptor_open() -> None:
    before = descriptors()
    for _ in range(30):
        await run_program(["/bin/true"], env={}, cwd=Path("/"), stdin=b"x")
    assert descriptors() == before


@contextlib.contextmanager
def few_descriptors(spare: int) -> Iterator[None]:
    """No more than `spare` can be opened."""
    usual = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = (number for number in itertools.count() if not os.path.exists(f"/proc/self/fd/{number}"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (next(itertools.islice(free, spare, None)), usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, usual)


async def test_where_descriptors_run_out_the_call_fails_by_name_at_every_step_and_leaks_nothing() -> None:
    before, dead = descriptors(), zombies()
    errors = set()
    for spare in itertools.count():
        try:
            with few_descriptors(spare):
                ended = await run_program(["/bin/true"], env={}, cwd=Path("/"))
        except OSError as error:
            errors.add(errno.errorcode[error.errno or 0])
        else:
            break
        assert descriptors() == before
        assert zombies() == dead
    assert spare > 5
    assert errors == {"EMFILE"}
    assert ended.returncode == 0
    assert descriptors() == before


async def test_a_program_that_cannot_be_watched_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    before, dead = descriptors(), zombies()
    monkeypatch.setattr(os, "pidfd_open", refuse)
    monkeypatch.setattr(process, "_TERM_GRACE", 0.1)
    monkeypatch.setattr(process, "_SWEEP_LIMIT", 0.1)
    with pytest.raises(OSError, match="Too many open files"):
        await run_program(["/bin/sleep", "600"], env={}, cwd=Path("/"))
    assert descriptors() == before
    assert zombies() == dead


NO_MORE_PROCESSES = """
import asyncio, ctypes, errno, os, resource
from pathlib import Path
from antidrift.backends.process import run_program

async def main():
    usual = resource.getrlimit(resource.RLIMIT_NPROC)
    before = os.listdir("/proc/self/fd")
    resource.setrlimit(resource.RLIMIT_NPROC, (0, usual[1]))
    try:
        await run_program(["/bin/true"], env={}, cwd=Path("/"))
    except OSError as error:
        print(errno.errorcode[error.errno])
    print(os.listdir("/proc/self/fd") == before)
    resource.setrlimit(resource.RLIMIT_NPROC, usual)
    print((await run_program(["/bin/true"], env={}, cwd=Path("/"))).returncode)

if os.getuid() == 0:  # for whom there is no such limit
    os.setresuid(65534, 65534, 65534)
    ctypes.CDLL(None).prctl(4, ctypes.c_ulong(1), 0, 0, 0)  # PR_SET_DUMPABLE: it may look at itself all the same
asyncio.run(main())
"""


def test_where_no_process_can_be_had_the_call_fails_by_name_and_the_next_one_works() -> None:
    environ = {"PYTHONPATH": os.pathsep.join(sys.path)}
    said = subprocess.run(
        [sys.executable, "-c", NO_MORE_PROCESSES], env=environ, capture_output=True, timeout=DEADLINE, check=True
    )
    assert said.stdout.split() == [b"EAGAIN", b"True", b"0"]


LIMITED = """
import asyncio, os, resource, sys
from pathlib import Path
from antidrift.backends.process import run_program

resource.setrlimit(resource.RLIMIT_RTTIME, (1_000_000, 1_000_000))
leaves = "setsid sh -c 'echo $$ > pid; exec sleep 600' > /dev/null & while ! [ -s pid ]; do sleep 0.01; done; cat pid"
environ = {"PATH": os.environ["PATH"]}
ended = asyncio.run(run_program(["/bin/sh", "-c", leaves], env=environ, cwd=Path(sys.argv[1])))
orphan = int(ended.stdout)
try:
    print(Path(f"/proc/{orphan}/stat").read_text().split()[2])
except FileNotFoundError:
    print("Z")
"""


def test_where_a_hard_limit_leaves_no_room_for_the_mark_an_orphan_is_known_by_its_environment(tmp_path: Path) -> None:
    environ = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.environ["PATH"]}
    said = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path)], env=environ, capture_output=True, timeout=DEADLINE, check=True
    )
    assert said.stdout == b"Z\n"


async def test_the_program_leads_a_session_of_its_own() -> None:
    ended = await python("import os; print(os.getsid(0) == os.getpid() == os.getpgrp())")
    assert ended.stdout == b"True\n"


async def test_a_second_cancel_does_not_stop_the_cleaning(tmp_path: Path) -> None:
    stand_in = StandIn("claude", tmp_path).plays(misbehave=["ignores_term", "leaves_orphan", "hangs"])
    task = asyncio.create_task(call(stand_in, b""))
    await until(lambda: len(stand_in.pids()) == 2, "both processes are up")
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=0.05)
    assert task.cancelled()
    assert [pid for pid in stand_in.pids() if state(pid)] == []


async def test_a_cancel_while_a_call_that_has_ended_is_cleaned_up_still_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_PIPES_LIMIT", DEADLINE)
    stand_in = StandIn("claude", tmp_path).plays(delay=0.5, answer="an answer")
    task = asyncio.create_task(call(stand_in, b""))
    await until(lambda: len(stand_in.pids()) == 1, "it is up")
    held = os.open(f"/proc/{stand_in.pids()[0]}/fd/1", os.O_WRONLY)
    await until(lambda: not any(each.may_live for each in descent._calls), "it has ended")
    assert not task.done()
    task.cancel()
    await asyncio.sleep(0)
    os.close(held)
    await asyncio.wait([task], timeout=DEADLINE)
    assert task.cancelled()


async def test_an_output_that_is_held_from_outside_is_not_awaited(tmp_path: Path) -> None:
    before = descriptors()
    stand_in = StandIn("claude", tmp_path).plays(misbehave=["never_reads"], delay=0.5, answer="an answer")
    task = asyncio.create_task(call(stand_in, BIG))
    await until(lambda: len(stand_in.pids()) == 1, "it is up")
    held = [os.open(f"/proc/{stand_in.pids()[0]}/fd/{number}", flags) for number, flags in HELD.items()]
    started = time.monotonic()
    ended = await task
    assert ended == Ended(0, b"an answer\n", b"")
    assert time.monotonic() - started < BACK_WITHIN
    assert descriptors() == before + len(held)
    for descriptor in held:
        os.close(descriptor)


HELD = {0: os.O_RDONLY, 1: os.O_WRONLY, 2: os.O_WRONLY}


async def test_the_loop_runs_on_while_a_stubborn_program_is_ended(tmp_path: Path) -> None:
    stand_in = StandIn("claude", tmp_path).plays(misbehave=["ignores_term", "hangs"])
    task = asyncio.create_task(call(stand_in, b""))
    await until(lambda: len(stand_in.pids()) == 1, "it is up")
    await until(lambda: "ignores" in ignored_signals(stand_in.pids()[0]), "it ignores SIGTERM")
    task.cancel()
    rounds = 0
    while not task.done():
        await asyncio.wait([task], timeout=0.01)
        rounds += 1
    # A second of grace, in steps of 10 ms; far fewer would mean that something blocked.
    assert rounds > 20


def ignored_signals(pid: int) -> str:
    status = Path(f"/proc/{pid}/status").read_text()
    mask = int(next(line.split()[1] for line in status.splitlines() if line.startswith("SigIgn")), 16)
    return "ignores" if mask >> (signal.SIGTERM - 1) & 1 else ""


@pytest.mark.parametrize("orphan", ["leaves_orphan", "leaves_bare_orphan", "leaves_unlimited_orphan"])
async def test_another_call_and_its_orphan_are_left_alone(tmp_path: Path, orphan: str) -> None:
    other = StandIn("claude", tmp_path / "other").plays(misbehave=[orphan, "hangs"])
    mine = StandIn("claude", tmp_path / "mine").plays(misbehave=[orphan])
    task = asyncio.create_task(call(other, b""))
    await until(lambda: len(other.pids()) == 2, "the other call is up")
    await call(mine, b"")
    assert not mine.lives()
    assert [is_alive(pid) for pid in other.pids()] == [True, True]
    task.cancel()
    await asyncio.wait([task])
    assert not other.lives()


async def test_a_dead_process_that_is_somebody_elses_to_collect_is_not_waited_for(
    sleeper: list[int], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    # What an orphan becomes that went to another process than this one, such as init, and was marked by this one.
    theirs = await asyncio.create_subprocess_exec(
        "/bin/sh", "-c", f"sleep 0 & echo $! > {tmp_path}/pid; exec sleep 600"
    )
    sleeper.append(theirs.pid)
    await until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text() != "", "it says who will die")
    dead = int((tmp_path / "pid").read_text())
    await until(lambda: state(dead) == "Z", "it has died")
    async with hanging_call(tmp_path) as pid:
        resource.prlimit(dead, resource.RLIMIT_RTTIME, resource.prlimit(pid, resource.RLIMIT_RTTIME))
    assert caplog.text == ""
    theirs.kill()
    await theirs.wait()


@pytest.mark.parametrize("meanwhile", [False, True], ids=["before", "meanwhile"])
async def test_a_child_that_another_part_of_the_program_started_is_left_alone(
    sleeper: list[int], tmp_path: Path, meanwhile: bool
) -> None:
    async def start() -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec("sleep", "600", start_new_session=True, env={})

    theirs = None if meanwhile else await start()
    async with hanging_call(tmp_path):
        theirs = theirs or await start()
        sleeper.append(theirs.pid)
    await python("pass")
    assert is_alive(theirs.pid)
    theirs.kill()
    assert await theirs.wait() == -signal.SIGKILL


async def test_an_orphan_that_another_part_of_the_program_left_is_not_ours_to_end(
    sleeper: list[int], tmp_path: Path
) -> None:
    # A shell that leaves something behind when it is told to; by then there is a call, and it has been there for long.
    leaves = f"read told; setsid sleep 600 & echo $! > {tmp_path / 'pid'}; read told"
    theirs = await asyncio.create_subprocess_exec("/bin/sh", "-c", leaves, stdin=subprocess.PIPE, env={})
    async with hanging_call(tmp_path):
        await theirs.communicate(b"\n\n")
        orphan = int((tmp_path / "pid").read_text())
        sleeper.append(orphan)
    assert is_alive(orphan)


@contextlib.asynccontextmanager
async def hanging_call(folder: Path) -> AsyncIterator[int]:
    """A call that is there until the end, and is cancelled then; the id of its process."""
    stand_in = StandIn("claude", folder).plays(misbehave=["hangs"])
    task = asyncio.create_task(call(stand_in, b""))
    await until(lambda: len(stand_in.pids()) == 1, "the call has begun")
    [pid] = stand_in.pids()
    yield pid
    task.cancel()
    await asyncio.wait([task])


def is_alive(pid: int) -> bool:
    return state(pid) not in ("", "Z")


async def test_a_dead_child_of_another_part_of_the_program_is_left_for_it_to_collect() -> None:
    pid = spawn("/bin/true")
    await until(lambda: state(pid) == "Z", "it has ended")
    await python("pass")
    assert collect(pid) == (pid, 0)


def spawn(program: str) -> int:
    return os.spawnv(os.P_NOWAIT, program, [program])


def collect(pid: int) -> tuple[int, int]:
    return os.waitpid(pid, 0)
