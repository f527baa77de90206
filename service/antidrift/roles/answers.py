"""Reading an AI's answer: tolerant of the talk around it, strict about what is in it.

Whatever the text is, the only exception that leaves `read` is an `AnswerError`, and no message quotes the text.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from antidrift.domain.model import Fault, FaultCode
from antidrift.roles.untrusted import clean, without_terminal_codes

LOOKED_AT = 64 * 1024
"""How many characters of an answer are looked at; a good one has a few hundred."""


class AnswerError(Exception):
    """An AI answered, but not with something that can be used. The message is for the person."""

    code: ClassVar[FaultCode]

    @property
    def fault(self) -> Fault:
        """The same as a value."""
        return Fault(self.code, str(self))


class EmptyResponse(AnswerError):
    """Nothing but blanks came back."""

    code = FaultCode.EMPTY_RESPONSE

    def __init__(self) -> None:
        super().__init__("The AI gave an empty answer.")


class NoJSON(AnswerError):
    """Text came back, without an object in it."""

    code = FaultCode.NO_JSON

    def __init__(self) -> None:
        super().__init__("The AI answered in prose, not in the form it was asked for.")


class InvalidAnswer(AnswerError):
    """An object came back that is not what was asked for; each role has its own subclass.

    `flaw` says what is wrong in words of ours, never in those of the answer.
    """

    code = FaultCode.INVALID_ANSWER
    noun: ClassVar[str] = "answer"

    def __init__(self, flaw: str) -> None:
        super().__init__(f"The AI's {self.noun} cannot be used: {flaw}.")
        self.flaw = flaw


class AnswerModel(BaseModel):
    """The shape of an answer. Models add fields of their own, which are ignored; "true" is not true, 1 is not true."""

    # The errors of pydantic quote the input: here they must not, since an exception may end in a log.
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, hide_input_in_errors=True)


def _require_text(text: str) -> str:
    if not text:
        raise ValueError("blank")
    return text


def line(limit: int) -> AfterValidator:
    """One clean line of at most `limit` characters."""
    return AfterValidator(lambda text: clean(text, limit))


NOT_BLANK = AfterValidator(_require_text)
NULL_IS_BLANK = BeforeValidator(lambda value: "" if value is None else value)

Message = Annotated[str, NULL_IS_BLANK, line(200)]
"""A sentence for the person; null and blank are the same."""

ModelT = TypeVar("ModelT", bound=AnswerModel)

# A program may colour its output, and models break lines inside strings, where JSON wants them written as \\n.
_BARE_CONTROL = re.compile(r"[\x00-\x1f]")

_STRUCTURE = re.compile(r'\\.|["{}]', re.DOTALL)


def first_object(text: str) -> str:
    """The first `{...}` in `text`, whole; braces inside its strings do not count.

    An object that never ends is an answer cut short, and no object inside it is taken for the answer. Raises
    EmptyResponse, NoJSON, InvalidAnswer.
    """
    text = _BARE_CONTROL.sub(" ", without_terminal_codes(text.strip()[:LOOKED_AT])).strip()
    if not text:
        raise EmptyResponse
    start = text.find("{")
    if start < 0:
        raise NoJSON
    depth = 0
    in_string = False
    for found in _STRUCTURE.finditer(text, start):
        mark = found[0]
        if mark == '"':
            in_string = not in_string
        elif in_string:
            continue
        elif mark == "{":
            depth += 1
        elif mark == "}":
            depth -= 1
            if depth == 0:
                return text[start : found.end()]
    raise InvalidAnswer("it is cut short")


def read(text: str, model: type[ModelT], invalid: type[InvalidAnswer]) -> ModelT:
    """The answer in `text` as a `model`. Raises EmptyResponse, NoJSON, or `invalid` for an object of another shape."""
    try:
        found = first_object(text)
    except InvalidAnswer as error:
        raise invalid(error.flaw) from None
    try:
        return model.model_validate_json(found)
    except ValidationError as error:
        raise invalid(_flaw(error)) from None


def _flaw(error: ValidationError) -> str:
    first: Any = error.errors(include_input=False, include_context=False, include_url=False)[0]
    return f"{first['loc'][0]} is missing or not as asked" if first["loc"] else "it is not valid JSON"
