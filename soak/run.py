"""Strains AntiDrift for long, and prints a table of what it endured.

    run.py                  everything
    run.py calls children   some of it
    run.py --quick          everything with small counts
    run.py --write          everything, and keeps the table in README.md

README.md says what each figure means and how it is taken.
"""

from __future__ import annotations

import sys
from pathlib import Path

# The project is installed without its tests.
_ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(_ROOT), str(_ROOT / "tests")]

from benchmarks import table  # noqa: E402
from soak.figures import FIGURES  # noqa: E402


def main(argv: list[str] | None = None) -> int:
    """0: every figure is reached; 1: one is missed, or could not be measured."""
    report = table.run(
        "Strains AntiDrift for long, and prints a table.", FIGURES, Path(__file__).with_name("README.md"), argv
    )
    return 1 if any(row.reached is False for row in report.rows) else 0


if __name__ == "__main__":
    sys.exit(main())
