"""With ANTIDRIFT_FUZZ_REPORT=FILE: how many inputs each parser was given, as JSON, for `make soak`."""

from __future__ import annotations

import json
import os
from pathlib import Path

from support.fuzzing import tried


def pytest_sessionfinish() -> None:
    if report := os.environ.get("ANTIDRIFT_FUZZ_REPORT"):
        Path(report).write_text(json.dumps(tried))
