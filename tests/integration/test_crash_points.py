"""A power cut at every moment of the store's life, also one that comes after a kill: see `support.crash_points`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import antidrift.store
from support.crash_points import SMALL, enumerate_crashes, places, workplace
from support.power_cut import ROOT, SECTOR, Cut, Folder, Named, Operation, Platter, Synced, Tree, Wrote

SYNCS = (
    "datasync in audit._sync",
    "datasync in audit._write",
    "datasync in ledger._write",
    "sync in files.write_new for audit._set_aside",
    "sync in files.write_new for snapshot.write",
    "sync_folder in audit._set_aside",
    "sync_folder in audit.append",
    "sync_folder in ledger._write",
    "sync_folder in lock._sync_name",
    "sync_folder in snapshot.write",
)


@pytest.fixture
def place() -> Iterator[Path]:
    with workplace() as place:
        yield place


def test_a_power_cut_at_any_moment_takes_nothing_that_was_acknowledged_and_raises_no_false_alarm(place: Path) -> None:
    found = enumerate_crashes(place, SMALL)
    assert not found.losses, f"{found.losses} of {found.states}: {found.first_loss}"
    assert found.disks > 1000
    print(f"{found.operations} operations, {found.disks} disks, {found.states} times a disk and a promise")


@pytest.mark.parametrize("sync", SYNCS)
def test_without_any_one_of_its_syncs_the_store_would_lose_something(sync: str, place: Path) -> None:
    assert enumerate_crashes(place, SMALL, leave_out=sync, until_lost=True).first_loss


def test_every_sync_that_stands_in_the_store_is_among_those_that_are_left_out(place: Path) -> None:
    assert places(place) == set(SYNCS)
    assert sorted(syncs_in_the_source()) == sorted({sync.partition(" for ")[0] for sync in SYNCS})


def syncs_in_the_source() -> Iterator[str]:
    for module in Path(antidrift.store.__file__).parent.glob("*.py"):
        for function in ast.walk(ast.parse(module.read_text())):
            if isinstance(function, ast.FunctionDef):
                for call in ast.walk(function):
                    match call:
                        case ast.Call(func=ast.Attribute(attr="sync" | "datasync" | "sync_folder" as name)):
                            yield f"{name} in {module.stem}.{function.name}"


# The model of the disk


def after(*operations: Operation, most: int = 64) -> set[Tree]:
    """What a power cut may leave behind once this was done to a disk with a file "a" in it."""
    platter = Platter({1: b"old"}, {ROOT: {"a": 1}})
    for operation in operations:
        platter.do(operation)
    return set(platter.remains(most))


def test_what_is_synced_is_there_afterwards() -> None:
    written, made = Wrote(2, 0, b"new"), Named(ROOT, (("b", 2),))
    both = (("a", b"old"), ("b", b"new"))
    assert after(written, made, Synced(2), Synced(ROOT)) == {both}
    assert after(written, made, Synced(2)) == {(("a", b"old"),), both}


def test_a_file_whose_content_is_not_synced_may_be_empty_or_half_there_or_full_of_something_else() -> None:
    data = b"x" * SECTOR + b"y" * SECTOR
    contents = {dict(tree)["a"] for tree in after(Cut(1, 0), Synced(1), Wrote(1, 0, data))}
    zeros = bytes(SECTOR)
    assert {b"", data[:SECTOR], data, zeros * 2, data[:SECTOR] + zeros, zeros + data[SECTOR:]} < contents


def test_a_sector_that_is_written_again_keeps_what_was_in_it() -> None:
    assert all(dict(tree)["a"].startswith(b"old") for tree in after(Wrote(1, 3, b"new" * SECTOR)))


def test_a_rename_happens_or_does_not_and_no_later_change_of_the_name_without_it() -> None:
    aside, anew = Named(ROOT, (("a", None), ("b", 1))), Named(ROOT, (("a", 2),))
    assert after(aside, anew) == {(("a", b"old"),), (("b", b"old"),), (("a", b""), ("b", b"old"))}


def test_a_folder_that_has_no_name_on_disk_takes_what_is_in_it_along() -> None:
    inside = (Folder(2), Named(ROOT, (("f", 2),)), Named(2, (("c", 3),)), Wrote(3, 0, b"new"), Synced(3), Synced(2))
    assert after(*inside) == {(("a", b"old"),), (("a", b"old"), ("f", None), ("f/c", b"new"))}
