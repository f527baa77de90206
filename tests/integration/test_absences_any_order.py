"""Sleep that is told of and sleep that is not, lock and idle, in any order: the timebox against a model of one page."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antidrift.controller import Controller
from antidrift.domain import machine
from antidrift.domain.events import Complete, End, EnterPlanning, Extend, StartCommitment
from antidrift.domain.model import AwayCause, Outcome, Phase, Window
from antidrift.domain.presence import PAUSING
from antidrift.domain.session import Session
from support.fakes import FakeClock, FakePresence, FakeSensor, MemoryStore, RecordingPublisher

TIMEBOX = 1200
TOO_LONG = 600.0


class Desk:
    """The real controller in virtual time, and beside it what the timebox should say.

    The model: time runs while neither lock nor sleep is claimed and the machine is not suspended. A pause that lasts
    ten minutes ends the session.
    """

    def __init__(self) -> None:
        self.clock, self.sensor, self.presence = FakeClock(), FakeSensor(), FakePresence()
        store = MemoryStore()
        self.controller = Controller(
            Session(self.clock.now()),
            boot_id="boot",
            clock=self.clock,
            store=store,
            publisher=RecordingPublisher(store.log),
            sensor=self.sensor,
            presence=self.presence,
        )
        self.controller.begin(())
        self.claimed: set[AwayCause] = set()
        self.pause = 0.0
        self.begin()

    @property
    def session(self) -> Session:
        return self.controller.session

    def begin(self) -> None:
        now = self.clock.now()
        self.controller.dispatch(EnterPlanning(now))
        self.controller.dispatch(StartCommitment(now, f"{now.boot}", "Write", "Written", TIMEBOX, ("code",)))
        self.claimed, self.pause = set(), 0.0
        self.left = float(TIMEBOX)
        self.ends: Outcome | None = None

    def _passes(self, secs: float, *, suspended: bool) -> None:
        if self.ends is not None:
            return
        if suspended or self.claimed & PAUSING:
            self.pause += secs
            if self.pause >= TOO_LONG:
                self.ends = Outcome.INTERRUPTED
        else:
            self.left -= secs
            if self.left <= 0:
                self.ends = Outcome.EXPIRED

    # What can happen

    def wait(self, secs: float) -> None:
        self._passes(secs, suspended=False)
        self.clock.pass_time(secs)

    def suspend(self, secs: float) -> None:
        self._passes(secs, suspended=True)
        self.clock.suspend(secs)
        self.claimed -= {AwayCause.SLEEP}  # waking up is known by the clocks, whoever tells of it later
        if not self.claimed & PAUSING:
            self.pause = 0.0

    def leave(self, cause: AwayCause, ago: float) -> None:
        if self.presence.watching:
            self.presence.leave(cause, ago if cause is AwayCause.IDLE else 0.0)
            self.claimed.add(cause)

    def come_back(self, cause: AwayCause) -> None:
        if self.presence.watching:
            self.presence.come_back(cause)
            self.claimed.discard(cause)
            if not self.claimed & PAUSING:
                self.pause = 0.0

    def focus(self, name: str) -> None:
        if self.sensor.watching:
            self.sensor.show(Window(name, ""))

    def extend(self, secs: int) -> None:
        if self.ends is None:
            self.controller.dispatch(Extend(self.clock.now(), secs))
            self.left += secs

    def look_back(self) -> None:
        if self.session.phase is Phase.ACTIVE:
            self.controller.dispatch(Complete(self.clock.now()))
        self.controller.dispatch(End(self.clock.now()))
        self.begin()

    # What must hold

    def check(self) -> None:
        session = self.controller.refresh()
        commitment, seen = session.commitment, session.evidence
        assert commitment is not None
        assert session.outcome == self.ends
        if self.ends is None:
            assert machine.remaining(session) == pytest.approx(self.left, abs=0.01)
        end = session.clock if session.ended is None else session.ended
        assert all(secs >= 0 for secs in seen.buckets.values())
        assert seen.away_secs >= -1e-6
        elapsed = end.boot - commitment.started.boot
        assert sum(seen.buckets.values()) + seen.away_secs == pytest.approx(elapsed, abs=0.01)
        assert self.presence.watching == (session.phase is Phase.ACTIVE)


CAUSES = st.sampled_from([AwayCause.IDLE, AwayCause.LOCK, AwayCause.SLEEP])
STEPS = {
    Desk.wait: (8, st.floats(0, 400)),
    Desk.suspend: (2, st.one_of(st.floats(3, 60), st.floats(3, 700))),
    Desk.leave: (2, CAUSES, st.floats(0, 400)),
    Desk.come_back: (6, CAUSES),
    Desk.focus: (2, st.sampled_from(["code", "Slack"])),
    Desk.extend: (1, st.integers(0, 600)),
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
        step(desk, *arguments)
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
