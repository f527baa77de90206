"""The service as its clients meet it: the real daemon as a process, on a bus of its own.

    with PrivateBus() as bus, Service(bus) as service:
        service.call("EnterPlanning")
        service.wait_for(lambda state: state["tasks"]["status"] == "absent")

Its log goes to standard error as it comes, so that pytest shows it beside the test that failed. In the arguments of a
call, a variant is a pair of its signature and its value: {"pid": ("u", 1)}.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import dbus
import dbus.bus
import dbus.lowlevel

from antidrift.bus.names import BUS_NAME, INTERFACE, OBJECT_PATH
from support.private_bus import PrivateBus

DEADLINE = 20.0
"""Seconds until something that never came is called a failure; all of it normally takes milliseconds."""

NO_BUS = "unix:path=/nonexistent/system_bus_socket"

PACKAGES = Path(__file__).parents[2] / "service"

State = dict[str, Any]


class CallFailed(Exception):
    """busctl could not call, or was answered with an error; the text is what it says."""


class Service:
    """Context manager around one daemon. May be ended and started again, on the files that it left.

    `home` is its HOME, with ANTIDRIFT_HOME below it; by default a new folder that goes with the context manager.
    `options` are those of `antidriftd`; `launcher` is what its command begins with, such as a program that takes rights
    away. `environment` is added to an environment that holds nothing else: no display, and no AI unless it names one.
    """

    def __init__(
        self,
        bus: PrivateBus,
        home: Path | None = None,
        options: Sequence[str] = (),
        launcher: Sequence[str] = (),
        **environment: str,
    ) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="antidrift-home-") if home is None else None
        self.home = Path(self._temporary.name) if self._temporary else home
        self.folder = self.home / "antidrift"
        self.bus = bus
        self._command = [*launcher, sys.executable, "-m", "antidrift", *options]
        self._environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "ANTIDRIFT_HOME": str(self.folder),
            "ANTIDRIFT_AI_BACKEND": "none",
            "DBUS_SYSTEM_BUS_ADDRESS": NO_BUS,  # not that of the machine, whose person may lock the screen meanwhile
            **environment,
            "PYTHONPATH": str(PACKAGES),
            "DBUS_SESSION_BUS_ADDRESS": bus.address,
        }
        self._lines: list[str] = []
        self._process: subprocess.Popen[str] | None = None
        self._client: Client | None = None

    def __enter__(self) -> Self:
        try:
            self._client = Client(self.bus.address)
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    # Its life

    def start(self) -> None:
        """Starts the daemon, and returns once it owns its name."""
        self._process = subprocess.Popen(
            self._command,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        self._reader = threading.Thread(target=self._read, args=(self._process,))
        self._reader.start()
        try:
            self._until(self._owns_its_name, "the service owns its name", DEADLINE)
        except BaseException:
            self.kill()
            raise

    def stop(self) -> int:
        """Ends it as a session manager does, and returns its exit status."""
        assert self._process is not None
        self._process.terminate()
        return self.wait()

    def kill(self) -> int:
        """Ends it as a crash would. Like `stop`, may be called when it has ended already."""
        assert self._process is not None
        self._process.kill()
        return self.wait()

    def wait(self) -> int:
        """Waits for the end of the process, which something else brings about, and returns its exit status."""
        assert self._process is not None
        status = self._process.wait(DEADLINE)
        self._reader.join(DEADLINE)  # until everything that it said is in the log
        return status

    def close(self) -> None:
        """Ends it, whatever state it is in, and forgets its files unless they were somebody else's."""
        if self._process is not None and self._process.poll() is None:
            try:
                self.stop()
            except subprocess.TimeoutExpired:
                self.kill()
        if self._client is not None:
            self._client.close()
        if self._temporary is not None:
            self._temporary.cleanup()

    @property
    def environment(self) -> dict[str, str]:
        """What the daemon is started with."""
        return dict(self._environment)

    @property
    def pid(self) -> int:
        """The process id of the daemon."""
        assert self._process is not None
        return self._process.pid

    @property
    def log(self) -> str:
        """Everything that the daemon has said up to now, over all its starts."""
        return "".join(self._lines)

    # As a client meets it

    @property
    def client(self) -> Client:
        """The connection by which `state`, `wait_for` and `refusal` call."""
        assert self._client is not None
        return self._client

    def call(self, member: str, signature: str = "", *arguments: Any) -> Any:
        """What a method returns (None: nothing), by way of busctl. Raises CallFailed."""
        # What comes after "--" is no option, even if it begins with a dash as negative numbers do.
        command = ["busctl", "--user", "--json=short", "--", "call", BUS_NAME, OBJECT_PATH, INTERFACE, member]
        if signature:
            command += [signature, *_words(arguments)]
        done = subprocess.run(
            command,
            env={**self._environment, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            check=False,
        )
        if done.returncode:
            raise CallFailed(done.stderr.strip())
        return json.loads(done.stdout)["data"][0] if done.stdout.strip() else None

    def refusal(self, member: str, signature: str = "", *arguments: Any) -> tuple[str, str]:
        """The name and the message of the error by which a call is answered, by way of dbus-python."""
        return self.client.refusal(member, signature, *arguments)

    def state(self) -> State:
        """The state, as GetState has it."""
        found: State = json.loads(self.client.call("GetState"))
        return found

    def wait_for(self, predicate: Callable[[State], object], within: float = 15.0) -> State:
        """The first state that `predicate` holds for; fails if none comes."""
        seen: State = {}

        def holds() -> bool:
            seen.update(self.state())
            return bool(predicate(seen))

        try:
            self._until(holds, "the state is as wanted", within)
        except AssertionError as error:
            raise AssertionError(f"{error}\nthe state is {json.dumps(seen, indent=2)}") from None
        return seen

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        with process.stderr:
            for line in process.stderr:
                self._lines.append(line)
                with contextlib.suppress(ValueError):  # pytest has ended, and its capture with it
                    sys.stderr.write(line)

    def _owns_its_name(self) -> bool:
        owner = self.client.process_of(BUS_NAME)
        assert owner in (None, self.pid), f"another process owns {BUS_NAME}"
        return owner is not None

    def _until(self, condition: Callable[[], bool], what: str, within: float) -> None:
        assert self._process is not None
        ends = time.monotonic() + within
        while not condition():
            if (status := self._process.poll()) is not None:
                self._reader.join(DEADLINE)
                raise AssertionError(f"the service has ended with status {status}; its log:\n{self.log}")
            if time.monotonic() > ends:
                raise AssertionError(f"not so within {within:g} s: {what}; the log of the service:\n{self.log}")
            time.sleep(0.01)


class Client:
    """One connection of libdbus to a bus, by way of dbus-python, which shares no code with the service."""

    def __init__(self, address: str) -> None:
        self.connection = dbus.bus.BusConnection(address)
        self.connection.set_exit_on_disconnect(False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leaves the bus."""
        self.connection.close()

    @property
    def name(self) -> str:
        """The unique name of this connection."""
        return str(self.connection.get_unique_name())

    def call(self, member: str, signature: str = "", *arguments: Any, interface: str = INTERFACE) -> Any:
        """What a method of the service's object returns. Raises dbus.DBusException."""
        values = [_typed(argument) for argument in arguments]
        return self.connection.call_blocking(
            BUS_NAME, OBJECT_PATH, interface, member, signature, values, timeout=DEADLINE
        )

    def start(self, member: str, signature: str = "", *arguments: Any) -> Callable[[], str]:
        """Sends a call. What is returned waits for its answer, and returns the name of the error, or "" if none."""
        message = dbus.lowlevel.MethodCallMessage(BUS_NAME, OBJECT_PATH, INTERFACE, member)
        message.append(*map(_typed, arguments), signature=signature)
        replies: list[dbus.lowlevel.Message] = []
        pending = self.connection.send_message_with_reply(message, replies.append, DEADLINE)

        def finish() -> str:
            pending.block()
            [reply] = replies
            return str(reply.get_error_name() or "")

        return finish

    def own(self, name: str) -> None:
        """Takes a bus name, which is then this connection's until `disown` or its end."""
        assert self.connection.request_name(name) == dbus.bus.REQUEST_NAME_REPLY_PRIMARY_OWNER

    def disown(self, name: str) -> None:
        """Gives a bus name back."""
        self.connection.release_name(name)

    def refusal(self, member: str, signature: str = "", *arguments: Any) -> tuple[str, str]:
        """The name and the message of the error by which a call is answered."""
        try:
            answer = self.call(member, signature, *arguments)
        except dbus.DBusException as error:
            return str(error.get_dbus_name()), str(error.get_dbus_message())
        raise AssertionError(f"{member} was not refused; it returned {answer!r}")

    def process_of(self, name: str) -> int | None:
        """The process id of the owner of a bus name; None: it has none."""
        daemon = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
        try:
            return int(
                self.connection.call_blocking(*daemon, "GetConnectionUnixProcessID", "s", (name,), timeout=DEADLINE)
            )
        except dbus.DBusException as error:
            if error.get_dbus_name() == "org.freedesktop.DBus.Error.NameHasNoOwner":
                return None
            raise


_TYPES = {
    "b": dbus.Boolean,
    "d": dbus.Double,
    "i": dbus.Int32,
    "s": dbus.String,
    "t": dbus.UInt64,
    "u": dbus.UInt32,
    "x": dbus.Int64,
}


def _typed(value: Any) -> Any:
    """An argument as dbus-python takes it."""
    if not isinstance(value, Mapping):
        return value
    variants = {key: _TYPES[signature](inner, variant_level=1) for key, (signature, inner) in value.items()}
    return dbus.Dictionary(variants, signature="sv")


def _words(values: tuple[Any, ...] | list[Any]) -> list[str]:
    """Arguments as busctl(1) takes them, "PARAMETER FORMATTING"."""
    words: list[str] = []
    for value in values:
        match value:
            case bool():
                words.append(str(value).lower())
            case list():
                words += [str(len(value)), *_words(value)]
            case Mapping():
                words.append(str(len(value)))
                for key, (signature, inner) in value.items():
                    words += [key, signature, *_words([inner])]
            case _:
                words.append(str(value))
    return words
