"""Measures, and prints a table.

    run.py                  everything: some five minutes
    run.py start memory     some of it
    run.py --quick          everything with small counts: shows that it works, not what it costs
    run.py --write          everything, and keeps the table in README.md

README.md says what each figure means and how it is taken.
"""

from __future__ import annotations

import sys
from pathlib import Path

# The project is installed without its tests and benchmarks.
_ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(_ROOT), str(_ROOT / "tests")]

from benchmarks import table  # noqa: E402
from benchmarks.figures import FIGURES  # noqa: E402


def main(argv: list[str] | None = None) -> int:
    """0, whatever is measured: a figure that misses its aim is for people to look at, not for a build to fail on."""
    table.run(
        "Measures what AntiDrift costs, and prints a table.", FIGURES, Path(__file__).with_name("README.md"), argv
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
