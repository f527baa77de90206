"""docs/SECURITY.md says nothing that a test does not hold."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from antidrift.store import AUDIT_NAME, FileStore, remembered, verify
from standins.store_writer import a_saved, a_summary

TREE = Path(__file__).parents[2]
TEXT = (TREE / "docs" / "SECURITY.md").read_text()
STATEMENTS = [item.split("\n\n")[0] for item in re.split(r"^- ", TEXT, flags=re.MULTILINE)[1:]]
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.split("\n")[0][:50])
def test_every_statement_names_tests_that_there_are(statement: str) -> None:
    tests = _TEST.findall(statement)
    assert tests
    for file, name in tests:
        assert re.search(rf"^(async )?def {name}\(", (TREE / file).read_text(), re.MULTILINE), f"{file}::{name}"


def test_no_test_is_named_in_a_form_that_is_not_looked_for() -> None:
    assert len(STATEMENTS) > 20
    assert len(_TEST.findall(TEXT)) == TEXT.count("::test_") == TEXT.count("`tests/")


def test_who_can_write_both_files_can_write_another_history(tmp_path: Path) -> None:
    """What the chain does not prove, so that nobody relies on it."""
    for outcome in (a_summary(1), replace(a_summary(1), next_action="Something grander")):
        for file in tmp_path.iterdir():
            file.unlink()
        store = FileStore(tmp_path)
        store.load()
        store.append(outcome)
        store.save(a_saved(1))
        store.close()
        assert verify(tmp_path / AUDIT_NAME, remembered(tmp_path)).ok
