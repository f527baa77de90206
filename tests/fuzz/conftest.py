"""With ANTIDRIFT_FUZZ_REPORT=FILE: how many inputs each parser was given, and what failed, as JSON for `make soak`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from support.fuzzing import tried

_failed: list[str] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        _failed.append(f"{report.nodeid.rpartition('/')[2]} ({report.when})")


def pytest_sessionfinish() -> None:
    if file := os.environ.get("ANTIDRIFT_FUZZ_REPORT"):
        Path(file).write_text(json.dumps({"tried": tried, "failed": _failed}))
