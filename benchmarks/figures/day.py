"""How fast a working day is replayed, and how often an AI is asked on it."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from antidrift.domain.model import RoleName
from antidrift.replay import Played, play
from antidrift.trace import read
from benchmarks.report import Report, Row
from benchmarks.sample import Sample
from benchmarks.scale import Scale
from support import working_day

_AIM_SECS = 2.0
_AIM_CALLS_AN_HOUR = 6.0
_IMPORTS = "import antidrift.replay, antidrift.trace"
_SEEDS = 5


def measure(scale: Scale, report: Report) -> None:
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as folder:
        days = [Path(folder, f"{seed}.jsonl") for seed in range(scale(_SEEDS, least=1))]
        for seed, path in enumerate(days):
            working_day.write(path, seed)
        _measure_time(days[0], scale(10, least=2), report)
        _measure_calls([play(read(path), path.with_suffix(".files")) for path in days], report)


def _measure_time(path: Path, times: int, report: Report) -> None:
    replaying, importing = [], []
    for turn in range(-1, times):  # the first one, which fills the caches, does not count
        taken = _run(["-m", "antidrift", "--replay", str(path)]), _run(["-c", _IMPORTS])
        if turn >= 0:
            replaying.append(taken[0])
            importing.append(taken[1])
    ours, imports = Sample.of(replaying).median, Sample.of(importing).median
    lines = len(read(path).lines)
    report.add(
        Row(
            f"a day of {working_day.HOURS} hours ({lines:,} lines) replayed by a process of its own",
            f"{ours:.2f} s of the processor",
            f"importing what it needs {imports:.2f} s",
            f"{ours / imports:.1f}",
            f"< {_AIM_SECS:.0f} s",
            ours < _AIM_SECS,
        )
    )


def _measure_calls(played: Sequence[Played], report: Report) -> None:
    hours = sum(day.secs for day in played) / 3600
    in_sessions = sum(sum(day.elapsed) for day in played) / 3600
    by_role = Counter(asking.role for day in played for asking in day.calls)
    an_hour = by_role.total() / hours
    report.add(
        Row(
            f"AI calls on {len(played)} such days, {in_sessions / hours:.0%} of them in sessions",
            f"{an_hour:.1f} an hour",
            ", ".join(f"{role} {by_role[role] / hours:.1f}" for role in RoleName),
            aim=f"≤ {_AIM_CALLS_AN_HOUR:.0f} an hour",
            reached=an_hour <= _AIM_CALLS_AN_HOUR,
        )
    )


def _run(arguments: Sequence[str]) -> float:
    """Seconds of the processor. It waits for nothing else, so on a quiet machine that is what a person waits."""
    began = _children_secs()
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)  # noqa: S603 - our own
    return _children_secs() - began


def _children_secs() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
