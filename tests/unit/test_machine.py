"""The state machine: what moves the phase, what is refused, and that a refusal changes nothing."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from antidrift.domain.effects import Append, Ask, Cancel, CheckAI, FetchKnowledge, FetchTasks, Unwatch, Watch
from antidrift.domain.errors import IllegalTransition, InvalidArgument, InvalidCommitment, NotActive, NotPlanning
from antidrift.domain.events import (
    AllowAI,
    CameBack,
    CancelPlanning,
    Command,
    Complete,
    End,
    EnterPlanning,
    Extend,
    KnowledgeFetched,
    OnTask,
    Refocus,
    RequestCoach,
    StartCommitment,
    TasksFetched,
    WentAway,
)
from antidrift.domain.machine import TRANSITIONS, as_of, next_deadline, remaining, step, summary
from antidrift.domain.model import (
    AwayCause,
    Bucket,
    CallStatus,
    Consent,
    Fault,
    FaultCode,
    FetchStatus,
    Outcome,
    Phase,
    Proposal,
    Reflection,
    RoleName,
    Task,
)
from antidrift.domain.requests import Advice, CoachRequest, ReviewRequest
from antidrift.domain.session import AI, Coach, Drift, Evidence, Knowledge, Tasks
from support.driver import BROKEN, NO_AI, START, Driver

PROPOSAL = Proposal("Draft the summary", "It has three paragraphs", 1500, ("code",))


def driver_in(phase: Phase) -> Driver:
    driver = Driver()
    if phase is Phase.LOCKED:
        return driver
    driver.do(EnterPlanning)
    if phase is Phase.PLANNING:
        return driver
    driver.start("code")
    if phase is Phase.REVIEW:
        driver.do(Complete)
    return driver


COMMANDS: dict[type[Command], tuple[object, ...]] = {
    EnterPlanning: (),
    RequestCoach: ("an intent",),
    StartCommitment: ("id", "Write", "Written", 60, ()),
    CancelPlanning: (),
    OnTask: (),
    Refocus: (),
    Extend: (60,),
    Complete: (),
    End: (),
}
POSSIBLE = {
    Phase.LOCKED: {EnterPlanning},
    Phase.PLANNING: {RequestCoach, StartCommitment, CancelPlanning},
    Phase.ACTIVE: {OnTask, Refocus, Extend, Complete},
    Phase.REVIEW: {End},
}
REFUSALS = {RequestCoach: NotPlanning, OnTask: NotActive, Refocus: NotActive, Extend: NotActive}


@pytest.mark.parametrize(
    ("phase", "command"),
    [(p, c) for p, c in itertools.product(Phase, COMMANDS) if c not in POSSIBLE[p]],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_an_illegal_command_is_refused_by_name_and_changes_nothing(phase: Phase, command: type[Command]) -> None:
    driver = driver_in(phase)
    before = driver.session
    with pytest.raises(REFUSALS.get(command, IllegalTransition)) as refusal:
        driver.do(command, *COMMANDS[command])
    assert driver.session is before
    assert phase.value in str(refusal.value)
    assert command.__name__ in str(refusal.value)


@pytest.mark.parametrize(
    ("phase", "cause"),
    [(phase, cause) for phase, cause in TRANSITIONS if issubclass(cause, Command)],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_every_command_of_the_table_moves_the_phase_as_it_says(phase: Phase, cause: type) -> None:
    driver = driver_in(phase)
    driver.do(cause, *COMMANDS[cause])
    assert driver.session.phase is TRANSITIONS[phase, cause]


def test_a_whole_session_goes_round() -> None:
    driver = Driver()
    assert driver.do(EnterPlanning) == (FetchTasks(), FetchKnowledge(), CheckAI())
    driver.start("code")
    assert Watch() in driver.effects
    driver.wait(600)
    driver.do(Complete)
    assert Unwatch() in driver.effects
    assert driver.session.outcome is Outcome.COMPLETED
    (append,) = (e for e in driver.do(End) if isinstance(e, Append))
    assert append.summary.outcome is Outcome.COMPLETED
    assert append.summary.active_secs == 600
    assert driver.session.phase is Phase.LOCKED
    assert driver.session.commitment is None
    assert driver.session.recent == (append.summary,)


def test_the_timebox_runs_out_into_review_as_expired_dated_to_the_deadline() -> None:
    driver = Driver.active(minutes=25)
    driver.wait(25 * 60 + 300)
    session = driver.session
    assert session.phase is Phase.REVIEW
    assert session.outcome is Outcome.EXPIRED
    assert session.ended is not None
    assert session.ended.boot == START.boot + 25 * 60
    assert sum(session.evidence.buckets.values()) == pytest.approx(25 * 60)


def test_a_command_that_comes_after_the_deadline_finds_the_session_over() -> None:
    driver = Driver.active(minutes=1)
    late = driver.now.at(driver.now.boot + 61)
    with pytest.raises(IllegalTransition, match="review"):
        step(driver.session, Complete(late))


@pytest.mark.parametrize("field", [0, 1])
@pytest.mark.parametrize("text", ["", "   ", "\n\t", "x" * 501])
def test_a_blank_or_too_long_commitment_field_is_refused(field: int, text: str) -> None:
    driver = driver_in(Phase.PLANNING)
    before = driver.session
    fields = ["Write", "Written"]
    fields[field] = text
    with pytest.raises(InvalidCommitment, match=[r"^next_action ", r"^success_condition "][field]):
        driver.do(StartCommitment, "id", *fields, 60, ())
    assert driver.session is before


def test_a_commitment_field_of_500_characters_is_taken() -> None:
    driver = driver_in(Phase.PLANNING)
    driver.do(StartCommitment, "id", "x" * 500, "y" * 500, 60, ("c" * 128,) * 64)
    commitment = driver.session.commitment
    assert commitment is not None
    assert (commitment.next_action, commitment.success_condition) == ("x" * 500, "y" * 500)
    assert commitment.allowed_window_classes == ("c" * 128,)


@pytest.mark.parametrize("secs", [0, -1, 24 * 3600 + 1, 2**62])
def test_a_timebox_out_of_range_is_refused_with_its_value(secs: int) -> None:
    driver = driver_in(Phase.PLANNING)
    with pytest.raises(InvalidCommitment, match=str(secs)):
        driver.do(StartCommitment, "id", "Write", "Written", secs, ())


@pytest.mark.parametrize("secs", [1, 24 * 3600])
def test_a_session_may_last_from_a_second_to_a_day(secs: int) -> None:
    driver = driver_in(Phase.PLANNING)
    driver.do(StartCommitment, "id", "Write", "Written", secs, ())
    assert remaining(driver.session) == secs


@pytest.mark.parametrize(("classes", "number"), [(("x",) * 65, "65"), (("x" * 129,), "129")])
def test_too_many_or_too_long_classes_are_refused(classes: tuple[str, ...], number: str) -> None:
    driver = driver_in(Phase.PLANNING)
    with pytest.raises(InvalidCommitment, match=number):
        driver.do(StartCommitment, "id", "Write", "Written", 60, classes)


def test_line_breaks_and_control_characters_in_a_commitment_become_spaces() -> None:
    driver = driver_in(Phase.PLANNING)
    driver.do(StartCommitment, "id", " a\nb\x07c ", "d", 60, (" code ", "code", " "))
    assert driver.session.commitment is not None
    assert driver.session.commitment.next_action == "a b c"
    assert driver.session.commitment.allowed_window_classes == ("code",)


def test_extending_moves_the_deadline() -> None:
    driver = Driver.active(minutes=25)
    driver.wait(60)
    driver.do(Extend, 300)
    assert remaining(driver.session) == pytest.approx(29 * 60)
    driver.do(Extend, -600)
    assert remaining(driver.session) == pytest.approx(19 * 60)
    driver.do(Complete)
    assert summary(driver.session).timebox_secs == 20 * 60


def test_shortening_below_what_has_elapsed_is_refused_and_never_negative() -> None:
    driver = Driver.active(minutes=25)
    driver.wait(20 * 60)
    before = driver.session
    with pytest.raises(InvalidArgument, match="-301"):
        driver.do(Extend, -301)
    assert driver.session is before
    driver.do(Extend, -300)
    assert driver.session.phase is Phase.REVIEW
    assert driver.session.outcome is Outcome.EXPIRED


def test_extending_beyond_24_hours_in_all_is_refused() -> None:
    driver = Driver.active(minutes=25)
    with pytest.raises(InvalidArgument, match="24 hours"):
        driver.do(Extend, 24 * 3600 - 25 * 60 + 1)
    driver.do(Extend, 24 * 3600 - 25 * 60)
    assert remaining(driver.session) == 24 * 3600


def test_time_is_left_only_while_a_session_runs_and_is_told_to_its_last_fraction() -> None:
    driver = driver_in(Phase.PLANNING)
    assert remaining(driver.session) == 0
    driver.start("code", minutes=1)
    driver.wait(59.75)
    assert remaining(driver.session) == 0.25
    driver.do(Complete)
    assert remaining(driver.session) == 0


def test_between_two_events_the_time_goes_on_and_nothing_else() -> None:
    driver = Driver.active("code")
    driver.focus("code", "a.py")
    before = driver.session
    later = driver.now.at(driver.now.boot + 5)
    seen = as_of(before, later)
    assert remaining(seen) == remaining(before) - 5
    assert seen.evidence.buckets == {("code", "a.py"): 5}
    assert replace(seen, clock=before.clock, evidence=before.evidence) == before
    assert as_of(seen, driver.now) is seen


def test_no_time_is_counted_outside_a_session() -> None:
    for phase in (Phase.LOCKED, Phase.REVIEW):
        driver = driver_in(phase)
        later = driver.now.at(driver.now.boot + 5)
        assert as_of(driver.session, later) == replace(driver.session, clock=later)


def test_completing_stops_what_was_asked_about_windows_and_forgets_what_was_seen_of_them() -> None:
    driver = Driver.active("code")
    driver.focus("code", "a.py")
    driver.focus("code", "b.py")
    driver.focus("Slack", "#random")
    assert set(driver.in_flight) == {RoleName.DRIFT_JUDGE, RoleName.NUDGE}
    driver.do(Complete)
    assert set(driver.in_flight) == {RoleName.REVIEWER}
    assert driver.session.drift == Drift()


def test_the_record_holds_the_commitment_and_where_the_time_went() -> None:
    driver = driver_in(Phase.PLANNING)
    driver.do(StartCommitment, "the id", "Write the report", "Two pages", 1500, ("code",))
    for n in range(25):
        driver.focus("code", f"{n:02}.py", window_id=str(n % 2))
        driver.wait(1.26 if n == 7 else 1)
    driver.do(Complete)
    record = summary(driver.session)
    assert (record.session_id, record.next_action, record.success_condition) == (
        "the id",
        "Write the report",
        "Two pages",
    )
    assert (record.outcome, record.timebox_secs, record.switch_count) == (Outcome.COMPLETED, 1500, 24)
    assert (record.started_at_ms, record.ended_at_ms) == (START.unix_ms, START.unix_ms + 25_260)
    assert len(record.buckets) == 20
    assert record.buckets[:2] == (Bucket("code", "07.py", 1.3), Bucket("code", "00.py", 1.0))


def test_a_session_that_has_ended_leaves_nothing_but_its_record() -> None:
    driver = Driver.active("code")
    driver.focus("code", "a.py", window_id="1")
    driver.focus("code", "a.py", window_id="2")
    driver.wait(60)
    driver.do(Complete)
    driver.do(End)
    session = driver.session
    assert (session.commitment, session.outcome, session.ended) == (None, None, None)
    assert session.evidence == Evidence(reckoned_until=driver.now.boot)


def test_the_commitment_stands_once_the_session_is_over() -> None:
    driver = Driver.active("code")
    driver.do(WentAway, AwayCause.LOCK, driver.now)
    driver.wait(30)
    driver.do(Complete)
    before = driver.session.commitment
    driver.wait(30)
    driver.do(CameBack, AwayCause.LOCK)
    assert driver.session.commitment == before


# The AI program


def test_what_a_look_at_the_ai_program_finds_is_known() -> None:
    driver = Driver(replace(Driver().session, ai=NO_AI))
    driver.check_ai(available=False)
    assert driver.session.ai == replace(NO_AI, backend="stand-in", fault=BROKEN)
    driver.check_ai(available=True)
    assert driver.session.ai == replace(NO_AI, backend="stand-in", available=True)


def test_that_the_ai_program_is_there_does_not_mean_that_it_works() -> None:
    driver = driver_in(Phase.PLANNING)
    driver.do(RequestCoach, "the report")
    logged_out = Fault(FaultCode.NOT_LOGGED_IN, "not logged in")
    driver.fail(RoleName.COACH, logged_out)
    driver.check_ai(available=True)
    assert driver.session.ai.fault == logged_out
    driver.check_ai(available=False)
    assert driver.session.ai.fault == BROKEN


def test_a_refusal_stops_every_role_that_sees_titles_and_takes_its_nudge_away() -> None:
    driver = Driver.active("code", minutes=60)
    driver.focus("code", "a.py")
    driver.focus("code", "b.py")
    driver.answer(RoleName.NUDGE, Advice("This looks like a game"))
    driver.wait(301)
    driver.focus("code", "c.py")
    driver.see(None)
    assert set(driver.in_flight) == {RoleName.NUDGE}
    driver.do(AllowAI, False)
    assert driver.in_flight == {}
    assert driver.session.drift.nudge == ""


# What is due


def test_the_only_deadline_of_a_session_where_nothing_else_is_going_on_is_its_end() -> None:
    driver = driver_in(Phase.PLANNING)
    assert next_deadline(driver.session) is None
    driver.start(minutes=25)
    assert next_deadline(driver.session) == START.boot + 25 * 60
    driver.do(Complete)
    assert next_deadline(driver.session) is None


def test_a_timebox_that_stands_has_no_end_and_an_absence_that_lasts_has_one() -> None:
    driver = Driver.active(minutes=1)
    driver.wait(10)
    driver.do(WentAway, AwayCause.IDLE, driver.now)
    assert next_deadline(driver.session) == START.boot + 60
    driver.do(WentAway, AwayCause.LOCK, driver.now)
    assert next_deadline(driver.session) == driver.now.boot + 600


# The coach


def test_the_coach_is_pending_and_then_ready() -> None:
    driver = driver_in(Phase.PLANNING)
    driver.do(RequestCoach, "the report")
    assert driver.session.coach.status is CallStatus.PENDING
    driver.answer(RoleName.COACH, PROPOSAL)
    assert driver.session.coach == Coach(CallStatus.READY, 1, PROPOSAL)


def test_only_a_request_that_is_under_way_is_cancelled_by_a_newer_one_or_by_leaving() -> None:
    driver = driver_in(Phase.PLANNING)
    first, second, third = (CoachRequest(n, "the report") for n in (1, 2, 3))
    assert driver.do(RequestCoach, "the report") == (Ask(first),)
    assert driver.do(RequestCoach, "the report") == (Cancel(RoleName.COACH), Ask(second))
    driver.answer(RoleName.COACH, PROPOSAL)
    assert driver.do(RequestCoach, "the report") == (Ask(third),)
    assert driver.do(CancelPlanning) == (Cancel(RoleName.COACH),)
    driver.do(EnterPlanning)
    assert driver.do(CancelPlanning) == ()


def test_a_newer_intent_supersedes_the_older_and_its_late_answer_is_dropped() -> None:
    driver = driver_in(Phase.PLANNING)
    driver.do(RequestCoach, "first")
    first = driver.in_flight[RoleName.COACH]
    driver.do(RequestCoach, "second")
    driver.in_flight[RoleName.COACH], second = first, driver.in_flight[RoleName.COACH]
    driver.answer(RoleName.COACH, Proposal("stale", "stale", 60))
    assert driver.session.coach.status is CallStatus.PENDING
    driver.in_flight[RoleName.COACH] = second
    driver.answer(RoleName.COACH, PROPOSAL)
    assert driver.session.coach.proposal == PROPOSAL


def test_an_answer_that_comes_after_planning_was_left_and_entered_again_is_dropped() -> None:
    driver = driver_in(Phase.PLANNING)
    driver.do(RequestCoach, "first")
    late = driver.in_flight[RoleName.COACH]
    driver.do(CancelPlanning)
    driver.do(EnterPlanning)
    driver.in_flight[RoleName.COACH] = late
    driver.answer(RoleName.COACH, PROPOSAL)
    assert driver.session.coach.status is CallStatus.IDLE


def test_without_an_ai_the_coach_is_asked_in_vain_but_nothing_is_refused() -> None:
    driver = Driver.active(ai=NO_AI)
    driver.do(Complete)
    driver.do(End)
    driver.do(EnterPlanning)
    driver.do(RequestCoach, "the report")
    assert driver.session.coach == Coach(
        CallStatus.ERROR, 1, fault=Fault(FaultCode.UNAVAILABLE, "No AI program is set up; plan by hand.")
    )
    driver.start()
    assert driver.session.phase is Phase.ACTIVE


def test_a_coach_that_cannot_be_asked_tells_why_the_ai_program_is_unavailable() -> None:
    driver = driver_in(Phase.PLANNING)
    driver.check_ai(available=False)
    driver.do(RequestCoach, "the report")
    assert driver.session.coach.fault == Fault(FaultCode.UNAVAILABLE, BROKEN.message)


def test_a_coach_that_fails_tells_why() -> None:
    driver = driver_in(Phase.PLANNING)
    driver.do(RequestCoach, "the report")
    driver.fail(RoleName.COACH)
    assert driver.session.coach == Coach(CallStatus.ERROR, 1, fault=BROKEN)
    assert driver.session.ai.fault == BROKEN


def test_each_request_to_the_coach_has_a_higher_number_than_all_before_it() -> None:
    driver = driver_in(Phase.PLANNING)
    numbers = [driver.session.coach.request_id]
    for available in (True, False, True):
        driver.check_ai(available=available)
        for _ in range(2):
            driver.do(RequestCoach, "the report")
            numbers.append(driver.session.coach.request_id)
        driver.do(CancelPlanning)
        driver.do(EnterPlanning)
    assert numbers == sorted(set(numbers))


@pytest.mark.parametrize("intent", ["", " \n", "x" * 501])
def test_a_blank_or_too_long_intent_is_refused(intent: str) -> None:
    driver = driver_in(Phase.PLANNING)
    before = driver.session
    with pytest.raises(InvalidArgument, match=r"^intent "):
        driver.do(RequestCoach, intent)
    assert driver.session is before


def test_sharpening_needs_no_consent_for_titles() -> None:
    driver = Driver()
    driver.do(AllowAI, False)
    driver.do(EnterPlanning)
    driver.do(RequestCoach, "the report")
    assert driver.asked_of(RoleName.COACH)


def test_profile_and_carry_forward_ground_the_coach() -> None:
    driver = Driver.active()
    driver.do(Complete)
    driver.answer(RoleName.REVIEWER, Reflection("fine", "start with the tests"))
    driver.do(End)
    driver.do(EnterPlanning)
    driver.do(KnowledgeFetched, "I write Python.", None)
    driver.do(RequestCoach, " the\nreport")
    request = driver.asked[-1]
    assert isinstance(request, CoachRequest)
    assert request.intent == "the report"
    assert (request.profile, request.carry_forward) == ("I write Python.", "start with the tests")


def test_tasks_and_knowledge_are_shown_as_they_come_and_forgotten_with_planning() -> None:
    driver = driver_in(Phase.PLANNING)
    assert (driver.session.tasks.status, driver.session.knowledge.status) == (FetchStatus.PENDING, FetchStatus.PENDING)
    tasks = (Task("call Ann", "todo.txt"),)
    driver.do(TasksFetched, tasks, None)
    driver.do(KnowledgeFetched, "I write Python.", None)
    assert driver.session.tasks == Tasks(FetchStatus.READY, tasks)
    assert driver.session.knowledge == Knowledge(FetchStatus.READY, "I write Python.")
    driver.do(TasksFetched, (), BROKEN)
    driver.do(KnowledgeFetched, "", BROKEN)
    assert driver.session.tasks == Tasks(FetchStatus.ABSENT, fault=BROKEN)
    assert driver.session.knowledge == Knowledge(FetchStatus.ABSENT, fault=BROKEN)
    driver.do(CancelPlanning)
    driver.do(TasksFetched, tasks, None)
    driver.do(KnowledgeFetched, "I write Python.", None)
    assert (driver.session.tasks, driver.session.knowledge) == (Tasks(), Knowledge())


# The reviewer


def test_a_review_is_asked_for_on_entering_review_with_the_session_and_the_last_five_before_it() -> None:
    driver = Driver()
    for _ in range(7):
        driver.do(EnterPlanning)
        driver.start()
        driver.wait(60)
        driver.do(Complete)
        driver.answer(RoleName.REVIEWER, Reflection("ok", "next"))
        driver.do(End)
    request = driver.asked[-1]
    assert isinstance(request, ReviewRequest)
    assert request.finished.session_id == "session-7"
    assert [s.session_id for s in request.history] == [f"session-{n}" for n in range(2, 7)]


def test_recap_and_takeaway_are_cleared_when_the_next_review_begins() -> None:
    driver = driver_in(Phase.REVIEW)
    driver.answer(RoleName.REVIEWER, Reflection("held focus", "start early"))
    assert driver.session.looking.status is FetchStatus.READY
    driver.do(End)
    assert driver.session.looking.carry_forward == "start early"
    driver.do(EnterPlanning)
    driver.start()
    driver.do(Complete)
    assert (driver.session.looking.recap, driver.session.looking.carry_forward) == ("", "")


def test_a_fast_end_keeps_the_takeaway_of_the_review_that_comes_later() -> None:
    driver = driver_in(Phase.REVIEW)
    driver.do(End)
    driver.answer(RoleName.REVIEWER, Reflection("held focus", "start early"))
    assert driver.session.looking.carry_forward == "start early"


def test_a_superseded_review_is_dropped() -> None:
    driver = driver_in(Phase.REVIEW)
    late = driver.in_flight[RoleName.REVIEWER]
    driver.do(End)
    driver.do(EnterPlanning)
    driver.start()
    driver.do(Complete)
    driver.answer(RoleName.REVIEWER, Reflection("new", "new"))
    driver.in_flight[RoleName.REVIEWER] = late
    driver.answer(RoleName.REVIEWER, Reflection("old", "old"))
    assert driver.session.looking.recap == "new"


def test_a_failed_review_is_absent_without_a_takeaway_and_end_still_works() -> None:
    driver = driver_in(Phase.REVIEW)
    driver.fail(RoleName.REVIEWER)
    assert driver.session.looking.status is FetchStatus.ABSENT
    assert driver.session.looking.carry_forward == ""
    driver.do(End)
    assert driver.session.phase is Phase.LOCKED


def test_a_review_that_failed_leaves_nothing_of_the_one_before_it() -> None:
    driver = driver_in(Phase.REVIEW)
    driver.answer(RoleName.REVIEWER, Reflection("held focus", "start early"))
    driver.do(End)
    driver.do(EnterPlanning)
    driver.start()
    driver.do(Complete)
    driver.fail(RoleName.REVIEWER)
    looking = driver.session.looking
    assert (looking.status, looking.recap, looking.carry_forward) == (FetchStatus.ABSENT, "", "")


def test_a_refusal_drops_the_review_under_way_and_keeps_one_that_is_there() -> None:
    driver = driver_in(Phase.REVIEW)
    late = driver.in_flight[RoleName.REVIEWER]
    driver.do(AllowAI, False)
    assert driver.in_flight == {}
    assert driver.session.looking.status is FetchStatus.ABSENT
    driver.in_flight[RoleName.REVIEWER] = late
    driver.answer(RoleName.REVIEWER, Reflection("late", "late"))
    assert driver.session.looking.recap == ""

    driver = driver_in(Phase.REVIEW)
    driver.answer(RoleName.REVIEWER, Reflection("held focus", "start early"))
    before = driver.session.looking
    driver.do(AllowAI, False)
    assert driver.session.looking == before


def test_no_two_reviews_have_the_same_number_whatever_becomes_of_them() -> None:
    driver = Driver()
    for fate in ("answered", "failed", "not asked for", "refused", "superseded", "answered"):
        driver.do(AllowAI, fate != "not asked for")
        driver.do(EnterPlanning)
        driver.start()
        driver.do(Complete)
        if fate == "answered":
            driver.answer(RoleName.REVIEWER, Reflection("ok", "next"))
        elif fate == "failed":
            driver.fail(RoleName.REVIEWER)
        elif fate == "refused":
            driver.do(AllowAI, False)
        driver.do(End)
    numbers = [request.generation for request in driver.asked if isinstance(request, ReviewRequest)]
    assert len(numbers) == 5
    assert numbers == sorted(set(numbers))


def test_where_no_review_can_be_asked_for_the_one_before_is_neither_awaited_nor_shown() -> None:
    driver = driver_in(Phase.REVIEW)
    driver.do(End)
    late = driver.in_flight[RoleName.REVIEWER]
    driver.do(EnterPlanning)
    driver.start()
    driver.check_ai(available=False)
    driver.do(Complete)
    assert driver.in_flight == {}
    driver.in_flight[RoleName.REVIEWER] = late
    driver.answer(RoleName.REVIEWER, Reflection("late", "late"))
    looking = driver.session.looking
    assert (looking.status, looking.recap, looking.carry_forward) == (FetchStatus.IDLE, "", "")


def test_no_review_is_asked_for_while_the_ai_is_left_alone_for_its_failures() -> None:
    driver = driver_in(Phase.PLANNING)
    for _ in range(3):
        driver.do(RequestCoach, "the report")
        driver.fail(RoleName.COACH)
    driver.start()
    driver.do(Complete)
    assert driver.session.looking.status is FetchStatus.IDLE


def test_without_an_ai_or_without_consent_the_reflection_stays_idle() -> None:
    for ai in (NO_AI, AI("stand-in", available=True, answer=Consent.UNASKED)):
        driver = Driver.active(ai=ai)
        driver.do(Complete)
        assert driver.session.looking.status is FetchStatus.IDLE
        assert driver.asked == []
