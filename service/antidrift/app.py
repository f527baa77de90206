"""The composition root: the one module that knows every concrete class."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Mapping
from pathlib import Path

from antidrift.bus.connection import NameTaken, SessionBus, session_bus_address, system_bus_address
from antidrift.bus.interface import SessionInterface
from antidrift.bus.names import BUS_NAME, OBJECT_PATH
from antidrift.bus.presence import DesktopPresence
from antidrift.bus.reports import Reporters
from antidrift.clock import BootClock, boot_id
from antidrift.config import LoadedConfig, Paths, load_config
from antidrift.controller import Controller
from antidrift.domain import saving
from antidrift.domain.effects import CheckAI, Effects
from antidrift.domain.model import Fault, FaultCode, Instant
from antidrift.domain.requests import Answer, Request
from antidrift.domain.session import AI, Policy, Session
from antidrift.ports import Advisor, Backend, Ledger, Loaded, Recorder
from antidrift.providers import knowledge_source, task_source
from antidrift.sensors.executable import program_of
from antidrift.sensors.x11 import X11Sensor
from antidrift.sensors.x11_idle import X11Idle
from antidrift.store import FileStore, LedgerFile

_log = logging.getLogger(__name__)


async def serve(environ: Mapping[str, str], stop: asyncio.Event, record: Path | None = None) -> None:
    """Runs the service on the session bus until `stop` is set. `record` is where a trace is to be written.

    Raises NoSessionBus, NameTaken, StoreLocked, BusLost or CannotRecord; the messages are for the person.
    """
    paths = Paths.from_environment(environ)
    loaded = load_config(paths, environ)
    for problem in loaded.problems:
        _log.warning("config: %s", problem)

    bus = await SessionBus.open()
    try:
        if await bus.watch_name(BUS_NAME) is not None:
            raise NameTaken(f"{BUS_NAME} is owned by another process on this bus")
        reporters = Reporters(loaded.config.sensor.reporters, bus.owner_of)
        await _serve_on(bus, reporters, paths, loaded, environ, stop, record)
    finally:
        await bus.close()


async def _serve_on(
    bus: SessionBus,
    reporters: Reporters,
    paths: Paths,
    loaded: LoadedConfig,
    environ: Mapping[str, str],
    stop: asyncio.Event,
    record: Path | None,
) -> None:
    config = loaded.config
    clock = BootClock()
    store = FileStore(paths.state_dir)
    interface = SessionInterface(bus, reporters, program_of)
    backend = backend_of(loaded)
    ledger = LedgerFile(paths.state_dir, keep_prompts=config.privacy.keep_prompts)
    found = store.load()
    for fault in found.faults:
        _log.warning("store: %s", fault.message)
    session, effects = _restored(found, loaded, config.policy(environ), backend, clock.now())
    controller = Controller(
        session,
        boot_id=boot_id(),
        clock=clock,
        store=store,
        publisher=interface,
        sensor=X11Sensor(environ.get("DISPLAY"), partial=_is_wayland(environ)),
        presence=_presence(loaded, environ),
        backend=backend,
        advisor=None if backend is None else _LazyAdvisor(backend, ledger),
        tasks=task_source(config.tasks.source, config.tasks.path, config.tasks.limit),
        knowledge=knowledge_source(config.knowledge.path),
        ai_fault=loaded.ai_fault,
        notice=found.faults[0] if found.faults else None,
        recorder=None if record is None else _recorder(record),
    )
    interface.serve(controller)
    try:
        controller.begin((*effects, CheckAI()))
        for name in reporters.names:
            await bus.watch_name(name, interface.reporters_changed)
        bus.export(OBJECT_PATH, interface)
        await bus.claim_name(BUS_NAME)
        # What has been imported stays. To go through it for garbage again and again makes callers wait 16 ms each time.
        gc.freeze()
        _log.info("%s is served", BUS_NAME)
        await _until_stopped(bus, stop)
    finally:
        await controller.close()


def _recorder(path: Path) -> Recorder:
    from antidrift.trace import TraceFile  # seldom wanted

    return TraceFile(path)


def _restored(
    found: Loaded, loaded: LoadedConfig, policy: Policy, backend: Backend | None, now: Instant
) -> tuple[Session, Effects]:
    fault = loaded.ai_fault if backend is None else backend.check()
    ai = AI(
        "none" if backend is None else backend.name,
        backend is not None and fault is None,
        named=loaded.config.ai.named,
        fault=fault,
    )
    if found.saved is None:
        return Session(now, policy, ai=ai, recent=found.recent), ()
    return saving.restore(found.saved, found.recent, policy, ai, now, boot_id())


def backend_of(loaded: LoadedConfig) -> Backend | None:
    """The AI program that the configuration asks for; None: the person wants none, or named one that does not exist."""
    ai = loaded.config.ai
    if ai.name == "none":
        return None
    from antidrift.backends import BACKENDS  # not paid for at start by people without an AI

    return BACKENDS[ai.name](command=ai.command, model=ai.model)


class _LazyAdvisor:
    """The four roles, imported with the first question: most of a session asks nothing."""

    def __init__(self, backend: Backend, ledger: Ledger) -> None:
        self._backend = backend
        self._ledger = ledger
        self._advisor: Advisor | None = None
        self._fault: Fault | None = None  # why there is none yet, although somebody has asked

    async def ask(self, request: Request) -> Answer | Fault:
        """See `ports.Advisor`."""
        try:
            advisor = self._load()
        except (OSError, ImportError) as error:  # no descriptor to spare, say; the next question tries again
            reason = getattr(error, "strerror", None) or type(error).__name__
            fault = Fault(FaultCode.FAILED, f"The roles of the AI cannot be loaded: {reason.lower()}.")
            if self._fault is None:
                _log.warning("%s", fault.message)
            self._fault = fault
            return fault
        return await advisor.ask(request)

    def _load(self) -> Advisor:
        if self._advisor is None:
            from antidrift.roles.caller import RoleCaller

            self._advisor = RoleCaller(self._backend, ledger=self._ledger)
            if self._fault is not None:
                _log.info("the roles of the AI are loaded")
        return self._advisor


def _presence(loaded: LoadedConfig, environ: Mapping[str, str]) -> DesktopPresence:
    idle_secs = loaded.config.presence.idle_secs
    display = environ.get("DISPLAY")
    return DesktopPresence(
        session_bus_address(),
        system_bus_address(environ),
        session_id=environ.get("XDG_SESSION_ID", ""),
        idle_secs=idle_secs,
        fallback=X11Idle(display, idle_secs) if display and not _is_wayland(environ) else None,
    )


def _is_wayland(environ: Mapping[str, str]) -> bool:
    return environ.get("XDG_SESSION_TYPE") == "wayland" or bool(environ.get("WAYLAND_DISPLAY"))


async def _until_stopped(bus: SessionBus, stop: asyncio.Event) -> None:
    """Returns when `stop` is set; raises BusLost when the bus goes first."""
    waiting = {asyncio.ensure_future(bus.wait_for_disconnect()), asyncio.ensure_future(stop.wait())}
    done, pending = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    for task in done:
        task.result()
