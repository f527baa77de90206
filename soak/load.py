"""What the figures about the bus share: the real service on a bus of its own, and many clients in C."""

# ruff: noqa: S603 - the programs are ours

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any, Self

import jsonschema

from benchmarks import process, programs
from benchmarks.sample import Sample
from support.private_bus import PrivateBus
from support.service import DEADLINE, Service, State

REPORTER = "org.example.Reporter"
"""The bus name whose owner may report windows."""

_HERE = Path(__file__).parent
_seeds = itertools.count(1)  # so that no client does what another has done
_CLIENTS = ("mixed", "burst", "flood", "reports", "deadlines")
_SCHEMA = _HERE.parent / "dbus" / "state.schema.json"
_VALIDATOR = jsonschema.Draft202012Validator(json.loads(_SCHEMA.read_text()))


@dataclass(frozen=True, slots=True)
class Desk:
    """A service that serves, its bus, and the programs that can be run on it, by name."""

    bus: PrivateBus
    service: Service
    programs: Mapping[str, str]

    def command(self, name: str, *arguments: object) -> list[str]:
        """What starts one of the programs."""
        return [self.programs[name], *map(str, arguments)]

    def output(self, name: str, *arguments: object) -> str:
        """What one of the programs says from its start to its end. Raises CalledProcessError."""
        return programs.output(self.command(name, *arguments), self.bus.env())

    def memory(self) -> int:
        """KiB that the service has in memory, shared pages counted whole."""
        return process.memory(self.service.pid).rss

    def state(self) -> State:
        """The state, as a client without a schema of its own would take it. Raises ValidationError."""
        state = self.service.state()
        _VALIDATOR.validate(state)
        return state

    def lock(self) -> None:
        """Brings the session back to where it was at start, whatever it is now."""
        ways_out = {"planning": "CancelPlanning", "active": "Complete", "review": "End"}
        while (phase := self.state()["runtime_state"]) != "locked":
            self.service.call(ways_out[phase])

    def start_session(self, secs: int, *classes: str) -> None:
        """Begins a session, from locked."""
        self.service.call("EnterPlanning")
        self.service.call("StartCommitment", "ssxas", "Write the report", "Two pages are there", secs, list(classes))


@contextmanager
def desk() -> Iterator[Desk]:
    """Raises CannotMeasure without a compiler."""
    with ExitStack() as running:
        paths = running.enter_context(programs.compiled(*_CLIENTS, folder=_HERE / "programs"))
        bus = running.enter_context(PrivateBus())
        service = running.enter_context(Service(bus))
        service.stop()
        (service.folder / "config.toml").write_text(f'[sensor]\nreporters = ["{REPORTER}"]\n')
        service.start()
        yield Desk(bus, service, dict(zip(_CLIENTS, paths, strict=True)))


@dataclass(frozen=True, slots=True)
class Answers:
    """How often each kind of answer came, and how many milliseconds each call waited for its own."""

    kinds: Counter[str]
    took: Sample

    @property
    def number(self) -> int:
        return self.kinds.total()

    @property
    def wrong(self) -> dict[str, int]:
        """Those that no call may have, and answers to nothing."""
        return {kind: n for kind, n in self.kinds.items() if kind == "twice" or kind.startswith("unexpected")}

    @property
    def latency(self) -> str:
        took = self.took
        return (
            f"p50 {took.median:.2f}, p99 {took.quantile(99, 100):.2f}, "
            f"p99.9 {took.quantile(999, 1000):.2f}, max {took.highest:.1f} ms"
        )


class Clients:
    """Context manager around several `mixed` clients, which call at once.

    They have begun when the block begins. A client that was disconnected makes `answers` raise.
    """

    def __init__(self, desk: Desk, number: int, calls: int, *, harmless: bool = False, reporting: bool = True) -> None:
        """`calls`: of each. `harmless`: none changes the session. `reporting`: the first may report windows."""
        what = "harmless" if harmless else "all"
        names = [[REPORTER] if reporting and n == 0 else [] for n in range(number)]
        self._commands = [desk.command("mixed", calls, next(_seeds), what, *name) for name in names]
        self._environment = desk.bus.env()

    def __enter__(self) -> Self:
        with ExitStack() as running:
            self._processes = [
                running.enter_context(programs.running(command, self._environment)) for command in self._commands
            ]
            self._texts = [""] * len(self._processes)
            # Read as it comes: a full pipe would hold a client up.
            self._readers = [Thread(target=self._read, args=(n,)) for n in range(len(self._processes))]
            for reader in self._readers:
                reader.start()
            self._running = running.pop_all()
        return self

    def __exit__(self, *fault: object) -> None:
        for child in self._processes:
            child.kill()
        for reader in self._readers:
            reader.join()
        self._running.close()

    @property
    def calling(self) -> bool:
        """Whether any of them has calls left."""
        return any(reader.is_alive() for reader in self._readers)

    def answers(self, meanwhile: Callable[[], Any] = lambda: None, every: float = 0.2) -> Answers:
        """What all of them were answered, at their end. Until then `meanwhile` is called `every` so many seconds."""
        while self.calling:
            meanwhile()
            self._readers[0].join(every)
        for child in self._processes:
            if status := child.wait(DEADLINE):
                raise subprocess.CalledProcessError(status, child.args)
        kinds: Counter[str] = Counter()
        took: list[float] = []
        for text in self._texts:
            counts, _, times = text.partition("took\n")
            for line in counts.splitlines():
                times_heard, kind = line.split(" ", 1)
                kinds[kind] += int(times_heard)
            took.extend(int(us) / 1000 for us in times.split())
        return Answers(kinds, Sample.of(took))

    def _read(self, n: int) -> None:
        self._texts[n] = programs.output_of(self._processes[n]).read()


class Burst:
    """Context manager around calls of GetState, `calls` from each of many connections, all of them at once.

    When the block begins they have been sent, and the service stands still.
    """

    def __init__(self, desk: Desk, connections: int, calls: int) -> None:
        self._desk = desk
        self._command = desk.command("burst", connections, calls)

    def __enter__(self) -> Self:
        os.kill(self._desk.service.pid, signal.SIGSTOP)
        self._client = subprocess.Popen(self._command, env=self._desk.bus.env(), stdout=subprocess.PIPE, text=True)
        if programs.output_of(self._client).readline() != "sent\n":
            self.__exit__()
            raise RuntimeError("the calls could not be sent")
        return self

    def __exit__(self, *fault: object) -> None:
        self.let_answer()
        self._client.kill()
        self._client.wait()
        programs.output_of(self._client).close()

    def let_answer(self) -> None:
        """Ends the service's stillness. May be called again."""
        os.kill(self._desk.service.pid, signal.SIGCONT)

    def answers(self) -> tuple[int, int]:
        """How many answers came, and how many of them not in the order of their sender's calls.

        Raises CalledProcessError if the client is disconnected, or if a call is refused.
        """
        self.let_answer()
        text = programs.output_of(self._client).read()
        if status := self._client.wait(DEADLINE):
            raise subprocess.CalledProcessError(status, self._command)
        answers, out_of_order = map(int, text.split())
        return answers, out_of_order


@contextmanager
def flood(desk: Desk, outstanding: int) -> Iterator[None]:
    """Meanwhile one client asks for the state as fast as it can. Raises RuntimeError if it was disconnected."""
    with programs.running(desk.command("flood", outstanding), desk.bus.env()) as child:
        yield
        if child.poll() is not None:
            raise RuntimeError("the client that floods has been disconnected")


def listed(kinds: Mapping[str, int]) -> str:
    """Kinds of answers with their numbers, the most frequent first."""
    return ", ".join(f"{n:,} {kind.rpartition('.')[2]}" for kind, n in sorted(kinds.items(), key=lambda kn: -kn[1]))
