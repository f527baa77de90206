"""The state as a person reads it. `View` is the JSON of the service (`dbus/state.schema.json`), already read."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from antidrift.cli import bars
from antidrift.cli.terminal import Ink, Terminal
from antidrift.cli.text import clean, clock, duration, time_left, wrapped

View = dict[str, Any]

TOO_NEW = "The service is newer than this program: `antidrift status --json` shows what it says."

_OUTCOMES = {"completed": "Completed", "expired": "Time ran out", "interrupted": "Interrupted"}
_CAUSES = {
    "idle": "no keyboard or pointer used",
    "lock": "screen locked",
    "sleep": "asleep",
    "unobserved": "the service was not running",
}
_INDENT = "  "
_TOLD_SECS = 60  # a shorter time away is not worth a line of its own


def status(view: View, remaining_secs: float, terminal: Terminal) -> list[str]:
    """The whole state, as lines that fit into the terminal."""
    page = _Page(terminal)
    match view["runtime_state"]:
        case "planning":
            _planning(page, view)
        case "active":
            _active(page, view, remaining_secs)
        case "review":
            _review(page, view)
        case _:
            _locked(page, view)
    _faults(page, view)
    return page.lines


def headline(view: View, remaining_secs: float | None) -> list[tuple[str, Ink]]:
    """The state in one to six lines, not cut, and how each stands out; None: without the time that is left."""
    return list(_headline(view, remaining_secs))


def _headline(view: View, remaining_secs: float | None) -> Iterator[tuple[str, Ink]]:
    commitment = view["commitment"]
    match view["runtime_state"]:
        case "planning":
            yield "Planning", Ink.STRONG
        case "active":
            whole = duration(commitment["timebox_secs"])
            left = whole if remaining_secs is None else f"{clock(remaining_secs)} left of {whole}"
            paused = "" if commitment["running"] else ", paused"
            yield f"{left}{paused}  {clean(commitment['next_action'])}", Ink.STRONG
            if away := _away(view):
                yield away, Ink.FAINT
            if drift := _drift(view):
                yield drift, Ink.BAD if view["drift"]["status"] == "drifting" else Ink.FAINT
            if nudge := clean(view["drift"]["nudge"]):
                yield f"Heads up: {nudge}", Ink.WARN
            if sight := _sight(view):
                yield sight, Ink.WARN
        case "review":
            yield f"{_OUTCOMES[view['outcome']]}: {clean(commitment['next_action'])}", Ink.STRONG
            yield "`antidrift end` closes it.", Ink.FAINT
        case _:
            yield "No session is running.", Ink.STRONG
    if view["store"]["error"] is not None:
        yield f"Files: {_message(view['store']['error'])}", Ink.WARN


class _Page:
    """Lines that wrap at the width of the terminal."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.lines: list[str] = []

    def say(self, text: str, ink: Ink | None = None, indent: str = "") -> None:
        """A paragraph. `indent` is for the lines after its first."""
        for line in wrapped(text, self.terminal.width, indent):
            self.lines.append(line if ink is None else self.terminal.ink(line, ink))

    def gap(self) -> None:
        """A blank line, unless there is one or nothing above."""
        if self.lines and self.lines[-1]:
            self.lines.append("")


def _locked(page: _Page, view: View) -> None:
    page.say("No session is running.", Ink.STRONG)
    reflection = view["reflection"]
    if reflection is not None and reflection["status"] == "pending":
        page.say("The look-back on the last one is being written.")
    _last_time(page, view)
    page.say('Begin with `antidrift start "what you will do"`, or look at today\'s tasks with `antidrift plan`.')


def _last_time(page: _Page, view: View) -> None:
    reflection = view["reflection"]
    if reflection is not None and (takeaway := clean(reflection["carry_forward"])):
        page.say(f"Last time: {takeaway}", indent=_INDENT)


def _planning(page: _Page, view: View) -> None:
    page.say("Planning.", Ink.STRONG)
    _last_time(page, view)
    _tasks(page, view["tasks"])
    if (error := view["knowledge"]["error"]) is not None:
        page.say(f"Profile: {_message(error)}")
    page.gap()
    coach = view["coach"]
    match coach["status"]:
        case "pending":
            page.say("The coach is thinking.")
        case "ready":
            proposal(page, coach["proposal"])
            return
        case "error":
            page.say(f"Coach: {_message(coach['error'])}")
    page.say('Start with `antidrift start "what you will do"`; `antidrift cancel` leaves planning.')


def _tasks(page: _Page, tasks: View) -> None:
    if tasks["status"] == "pending":
        page.say("Today's tasks are still being fetched.")
    if tasks["error"] is not None:
        page.say(f"Tasks: {_message(tasks['error'])}")
    if tasks["items"]:
        page.gap()
        page.say("Today's tasks", Ink.STRONG)
        for task in tasks["items"]:
            page.say(f"{_INDENT}* {clean(task['text'])}", indent=_INDENT * 2)


def proposal(page: _Page, proposed: View) -> None:
    """What the coach proposes, and how to take it."""
    page.say("The coach proposes", Ink.STRONG)
    page.say(f"{_INDENT}{clean(proposed['next_action'])}", indent=_INDENT)
    page.say(f"{_INDENT}Done when: {clean(proposed['success_condition'])}", indent=_INDENT * 2)
    time = f"{_INDENT}Time: {duration(proposed['timebox_secs'])}"
    classes = ", ".join(map(clean, proposed["allowed_window_classes"]))
    page.say(f"{time}, in {classes}" if classes else time, indent=_INDENT * 2)
    page.say("Start it with `antidrift start`; options such as `--minutes 50` change it.")


def proposal_lines(proposed: View, terminal: Terminal) -> list[str]:
    """`proposal` by itself."""
    page = _Page(terminal)
    proposal(page, proposed)
    return page.lines


def _active(page: _Page, view: View, remaining_secs: float) -> None:
    commitment = view["commitment"]
    paused = "" if commitment["running"] else ", paused"
    page.say(time_left(remaining_secs, commitment["timebox_secs"]) + paused, Ink.STRONG)
    _what(page, commitment)
    drift = view["drift"]
    lines = [_away(view), _drift(view), _sight(view)]
    if any(lines) or drift["nudge"]:
        page.gap()
    drifting = drift["status"] == "drifting"
    if lines[0]:
        page.say(lines[0], indent=_INDENT)
    if lines[1]:
        page.say(lines[1], Ink.BAD if drifting else None, _INDENT)
    if drifting:
        page.say("`antidrift refocus`: back to task. `antidrift ontask`: this is on task.")
    if nudge := clean(drift["nudge"]):
        page.say(f"Heads up: {nudge}", Ink.WARN, _INDENT)
    if lines[2]:
        page.say(f"{lines[2]} `antidrift doctor` says what to do.", Ink.WARN, _INDENT)
    if rows := bars.where_the_time_went(view, page.terminal):
        page.gap()
        page.lines += rows


def _what(page: _Page, commitment: View) -> None:
    page.say(clean(commitment["next_action"]))
    page.lines += done_when(commitment, page.terminal)


def done_when(commitment: View, terminal: Terminal) -> list[str]:
    """How the person knows that it is done, unless they said no more than what it is."""
    if commitment["success_condition"] == commitment["next_action"]:
        return []
    return wrapped(f"Done when: {clean(commitment['success_condition'])}", terminal.width, _INDENT)


def _drift(view: View) -> str:
    drift = view["drift"]
    reason, subject = clean(drift["reason"]), drift["subject"]
    about = ", ".join(filter(None, (bars.app_name(subject["class"]), clean(subject["site"])))) if subject else ""
    match drift["status"]:
        case "drifting":
            return "Drifting: " + (f"{reason} ({about})" if reason and about else reason or about or "off task")
        case "ontask":
            return "On task" + (f": {reason}" if reason else ".")
        case "pending":
            return "The window is being judged."
        case _:
            return ""


def _away(view: View) -> str:
    away = view["away"]
    if not away["active"]:
        secs = away["total_secs"]
        return f"Away for {duration(secs)} so far." if secs >= _TOLD_SECS else ""
    since = datetime.fromtimestamp(away["since_ms"] / 1000).astimezone().strftime("%H:%M")
    waits = "; the time waits" if away["paused"] else ""
    return f"Away since {since}: {_CAUSES[away['cause']]}{waits}."


def _sight(view: View) -> str:
    evidence = view["evidence"]
    if evidence["health"] == "ok" or evidence["error"] is None:
        return ""  # without a reason, a sensor has only just been started
    what = "No windows are seen" if evidence["health"] == "absent" else "Not every window is seen"
    return f"{what}: {_message(evidence['error'])}"


def _review(page: _Page, view: View) -> None:
    outcome, commitment, reflection = view["outcome"], view["commitment"], view["reflection"]
    page.say(f"{_OUTCOMES[outcome]}.", Ink.GOOD if outcome == "completed" else Ink.STRONG)
    _what(page, commitment)
    recap, takeaway = clean(reflection["recap"]), clean(reflection["carry_forward"])
    if reflection["status"] != "idle":
        page.gap()
    match reflection["status"]:
        case "pending":
            page.say("The look-back is being written.")
        case "absent":
            page.say("There is no look-back: the AI gave no answer.")
        case "ready" if recap:
            page.say(f"Looking back: {recap}", indent=_INDENT)
    if takeaway:
        page.say(f"Take along: {takeaway}", indent=_INDENT)
    if rows := bars.where_the_time_went(view, page.terminal):
        page.gap()
        page.lines += rows
    page.gap()
    page.say("`antidrift end` closes it.")


def _faults(page: _Page, view: View) -> None:
    ai, store = view["ai"], view["store"]
    lines = []
    if store["error"] is not None:
        lines.append(f"Files: {_message(store['error'])}")
    if ai["error"] is not None:
        lines.append(f"AI: {_message(ai['error'])}{_again(ai['retry_at_ms'])}")
    elif ai["available"] and ai["consent"] == "unasked":
        lines.append(
            f"May {clean(ai['backend'])} see window titles, to tell work from drift? "
            "Answer with `antidrift ai allow` or `antidrift ai refuse`."
        )
    if lines:
        page.gap()
    for line in lines:
        page.say(line, Ink.WARN, _INDENT)


def _again(retry_at_ms: int | None) -> str:
    if retry_at_ms is None:
        return ""
    return f" It is asked again from {datetime.fromtimestamp(retry_at_ms / 1000).astimezone():%H:%M} on."


def _message(error: View) -> str:
    return clean(error["message"])


def ai_line(view: View) -> str:
    """The AI program, whether it can be asked, and what it may see."""
    ai = view["ai"]
    if ai["backend"] == "none" and ai["error"] is None:
        return "No AI is used."
    consent = {
        "given": "It may see window titles.",
        "refused": "It may not see window titles.",
        "unasked": "May it see window titles? Answer with `antidrift ai allow` or `antidrift ai refuse`.",
    }[ai["consent"]]
    if ai["error"] is not None:
        return f"{_message(ai['error'])}{_again(ai['retry_at_ms'])} {consent}"
    return f"The AI program is {clean(ai['backend'])}. {consent}"
