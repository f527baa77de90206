from __future__ import annotations

import json
import string
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from datetime import date

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from antidrift.domain.model import FaultCode, Task
from antidrift.ports import ProviderError
from antidrift.providers.tasks import MAX_TASKS, MAX_TEXT, markdown_tasks, taskwarrior_tasks, todo_txt_tasks

TODAY = date(2026, 11, 30)


def todo(text: str) -> list[str]:
    return [task.text for task in todo_txt_tasks(text, TODAY)]


def markdown(text: str) -> list[str]:
    return [task.text for task in markdown_tasks(text, TODAY)]


# todo.txt


def test_each_line_of_a_todo_txt_file_is_a_task_with_its_source() -> None:
    assert todo_txt_tasks("Call Ann\n\r\nBuy paper\r\n", TODAY) == (
        Task("Call Ann", "todo.txt"),
        Task("Buy paper", "todo.txt"),
    )


@pytest.mark.parametrize(
    "line", ["x 2026-11-03 Call Ann", "x Call Ann", "x 2026-11-02 2026-11-01 Call Ann", "x", "   "]
)
def test_a_ticked_or_blank_line_is_no_task(line: str) -> None:
    assert todo(line) == []


@pytest.mark.parametrize("line", ["xylophone lesson", "X 2026-01-01 Make resolutions"])
def test_only_a_small_x_of_its_own_ticks_a_line(line: str) -> None:
    assert todo(line) == [line]


def test_priorities_come_first_in_their_order() -> None:
    text = "none\n(C) third\n(A) first\n(b) no priority\n(B)->none either\n(B) second"
    assert todo(text) == ["first", "second", "third", "none", "(b) no priority", "(B)->none either"]


def test_within_a_priority_the_earliest_due_date_comes_first_then_the_order_of_the_file() -> None:
    text = "undated\nlate due:2027-01-01\n(A) urgent due:2030-01-01\nundated too\nover due:2020-01-01"
    assert todo(text) == ["urgent", "over", "late", "undated", "undated too"]


def test_a_due_date_to_come_does_not_hide_a_task() -> None:
    assert todo("Pay rent due:2999-01-01") == ["Pay rent"]


def test_a_threshold_hides_a_task_until_its_day() -> None:
    assert todo("past t:2026-11-29\ntoday t:2026-11-30\ntomorrow t:2026-12-01\nnever t:soon") == [
        "past",
        "today",
        "never",
    ]


@pytest.mark.parametrize(
    "line", ["(A) 2026-11-01 Call Ann", "2026-11-01 Call Ann", "(A) 2026-11-02 2026-11-01 Call Ann"]
)
def test_leading_dates_are_no_text(line: str) -> None:
    assert todo(line) == ["Call Ann"]


def test_a_date_inside_the_text_stays() -> None:
    assert todo("(A) Call Ann 2026-11-01") == ["Call Ann 2026-11-01"]


def test_projects_and_contexts_stay_and_key_value_pairs_go() -> None:
    assert todo("Call Ann +party @phone due:2026-12-01 rec:1w pri:A") == ["Call Ann +party @phone"]


def test_a_key_may_have_points_and_hyphens_in_it() -> None:
    assert todo("Call Ann x-rank:2 org.id:7 été:1") == ["Call Ann"]


@pytest.mark.parametrize(
    "text",
    ["Read https://example.org/a", "Meet at 10:30", "Note: call Ann", "See std::vector", "Run -v:1 .a:1", "Eat a:b:c"],
)
def test_what_only_looks_like_a_pair_stays(text: str) -> None:
    assert todo(text) == [text]


@pytest.mark.parametrize("line", ["(A)", "(A) 2026-11-01", "due:2026-12-01", "(B) t:2020-01-01 "])
def test_a_line_without_any_text_is_no_task(line: str) -> None:
    assert todo(line) == []


# Markdown


@pytest.mark.parametrize(
    "marker", ["-", "*", "+", "1.", "12)", "123456789.", "  -", "\t*", "> -", "> > 1.", "        -", "-  "]
)
def test_an_unticked_box_behind_any_list_marker_is_a_task(marker: str) -> None:
    assert markdown_tasks(f"# Today\n\n{marker} [ ] Call Ann\n", TODAY) == (Task("Call Ann", "markdown"),)


@pytest.mark.parametrize(
    "line",
    [
        "- [x] done",
        "- [X] done",
        "- [-] dropped",
        "- [ ]",
        "- [ ]   ",
        "- [ ]call",
        "[ ] call",
        "-[ ] call",
        "- []",
        "- a",
        ". [ ] call",
        "1234567890. [ ] call",
    ],
)
def test_everything_else_is_no_task(line: str) -> None:
    assert markdown(line) == []


def test_nested_boxes_keep_the_order_of_the_file_under_ticked_parents_too() -> None:
    assert markdown("- [x] one\n  - [ ] two\n- [ ] three\n    1. [ ] four") == ["two", "three", "four"]


def test_boxes_in_fenced_code_are_examples_and_no_tasks() -> None:
    backticks = "```md\n- [ ] a\n~~~\n- [ ] b\n```md\n- [ ] b\n```\n- [ ] c\n"
    tildes = "~~~~\n- [ ] d\n~~~\n- [ ] e\n~~~~~\n- [ ] f\n"
    assert markdown(f"{backticks}{tildes}```inline``` code\n- [ ] g") == ["c", "f", "g"]


@pytest.mark.parametrize("fence", ["```", "~~~", "> ```", "> > ~~~~", ">~~~"])
def test_code_is_fenced_by_three_marks_or_more_in_a_quote_too(fence: str) -> None:
    assert markdown(f"{fence}\n- [ ] a\n{fence}\n- [ ] b") == ["b"]


@pytest.mark.parametrize("marks", ["``", "~~"])
def test_two_marks_fence_nothing(marks: str) -> None:
    assert markdown(f"{marks}\n- [ ] a") == ["a"]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("**Call** *Ann* __about__ _the_ ~~party~~ ***now***", "Call Ann about the party now"),
        ("**call *Ann* now**", "call Ann now"),
        ("`a*b*c` and ``x`y``", "a*b*c and x`y"),
        ("read [the *paper*](https://example.org/a_(b))", "read the paper"),
        ("![a picture](a.png) [ref][1] [[Page]] [[Page|alias]]", "a picture ref Page alias"),
        ("<https://example.org> <ann@example.org>", "https://example.org ann@example.org"),
        ("<HTTPS://Example.org> <svn+ssh-2.0:a>", "HTTPS://Example.org svn+ssh-2.0:a"),
        ("<a:b> <2a:b> <b:> <ab:c<d> <@e> <f@>", "<a:b> <2a:b> <b:> <ab:c<d> <@e> <f@>"),
        (r"\*not\* emphasised", "*not* emphasised"),
        *((f"\\{mark}a", f"{mark}a") for mark in string.punctuation),
        ("\\a \\1 \\ü", "\\a \\1 \\ü"),
        ("`a``b` ``c`` `", "a``b c `"),
        ("[[|alias]] [[a|b|c]] [[]] [[a[b]] [[a]b]]", "alias [[a|b|c]] [[]] [[a[b]] [[a]b]]"),
        ("~~a ~~ b", "~~a ~~ b"),
        ("[a](b(c)d(e)f) [g]() [h][] [i][j]", "a g h i"),
        ("<ab:c>d> <a@b>c>", "ab:cd> a@bc>"),
        (f"<{'a' * 32}:b> <{'a' * 33}:b>", f"{'a' * 32}:b <{'a' * 33}:b>"),
        ("!![a](b) [c[d](e) [f](g)h) [](i)", "!a [cd fh) [](i)"),
        ("snake_case_name 5 * 3 rm *.py a_ _b [plain] a < b", "snake_case_name 5 * 3 rm *.py a_ _b [plain] a < b"),
        ("<b>raw</b> & &amp;", "<b>raw</b> & &amp;"),
        ("[[open ](x **y ``z` a", "[[open ](x **y ``z` a"),
    ],
)
def test_inline_markup_becomes_the_text_that_a_reader_sees(markup: str, text: str) -> None:
    assert markdown(f"- [ ] {markup}") == [text]


@pytest.mark.parametrize(
    "text",
    [
        *["** a** b", "**a ** b", "* a* *b *", "****a**** b", "*a** b", "**a* b", "***a** b*"],
        *["__ a__ b", "__a __ b", "_ a_ _b _", "____a____", "_a_1", "1_a_", "~~ a~~", "~~a ~~", "``a`"],
        *["[a](b(c(d)e)f)", "[a](b(c]) d", "[a][b[c] d]", "[a] (b)", "<ab:c d> <a @b> <a<@b> <a@b<c> <a@b c>"],
    ],
)
def test_marks_that_do_not_belong_together_stay(text: str) -> None:
    assert markdown(f"- [ ] {text}") == [text]


# Taskwarrior


def exported(*tasks: Mapping[str, object]) -> bytes:
    return json.dumps(tasks).encode()


def test_an_export_is_ordered_by_urgency_then_as_it_stands() -> None:
    export = exported(
        {"id": 1, "description": "low", "status": "pending", "urgency": 1.5, "tags": ["x"]},
        {"id": 2, "description": "none"},
        {"id": 3, "description": "high", "status": "pending", "urgency": 15},
        {"id": 4, "description": "low too", "status": "pending", "urgency": 1.5},
        {"id": 5, "description": "below", "status": "pending", "urgency": -0.5},
        {"id": 6, "description": "lowest", "status": "pending", "urgency": 0.5},
    )
    assert [task.text for task in taskwarrior_tasks(export)] == ["high", "low", "low too", "lowest", "none", "below"]
    assert {task.source for task in taskwarrior_tasks(export)} == {"taskwarrior"}


@pytest.mark.parametrize("status", ["waiting", "completed", "deleted", "recurring"])
def test_only_pending_tasks_are_offered(status: str) -> None:
    assert taskwarrior_tasks(exported({"description": "later", "status": status})) == ()


@pytest.mark.parametrize(
    "export", [b"", b"[", b"{}", b"[1]", b"[{}]", b'[{"description": 5}]', b"Cannot proceed without rc file.", b"\xff"]
)
def test_what_is_no_export_is_refused_by_name(export: bytes) -> None:
    with pytest.raises(ProviderError, match=r"^Taskwarrior did not answer with a list of tasks\.$") as refused:
        taskwarrior_tasks(export)
    assert refused.value.fault.code is FaultCode.PROGRAM_FAILED


def test_a_refused_export_is_not_quoted_in_a_traceback() -> None:
    with pytest.raises(ProviderError) as refused:
        taskwarrior_tasks(exported({"description": ["SECRET".lower()]}))  # a traceback shows this line too
    assert "secret" not in "".join(traceback.format_exception(refused.value))


# Bounds, for every format


def _written(text: str) -> list[tuple[Task, ...]]:
    return [
        todo_txt_tasks(text, TODAY),
        markdown_tasks("\n".join(f"- [ ] {line}" for line in text.split("\n")), TODAY),
        taskwarrior_tasks(exported(*({"description": line} for line in text.split("\n")))),
    ]


def test_fifty_tasks_are_offered_at_most() -> None:
    text = "\n".join(f"task {n}" for n in range(200))
    assert [len(tasks) for tasks in _written(text)] == [MAX_TASKS] * 3 == [50] * 3


def test_a_long_text_is_cut() -> None:
    assert [[len(task.text) for task in tasks] for tasks in _written("ä" * 100_000)] == [[MAX_TEXT]] * 3 == [[300]] * 3


def test_a_line_as_long_as_the_file_is_no_burden() -> None:
    began = time.process_time()
    assert len(markdown("- [ ] " + "*a " * 30_000)) == 1
    assert time.process_time() - began < 5  # seconds; milliseconds, unless the time grows with the square


def test_control_characters_and_turns_of_direction_become_spaces() -> None:
    written = _written("a\x1b[2J\x00b\u202ec\u2028d\te\x7ff\x9fg\u2066h\u2069i")
    assert [[task.text for task in tasks] for tasks in written] == [["a [2J b c d e f g h i"]] * 3


unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

_alphabet = st.sampled_from(
    [*"-*+_~`[]()<>|\\!#x: \n\r\tab1.@", "- [ ] ", "(A) ", "2026-11-30 ", "t:2026", "```", "\ud800"]
)
_texts = st.lists(_alphabet, max_size=200).map("".join) | st.text(max_size=200)


@unhurried
@given(text=_texts)
@example(text="- [ ] " + "*a _b **c " * 100)
@example(text="- [ ] " + "`" * 990)
@example(text="- [ ] " + "[](" * 330)
@example(text="\n".join(["- [ ] " + "[a](b" * 200] * 100))
def test_any_text_gives_bounded_clean_tasks(text: str) -> None:
    for tasks in (todo_txt_tasks(text, TODAY), markdown_tasks(text, TODAY)):
        assert len(tasks) <= MAX_TASKS
        for task in tasks:
            assert 0 < len(task.text) <= MAX_TEXT
            assert task.text == task.text.strip()
            assert not any(c < " " for c in task.text)
            task.text.encode()  # it crosses the bus


@unhurried
@given(export=st.binary() | st.text(alphabet='[]{}",:description1e', max_size=60).map(str.encode))
def test_any_bytes_are_an_export_or_refused(export: bytes) -> None:
    with suppress(ProviderError):
        assert isinstance(taskwarrior_tasks(export), tuple)
