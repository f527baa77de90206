"""Running a program for its output, so that nothing of it outlives the call."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

from antidrift.domain.model import Fault, FaultCode
from antidrift.ports import ProviderError


async def output_of(argv: Sequence[str], limit: int, timeout_secs: float) -> bytes:
    """What `argv` writes to standard output. Its standard input is empty, and what it says in errors is dropped.

    Raises ProviderError: NOT_FOUND, or PROGRAM_FAILED if it cannot be run, ends with an error, writes more than
    `limit` bytes or takes longer than `timeout_secs`. However the call ends, the program and its group have ended.
    """
    program = argv[0]
    child = _start(argv)
    assert child.stdout is not None
    try:
        async with asyncio.timeout(timeout_secs):
            output = await _read(child.stdout, limit)
            if len(output) > limit:
                raise _failed(f"{program} answered with more than {limit // 1024**2} MiB.")
            await _exit_of(child.pid)
    except TimeoutError:
        raise _failed(f"{program} took longer than {timeout_secs:g} seconds.") from None
    finally:
        # It has not been waited for yet, so its number still means its own group and no other.
        os.killpg(child.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):  # one that hangs in the kernel, on a lost disk for example
            child.wait(timeout=1)
    if child.returncode:
        raise _failed(f"{program} ended with status {child.returncode}.")
    return output


def _start(argv: Sequence[str]) -> subprocess.Popen[bytes]:
    # Not asyncio's subprocesses: a call that is cancelled while one of those starts kills it without its children, and
    # to wait for its end there is to wait for everybody who has inherited its output, too.
    try:
        return subprocess.Popen(  # noqa: S603 - the person's own program, without a shell
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ProviderError(Fault(FaultCode.NOT_FOUND, f"The program {argv[0]} was not found.")) from error
    except OSError as error:
        raise _failed(f"{argv[0]} could not be started: {error.strerror}.") from error


async def _read(pipe: IO[bytes], limit: int) -> bytes:
    """All that comes through `pipe`, or a little more than `limit` bytes of it; closes it."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    output = bytearray()
    try:
        while len(output) <= limit and (chunk := await reader.read(64 * 1024)):
            output += chunk
    finally:
        transport.close()
    return bytes(output)


async def _exit_of(pid: int) -> None:
    """Returns when the process has ended. It stays to be waited for."""
    ended = asyncio.Event()
    descriptor = os.pidfd_open(pid)
    asyncio.get_running_loop().add_reader(descriptor, ended.set)
    try:
        await ended.wait()
    finally:
        asyncio.get_running_loop().remove_reader(descriptor)
        os.close(descriptor)


def _failed(message: str) -> ProviderError:
    return ProviderError(Fault(FaultCode.PROGRAM_FAILED, message))
