"""What one role is: whom the AI plays, what it is asked, and how its answer is read."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Generic, TypeVar

from antidrift.domain.model import RoleName
from antidrift.domain.requests import Answer, Request

RequestT = TypeVar("RequestT", bound=Request)

# The last thing a model reads should not be a window title.
_LAST_WORD = "\n\nAnswer with the JSON object alone."


@dataclass(frozen=True, slots=True)
class RoleSpec(Generic[RequestT]):
    """A role as data. `caller.RoleCaller` is the one mechanism that brings any of them to life.

    `write(request, token)` makes the prompt, with everything untrusted fenced by `token`; `parse(text)` reads the
    answer and raises `answers.AnswerError`, and nothing else, for a text that is none.
    """

    name: RoleName
    timeout_secs: float
    write: Callable[[RequestT, str], str]
    parse: Callable[[str], Answer]

    @property
    def instruction(self) -> str:
        """The static part, from `prompts/NAME.md`. It may stand in argv, so nothing private is ever put into it."""
        return _instruction(self.name)

    def prompt(self, request: RequestT, token: str | None = None) -> str:
        """The private part, for standard input only. `token` marks the fence; left out, it is random for each call."""
        return self.write(request, token or secrets.token_hex(8)) + _LAST_WORD


@cache
def _instruction(name: RoleName) -> str:
    return resources.files(__package__).joinpath("prompts", f"{name}.md").read_text(encoding="utf-8").strip()
