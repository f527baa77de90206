"""Runs the figures that were asked for, and prints what they found as one table."""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks import machine
from benchmarks.report import CannotMeasure, Report, Row, write_into
from benchmarks.scale import FULL, QUICK, Scale

Figures = Mapping[str, Callable[[Scale, Report], None]]
"""By name, in the order in which they are run. Each adds its rows, or raises CannotMeasure."""


def run(description: str, figures: Figures, readme: Path, argv: list[str] | None = None) -> Report:
    """Does what the arguments ask for, prints the table, and with --write keeps it in `readme`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=f"by default all: {', '.join(figures)}")
    parser.add_argument("--quick", action="store_true", help="small counts, to see that it works")
    parser.add_argument("--write", action="store_true", help="keep the table in README.md; not for a part of it")
    wanted = parser.parse_args(argv)
    if unknown := [name for name in wanted.figures if name not in figures]:
        parser.error(f"there is no figure {unknown[0]}; there are {', '.join(figures)}")
    if wanted.write and (wanted.figures or wanted.quick):
        parser.error("--write keeps a whole run, all of it from the same hour on the same machine")

    report = Report(machine.describe())
    for name in wanted.figures or figures:
        began = time.monotonic()
        _measure(name, figures[name], QUICK if wanted.quick else FULL, report)
        print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    text = report.markdown()
    print(text)
    if wanted.write:
        write_into(readme, text)
    return report


def _measure(name: str, measure: Callable[[Scale, Report], None], scale: Scale, report: Report) -> None:
    # What the services say is of interest only when something goes wrong.
    said = io.StringIO()
    before = len(report.rows)
    try:
        with contextlib.redirect_stderr(said):
            measure(scale, report)
    except CannotMeasure as why:
        report.add(Row(name, f"not measured: {why}", reached=False))
    except Exception as error:
        # What the others have found is not to be lost with it.
        sys.stderr.write(said.getvalue())
        traceback.print_exception(error)
        report.add(Row(name, f"broke off: {type(error).__name__}", reached=False))
    for row in report.rows[before:]:
        print(" | ".join(row.cells()), file=sys.stderr, flush=True)
