"""Answers are read tolerantly, taken strictly, and nothing an AI writes can raise anything but AnswerError."""

from __future__ import annotations

import contextlib
import json
import time
import unicodedata

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from antidrift.domain.model import Fault, FaultCode, Proposal, Reflection, RoleName, Verdict
from antidrift.domain.requests import Advice
from antidrift.roles import ROLES, coach, drift_judge, nudge, reviewer
from antidrift.roles.answers import LOOKED_AT, AnswerError, EmptyResponse, InvalidAnswer, NoJSON, first_object
from antidrift.roles.coach import InvalidProposal
from antidrift.roles.drift_judge import InvalidVerdict
from antidrift.roles.nudge import InvalidNudge
from antidrift.roles.reviewer import InvalidReflection

# The machine may be busy: no example is too slow, and the tests as a whole stay within a few seconds.
unhurried = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])

any_text = st.text(st.characters(exclude_categories=()))  # lone surrogates and controls included
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
    max_leaves=10,
)
GOOD: dict[RoleName, dict[str, object]] = {
    RoleName.COACH: {"next_action": "Write it", "success_condition": "It is written", "timebox_minutes": 25},
    RoleName.DRIFT_JUDGE: {"on_task": False, "reason": "a shop"},
    RoleName.NUDGE: {"on_track": False, "message": "Still the report?"},
    RoleName.REVIEWER: {"recap": "You finished it.", "carry_forward": "Begin with the test."},
}
INVALID: dict[RoleName, type[InvalidAnswer]] = {
    RoleName.COACH: InvalidProposal,
    RoleName.DRIFT_JUDGE: InvalidVerdict,
    RoleName.NUDGE: InvalidNudge,
    RoleName.REVIEWER: InvalidReflection,
}
every_role = pytest.mark.parametrize("role", list(RoleName))


def proposal(**changed: object) -> str:
    """The good proposal with some fields changed; None takes a field out."""
    fields = GOOD[RoleName.COACH] | changed
    return json.dumps({name: value for name, value in fields.items() if value is not None})


# --- finding the object


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', '{"a": 1}'),
        ('Sure! Here it is: {"a": 1} Good luck.', '{"a": 1}'),
        ('```json\n{"a": 1}\n```', '{"a": 1}'),
        ('{"a": {"b": {}}} and more', '{"a": {"b": {}}}'),
        ('{"a": 1} {"b": 2}', '{"a": 1}'),
        ('} {"a": 1}', '{"a": 1}'),
        ('{"a": "}"}', '{"a": "}"}'),
        ('{"a": "{{{"}', '{"a": "{{{"}'),
        (r'{"a": "\"}"}', r'{"a": "\"}"}'),
        (r'{"a": "\\"} }', r'{"a": "\\"}'),
        ('\x1b[1m{\x1b[0m"a": 1}', '{"a": 1}'),
        ('{"a":\n"one\ntwo"}', '{"a": "one two"}'),
        ("{}", "{}"),
    ],
)
def test_the_first_whole_object_is_found(text: str, found: str) -> None:
    assert first_object(text) == found


@pytest.mark.parametrize("text", ["", " \n\t ", "\x1b[0m\n"])
def test_blank_output_is_an_empty_response(text: str) -> None:
    with pytest.raises(EmptyResponse) as caught:
        first_object(text)
    assert caught.value.fault == Fault(FaultCode.EMPTY_RESPONSE, "The AI gave an empty answer.")


@pytest.mark.parametrize("text", ["I cannot help with that.", "[1, 2]", "null", "}"])
def test_output_without_an_object_is_no_json(text: str) -> None:
    with pytest.raises(NoJSON) as caught:
        first_object(text)
    message = "The AI answered in prose, not in the form it was asked for."
    assert caught.value.fault == Fault(FaultCode.NO_JSON, message)


@pytest.mark.parametrize("text", ["{", '{"a": "}', '{"a": {"b": 1}', '{"a": "\\"}'])
def test_an_object_that_never_ends_is_invalid(text: str) -> None:
    with pytest.raises(InvalidAnswer) as caught:
        first_object(text)
    message = "The AI's answer cannot be used: it is cut short."
    assert caught.value.fault == Fault(FaultCode.INVALID_ANSWER, message)


def test_an_answer_cut_short_is_not_read_from_an_object_inside_it() -> None:
    with pytest.raises(InvalidVerdict, match=r"^The AI's verdict cannot be used: it is cut short\.$"):
        drift_judge.parse('{"on_task": false, "example": {"on_task": true}')


def test_an_object_that_is_no_json_is_called_so() -> None:
    with pytest.raises(InvalidVerdict, match=r"^The AI's verdict cannot be used: it is not valid JSON\.$"):
        drift_judge.parse("{on_task}")


def test_only_the_first_64_ki_characters_are_looked_at() -> None:
    assert LOOKED_AT == 65_536
    answer = json.dumps(GOOD[RoleName.DRIFT_JUDGE])
    padding = "x" * (LOOKED_AT - len(answer))
    assert drift_judge.parse(padding + answer) == Verdict(False, "a shop")
    with pytest.raises(InvalidVerdict):
        drift_judge.parse("x" + padding + answer)


# --- every role


@every_role
def test_a_good_answer_is_taken_with_talk_around_it(role: RoleName) -> None:
    answer = json.dumps(GOOD[role])
    assert ROLES[role].parse(f"Here you are:\n```json\n{answer}\n```\nAnything else?") == ROLES[role].parse(answer)


@every_role
def test_fields_that_nobody_asked_for_are_ignored(role: RoleName) -> None:
    assert ROLES[role].parse(json.dumps(GOOD[role] | {"confidence": 0.9})) == ROLES[role].parse(json.dumps(GOOD[role]))


@every_role
@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{not json}",
        '{"on_task": nope}',
        "{'on_task': true}",
        '{"a":' * 5000 + "1" + "}" * 5000,
        '{"a": ' + "[" * 20000 + "]" * 20000 + "}",
        '{"a": 1e999999}',
        '{"a": NaN}',
    ],
    ids=lambda text: text[:20],
)
def test_an_object_that_is_no_answer_is_invalid_in_the_name_of_the_role(role: RoleName, text: str) -> None:
    with pytest.raises(INVALID[role]) as caught:
        ROLES[role].parse(text)
    assert caught.value.fault.code is FaultCode.INVALID_ANSWER


@every_role
@unhurried
@given(text=any_text)
@example(text='{"on_task": "\ud800"}')
def test_no_text_raises_anything_but_an_answer_error(role: RoleName, text: str) -> None:
    for answer in (text, f"{{{text}}}", f'{{"on_task": false, "reason": "{text}"}}'):
        with contextlib.suppress(AnswerError):
            ROLES[role].parse(answer)


@every_role
@unhurried
@given(data=st.data())
def test_no_value_in_any_field_raises_anything_but_an_answer_error(role: RoleName, data: st.DataObject) -> None:
    fields = GOOD[role] | {data.draw(st.sampled_from(sorted(GOOD[role]))): data.draw(any_json)}
    with contextlib.suppress(AnswerError):
        ROLES[role].parse(json.dumps(fields))


@every_role
@unhurried
@given(secret=st.text(st.characters(codec="ascii", categories=["Lu"]), min_size=12, max_size=20))
def test_an_error_never_quotes_the_answer(role: RoleName, secret: str) -> None:
    for answer in (f"{secret}", f"{{{secret}", f"{{{secret}}}", json.dumps({name: [secret] for name in GOOD[role]})):
        with pytest.raises(AnswerError) as caught:
            ROLES[role].parse(answer)
        assert secret not in str(caught.value)
        assert caught.value.__suppress_context__ or caught.value.__context__ is None


@every_role
@pytest.mark.parametrize(
    "text",
    [
        "{" * LOOKED_AT,
        "\x1b]" * (LOOKED_AT // 2),
        "\x9d" * LOOKED_AT,
        '{"' + "\\" * LOOKED_AT,
        # A mark above before one below is out of order; the normal form sorts them.
        '{"on_track": false, "message": "' + "\u0301\u0323" * (LOOKED_AT // 2 - 100) + '"}',
        json.dumps({"allowed_window_classes": [""] * 15000, "timebox_minutes": 1}),
    ],
    ids=["braces", "unended titles", "C1 introducers", "backslashes", "combining marks", "blank classes"],
)
def test_hostile_text_is_refused_or_read_at_once(role: RoleName, text: str) -> None:
    began = time.process_time()
    with contextlib.suppress(AnswerError):
        ROLES[role].parse(text)
    assert time.process_time() - began < 1.0  # normally 0.05; what is quadratic takes many seconds


# --- what comes out is clean

HARMFUL = "\x00\x07\x1b\x7f\x9b\u00ad\u200b\u200d\u200e\u202e\u2066\u2069\ufeff\u3164\U000e0041\U000e0101"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("  two \t\n words ", "two words"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;never ended", "0;never ended"),
        ("\x1b[Kone \x1b(Btwo", "one two"),
        ("\x9b31mred\x9b0m", "red"),
        ("\x9d0;a\x9cone \x9d0;b\x07two", "one two"),
        ("\x9dnever ended \x9d0;b\x9ctext", "never ended text"),
        ("a\u202eb\u2066c\u200bd\ufeffe", "abcde"),
        ("one\u2028two\u00a0three", "one two three"),
        ("e\u0301", "\u00e9"),
        ("e\u200b\u0301", "\u00e9"),
        ("tag\U000e0041\U000e0042s", "tags"),
        ("a\u3164\ufe01\U000e0101b", "ab"),
        ("a\u034f\u115f\u1160\u17b4\u17b5\u180b\u180f\u2065\uffa0\ufe00\ufe0d\ufff0\ufff8\U000e0000\U000e0fffb", "ab"),
        ("❤\ufe0f stays", "❤\ufe0f stays"),
        ("日本語 العربية ✓", "日本語 العربية ✓"),
    ],
)
def test_text_of_an_answer_is_one_visible_line(written: str, shown: str) -> None:
    assert nudge.parse(json.dumps({"on_track": False, "message": written})) == Advice(shown)


@unhurried
@given(text=st.text(st.characters(codec="utf-8") | st.sampled_from(HARMFUL), max_size=300))
def test_no_control_or_invisible_character_comes_out(text: str) -> None:
    shown = nudge.parse(json.dumps({"on_track": False, "message": text})).message
    assert not set(shown) & set(HARMFUL)
    assert all(unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} for c in shown)
    assert unicodedata.is_normalized("NFC", shown)
    assert len(shown) <= 200
    assert shown == shown.strip()
    assert nudge.parse(json.dumps({"on_track": False, "message": shown})).message == shown


def test_long_texts_are_cut_and_say_so() -> None:
    long = "word" * 1000
    plan = coach.parse(proposal(next_action=long, success_condition=long, allowed_window_classes=[long]))
    judged = drift_judge.parse(json.dumps({"on_task": False, "reason": long}))
    looked_back = reviewer.parse(json.dumps({"recap": long, "carry_forward": long}))
    cut = {
        500: [plan.next_action, plan.success_condition],
        200: [nudge.parse(json.dumps({"on_track": False, "message": long})).message],
        160: [judged.reason],
        128: list(plan.allowed_window_classes),
    }
    cut[200] += [looked_back.recap, looked_back.carry_forward]
    for limit, texts in cut.items():
        for text in texts:
            assert len(text) == limit
            assert text.endswith("…")


def test_no_blank_stands_before_the_mark_of_a_cut() -> None:
    message = f"{'w' * 197}  and more"
    assert nudge.parse(json.dumps({"on_track": False, "message": message})) == Advice(f"{'w' * 197} a…")
    message = f"{'w' * 198}  and more"
    assert nudge.parse(json.dumps({"on_track": False, "message": message})) == Advice(f"{'w' * 198}…")


# --- the coach


def test_a_proposal_has_its_minutes_in_seconds() -> None:
    assert coach.parse(proposal(allowed_window_classes=["code"])) == Proposal(
        "Write it", "It is written", 25 * 60, ("code",)
    )


@pytest.mark.parametrize("minutes", [1, 1440])
def test_minutes_from_1_to_1440_are_taken(minutes: int) -> None:
    assert coach.parse(proposal(timebox_minutes=minutes)).timebox_secs == minutes * 60


@pytest.mark.parametrize("minutes", [0, -5, 1441, 10**30, 25.0, 25.5, True, "25", [25], None])
def test_other_minutes_make_a_proposal_invalid(minutes: object) -> None:
    with pytest.raises(InvalidProposal, match="timebox_minutes"):
        coach.parse(proposal(timebox_minutes=minutes))


def test_minutes_of_many_thousand_digits_make_a_proposal_invalid() -> None:
    with pytest.raises(InvalidProposal):
        coach.parse(proposal(timebox_minutes=12345).replace("12345", "9" * 50_000))


@pytest.mark.parametrize("field", ["next_action", "success_condition"])
@pytest.mark.parametrize("value", [None, "", "  \n", "\u200b\u202e", 7, ["text"]])
def test_a_blank_or_missing_field_makes_a_proposal_invalid(field: str, value: object) -> None:
    with pytest.raises(InvalidProposal, match=field):
        coach.parse(proposal(**{field: value}))


@pytest.mark.parametrize(
    "text", [proposal(), proposal(allowed_window_classes=[]), proposal()[:-1] + ', "allowed_window_classes": null}']
)
def test_a_proposal_needs_no_window_classes(text: str) -> None:
    assert coach.parse(text).allowed_window_classes == ()


def test_blank_and_repeated_window_classes_are_dropped_in_order() -> None:
    names = ["code", " ", "firefox", "Code", "\u200b", "code", "Gimp"]
    assert coach.parse(proposal(allowed_window_classes=names)).allowed_window_classes == ("code", "firefox", "Gimp")


def test_at_most_64_window_classes_are_kept() -> None:
    names = [f"app{n}" for n in range(100)]
    assert coach.parse(proposal(allowed_window_classes=names)).allowed_window_classes == tuple(names[:64])


@pytest.mark.parametrize("classes", ["code", [1], [None], {"code": True}])
def test_window_classes_that_are_no_list_of_strings_make_a_proposal_invalid(classes: object) -> None:
    with pytest.raises(InvalidProposal, match="allowed_window_classes"):
        coach.parse(proposal(allowed_window_classes=classes))


# --- the drift judge


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ({"on_task": True, "reason": "the editor"}, Verdict(True, "the editor")),
        ({"on_task": False, "reason": " a shop "}, Verdict(False, "a shop")),
        ({"on_task": True, "reason": ""}, Verdict(True, "")),
        ({"on_task": True, "reason": None}, Verdict(True, "")),
        ({"on_task": True}, Verdict(True, "")),
    ],
)
def test_a_verdict_is_taken(answer: dict[str, object], verdict: Verdict) -> None:
    assert drift_judge.parse(json.dumps(answer)) == verdict


@pytest.mark.parametrize("reason", [{}, {"reason": ""}, {"reason": None}, {"reason": "\u200b \n"}])
def test_drift_without_a_reason_is_no_verdict(reason: dict[str, object]) -> None:
    with pytest.raises(InvalidVerdict):
        drift_judge.parse(json.dumps({"on_task": False} | reason))


@pytest.mark.parametrize("word", ["true", "false", "yes", 0, 1, 0.0, None, [], [True]])
def test_only_true_and_false_are_a_verdict(word: object) -> None:
    with pytest.raises(InvalidVerdict, match="on_task"):
        drift_judge.parse(json.dumps({"on_task": word, "reason": "a shop"}))


def test_of_a_key_given_twice_the_last_counts() -> None:
    assert drift_judge.parse('{"on_task": false, "on_task": true, "reason": ""}') == Verdict(True, "")


# --- the nudge


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"on_track": False, "message": " Still the report? "}, "Still the report?"),
        ({"on_track": True, "message": "Well done"}, ""),
        ({"on_track": True}, ""),
        ({"on_track": False, "message": "  "}, ""),
        ({"on_track": False, "message": None}, ""),
        ({"on_track": False}, ""),
    ],
)
def test_advice_is_silence_unless_there_are_words_for_it(answer: dict[str, object], message: str) -> None:
    assert nudge.parse(json.dumps(answer)) == Advice(message)


@pytest.mark.parametrize("word", ["false", 0, 1, None])
def test_only_true_and_false_are_advice(word: object) -> None:
    with pytest.raises(InvalidNudge, match="on_track"):
        nudge.parse(json.dumps({"on_track": word, "message": "Still the report?"}))


# --- the reviewer


@pytest.mark.parametrize("carried", [{}, {"carry_forward": ""}, {"carry_forward": None}])
def test_a_reflection_may_carry_nothing_forward(carried: dict[str, object]) -> None:
    assert reviewer.parse(json.dumps({"recap": "You finished it."} | carried)) == Reflection("You finished it.", "")


@pytest.mark.parametrize("recap", [{}, {"recap": "  "}, {"recap": None}, {"recap": "\u200b"}, {"recap": 3}])
def test_a_reflection_without_a_recap_is_invalid(recap: dict[str, object]) -> None:
    with pytest.raises(InvalidReflection, match="recap"):
        reviewer.parse(json.dumps({"carry_forward": "Begin earlier."} | recap))
