"""The contract, kept by the real daemon on a real bus, for clients that share no code with it: libdbus (dbus-python)
and sd-bus (busctl).
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import dbus
import jsonschema
import pytest

import antidrift
from antidrift import wire
from antidrift.bus.names import BUS_NAME, ERROR_PREFIX, INTERFACE, OBJECT_PATH
from standins.standin import StandIn
from support.interface_xml import ROOT, XML, comments, possible_errors, shape
from support.monitor import Message, Monitor, announced, states
from support.private_bus import PrivateBus
from support.service import DEADLINE, Client, Service, State
from support.x_server import XServer

PROPERTIES = "org.freedesktop.DBus.Properties"
INTROSPECTABLE = "org.freedesktop.DBus.Introspectable"
SHELL = "org.gnome.Shell"

METHODS = shape(XML).methods
DOCUMENTED = {member: possible_errors(comment) for member, comment in comments(XML).items()}
VALIDATOR = jsonschema.Draft202012Validator(json.loads((ROOT / "dbus" / "state.schema.json").read_text()))

SECRET = "xyzzy-7"
"""In every text that a person or a window could have brought. It must show in no error and in no log."""

CALLS: dict[str, tuple[Any, ...]] = {
    "EnterPlanning": (),
    "RequestCoach": ("s", f"{SECRET} intent"),
    "StartCommitment": ("ssxas", f"{SECRET} action", f"{SECRET} condition", 1500, ["code"]),
    "CancelPlanning": (),
    "OnTask": (),
    "Refocus": (),
    "Extend": ("x", 60),
    "Complete": (),
    "End": (),
    "ReportFocus": ("a{sv}", {"class": ("s", "code"), "title": ("s", f"{SECRET} title")}),
    "AllowAI": ("b", True),
    "GetState": (),
    "GetRecentSessions": ("u", 1),
}
"""A call of each method that is refused by nothing but the state."""

WAY = {"locked": "EnterPlanning", "planning": "StartCommitment", "active": "Complete", "review": "End"}
"""The shortest way around: the call that leads on from each state."""

NEXT = dict(zip(WAY, [*list(WAY)[1:], "locked"], strict=True))
"""The state where it leads."""

CATS = "Cats - YouTube — Mozilla Firefox"
"""What an AI that judges windows does not take for work."""


@pytest.fixture(scope="module")
def bus() -> Iterator[PrivateBus]:
    with PrivateBus() as bus:
        yield bus


@pytest.fixture(scope="module")
def service(bus: PrivateBus) -> Iterator[Service]:
    with Service(bus, options=["--verbose"]) as service:
        yield service


@pytest.fixture
def client(bus: PrivateBus) -> Iterator[Client]:
    with Client(bus.address) as client:
        yield client


@pytest.fixture
def shell(bus: PrivateBus) -> Iterator[Client]:
    """Whoever owns the name of GNOME Shell."""
    with Client(bus.address) as client:
        client.own(SHELL)
        yield client


@pytest.fixture
def monitor(bus: PrivateBus, service: Service) -> Iterator[Monitor]:
    with Monitor(bus) as monitor:
        yield monitor


def bring(service: Service, phase: str) -> State:
    """Brings the session to `phase`, and returns the state once nothing more is on its way.

    By a client of its own: what all tests change together is more than one may.
    """
    with Client(service.bus.address) as anybody:
        while (now := service.state()["runtime_state"]) != phase:
            anybody.call(WAY[now], *CALLS[WAY[now]])
    return service.wait_for(is_settled)


def is_settled(state: State) -> bool:
    match state["runtime_state"]:
        case "planning":
            return "pending" not in (state["tasks"]["status"], state["knowledge"]["status"])
        case "active":
            return state["evidence"]["source"] != "none" or state["evidence"]["error"] is not None
        case _:
            return True


def without_the_time(state: State) -> State:
    """What of a state does not move by itself."""
    lasting: State = json.loads(json.dumps(state))
    for section, keys in {"commitment": ["remaining_ms", "deadline_ms"], "evidence": ["buckets"]}.items():
        for key in keys:
            if lasting[section] is not None:
                del lasting[section][key]
    return lasting


def window(state: State) -> tuple[str, str, str] | None:
    """Who says what has the focus, its class and its title; None: nothing has it."""
    seen = state["evidence"]
    return seen["window"] and (seen["source"], seen["window"]["class"], seen["window"]["title"])


def report(client: Client, title: str, wm_class: str = "code") -> None:
    client.call("ReportFocus", "a{sv}", {"class": ("s", wm_class), "title": ("s", title)})


def eventually(condition: Callable[[], bool]) -> None:
    ends = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < ends, "it never came true"
        time.sleep(0.01)


def busctl(bus: PrivateBus, *arguments: str) -> str:
    command = ["busctl", f"--address={bus.address}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, check=True).stdout


# What it says of itself


def test_libdbus_sees_the_interface_of_the_xml(service: Service) -> None:
    assert shape(service.client.call("Introspect", interface=INTROSPECTABLE)) == shape(XML)


def test_busctl_sees_the_interface_of_the_xml(bus: PrivateBus, service: Service) -> None:
    assert shape(busctl(bus, "introspect", "--xml-interface", BUS_NAME, OBJECT_PATH)) == shape(XML)


def test_the_object_is_found_from_the_root(bus: PrivateBus, service: Service) -> None:
    assert busctl(bus, "tree", "--list", BUS_NAME).split()[-1] == OBJECT_PATH


def test_the_version_is_that_of_the_package(service: Service) -> None:
    assert service.client.call("Get", "ss", INTERFACE, "Version", interface=PROPERTIES) == antidrift.__version__


@pytest.mark.parametrize("phase", WAY)
def test_the_property_says_what_the_state_says(service: Service, phase: str) -> None:
    bring(service, phase)

    assert service.client.call("Get", "ss", INTERFACE, "RuntimeState", interface=PROPERTIES) == phase
    assert service.client.call("GetAll", "s", INTERFACE, interface=PROPERTIES)["RuntimeState"] == phase


@pytest.mark.parametrize(
    ("name", "interface", "member", "arguments"),
    [
        ("UnknownMethod", INTERFACE, "Explode", ()),
        ("UnknownMethod", INTERFACE, "Extend", ("s", SECRET)),
        ("UnknownMethod", INTERFACE, "GetState", ("s", SECRET)),
        ("UnknownMethod", INTERFACE, "StartCommitment", ("ssi", SECRET, SECRET, 60)),
        ("UnknownProperty", PROPERTIES, "Get", ("ss", INTERFACE, "Colour")),
        ("PropertyReadOnly", PROPERTIES, "Set", ("ssv", INTERFACE, "Version", SECRET)),
        ("PropertyReadOnly", PROPERTIES, "Set", ("ssv", INTERFACE, "RuntimeState", "active")),
    ],
)
def test_what_is_not_in_the_interface_gets_an_error_of_dbus(
    service: Service, name: str, interface: str, member: str, arguments: tuple[Any, ...]
) -> None:
    before = service.state()

    with pytest.raises(dbus.DBusException) as refused:
        service.client.call(member, *arguments, interface=interface)

    assert refused.value.get_dbus_name() == f"org.freedesktop.DBus.Error.{name}"
    assert SECRET not in refused.value.get_dbus_message()
    assert without_the_time(service.state()) == without_the_time(before)


# A whole session


@pytest.fixture(scope="module")
def open_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service on a bus of its own, where everybody may report windows, with an AI that answers."""
    home = tmp_path_factory.mktemp("home")
    (home / "antidrift").mkdir()
    (home / "antidrift" / "config.toml").write_text('[sensor]\nreporters = ["any"]\n')
    ai = StandIn("claude", home / "bin").plays(verdicts={CATS: False})
    path = f"{ai.program.parent}:/usr/bin:/bin"
    with PrivateBus() as bus, Service(bus, home, ANTIDRIFT_AI_BACKEND="claude", PATH=path) as service:
        yield service


@pytest.mark.parametrize("by", ["libdbus", "busctl"])
def test_a_whole_session_calls_every_method_and_announces_only_valid_states(open_service: Service, by: str) -> None:
    service = open_service
    called: set[str] = set()

    def call(member: str, *arguments: Any) -> Any:
        called.add(member)
        how = service.call if by == "busctl" else service.client.call
        return how(member, *(arguments or CALLS[member]))

    with Monitor(service.bus) as monitor:
        call("AllowAI", "b", True)
        call("EnterPlanning")
        call("RequestCoach")
        planned = service.wait_for(lambda state: state["coach"]["status"] == "ready")
        call("CancelPlanning")
        call("EnterPlanning")
        proposal = planned["coach"]["proposal"]
        call("StartCommitment", "ssxas", proposal["next_action"], proposal["success_condition"], 1500, ["code"])
        call("ReportFocus")
        report(service.client, CATS, "firefox")
        service.wait_for(lambda state: state["drift"]["status"] == "drifting")
        call("Refocus")
        assert service.state()["drift"]["status"] == "idle"
        call("OnTask")
        assert service.state()["commitment"]["allowed_sites"] == ["YouTube"]
        call("Extend", "x", -60)
        call("Extend")
        assert service.state()["commitment"]["timebox_secs"] == 1500
        call("Complete")
        looked_back = service.wait_for(lambda state: state["reflection"]["status"] == "ready")
        call("End")
        [summary] = json.loads(call("GetRecentSessions"))
        assert json.loads(call("GetState")) == service.state()
        seen = states(monitor.news())

    assert called == set(METHODS)
    assert summary["next_action"] == proposal["next_action"]
    assert summary["outcome"] == looked_back["outcome"] == "completed"
    assert {state["runtime_state"] for state in seen} == {"locked", "planning", "active", "review"}
    for state in seen:
        VALIDATOR.validate(state)
        wire.StateView.model_validate_json(json.dumps(state))  # which knows every key


def test_the_newest_of_several_reporters_counts(open_service: Service) -> None:
    service = open_service
    bring(service, "active")
    with Client(service.bus.address) as first, Client(service.bus.address) as second:
        report(first, "one")
        report(second, "two")
        assert window(service.state()) == ("shell", "code", "two")
        first.call("ReportFocus", "a{sv}", {"reporting": ("b", False)})
        first.close()
        assert window(service.state()) == ("shell", "code", "two")
    service.wait_for(lambda state: state["evidence"]["source"] == "none")
    bring(service, "locked")


# What a state refuses

ILLEGAL: dict[str, dict[str, str]] = {
    "locked": {
        "RequestCoach": "NotPlanning",
        "StartCommitment": "IllegalTransition",
        "CancelPlanning": "IllegalTransition",
        "OnTask": "NotActive",
        "Refocus": "NotActive",
        "Extend": "NotActive",
        "Complete": "IllegalTransition",
        "End": "IllegalTransition",
    },
    "planning": {
        "EnterPlanning": "IllegalTransition",
        "OnTask": "NotActive",
        "Refocus": "NotActive",
        "Extend": "NotActive",
        "Complete": "IllegalTransition",
        "End": "IllegalTransition",
    },
    "active": {
        "EnterPlanning": "IllegalTransition",
        "RequestCoach": "NotPlanning",
        "StartCommitment": "IllegalTransition",
        "CancelPlanning": "IllegalTransition",
        "OnTask": "NothingToJudge",  # no window has the focus
        "End": "IllegalTransition",
    },
    "review": {
        "EnterPlanning": "IllegalTransition",
        "RequestCoach": "NotPlanning",
        "StartCommitment": "IllegalTransition",
        "CancelPlanning": "IllegalTransition",
        "OnTask": "NotActive",
        "Refocus": "NotActive",
        "Extend": "NotActive",
        "Complete": "IllegalTransition",
    },
}


@pytest.mark.parametrize(
    ("phase", "member", "name"),
    [(phase, member, name) for phase, refused in ILLEGAL.items() for member, name in refused.items()],
)
def test_an_illegal_call_is_refused_by_its_name_and_changes_nothing(
    service: Service, phase: str, member: str, name: str
) -> None:
    before = bring(service, phase)

    refused, message = service.refusal(member, *CALLS[member])

    assert refused == ERROR_PREFIX + name
    assert refused in DOCUMENTED[member]
    assert (phase in message and member in message) or name == "NothingToJudge"
    assert without_the_time(service.state()) == without_the_time(before)  # the same `seq`: nothing was announced


@pytest.mark.parametrize(
    ("phase", "member"),
    [(phase, member) for phase in WAY for member in METHODS if member not in ILLEGAL[phase]],
)
def test_any_other_call_succeeds(service: Service, shell: Client, phase: str, member: str) -> None:
    bring(service, phase)

    shell.call(member, *CALLS[member])

    leads_to = "locked" if member == "CancelPlanning" else NEXT[phase] if member == WAY[phase] else phase
    assert service.state()["runtime_state"] == leads_to


def test_a_timebox_that_runs_out_ends_the_session_by_itself(service: Service, client: Client, monitor: Monitor) -> None:
    bring(service, "planning")
    client.call("StartCommitment", "ssxas", SECRET, SECRET, 1, [])

    after = service.wait_for(lambda state: state["runtime_state"] == "review")

    assert after["outcome"] == "expired"
    assert [state["outcome"] for state in states(monitor.news()) if state["runtime_state"] == "review"] == ["expired"]


# What an argument may hold

TOO_LONG = f"{SECRET} ".ljust(501, "x")
FITS = f"{SECRET} ".ljust(500, "x")
BLANK = " \t\r\n\u2028\u00a0"
START = CALLS["StartCommitment"]


def start(**arguments: Any) -> tuple[Any, ...]:
    given = dict(zip(["next_action", "success_condition", "timebox_secs", "classes"], START[1:], strict=True))
    return ("ssxas", *{**given, **arguments}.values())


def focus(**values: Any) -> tuple[Any, ...]:
    return ("a{sv}", {"class": ("s", SECRET), **values})


@pytest.mark.parametrize(
    ("phase", "member", "arguments", "name", "said"),
    [
        ("planning", "RequestCoach", ("s", TOO_LONG), "InvalidArgument", "intent has 501 characters"),
        ("planning", "RequestCoach", ("s", BLANK), "InvalidArgument", "intent is blank"),
        ("planning", "RequestCoach", ("s", ""), "InvalidArgument", "intent is blank"),
        *(
            ("planning", "StartCommitment", start(**{field: text}), "InvalidCommitment", f"{field} {said}")
            for field in ("next_action", "success_condition")
            for text, said in ((TOO_LONG, "has 501 characters"), (BLANK, "is blank"), ("", "is blank"))
        ),
        *(
            ("planning", "StartCommitment", start(timebox_secs=secs), "InvalidCommitment", f"timebox_secs is {secs};")
            for secs in (0, 86401, -1, -1500, 2**62, 2**63 - 1, -(2**63))
        ),
        ("planning", "StartCommitment", start(classes=["x" * 129]), "InvalidCommitment", "129 characters"),
        ("planning", "StartCommitment", start(classes=["x"] * 65), "InvalidCommitment", "65 allowed classes"),
        *(
            ("active", "Extend", ("x", secs), "InvalidArgument", f"secs is {secs};")
            for secs in (86400 - 1500 + 1, 86400, -1501, 2**62, 2**63 - 1, -(2**63))
        ),
        *(("locked", "GetRecentSessions", ("u", n), "InvalidArgument", f"n is {n};") for n in (51, 2**32 - 1)),
        ("active", "ReportFocus", focus(**{"class": ("s", "x" * 129)}), "InvalidArgument", "class has 129 characters"),
        ("active", "ReportFocus", focus(title=("s", "x" * 1001)), "InvalidArgument", "title has 1001 characters"),
        ("active", "ReportFocus", focus(app_id=("s", "x" * 256)), "InvalidArgument", "app_id has 256 characters"),
        ("active", "ReportFocus", focus(window_id=("s", "x" * 65)), "InvalidArgument", "window_id has 65 characters"),
        ("active", "ReportFocus", focus(**{"class": ("u", 7)}), "InvalidArgument", "class has the type u"),
        ("active", "ReportFocus", focus(title=("b", True)), "InvalidArgument", "title has the type b"),
        ("active", "ReportFocus", focus(pid=("s", SECRET)), "InvalidArgument", "pid has the type s"),
        ("active", "ReportFocus", focus(pid=("d", 7.0)), "InvalidArgument", "pid has the type d"),
        ("active", "ReportFocus", focus(app_id=("x", 7)), "InvalidArgument", "app_id has the type x"),
        ("active", "ReportFocus", focus(window_id=("d", 7.0)), "InvalidArgument", "window_id has the type d"),
        ("active", "ReportFocus", focus(reporting=("s", SECRET)), "InvalidArgument", "reporting has the type s"),
        ("active", "ReportFocus", focus(reporting=("u", 0)), "InvalidArgument", "reporting has the type u"),
    ],
)
def test_an_argument_out_of_bounds_is_refused_by_its_name_and_changes_nothing(
    service: Service, shell: Client, phase: str, member: str, arguments: tuple[Any, ...], name: str, said: str
) -> None:
    before = bring(service, phase)

    refused, message = shell.refusal(member, *arguments)

    assert refused == ERROR_PREFIX + name
    assert refused in DOCUMENTED[member]
    assert said in message
    assert SECRET not in message
    assert without_the_time(service.state()) == without_the_time(before)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (start(next_action=FITS), {"next_action": FITS}),
        (start(success_condition=FITS), {"success_condition": FITS}),
        (start(next_action="\U0001f40c" * 500), {"next_action": "\U0001f40c" * 500}),
        (start(next_action=f"\t{SECRET}\r\n two\u2028lines "), {"next_action": f"{SECRET} two lines"}),
        (start(timebox_secs=86400), {"timebox_secs": 86400}),
        (start(classes=[]), {"allowed_window_classes": []}),
        (start(classes=["x" * 128]), {"allowed_window_classes": ["x" * 128]}),
        (start(classes=list("abcdefgh" * 8)), {"allowed_window_classes": list("abcdefgh")}),
        (start(classes=[f"c{n}" for n in range(64)]), {"allowed_window_classes": [f"c{n}" for n in range(64)]}),
        (start(classes=[" code ", "", " "]), {"allowed_window_classes": ["code"]}),
    ],
)
def test_a_commitment_within_bounds_starts_as_it_was_given(
    service: Service, client: Client, given: tuple[Any, ...], shown: dict[str, Any]
) -> None:
    bring(service, "planning")

    client.call("StartCommitment", *given)

    assert service.state()["commitment"].items() >= shown.items()
    bring(service, "locked")


def test_an_intent_of_500_characters_is_taken_and_without_an_ai_the_coach_says_so(
    service: Service, client: Client
) -> None:
    asked = bring(service, "planning")["coach"]["request_id"]

    client.call("RequestCoach", "s", FITS)

    coach = service.state()["coach"]
    assert (coach["status"], coach["error"]["code"]) == ("error", "unavailable")
    assert coach["request_id"] == asked + 1


def test_a_timebox_may_be_extended_to_a_day_and_shortened_to_what_has_passed(service: Service, client: Client) -> None:
    bring(service, "locked")
    bring(service, "active")

    client.call("Extend", "x", 86400 - 1500)
    assert service.state()["commitment"]["timebox_secs"] == 86400
    client.call("Extend", "x", 60 - 86400)
    commitment = service.state()["commitment"]
    assert commitment["timebox_secs"] == 60
    assert 0 < commitment["remaining_ms"] <= 60_000
    assert commitment["deadline_ms"] - commitment["started_at_ms"] == pytest.approx(60_000, abs=5)


def test_as_many_ended_sessions_are_returned_as_were_asked_for(service: Service) -> None:
    for _ in range(2):
        bring(service, "review")
        bring(service, "locked")

    def recent(n: int) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(service.client.call("GetRecentSessions", "u", n))
        return found

    fifty = recent(50)
    assert recent(0) == []
    assert recent(1) == fifty[-1:]
    assert recent(2) == fifty[-2:]
    assert 2 <= len(fifty) <= 50
    assert [one["ended_at_ms"] for one in fifty] == sorted(one["ended_at_ms"] for one in fifty)
    assert set(fifty[-1]) == {field.alias or name for name, field in wire.SummaryView.model_fields.items()}


@pytest.mark.parametrize(("allowed", "consent"), [(False, "refused"), (True, "given")])
@pytest.mark.parametrize("phase", WAY)
def test_the_answer_about_titles_shows_in_any_state(
    service: Service, client: Client, phase: str, allowed: bool, consent: str
) -> None:
    bring(service, phase)

    client.call("AllowAI", "b", allowed)

    assert service.state()["ai"]["consent"] == consent


# Who may report windows, and until when


def test_a_stranger_may_not_report_and_is_told_so(service: Service, shell: Client, client: Client) -> None:
    bring(service, "active")
    report(shell, "mine")

    for arguments in (CALLS["ReportFocus"], ("a{sv}", {}), focus(reporting=("b", False)), focus(pid=("s", ""))):
        refused, message = client.refusal("ReportFocus", *arguments)
        assert refused == f"{ERROR_PREFIX}AccessDenied"
        assert client.name in message

    assert window(service.state()) == ("shell", "code", "mine")


def test_who_no_longer_owns_the_name_of_the_shell_is_forgotten_and_may_no_longer_report(
    service: Service, client: Client
) -> None:
    bring(service, "active")
    client.own(SHELL)
    report(client, "mine")

    client.disown(SHELL)

    service.wait_for(lambda state: state["evidence"]["source"] == "none")
    refused, _ = client.refusal("ReportFocus", "a{sv}", {})
    assert refused == f"{ERROR_PREFIX}AccessDenied"


def test_a_reported_window_shows_and_counts_as_seen_by_the_shell(service: Service, shell: Client) -> None:
    bring(service, "active")

    report(shell, f"{SECRET} page", "org.gnome.TextEditor")

    state = service.state()
    assert window(state) == ("shell", "org.gnome.TextEditor", f"{SECRET} page")
    assert (state["evidence"]["health"], state["evidence"]["error"]) == ("ok", None)


def test_what_was_reported_before_a_session_counts_from_its_start(service: Service, shell: Client) -> None:
    bring(service, "locked")
    report(shell, "early")

    assert window(bring(service, "active")) == ("shell", "code", "early")


def test_a_reporter_that_leaves_the_bus_is_forgotten(bus: PrivateBus, service: Service) -> None:
    bring(service, "active")
    with Client(bus.address) as shell:
        shell.own(SHELL)
        report(shell, "mine")

    state = service.wait_for(lambda state: state["evidence"]["source"] == "none")

    assert window(state) is None
    assert (state["evidence"]["health"], state["evidence"]["error"]["code"]) == ("absent", "no_display")
    assert state["drift"]["status"] == "idle"


def test_a_reporter_that_stops_is_forgotten_at_once_and_may_begin_again(service: Service, shell: Client) -> None:
    bring(service, "active")
    report(shell, "mine")

    shell.call("ReportFocus", *focus(reporting=("b", False)))
    stopped = service.state()
    shell.call("ReportFocus", *focus(reporting=("b", True), title=("s", "again")))

    assert (stopped["evidence"]["source"], window(stopped)) == ("none", None)
    assert window(service.state()) == ("shell", SECRET, "again")


def test_an_empty_report_says_that_no_window_has_the_focus(service: Service, shell: Client) -> None:
    bring(service, "active")
    report(shell, "mine")

    shell.call("ReportFocus", "a{sv}", {})

    state = service.state()
    assert window(state) is None
    assert (state["evidence"]["source"], state["evidence"]["health"]) == ("shell", "ok")


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ({"title": ("s", "x" * 1000)}, (SECRET, "x" * 1000)),
        ({"class": ("s", "y" * 128)}, ("y" * 128, "")),
        ({"class": ("s", ""), "app_id": ("s", "z" * 255)}, ("z" * 255, "")),
        ({"window_id": ("s", "w" * 64)}, (SECRET, "")),
        *(({"window_id": (kind, 7), "pid": (kind, os.getpid())}, (SECRET, "")) for kind in "iuxt"),
        ({"pid": ("x", -1)}, (SECRET, "")),
        ({"pid": ("t", 2**63)}, (SECRET, "")),
        ({"workspace": ("u", 3), "colour": ("s", SECRET), "pid_start": ("d", 0.5)}, (SECRET, "")),
    ],
)
def test_a_report_within_bounds_is_taken(
    service: Service, shell: Client, values: dict[str, Any], shown: tuple[str, str]
) -> None:
    bring(service, "active")

    shell.call("ReportFocus", *focus(**values))

    assert window(service.state()) == ("shell", *shown)


def test_a_reported_text_is_kept_on_one_line(service: Service, shell: Client) -> None:
    bring(service, "active")

    report(shell, " two\nlines\x07\u2028end\t", "code\n")

    assert window(service.state()) == ("shell", "code", "two lines end")


def test_x11_is_listened_to_again_when_the_reporter_leaves() -> None:
    with XServer() as display, PrivateBus() as bus, Service(bus, DISPLAY=display.display) as service:
        display.open_window("by X11", ("editor", "Editor")).focus()
        bring(service, "active")
        service.wait_for(lambda state: window(state) == ("x11", "Editor", "by X11"))
        with Client(bus.address) as shell:
            shell.own(SHELL)
            report(shell, "by the shell")
            assert window(service.state()) == ("shell", "code", "by the shell")

        service.wait_for(lambda state: window(state) == ("x11", "Editor", "by X11"))


def test_this_is_on_task_allows_the_window_that_was_reported(service: Service, shell: Client) -> None:
    bring(service, "locked")
    bring(service, "active")
    report(shell, "mine", "org.example.Drawing")

    shell.call("OnTask")

    state = service.state()
    assert state["commitment"]["allowed_window_classes"] == ["code", "org.example.Drawing"]
    assert state["drift"]["status"] == "ontask"


# What is announced, and when


def test_a_client_that_has_its_reply_has_seen_the_signals(service: Service, client: Client, monitor: Monitor) -> None:
    bring(service, "locked")
    monitor.news()

    for member in WAY.values():
        client.call(member, *CALLS[member])

    messages = monitor.news()
    for phase, member in WAY.items():
        between = during(messages, member)
        assert states(between)[-1]["runtime_state"] == NEXT[phase], member  # one that was due before may come first
        assert properties(between) == [({"RuntimeState": NEXT[phase]}, [])], member
        signals = [message["member"] for message in between if message["type"] == "signal"]
        assert signals.index("StateChanged") < signals.index("PropertiesChanged"), member


def during(messages: list[Message], member: str) -> list[Message]:
    """What passed between the one call of `member` and its reply."""
    [(asked, cookie)] = [(n, m["cookie"]) for n, m in enumerate(messages) if m.get("member") == member]
    [answered] = [n for n, m in enumerate(messages) if n > asked and m.get("reply_cookie") == cookie]
    assert messages[answered]["type"] == "method_return"
    return messages[asked:answered]


def properties(messages: list[Message]) -> list[tuple[dict[str, str], list[str]]]:
    """What was said to have changed, and what was only said to be out of date."""
    bodies = [
        message["payload"]["data"]
        for message in messages
        if message["type"] == "signal" and message["interface"] == PROPERTIES
    ]
    return [({name: value["data"] for name, value in changed.items()}, lost) for _, changed, lost in bodies]


def test_numbers_grow_by_one_and_a_late_joiner_can_tell_what_is_news(
    service: Service, client: Client, monitor: Monitor
) -> None:
    bring(service, "locked")
    monitor.news()

    for member in ("EnterPlanning", "RequestCoach", "CancelPlanning"):
        client.call(member, *CALLS[member])
        service.state()

    messages = monitor.news()
    seen = states(messages)
    assert len({state["instance"] for state in seen}) == 1
    assert [state["seq"] for state in seen] == list(range(seen[0]["seq"], seen[0]["seq"] + len(seen)))
    newest: State = {}
    answers = 0
    for message in messages:
        newest = announced(message) or newest
        if message["type"] == "method_return" and message["payload"]["data"]:
            answer = json.loads(message["payload"]["data"][0])
            assert answer["seq"] == newest["seq"]  # so what comes later is higher, and what came before is not
            assert answer == newest
            answers += 1
    assert answers == 3


def test_another_process_is_another_instance(service: Service) -> None:
    before = bring(service, "locked")

    service.stop()
    service.start()

    after = service.state()
    assert after["instance"] != before["instance"]
    assert after["runtime_state"] == "locked"
    assert after["seq"] < before["seq"]


def test_a_title_that_ticks_is_announced_twice_a_second_at_most_and_never_refused(
    service: Service, shell: Client, monitor: Monitor
) -> None:
    bring(service, "active")
    report(shell, "still")
    monitor.news()
    began = time.monotonic()

    finishes = [shell.start("ReportFocus", *focus(title=("s", f"tick {n}"))) for n in range(400)]

    assert {finish() for finish in finishes} == {""}
    seen: list[State] = []

    def last_one_came() -> bool:
        seen.extend(states(monitor.news()))
        return bool(seen) and window(seen[-1]) == ("shell", SECRET, "tick 399")

    eventually(last_one_came)
    # One at once for the new class, one for the first tick, and then one each half second.
    assert len(seen) <= 3 + (time.monotonic() - began) / 0.5


# A caller who asks for too much


def test_a_burst_of_changes_is_refused_and_hinders_nobody_else(service: Service, client: Client) -> None:
    before = bring(service, "locked")

    finishes = [client.start("Refocus") for _ in range(1000)]
    client.connection.flush()

    # While they are being answered:
    assert without_the_time(service.state()) == without_the_time(before)
    answers = [finish() for finish in finishes]
    assert {service.refusal("Refocus")[0] for _ in range(20)} == {f"{ERROR_PREFIX}NotActive"}
    assert set(answers[:30]) == {f"{ERROR_PREFIX}NotActive"}
    assert set(answers) == {f"{ERROR_PREFIX}NotActive", f"{ERROR_PREFIX}RateLimited"}
    assert json.loads(client.call("GetState")) == before
    assert client.call("GetRecentSessions", "u", 0) == "[]"
    # And after a while:
    eventually(lambda: client.refusal("Refocus")[0] == f"{ERROR_PREFIX}NotActive")


# A disk that fails


@pytest.mark.parametrize(("phase", "member"), WAY.items())
def test_a_change_that_cannot_be_written_is_refused_and_the_fault_shows_until_it_can(
    service: Service, client: Client, phase: str, member: str
) -> None:
    bring(service, phase)
    snapshot = service.folder / "state.json"
    aside = snapshot.rename(snapshot.with_name("aside"))
    (snapshot / "in the way").mkdir(parents=True)
    try:
        refused, message = service.refusal(member, *CALLS[member])
        state = service.state()
    finally:
        (snapshot / "in the way").rmdir()
        snapshot.rmdir()
        aside.rename(snapshot)

    assert refused == f"{ERROR_PREFIX}StoreFailed"
    assert refused in DOCUMENTED[member]
    assert message == state["store"]["error"]["message"]
    assert state["runtime_state"] == phase
    client.call(member, *CALLS[member])
    after = service.state()
    assert after["runtime_state"] == NEXT[phase]
    assert after["store"]["error"] is None


# What does not get out


def test_no_error_and_no_log_holds_what_a_person_or_a_window_said(
    service: Service, shell: Client, monitor: Monitor
) -> None:
    for phase in WAY:
        bring(service, phase)
        for member, arguments in CALLS.items():
            if member != WAY[phase]:
                try:
                    shell.call(member, *arguments)
                except dbus.DBusException:
                    continue

    errors = [message["payload"]["data"][0] for message in monitor.news() if message["type"] == "error"]
    assert len(errors) > 20
    for text in (*errors, service.log):
        assert SECRET not in text
        assert "Traceback" not in text
        assert ".py" not in text
    assert "ERROR" not in service.log
