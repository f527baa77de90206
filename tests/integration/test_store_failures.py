"""The store on a disk that fails: full, broken, read-only, once or for good, at any operation."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from antidrift.domain.model import FaultCode
from antidrift.domain.session import SavedSession
from antidrift.ports import Loaded, StoreError
from antidrift.store import Disk, FileStore, StoreLocked, remembered, verify
from standins.store_writer import a_saved, a_summary
from support.store_folder import QuickDisk, codes, filled, load, sessions

FOREVER = range(1_000_000)


class FailingDisk(QuickDisk):
    """Lets the operations fail whose numbers, from 1, are in `at`."""

    def __init__(self, error: int = errno.EIO, at: range = range(0), half: bool = False) -> None:
        self.error = error
        self.at = at
        self.half = half  # a failing write takes half of its bytes and reports that
        self.count = 0
        self.done: list[str] = []

    def step(self, name: str) -> bool:
        self.count += 1
        self.done.append(name)
        return self.count in self.at

    def check(self, name: str) -> None:
        if self.step(name):
            raise OSError(self.error, os.strerror(self.error))

    def make_folder(self, folder: Path) -> None:
        self.check("make_folder")
        super().make_folder(folder)

    def open(self, path: Path, flags: int) -> int:
        self.check(f"open {path.name}")
        return super().open(path, flags)

    def size(self, fd: int) -> int:
        self.check("size")
        return super().size(fd)

    def read(self, fd: int, count: int, offset: int) -> bytes:
        self.check("read")
        return super().read(fd, count, offset)

    def write(self, fd: int, data: bytes) -> int:
        if self.step("write"):
            if self.half and len(data) > 1:
                return super().write(fd, data[: len(data) // 2])
            raise OSError(self.error, os.strerror(self.error))
        return super().write(fd, data)

    def truncate(self, fd: int, size: int) -> None:
        self.check("truncate")
        super().truncate(fd, size)

    def sync(self, fd: int) -> None:
        self.check("sync")
        super().sync(fd)

    def datasync(self, fd: int) -> None:
        self.check("datasync")
        super().datasync(fd)

    def sync_folder(self, folder: Path) -> None:
        self.check("sync_folder")
        super().sync_folder(folder)

    def rename(self, old: Path, new: Path) -> None:
        self.check(f"rename {old.name}")
        super().rename(old, new)

    def remove(self, path: Path) -> None:
        self.check("remove")
        super().remove(path)

    def names(self, folder: Path) -> list[str]:
        self.check("names")
        return super().names(folder)

    def lock(self, fd: int) -> None:
        self.check("lock")
        super().lock(fd)

    def is_at(self, fd: int, path: Path) -> bool:
        self.check("is_at")
        return super().is_at(fd, path)


class ReadOnlyDisk(Disk):
    """A file system that is mounted read-only while `read_only` says so. (Permissions do not bind root.)"""

    def __init__(self) -> None:
        self.read_only = True

    def check(self) -> None:
        if self.read_only:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    def make_folder(self, folder: Path) -> None:
        self.check()
        super().make_folder(folder)

    def open(self, path: Path, flags: int) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR):
            self.check()
        return super().open(path, flags)

    def rename(self, old: Path, new: Path) -> None:
        self.check()
        super().rename(old, new)

    def remove(self, path: Path) -> None:
        self.check()
        super().remove(path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "antidrift"


# A folder that cannot be written


def test_a_read_only_folder_is_read_and_each_write_says_why(folder: Path) -> None:
    filled(folder, appended=2, saved=2)
    disk = ReadOnlyDisk()
    store = FileStore(folder, disk)
    loaded = store.load()
    assert (loaded.saved, loaded.recent) == (a_saved(2), (a_summary(1), a_summary(2)))
    assert codes(loaded) == [FaultCode.READ_ONLY]
    for _ in range(2):
        with pytest.raises(StoreError, match=r"state\.json could not be written") as refusal:
            store.save(a_saved(3))
        assert refusal.value.fault.code is FaultCode.READ_ONLY
        with pytest.raises(StoreError, match=r"audit\.jsonl could not be written") as refusal:
            store.append(a_summary(3))
        assert refusal.value.fault.code is FaultCode.READ_ONLY
    disk.read_only = False
    store.append(a_summary(3))
    store.save(a_saved(3))
    with pytest.raises(StoreLocked):
        FileStore(folder).load()
    store.close()
    assert load(folder) == Loaded(a_saved(3), tuple(a_summary(n) for n in (1, 2, 3)))


def test_a_folder_that_cannot_even_be_made_is_made_when_it_can(folder: Path) -> None:
    disk = ReadOnlyDisk()
    store = FileStore(folder, disk)
    assert codes(store.load()) == [FaultCode.READ_ONLY]
    with pytest.raises(StoreError):
        store.save(a_saved(1))
    disk.read_only = False
    store.save(a_saved(1))
    store.close()
    assert load(folder).saved == a_saved(1)


def test_damage_in_a_read_only_folder_waits_to_be_set_aside(folder: Path) -> None:
    filled(folder, appended=1, saved=1)
    (folder / "state.json").write_bytes(b"damaged")
    with (folder / "audit.jsonl").open("ab") as file:
        file.write(b"torn")
    disk = ReadOnlyDisk()
    store = FileStore(folder, disk)
    loaded = store.load()
    assert codes(loaded) == [FaultCode.READ_ONLY, FaultCode.SNAPSHOT_DAMAGED, FaultCode.AUDIT_TORN]
    assert [fault.message for fault in loaded.faults[1:]] == [
        "state.json was not usable (it is not a snapshot); it will be set aside when the folder can be written.",
        "audit.jsonl had an unfinished end (a power cut?), which stays there until the folder can be written.",
    ]
    disk.read_only = False
    store.append(a_summary(2))
    store.save(a_saved(2))
    store.close()
    assert [path.read_bytes() for path in folder.glob("state.json.damaged-*")] == [b"damaged"]
    assert [path.read_bytes() for path in folder.glob("audit.jsonl.torn-*")] == [b"torn"]
    assert load(folder) == Loaded(a_saved(2), (a_summary(1), a_summary(2)))


def test_so_does_what_cannot_be_read_at_all(folder: Path) -> None:
    (folder / "state.json").mkdir(parents=True)
    disk = ReadOnlyDisk()
    store = FileStore(folder, disk)
    faults = store.load().faults
    assert "state.json was not usable (it cannot be read: is a directory); it will be set aside" in faults[1].message
    disk.read_only = False
    store.save(a_saved(1))
    store.close()
    [aside] = folder.glob("state.json.damaged-*")
    assert aside.is_dir()
    assert load(folder).saved == a_saved(1)


def test_a_file_in_the_folders_place_is_survived(folder: Path) -> None:
    folder.parent.mkdir()
    folder.write_bytes(b"")
    store = FileStore(folder)
    assert codes(store.load()) == [FaultCode.IO_ERROR]
    with pytest.raises(StoreError, match="file exists"):
        store.save(a_saved(1))
    folder.unlink()
    store.save(a_saved(1))
    store.close()
    assert load(folder).saved == a_saved(1)


def test_a_folder_removed_while_the_service_runs_is_made_again_and_locked(folder: Path) -> None:
    store = FileStore(folder)
    store.load()
    store.append(a_summary(1))
    store.save(a_saved(1))
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    store.save(a_saved(2))
    with pytest.raises(StoreLocked):
        FileStore(folder).load()
    store.close()
    assert load(folder).saved == a_saved(2)


# The order of things


def test_nothing_is_acknowledged_before_it_and_its_name_are_on_disk(folder: Path) -> None:
    disk = FailingDisk()
    store = FileStore(folder, disk)
    store.load()
    assert disk.done.index("make_folder") < disk.done.index("sync_folder")

    def writing() -> list[str]:
        looking = ("is_at", "size", "read", "remove", "open lock")
        done = [name for name in disk.done if name not in looking]
        disk.done.clear()
        return done

    writing()
    store.append(a_summary(1))
    assert writing() == ["open audit.jsonl", "sync_folder", "write", "datasync"]
    store.append(a_summary(2))
    assert writing() == ["open audit.jsonl", "write", "datasync"]
    store.append(a_summary(2))
    assert writing() == ["open audit.jsonl", "datasync"]
    store.save(a_saved(2))
    assert writing() == ["open state.json.new", "write", "sync", "rename state.json.new", "sync_folder"]
    store.close()


def test_what_is_set_aside_is_on_disk_before_it_is_cut_off(folder: Path) -> None:
    filled(folder, appended=1, saved=1)
    with (folder / "audit.jsonl").open("ab") as file:
        file.write(b"torn")
    disk = FailingDisk()
    FileStore(folder, disk).load()
    order = [name for name in disk.done if name in ("write", "sync", "sync_folder", "truncate")]
    assert order[-4:] == ["write", "sync", "sync_folder", "truncate"]


# Every operation fails once, and every operation fails from some moment on


FAILURES = {
    "full": (errno.ENOSPC, False, FaultCode.DISK_FULL),
    "half written": (errno.ENOSPC, True, FaultCode.DISK_FULL),
    "over the quota": (errno.EDQUOT, False, FaultCode.DISK_FULL),
    "broken": (errno.EIO, False, FaultCode.IO_ERROR),
    "read-only": (errno.EROFS, False, FaultCode.READ_ONLY),
}
LIFE = (3, 4, 5)  # the sessions of the process that meets the failure; 1 and 2 were before


class Life:
    """Ends three sessions on a disk, and remembers what it was told."""

    def __init__(self, folder: Path, disk: Disk, tries: int) -> None:
        self.refused_as: set[FaultCode] = set()
        self.appended = [1, 2]
        self.saved: SavedSession | None = a_saved(2)
        self.tried: SavedSession | None = None
        store = FileStore(folder, disk)
        self.loaded = store.load()
        for n in LIFE:
            for _ in range(tries):
                try:
                    if n not in self.appended:
                        store.append(a_summary(n))
                        self.appended.append(n)
                    self.tried = a_saved(n)
                    store.save(a_saved(n))
                    self.saved = self.tried
                    break
                except StoreError as error:
                    self.refused_as.add(error.fault.code)
            else:
                break
        store.close()


def failing_lives(tmp_path: Path, error: int, half: bool, forever: bool) -> Iterator[tuple[Path, FailingDisk]]:
    """One folder and one disk for each operation of a life, which fails there."""
    counting = FailingDisk()
    filled(tmp_path / "count", appended=2, saved=2)
    Life(tmp_path / "count", counting, 1)
    assert counting.count > 60
    for at in range(1, counting.count + 1):
        folder = tmp_path / str(at)
        filled(folder, appended=2, saved=2)
        yield folder, FailingDisk(error, FOREVER[at:] if forever else range(at, at + 1), half)


@pytest.mark.parametrize(("error", "half", "code"), FAILURES.values(), ids=FAILURES.keys())
def test_when_any_one_operation_fails_a_second_try_succeeds_and_all_is_there_once(
    error: int, half: bool, code: FaultCode, tmp_path: Path
) -> None:
    for folder, disk in failing_lives(tmp_path, error, half, forever=False):
        life = Life(folder, disk, 2)
        assert life.refused_as <= {code}, disk.done
        assert life.saved == a_saved(5), disk.count
        assert sessions(folder) == [1, 2, 3, 4, 5], disk.done
        assert verify(folder / "audit.jsonl", remembered(folder)).ok
        assert load(folder) == Loaded(a_saved(5), tuple(a_summary(n) for n in range(1, 6)))


@pytest.mark.parametrize(("error", "half", "code"), FAILURES.values(), ids=FAILURES.keys())
def test_when_every_operation_fails_from_some_moment_on_what_was_acknowledged_is_there(
    error: int, half: bool, code: FaultCode, tmp_path: Path
) -> None:
    for folder, disk in failing_lives(tmp_path, error, half, forever=True):
        life = Life(folder, disk, 2)
        assert life.refused_as <= {code}, disk.done
        loaded = load(folder)
        assert FaultCode.AUDIT_BROKEN not in codes(loaded), disk.done
        assert FaultCode.SNAPSHOT_DAMAGED not in codes(loaded), disk.done
        on_disk = sessions(folder)
        assert on_disk == list(range(1, len(on_disk) + 1))
        assert len(life.appended) <= len(on_disk) <= len(life.appended) + 1, disk.done
        assert loaded.saved in (life.saved, life.tried), disk.done
        assert verify(folder / "audit.jsonl", remembered(folder)).ok


class DroppingDisk(QuickDisk):
    """Its first fdatasync fails and so does the truncate after it: the kernel may have dropped the pages since."""

    def __init__(self, *failures: str) -> None:
        self.failures = list(failures)
        self.lines_since_failure = 0

    def fail(self, name: str) -> None:
        if self.failures and self.failures[0] == name:
            self.failures.pop(0)
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    def write(self, fd: int, data: bytes) -> int:
        if not self.failures and data.startswith(b'{"prev":"'):
            self.lines_since_failure += 1
        return super().write(fd, data)

    def datasync(self, fd: int) -> None:
        self.fail("datasync")
        super().datasync(fd)

    def truncate(self, fd: int, size: int) -> None:
        self.fail("truncate")
        super().truncate(fd, size)


@pytest.mark.parametrize("second", [3, 4])
def test_a_line_whose_sync_failed_is_not_believed_but_written_anew(second: int, folder: Path) -> None:
    filled(folder, appended=2, saved=2)
    disk = DroppingDisk("datasync", "truncate")
    store = FileStore(folder, disk)
    store.load()
    with pytest.raises(StoreError):
        store.append(a_summary(3))
    assert sessions(folder) == [1, 2, 3], "the line is in the page cache, and cannot be told from one on disk"
    store.append(a_summary(second))
    store.close()
    assert disk.lines_since_failure == 1
    assert sessions(folder) == [1, 2, second]
    assert verify(folder / "audit.jsonl", remembered(folder)).ok


def test_a_line_found_at_the_start_whose_sync_fails_is_not_believed_either(folder: Path) -> None:
    filled(folder, appended=3, saved=2)
    disk = DroppingDisk("datasync")
    store = FileStore(folder, disk)
    store.load()
    with pytest.raises(StoreError):
        store.append(a_summary(3))
    store.append(a_summary(3))
    store.close()
    assert disk.lines_since_failure == 1
    assert sessions(folder) == [1, 2, 3]
    assert verify(folder / "audit.jsonl", remembered(folder)).ok


class SlowToRead(QuickDisk):
    """Cannot open the audit the first time."""

    def __init__(self) -> None:
        self.ready = False

    def open(self, path: Path, flags: int) -> int:
        if path.name == "audit.jsonl" and not self.ready:
            self.ready = True
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return super().open(path, flags)


def test_a_chain_that_could_not_be_read_at_the_start_is_taken_up_by_the_next_append(folder: Path) -> None:
    filled(folder, appended=3, saved=2)
    store = FileStore(folder, SlowToRead())
    assert codes(store.load()) == [FaultCode.IO_ERROR]
    store.append(a_summary(3))
    store.save(a_saved(3))
    store.close()
    assert remembered(folder) == verify(folder / "audit.jsonl").head
