"""dbus/org.antidrift.Session.xml, written by hand for the authors of front ends, against the code that is served."""

from __future__ import annotations

import re

from antidrift.bus import errors  # first, because this package makes dbus-next importable on later Pythons

# isort: split
import pytest
from dbus_next.introspection import Node

from antidrift.bus.interface import SessionInterface
from antidrift.bus.names import BUS_NAME, ERROR_PREFIX, INTERFACE, OBJECT_PATH
from antidrift.bus.reports import Reporters
from antidrift.domain import limits
from antidrift.domain.model import Consent, Outcome, Phase
from antidrift.wire import SummaryView
from support.interface_xml import XML, comments, possible_errors, shape

COMMENTS = comments(XML)
SHAPE = shape(XML)
CAN_BE_PRODUCED = {*errors.NAMES.values(), errors.INTERNAL}


def served() -> str:
    """The introspection of the interface, which needs no bus for it."""
    interface = SessionInterface(None, Reporters((), {}.get), str)
    return Node(OBJECT_PATH, [interface.introspect()]).tostring()


def test_the_xml_has_the_shape_that_is_served() -> None:
    assert shape(XML) == shape(served())


def test_the_xml_names_the_bus_name_the_object_and_the_interface() -> None:
    head = XML.partition("<interface")[0]

    assert f'<node name="{OBJECT_PATH}">' in head
    assert f"Bus name {BUS_NAME}" in head
    assert f'<interface name="{INTERFACE}">' in XML


@pytest.mark.parametrize("member", COMMENTS)
def test_every_member_is_explained_right_before_it(member: str) -> None:
    assert re.match(rf"{member}: \S", COMMENTS[member])


@pytest.mark.parametrize(("member", "args"), [*SHAPE.methods.items(), *SHAPE.signals.items()])
def test_every_argument_is_explained_and_no_other(member: str, args: tuple[tuple[str, ...], ...]) -> None:
    assert re.findall(r"@(\w+):", COMMENTS[member]) == [arg[0] for arg in args]


@pytest.mark.parametrize("method", SHAPE.methods)
def test_a_method_lists_only_errors_that_can_be_produced(method: str) -> None:
    listed = possible_errors(COMMENTS[method])

    assert listed <= CAN_BE_PRODUCED
    assert errors.INTERNAL in listed


@pytest.mark.parametrize("name", sorted(CAN_BE_PRODUCED))
def test_an_error_that_can_be_produced_is_listed_by_a_method(name: str) -> None:
    assert any(name in possible_errors(COMMENTS[method]) for method in SHAPE.methods)


def test_the_table_of_errors_explains_each_of_them() -> None:
    table = XML.partition("What the names mean:")[2].partition("Errors of D-Bus itself")[0]
    explained = re.findall(r"^ {6}([A-Z]\w+) {2,}\w", table, re.MULTILINE)

    assert {ERROR_PREFIX + name for name in explained} == CAN_BE_PRODUCED
    assert len(explained) == len(CAN_BE_PRODUCED)


@pytest.mark.parametrize(
    ("member", "said"),
    [
        ("RequestCoach", f"at most {limits.FIELD_CHARS} characters"),
        ("StartCommitment", f"next_action: what the person does next, not blank, at most {limits.FIELD_CHARS} char"),
        ("StartCommitment", f"from {limits.TIMEBOX_MIN_SECS} to {limits.TIMEBOX_MAX_SECS} seconds"),
        ("StartCommitment", f"at most {limits.ALLOWED_CLASSES} of at most {limits.CLASS_CHARS} characters each"),
        ("Extend", f"longer than {limits.TIMEBOX_MAX_SECS} seconds"),
        ("OnTask", f"{limits.ALLOWED_CLASSES} of a kind are allowed already"),
        ("OnTask", f"within {limits.LAST_DRIFT_SECS:.0f} seconds"),
        ("Refocus", f"within {limits.LAST_DRIFT_SECS:.0f} seconds"),
        ("ReportFocus", f"its class, at most {limits.CLASS_CHARS} characters"),
        ("ReportFocus", f"its title, at most {limits.TITLE_CHARS} characters"),
        ("GetRecentSessions", f"from 0 to {limits.RECENT_MAX}"),
        *(("RuntimeState", f"`{phase}`") for phase in Phase),
        *(("AllowAI", f"`{consent}`") for consent in Consent),
        *(("GetRecentSessions", f"`{outcome}`") for outcome in Outcome),
        *(("GetRecentSessions", field.alias or name) for name, field in SummaryView.model_fields.items()),
    ],
)
def test_bounds_and_values_are_those_of_the_code(member: str, said: str) -> None:
    assert said in COMMENTS[member]
