"""The connection to the bus: dbus-next 0.2.3 with its faults cured.

dbus-next is pinned, because the cures reach into its private parts; each says in one line which fault it is for.
What is not named here works in dbus-next as it is.
"""

# Half of dbus-next is annotated, the half that is cured here is not.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import os
import socket
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from functools import lru_cache
from types import SimpleNamespace, TracebackType
from typing import Any, Self
from urllib.parse import quote

import dbus_next.service
from dbus_next.aio.message_bus import MessageBus
from dbus_next.constants import MessageFlag, MessageType, NameFlag, RequestNameReply
from dbus_next.errors import AuthError, DBusError
from dbus_next.message import Message
from dbus_next.service import ServiceInterface
from dbus_next.signature import SignatureTree, Variant

from antidrift.bus.names import ERROR_PREFIX

# asyncio.iscoroutinefunction warns from Python 3.14 on and is gone in 3.16; these two are all that this module uses.
vars(dbus_next.service)["asyncio"] = SimpleNamespace(
    ensure_future=asyncio.ensure_future, iscoroutinefunction=inspect.iscoroutinefunction
)


MAX_MESSAGE = 4 << 20
"""Bytes. Far above anything the service sends, far below the 128 MiB at which a bus daemon ends the connection."""

MAX_QUEUED = 16 << 20
"""Bytes that may wait for a bus daemon that does not read."""

CONGESTED = MAX_QUEUED // 4
"""Bytes that wait before no more calls are read, so that each that is read has room for its answer."""

READ_TURN_SECS = 0.005
"""How long one turn of the event loop may go on handling messages that are already there."""

INTERNAL_ERROR = ERROR_PREFIX + "Internal"

_KEPT_SIGNATURE = 32  # characters; ours are shorter
_kept_tree = lru_cache(maxsize=64)(SignatureTree)


def _tree_of(signature: str = "") -> SignatureTree:
    # Cures: every signature that ever came was kept, and whoever calls us makes up those of variants.
    return _kept_tree(signature) if len(signature) <= _KEPT_SIGNATURE else SignatureTree(signature)


SignatureTree._get = staticmethod(_tree_of)  # type: ignore[method-assign]

Watcher = Callable[[str | None], None]
MessageHandler = Callable[[Message], Message | bool | None]

_log = logging.getLogger(__name__)
_sender: ContextVar[str] = ContextVar("sender")

_DAEMON = "org.freedesktop.DBus"
_DAEMON_PATH = "/org/freedesktop/DBus"
_FIXED_HEADER = 16  # bytes; D-Bus specification, "Message Format"


class NoSessionBus(ConnectionError):
    """No bus could be reached; the text says where it was looked for and what went wrong."""


class BusLost(ConnectionError):
    """The bus ended the connection, not we."""


class NameTaken(Exception):
    """Another process owns the name."""


def session_bus_address() -> str:
    """Where the session bus listens: $DBUS_SESSION_BUS_ADDRESS, else the socket of a systemd user session.

    The second is where libdbus and sd-bus look too; dbus-next looks for an X11 display instead. Raises NoSessionBus
    if neither variable is set.
    """
    if address := os.environ.get("DBUS_SESSION_BUS_ADDRESS"):
        return address
    if runtime_dir := os.environ.get("XDG_RUNTIME_DIR"):
        return f"unix:path={quote(runtime_dir).replace('~', '%7E')}/bus"
    raise NoSessionBus(
        "no session bus can be found: neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set in the environment"
    )


def system_bus_address(environ: Mapping[str, str]) -> str:
    """Where the system bus listens: $DBUS_SYSTEM_BUS_ADDRESS, else where the D-Bus specification puts it."""
    return environ.get("DBUS_SYSTEM_BUS_ADDRESS") or "unix:path=/var/run/dbus/system_bus_socket"


class SessionBus(MessageBus):
    """One connection to a bus. Made by `open`, ended by `close`.

    A signal that an exported interface emits never fails for want of a bus: while the bus does not drain or is gone,
    it is dropped. Text that D-Bus cannot carry (a NUL, a lone surrogate) raises ValueError where it is emitted.
    """

    unique_name: str | None  # type: ignore[assignment]  # which dbus-next annotates as None

    def __init__(self, address: str, *, fds: bool = False) -> None:
        super().__init__(bus_address=address, negotiate_unix_fd=fds)
        self._writer: _Writer = _Writer(self, self._loop, self._sock)  # type: ignore[assignment]
        self._rest_of_turn: asyncio.Handle | None = None
        self._reading_waits = False
        self._running: set[asyncio.Task[Any]] = set()
        self._owners: dict[str, str | None] = {}
        self._watchers: dict[str, list[Watcher]] = {}
        self._departures: dict[str, Callable[[], None]] = {}
        self._fds: set[int] = set()  # came with an answer, and nobody has taken them

    # Connecting and disconnecting

    @classmethod
    async def open(cls, address: str | None = None, *, within: float = 10.0, fds: bool = False) -> Self:
        """A connection that is ready for use: to `address`, by default the session bus.

        `fds`: answers may bring file descriptors, for `take_fd`. Raises NoSessionBus if there is none, or if it has not
        answered after `within` seconds.
        """
        where = address or session_bus_address()
        try:
            bus = cls(where, fds=fds)
        except (OSError, ValueError) as fault:
            raise NoSessionBus(f"no bus can be reached at {where}: {_reason(fault)}") from fault
        try:
            async with asyncio.timeout(within):
                await bus.connect()
                # Cures: a daemon that refuses has its words taken for our name.
                if bus.unique_name is None or not bus.unique_name.startswith(":"):
                    raise AuthError(bus.unique_name)
        except BaseException as fault:
            bus._finalize(fault)
            if isinstance(fault, (AuthError, OSError, EOFError)):
                raise NoSessionBus(f"the bus at {where} does not let us in: {_reason(fault)}") from fault
            raise
        return bus

    async def close(self, within: float = 1.0) -> None:
        """Sends what is queued and ends the connection, in at most `within` seconds. May be called again.

        Cures: disconnect() throws away what has been emitted but not yet written.
        """
        with contextlib.suppress(OSError):  # too late, or lost already: it ends all the same
            async with asyncio.timeout(within):
                await self._writer.drained.wait()
                self._user_disconnect = True
                if not self._disconnected:
                    # The daemon reads to the end, then hangs up; closing both ways could cut it short.
                    self._sock.shutdown(socket.SHUT_WR)
                await self.wait_for_disconnect()
        self._user_disconnect = True
        self._finalize()

    async def wait_for_disconnect(self) -> None:
        """Returns when `close` has ended the connection; raises BusLost when anything else has.

        Any number of tasks may wait. Cures: cancelling one of them spoiled the notice for the others.
        """
        await asyncio.shield(self._disconnect_future)

    async def claim_name(self, name: str) -> None:
        """Makes this connection the owner of `name`, or raises NameTaken.

        Cures: by default a second instance is queued behind the first, and never told.
        """
        answer = await self.request_name(name, NameFlag.DO_NOT_QUEUE)
        if answer not in (RequestNameReply.PRIMARY_OWNER, RequestNameReply.ALREADY_OWNER):
            raise NameTaken(f"{name} is owned by another process on this bus")

    def take_fd(self, answer: Message, index: int) -> int:
        """The file descriptor that an answer brought as number `index`. Whoever takes it closes it."""
        fd: int = answer.unix_fds[index]
        self._fds.remove(fd)
        return fd

    # Who is on the bus

    @property
    def sender(self) -> str:
        """The unique name of the caller whose method call is being handled (in an async handler: to its end).

        Raises LookupError anywhere else.
        """
        return _sender.get()

    async def watch_name(self, name: str, on_change: Watcher | None = None) -> str | None:
        """The unique name of the owner of `name` (None: nobody), from now on known to `owner_of`.

        `on_change` is called with each later owner, in order with the method calls of that owner.
        """
        learned: asyncio.Future[None] = self._loop.create_future()

        def learn(reply: Message | None, fault: Exception | None) -> None:
            # Here and not after an await, so that a change just behind this reply is not overwritten.
            if reply is not None and reply.message_type is MessageType.METHOD_RETURN:
                self._owners[name] = reply.body[0]
            if not learned.done():
                learned.set_exception(fault) if fault else learned.set_result(None)

        if name not in self._owners:
            self._tell_daemon("AddMatch", _owner_changes(name))
        self._ask_daemon("GetNameOwner", name, learn)
        self._owners.setdefault(name, None)
        if on_change is not None:
            self._watchers.setdefault(name, []).append(on_change)
        await learned
        return self._owners[name]

    def owner_of(self, name: str) -> str | None:
        """Who owns `name` at this point of the message stream. Raises LookupError unless `watch_name` was asked."""
        return self._owners[name]

    def when_gone(self, unique_name: str, callback: Callable[[], None]) -> None:
        """Calls `callback` once when `unique_name` leaves the bus, soon if it already has.

        There is one callback for each name: a later one replaces it.
        """

        def check(reply: Message | None, _fault: Exception | None) -> None:
            if reply is not None and reply.body == [False]:
                self._departed(unique_name)

        if unique_name not in self._departures:
            self._tell_daemon("AddMatch", _owner_changes(unique_name))
            self._ask_daemon("NameHasOwner", unique_name, check)
        self._departures[unique_name] = callback

    def forget(self, unique_name: str) -> None:
        """Takes back `when_gone`."""
        if self._departures.pop(unique_name, None) is not None:
            self._tell_daemon("RemoveMatch", _owner_changes(unique_name))

    def _owner_changed(self, name: str, owner: str | None) -> None:
        if name in self._owners:
            self._owners[name] = owner
            for watcher in self._watchers.get(name, ()):
                watcher(owner)
        if owner is None:
            self._departed(name)

    def _departed(self, unique_name: str) -> None:
        callback = self._departures.get(unique_name)
        if callback is not None:
            self.forget(unique_name)
            callback()

    def _tell_daemon(self, member: str, argument: str) -> None:
        self.send(_to_daemon(member, argument, MessageFlag.NO_REPLY_EXPECTED))

    def _ask_daemon(
        self, member: str, argument: str, answer: Callable[[Message | None, Exception | None], None]
    ) -> None:
        self._call(_to_daemon(member, argument), answer)

    # Cures

    def send(self, msg: Message) -> asyncio.Future[None]:  # type: ignore[override]
        """Queues a message; the future is done when it has been handed to the kernel.

        Raises ValueError for a message that D-Bus cannot carry, BufferError when MAX_QUEUED bytes wait already, and
        ConnectionError after the end. Cures: a NUL or too long a message made the daemon end the connection; what was
        sent after the end waited for ever, on a file descriptor that may be another's by now.
        """
        if self._disconnected or self._user_disconnect:
            raise ConnectionError("the connection to the bus has ended")
        if _has_nul(msg.body):
            raise ValueError("a D-Bus string cannot hold a NUL")
        written: asyncio.Future[None] = super().send(msg)
        written.add_done_callback(_retrieve)
        return written

    def add_message_handler(self, handler: MessageHandler) -> None:
        """As in dbus-next. Cures: a handler that raised sent its traceback to whoever was calling us."""
        super().add_message_handler(_Guarded(handler))

    def remove_message_handler(self, handler: MessageHandler) -> None:
        super().remove_message_handler(_Guarded(handler))

    def disconnect(self) -> None:
        """As in dbus-next: at once, without flushing. Cures: it logged a traceback when called after the end."""
        if not self._disconnected:
            super().disconnect()

    def _setup_socket(self) -> None:
        # Cures: a connection attempt that failed left its socket open.
        try:
            super()._setup_socket()
        except BaseException:
            self._close_socket()
            raise

    async def _auth_readline(self) -> str:
        # Cures: a daemon that hung up during the handshake was read for ever, in a loop that let nothing else run.
        line = b""
        while not line.endswith(b"\r\n"):
            byte = await self._loop.sock_recv(self._sock, 1)
            if not byte:
                raise EOFError("it hung up during the handshake")
            line += byte
        return line[:-2].decode()

    def _message_reader(self) -> None:
        # Cures: a flood of calls kept every other task waiting until it was over, and was read on while the answers
        # piled up; and one message of a newer D-Bus revision ended the connection.
        if self._rest_of_turn is not None:
            self._rest_of_turn.cancel()
            self._rest_of_turn = None
        turn_ends = self._loop.time() + READ_TURN_SECS
        try:
            while not self._disconnected:
                if self._writer.waiting > CONGESTED:
                    self._loop.remove_reader(self._fd)
                    self._reading_waits = True
                    return
                if self._loop.time() > turn_ends:
                    # Not left to the selector: what remains may sit in the stream's buffer, not in the socket.
                    self._rest_of_turn = self._loop.call_soon(self._message_reader)
                    return
                reader = self._unmarshaller
                try:
                    if not reader.unmarshall():
                        return
                except (EOFError, OSError):
                    raise
                except Exception as fault:
                    if len(reader.buf) <= _FIXED_HEADER:
                        raise  # nobody knows where the next message begins
                    _log.warning("a message was left out that cannot be read (%s)", type(fault).__name__)
                self._unmarshaller = self._create_unmarshaller()
                self._keep_fds(reader.unix_fds, reader.message)
                if reader.message is not None and not self._user_disconnect:
                    self._on_message(reader.message)
        except Exception as fault:
            self._finalize(fault)

    def _drained(self) -> None:
        if self._reading_waits and not self._disconnected:
            self._reading_waits = False
            self._loop.add_reader(self._fd, self._message_reader)
            self._rest_of_turn = self._loop.call_soon(self._message_reader)

    def _keep_fds(self, fds: list[int], msg: Message | None) -> None:
        # Cures: children inherited descriptors that came by the bus; those that nobody had asked for, or that came when
        # nobody waited any more, stayed open.
        if msg is None or msg.message_type is not MessageType.METHOD_RETURN:
            _close_all(fds)
        else:
            for fd in fds:
                os.set_inheritable(fd, False)
            self._fds.update(fds)

    def _on_message(self, msg: Message) -> None:
        # Cures: what went wrong was logged with the text of the exception, which can hold what a person typed.
        caller = _sender.set(msg.sender) if msg.message_type is MessageType.METHOD_CALL else None
        try:
            self._process_message(msg)
        except Exception as fault:
            _log_failure(str(msg.member or msg.message_type.name), fault)
        finally:
            if caller is not None:
                _sender.reset(caller)

    def _process_message(self, msg: Message) -> None:
        super()._process_message(msg)
        if msg._matches(message_type=MessageType.SIGNAL, sender=_DAEMON, member="NameOwnerChanged", signature="sss"):
            name, _old_owner, new_owner = msg.body
            self._owner_changed(name, new_owner or None)

    def _make_method_handler(self, interface: ServiceInterface, method: Any) -> Callable[[Message, _Reply], None]:
        # Cures: nothing held on to a running async handler, so the garbage collector could take it.
        def answer(call: Message, reply: _Reply, result: Any) -> None:
            body, fds = ServiceInterface._fn_result_to_body(result, method.out_signature_tree)
            reply(Message.new_method_return(call, method.out_signature, body, fds))

        def handle(call: Message, reply: _Reply) -> None:
            result = method.fn(interface, *ServiceInterface._msg_body_to_args(call))
            if not inspect.iscoroutine(result):
                answer(call, reply, result)
                return

            def done(task: asyncio.Task[Any]) -> None:
                self._running.discard(task)
                with reply:
                    answer(call, reply, task.result())

            task = self._loop.create_task(result)
            self._running.add(task)
            task.add_done_callback(done)

        return handle

    def _send_reply(self, msg: Message) -> _Reply:
        return _Reply(self, msg)

    def _interface_signal_notify(self, *args: Any, **kwargs: Any) -> None:
        # Cures: a bus that is going or does not drain would fail the transition that is being announced.
        if self._user_disconnect:
            return
        try:
            super()._interface_signal_notify(*args, **kwargs)
        except BufferError:
            self._writer.drop()

    def _default_get_machine_id_handler(self, msg: Message, send_reply: _Reply) -> None:
        # Cures: the second answer had a bare string for its body, and was never sent; nor was a daemon's error.
        def relay(reply: Message | None, _fault: Exception | None) -> None:
            if reply is None:
                return
            if reply.message_type is MessageType.METHOD_RETURN:
                send_reply(Message.new_method_return(msg, "s", reply.body))
            else:
                send_reply(Message.new_error(msg, reply.error_name, reply.body[0]))

        machine_id = Message(_DAEMON, _DAEMON_PATH, "org.freedesktop.DBus.Peer", "GetMachineId")
        self._call(machine_id, relay)

    def _finalize(self, err: BaseException | None = None) -> None:
        # Cures: sockets stayed open, what was waiting to be written waited for ever, and a loss that nobody had
        # awaited yet was logged by asyncio as a forgotten exception.
        if self._disconnected:
            return
        if self._rest_of_turn is not None:
            self._rest_of_turn.cancel()
        end: ConnectionError
        if self._user_disconnect:
            end = ConnectionError("the connection to the bus has ended")
        else:
            end = BusLost("the bus has ended the connection")
        end.__cause__ = err
        super()._finalize(end)
        self._writer.abandon(end)
        _close_all([*self._fds, *self._unmarshaller.unix_fds])
        self._fds.clear()
        _retrieve(self._disconnect_future)
        self._close_socket()

    def _close_socket(self) -> None:
        with contextlib.suppress(OSError, AttributeError):  # AttributeError: it never came to a socket
            self._sock.close()
            self._stream.close()


class _Writer:
    """What waits to be written, and writes it when the socket takes it.

    Cures: a full socket (EAGAIN) ended the connection; the queue had no bound.
    """

    def __init__(self, bus: SessionBus, loop: asyncio.AbstractEventLoop, sock: socket.socket) -> None:
        self._bus = bus
        self._loop = loop
        self._sock = sock
        self._queue: deque[tuple[memoryview, asyncio.Future[None] | None]] = deque()
        self.waiting = 0  # bytes
        self._dropped = 0  # messages
        self._watching = False  # for room in the socket
        self.drained = asyncio.Event()
        self.drained.set()

    def schedule_write(self, msg: Message | None = None, future: asyncio.Future[None] | None = None) -> None:
        """Called by dbus-next with each message to send, and once without any when the daemon has let us in."""
        if msg is not None:
            data = msg._marshall()
            if len(data) > MAX_MESSAGE:
                raise ValueError(f"a message of {len(data)} bytes is too long: {MAX_MESSAGE} are allowed")
            if self.waiting + len(data) > MAX_QUEUED:
                raise BufferError(f"the bus does not drain: {self.waiting} bytes wait already")
            self.waiting += len(data)
            self._queue.append((memoryview(data), future))
            self.drained.clear()
        if self._bus.unique_name and not self._watching:
            # At once: waiting for the loop to say that there is room takes longer than the writing.
            self._write()

    def drop(self) -> None:
        """Counts a message that found no room. Told when it begins, and with the number when it ends."""
        if not self._dropped:
            _log.warning("the bus does not drain: messages are being dropped")
        self._dropped += 1

    def abandon(self, end: ConnectionError) -> None:
        """Tells everyone who waits for a message to be written that it will not be."""
        for _data, future in self._queue:
            if future is not None and not future.done():
                future.set_exception(end)
        self._queue.clear()
        self.waiting = 0
        self.drained.set()

    def _write(self) -> None:
        while self._queue:
            data, future = self._queue[0]
            try:
                sent = self._sock.send(data)
            except (BlockingIOError, InterruptedError):
                sent = 0
            except OSError as fault:
                if self._watching:
                    self._bus._finalize(fault)
                else:
                    self._watch()  # whoever sends is not to be told of the end in the middle of it
                return
            self.waiting -= sent
            if sent < len(data):
                self._queue[0] = (data[sent:], future)
                self._watch()
                return
            self._queue.popleft()
            if future is not None and not future.done():
                future.set_result(None)
        if self._watching:
            self._loop.remove_writer(self._sock)
            self._watching = False
        self.drained.set()
        self._bus._drained()
        if self._dropped:
            _log.warning("the bus drains again; %d messages were dropped", self._dropped)
            self._dropped = 0

    def _watch(self) -> None:
        """Goes on when the socket is writable."""
        if not self._watching:
            self._loop.add_writer(self._sock, self._write)
            self._watching = True


class _Reply:
    """The answer to one method call.

    Cures: an exception in a handler was sent to the caller with its traceback, and logged even when it was a DBusError
    raised on purpose; a cancelled handler sent no answer at all.
    """

    def __init__(self, bus: SessionBus, call: Message) -> None:
        self._bus = bus
        self._call = call

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, where: TracebackType | None
    ) -> bool:
        if not isinstance(fault, (Exception, asyncio.CancelledError)):
            return False
        self.send_error(fault)
        return True

    def __call__(self, reply: Message) -> None:
        if self._call.flags & MessageFlag.NO_REPLY_EXPECTED or not self._bus.connected:
            return
        try:
            self._bus.send(reply)
        except BufferError:
            self._bus._writer.drop()

    def send_error(self, fault: BaseException) -> None:
        if isinstance(fault, DBusError):
            try:
                self(fault._as_message(self._call))
            except ValueError as unsendable:
                fault = unsendable
            else:
                return
        if isinstance(fault, asyncio.CancelledError):
            text = "the call was cancelled"
        else:
            text = "the service failed; its log says where"
            _log_failure(self._call.member, fault)
        self(Message.new_error(self._call, INTERNAL_ERROR, text))


class _Guarded:
    """A message handler whose failure is logged, the message going on as if it had not been asked."""

    def __init__(self, handler: MessageHandler) -> None:
        self._handler = handler

    def __call__(self, message: Message) -> Message | bool | None:
        try:
            return self._handler(message)
        except DBusError:
            raise
        except Exception as fault:
            _log_failure(message.member or message.message_type.name, fault)
            return None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Guarded) and other._handler == self._handler


def _has_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, Variant):
        return _has_nul(value.value)
    if isinstance(value, dict):
        return any(_has_nul(key) or _has_nul(item) for key, item in value.items())
    return isinstance(value, (list, tuple)) and any(map(_has_nul, value))


def _close_all(fds: Iterable[int]) -> None:
    for fd in fds:
        os.close(fd)


def _to_daemon(member: str, argument: str, flags: MessageFlag = MessageFlag.NONE) -> Message:
    return Message(_DAEMON, _DAEMON_PATH, _DAEMON, member, flags=flags, signature="s", body=[argument])


def _owner_changes(name: str) -> str:
    return f"type='signal',sender='{_DAEMON}',interface='{_DAEMON}',member='NameOwnerChanged',arg0='{name}'"


def _retrieve(future: asyncio.Future[None]) -> None:
    """Says that nobody need be told of the exception in this future."""
    if not future.cancelled():
        future.exception()


def _reason(fault: BaseException) -> str:
    if isinstance(fault, TimeoutError):
        return "it does not answer"
    return getattr(fault, "strerror", None) or str(fault) or type(fault).__name__


def _log_failure(what: str, fault: BaseException) -> None:
    """Says where something failed. Not with which words: the text of an exception can hold what a person typed."""
    where = "".join(traceback.format_tb(fault.__traceback__)).rstrip()
    _log.error("%s failed: %s\n%s", what, type(fault).__name__, where)
