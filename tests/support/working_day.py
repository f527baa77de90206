"""A working day as a trace: eight hours at a desk, made up from a seed.

    write(path)                              the day of seed 1, the same one each time
    python -m support.working_day FILE       the same, in the folder tests/

A session is half an hour for one piece of work, with a change of window every three quarters of a minute, as office
workers were seen to do (Gloria Mark, "Attention Span", 2023: 47 s on any screen). Its windows are an editor and a
terminal that it allows, and a browser whose pages it does not: some are part of the work, some are not. In between the
screen is locked for coffee, the person does nothing for a while, the machine sleeps over lunch and at times without
saying so; the clock is set once. The AI answers after a few seconds, and one time in ten it fails.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from antidrift.domain.matching import key_of
from antidrift.domain.model import (
    Allowed,
    AwayCause,
    Consent,
    FaultCode,
    Health,
    Key,
    Proposal,
    Reflection,
    RoleName,
    Verdict,
    Window,
)
from antidrift.domain.requests import Advice, Answer
from antidrift.domain.session import AI, Policy
from antidrift.trace import format as lines

HOURS = 8
_STARTED_MS = 1_772_438_400_000  # a Monday in March, at eight
_POLICY = Policy(Allowed(domains=("stackoverflow.com",), titles=("Meeting notes",)))

_WORK = [
    "Write the parser test", "Fix the race in the store", "Review the pull request", "Draft the quarterly report",
    "Answer the reviewers", "Plan the migration", "Write section 3", "Clean up the error paths",
]  # fmt: skip
_FILES = ["parser.py", "test_parser.py", "store.py", "README.md", "report.tex", "notes.md", "errors.py", "main.rs"]
_PAGES = [  # (title, whether it serves the work)
    ("PEP 634 – Structural Pattern Matching | peps.python.org", True),
    ("asyncio — Asynchronous I/O — Python 3 documentation", True),
    ("python - How to close a file? - Stack Overflow", True),
    ("Pull request #212 · antidrift · GitHub", True),
    ("Meeting notes – Google Docs", True),
    ("fsync(2) - Linux manual page", True),
    ("Build #4821 · CI · GitHub", True),
    ("Inbox (12) - ada@example.org - Mail", False),
    ("Lisbon in spring: 20 things to do - Travel Blog", False),
    ("Ten cats and a piano - YouTube", False),
    ("Home / X", False),
    ("Cheap flights to Lisbon - Flight Search", False),
    ("r/mechanicalkeyboards - Reddit", False),
]
_FAULTS = [FaultCode.TIMED_OUT, FaultCode.OFFLINE, FaultCode.RATE_LIMITED, FaultCode.INVALID_ANSWER]


class _Day:
    """What happens, in order, while time passes."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._t = 0.0
        self._wall_ms = 0  # how far the wall clock was set
        self._lines: list[lines.Line] = []
        self._sessions = 0

    # Time

    def wait(self, secs: float) -> None:
        self._t = round(self._t + max(0.0, secs), 3)

    def _when(self) -> dict[str, Any]:
        return {"t": self._t, "unix_ms": _STARTED_MS + round(self._t * 1000) + self._wall_ms}

    def add(self, line: Callable[..., lines.Line], **fields: Any) -> None:
        self._lines.append(line(**self._when(), **fields))

    def bare(self, kind: str) -> None:
        self.add(lines.Bare, kind=kind)

    # The day

    def pass_by(self) -> list[lines.Line]:
        lunch = 4 * 3600.0
        while self._t < HOURS * 3600 - 2700:
            if self._sessions and self._t >= lunch:
                lunch = float("inf")
                self.wait(2400)
                self.add(lines.Suspended, secs=2400.0)
            if self._sessions == 9:
                self._wall_ms += 3_600_000  # the clocks go forward
            self._session()
            self.wait(self._chance.uniform(120, 420))
        self._t = HOURS * 3600.0
        self.bare("enter_planning")
        self.bare("cancel_planning")
        self.add(lines.Stopped)
        return self._lines

    def _session(self) -> None:
        self._sessions += 1
        work = self._chance.choice(_WORK)
        if self._sessions in (6, 8):
            self.bare("shell_stopped")  # X11 sees the windows in these two
        self.bare("enter_planning")
        self.add(lines.TasksFetched, count=4)
        self.add(lines.KnowledgeFetched, present=True)
        if self._sessions % 3 == 0:
            self.wait(5)
            self._outcome(RoleName.COACH, None, Proposal(work, "It is done", 1500))
            self.add(lines.RequestCoach, intent=work.lower())
        self.wait(self._chance.uniform(15, 60))
        self.add(
            lines.StartCommitment,
            id=f"{self._sessions:032x}",
            next_action=work,
            success_condition="It is done",
            timebox_secs=1800,
            allowed_window_classes=("code", "org.gnome.Terminal"),
        )
        self.add(lines.SensorChanged, health=Health.OK)
        self._outcomes_of_a_session()
        ends = self._t + 1800
        self._work_until(min(ends - 60, self._t + 700))
        self._something_else()
        self._work_until(ends - (240 if self._sessions % 2 else 30))
        self._outcome(RoleName.REVIEWER, None, Reflection("It went well.", "Close the mail."))
        if self._sessions % 2:
            self.bare("complete")
        else:
            self.wait(ends + 420 - self._t)  # the timebox runs out, and nobody looks
        self.wait(20)
        self.bare("end")

    def _work_until(self, t: float) -> None:
        while self._t < t:
            for _ in range(self._chance.randrange(2, 7)):
                self._edit()
            if self._chance.random() < 0.5:
                self._look_something_up()

    def _edit(self) -> None:
        file = self._chance.choice(_FILES[:3] if self._sessions % 2 else _FILES[3:])
        if self._chance.random() < 0.7:
            mark = self._chance.choice(["", "● "])
            self._focus("code", f"{mark}{file} - antidrift - Visual Studio Code", 1)
            self.wait(self._chance.uniform(5, 60))
            return
        for percent in range(0, 100, self._chance.randrange(9, 40)):
            self._focus("org.gnome.Terminal", f"pytest {percent}% ~/src/antidrift", 2)
            self.wait(self._chance.uniform(0.3, 1.5))

    def _look_something_up(self) -> None:
        for title, serves in self._chance.sample(_PAGES, self._chance.randrange(1, 4)):
            if not serves and self._chance.random() < 0.6:
                continue
            self._focus("firefox", f"{title} — Mozilla Firefox", 3)
            self.wait(self._chance.uniform(4, 45))
            if not serves:
                self.bare(self._chance.choice(["refocus", "refocus", "on_task"]))
                self.wait(self._chance.uniform(1, 10))
        if self._chance.random() < 0.05:
            self._focus("firefox", "Gifts for Grace — Mozilla Firefox Private Browsing", 4)
            self.wait(self._chance.uniform(10, 40))
        if self._chance.random() < 0.2:
            self._focus("Slack", f"general ({self._chance.randrange(9)}) - Team - Slack", 5)
            self.wait(self._chance.uniform(5, 30))

    def _something_else(self) -> None:
        match self._sessions % 5:
            case 0:
                self._away(AwayCause.LOCK, self._chance.uniform(120, 500))
            case 1:
                self.wait(180)
                self._away(AwayCause.IDLE, self._chance.uniform(60, 300), ago=180.0)
            case 2:
                slept = round(self._chance.uniform(60, 400), 3)
                self.wait(slept)
                self.add(lines.Suspended, secs=slept)
            case 3:
                self.add(lines.Extend, secs=300)
            case 4 if self._sessions == 4:
                self._away(AwayCause.SLEEP, 1500)  # longer than a pause may be

    def _away(self, cause: AwayCause, secs: float, ago: float = 0.0) -> None:
        self.add(lines.WentAway, cause=cause, ago=ago)
        self.wait(secs)
        self.add(lines.CameBack, cause=cause)

    def _focus(self, wm_class: str, title: str, number: int) -> None:
        window = Window(wm_class, title, window_id=str(number))
        self.add(lines.WindowSeen, source="x11" if self._sessions in (6, 8) else "shell", window=window)

    # The AI

    def _outcomes_of_a_session(self) -> None:
        for _ in range(2):
            for title, serves in _PAGES:
                key = key_of(Window("firefox", f"{title} — Mozilla Firefox"), _POLICY)
                self._outcome(RoleName.DRIFT_JUDGE, key, Verdict(serves, "" if serves else "It is something else"))
            self._outcome(RoleName.DRIFT_JUDGE, Key("slack"), Verdict(False, "Chat"))
        for message in ("", "", "Still on it?", "", "", ""):
            self._outcome(RoleName.NUDGE, None, Advice(message))

    def _outcome(self, role: RoleName, about: Key | None, answer: Answer) -> None:
        after = round(self._chance.uniform(2, 9), 3)
        if self._chance.random() < 0.1:
            self.add(lines.Outcome, role=role, about=about, after=after, fault=self._chance.choice(_FAULTS))
        else:
            self.add(lines.Outcome, role=role, about=about, after=after, answer=answer)


def write(path: Path, seed: int = 1) -> None:
    """Writes the day of that seed, the same one each time."""
    path.write_bytes(b"".join(_encoded(seed)))


def _encoded(seed: int) -> Iterator[bytes]:
    ai = AI("claude", available=True, answer=Consent.GIVEN)
    yield lines.encoded(lines.Header(antidrift="0", unix_ms=_STARTED_MS, policy=_POLICY, ai=ai, saved=None))
    yield from map(lines.encoded, _Day(seed).pass_by())


if __name__ == "__main__":
    write(Path(sys.argv[1]))
