"""Today's tasks, from a todo.txt file, a Markdown checklist, or Taskwarrior.

The parsers are pure and take any text: what is not an open task is passed over.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice
from pathlib import Path

from pydantic import BaseModel, TypeAdapter, ValidationError

from antidrift.domain.model import Fault, FaultCode, Task
from antidrift.ports import ProviderError
from antidrift.providers.files import read_start
from antidrift.providers.program import output_of

MAX_FILE_BYTES = 1024 * 1024
MAX_EXPORT_BYTES = 4 * 1024 * 1024
MAX_TASKS = 50
MAX_TEXT = 300  # characters
EXPORT_SECS = 5.0

Parser = Callable[[str, date], tuple[Task, ...]]


@dataclass(frozen=True, slots=True)
class TaskFile:
    """A file of tasks, read anew at each fetch."""

    path: Path
    parse: Parser
    limit: int = MAX_TASKS

    async def fetch(self) -> tuple[Task, ...]:
        """The first `limit` open tasks in the first MiB. Raises ProviderError (NOT_FOUND, UNREADABLE)."""
        return await asyncio.to_thread(self._read)

    def _read(self) -> tuple[Task, ...]:
        text = read_start(self.path, MAX_FILE_BYTES).decode("utf-8-sig", errors="replace")
        return self.parse(text, datetime.now().astimezone().date())[: self.limit]


@dataclass(frozen=True, slots=True)
class Taskwarrior:
    """The export of Taskwarrior 2.6 or 3, the most urgent task first."""

    program: str = "task"
    limit: int = MAX_TASKS
    timeout_secs: float = EXPORT_SECS

    async def fetch(self) -> tuple[Task, ...]:
        """The first `limit` pending tasks. Raises ProviderError (NOT_FOUND, PROGRAM_FAILED).

        A program that takes longer than `timeout_secs` has failed.
        """
        # Whatever the person's settings say: ask nothing, run no hooks, renumber nothing, and answer with one array.
        settings = ("confirmation=off", "verbose=nothing", "hooks=off", "gc=off", "json.array=on")
        argv = (self.program, *(f"rc.{setting}" for setting in settings), "status:pending", "export")
        return taskwarrior_tasks(await output_of(argv, MAX_EXPORT_BYTES, self.timeout_secs))[: self.limit]


def todo_txt_tasks(text: str, today: date) -> tuple[Task, ...]:
    """The open tasks of a todo.txt file, by priority, then by `due:`, then as they stand; at most 50.

    After https://github.com/todotxt/todo.txt: projects and contexts stay in the text, dates and `key:value` pairs do
    not. Tasks with a threshold (`t:`) after `today` are left out.
    """
    found: list[tuple[str, date, str]] = []
    for line in _lines(text):
        words = line.split()
        if not words or words[0] == "x":
            continue
        priority = words.pop(0) if _TODO_PRIORITY.fullmatch(words[0]) else "none"
        # The creation date; before it stands, where a tick was taken back by hand, the date of completion.
        while words and _TODO_DATE.fullmatch(words[0]):
            del words[0]
        pairs = {pair[1]: pair[2] for word in words if (pair := _TODO_PAIR.fullmatch(word))}
        threshold = _date(pairs.get("t"))
        if threshold is None or threshold <= today:
            shown = " ".join(word for word in words if not _TODO_PAIR.fullmatch(word))
            found.append((priority, _date(pairs.get("due")) or date.max, shown))
    found.sort(key=lambda task: task[:2])  # "(A)" to "(Z)" come before "none"
    return _tasks((shown for _, _, shown in found), "todo.txt")


_TODO_PRIORITY = re.compile(r"\([A-Z]\)")
_TODO_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
# A web address has the shape of a pair too, but is text; so is a clock time.
_TODO_PAIR = re.compile(r"([^\W\d][\w.-]*):((?!//)[^\s:]+)")


def _date(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text or "")
    except ValueError:
        return None


def markdown_tasks(text: str, today: date) -> tuple[Task, ...]:
    """The unticked boxes of a Markdown file in their order, as plain text; at most 50. Nothing here has a date.

    After the task list items of GitHub Flavored Markdown: any list marker, nested or quoted, but not in fenced code.
    """
    return _tasks((_plain(item) for item in _unticked(text)), "markdown")


def _unticked(text: str) -> Iterator[str]:
    fence = ""
    for line in _lines(text):
        mark = _FENCE.fullmatch(line)
        if fence:
            if mark and mark["ticks"].startswith(fence) and not mark["info"]:
                fence = ""
        elif mark:
            fence = mark["ticks"]
        elif item := _UNTICKED.match(line):
            yield line[item.end() :]


_FENCE = re.compile(r"[\s>]*(?P<ticks>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)")
_UNTICKED = re.compile(r"[\s>]*(?:[-*+]|\d{1,9}[.)])\s+\[\s\]\s+")

_INLINE = re.compile(
    r"""
      \\(?P<escaped>[!-/:-@\[-`{-~])
    | (?<!`)(?P<ticks>`++)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)
    | \[\[(?:[^\[\]|]*\|)?(?P<wiki>[^\[\]|]+)\]\]
    | !?\[(?P<link>[^\[\]]+)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])
    | <(?P<address>[A-Za-z][A-Za-z0-9+.-]{1,31}:[^<>\s]+|[^<>\s@]+@[^<>\s]+)>
    | (?<!\*)(?P<stars>\*{1,3})(?![\s*])(?P<starred>.+?)(?<![\s*])(?P=stars)(?!\*)
    | (?<!\w)(?P<bars>_{1,3})(?![\s_])(?P<barred>.+?)(?<![\s_])(?P=bars)(?!\w)
    | ~~(?=\S)(?P<struck>.+?)(?<=\S)~~
    """,
    re.VERBOSE,
)


def _plain(markup: str) -> str:
    """The text that a reader of `markup` (one line of inline Markdown) sees."""

    def seen(match: re.Match[str]) -> str:
        for verbatim in ("escaped", "code", "address"):
            if match[verbatim]:
                return match[verbatim]
        return _plain(match["wiki"] or match["link"] or match["starred"] or match["barred"] or match["struck"])

    return _INLINE.sub(seen, markup)


class _Exported(BaseModel):
    description: str
    urgency: float = 0.0
    status: str = "pending"


def taskwarrior_tasks(export: bytes) -> tuple[Task, ...]:
    """The pending tasks of a Taskwarrior JSON export, the most urgent first; at most 50.

    Tasks that wait have a status of their own and are left out. Raises ProviderError for what is not an export.
    """
    try:
        exported = TypeAdapter(list[_Exported]).validate_json(export)
    except ValidationError:  # not chained: it quotes the tasks
        fault = Fault(FaultCode.PROGRAM_FAILED, "Taskwarrior did not answer with a list of tasks.")
        raise ProviderError(fault) from None
    pending = [task for task in exported if task.status == "pending"]
    pending.sort(key=lambda task: -task.urgency)
    return _tasks((task.description for task in pending), "taskwarrior")


def _lines(text: str) -> Iterator[str]:
    """Lines without their ends, cut where no task needs them to go on, so that no pattern has much to try."""
    return (line[:1000].strip() for line in text.split("\n"))


def _tasks(texts: Iterator[str], source: str) -> tuple[Task, ...]:
    clean = (" ".join(_UNFIT.sub(" ", text).split())[:MAX_TEXT].rstrip() for text in texts)
    return tuple(Task(text, source) for text in islice(filter(None, clean), MAX_TASKS))


# Control characters, what changes the direction of the text around it, and surrogates, which have no UTF-8.
_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
