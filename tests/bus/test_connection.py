"""The hardened connection on a real bus, seen by clients that share no code with it: libdbus (dbus-python) and sd-bus
(busctl).

To see each test of `service` fail without the cures: ECHO_SERVICE=plain pytest tests/bus/test_connection.py
"""

# ruff: noqa: F821, N802 - annotations are D-Bus signatures here, and members have the names of the contract

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import queue
import signal as signal_numbers
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, Self
from xml.etree import ElementTree

import antidrift.bus  # first, because it makes dbus-next importable on later Pythons

# isort: split
import dbus
import dbus.bus
import dbus.lowlevel
import pytest
from dbus_next._private.marshaller import Marshaller
from dbus_next.constants import MessageType, PropertyAccess
from dbus_next.message import Message
from dbus_next.service import ServiceInterface, dbus_property, method, signal
from dbus_next.signature import Variant

from antidrift.bus.connection import (
    MAX_MESSAGE,
    MAX_QUEUED,
    BusLost,
    NameTaken,
    NoSessionBus,
    SessionBus,
    session_bus_address,
)
from antidrift.bus.introspection import describe
from antidrift.bus.names import BUS_NAME, INTERFACE, OBJECT_PATH
from benchmarks.process import memory
from support.desktop import FakeLogind
from support.private_bus import PrivateBus

DEADLINE = 20.0
LONG = 1 << 20
PACKAGE = Path(antidrift.__file__).parents[1]
ECHO_SERVICE = Path(__file__).parents[1] / "standins" / "echo_service.py"
FLAVOUR = os.environ.get("ECHO_SERVICE", "hardened")

DAEMON = "org.freedesktop.DBus"
PEER = "org.freedesktop.DBus.Peer"
PROPERTIES = "org.freedesktop.DBus.Properties"
FAILED = "org.antidrift.Error.Internal: the service failed; its log says where"


class EchoService:
    """The stand-in service as a process: what it says on standard output, and its log."""

    def __init__(self, bus: PrivateBus, log: Path, flavour: str = FLAVOUR) -> None:
        self._log = log.open("w")
        self.process = subprocess.Popen(
            [sys.executable, str(ECHO_SERVICE), flavour],
            env=bus.env(PYTHONPATH=str(PACKAGE)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        self._lines: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()
        for pipe in (self.process.stdin, self.process.stdout, self._log):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()

    def _read(self) -> None:
        for line in self.process.stdout:
            self._lines.put(line.rstrip())
        self._lines.put("ended")

    def says(self, wanted: str) -> str:
        """Waits for a line that begins with `wanted`; returns the rest of it. Fails if it ends without."""
        heard = []
        ends = time.monotonic() + DEADLINE
        while True:
            heard.append(self._lines.get(timeout=max(ends - time.monotonic(), 0.01)))
            if heard[-1].startswith(wanted):
                return heard[-1].removeprefix(wanted).strip()
            assert heard[-1] != "ended", f"never said {wanted!r} but {heard}; its log:\n{self.log}"

    def obey(self, command: str) -> None:
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    @property
    def log(self) -> str:
        return Path(self._log.name).read_text()


class Listener:
    """busctl, watching the signals of the contract's interface go by."""

    def __init__(self, bus: PrivateBus) -> None:
        watch = ["monitor", f"--match=type='signal',interface='{INTERFACE}'"]
        self._busctl = subprocess.Popen(
            ["busctl", f"--address={bus.address}", "--json=short", *watch],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._seen: queue.Queue[dict] = queue.Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        with Client(bus) as client:
            # busctl does not say in every version that it watches: it does when it has seen something.
            ends = time.monotonic() + DEADLINE
            while self._seen.empty():
                assert time.monotonic() < ends, "busctl sees nothing"
                client.emit("Ready")
                time.sleep(0.02)
            self.numbers(client)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        self._busctl.kill()
        self._busctl.wait()
        self._reader.join()
        self._busctl.stdout.close()

    def numbers(self, client: Client) -> list[int]:
        """The numbers of the signals seen so far. They end at a signal that `client` sends for the purpose."""
        client.emit("Enough")
        numbers = []
        while (seen := self._seen.get(timeout=DEADLINE))["member"] != "Enough":
            if seen["member"] != "Ready":
                numbers.append(seen["payload"]["data"][0])
        return numbers

    def _read(self) -> None:
        for line in self._busctl.stdout:
            self._seen.put(json.loads(line))


class Client:
    """libdbus, by way of dbus-python. Without a main loop it makes blocking calls only."""

    def __init__(self, bus: PrivateBus) -> None:
        self.connection = dbus.bus.BusConnection(bus.address)
        self.connection.set_exit_on_disconnect(False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        self.connection.close()

    @property
    def name(self) -> str:
        return str(self.connection.get_unique_name())

    def call(
        self,
        member: str,
        signature: str = "",
        *args: Any,
        interface: str = INTERFACE,
        to: str = BUS_NAME,
        within: float = DEADLINE,
    ) -> Any:
        """The answer to one call, an error as "NAME: TEXT"."""
        path = OBJECT_PATH if to == BUS_NAME else "/org/freedesktop/DBus"
        try:
            return self.connection.call_blocking(to, path, interface, member, signature, args, timeout=within)
        except dbus.DBusException as error:
            return f"{error.get_dbus_name()}: {error.get_dbus_message()}"

    def ask_daemon(self, member: str, name: str) -> Any:
        return self.call(member, "s", name, interface=DAEMON, to=DAEMON)

    def send_calls(self, count: int) -> None:
        """Calls that want no reply, written as fast as the socket takes them."""
        for _ in range(count):
            message = self._echo("x")
            message.set_no_reply(True)
            self.connection.send_message(message)
        self.connection.flush()

    def call_at_once(self, texts: list[str]) -> list[str]:
        """Echoes all `texts`, every call written before the first reply is read."""
        started = [self.start(self._echo(text)) for text in texts]
        self.connection.flush()
        return [finish() for finish in started]

    def start(self, call: dbus.lowlevel.MethodCallMessage) -> Callable[[], str]:
        """Sends a call; what is returned waits for its answer, a string or the name of an error."""
        replies: list[dbus.lowlevel.Message] = []
        pending = self.connection.send_message_with_reply(call, replies.append, DEADLINE)

        def finish() -> str:
            pending.block()
            [reply] = replies
            return str(reply.get_error_name() or reply.get_args_list()[0])

        return finish

    def emit(self, member: str) -> None:
        self.connection.send_message(dbus.lowlevel.SignalMessage("/", INTERFACE, member))
        self.connection.flush()

    @staticmethod
    def message(member: str) -> dbus.lowlevel.MethodCallMessage:
        return dbus.lowlevel.MethodCallMessage(BUS_NAME, OBJECT_PATH, INTERFACE, member)

    def call_for_long(self, length: int) -> dbus.lowlevel.MethodCallMessage:
        message = self.message("Long")
        message.append(length, signature="u")
        return message

    def _echo(self, text: str) -> dbus.lowlevel.MethodCallMessage:
        message = self.message("Echo")
        message.append(text, signature="s")
        return message


@pytest.fixture(scope="module")
def bus() -> Iterator[PrivateBus]:
    with PrivateBus() as bus:
        yield bus


@pytest.fixture
def service(bus: PrivateBus, tmp_path: Path) -> Iterator[EchoService]:
    with EchoService(bus, tmp_path / "log") as service:
        service.says("ready")
        yield service


@pytest.fixture
def plain_service(bus: PrivateBus, tmp_path: Path) -> Iterator[EchoService]:
    with EchoService(bus, tmp_path / "log", "plain") as service:
        service.says("ready")
        yield service


@pytest.fixture
def client(bus: PrivateBus) -> Iterator[Client]:
    with Client(bus) as client:
        yield client


@pytest.fixture
def listener(bus: PrivateBus) -> Iterator[Listener]:
    with Listener(bus) as listener:
        yield listener


@pytest.fixture
async def connection(bus: PrivateBus) -> AsyncIterator[SessionBus]:
    connection = await SessionBus.open(bus.address)
    yield connection
    await connection.close()


def busctl(bus: PrivateBus, *arguments: str) -> str:
    done = subprocess.run(
        ["busctl", f"--address={bus.address}", "--json=short", *arguments],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    return done.stdout + done.stderr


def wait_until(condition: Callable[[], bool]) -> None:
    ends = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < ends, "it never came true"
        time.sleep(0.01)


# Writing


def test_sixty_long_signals_in_one_burst_all_arrive(service: EchoService, client: Client, listener: Listener) -> None:
    client.call("Emit", "uu", 60, 4096)

    assert listener.numbers(client) == list(range(60))


def test_a_thousand_calls_at_once_are_all_answered(service: EchoService, client: Client) -> None:
    texts = [f"{number} {'x' * 200}" for number in range(1000)]

    assert client.call_at_once(texts) == texts


def test_a_bus_daemon_that_stands_still_for_two_seconds_costs_no_signal(
    bus: PrivateBus, service: EchoService, client: Client, listener: Listener
) -> None:
    bus.freeze()
    try:
        service.obey("emit 100 4096 0.02")
        service.says("emitted")
    finally:
        bus.thaw()

    assert client.call("Echo", "s", "still here") == "still here"
    assert listener.numbers(client) == list(range(100))


def test_signals_that_find_no_room_are_dropped_without_harm_to_who_emits_them(
    bus: PrivateBus, service: EchoService, client: Client
) -> None:
    size = 65536
    bus.freeze()
    try:
        service.obey(f"emit {2 * MAX_QUEUED // size} {size} 0")
        service.says("emitted")
    finally:
        bus.thaw()

    assert client.call("Echo", "s", "still here") == "still here"
    wait_until(lambda: "drains again" in service.log)
    with Listener(bus) as listener:
        client.call("Emit", "uu", 10, size)
        assert listener.numbers(client) == list(range(10))
    assert service.log.count("the bus does not drain") == 1
    assert len(service.log.splitlines()) == 2


def test_a_bus_daemon_that_stands_still_costs_no_answer_however_long(
    bus: PrivateBus, service: EchoService, client: Client
) -> None:
    """No more is read than can be answered."""
    length, calls = 500_000, 100
    os.kill(service.process.pid, signal_numbers.SIGSTOP)
    finishes = [client.start(client.call_for_long(length)) for _ in range(calls)]
    client.ask_daemon("NameHasOwner", BUS_NAME)  # behind the calls: the daemon has them
    bus.freeze()
    try:
        os.kill(service.process.pid, signal_numbers.SIGCONT)
        service.obey("emit 100 10 0.005")  # time to read all that it is going to
        service.says("emitted")
    finally:
        bus.thaw()

    for finish in finishes:  # one by one: whoever waits for an answer that is lost waits long
        assert len(finish()) == length
    assert service.log == ""


def test_a_nul_in_a_signal_is_refused_before_it_reaches_the_bus(service: EchoService, client: Client) -> None:
    assert client.call("EmitNul") == "refused"
    assert client.call("Echo", "s", "still here") == "still here"


def test_a_nul_in_a_reply_becomes_an_internal_error(service: EchoService, client: Client) -> None:
    assert client.call("ReturnNul") == FAILED
    assert client.call("Echo", "s", "still here") == "still here"


def test_a_reply_that_is_too_long_becomes_an_internal_error(service: EchoService, client: Client) -> None:
    assert client.call("Long", "u", MAX_MESSAGE) == FAILED
    assert len(client.call("Long", "u", MAX_MESSAGE // 2)) == MAX_MESSAGE // 2


def test_closing_sends_what_was_emitted_before(service: EchoService, client: Client, listener: Listener) -> None:
    client.call("EmitAndLeave", "uu", 100, 4096)
    service.says("left")

    assert service.process.wait(DEADLINE) == 0
    wait_until(lambda: not client.ask_daemon("NameHasOwner", BUS_NAME))
    assert listener.numbers(client) == list(range(100))


# Reading


def test_a_flood_of_calls_leaves_other_tasks_their_turn(service: EchoService, client: Client) -> None:
    client.call("Stall")  # forgets what starting took
    client.send_calls(4000)

    assert client.call("Stall") < 0.1


def test_signatures_that_never_come_again_are_forgotten(service: EchoService, client: Client) -> None:
    def send(numbers: range) -> None:
        for number in numbers:
            kinds = f"{number:b}".translate({ord("0"): "u", ord("1"): "i"}) + "u" * 200
            fields = dbus.Struct([dbus.UInt32(0) if kind == "u" else dbus.Int32(0) for kind in kinds], signature=kinds)
            client.call("Nothing", "v", fields)

    send(range(64))
    before = memory(service.process.pid).rss
    send(range(64, 384))

    assert memory(service.process.pid).rss - before < 4096


# Failing handlers


@pytest.mark.parametrize("member", ["Fail", "FailLater"])
def test_an_exception_in_a_handler_is_one_tidy_error(
    bus: PrivateBus, service: EchoService, client: Client, member: str
) -> None:
    assert client.call(member, "s", "my secret") == FAILED
    seen_by_busctl = busctl(bus, "call", BUS_NAME, OBJECT_PATH, INTERFACE, member, "s", "my secret")
    assert seen_by_busctl == "Call failed: the service failed; its log says where\n"


@pytest.mark.parametrize("member", ["Fail", "FailLater"])
def test_an_exception_in_a_handler_is_logged_once_and_without_what_the_caller_said(
    service: EchoService, client: Client, member: str
) -> None:
    client.call(member, "s", "my secret")

    client.call("Echo", "s", "so the log is written")
    assert service.log.count("ERROR") == 1
    assert f"{member} failed: RuntimeError" in service.log
    assert "echo_service.py" in service.log
    assert "my secret" not in service.log


@pytest.mark.parametrize("member", ["Refuse", "RefuseLater"])
def test_an_error_raised_on_purpose_reaches_the_caller_and_not_the_log(
    service: EchoService, client: Client, member: str
) -> None:
    answer = client.call(member, "s", "42")

    assert answer == "org.antidrift.Error.NotActive: no session is active: 42"
    client.call("Echo", "s", "so the log would be written")
    assert service.log == ""


def test_a_cancelled_handler_answers(service: EchoService, client: Client) -> None:
    assert client.call("Cancel") == "org.antidrift.Error.Internal: the call was cancelled"


def test_an_error_text_that_cannot_be_sent_becomes_an_internal_error(service: EchoService, client: Client) -> None:
    assert client.call("RefuseWithNul") == FAILED


def test_a_handler_that_nothing_else_refers_to_is_not_garbage(service: EchoService, client: Client) -> None:
    finish = client.start(client.message("WaitUnheld"))
    client.call("CollectGarbage")

    assert finish() == "still there"


async def test_a_message_handler_that_fails_is_logged_and_the_caller_gets_its_answer(
    bus: PrivateBus, connection: SessionBus, caplog: pytest.LogCaptureFixture
) -> None:
    secret = "what a person typed"

    def broken(message: Message) -> None:
        if message.member == "Ping":
            raise RuntimeError(secret)

    another = await SessionBus.open(bus.address)
    ping = {"destination": connection.unique_name, "path": "/", "interface": PEER, "member": "Ping"}
    connection.add_message_handler(broken)
    try:
        async with asyncio.timeout(DEADLINE):
            first = await another.call(Message(**ping))
            connection.remove_message_handler(broken)
            second = await another.call(Message(**ping))
    finally:
        await another.close()

    assert (first.message_type, second.message_type) == (MessageType.METHOD_RETURN, MessageType.METHOD_RETURN)
    assert [record.getMessage().splitlines()[0] for record in caplog.records] == ["Ping failed: RuntimeError"]
    assert secret not in caplog.text


# The standard interfaces


def test_the_machine_id_can_be_asked_for_twice(service: EchoService, client: Client) -> None:
    right = client.call("GetMachineId", interface=PEER, to=DAEMON)

    assert client.call("GetMachineId", interface=PEER) == right
    assert client.call("GetMachineId", interface=PEER) == right


def test_introspection_names_what_is_returned_and_signalled_and_knows_what_is_const(
    bus: PrivateBus, service: EchoService
) -> None:
    seen = ElementTree.fromstring(busctl(bus, "introspect", "--xml-interface", BUS_NAME, OBJECT_PATH, INTERFACE))

    assert [arg.get("name") for arg in seen.findall(".//method[@name='Echo']/arg[@direction='out']")] == ["text"]
    assert [arg.get("name") for arg in seen.findall(".//signal[@name='Emitted']/arg")] == ["number", "padding"]
    const = seen.findall(".//property[@name='Version']/annotation")
    assert [note.attrib for note in const] == [
        {"name": "org.freedesktop.DBus.Property.EmitsChangedSignal", "value": "const"}
    ]
    assert seen.findall(".//property[@name='Phase']/annotation") == []


def test_properties_answer_as_before(service: EchoService, client: Client) -> None:
    assert client.call("GetAll", "s", INTERFACE, interface=PROPERTIES) == {"Phase": "locked", "Version": "1"}
    denied = client.call("Set", "ssv", INTERFACE, "Version", "2", interface=PROPERTIES)
    assert denied.startswith("org.freedesktop.DBus.Error.PropertyReadOnly")


# Names and callers


def test_a_second_instance_says_that_the_name_is_taken_and_does_not_queue_for_it(
    bus: PrivateBus, service: EchoService, client: Client, tmp_path: Path
) -> None:
    with EchoService(bus, tmp_path / "second-log") as second:
        assert second.says("taken") == f"{BUS_NAME} is owned by another process on this bus"
        assert second.process.wait(DEADLINE) == 1
    assert len(client.ask_daemon("ListQueuedOwners", BUS_NAME)) == 1


@pytest.mark.parametrize("member", ["Sender", "SenderLater"])
def test_a_handler_knows_who_called(bus: PrivateBus, service: EchoService, client: Client, member: str) -> None:
    with Client(bus) as another:
        assert client.call(member) == client.name
        assert another.call(member) == another.name


async def test_outside_of_a_call_there_is_no_sender(bus: PrivateBus, connection: SessionBus) -> None:
    senders: dict[str, str] = {}

    def note(message: Message) -> None:
        with contextlib.suppress(LookupError):
            senders[message.member] = connection.sender

    another = await SessionBus.open(bus.address)
    connection.add_message_handler(note)
    to_us = {"destination": connection.unique_name, "path": "/", "interface": PEER}
    await another.call(Message(member="Ping", **to_us))
    await another.send(Message(member="Signalled", message_type=MessageType.SIGNAL, **to_us))
    await another.call(Message(member="GetMachineId", **to_us))
    caller = another.unique_name
    await another.close()

    assert senders == {"Ping": caller, "GetMachineId": caller}


async def test_who_watches_a_name_is_told_of_each_new_owner(connection: SessionBus, client: Client) -> None:
    changes: asyncio.Queue[str | None] = asyncio.Queue()
    assert await connection.watch_name("org.example.Shell", changes.put_nowait) is None

    async with asyncio.timeout(DEADLINE):
        client.connection.request_name("org.example.Shell")
        assert await changes.get() == client.name
        client.connection.release_name("org.example.Shell")
        assert await changes.get() is None


async def test_two_who_watch_the_same_name_at_once_are_both_told_its_owner(
    connection: SessionBus, client: Client
) -> None:
    client.connection.request_name("org.example.Shell")

    async with asyncio.timeout(DEADLINE):
        owners = await asyncio.gather(*(connection.watch_name("org.example.Shell") for _ in range(2)))
    assert owners == [client.name, client.name]


async def test_a_forgotten_caller_may_leave_without_notice(bus: PrivateBus, connection: SessionBus) -> None:
    gone: asyncio.Queue[str] = asyncio.Queue()
    with Client(bus) as first, Client(bus) as second:
        connection.when_gone(first.name, lambda: gone.put_nowait("first"))
        connection.when_gone(second.name, lambda: gone.put_nowait("replaced"))
        connection.when_gone(second.name, lambda: gone.put_nowait("second"))
        connection.forget(first.name)
        connection.forget(":1.4096")
        first.connection.close()

    async with asyncio.timeout(DEADLINE):
        assert await gone.get() == "second"
    assert gone.empty()


def test_the_owner_of_a_watched_name_is_known_as_it_changes(
    bus: PrivateBus, service: EchoService, client: Client
) -> None:
    shell = "org.example.Shell"
    assert client.call("Watch", "s", shell) == ""

    with Client(bus) as desktop:
        desktop.connection.request_name(shell)
        assert desktop.call("OwnerOf", "s", shell) == desktop.name
        assert client.call("Watch", "s", shell) == desktop.name
    wait_until(lambda: not client.ask_daemon("NameHasOwner", shell))
    assert client.call("OwnerOf", "s", shell) == ""


def test_the_owner_of_a_name_is_known_when_it_was_there_first(
    bus: PrivateBus, service: EchoService, client: Client
) -> None:
    assert client.call("Watch", "s", BUS_NAME) == client.ask_daemon("GetNameOwner", BUS_NAME)


def test_the_service_is_told_when_a_caller_leaves_the_bus(bus: PrivateBus, service: EchoService) -> None:
    with Client(bus) as front_end:
        name = front_end.name
        front_end.call("TellWhenGone", "s", name)
    assert service.says("gone") == name


def test_a_caller_that_left_before_it_was_watched_is_told_too(
    bus: PrivateBus, service: EchoService, client: Client
) -> None:
    with Client(bus) as front_end:
        name = front_end.name
    wait_until(lambda: not client.ask_daemon("NameHasOwner", name))

    client.call("TellWhenGone", "s", name)
    assert service.says("gone") == name


# Coming and going


def test_a_service_whose_bus_daemon_dies_notices_and_ends_with_an_error(tmp_path: Path) -> None:
    with PrivateBus() as bus, EchoService(bus, tmp_path / "log") as service:
        service.says("ready")
        bus.kill()
        died = time.monotonic()
        assert service.says("lost") == "BusLost"
        assert time.monotonic() - died < 5  # in practice some milliseconds
        assert service.process.wait(DEADLINE) != 0


async def test_every_waiter_is_told_of_the_end_although_one_gave_up() -> None:
    with PrivateBus() as bus:
        connection = await SessionBus.open(bus.address)
        impatient, first, second = (asyncio.create_task(connection.wait_for_disconnect()) for _ in range(3))
        await asyncio.sleep(0)
        impatient.cancel()
        bus.kill()
        async with asyncio.timeout(DEADLINE):
            ends = await asyncio.gather(impatient, first, second, return_exceptions=True)

    assert [type(end) for end in ends] == [asyncio.CancelledError, BusLost, BusLost]


async def test_a_call_that_waits_when_the_bus_goes_fails_by_name() -> None:
    with PrivateBus() as bus:
        connection = await SessionBus.open(bus.address)
        bus.freeze()
        waiting = asyncio.create_task(connection.watch_name("org.example.Shell"))
        await asyncio.sleep(0)
        bus.kill()
        with pytest.raises(BusLost, match="the bus has ended the connection"):
            async with asyncio.timeout(DEADLINE):
                await waiting


async def test_an_end_that_nobody_waited_for_is_not_logged_as_forgotten(caplog: pytest.LogCaptureFixture) -> None:
    with PrivateBus() as bus:
        connection = await SessionBus.open(bus.address)
        bus.freeze()
        connection.send(long_signal())
        bus.kill()
        async with asyncio.timeout(DEADLINE):
            while connection.connected:
                await asyncio.sleep(0.01)
        del connection
        gc.collect()

    assert caplog.records == []


async def test_a_signal_while_the_connection_is_being_closed_does_no_harm(
    bus: PrivateBus, connection: SessionBus
) -> None:
    interface = Small("org.example.Small")
    connection.export(OBJECT_PATH, interface)
    bus.freeze()
    try:
        closing = asyncio.create_task(connection.close(DEADLINE))
        async with asyncio.timeout(DEADLINE):
            while connection.connected:
                await asyncio.sleep(0)
        interface.Shrunk()
    finally:
        bus.thaw()
    await closing


async def test_a_handler_that_is_done_after_the_end_does_no_harm(
    bus: PrivateBus, connection: SessionBus, caplog: pytest.LogCaptureFixture
) -> None:
    interface = Small("org.example.Small")
    connection.export(OBJECT_PATH, interface)
    another = await SessionBus.open(bus.address)
    to_us = {"destination": connection.unique_name, "path": OBJECT_PATH, "interface": "org.example.Small"}
    another.send(Message(member="AskTheSlow", **to_us))
    await another.call(Message(member="Ask", **to_us))
    await another.close()

    await connection.close()
    interface.patience.set()
    await asyncio.sleep(0.01)  # more turns than the handler needs
    assert caplog.records == []


async def test_nothing_can_be_sent_after_the_end(connection: SessionBus, caplog: pytest.LogCaptureFixture) -> None:
    await connection.close()
    await connection.close()
    connection.disconnect()

    assert caplog.records == []
    await connection.wait_for_disconnect()
    with pytest.raises(ConnectionError, match="has ended"):
        await connection.watch_name("org.example.Shell")


async def test_what_waited_to_be_written_is_told_of_the_end() -> None:
    with PrivateBus() as bus:
        connection = await SessionBus.open(bus.address)
        bus.freeze()
        written = [connection.send(long_signal()) for _ in range(3)]
        await asyncio.sleep(0)
        bus.kill()
        async with asyncio.timeout(DEADLINE):
            with pytest.raises(BusLost):
                await written[-1]


async def test_closing_does_not_wait_for_a_bus_that_stands_still(bus: PrivateBus) -> None:
    connection = await SessionBus.open(bus.address)
    bus.freeze()
    try:
        connection.send(long_signal())
        async with asyncio.timeout(DEADLINE):
            await connection.close(0.1)
    finally:
        bus.thaw()
    assert not connection.connected


async def test_sending_by_hand_says_when_there_is_no_room(bus: PrivateBus, connection: SessionBus) -> None:
    def send_more() -> None:
        for _ in range(2 * MAX_QUEUED // LONG):  # the kernel takes some of it
            connection.send(long_signal())

    bus.freeze()
    try:
        with pytest.raises(BufferError, match="the bus does not drain"):
            send_more()
    finally:
        bus.thaw()


async def test_the_name_can_be_claimed_once(bus: PrivateBus, connection: SessionBus, client: Client) -> None:
    await connection.claim_name("org.example.Once")
    await connection.claim_name("org.example.Once")

    another = await SessionBus.open(bus.address)
    try:
        with pytest.raises(NameTaken, match="is owned by another process"):
            await another.claim_name("org.example.Once")
        assert client.ask_daemon("ListQueuedOwners", "org.example.Once") == [connection.unique_name]
    finally:
        await another.close()


# Finding the bus


async def test_without_an_address_the_socket_of_the_user_session_is_found(
    bus: PrivateBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(bus.folder))

    connection = await SessionBus.open()
    assert connection.connected
    await connection.close()


def test_an_address_in_the_environment_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/there")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/1000")
    assert session_bus_address() == "unix:path=/there"


def test_a_folder_with_odd_characters_is_escaped_in_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/tmp/a b~,c")
    assert session_bus_address() == "unix:path=/tmp/a%20b%7E%2Cc/bus"


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({}, "neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set"),
        ({"XDG_RUNTIME_DIR": "/nowhere"}, "no bus can be reached at unix:path=/nowhere/bus: No such file or directory"),
        ({"DBUS_SESSION_BUS_ADDRESS": "autolaunch:"}, "no bus can be reached at autolaunch:: "),
    ],
)
async def test_no_bus_is_an_error_with_a_name_and_a_sentence(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], sentence: str
) -> None:
    for name in ("DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(NoSessionBus, match=sentence):
        await SessionBus.open()


@contextlib.asynccontextmanager
async def false_bus(
    folder: Path, *answers: bytes, farewell: bytes = b""
) -> AsyncIterator[tuple[str, asyncio.StreamReader]]:
    """Listens like a bus, and gives one of `answers` to each line of the handshake; b"" hangs up.

    `farewell` is what it sends between our end and its own. Yields its address and what it is sent after the handshake.
    """
    rest = asyncio.StreamReader()
    over = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for answer in answers:
            await reader.readline()
            if not answer:
                break
            writer.write(answer)
        else:
            while data := await reader.read(4096):
                rest.feed_data(data)
            writer.write(farewell)
        writer.close()
        over.set()

    path = folder / "false-bus"
    async with await asyncio.start_unix_server(serve, path), asyncio.timeout(DEADLINE):
        yield f"unix:path={path}", rest
        await over.wait()


async def test_a_bus_that_hangs_up_during_the_handshake_is_no_bus(tmp_path: Path) -> None:
    async with false_bus(tmp_path, b"") as (address, _):
        with pytest.raises(NoSessionBus, match="it hung up during the handshake"):
            await SessionBus.open(address)


async def test_a_bus_that_refuses_us_is_no_bus(tmp_path: Path) -> None:
    async with false_bus(tmp_path, b"REJECTED EXTERNAL\r\n") as (address, _):
        with pytest.raises(NoSessionBus, match="does not let us in: authentication failed"):
            await SessionBus.open(address)


async def test_a_bus_that_is_full_is_no_bus(tmp_path: Path) -> None:
    full = Message(
        message_type=MessageType.ERROR,
        error_name="org.freedesktop.DBus.Error.LimitsExceeded",
        reply_serial=1,
        signature="s",
        body=["too many connections"],
        serial=1,
    )
    async with false_bus(tmp_path, LET_IN, bytes(full._marshall())) as (address, _):
        with pytest.raises(NoSessionBus, match="does not let us in: too many connections"):
            await SessionBus.open(address)


async def test_a_bus_that_never_answers_is_no_bus(tmp_path: Path) -> None:
    async with false_bus(tmp_path) as (address, _):
        with pytest.raises(NoSessionBus, match="it does not answer"):
            await SessionBus.open(address, within=0.05)


async def test_a_message_of_a_newer_revision_is_left_out_and_the_next_one_is_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ping = peer_call("Ping")
    newer = [*ping, [200, Variant("s", "a header field that nobody knows yet")]]
    conversation = HELLO_REPLY + method_call(2, newer) + method_call(3, ping)
    async with false_bus(tmp_path, LET_IN, conversation) as (address, received):
        connection = await SessionBus.open(address)
        await received.readuntil(b":1.9\0")  # the destination of the answer to Ping
        await connection.close()

    assert [record.message for record in caplog.records] == ["a message was left out that cannot be read (ValueError)"]


async def test_a_call_that_comes_while_the_connection_is_being_closed_is_not_handled(tmp_path: Path) -> None:
    handled: list[Message] = []
    farewell = method_call(2, peer_call("Ping"))
    async with false_bus(tmp_path, LET_IN, HELLO_REPLY, farewell=farewell) as (address, _):
        connection = await SessionBus.open(address)
        connection.add_message_handler(handled.append)
        await connection.close(DEADLINE)

    assert handled == []


async def test_a_machine_without_an_id_is_reported_as_the_bus_daemon_does(tmp_path: Path) -> None:
    no_id = Message(
        message_type=MessageType.ERROR,
        error_name="org.freedesktop.DBus.Error.FileNotFound",
        reply_serial=2,  # our question to the daemon: the first thing that is sent after Hello
        signature="s",
        body=["no machine-id"],
        serial=3,
    )
    conversation = HELLO_REPLY + method_call(2, peer_call("GetMachineId")) + bytes(no_id._marshall())
    async with false_bus(tmp_path, LET_IN, conversation) as (address, received):
        connection = await SessionBus.open(address)
        await received.readuntil(b"org.freedesktop.DBus.Error.FileNotFound\0")
        await received.readuntil(b"no machine-id\0")
        await connection.close()


LET_IN = b"OK 0123456789abcdef\r\n"
HELLO_REPLY = bytes(
    Message(message_type=MessageType.METHOD_RETURN, reply_serial=1, serial=1, signature="s", body=[":1.7"])._marshall()
)


def peer_call(member: str) -> list[list[Any]]:
    """The header fields of a call without arguments, from ":1.9"."""
    return [[1, Variant("o", "/")], [2, Variant("s", PEER)], [3, Variant("s", member)], [7, Variant("s", ":1.9")]]


def method_call(serial: int, fields: list[list[Any]]) -> bytes:
    """A call without arguments, by the D-Bus specification, "Message Format"."""
    header = Marshaller("yyyyuua(yv)", [ord("l"), MessageType.METHOD_CALL.value, 0, 1, 0, serial, fields])
    header.marshall()
    header.align(8)
    return bytes(header.buffer)


def long_signal() -> Message:
    return Message.new_signal(OBJECT_PATH, INTERFACE, "Long", "s", ["x" * LONG])


# Later Pythons


def test_it_can_be_imported_where_typing_has_no_such_decorator_any_more() -> None:
    program = "import typing; del typing.no_type_check_decorator; import antidrift.bus.connection"
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, env={"PYTHONPATH": str(PACKAGE)})


async def test_it_serves_where_asyncio_cannot_tell_coroutine_functions_any_more(
    bus: PrivateBus, connection: SessionBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection.export(OBJECT_PATH, Small("org.example.Small"))
    monkeypatch.delattr(asyncio, "iscoroutinefunction")

    async with asyncio.timeout(DEADLINE):
        seen = await asyncio.to_thread(
            busctl, bus, "get-property", connection.unique_name, OBJECT_PATH, "org.example.Small", "Size"
        )
        heard = await asyncio.to_thread(
            busctl, bus, "call", connection.unique_name, OBJECT_PATH, "org.example.Small", "Ask"
        )
    assert (json.loads(seen)["data"], json.loads(heard)["data"]) == (7, ["answer"])


# Introspection


class Small(ServiceInterface):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.patience = asyncio.Event()

    @dbus_property(access=PropertyAccess.READ)
    def Size(self) -> u:
        return 7

    @method()
    async def Ask(self) -> s:
        return "answer"

    @method()
    async def AskTheSlow(self) -> s:
        await self.patience.wait()
        return "answer"

    @signal()
    def Shrunk(self) -> u:
        return 6


@pytest.mark.parametrize(
    ("description", "sentence"),
    [
        ({"values": {"Asc": ["answer"]}}, "Small has no method or signal Asc"),
        ({"values": {"Size": ["size"]}}, "Small has no method or signal Size"),
        ({"values": {"Ask": ["answer", "reason"]}}, "Ask has 1 values, not 2"),
        ({"values": {"Shrunk": []}}, "Shrunk has 1 values, not 0"),
        ({"values": {}, "const": ["Sise"]}, "Small has no property Sise"),
        ({"values": {}, "const": ["Ask"]}, "Small has no property Ask"),
    ],
)
def test_a_description_of_what_is_not_there_is_refused(description: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        describe(**description)(Small)


# dbus-next as it is: when one of these fails, a new version has cured the fault, and our cure can go


def test_the_plain_library_still_loses_its_connection_when_the_bus_daemon_is_slow(
    bus: PrivateBus, plain_service: EchoService
) -> None:
    bus.freeze()
    try:
        plain_service.obey("emit 100 4096 0")
        plain_service.says("lost BlockingIOError")
    finally:
        bus.thaw()


@pytest.mark.parametrize("member", ["EmitNul", "ReturnNul"])
def test_the_plain_library_still_loses_its_connection_by_a_nul(
    plain_service: EchoService, client: Client, member: str
) -> None:
    client.call(member)
    plain_service.says("lost")


def test_the_plain_library_still_throws_away_what_it_has_not_written(
    plain_service: EchoService, client: Client, listener: Listener
) -> None:
    client.call("EmitAndLeave", "uu", 5, 10)
    wait_until(lambda: not client.ask_daemon("NameHasOwner", BUS_NAME))
    assert listener.numbers(client) == []


def test_the_plain_library_still_keeps_others_waiting(plain_service: EchoService, client: Client) -> None:
    client.call("Stall")
    client.send_calls(4000)
    assert client.call("Stall") > 0.1


def test_the_plain_library_still_has_its_smaller_faults(
    bus: PrivateBus, plain_service: EchoService, client: Client, tmp_path: Path
) -> None:
    assert "echo_service.py" in client.call("Fail", "s", "my secret")
    assert "my secret" in plain_service.log

    client.call("Refuse", "s", "42")
    assert "Traceback" in plain_service.log

    assert client.call("Cancel", within=0.2).startswith("org.freedesktop.DBus.Error.NoReply")
    client.call("GetMachineId", interface=PEER)
    assert "Error" in client.call("GetMachineId", interface=PEER, within=0.2)

    seen = busctl(bus, "introspect", "--xml-interface", BUS_NAME, OBJECT_PATH, INTERFACE)
    assert 'name="number"' not in seen
    assert "EmitsChangedSignal" not in seen

    with EchoService(bus, tmp_path / "second-log", "plain") as second:
        second.says("ready")
        assert len(client.ask_daemon("ListQueuedOwners", BUS_NAME)) == 2


# File descriptors


async def test_a_descriptor_that_came_with_an_answer_belongs_to_who_takes_it_and_to_no_child(bus: PrivateBus) -> None:
    with FakeLogind(bus.address) as logind:
        here = await SessionBus.open(bus.address, fds=True)
        answer = await inhibited(here)
        fd = here.take_fd(answer, answer.body[0])
        await here.close()
        assert not os.get_inheritable(fd)
        assert logind.inhibitors == 1
        os.close(fd)
        await asyncio.to_thread(logind.wait_for_release)


async def test_a_descriptor_that_nobody_takes_is_closed_with_the_connection(bus: PrivateBus) -> None:
    with FakeLogind(bus.address) as logind:
        here = await SessionBus.open(bus.address, fds=True)
        await inhibited(here)
        assert logind.inhibitors == 1
        await here.close()
        await asyncio.to_thread(logind.wait_for_release)


async def test_a_descriptor_for_which_nobody_has_asked_is_closed_at_once(bus: PrivateBus) -> None:
    with FakeLogind(bus.address) as logind:
        here = await SessionBus.open(bus.address, fds=True)
        assert here.unique_name is not None
        logind.send_unasked(here.unique_name)
        await asyncio.to_thread(logind.wait_for_release)
        await here.close()


async def inhibited(bus: SessionBus) -> Message:
    wish = ["sleep", "a test", "for a moment", "delay"]
    answer = await bus.call(
        Message(FakeLogind.name, FakeLogind.path, FakeLogind.manager, "Inhibit", signature="ssss", body=wish)
    )
    assert answer is not None
    return answer
