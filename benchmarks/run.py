"""Measures, and prints a table.

    run.py                  everything: some five minutes
    run.py start memory     some of it
    run.py --quick          everything with small counts: shows that it works, not what it costs
    run.py --write          everything, and keeps the table in README.md

README.md says what each figure means and how it is taken.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import time
from pathlib import Path

# The project is installed without its tests and benchmarks.
_ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(_ROOT), str(_ROOT / "tests")]

from benchmarks import machine  # noqa: E402
from benchmarks.figures import FIGURES  # noqa: E402
from benchmarks.report import CannotMeasure, Report, Row, write_into  # noqa: E402
from benchmarks.scale import FULL, QUICK, Scale  # noqa: E402

README = Path(__file__).with_name("README.md")


def main(argv: list[str] | None = None) -> int:
    """0, whatever is measured: a figure that misses its aim is for people to look at, not for a build to fail on."""
    parser = argparse.ArgumentParser(description="Measures what AntiDrift costs, and prints a table.")
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=f"by default all: {', '.join(FIGURES)}")
    parser.add_argument("--quick", action="store_true", help="small counts, to see that it works")
    parser.add_argument("--write", action="store_true", help="keep the table in README.md; not for a part of it")
    wanted = parser.parse_args(argv)
    if unknown := [name for name in wanted.figures if name not in FIGURES]:
        parser.error(f"there is no figure {unknown[0]}; there are {', '.join(FIGURES)}")
    if wanted.write and (wanted.figures or wanted.quick):
        parser.error("--write keeps a whole run, all of it from the same hour on the same machine")

    report = Report(machine.describe())
    for name in wanted.figures or FIGURES:
        began = time.monotonic()
        _measure(name, QUICK if wanted.quick else FULL, report)
        print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    text = report.markdown()
    print(text)
    if wanted.write:
        write_into(README, text)
    return 0


def _measure(name: str, scale: Scale, report: Report) -> None:
    # What the services say is of interest only when something goes wrong.
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            FIGURES[name](scale, report)
    except CannotMeasure as why:
        report.add(Row(name, f"not measured: {why}"))
    except BaseException:
        sys.stderr.write(said.getvalue())
        raise


if __name__ == "__main__":
    sys.exit(main())
