"""`ReportFocus`: whose reports are taken, and what becomes of a dictionary that another program sent."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from dbus_next.signature import Variant

from antidrift.bus.reports import Reporters, stops, window_of
from antidrift.domain.errors import InvalidArgument
from antidrift.domain.model import Window

INTEGERS = ["i", "u", "x", "t"]


def command_of(pid: int) -> str:
    return f"program-{pid}"


def reported(report: Mapping[str, Variant]) -> Window | None:
    return window_of(report, command_of)


# Who may report

OWNERS = {"org.gnome.Shell": ":1.5", "org.example.Reporter": ":1.7", "any": ":1.9"}


@pytest.mark.parametrize(
    ("configured", "senders"),
    [
        ([], {":1.5"}),
        (["org.example.Reporter"], {":1.5", ":1.7"}),
        (["org.example.Absent"], {":1.5"}),
        (["any"], {":1.5", ":1.7", ":1.9", ":1.11"}),
    ],
)
def test_the_shell_the_names_of_the_config_and_with_any_everybody_may_report(
    configured: list[str], senders: set[str]
) -> None:
    reporters = Reporters(configured, OWNERS.get)
    assert {sender for sender in (":1.5", ":1.7", ":1.9", ":1.11") if reporters.allow(sender)} == senders


def test_who_gives_a_name_away_may_no_longer_report_and_who_gets_it_may() -> None:
    owners = dict(OWNERS)
    reporters = Reporters([], owners.get)
    owners["org.gnome.Shell"] = ":1.6"
    assert (reporters.allow(":1.5"), reporters.allow(":1.6")) == (False, True)


def test_the_names_to_watch_are_bus_names_alone() -> None:
    assert Reporters(["any", "org.example.Reporter"], OWNERS.get).names == ("org.gnome.Shell", "org.example.Reporter")


# What a report holds


def test_every_key_of_a_report_reaches_the_window() -> None:
    report = {
        "class": Variant("s", "code"),
        "title": Variant("s", "a.py"),
        "pid": Variant("u", 4711),
        "app_id": Variant("s", "com.visualstudio.code"),
        "window_id": Variant("s", "w7"),
    }
    assert reported(report) == Window("code", "a.py", 4711, "program-4711", "com.visualstudio.code", "w7")


def test_whatever_is_missing_is_unknown() -> None:
    assert reported({"title": Variant("s", "a.py")}) == Window(title="a.py")


@pytest.mark.parametrize("report", [{}, {"reporting": Variant("b", True)}])
def test_a_report_that_says_nothing_of_a_window_says_that_none_has_the_focus(report: dict[str, Variant]) -> None:
    assert reported(report) is None


def test_keys_of_a_newer_front_end_are_ignored() -> None:
    assert reported({"workspace": Variant("u", 3), "pid_start": Variant("d", 0.5)}) == Window()


@pytest.mark.parametrize("key", ["class", "title", "app_id", "window_id"])
def test_a_text_is_kept_on_one_line(key: str) -> None:
    window = reported({key: Variant("s", " two\nlines\x07\u2028end\t")})
    assert window is not None
    assert "two lines end" in (window.wm_class, window.title, window.app_id, window.window_id)


@pytest.mark.parametrize(("key", "most"), [("class", 128), ("title", 1000), ("app_id", 255), ("window_id", 64)])
def test_a_text_has_its_bound_and_the_refusal_says_which(key: str, most: int) -> None:
    assert reported({key: Variant("s", "x" * most)}) is not None
    message = f"^{key} has {most + 1} characters; at most {most} are allowed$"
    with pytest.raises(InvalidArgument, match=message):
        reported({key: Variant("s", "x" * (most + 1))})


@pytest.mark.parametrize("key", ["class", "title", "app_id", "window_id"])
def test_what_is_no_text_is_refused_by_name(key: str) -> None:
    with pytest.raises(InvalidArgument, match=f"^{key} has the type d; it must be s$"):
        reported({key: Variant("d", 7.0)})


@pytest.mark.parametrize("kind", INTEGERS)
def test_numbers_of_each_integer_type_are_taken(kind: str) -> None:
    window = reported({"window_id": Variant(kind, 7), "pid": Variant(kind, 4711)})
    assert window == Window(pid=4711, command="program-4711", window_id="7")


@pytest.mark.parametrize("kind", ["s", "d", "b", "y"])
def test_a_process_that_is_no_number_is_refused(kind: str) -> None:
    value: object = {"s": "4711", "d": 7.0, "b": True, "y": 7}[kind]
    with pytest.raises(InvalidArgument, match=f"^pid has the type {kind}; it must be an integer$"):
        reported({"pid": Variant(kind, value)})


@pytest.mark.parametrize(
    ("number", "pid"), [(-1, None), (0, None), (1, 1), (2**31 - 1, 2**31 - 1), (2**31, None), (2**63 - 1, None)]
)
def test_a_number_that_no_process_can_have_is_an_unknown_process(number: int, pid: int | None) -> None:
    command = "" if pid is None else command_of(pid)
    assert reported({"pid": Variant("x", number)}) == Window(pid=pid, command=command)


# The end of reporting


@pytest.mark.parametrize(
    ("report", "stopped"),
    [
        ({}, False),
        ({"title": Variant("s", "a.py")}, False),
        ({"reporting": Variant("b", True)}, False),
        ({"reporting": Variant("b", False)}, True),
        ({"reporting": Variant("b", False), "title": Variant("s", "a.py")}, True),
    ],
)
def test_only_the_word_that_it_stops_is_the_end_of_reporting(report: dict[str, Variant], stopped: bool) -> None:
    assert stops(report) is stopped


def test_an_end_that_is_no_truth_value_is_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"^reporting has the type u; it must be b$"):
        stops({"reporting": Variant("u", 0)})
