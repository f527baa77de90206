"""What a client may call with, over a real bus: the service answers, or refuses by name, and goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from antidrift.bus.connection import SessionBus  # first, because it makes dbus-next importable on later Pythons

# isort: split
from dbus_next.constants import MessageType
from dbus_next.message import Message
from dbus_next.signature import Variant
from hypothesis import strategies as st

from antidrift.bus.client import State
from antidrift.bus.errors import INTERNAL, NAMES
from antidrift.bus.names import BUS_NAME, INTERFACE, OBJECT_PATH
from support.fuzzing import fuzzed
from support.private_bus import PrivateBus
from support.service import Service

ANSWER_SECS = 20.0

# What D-Bus can carry: no NUL, no surrogates.
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)
long_texts = st.sampled_from([499, 500, 501, 1000, 1001, 100_000]).map(lambda length: "ä" * length)
words = texts | long_texts | st.sampled_from(["code", "Docs — Mozilla Firefox", "\x1b[2J", "\u202e"])
int64 = st.integers(-(2**63), 2**63 - 1) | st.sampled_from([1, 60, 1500, 86_400, 86_401])
variants = st.recursive(
    st.one_of(
        st.builds(Variant, st.just("s"), words),
        st.builds(Variant, st.just("b"), st.booleans()),
        st.builds(Variant, st.just("u"), st.integers(0, 2**32 - 1)),
        st.builds(Variant, st.just("x"), int64),
        st.builds(Variant, st.just("t"), st.integers(0, 2**64 - 1)),
        st.builds(Variant, st.just("d"), st.floats()),
        st.builds(Variant, st.just("ay"), st.binary(max_size=20)),
        st.builds(Variant, st.just("as"), st.lists(words, max_size=3)),
        st.builds(Variant, st.just("o"), st.just("/a")),
        st.builds(Variant, st.just("g"), st.just("a{sv}")),
    ),
    lambda inner: (
        st.builds(Variant, st.just("v"), inner)
        | st.builds(Variant, st.just("av"), st.lists(inner, max_size=2))
        | st.builds(Variant, st.just("a{sv}"), st.dictionaries(words, inner, max_size=2))
    ),
    max_leaves=6,
)
reports = st.dictionaries(
    st.sampled_from(["class", "title", "app_id", "window_id", "pid", "reporting", "mood"]) | words,
    variants,
    max_size=6,
)
SIMPLE = ["EnterPlanning", "CancelPlanning", "OnTask", "Refocus", "Complete", "End", "GetState"]
calls: st.SearchStrategy[tuple[str, str, list[Any]]] = st.one_of(
    st.tuples(st.just("ReportFocus"), st.just("a{sv}"), reports.map(lambda report: [report])),
    st.tuples(st.just("ReportFocus"), st.just("a{sv}"), reports.map(lambda report: [report])),
    st.tuples(
        st.just("StartCommitment"),
        st.just("ssxas"),
        st.tuples(words, words, int64, st.lists(words, max_size=70)).map(list),
    ),
    st.tuples(st.just("Extend"), st.just("x"), st.tuples(int64).map(list)),
    st.tuples(st.just("RequestCoach"), st.just("s"), st.tuples(words).map(list)),
    st.tuples(st.just("AllowAI"), st.just("b"), st.tuples(st.booleans()).map(list)),
    st.tuples(st.just("GetRecentSessions"), st.just("u"), st.tuples(st.integers(0, 2**32 - 1)).map(list)),
    st.tuples(st.sampled_from(SIMPLE), st.just(""), st.just([])),
    # of another signature, or nobody's
    st.tuples(st.sampled_from([*SIMPLE, "Extend", "ReportFocus", "Mood"]), st.just("v"), st.tuples(variants).map(list)),
)
OURS = {name for name in NAMES.values() if name != INTERNAL}
THE_BUS = "org.freedesktop.DBus.Error."


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with PrivateBus() as bus:
        service = Service(bus)
        service.folder.mkdir(parents=True)
        (service.folder / "config.toml").write_text('sensor.reporters = ["any"]\n')
        with service:
            yield service
            assert "ERROR" not in service.log
            assert "Traceback" not in service.log


@fuzzed("calls", examples=8, made=st.lists(calls, min_size=10, max_size=25))
def test_whatever_a_client_calls_with_it_is_answered_or_refused_by_name_and_the_state_can_be_read(
    service: Service, made: list[tuple[str, str, list[Any]]]
) -> None:
    async def call() -> None:
        bus = await SessionBus.open(service.bus.address)
        try:
            async with asyncio.timeout(ANSWER_SECS):
                for member, signature, body in [*made, ("GetState", "", [])]:
                    message = Message(BUS_NAME, OBJECT_PATH, INTERFACE, member, signature=signature, body=body)
                    reply = await bus.call(message)
                    assert reply is not None
                    if reply.message_type is MessageType.ERROR:
                        name = str(reply.error_name)
                        assert name in OURS or name.startswith(THE_BUS), (member, name)
                        assert len(reply.body[0]) < 300
            State.read(reply.body[0])
        finally:
            await bus.close()

    asyncio.run(call())
