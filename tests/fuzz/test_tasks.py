"""What may stand in a file of tasks, in an export, in the profile: bounded, clean tasks come out, or a refusal."""

from __future__ import annotations

import asyncio
import json
import unicodedata
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example
from hypothesis import strategies as st

from antidrift.domain.model import Fault, FaultCode, Task
from antidrift.ports import ProviderError
from antidrift.providers.knowledge import MAX_PROFILE_BYTES, ProfileFile
from antidrift.providers.tasks import (
    MAX_FILE_BYTES,
    MAX_TASKS,
    MAX_TEXT,
    TaskFile,
    markdown_tasks,
    taskwarrior_tasks,
    todo_txt_tasks,
)
from support.fuzzing import any_text, as_bytes, cpu_limit, damaged, fuzzed, nearly, outcome, texts

TODAY = date(2026, 11, 30)
TODO = "(A) 2026-11-01 Call Ann +party @phone due:2026-12-01\nx 2026-11-02 done\nBuy t:2026-12-24 paper pri:B\n"
MARKDOWN = (
    "# Today\n\n- [ ] **Call** [Ann](https://example.org/a_(b)) `x`\n  1. [x] done\n```md\n- [ ] no\n```\n"
    "> - [ ] ~~b~~\n"
)
EXPORT = [
    {
        "id": 1,
        "description": "Call Ann",
        "status": "pending",
        "urgency": 15.2,
        "tags": ["x"],
        "due": "20261201T000000Z",
    },
    {"id": 2, "description": "Buy paper", "status": "waiting", "urgency": 1},
]

todo_txt = st.one_of(
    any_text,
    texts("(A) (z) x \n 2026-11-30 2026-99-99 9999-12-31 due:2026-12-01 t:2026-W01 due:99999-01-01 a:b:c +p @c t:"),
    st.just(TODO).flatmap(damaged),
)
markdown = st.one_of(
    any_text,
    texts("- * + 1. > \t [ ] [x] ``` ~~~ \n ` `` * ** *** _ __ ~~ [[ ]] | ![ ]( ) < > \\ a b https://x.y a@b").map(
        lambda text: "- [ ] " + text
    ),
    texts("- * [ ] \n ``` ~~~ > a"),
    st.just(MARKDOWN).flatmap(damaged),
)


def offered(tasks: tuple[Task, ...], source: str) -> None:
    """They can be offered: few, short, on one line, in characters that can be sent and that hide nothing."""
    assert len(tasks) <= MAX_TASKS
    for task in tasks:
        assert task.source == source
        assert 0 < len(task.text) <= MAX_TEXT
        assert task.text == task.text.strip()
        task.text.encode()
        assert not any(unicodedata.category(char) in ("Cc", "Zl", "Zp") for char in task.text)
        assert not any("\u202a" <= char <= "\u202e" or "\u2066" <= char <= "\u2069" for char in task.text)


@fuzzed("todo.txt", text=todo_txt)
def test_any_todo_txt_file_gives_tasks_that_can_be_offered(text: str) -> None:
    offered(todo_txt_tasks(text, TODAY), "todo.txt")


@fuzzed("Markdown", text=markdown)
@example(text="- [ ] " + "*a _b **c ~~d " * 70)
@example(text="- [ ] " + "*_" * 240 + "x" + "_*" * 240)
@example(text="- [ ] " + "[" * 490 + "x" + "]" * 490)
@example(text="- [ ] " + "**a *b ***c __d _e ___f ~~g " * 30)
def test_any_markdown_file_gives_tasks_that_can_be_offered(text: str) -> None:
    offered(markdown_tasks(text, TODAY), "markdown")


@fuzzed("Taskwarrior", export=as_bytes(nearly(EXPORT)))
@example(export=b"[" * 1_000_000)
@example(export=b'[{"description":' * 50_000)
@example(export=b'[{"description":"a","urgency":NaN},{"description":"b","urgency":1e999},{"description":"c"}]')
@example(export=b'[{"description":"' + b"x" * 1_000_000 + b'"}]')
@example(export=b"[" + b'{"description":"\\u0000"},' * 100_000 + b"{}]")
@example(export=b'[{"description":"a","urgency":' + b"9" * 100_000 + b"}]")
def test_any_export_gives_tasks_that_can_be_offered_or_is_refused_by_name(export: bytes) -> None:
    found = outcome(lambda: taskwarrior_tasks(export), ProviderError)
    if isinstance(found, ProviderError):
        assert found.fault == Fault(FaultCode.PROGRAM_FAILED, "Taskwarrior did not answer with a list of tasks.")
    else:
        offered(found, "taskwarrior")


@fuzzed("todo.txt", examples=20, data=as_bytes(todo_txt), limit=st.integers(1, 50))
def test_any_bytes_in_a_file_of_tasks_are_read(data: bytes, limit: int) -> None:
    with TemporaryDirectory() as name:
        path = Path(name) / "tasks"
        path.write_bytes(data)
        for parse in (todo_txt_tasks, markdown_tasks):
            assert len(TaskFile(path, parse, limit)._read()) <= limit


@fuzzed("profile", examples=30, data=as_bytes(any_text | texts("a \n\n ä 日本")))
@example(data=b"\xe6\x97\xa5" * 10_000)
@example(data=b"\x00" * 1_000_000)
def test_any_bytes_in_the_profile_are_text_that_can_be_sent(data: bytes) -> None:
    with TemporaryDirectory() as name:
        path = Path(name) / "me.md"
        path.write_bytes(data)
        text = asyncio.run(ProfileFile(path).fetch())
        assert len(text) <= MAX_PROFILE_BYTES
        text.encode()
        assert not any(unicodedata.category(char) == "Cc" and char not in "\t\n" for char in text)


@fuzzed("todo.txt", words=st.lists(st.text("abcdefgh", min_size=1, max_size=8), min_size=1, max_size=20))
def test_plain_words_come_through_every_format_unchanged(words: list[str]) -> None:
    text = "do " + " ".join(words)
    export = json.dumps([{"description": text}]).encode()
    assert [tasks[0].text for tasks in (todo_txt_tasks(text, TODAY), markdown_tasks(f"* [ ] {text}", TODAY))] == [
        text
    ] * 2
    assert taskwarrior_tasks(export)[0].text == text


# Each line of these is blank once it is plain, so the limit of fifty tasks does not end the reading.
_BLANK_LINES = [
    "[\x01](",
    "\x01",
    "*\x01*",
    "`\x01`",
    "~~\x01~~",
    "**\x01*",
    "<a:",
    "[[\x01]]",
    "_\x01_ ",
    "\\",
    "> ",
    "```",
]


@pytest.mark.parametrize(
    "piece", [*_BLANK_LINES, "*a ", "_a ", "[a](", "`", "[[", "***a** ", "~~a ", "a:b ", "2026-11-30 "]
)
def test_no_file_of_tasks_takes_long_to_read(piece: str) -> None:
    line = "- [ ] " + (piece * 1000)[:990] + "\n"
    whole = (line * (MAX_FILE_BYTES // len(line) + 1))[:MAX_FILE_BYTES]
    with cpu_limit():
        markdown_tasks(whole, TODAY)
        todo_txt_tasks(whole, TODAY)
        longest = (piece * MAX_FILE_BYTES)[:MAX_FILE_BYTES]
        markdown_tasks("- [ ] " + longest, TODAY)
        todo_txt_tasks(longest, TODAY)
