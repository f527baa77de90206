"""The command line without a bus: text for a terminal, the state as lines, arguments, completions."""

from __future__ import annotations

import io
import subprocess
import time
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antidrift import wire
from antidrift.bus.client import SCHEMA, CallFailed, NoSessionBus, ServiceAbsent, ServiceSilent, State
from antidrift.cli import bars, completion, failures, render
from antidrift.cli.arguments import arguments_of, make_parser
from antidrift.cli.output import Output
from antidrift.cli.terminal import Ink, Terminal
from antidrift.cli.text import cells, clean, clock, duration, ellipsised, time_left, wrapped

HOSTILE = "evil\x1b[31m red\x07\x9b2J \u202edesrever\u2066 end\r\nnext"
SHELLS = ("bash", "zsh", "fish")


def state(phase: str, **sections: Any) -> dict[str, Any]:
    """A state as the service sends it, held against the contract."""
    looking_back = phase in ("active", "review")
    view = {
        "schema": 1,
        "instance": "i",
        "seq": 1,
        "runtime_state": phase,
        "commitment": commitment() if looking_back else None,
        "coach": coach() if phase == "planning" else None,
        "tasks": {"status": "absent", "items": [], "error": None} if phase == "planning" else None,
        "knowledge": {"status": "absent", "error": None} if phase == "planning" else None,
        "reflection": None if phase == "active" else reflection(),
        "drift": drift() if phase == "active" else None,
        "away": away() if looking_back else None,
        "evidence": evidence() if looking_back else None,
        "outcome": "completed" if phase == "review" else None,
        "ai": ai(),
        "store": {"error": None},
    }
    view |= sections
    wire.StateView.model_validate(view)
    return view


def commitment(**changes: Any) -> dict[str, Any]:
    usual = {
        "id": "1",
        "next_action": "Write the outline",
        "success_condition": "Five headings stand",
        "timebox_secs": 1500,
        "started_at_ms": 0,
        "deadline_ms": 1500_000,
        "remaining_ms": 1050_000,
        "running": True,
        "allowed_window_classes": [],
        "allowed_sites": [],
    }
    return usual | changes


def coach(**changes: Any) -> dict[str, Any]:
    return {"status": "idle", "request_id": 0, "proposal": None, "error": None} | changes


def reflection(status: str = "idle", recap: str = "", carry_forward: str = "") -> dict[str, Any]:
    return {"status": status, "recap": recap, "carry_forward": carry_forward}


def drift(**changes: Any) -> dict[str, Any]:
    usual = {
        "status": "idle",
        "reason": "",
        "nudge": "",
        "subject": None,
        "episode": 0,
        "since_ms": None,
        "interrupt": False,
    }
    return usual | changes


def away(**changes: Any) -> dict[str, Any]:
    return {"active": False, "cause": None, "since_ms": None, "total_secs": 0, "paused": False} | changes


def evidence(*buckets: tuple[str, str, int], **changes: Any) -> dict[str, Any]:
    usual = {
        "health": "ok",
        "source": "x11",
        "error": None,
        "window": None,
        "window_since_ms": None,
        "switch_count": 0,
        "buckets": [{"class": name, "title": title, "secs": secs} for name, title, secs in buckets],
    }
    return usual | changes


def ai(**changes: Any) -> dict[str, Any]:
    usual = {"backend": "claude", "available": True, "consent": "given", "error": None, "retry_at_ms": None}
    return usual | changes


def error(code: str, message: str) -> dict[str, str]:
    return {"code": code, "message": message}


def shown(view: dict[str, Any], remaining_secs: float = 1050, terminal: Terminal | None = None) -> str:
    return "\n".join(render.status(view, remaining_secs, terminal or Terminal()))


# Text from outside


def test_a_title_cannot_bring_an_escape_sequence_or_turn_the_line_around() -> None:
    assert clean(HOSTILE) == "evil [31m red 2J desrever end next"


def test_text_that_runs_from_right_to_left_is_isolated_from_ours() -> None:
    assert clean("שלום") == "\u2068שלום\u2069"
    assert clean("\u2069שלום\u2068") == "\u2068שלום\u2069", "and cannot end its isolate"


def test_letters_that_need_joiners_keep_them() -> None:
    assert "\u200c" in clean("می\u200cخواهم")


@given(st.text())
def test_nothing_that_controls_a_terminal_is_left_of_any_text(text: str) -> None:
    for char in clean(text):
        assert unicodedata.category(char) not in ("Cc", "Cs", "Zl", "Zp")
        assert unicodedata.category(char) != "Cf" or char in "\u2068\u2069\u200c\u200d"


@given(st.text(), st.integers(1, 60))
def test_what_is_cut_fits(text: str, width: int) -> None:
    assert cells(ellipsised(clean(text), width)) <= width


@given(st.text(), st.integers(6, 60))
def test_what_is_wrapped_fits_and_is_all_there(text: str, width: int) -> None:
    lines = wrapped(clean(text), width, "  ")
    assert all(cells(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(clean(text).split())


@pytest.mark.parametrize(
    ("text", "columns"), [("abc", 3), ("標題", 4), ("e\u0301", 1), ("ｶﾞ", 2), ("🙂", 2), ("\u2068ab\u2069", 2)]
)
def test_columns_are_counted_as_a_terminal_fills_them(text: str, columns: int) -> None:
    assert cells(text) == columns


def test_a_wide_character_is_not_cut_in_two() -> None:
    assert ellipsised("標題標題", 6) == "標題…"
    assert ellipsised("標題標題", 7) == "標題標…"


def test_a_command_stays_on_one_line() -> None:
    assert wrapped("Say it by `antidrift ai allow` now.", 24) == ["Say it by", "`antidrift ai allow`", "now."]
    assert wrapped("`antidrift ai allow`", 15) == ["`antidrift ai", "allow`"], "where it fits on one"


# Durations


@pytest.mark.parametrize(
    ("secs", "text"),
    [(0, "0 s"), (59.9, "59 s"), (60, "1 min"), (754, "13 min"), (3599, "1 h"), (4800, "1 h 20 min"), (7200, "2 h")],
)
def test_a_duration_is_told_to_the_minute(secs: float, text: str) -> None:
    assert duration(secs) == text


@pytest.mark.parametrize(
    ("secs", "of", "text"),
    [
        (1500, 1500, "25 min left of 25"),
        (1020.5, 1500, "18 min left of 25"),
        (60, 1500, "60 s left of 25 min"),
        (0.2, 1500, "1 s left of 25 min"),
        (0, 1500, "0 s left of 25 min"),
        (4700, 7200, "1 h 19 min left of 2 h"),
        (1200, 3600, "20 min left of 1 h"),
        (45, 45, "45 s left of 45 s"),
    ],
)
def test_the_time_left_is_never_told_too_short(secs: float, of: float, text: str) -> None:
    assert time_left(secs, of) == text


@pytest.mark.parametrize(("secs", "text"), [(0, "0:00"), (9.1, "0:10"), (1062, "17:42"), (3900, "1:05:00")])
def test_a_running_clock_shows_seconds(secs: float, text: str) -> None:
    assert clock(secs) == text


# Terminals


class _Stream(io.StringIO):
    def __init__(self, tty: bool, encoding: str = "utf-8") -> None:
        super().__init__()
        self._tty = tty
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding

    def isatty(self) -> bool:
        return self._tty


@pytest.mark.parametrize(
    ("tty", "environ", "colours", "redraws"),
    [
        (True, {"TERM": "xterm-256color"}, True, True),
        (True, {"TERM": "xterm-256color", "NO_COLOR": "1"}, False, True),
        (True, {"TERM": "xterm-256color", "NO_COLOR": ""}, True, True),
        (True, {"TERM": "dumb"}, False, False),
        (True, {}, False, False),
        (False, {"TERM": "xterm-256color"}, False, False),
    ],
)
def test_colours_and_redrawing_are_for_terminals_that_have_them(
    tty: bool, environ: dict[str, str], colours: bool, redraws: bool
) -> None:
    terminal = Terminal.of(_Stream(tty), environ)
    assert (terminal.colours, terminal.redraws) == (colours, redraws)
    assert ("\x1b" in terminal.ink("text", Ink.BAD)) is colours


def test_a_locale_without_unicode_gets_plain_characters() -> None:
    terminal = Terminal.of(_Stream(tty=False, encoding="iso8859-1"), {})
    view = state("active", evidence=evidence(("code", "x" * 100, 60)))
    assert shown(view, terminal=terminal).isascii()


# The state as lines


def test_an_active_session_tells_the_time_left_what_and_how_to_know() -> None:
    assert shown(state("active")).splitlines()[:3] == [
        "18 min left of 25",
        "Write the outline",
        "Done when: Five headings stand",
    ]


def test_a_condition_that_says_no_more_than_the_action_is_left_out() -> None:
    view = state("active", commitment=commitment(success_condition="Write the outline"))
    assert "Done when" not in shown(view)


def test_a_drift_is_told_with_its_reason_its_subject_and_both_ways_out() -> None:
    subject = {"class": "org.mozilla.firefox", "site": "reddit.com"}
    text = shown(state("active", drift=drift(status="drifting", reason="Cat pictures", subject=subject)))
    assert "Drifting: Cat pictures (firefox, reddit.com)" in text
    assert "`antidrift refocus`" in text
    assert "`antidrift ontask`" in text


def test_a_drift_without_a_reason_or_subject_is_still_a_drift() -> None:
    assert "Drifting: off task" in shown(state("active", drift=drift(status="drifting")))


@pytest.mark.parametrize(
    ("seen", "text"),
    [
        (drift(status="ontask", reason="It is the outline"), "On task: It is the outline"),
        (drift(status="ontask"), "On task."),
        (drift(status="pending"), "being judged"),
        (drift(status="ontask", nudge="The last pages are about cats"), "Heads up: The last pages are about cats"),
    ],
)
def test_what_is_known_about_the_window_is_told(seen: dict[str, Any], text: str) -> None:
    assert text in shown(state("active", drift=seen))


def test_an_absence_is_told_with_its_cause_and_whether_the_time_waits() -> None:
    gone = away(active=True, cause="lock", since_ms=1_000, paused=True)
    text = shown(state("active", away=gone, commitment=commitment(running=False)))
    assert "screen locked; the time waits." in text
    assert "18 min left of 25, paused" in text


@pytest.mark.parametrize(
    ("secs", "line"), [(59, None), (60, "Away for 1 min so far."), (4800, "Away for 1 h 20 min so far.")]
)
def test_after_an_absence_status_and_watch_tell_how_long_all_of_them_were(secs: int, line: str | None) -> None:
    back = state("active", away=away(total_secs=secs))
    for told in (shown(back).splitlines(), [text for text, _ in render.headline(back, 0)]):
        assert [text for text in told if text.startswith("Away")] == ([line] if line else [])


@pytest.mark.parametrize(
    ("health", "code", "start"),
    [("absent", "no_display", "No windows are seen:"), ("degraded", "partial_view", "Not every window is seen:")],
)
def test_a_sensor_that_does_not_see_is_told_with_what_to_do(health: str, code: str, start: str) -> None:
    blind = evidence(health=health, source="none", error=error(code, "Something."))
    text = shown(state("active", evidence=blind), terminal=Terminal(width=200))
    assert f"{start} Something. `antidrift doctor`" in text


def test_where_the_time_went_is_told_in_bars_that_stand_under_each_other() -> None:
    seen = evidence(("org.gnome.TextEditor", "outline.md", 720), ("firefox", "Search", 240), ("(none)", "", 45))
    lines = shown(state("active", evidence=seen | {"switch_count": 2})).splitlines()
    first = lines.index("Where the time went (switched 2 times)") + 1
    assert lines[first : first + 3] == [
        "  12 min ████████████████████ TextEditor  outline.md",
        "   4 min ███████              firefox  Search",
        "    45 s █                    no window",
    ]


def test_the_time_away_has_its_place_among_the_bars() -> None:
    view = state("review", evidence=evidence(("code", "", 60), ("vlc", "", 30)), away=away(total_secs=45))
    rows = [line.split()[-1] for line in shown(view).splitlines() if "█" in line]
    assert rows == ["code", "away", "vlc"]


def test_many_places_end_in_a_number() -> None:
    view = state("active", evidence=evidence(*((f"app{n}", "", 100 - n) for n in range(20))))
    assert shown(view).count("█ ") <= bars.ROWS
    assert "and 12 more" in shown(view)


@pytest.mark.parametrize("width", [20, 40, 80, 120])
@pytest.mark.parametrize("phase", ["locked", "planning", "active", "review"])
def test_every_line_fits_whatever_the_titles_are(phase: str, width: int) -> None:
    awful = f"{HOSTILE} {'標題' * 40} {'x' * 300} שלום"
    sections: dict[str, Any] = {"ai": ai(available=False, error=error("failed", awful))}
    if phase in ("active", "review"):
        sections["commitment"] = commitment(next_action=awful, success_condition=awful[:-1])
        sections["evidence"] = evidence((awful, awful, 4000), ("", awful, 60), health="degraded", switch_count=1000)
    if phase == "active":
        subject = {"class": awful, "site": awful}
        sections["drift"] = drift(status="drifting", reason=awful, subject=subject, nudge=awful)
    else:
        sections["reflection"] = reflection("ready", awful, awful)
    if phase == "planning":
        items = [{"text": awful, "source": "todo.txt"}] * 3
        sections["tasks"] = {"status": "ready", "items": items, "error": None}
    view = state(phase, **sections)
    lines = render.status(view, 1050, Terminal(width))
    assert all(cells(line) <= width for line in lines)
    text = "\n".join(lines) + "".join(line for line, _ in render.headline(view, 1050))
    assert not set(text) & set("\x1b\x07\x9b\r\u202e\u2066")


@pytest.mark.parametrize(
    ("looking", "text"),
    [
        (reflection("pending"), "The look-back is being written."),
        (reflection("ready", "You wrote it.", "Begin early."), "Looking back: You wrote it.\nTake along: Begin early."),
        (reflection("absent"), "There is no look-back"),
    ],
)
def test_a_review_tells_how_its_look_back_stands(looking: dict[str, Any], text: str) -> None:
    assert text in shown(state("review", reflection=looking))


def test_a_review_without_an_ai_says_nothing_of_a_look_back() -> None:
    assert "look" not in shown(state("review")).lower()


@pytest.mark.parametrize(
    ("outcome", "text"), [("completed", "Completed."), ("expired", "Time ran out."), ("interrupted", "Interrupted.")]
)
def test_a_review_begins_with_the_outcome_and_ends_with_the_way_on(outcome: str, text: str) -> None:
    lines = shown(state("review", outcome=outcome)).splitlines()
    assert (lines[0], lines[-1]) == (text, "`antidrift end` closes it.")


def test_locked_shows_the_takeaway_and_how_to_begin() -> None:
    text = shown(state("locked", reflection=reflection("ready", "r", "Start with the headings")))
    assert "Last time: Start with the headings" in text
    assert '`antidrift start "what you will do"`' in text


def test_planning_shows_the_takeaway_the_tasks_and_what_could_not_be_fetched() -> None:
    items = [{"text": "Answer the bank", "source": "todo.txt"}]
    text = shown(
        state(
            "planning",
            reflection=reflection("ready", "r", "Start early"),
            tasks={"status": "ready", "items": items, "error": None},
            knowledge={"status": "absent", "error": error("not_found", "profile.md does not exist.")},
        )
    )
    assert "Last time: Start early" in text
    assert "* Answer the bank" in text
    assert "Profile: profile.md does not exist." in text


def test_planning_shows_a_proposal_and_how_to_take_it() -> None:
    proposed = {
        "next_action": "Write",
        "success_condition": "Written",
        "timebox_secs": 3000,
        "allowed_window_classes": ["code", "firefox"],
    }
    text = shown(state("planning", coach=coach(status="ready", proposal=proposed)))
    assert "  Write\n  Done when: Written\n  Time: 50 min, in code, firefox\nStart it with `antidrift start`" in text


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (ai(consent="unasked"), "May claude see window titles"),
        (ai(available=False, error=error("unavailable", "No program.")), "AI: No program."),
        (ai(error=error("offline", "No network."), retry_at_ms=0), "AI: No network. It is asked again from"),
    ],
)
def test_the_ai_is_told_of_when_there_is_a_question_or_an_error(program: dict[str, Any], text: str) -> None:
    assert text in shown(state("locked", ai=program))


@pytest.mark.parametrize(
    "program", [ai(), ai(consent="refused"), ai(backend="none", available=False, consent="unasked")]
)
def test_the_ai_is_not_told_of_otherwise(program: dict[str, Any]) -> None:
    assert len(shown(state("locked", ai=program)).splitlines()) == 3


def test_a_disk_that_fails_is_told_in_every_view() -> None:
    broken = {"error": error("disk_full", "The disk is full.")}
    assert "Files: The disk is full." in shown(state("locked", store=broken))
    assert ("Files: The disk is full.", Ink.WARN) in render.headline(state("locked", store=broken), 0)


def test_a_headline_is_one_line_when_all_is_well() -> None:
    assert render.headline(state("active"), 1050) == [("17:30 left of 25 min  Write the outline", Ink.STRONG)]


def test_a_state_of_a_later_version_of_the_contract_is_known_as_such() -> None:
    assert wire.SCHEMA == SCHEMA
    assert State('{"schema":2}', {"schema": 2}).understood is False


@pytest.mark.parametrize(
    ("instance", "seq", "newer"), [("i", 6, True), ("i", 5, False), ("i", 4, False), ("another", 1, True)]
)
def test_a_state_replaces_an_older_one_of_its_process_and_any_of_another(instance: str, seq: int, newer: bool) -> None:
    first = State("", state("locked", seq=5))
    assert first.replaces(None)
    assert State("", state("locked", instance=instance, seq=seq)).replaces(first) is newer


def test_a_client_counts_down_by_its_own_clock_and_only_while_the_time_runs() -> None:
    for running, left in ((True, 0), (False, 1050)):
        view = state("active", commitment=commitment(running=running))
        assert State("", view, received=time.monotonic() - 2000).remaining_secs() == left


# Arguments


@pytest.mark.parametrize(
    ("line", "secs"),
    [
        ("start x", None),
        ("start --minutes 50 x", 3000),
        ("start x --timebox 25m", 1500),
        ("start x --timebox 1h30m", 5400),
        ("start x --timebox 90s", 90),
        ("start x --timebox 45min", 2700),
    ],
)
def test_a_timebox_is_said_in_minutes_or_as_a_time(line: str, secs: int | None) -> None:
    assert arguments_of(line.split()).secs == secs


@pytest.mark.parametrize(
    "line",
    [
        "",
        "nothing",
        "start x --minutes 0",
        "start x --minutes 1441",
        "start x --minutes soon",
        "start x --timebox 25",
        "start x --timebox m",
        "start x --timebox 25h",
        "start x --timebox 0s",
        "start x --timebox 5m --minutes 5",
        "start x --min 5",
        "sharpen",
        "extend",
        "extend 0",
        "extend 99999999999999999999",
        "audit",
        "audit tail -n 0",
        "ai",
        "ai perhaps",
        "ai sent -n 0",
        "completion csh",
    ],
)
def test_what_is_not_understood_ends_with_2_and_a_word_about_usage(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exited:
        arguments_of(line.split())
    assert exited.value.code == 2
    said = capsys.readouterr()
    assert "usage: antidrift" in said.out + said.err


@pytest.mark.parametrize("line", ["extend -5", "extend -- -5"])
def test_a_session_can_be_shortened_with_and_without_dashes(line: str) -> None:
    assert arguments_of(line.split()).minutes == -5


def test_a_number_that_is_none_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        arguments_of(["extend", "soon"])
    assert "'soon' is not a whole number from -1440 to 1440" in capsys.readouterr().err


def test_a_sensor_that_has_not_told_yet_is_not_called_blind() -> None:
    assert "seen" not in shown(state("active", evidence=evidence(health="absent", source="none")))


def test_words_need_no_quotes() -> None:
    assert arguments_of(["start", "write", "the outline", "--minutes", "5"]).text == "write the outline"


def test_bytes_that_are_no_text_become_text() -> None:
    assert arguments_of(["sharpen", "caf\udce9"]).text == "caf\ufffd"


def test_every_command_has_a_help_of_its_own_and_the_exit_status_is_documented() -> None:
    text = make_parser().format_help()
    places = list(completion.places_of(make_parser()))
    assert all(meaning for place in places for meaning in (*place.words.values(), *place.options.values()))
    assert all(word in text for word in places[0].words)
    assert all(f"  {status} " in text for status in (0, 1, 2, 3, 130))


# Completions


def script(shell: str) -> str:
    stdout = io.StringIO()
    completion.run(arguments_of(["completion", shell]), Output(stdout, io.StringIO(), Terminal()))
    return stdout.getvalue()


@pytest.mark.parametrize("shell", SHELLS)
def test_a_completion_knows_every_command_and_option(shell: str) -> None:
    text = script(shell)
    for place in completion.places_of(make_parser()):
        assert all(word in text for word in place.words)
        assert all(option.lstrip("-") in text for option in place.options)


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("st", {"status", "start"}),
        ("audit ", {"verify", "tail", "--help"}),
        ("audit tail -", {"--help", "-n", "--json"}),
        ("start some words --m", {"--minutes"}),
        ("ai ", {"allow", "refuse", "status", "sent", "--help"}),
        ("ai sent -", {"--help", "-n", "--json"}),
        ("end -", {"--help"}),
    ],
)
def test_bash_offers_what_may_follow(line: str, offered: set[str]) -> None:
    words = ["antidrift", *line.split(" ")]
    quoted = " ".join(f"'{word}'" for word in words)
    ask = f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _antidrift; echo ${{COMPREPLY[@]}}"
    program = f"{script('bash')}\n{ask}"
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, timeout=20, check=True)
    assert set(done.stdout.split()) == offered


# What goes wrong on the way to the service


@pytest.mark.parametrize(
    ("failure", "status", "part"),
    [
        (ServiceAbsent(activatable=False), 3, "Start it with `"),
        (ServiceAbsent(activatable=True), 3, "`antidrift plan`"),
        (ServiceSilent(25, 4711), 3, "within 25 seconds: end it with `kill -KILL 4711`"),
        (ServiceSilent(25, None), 3, "within 25 seconds."),
        (NoSessionBus("no bus"), 3, "DBUS_SESSION_BUS_ADDRESS"),
        (NoSessionBus("no bus"), 3, "`dbus-run-session -- sh`"),
        (CallFailed("org.freedesktop.DBus.Error.NoReply", "x"), 3, "ended before it had answered"),
        (CallFailed("org.freedesktop.DBus.Error.Spawn.ChildExited", "x"), 3, "could not be started: run `"),
        (CallFailed("org.antidrift.Error.InvalidArgument", "secs is 0"), 1, "secs is 0"),
        (CallFailed("org.freedesktop.DBus.Error.UnknownMethod", "No such method"), 1, "No such method"),
    ],
)
def test_every_failure_has_a_sentence_and_a_status(failure: Exception, status: int, part: str) -> None:
    sentence, code = failures.explained(failure)
    assert code == status
    assert part in sentence
