"""A process that writes the store is killed, again and again, and meets its own file size limit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from antidrift.store import FileStore, remembered, verify
from standins import store_writer
from standins.store_writer import a_saved, a_summary
from support.store_kills import Writers, kill_writers, last_number

KILLS = 200


@pytest.fixture(scope="module")
def writers() -> Iterator[Writers]:
    with Writers() as writers:
        yield writers


def test_two_hundred_kills_lose_nothing_that_was_acknowledged_and_raise_no_false_alarm(
    writers: Writers, tmp_path: Path
) -> None:
    toll = kill_writers(writers, tmp_path, KILLS)
    assert toll.losses == []
    assert toll.acknowledged > KILLS, "the writers hardly came to write"


def test_a_file_size_limit_refuses_with_the_chain_and_the_snapshot_intact(writers: Writers, tmp_path: Path) -> None:
    writers.start(tmp_path, 1, file_limit=8192)
    said = writers.until_gone()
    appended = last_number(said, "appended", 0)
    assert appended > 5
    assert [word for word in said if word[0] == "refused"] == [("refused", "disk_full")] * store_writer.MOST_REFUSALS

    audit = tmp_path / "audit.jsonl"
    assert verify(audit, remembered(tmp_path)).lines == appended
    store = FileStore(tmp_path)
    loaded = store.load()
    assert loaded.faults == ()
    assert loaded.saved == a_saved(last_number(said, "saved", 0))
    store.append(a_summary(appended + 1))
    store.close()
    assert verify(audit).lines == appended + 1
