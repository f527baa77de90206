"""How long it takes from a change of focus until a front end has the new state.

Real windows under a real window manager, a session that runs, and a client in a process of its own. The clock starts
before the request is sent, so the window manager's own work is in the figure; a witness tells it apart, who hears of
the new active window when the service does.
"""

from __future__ import annotations

import json
import random
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Thread
from typing import Any

from Xlib import X
from Xlib.display import Display

from benchmarks import programs
from benchmarks.report import Report, Row
from benchmarks.sample import Sample
from benchmarks.scale import Scale
from support.private_bus import PrivateBus
from support.service import Service
from support.x_server import XServer, XWindow

_AIM_MS = 10.0
_APART_SECS = (1.02, 1.32)  # more than the poller's period, and out of step with it
_SETTLE_SECS = 1.5


@dataclass(frozen=True, slots=True)
class _Change:
    """What the focused window is called from now on. `asked` and `made` are nanoseconds on CLOCK_MONOTONIC."""

    title: str
    asked: int
    made: int  # the window manager, or the X server, has done its part


def measure(scale: Scale, report: Report) -> None:
    with (
        programs.compiled("listen") as [listen],
        XServer() as server,
        PrivateBus() as bus,
        Service(bus, DISPLAY=server.display) as service,
        programs.running([listen], bus.env()) as listener,
        programs.running(programs.python("poll"), server.environment) as poller,
    ):
        service.call("EnterPlanning")
        service.call("StartCommitment", "ssxas", "Measure", "It is measured", 7200, ["editor", "terminal"])
        windows = {
            title: server.open_window(title, (name, name.title()))
            for title, name in (("notes.txt", "editor"), ("~ : sh", "terminal"), ("Holiday", "viewer"))
        }
        heard, seen = _Sightings(listener, _title_of_state), _Sightings(poller, str)
        windows["Holiday"].focus()
        time.sleep(_SETTLE_SECS)
        focused = _change_focus(server, windows, scale(60, least=6))
        retitled = _change_title(windows[focused[-1].title], scale(20, least=4))
        time.sleep(_SETTLE_SECS)
        _add(report, "focus change", focused, heard, seen)
        _add(report, "title change", retitled, heard, seen)


def _change_focus(server: XServer, windows: dict[str, XWindow], times: int) -> list[_Change]:
    witness = _Witness(server.display)
    changes = []
    for n in range(times):
        title = list(windows)[n % len(windows)]
        _pause(n)
        witness.attend()
        asked = _now()
        windows[title].activate()
        changes.append(_Change(title, asked, witness.when_active(windows[title].id)))
    witness.close()
    return changes


def _change_title(window: XWindow, times: int) -> list[_Change]:
    changes = []
    for n in range(times):
        title = f"draft {n}"
        _pause(n)
        asked = _now()
        window.set("_NET_WM_NAME", "UTF8_STRING", 8, title.encode())
        changes.append(_Change(title, asked, _now()))
    return changes


def _add(report: Report, what: str, changes: list[_Change], heard: _Sightings, polled: _Sightings) -> None:
    arrived, noticed = heard.after(changes), polled.after(changes)
    ours, theirs = Sample.of(arrived), Sample.of(noticed)
    made = Sample.of([(change.made - change.asked) / 1e6 for change in changes])
    report.add(
        Row(
            f"{what} → `StateChanged` at a client ({len(arrived)} of {len(changes)})",
            f"{ours} ms",
            f"a poller, each second ({len(noticed)} of {len(changes)}): {theirs} ms",
            f"1 : {theirs.p95 / ours.p95:.0f} (p95)",
            f"p95 ≤ {_AIM_MS:.0f} ms",
            ours.p95 <= _AIM_MS and len(arrived) == len(changes),
        )
    )
    report.add(Row("… of which the X server and the window manager", f"{made} ms"))


class _Sightings:
    """What a program says it has seen: nanoseconds, a space, and something that holds the title."""

    def __init__(self, process: subprocess.Popen[str], title_in: Callable[[str], str]) -> None:
        self._process = process
        self._title_in = title_in
        self._lines: list[str] = []
        # Read as it comes: a full pipe would hold the program up.
        Thread(target=self._collect, daemon=True).start()

    def after(self, changes: Sequence[_Change]) -> list[float]:
        """How many milliseconds after each change it was first seen; one that was not seen is left out."""
        sights = [(int(when), self._title_in(what)) for when, what in (line.split(" ", 1) for line in self._lines)]
        ends = [change.asked for change in changes[1:]] + [changes[-1].asked + 1_500_000_000]
        found = []
        for change, end in zip(changes, ends, strict=True):
            first = next((t for t, title in sights if change.asked < t < end and title == change.title), None)
            if first is not None:
                found.append((first - change.asked) / 1e6)
        return found

    def _collect(self) -> None:
        self._lines.extend(line.rstrip("\n") for line in programs.output_of(self._process))


class _Witness:
    """Hears from the X server which window is active, as the service does."""

    def __init__(self, display: str) -> None:
        self._display: Any = Display(display)
        self._root = self._display.screen().root
        self._active = self._display.intern_atom("_NET_ACTIVE_WINDOW")
        self._root.change_attributes(event_mask=X.PropertyChangeMask)

    def attend(self) -> None:
        """Forgets what was before."""
        self._display.sync()
        while self._display.pending_events():
            self._display.next_event()

    def when_active(self, window: int) -> int:
        """Waits until `window` is active."""
        while True:
            event = self._display.next_event()
            heard = _now()
            if event.type == X.PropertyNotify and event.atom == self._active:
                found = self._root.get_full_property(self._active, X.AnyPropertyType)
                if found and found.value[0] == window:
                    return heard

    def close(self) -> None:
        self._display.close()


def _title_of_state(text: str) -> str:
    evidence = json.loads(text)["evidence"]
    window = evidence["window"] if evidence else None
    return str(window["title"]) if window else ""


def _pause(n: int) -> None:
    """Between two changes. The same pauses in each run."""
    time.sleep(random.Random(n).uniform(*_APART_SECS))  # noqa: S311 - not for a secret


def _now() -> int:
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)
