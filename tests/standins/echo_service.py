"""A D-Bus service with one member for each thing that can go wrong on a bus.

    echo_service.py hardened|plain

The first runs it on SessionBus, the second on dbus-next's own MessageBus. It says "ready NAME" on standard output when
it owns its name, obeys commands on standard input that must not come over the bus (`emit COUNT SIZE INTERVAL`), and
says there how it ended. Its log goes to standard error.
"""

# ruff: noqa: F821, N802 - annotations are D-Bus signatures here, and members have the names of the contract

import asyncio
import gc
import logging
import sys
import time
import weakref

from antidrift.bus import names  # first, because it makes dbus-next importable on later Pythons

# isort: split
from dbus_next.aio import MessageBus
from dbus_next.constants import PropertyAccess
from dbus_next.errors import DBusError
from dbus_next.service import ServiceInterface, dbus_property, method, signal

from antidrift.bus.connection import BusLost, NameTaken, SessionBus
from antidrift.bus.introspection import describe


class Probe(ServiceInterface):
    def __init__(self, bus: MessageBus) -> None:
        super().__init__(names.INTERFACE)
        self.bus = bus
        self.longest_stall = 0.0
        self.others_ran = time.process_time()
        self.running: set[asyncio.Task[None]] = set()

    @signal()
    def Emitted(self, number: int, padding: str) -> "us":
        return [number, padding]

    @method()
    def Echo(self, text: "s") -> "s":
        return text

    @method()
    async def EchoLater(self, text: "s") -> "s":
        await asyncio.sleep(0)
        return text

    @method()
    def Long(self, length: "u") -> "s":
        return "x" * length

    @method()
    def Emit(self, count: "u", size: "u"):
        for number in range(count):
            self.Emitted(number, "x" * size)

    @method()
    def EmitAndLeave(self, count: "u", size: "u"):
        self.Emit(count, size)
        self.running.add(asyncio.ensure_future(leave(self.bus)))

    @method()
    def ReturnNul(self) -> "s":
        return "a title\0with a NUL"

    @method()
    def EmitNul(self) -> "s":
        try:
            self.Emitted(0, "a title\0with a NUL")
        except ValueError:
            return "refused"
        return "sent"

    @method()
    def Fail(self, secret: "s"):
        raise RuntimeError(f"cannot do {secret}")

    @method()
    async def FailLater(self, secret: "s"):
        await asyncio.sleep(0)
        raise RuntimeError(f"cannot do {secret}")

    @method()
    def Refuse(self, value: "s"):
        raise DBusError(names.ERROR_PREFIX + "NotActive", f"no session is active: {value}")

    @method()
    async def RefuseLater(self, value: "s"):
        await asyncio.sleep(0)
        raise DBusError(names.ERROR_PREFIX + "NotActive", f"no session is active: {value}")

    @method()
    def RefuseWithNul(self):
        raise DBusError(names.ERROR_PREFIX + "NotActive", "a title\0with a NUL")

    @method()
    async def WaitUnheld(self) -> "s":
        """Waits for something that nothing but this call refers to."""
        held_by_nobody_else = asyncio.get_running_loop().create_future()
        self.awaited = weakref.ref(held_by_nobody_else)
        return await held_by_nobody_else

    @method()
    async def CollectGarbage(self):
        gc.collect()
        if (awaited := self.awaited()) is not None:
            awaited.set_result("still there")

    @method()
    async def Cancel(self):
        raise asyncio.CancelledError

    @method()
    def Stall(self) -> "d":
        """For how much processor time of this process other tasks have had to wait, at most, since the last call."""
        longest, self.longest_stall = max(self.longest_stall, time.process_time() - self.others_ran), 0.0
        return longest

    @method()
    def Sender(self) -> "s":
        return self.bus.sender

    @method()
    async def SenderLater(self) -> "s":
        await asyncio.sleep(0)
        return self.bus.sender

    @method()
    async def Watch(self, name: "s") -> "s":
        return await self.bus.watch_name(name) or ""

    @method()
    def OwnerOf(self, name: "s") -> "s":
        return self.bus.owner_of(name) or ""

    @method()
    def TellWhenGone(self, unique_name: "s"):
        self.bus.when_gone(unique_name, lambda: say(f"gone {unique_name}"))

    @dbus_property(access=PropertyAccess.READ)
    def Phase(self) -> "s":
        return "locked"

    @dbus_property(access=PropertyAccess.READ)
    def Version(self) -> "s":
        return "1"


def say(line: str) -> None:
    print(line, flush=True)


async def leave(bus: MessageBus) -> None:
    if isinstance(bus, SessionBus):
        await bus.close()
    else:
        bus.disconnect()


async def obey(probe: Probe) -> None:
    """Carries out the commands on standard input."""
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    async for line in lines:
        _emit, count, size, interval = line.decode().split()
        for number in range(int(count)):
            probe.Emitted(number, "x" * int(size))
            await asyncio.sleep(float(interval))
        say("emitted")


async def take_turns(probe: Probe) -> None:
    """The other tasks: wants its turn every 5 ms."""
    while True:
        await asyncio.sleep(0.005)
        now = time.process_time()
        probe.longest_stall = max(probe.longest_stall, now - probe.others_ran)
        probe.others_ran = now


async def main(flavour: str) -> int:
    if flavour == "plain":
        bus = await MessageBus().connect()
    else:
        bus = await SessionBus.open()
        describe(values={"Echo": ["text"], "Emitted": ["number", "padding"]}, const=["Version"])(Probe)
    probe = Probe(bus)
    bus.export(names.OBJECT_PATH, probe)
    if flavour == "plain":
        await bus.request_name(names.BUS_NAME)
    else:
        try:
            await bus.claim_name(names.BUS_NAME)
        except NameTaken as taken:
            say(f"taken {taken}")
            await bus.close()
            return 1
    background = [asyncio.create_task(obey(probe)), asyncio.create_task(take_turns(probe))]
    say(f"ready {bus.unique_name}")
    try:
        await bus.wait_for_disconnect()
    except (BusLost, OSError, EOFError) as end:
        say(f"lost {type(end).__name__}")
        return 2
    finally:
        for task in background:
            task.cancel()
    say("left")
    return 0


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    sys.exit(asyncio.run(main(sys.argv[1])))
