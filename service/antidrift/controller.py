"""The one place where effects happen.

`dispatch` never waits between reading the session and replacing it, so there is no lock and no lost update. What is
slow (an AI, a task file) runs as a task and comes back as another event.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from antidrift.domain import drift, machine, saving
from antidrift.domain.effects import (
    Append,
    Ask,
    Cancel,
    CheckAI,
    Effect,
    Effects,
    FetchKnowledge,
    FetchTasks,
    Unwatch,
    Watch,
)
from antidrift.domain.events import (
    AIChecked,
    CameBack,
    Command,
    Event,
    KnowledgeFetched,
    RoleAnswered,
    RoleFailed,
    SensorChanged,
    TasksFetched,
    TimePassed,
    WentAway,
    WindowSeen,
)
from antidrift.domain.model import (
    AwayCause,
    Fault,
    FaultCode,
    Health,
    Phase,
    RoleName,
    SessionSummary,
    Source,
    Task,
    Window,
)
from antidrift.domain.requests import ROLE_OF, Answer, Request
from antidrift.domain.session import Session
from antidrift.ports import (
    Advisor,
    Backend,
    Clock,
    KnowledgeSource,
    PresenceSource,
    ProviderError,
    Publisher,
    Recorder,
    Store,
    StoreError,
    TaskSource,
    WindowSensor,
)

_log = logging.getLogger(__name__)
_Value = TypeVar("_Value")

CHECKPOINT_SECS = 60.0  # how much evidence a crash may cost
RETRY_SAVE_SECS = 2.0
FETCH_SECS = 10.0
TICK_SECS = 0.5  # evidence that merely ticks is announced no more often
UNWRITABLE = frozenset({FaultCode.DISK_FULL, FaultCode.READ_ONLY, FaultCode.IO_ERROR})  # until something is written
SUSPENDED_SECS = 2.0  # a shorter suspension is no absence; nor are two clocks that were not read at one moment


class Controller:
    """Holds the session, gives it events, and does what it asks for."""

    def __init__(
        self,
        session: Session,
        *,
        boot_id: str,
        clock: Clock,
        store: Store,
        publisher: Publisher,
        sensor: WindowSensor,
        presence: PresenceSource | None = None,
        backend: Backend | None = None,
        advisor: Advisor | None = None,
        tasks: TaskSource | None = None,
        knowledge: KnowledgeSource | None = None,
        ai_fault: Fault | None = None,
        notice: Fault | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        self._session = session
        self._boot_id = boot_id
        self._clock = clock
        self._store = store
        self._publisher = publisher
        self._sensor = sensor
        self._presence = presence
        self._backend = backend
        self._advisor = advisor
        self._tasks = tasks
        self._knowledge = knowledge
        self._ai_fault = ai_fault  # why there is no backend, unless the person wants none
        self._store_fault: Fault | None = None
        self._notice = notice  # what was found wrong at start; shows until the phase changes
        self._recorder = recorder
        self._seq = 0
        self._suspended = clock.suspended()
        self._due: float | None = None  # when something happens by itself
        self._save_at: float | None = None
        self._announced_tick = float("-inf")
        self._tick_at: float | None = None
        self._asking: dict[RoleName, asyncio.Task[None]] = {}
        self._fetching: set[asyncio.Task[None]] = set()

    @property
    def session(self) -> Session:
        """The session as of the last event."""
        return self._session

    @property
    def clock(self) -> Clock:
        """The clock by which events are dated."""
        return self._clock

    @property
    def seq(self) -> int:
        """How often a visible change was announced."""
        return self._seq

    @property
    def store_fault(self) -> Fault | None:
        """Why the last write failed, or what was found damaged at start; None: all is well."""
        return self._store_fault or self._notice

    def begin(self, effects: Effects) -> None:
        """Puts the restored session on disk and does what restoring asked for. Call once, before any event."""
        if self._recorder is not None:
            self._recorder.began(self._session)
        self._write(self._session, (), needed=False)
        self._carry_out_all(effects)
        self._arm()

    def dispatch(self, event: Event) -> None:
        """One step. Raises Refused or StoreError for a command; then nothing has changed."""
        self._notice_suspension()
        if self._recorder is not None:
            self._recorder.happened(event, self._session)
        self._take_in(event)

    def _take_in(self, event: Event) -> None:
        before = self._session
        after, effects = machine.step(before, event)
        if saving.durable(after) != saving.durable(before) or any(isinstance(e, Append) for e in effects):
            self._write(after, effects, needed=isinstance(event, Command))
        self._session = after
        if after.phase is not before.phase:
            self._notice = None
        self._announce(before, after)
        self._carry_out_all(effects)
        self._arm()

    def refresh(self) -> Session:
        """The session as it is at this moment. Only looking changes nothing, unless a deadline has just passed."""
        self._notice_suspension()
        now = self._clock.now()
        if self._due is not None and self._due <= now.boot:
            self._woken()
        return machine.as_of(self._session, now)

    def recent(self, n: int) -> tuple[SessionSummary, ...]:
        """The last `n` ended sessions, oldest first."""
        return self._store.recent(n)

    async def close(self) -> None:
        """Ends everything that runs, and saves what was seen up to now."""
        self._notice_suspension()
        self._clock.wake_at(None, self._woken)
        self._unwatch()
        running = [*self._asking.values(), *self._fetching]
        self._asking.clear()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        after, _ = machine.step(self._session, TimePassed(self._clock.now()))
        self._write(after, (), needed=False)
        self._session = after
        self._store.close()
        if self._recorder is not None:
            self._recorder.close(after.clock)
        self._clock.close()

    # Disk

    def _write(self, session: Session, effects: Effects, *, needed: bool) -> None:
        """What must be on disk before the step counts. A failure refuses a command; anything else happens anyway."""
        try:
            for effect in effects:
                if isinstance(effect, Append):
                    self._store.append(effect.summary)
            self._store.save(saving.to_saved(session, self._boot_id))
        except StoreError as error:
            self._save_at = session.clock.boot + RETRY_SAVE_SECS
            self._store_changed(error.fault)
            if needed:
                self._arm()
                raise
        else:
            self._save_at = session.clock.boot + CHECKPOINT_SECS if session.phase is Phase.ACTIVE else None
            self._store_changed(None)

    def _store_changed(self, fault: Fault | None) -> None:
        if fault == self._store_fault:
            return
        if fault is None:
            _log.info("the files can be written again")
            if self._notice is not None and self._notice.code in UNWRITABLE:
                self._notice = None
        elif self._store_fault is None:
            _log.warning("writing failed: %s", fault.message)
        self._store_fault = fault
        self._publish()

    # Front ends

    def _announce(self, before: Session, after: Session) -> None:
        if _at_once(before) != _at_once(after):
            self._publish()
        elif _ticking(before) != _ticking(after):
            now = after.clock.boot
            due = self._announced_tick + TICK_SECS
            if after.evidence.window is None:
                # Most window managers pass through "no window" on the way from one to the next.
                due = max(due, now + TICK_SECS)
            if now >= due:
                self._announced_tick = now
                self._publish()
            elif self._tick_at is None:
                self._tick_at = due

    def _publish(self) -> None:
        self._tick_at = None
        self._seq += 1
        self._publisher.publish(self._session, self._seq, self.store_fault)

    # Time

    def _arm(self) -> None:
        moments = (machine.next_deadline(self._session), self._save_at, self._tick_at)
        self._due = min((m for m in moments if m is not None), default=None)
        self._clock.wake_at(self._due, self._woken)

    def _woken(self) -> None:
        now = self._clock.now()
        self._notice_suspension()
        if not self._safely(self._take_in, TimePassed(now)):
            # What is due cannot be done. It must not be tried again at once, and again.
            self._clock.wake_at(now.boot + CHECKPOINT_SECS, self._woken)
            return
        if self._save_at is not None and now.boot >= self._save_at:
            self._write(self._session, (), needed=False)
        if self._tick_at is not None and now.boot >= self._tick_at:
            self._announced_tick = now.boot
            self._publish()
        self._arm()

    def _notice_suspension(self) -> None:
        """Takes a suspension that nobody told of for the sleep that it was, before anything is made of the time.

        On waking up the timer is often faster than logind, and not every machine has a logind: without this the
        night would read as a timebox that ran out. That a sleep is told of twice does no harm.
        """
        suspended = self._clock.suspended()
        slept, self._suspended = suspended - self._suspended, suspended
        if slept <= SUSPENDED_SECS:
            return
        now = self._clock.now()
        if self._recorder is not None:
            self._recorder.suspended(now, slept)
        if self._session.phase is Phase.ACTIVE:
            # Nothing has run since: the alarm for what was due meanwhile goes off on waking up.
            left = now.at(now.boot - slept)
            self._safely(self._take_in, WentAway(left, AwayCause.SLEEP, left))
            self._safely(self._take_in, CameBack(now, AwayCause.SLEEP))

    # Effects

    def _carry_out_all(self, effects: Effects) -> None:
        for effect in effects:
            self._carry_out(effect)

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case Append():
                pass  # on disk already
            case Ask(request):
                self._ask(request)
            case Cancel(role):
                task = self._asking.pop(role, None)
                if task is not None:
                    task.cancel()
            case CheckAI():
                self._check_ai()
            case FetchTasks():
                self._spawn(self._fetch_tasks())
            case FetchKnowledge():
                self._spawn(self._fetch_knowledge())
            case Watch():
                self._sensor.start(self._on_window, self._on_health)
                if self._presence is not None:
                    self._presence.start(self._on_away, self._on_back)
            case Unwatch():
                self._unwatch()
                for cause in self._session.presence.causes:
                    # Nobody will tell of the return. The next session asks anew.
                    self._on_back(cause)

    def _unwatch(self) -> None:
        self._sensor.stop()
        if self._presence is not None:
            self._presence.stop()

    def _happen(self, event: Event) -> None:
        """Dispatches what nobody waits for."""
        self._safely(self.dispatch, event)

    def _safely(self, take_in: Callable[[Event], None], event: Event) -> bool:
        """A fault in what nobody waits for must not end the task or callback that reports it."""
        try:
            take_in(event)
        except Exception as error:
            # Where, but not with which words: the text of an error may hold what a person typed.
            where = "".join(traceback.format_tb(error.__traceback__)).rstrip()
            _log.error("%s could not be taken in: %s\n%s", type(event).__name__, type(error).__name__, where)
            return False
        return True

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._fetching.add(task)
        task.add_done_callback(self._fetching.discard)

    def _ask(self, request: Request) -> None:
        role = ROLE_OF[type(request)]
        if self._recorder is not None:
            self._recorder.asked(self._session.clock, request)
        task = asyncio.get_running_loop().create_task(self._await_answer(request))
        self._asking[role] = task

    async def _await_answer(self, request: Request) -> None:
        role = ROLE_OF[type(request)]
        outcome: Answer | Fault
        try:
            if self._advisor is None:
                outcome = Fault(FaultCode.UNAVAILABLE, "No AI program is set up.")
            else:
                outcome = await self._advisor.ask(request)
        except asyncio.CancelledError:
            if self._asking.get(role) is not asyncio.current_task():
                raise  # nobody waits for it any more
            outcome = Fault(FaultCode.FAILED, "Asking the AI was broken off.")
        if self._asking.get(role) is asyncio.current_task():
            del self._asking[role]
        now = self._clock.now()
        if isinstance(outcome, Fault):
            self._happen(RoleFailed(now, request, outcome))
        else:
            self._happen(RoleAnswered(now, request, outcome))

    def _check_ai(self) -> None:
        backend = self._backend
        fault = self._ai_fault if backend is None else backend.check()
        available = backend is not None and fault is None
        name = "none" if backend is None else backend.name
        self._happen(AIChecked(self._clock.now(), name, available, fault))

    async def _fetch_tasks(self) -> None:
        nothing: tuple[Task, ...] = ()
        items, fault = await _fetched(None if self._tasks is None else self._tasks.fetch, nothing)
        self._happen(TasksFetched(self._clock.now(), items, fault))

    async def _fetch_knowledge(self) -> None:
        text, fault = await _fetched(None if self._knowledge is None else self._knowledge.fetch, "")
        self._happen(KnowledgeFetched(self._clock.now(), text, fault))

    def _on_window(self, window: Window | None) -> None:
        self._happen(WindowSeen(self._clock.now(), Source.X11, window))

    def _on_health(self, health: Health, fault: Fault | None) -> None:
        self._happen(SensorChanged(self._clock.now(), health, fault))

    def _on_away(self, cause: AwayCause, ago: float) -> None:
        now = self._clock.now()
        self._happen(WentAway(now, cause, now.at(now.boot - ago)))
        if cause is AwayCause.SLEEP:
            # The battery may be empty before anybody wakes the machine.
            self._write(self._session, (), needed=False)
            self._arm()

    def _on_back(self, cause: AwayCause) -> None:
        self._happen(CameBack(self._clock.now(), cause))


async def _fetched(
    fetch: Callable[[], Coroutine[Any, Any, _Value]] | None, nothing: _Value
) -> tuple[_Value, Fault | None]:
    """What a source holds, or why it cannot be had. Without a source: nothing, and no fault."""
    if fetch is None:
        return nothing, None
    try:
        async with asyncio.timeout(FETCH_SECS):
            return await fetch(), None
    except ProviderError as error:
        return nothing, error.fault
    except TimeoutError:
        # A file on a network that hangs, say.
        return nothing, Fault(FaultCode.UNREADABLE, f"Reading it took longer than {FETCH_SECS:.0f} seconds.")
    except Exception as error:
        _log.error("fetching failed: %s", type(error).__name__)
        return nothing, Fault(FaultCode.UNREADABLE, "Reading it failed inside AntiDrift.")


def _at_once(session: Session) -> tuple[object, ...]:
    """What front ends must hear of at once when it changes."""
    at = session.clock
    seen = session.drift
    return (
        session.phase,
        session.commitment,
        session.outcome,
        session.coach,
        session.tasks,
        session.knowledge.status,
        session.looking,
        session.presence,
        session.ai,
        machine.sight(session),
        drift.shown(session, at),
        (seen.nudge, seen.episode, seen.interrupt),
    )


def _ticking(session: Session) -> tuple[object, ...]:
    """What may wait for half a second."""
    return (session.evidence.window, session.evidence.switch_count)
