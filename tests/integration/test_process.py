"""The runner against programs that do everything to stay: nothing of them may be left, and nobody may wait for them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from antidrift.backends import process
from antidrift.backends.process import STDERR_KEPT, STDOUT_KEPT, Ended, run_program
from standins.standin import StandIn

LIMIT = 0.5
BACK_WITHIN = 3.0  # seconds after a cancel
DEADLINE = 20.0
BIG = b"p" * 1_000_000

# What the stand-in does, and how many processes it then consists of.
CANCELLED = {
    "a program that hangs": (["hangs"], 1),
    "a program that ignores SIGTERM": (["ignores_term", "hangs"], 1),
    "a child in a session of its own": (["starts_session", "hangs"], 2),
    "an orphan that holds standard output": (["leaves_orphan", "hangs"], 2),
    "an orphan with an empty environment": (["leaves_bare_orphan", "hangs"], 2),
    "an orphan that ignores SIGTERM": (["ignores_term", "leaves_orphan", "hangs"], 2),
    "twenty zombies": (["makes_zombies", "hangs"], 21),
    "a program that never reads": (["never_reads", "hangs"], 1),
    "a program that floods standard output": (["floods"], 1),
    "a program that floods standard error": (["floods_stderr"], 1),
}
ENDED = {
    "an orphan that holds standard output": (["leaves_orphan"], 2),
    "an orphan with an empty environment": (["leaves_bare_orphan"], 2),
    "a child in a session of its own": (["starts_session"], 1),
    "a program that never reads": (["never_reads"], 1),
    "twenty zombies": (["makes_zombies"], 21),
}


@dataclass
class Aftermath:
    """What one call left, looked at right after it returned."""

    ended: Ended | None
    back_after: float
    survivors: list[int]
    zombies: list[int]


@dataclass
class Everything:
    cancelled: dict[str, Aftermath]
    ended: dict[str, Aftermath]
    descriptors_before: int
    descriptors_after: int


async def until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {DEADLINE:g} s"
        await asyncio.sleep(0.01)


def state(pid: int) -> str:
    """R, S, Z and so on; "" if there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def environ() -> dict[str, str]:
    return {"PATH": os.environ["PATH"]}


async def call(stand_in: StandIn, stdin: bytes) -> Ended:
    argv = [str(stand_in.program), "--print"]
    return await run_program(argv, env=environ(), cwd=stand_in.program.parent, stdin=stdin)


def aftermath(stand_in: StandIn, ended: Ended | None, back_after: float) -> Aftermath:
    states = {pid: state(pid) for pid in stand_in.pids()}
    survivors = [pid for pid, letter in states.items() if letter not in ("", "Z")]
    return Aftermath(ended, back_after, survivors, [pid for pid, letter in states.items() if letter == "Z"])


async def cancel_when_up(stand_in: StandIn, processes: int) -> Aftermath:
    task = asyncio.create_task(call(stand_in, BIG))
    started = time.monotonic()
    await until(lambda: len(stand_in.pids()) >= processes, "all its processes are up")
    await asyncio.sleep(max(0.0, LIMIT - (time.monotonic() - started)))
    cancelled = time.monotonic()
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
        raise AssertionError("a cancelled call returned")
    return aftermath(stand_in, None, time.monotonic() - cancelled)


async def let_end(stand_in: StandIn) -> Aftermath:
    started = time.monotonic()
    async with asyncio.timeout(DEADLINE):
        ended = await call(stand_in, BIG)
    return aftermath(stand_in, ended, time.monotonic() - started)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Everything:
    """All of them at once, as they would take half a minute one by one."""

    async def run() -> Everything:
        before = descriptors()
        cancelled = [cancel_when_up(stand_in(name, *how), count) for name, (*how, count) in CANCELLED.items()]
        ended = [let_end(stand_in(name, *how)) for name, (*how, _) in ENDED.items()]
        results = await asyncio.gather(*cancelled, *ended)
        return Everything(
            dict(zip(CANCELLED, results, strict=False)),
            dict(zip(ENDED, results[len(CANCELLED) :], strict=True)),
            before,
            descriptors(),
        )

    def stand_in(name: str, misbehave: list[str]) -> StandIn:
        folder = tmp_path_factory.mktemp(name.replace(" ", "-")[:20])
        return StandIn("claude", folder).plays(misbehave=misbehave, answer="an answer")

    return asyncio.run(run())


@pytest.mark.parametrize("child", CANCELLED)
def test_a_cancelled_call_is_back_soon_and_leaves_no_process(everything: Everything, child: str) -> None:
    left = everything.cancelled[child]
    assert left.survivors == []
    assert left.zombies == []
    assert left.back_after < BACK_WITHIN


@pytest.mark.parametrize("child", ENDED)
def test_a_call_that_ends_by_itself_gives_its_answer_and_leaves_no_process(everything: Everything, child: str) -> None:
    left = everything.ended[child]
    assert left.ended == Ended(0, b"an answer\n", b"")
    assert left.survivors == []
    assert left.zombies == []


def test_no_descriptor_is_left_open_by_any_of_them(everything: Everything) -> None:
    assert everything.descriptors_after == everything.descriptors_before


@pytest.fixture
def sleeper() -> Iterator[list[int]]:
    """Process ids that a test wants dead at its end, whatever it found."""
    pids: list[int] = []
    yield pids
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


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


async def test_the_program_leads_a_session_of_its_own() -> None:
    ended = await python("import os; print(os.getsid(0) == os.getpid() == os.getpgrp())")
    assert ended.stdout == b"True\n"


async def test_a_process_that_took_its_limit_off_is_known_by_its_environment(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    await python(
        "import os, resource, time\n"
        "if not os.fork():\n"
        "    os.setsid()\n"
        "    resource.setrlimit(resource.RLIMIT_RTTIME, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n"
        f"    open({str(pid_file)!r} + '.new', 'w').write(str(os.getpid()))\n"
        f"    os.rename({str(pid_file)!r} + '.new', {str(pid_file)!r})\n"
        "    time.sleep(600)\n"
        f"while not os.path.exists({str(pid_file)!r}): time.sleep(0.01)\n"
    )
    assert state(int(pid_file.read_text())) == ""


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
    monkeypatch.setattr(process, "_SWEEP_PAUSE", 0.3)
    stand_in = StandIn("claude", tmp_path).plays(misbehave=["leaves_orphan"])
    task = asyncio.create_task(call(stand_in, b""))
    await until(lambda: len(stand_in.pids()) == 2, "the orphan is up")
    await until(lambda: state(stand_in.pids()[1]) in ("Z", ""), "the orphan is dead")
    assert not task.done()
    task.cancel()
    await asyncio.wait([task], timeout=DEADLINE)
    assert task.cancelled()
    assert [pid for pid in stand_in.pids() if state(pid)] == []


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


async def test_another_call_and_its_orphan_are_left_alone(tmp_path: Path) -> None:
    other = StandIn("claude", tmp_path / "other").plays(misbehave=["leaves_bare_orphan", "hangs"])
    mine = StandIn("claude", tmp_path / "mine").plays(misbehave=["leaves_bare_orphan"])
    task = asyncio.create_task(call(other, b""))
    await until(lambda: len(other.pids()) == 2, "the other call is up")
    await call(mine, b"")
    assert [pid for pid in mine.pids() if state(pid)] == []
    assert [state(pid) in "SR" for pid in other.pids()] == [True, True]
    task.cancel()
    await asyncio.wait([task])
    assert [pid for pid in other.pids() if state(pid)] == []


async def test_a_child_that_another_part_of_the_program_started_is_left_alone(sleeper: list[int]) -> None:
    theirs = await asyncio.create_subprocess_exec("sleep", "600", start_new_session=True, env={})
    sleeper.append(theirs.pid)
    await python("pass")
    assert state(theirs.pid) == "S"
    theirs.kill()
    assert await theirs.wait() == -signal.SIGKILL


async def test_a_dead_child_of_another_part_of_the_program_is_left_for_it_to_collect() -> None:
    pid = spawn("/bin/true")
    await until(lambda: state(pid) == "Z", "it has ended")
    await python("pass")
    assert collect(pid) == (pid, 0)


def spawn(program: str) -> int:
    return os.spawnv(os.P_NOWAIT, program, [program])


def collect(pid: int) -> tuple[int, int]:
    return os.waitpid(pid, 0)
