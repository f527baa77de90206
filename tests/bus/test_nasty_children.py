"""AI programs that do everything to stay, asked by the real service."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.nasty_children import FrontDoor

KINDS = [
    "never reads, and answers",
    "leaves an orphan that holds the output, and answers",
    "leaves an orphan without environment and limits",
    "is another session every moment",
    "litters the working folder",
]


@pytest.fixture(scope="module")
def door() -> Iterator[FrontDoor]:
    with FrontDoor() as door:
        yield door


@pytest.mark.parametrize("kind", KINDS)
def test_sharpen_leaves_nothing_of_a_program_that(door: FrontDoor, kind: str) -> None:
    left = door.strain([kind])
    [call] = left.calls
    assert (call.survivors, left.zombies, left.descriptors, call.folder_left) == (0, 0, 0, False)
