"""States that front ends are tested on, in Python and in JavaScript: tests/fixtures/state/NAME.json.

Each is what the service would send in a session that is told here, event by event. After a change of the state:

    PYTHONPATH=service:tests python -m support.example_states
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from antidrift import wire
from antidrift.domain.events import (
    AIChecked,
    AllowAI,
    Complete,
    End,
    EnterPlanning,
    Extend,
    KnowledgeFetched,
    OnTask,
    RequestCoach,
    SensorChanged,
    StartCommitment,
    TasksFetched,
    WentAway,
)
from antidrift.domain.model import (
    AwayCause,
    Consent,
    Fault,
    FaultCode,
    Health,
    Proposal,
    Reflection,
    RoleName,
    Source,
    Task,
    Verdict,
    Window,
)
from antidrift.domain.requests import Advice
from antidrift.domain.session import AI, Session
from support.driver import START, Driver

FIXTURES = Path(__file__).parents[1] / "fixtures" / "state"

CLAUDE = AI("claude", available=True, answer=Consent.GIVEN)
EDITOR = "org.gnome.TextEditor"
FIREFOX = "org.mozilla.firefox"
FULL = Fault(FaultCode.DISK_FULL, "The disk is full.")


def untouched() -> Driver:
    """Right after the first start: nobody was asked anything yet."""
    return Driver(Session(START, ai=AI("claude", available=True)))


def locked() -> Driver:
    """After a session; its takeaway shows."""
    driver = review()
    driver.do(End)
    return driver


def planning() -> Driver:
    """The coach has answered, and there are tasks to pick."""
    driver = locked()
    driver.do(EnterPlanning)
    driver.do(TasksFetched, (Task("Answer the letter", "todo.txt"), Task("Water the <b>plants</b>", "todo.txt")), None)
    driver.do(KnowledgeFetched, "I write best before noon.", None)
    driver.do(RequestCoach, "get on with the report")
    driver.answer(
        RoleName.COACH,
        Proposal("Draft section two", "Section two has three paragraphs", 30 * 60, (EDITOR, FIREFOX)),
    )
    return driver


def active() -> Driver:
    """On task, with a nudge."""
    driver = started()
    driver.wait(240)
    driver.focus(EDITOR, "shopping list.txt")
    driver.wait(60)
    driver.answer(RoleName.NUDGE, Advice("You may be polishing a list instead of the report."))
    return driver


def drifting() -> Driver:
    """On a site that is no work, for long enough to be interrupted."""
    driver = started()
    driver.wait(300)
    driver.see(Window(FIREFOX, "Sources - Wikipedia — Mozilla Firefox"), Source.SHELL)
    driver.answer(RoleName.DRIFT_JUDGE, Verdict(False, "Not in the plan."))
    driver.do(OnTask)
    driver.wait(90)
    driver.see(Window(FIREFOX, "Funny <i>cats</i> & dogs - YouTube — Mozilla Firefox"), Source.SHELL)
    driver.wait(1)
    driver.answer(RoleName.DRIFT_JUDGE, Verdict(False, "Videos of animals do not finish the report."))
    driver.wait(9)
    return driver


def away() -> Driver:
    """The screen is locked: the timebox waits."""
    driver = started()
    driver.wait(300)
    driver.do(WentAway, AwayCause.LOCK, driver.now)
    driver.wait(120)
    return driver


def review() -> Driver:
    """Done before the time was up; the look-back is there."""
    driver = drifting()
    driver.do(Extend, 300)
    driver.do(Complete)
    driver.answer(RoleName.REVIEWER, Reflection("You wrote for five minutes.", "Close the browser before you begin."))
    return driver


def review_pending() -> Driver:
    """Expired; the look-back is being written."""
    driver = started()
    driver.wait(1500)
    return driver


def degraded_planning() -> Driver:
    """Nothing that helps to plan works."""
    driver = untouched()
    driver.do(AllowAI, False)
    driver.do(EnterPlanning)
    missing = Fault(FaultCode.UNAVAILABLE, "The program claude was not found.")
    driver.do(AIChecked, "claude", False, missing)
    driver.do(TasksFetched, (), Fault(FaultCode.PROGRAM_FAILED, "Taskwarrior failed."))
    driver.do(KnowledgeFetched, "", Fault(FaultCode.UNREADABLE, "The profile is not UTF-8 text."))
    driver.do(RequestCoach, "get on with the report")
    return driver


def degraded_active() -> Driver:
    """No window can be seen, no AI can be asked, nothing can be written."""
    driver = started()
    for page in ("one", "two", "three"):
        driver.focus("firefox", page)
        driver.wait(30)
        driver.fail(RoleName.DRIFT_JUDGE, Fault(FaultCode.OFFLINE, "The AI program has no connection."))
    driver.do(SensorChanged, Health.ABSENT, Fault(FaultCode.DISPLAY_LOST, "The X server cannot be reached."))
    return driver


def degraded_review() -> Driver:
    """No look-back, and the session was seen in part only."""
    driver = started()
    driver.do(SensorChanged, Health.DEGRADED, Fault(FaultCode.PARTIAL_VIEW, "Only X11 windows are seen."))
    driver.wait(1500)
    driver.fail(RoleName.REVIEWER, Fault(FaultCode.NOT_LOGGED_IN, "The program claude is not logged in."))
    return driver


def started() -> Driver:
    """A session of 25 minutes in the editor, seen by X11."""
    driver = Driver(Session(START, ai=CLAUDE))
    driver.do(EnterPlanning)
    driver.do(StartCommitment, "session-1", "Draft section two", "It has three paragraphs", 1500, (EDITOR,))
    driver.do(SensorChanged, Health.OK, None)
    driver.focus(EDITOR, "report.txt", window_id="1")
    return driver


EXAMPLES: Mapping[str, tuple[Callable[[], Driver], Fault | None]] = {
    "untouched": (untouched, None),
    "locked": (locked, None),
    "planning": (planning, None),
    "active": (active, None),
    "drifting": (drifting, None),
    "away": (away, None),
    "review": (review, None),
    "review-pending": (review_pending, None),
    "degraded-planning": (degraded_planning, FULL),
    "degraded-active": (degraded_active, FULL),
    "degraded-review": (degraded_review, FULL),
}
"""By name: how the session went, and why the last write failed, if it did."""


def example(name: str) -> wire.StateView:
    """The state in the file of that name."""
    tell, store_fault = EXAMPLES[name]
    driver = tell()
    seq = len(driver.effects)  # any number that grows
    return wire.view_of(driver.session, instance="0" * 31 + "1", seq=seq, store_fault=store_fault)


def text(name: str) -> str:
    """The bytes of that file, as text: what the service sends, with line breaks."""
    return json.dumps(json.loads(wire.state_json(example(name))), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FIXTURES.mkdir(parents=True, exist_ok=True)
    for name in EXAMPLES:
        (FIXTURES / f"{name}.json").write_text(text(name))
