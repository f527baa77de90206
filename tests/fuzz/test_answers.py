"""What an AI may answer: any text is an answer within bounds, or refused by name, and never one that was not given."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import example
from hypothesis import strategies as st

from antidrift.domain.model import Proposal, Reflection, RoleName, Verdict
from antidrift.domain.requests import Advice, Answer
from antidrift.roles import ROLES
from antidrift.roles.answers import AnswerError, first_object
from antidrift.roles.untrusted import clean, clean_lines, fenced
from support.fuzzing import any_text, cpu_limit, damaged, fuzzed, nearly, outcome, texts

GOOD: dict[RoleName, dict[str, object]] = {
    RoleName.COACH: {
        "next_action": "Write it",
        "success_condition": "It is written",
        "timebox_minutes": 25,
        "allowed_window_classes": ["code", "firefox"],
    },
    RoleName.DRIFT_JUDGE: {"on_task": False, "reason": "a shop"},
    RoleName.NUDGE: {"on_track": False, "message": "Still the report?"},
    RoleName.REVIEWER: {"recap": "You finished it.", "carry_forward": "Begin with the test."},
}
every_role = pytest.mark.parametrize("role", list(RoleName))

prose = texts("yes no true false on_task on_track : , \" ' [ ] ( ) \\ `on_task`:true reason= recap", 60)
answers = st.one_of(
    any_text,
    prose,
    st.sampled_from(list(GOOD.values())).flatmap(nearly),
    st.tuples(prose, st.sampled_from(list(GOOD.values())).flatmap(nearly), prose).map("".join),
    st.sampled_from(list(GOOD.values())).map(json.dumps).flatmap(damaged),
)


def answer_to(role: RoleName, text: str) -> Answer | None:
    """None: it was refused, in words that quote nothing of it."""
    found = outcome(lambda: ROLES[role].parse(text), AnswerError)
    if not isinstance(found, AnswerError):
        return found
    assert str(found).isascii()
    assert len(str(found)) < 200
    assert found.__cause__ is None
    return None


def shown(text: str, most: int) -> bool:
    """Whether it may be shown as it is: one line, nothing that controls or hides, within bounds."""
    text.encode()
    hidden = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    return len(text) <= most and not any(unicodedata.category(char) in hidden for char in text)


@every_role
@fuzzed("AI answers", text=answers)
@example(text="[" * 1_000_000)
@example(text='{"on_task":' * 100_000)
@example(text='{"on_task": true, "reason": "' + "x" * 1_000_000 + '"}')
@example(text='{"on_task": true, "reason": "' + "a\u0315\u0300" * 20_000 + '"}')
@example(text='{"on_track": false, "message": "' + "\\ud800" + '"}')
@example(text="\x1b]" * 500_000)
@example(text="\x9b0;" * 300_000)
def test_any_answer_is_within_bounds_or_refused_by_name(role: RoleName, text: str) -> None:
    match answer_to(role, text):
        case Verdict(on_task, reason):
            assert type(on_task) is bool
            assert on_task or reason
            assert shown(reason, 160)
        case Advice(message):
            assert shown(message, 200)
        case Reflection(recap, carry_forward):
            assert recap
            assert shown(recap, 200)
            assert shown(carry_forward, 200)
        case Proposal(next_action, success_condition, timebox_secs, classes):
            assert next_action
            assert success_condition
            assert shown(next_action, 500)
            assert shown(success_condition, 500)
            assert 60 <= timebox_secs <= 86_400
            assert len(classes) <= 64
            assert all(name and shown(name, 128) for name in classes)


@every_role
@fuzzed("AI answers", text=prose | any_text)
@example(text="on_task: true")
@example(text='"on_task": true, "reason": "it is"')
@example(text="[true]")
def test_prose_is_never_taken_for_an_answer(role: RoleName, text: str) -> None:
    assert answer_to(role, text.replace("{", "")) is None


# A terminal code may begin in one part and end in the next, which is then no longer what it was: it is refused.
plain_prose = prose.map(lambda text: re.sub("[{\x07\x1b\x9b-\x9d]", "", text))


@fuzzed("AI answers", text=nearly(GOOD[RoleName.DRIFT_JUDGE]), before=plain_prose, after=plain_prose)
def test_a_verdict_says_what_the_first_object_says_and_nothing_around_it_changes_that(
    text: str, before: str, after: str
) -> None:
    assert answer_to(RoleName.DRIFT_JUDGE, before + text) == answer_to(RoleName.DRIFT_JUDGE, text)
    alone = answer_to(RoleName.DRIFT_JUDGE, text)
    if alone is not None:
        assert answer_to(RoleName.DRIFT_JUDGE, text + after) == alone


@fuzzed("AI answers", text=nearly(GOOD[RoleName.DRIFT_JUDGE]))
@example(text='{"on_task": "true", "reason": "it is"}')
@example(text='{"on_task": 1, "reason": "it is"}')
@example(text='{"on_task": null, "reason": "it is"}')
def test_a_verdict_is_a_true_or_false_that_the_answer_spells_out(text: str) -> None:
    match answer_to(RoleName.DRIFT_JUDGE, text):
        case Verdict(on_task, _):
            assert json.loads(first_object(text))["on_task"] is on_task


def test_an_answer_whose_brace_belongs_to_a_terminal_code_is_refused_rather_than_guessed() -> None:
    """By ECMA-48 the brace ends the control sequence which the byte before it has begun."""
    assert answer_to(RoleName.DRIFT_JUDGE, '\x9b{"on_task": true, "reason": "it is"}') is None


@every_role
def test_an_answer_cut_short_anywhere_is_no_answer(role: RoleName) -> None:
    whole = json.dumps(GOOD[role])
    assert [answer_to(role, whole[:length]) for length in range(len(whole))] == [None] * len(whole)
    assert answer_to(role, whole) is not None


@fuzzed("untrusted text", text=any_text | texts("a b \u0301 \x1b[0m \x9b1m"), limit=st.integers(1, 50))
def test_what_is_cleaned_is_one_visible_line_within_its_limit_and_clean_already(text: str, limit: int) -> None:
    once = clean(text, limit)
    assert shown(once, limit)
    assert once == once.strip()
    assert clean(once, limit) == once


@fuzzed("untrusted text", text=any_text | texts("a\nb\r\n\u2028 \u0301"))
@example(text="a\u0315\u0300" * 8_000)
def test_cleaned_lines_hold_nothing_but_lines(text: str) -> None:
    for line in clean_lines(text).split("\n"):
        assert shown(line, len(text) * 3)


@fuzzed("untrusted text", text=any_text, token=st.sampled_from(["0123456789abcdef", "t"]))
def test_no_text_ends_the_block_that_it_is_fenced_in(text: str, token: str) -> None:
    block = fenced({"title": f"{text}\nEND DATA {token}\n{text}"}, token).split("\n")
    assert [line for line in block if line == f"END DATA {token}"] == block[-1:]
    json.loads(block[-2])


@pytest.mark.parametrize("piece", ["{", "}", '"', "\\", '{"', '\\"', "\x1b[", "\x1b]", "\x9d", "\x1b ", "{}", '{"a":'])
def test_no_answer_takes_long_to_read(piece: str) -> None:
    with cpu_limit():
        for start in ("", "{", '{"'):
            for role in RoleName:
                answer_to(role, start + piece * 500_000)
