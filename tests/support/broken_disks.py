"""Disks that break under the real service and become whole again, and what a person then meets.

full          a small tmpfs without a byte left
read_only     the same, mounted read-only while it is in use
unsynced      fsync(2) and fdatasync(2) fail with EIO
unreachable   open(2) fails with EIO
descriptors   the process may open nothing more (EMFILE)
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from antidrift.store import AUDIT_NAME, verify
from support.private_bus import PrivateBus
from support.service import Service
from support.small_disk import SmallDisk

STORE_FAILED = "org.antidrift.Error.StoreFailed"
_SOURCE = Path(__file__).parents[1] / "standins" / "broken_disk.c"


@dataclass(frozen=True, slots=True)
class Breakable:
    """A running service whose disk can be broken.

    `code` is what `store.error` then says. `seen` turns a path of the service into one from outside.
    """

    service: Service
    code: str
    break_it: Callable[[], None]
    mend_it: Callable[[], None]
    seen: Callable[[Path], Path] = lambda path: path


@contextmanager
def full() -> Iterator[Breakable]:
    with SmallDisk() as disk, _service(home=disk.folder, launcher=disk.launcher) as service:
        yield Breakable(service, "disk_full", disk.fill, disk.free, disk.seen)


@contextmanager
def read_only() -> Iterator[Breakable]:
    with SmallDisk() as disk, _service(home=disk.folder, launcher=disk.launcher) as service:
        yield Breakable(service, "read_only", disk.make_read_only, disk.make_writable, disk.seen)


@contextmanager
def unsynced() -> Iterator[Breakable]:
    with _failing("sync") as breakable:
        yield breakable


@contextmanager
def unreachable() -> Iterator[Breakable]:
    with _failing("open") as breakable:
        yield breakable


@contextmanager
def descriptors() -> Iterator[Breakable]:
    with _service() as service:
        before = resource.prlimit(service.pid, resource.RLIMIT_NOFILE)
        yield Breakable(
            service,
            "io_error",
            lambda: no_more_descriptors(service.pid),
            lambda: set_descriptors(service.pid, before),
        )


BREAKABLE: Mapping[str, Callable[[], AbstractContextManager[Breakable]]] = {
    "full": full,
    "read_only": read_only,
    "unsynced": unsynced,
    "unreachable": unreachable,
    "descriptors": descriptors,
}


def no_more_descriptors(pid: int) -> None:
    """Lets a running process open nothing more, whatever it closes; what it has open it keeps."""
    _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    set_descriptors(pid, (3, hard))  # those below are standard input, output and error


def set_descriptors(pid: int, limits: tuple[int, int]) -> None:
    """Sets the soft and the hard limit of a running process."""
    resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)


def endure(breakable: Breakable) -> None:
    """Breaks the disk twice under the service, and asserts that it bears that as it should."""
    service = breakable.service
    service.call("EnterPlanning")

    # A command is refused, with a reason, and nothing has changed.
    before = service.wait_for(lambda state: state["tasks"]["status"] == "absent")
    breakable.break_it()
    assert service.refusal(*_plan(1))[0] == STORE_FAILED, "a command was not refused by its name"
    state = service.state()
    assert state["store"]["error"]["code"] == breakable.code, f"the state says {state['store']['error']}"
    changed = {key for key in state if state[key] != before[key]}
    assert changed <= {"store", "seq"}, f"a refused command has changed {changed}"

    # A second try succeeds, and what nobody waits for happens all the same.
    breakable.mend_it()
    service.call(*_plan(1))
    assert service.state()["store"]["error"] is None, "the error outlives a success"
    breakable.break_it()
    service.wait_for(lambda state: state["runtime_state"] == "review")
    assert service.refusal("End")[0] == STORE_FAILED, "the end was not refused"
    state = service.wait_for(lambda state: state["store"]["error"])
    assert state["runtime_state"] == "review", "a refused end has ended it"
    assert state["outcome"] == "expired", f"the outcome is {state['outcome']}"

    # It recovers by itself.
    breakable.mend_it()
    service.wait_for(lambda state: state["store"]["error"] is None)
    service.call("End")

    # It has said so once each time, and all is there at the next start.
    service.stop()
    said = [service.log.count("writing failed"), service.log.count("the files can be written again")]
    assert said == [2, 2], f"it has spoken {said} times of two faults\n{service.log}"
    chain = verify(breakable.seen(service.folder / AUDIT_NAME))
    assert (chain.ok, chain.lines) == (True, 1), f"the chain is {chain}"
    service.start()
    assert service.state()["store"]["error"] is None, "the next start finds fault with the files"
    assert service.state()["runtime_state"] == "locked", "the end is not there after a start"


def _plan(secs: int) -> tuple[str, str, str, str, int, list[str]]:
    return "StartCommitment", "ssxas", "Write the report", "It is sent", secs, ["code"]


@contextmanager
def _service(home: Path | None = None, launcher: Sequence[str] = ()) -> Iterator[Service]:
    with PrivateBus() as bus, Service(bus, home, launcher=launcher) as service:
        yield service


@contextmanager
def _failing(calls: str) -> Iterator[Breakable]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="broken-disk-")))
        library, order, home = folder / "broken_disk.so", folder / "order", folder / "home"
        home.mkdir()
        compiler = shutil.which("cc")
        assert compiler is not None, "no C compiler is there"
        subprocess.run([compiler, "-shared", "-fPIC", "-Wall", "-Wextra", "-o", library, _SOURCE], check=True)
        bus = stack.enter_context(PrivateBus())
        loaded = {"LD_PRELOAD": str(library), "BROKEN_FOLDER": str(home), "BROKEN_ORDER": str(order)}
        service = stack.enter_context(Service(bus, home, **loaded))
        yield Breakable(service, "io_error", lambda: _write(order, calls), order.unlink)


def _write(file: Path, text: str) -> None:
    new = file.with_suffix(".new")
    new.write_text(text)
    new.rename(file)
