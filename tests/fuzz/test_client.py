"""What a program under the service's name, or the shell's, may answer: a client reads it, or fails by name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from antidrift.bus.client import Client, State  # first, because it makes dbus-next importable on later Pythons

# isort: split
from dbus_next.message import Message
from dbus_next.signature import Variant
from hypothesis import example
from hypothesis import strategies as st

from antidrift.bus.connection import SessionBus
from antidrift.bus.names import BUS_NAME, INTERFACE, OBJECT_PATH
from antidrift.cli.failures import FAILURES, explained
from support.desktop import Answer, FakeProgram, Refused
from support.fuzzing import fuzzed, outcome
from support.private_bus import PrivateBus

GOOD = (Path(__file__).parents[1] / "fixtures" / "state" / "active.json").read_text()
ANSWER_SECS = 20.0

bodies: st.SearchStrategy[Answer | None] = st.one_of(
    st.none(),
    st.sampled_from(["", "{}", "[]", "null", "{", GOOD, '{"schema": 2, "instance": "i", "seq": 1}', "1" * 5000]).map(
        lambda text: ("s", [text])
    ),
    st.sampled_from([Variant("s", "1.0"), Variant("d", 1.0), Variant("as", []), Variant("v", Variant("u", 1))]).map(
        lambda value: ("v", [value])
    ),
    st.dictionaries(
        st.sampled_from(["state", "uuid"]),
        st.sampled_from([Variant("d", 1.0), Variant("s", "1"), Variant("as", ["a"])]),
    ).map(lambda info: ("a{sv}", [info])),
    st.sampled_from([("", []), ("u", [1]), ("b", [True]), ("as", [["state"]]), ("ss", ["{}", "{}"]), ("ay", [b"{}"])]),
)


class Impostor(FakeProgram):
    """Answers every call with what the test says; None: with an error."""

    says: Answer | None = None

    def answer(self, message: Message) -> Answer:
        """See `FakeProgram`."""
        if self.says is None:
            raise Refused(message.member)
        return self.says


class Service(Impostor):
    """Under the name of the service."""

    name = BUS_NAME


class Shell(Impostor):
    """Under the name of the shell."""

    name = "org.gnome.Shell"


@pytest.fixture(scope="module")
def bus() -> Iterator[PrivateBus]:
    with PrivateBus() as bus:
        yield bus


@pytest.fixture(scope="module")
def service(bus: PrivateBus) -> Iterator[Service]:
    with Service(bus.address) as service:
        yield service


@pytest.fixture(scope="module")
def shell(bus: PrivateBus) -> Iterator[Shell]:
    with Shell(bus.address) as shell:
        yield shell


def on(bus: PrivateBus, work: Callable[[Client], Coroutine[Any, Any, Any]]) -> Any:
    """What `work` makes of the bus as a client."""

    async def connected() -> Any:
        connection = await SessionBus.open(bus.address)
        try:
            async with asyncio.timeout(ANSWER_SECS):
                return await work(Client(connection))
        finally:
            await connection.close()

    return outcome(lambda: asyncio.run(connected()), *FAILURES)


@fuzzed("answers of the service", examples=20, says=bodies)
@example(says=("", []))
@example(says=("u", [1]))
@example(says=("as", [["state"]]))
def test_whatever_is_answered_a_client_reads_it_or_fails_by_a_name_that_can_be_explained(
    bus: PrivateBus, service: Service, shell: Shell, says: Answer | None
) -> None:
    service.says = shell.says = says
    state = on(bus, lambda client: client.state())
    if not isinstance(state, State):
        assert explained(state)[0]
    version = on(bus, lambda client: client.version())
    assert isinstance(version, (str, *FAILURES))
    assert on(bus, lambda client: client.shell_extension("antidrift@antidrift.org")) in (True, False, None)


@fuzzed("answers of the service", examples=8, told=bodies.filter(lambda body: body is not None and body[0] != "s"))
def test_a_change_of_state_that_is_no_text_is_passed_over(bus: PrivateBus, service: Service, told: Answer) -> None:
    service.says = ("s", [GOOD])

    async def follow(client: Client) -> list[str]:
        states = await client.states()
        first = await states.next()
        assert first is not None
        await asyncio.to_thread(service.emit, OBJECT_PATH, INTERFACE, "StateChanged", told[0], *told[1])
        newer = GOOD.replace(f'"seq": {first.said["seq"]}', f'"seq": {first.said["seq"] + 1}')
        await asyncio.to_thread(service.emit, OBJECT_PATH, INTERFACE, "StateChanged", "s", newer)
        second = await states.next()
        assert second is not None
        return [first.text, second.text]

    first, second = on(bus, follow)
    assert first == GOOD
    assert second != GOOD
