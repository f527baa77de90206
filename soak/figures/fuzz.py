"""The properties of tests/fuzz and of the extension's fuzz test, each tried far more often than in the suite."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import CannotMeasure, Report, Row
from benchmarks.scale import Scale

_ROOT = Path(__file__).resolve().parents[2]
_TESTS = _ROOT / "tests" / "fuzz"
_EXTENSION = _ROOT / "tests" / "extension" / "fuzz.test.js"
_PYTEST = ("-m", "pytest", "-c", str(_ROOT / "pyproject.toml"), "-q", "-p", "no:cacheprovider", "--tb=short")
_TEXTS = re.compile(r"(\d+) texts tried")


@dataclass(frozen=True, slots=True)
class Fuzzed:
    """What a run has found. `tried` says how many inputs each parser was given; `said` is its output."""

    tried: dict[str, int]
    failed: list[str]
    said: str


def measure(scale: Scale, report: Report) -> None:
    node = shutil.which("node")
    if node is None:
        raise CannotMeasure("there is no node for the extension's part")
    times = scale(100)
    for what, found in (
        ("parsers of the service", fuzz(times)),
        ("parsers of the extension", fuzz_extension(node, times)),
    ):
        report.add(row(what, found))
        if found.failed:
            report.note(f"What failed in the {what}:\n\n```\n{found.said[-4000:]}\n```")


def row(what: str, found: Fuzzed) -> Row:
    """One line of the table."""
    inputs = sum(found.tried.values())
    wrong = len(found.failed)
    return Row(
        f"{what}, fuzzed",
        f"{inputs:,} inputs to {len(found.tried)}; {wrong} properties failed",
        aim="no property fails",
        reached=not wrong and inputs > 0,
    )


def fuzz(times: int, tests: Sequence[Path] = (_TESTS,)) -> Fuzzed:
    """Runs the properties with `times` as many inputs as the suite, which are new ones if that is more than one."""
    with tempfile.TemporaryDirectory(prefix="antidrift-fuzz-") as folder:
        file = Path(folder) / "report.json"
        done = _run(
            [sys.executable, *_PYTEST, *map(str, tests)],
            times,
            ANTIDRIFT_FUZZ_REPORT=str(file),
        )
        try:
            told = json.loads(file.read_text())
        except FileNotFoundError:  # it did not come to its end
            return Fuzzed({}, [f"pytest (exit status {done.returncode})"], done.stdout)
    failed = told["failed"] or ([f"pytest (exit status {done.returncode})"] if done.returncode else [])
    return Fuzzed(told["tried"], failed, done.stdout)


def fuzz_extension(node: str, times: int) -> Fuzzed:
    """The same for what the extension reads."""
    done = _run([node, "--test", "--test-reporter=tap", str(_EXTENSION)], times)
    failed = re.findall(r"^not ok \d+ - (.*)", done.stdout, re.MULTILINE)
    if done.returncode and not failed:
        failed = [f"node (exit status {done.returncode})"]
    states, lines = [*map(int, _TEXTS.findall(done.stdout)), 0, 0][:2]
    return Fuzzed({"states": states, "lines": lines}, failed, done.stdout)


def _run(argv: list[str], times: int, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own tests
        argv,
        cwd=_ROOT,
        env={**os.environ, "ANTIDRIFT_FUZZ": str(times), **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
