"""The figure of `make soak` that fuzzes: it counts what was tried, and a property that does not hold is a miss."""

from __future__ import annotations

import shutil
from pathlib import Path

from soak.figures import fuzz

FUZZ = Path(__file__).parents[1] / "fuzz"


def test_every_input_of_every_parser_is_counted() -> None:
    found = fuzz.fuzz(1, [FUZZ / "test_reports.py"])
    assert found.tried.keys() == {"ReportFocus"}
    assert found.tried["ReportFocus"] >= 100
    assert fuzz.row("parsers", found).reached, found.said


def test_a_property_that_does_not_hold_is_a_miss_that_says_how_to_get_its_input_back(tmp_path: Path) -> None:
    shutil.copy(FUZZ / "conftest.py", tmp_path)
    (tmp_path / "test_wrong.py").write_text(
        "from hypothesis import strategies as st\n"
        "from support.fuzzing import fuzzed\n"
        "@fuzzed('numbers', number=st.integers())\n"
        "def test_all_numbers_are_small(number):\n"
        "    assert number < 100\n"
    )
    found = fuzz.fuzz(1, [tmp_path])
    assert found.failed == ["test_wrong.py::test_all_numbers_are_small (call)"]
    assert "number=100" in found.said
    assert "@reproduce_failure" in found.said
    assert fuzz.row("parsers", found).reached is False


def test_a_run_that_does_not_come_to_its_end_is_a_miss(tmp_path: Path) -> None:
    (tmp_path / "test_wrong.py").write_text("import os\nos._exit(1)\n")
    assert fuzz.row("parsers", fuzz.fuzz(1, [tmp_path])).reached is False


def test_the_extension_is_fuzzed_too() -> None:
    found = fuzz.fuzz_extension(shutil.which("node") or "node", 1)
    assert found.tried == {"states": 600, "lines": 300}
    assert fuzz.row("parsers", found).reached, found.said
