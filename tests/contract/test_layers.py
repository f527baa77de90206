"""The direction of dependencies, as pyproject.toml states it: each part knows only what lies below it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_no_module_imports_what_lies_above_or_beside_it() -> None:
    lint_imports = Path(sys.executable).with_name("lint-imports")
    ended = subprocess.run(
        [lint_imports, "--no-cache"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "service"), "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout
