"""Sleep that is told of and sleep that is not, lock, idle, restarts and clocks that are set, in any order.

The real controller in virtual time against a model of its own: a list of absences and a list of windows, from which
countdown, buckets and time away are worked out anew each time.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antidrift.controller import Controller
from antidrift.domain import machine
from antidrift.domain.events import Complete, End, EnterPlanning, Extend, StartCommitment
from antidrift.domain.evidence import NO_WINDOW
from antidrift.domain.model import AwayCause, Outcome, Phase, Window
from antidrift.domain.presence import PAUSING
from antidrift.domain.saving import restore
from antidrift.domain.session import AI, Policy, Session
from support.fakes import FakeClock, FakePresence, FakeSensor, MemoryStore, RecordingPublisher

TIMEBOX = 1200
TOO_LONG = 600.0
IDLE = 180.0

Interval = tuple[float, float]


class Model:
    """What a session should come to. Times are those of the clock of the desk.

    Time runs while neither lock nor sleep is claimed and the machine is not suspended. A pause that lasts ten minutes
    ends the session when the person left. Who sleeps left with the last input, if that was three minutes ago by now.
    """

    def __init__(self, now: float) -> None:
        self.now = self.started = self.last_return = now
        self.left = float(TIMEBOX)
        self.paused_for = 0.0
        self.absences: list[Interval] = []
        self.absent: dict[AwayCause, float] = {}  # each cause that lasts, and since when
        self.since: float | None = None  # when the absence that lasts began
        self.last_input: float | None = None  # before the sleep that lasts
        self.windows: list[tuple[float, tuple[str, str]]] = [(now, NO_WINDOW)]
        self.ended: tuple[Outcome, float] | None = None

    def leave(self, cause: AwayCause, ago: float) -> None:
        since = self.now - ago if cause is AwayCause.IDLE else self.now
        self.absent[cause] = since
        self.since = since if self.since is None else min(since, self.since)
        if cause is AwayCause.SLEEP:
            self.last_input = self.now - ago

    def come_back(self, cause: AwayCause) -> None:
        if cause is AwayCause.SLEEP:
            self._date_back()
            self.last_input = None
        since = self.absent.pop(cause)
        self.absences.append((since, self.now))
        if not self.absent.keys() & PAUSING:
            self.paused_for = 0.0
        if not self.absent:
            self.since = None
        self.last_return = self.now

    def pass_time(self, secs: float, *, suspended: bool = False) -> None:
        pausing = suspended or self.absent.keys() & PAUSING
        until = self.now + secs
        if self.ended is not None:
            pass
        elif pausing and self.paused_for + secs >= TOO_LONG:
            # Whoever is suspended finds out on waking up.
            self.now = until if suspended else self.now + TOO_LONG - self.paused_for
            self._date_back()
            assert self.since is not None
            self.ended = Outcome.INTERRUPTED, self.since
        elif not pausing and self.left <= secs:
            self.ended = Outcome.EXPIRED, self.now + self.left
        elif pausing:
            self.paused_for += secs
        else:
            self.left -= secs
        self.now = until

    def _date_back(self) -> None:
        if self.last_input is not None and self.now - self.last_input >= IDLE:
            self.absent[AwayCause.SLEEP] = min(self.absent[AwayCause.SLEEP], self.last_input)
            assert self.since is not None
            self.since = min(self.since, self.last_input)

    def spent(self) -> tuple[dict[tuple[str, str], float], float]:
        """Seconds in each window, and away: every moment is in one of them, by however many absences it is covered."""
        self._date_back()
        end = self.now if self.ended is None else self.ended[1]
        open_now = ((since, self.now) for since in self.absent.values())
        away = list(_union([*self.absences, *open_now], self.started, end))
        buckets: Counter[tuple[str, str]] = Counter()
        changes = [*self.windows, (self.now, NO_WINDOW)]
        for (start, window), (stop, _) in pairwise(changes):
            start, stop = min(start, end), min(stop, end)
            covered = sum(max(0.0, min(stop, until) - max(start, since)) for since, until in away)
            buckets[window] += stop - start - covered
        return dict(buckets), sum(until - since for since, until in away)


def _union(intervals: list[Interval], start: float, end: float) -> Iterator[Interval]:
    reached = start
    for since, until in sorted(intervals):
        since, until = max(since, reached), min(until, end)
        if until > since:
            yield since, until
            reached = until


class Desk:
    """The real controller, and the model beside it."""

    def __init__(self) -> None:
        self.clock, self.store = FakeClock(), MemoryStore()
        self._run(Session(self.clock.now()), ())
        self.begin()

    def _run(self, session: Session, effects: Any) -> None:
        self.sensor, self.presence = FakeSensor(), FakePresence()
        self.controller = Controller(
            session,
            boot_id="boot",
            clock=self.clock,
            store=self.store,
            publisher=RecordingPublisher(self.store.log),
            sensor=self.sensor,
            presence=self.presence,
        )
        self.controller.begin(effects)

    @property
    def session(self) -> Session:
        return self.controller.session

    def begin(self) -> None:
        now = self.clock.now()
        self.controller.dispatch(EnterPlanning(now))
        self.controller.dispatch(StartCommitment(now, f"{now.boot}", "Write", "Written", TIMEBOX, ("code",)))
        self.model = Model(now.boot)
        focused = machine.focused(self.session)
        if focused is not None:
            self.model.windows = [(now.boot, (focused.wm_class, focused.title))]

    # What can happen

    async def wait(self, secs: float) -> None:
        self.clock.pass_time(secs)
        self.model.pass_time(secs)

    async def suspend(self, secs: float) -> None:
        self.clock.suspend(secs)
        model = self.model
        if model.ended is not None:
            model.pass_time(secs, suspended=True)
            return
        # Waking up is known by the clocks, whoever tells of it later.
        if AwayCause.SLEEP not in model.absent:
            model.leave(AwayCause.SLEEP, 0.0)
        model.pass_time(secs, suspended=True)
        model.come_back(AwayCause.SLEEP)

    async def leave(self, cause: AwayCause, ago: float) -> None:
        if self.presence.watching and cause not in self.model.absent:
            # There was input when they came back, and waking up counts as input.
            ago = 0.0 if cause is AwayCause.LOCK else min(ago, self.clock.boot - self.model.last_return)
            self.presence.leave(cause, ago)
            self.model.leave(cause, ago)

    async def come_back(self, cause: AwayCause) -> None:
        if self.presence.watching and cause in self.model.absent:
            self.presence.come_back(cause)
            self.model.come_back(cause)

    async def focus(self, wm_class: str, title: str) -> None:
        if self.sensor.watching:
            self.sensor.show(Window(wm_class, title) if wm_class else None)
            self.model.windows.append((self.clock.boot, (wm_class, title) if wm_class else NO_WINDOW))

    async def extend(self, secs: int) -> None:
        if self.model.ended is None:
            self.controller.dispatch(Extend(self.clock.now(), secs))
            self.model.left += secs

    async def shorten_to_what_has_passed(self, secs: int) -> None:
        if self.model.ended is None and self.model.left > secs + 1:
            self.controller.dispatch(Extend(self.clock.now(), -secs))
            self.model.left -= secs

    async def set_the_wall_clock(self, hours: int) -> None:
        self.clock.set_by_secs += hours * 3600.0

    async def restart(self, gap: float) -> None:
        """Nobody looks meanwhile, and the time runs."""
        model = self.model
        await self.controller.close()
        for cause in list(model.absent):
            model.come_back(cause)
        model.paused_for = 0.0
        model.absences.append((self.clock.boot, self.clock.boot + gap))
        model.windows.append((self.clock.boot, NO_WINDOW))
        await self.wait(gap)
        model.last_return = model.now
        saved = self.store.load().saved
        assert saved is not None
        self._run(*restore(saved, (), Policy(), AI(), self.clock.now(), "boot"))

    async def look_back(self) -> None:
        if self.session.phase is Phase.ACTIVE:
            self.controller.dispatch(Complete(self.clock.now()))
        self.controller.dispatch(End(self.clock.now()))
        record = self.store.summaries[-1]
        passed = (record.ended_at_ms - record.started_at_ms) / 1000
        assert record.active_secs + record.away_secs == pytest.approx(passed, abs=1.01)
        self.begin()

    # What must hold

    def check(self) -> None:
        session = self.controller.refresh()
        commitment, seen, model = session.commitment, session.evidence, self.model
        assert commitment is not None
        assert session.outcome == (None if model.ended is None else model.ended[0])
        if model.ended is None:
            assert machine.remaining(session) == pytest.approx(model.left, abs=0.01)
        else:
            assert session.ended is not None
            assert session.ended.boot == pytest.approx(model.ended[1], abs=0.01)
        end = session.clock if session.ended is None else session.ended
        assert all(secs >= 0 for secs in seen.buckets.values())
        assert seen.away_secs >= -1e-6
        elapsed = end.boot - commitment.started.boot
        assert sum(seen.buckets.values()) + seen.away_secs == pytest.approx(elapsed, abs=0.01)
        buckets, away = model.spent()
        assert seen.away_secs == pytest.approx(away, abs=0.01)
        for window in {*buckets, *seen.buckets}:
            assert seen.buckets.get(window, 0.0) == pytest.approx(buckets.get(window, 0.0), abs=0.01)
        assert self.presence.watching == (session.phase is Phase.ACTIVE)


CAUSES = st.sampled_from([AwayCause.IDLE, AwayCause.LOCK, AwayCause.SLEEP])
STEPS = {
    Desk.wait: (8, st.floats(0, 400)),
    Desk.suspend: (2, st.one_of(st.floats(3, 60), st.floats(3, 700))),
    Desk.leave: (3, CAUSES, st.floats(0, 400)),
    Desk.come_back: (6, CAUSES),
    Desk.focus: (3, st.sampled_from(["code", "Slack", ""]), st.sampled_from("ab")),
    Desk.extend: (1, st.integers(0, 600)),
    Desk.shorten_to_what_has_passed: (1, st.integers(1, 600)),
    Desk.set_the_wall_clock: (1, st.integers(-24, 24)),
    Desk.restart: (1, st.floats(0, 400)),
    Desk.look_back: (1,),
}
ANY_STEP = st.one_of(
    *(
        st.tuples(st.just(step), st.tuples(*arguments))
        for step, (weight, *arguments) in STEPS.items()
        for _ in range(weight)
    )
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(ANY_STEP, min_size=5, max_size=50))
def test_the_timebox_runs_while_the_person_can_work_and_every_second_is_counted_once(
    steps: list[tuple[Any, tuple[Any, ...]]],
) -> None:
    asyncio.run(_walk(steps))


async def _walk(steps: list[tuple[Any, tuple[Any, ...]]], reached: Counter[object] | None = None) -> None:
    desk = Desk()
    for step, arguments in steps:
        await step(desk, *arguments)
        desk.check()
        if reached is not None:
            reached[desk.session.outcome] += 1
            reached.update(desk.session.presence.causes)
    await desk.controller.close()


def test_the_random_steps_reach_every_end_and_every_absence() -> None:
    """A check of the test."""
    reached: Counter[object] = Counter()

    @settings(max_examples=100, deadline=None, derandomize=True, database=None)
    @given(st.lists(ANY_STEP, min_size=20, max_size=50))
    def walk_and_count(steps: list[tuple[Any, tuple[Any, ...]]]) -> None:
        asyncio.run(_walk(steps, reached))

    walk_and_count()
    for what in (None, Outcome.EXPIRED, Outcome.INTERRUPTED, AwayCause.IDLE, AwayCause.LOCK, AwayCause.SLEEP):
        assert reached[what] > 5, f"{what} was reached {reached[what]} times"
