"""Fuzzing: what every property of `tests/fuzz` is tried with, how often, and for how long at most.

The suite tries each a few dozen times, the same each time. ANTIDRIFT_FUZZ=100 (`make soak`) tries it a hundred times as
often, on inputs that are new each time.
"""

from __future__ import annotations

import copy
import functools
import json
import math
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

TIMES = int(os.environ.get("ANTIDRIFT_FUZZ", "1"))
"""How many times as often as in the suite."""

CPU_SECS = 10.0
"""What one input may take. All of it normally takes microseconds; a loaded machine does not count."""

T = TypeVar("T")
E = TypeVar("E", bound=Exception)

tried: Counter[str] = Counter()
"""How many inputs each parser was given in this process."""


class TookTooLong(Exception):
    """One input has used more than CPU_SECS of the processor."""


def fuzzed(parser: str, examples: int = 30, **inputs: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], Any]:
    """Makes a test of a property that holds for all `inputs`. `parser` names what is fuzzed."""

    def decorate(test: Callable[..., None]) -> Any:
        @functools.wraps(test)
        def once(*args: Any, **kwargs: Any) -> None:
            tried[parser] += 1
            with cpu_limit():
                test(*args, **kwargs)

        return settings(
            max_examples=examples * TIMES,
            deadline=None,
            derandomize=TIMES == 1,
            database=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
        )(given(**inputs)(once))

    return decorate


@contextmanager
def cpu_limit(secs: float = CPU_SECS) -> Iterator[None]:
    """Raises TookTooLong in the block once it has used so much of the processor; also in a regular expression."""

    def stop(*_: object) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, secs)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def outcome(call: Callable[[], T], *refusals: type[E]) -> T | E:
    """What `call` returns, or the exception with which it may refuse; every other one is a fault."""
    try:
        return call()
    except refusals as refusal:
        return refusal


# What texts are made of

any_text = st.text(st.characters(exclude_categories=()), max_size=300)
"""Lone surrogates, control and invisible characters included."""

_STRANGE = (
    *"\x00\x01\x07\t\n\r\x0b\x1b\x1c\x7f\x85\x9b\xa0",
    *"\u00ad\u034f\u061c\u115f\u200b\u200d\u200e\u2028\u202e\u2060\u2065\u2066\u2069\u3164\ufe0f\ufeff\uffa0\ufff0\uffff",
    *"\ud800\udfff\U0001d173\U000e0001\U000e0041\U000e0080\U000e0fff\U0010ffff",
    *"İßﬃΐ\u0315\u0300٣४①²",
    "\r\n",
    "\ufeff",
    "\x1b[31m",
    "\x1b]0;",
)
strange = st.sampled_from(_STRANGE)
"""Single characters (and a few sequences) that programs stumble over."""


def texts(pieces: str, max_size: int = 40) -> st.SearchStrategy[str]:
    """Texts made of `pieces` (words parted by spaces), spaces, strange characters, and sometimes anything."""
    words = st.sampled_from(pieces.split()) | strange | st.sampled_from([" ", "  "]) | st.text(max_size=5)
    return st.lists(words, max_size=max_size).map("".join)


# Documents that are nearly right

_HUGE = "9" * 5000
_ODD_VALUES = (
    *(None, True, False, 0, 1, -1, 2**31, 2**53, 2**63, 2**64, -(2**64), 10**30, 0.5, 1e300, -1e300),
    *(math.nan, math.inf, -math.inf, "", " ", "\0", "\ud800", "\u202e", "\x1b[2J", "true", "1", "x" * 20_000),
    *([], {}, [[]], [{}], {"": ""}, {"\0": None}, ["x"] * 1000),
)
odd_values = st.sampled_from(_ODD_VALUES) | st.integers() | st.floats() | any_text
"""What may stand in JSON where something else is expected."""


@st.composite
def nearly(draw: st.DrawFn, document: Any) -> str:
    """`document` (a JSON value) with a few values, keys and characters changed, as text; at times unchanged."""
    changed = json.loads(json.dumps(document))
    for _ in range(draw(st.integers(0, 3))):
        places = list(_places(changed))
        if not places:
            break
        holder, key = draw(st.sampled_from(places))
        match draw(st.sampled_from(["value", "gone", "twice", "deep", "new"])):
            case "value":
                holder[key] = copy.deepcopy(draw(odd_values))
            case "gone":
                del holder[key]
            case "twice" if isinstance(holder, dict):
                holder[key] = _Twice(holder[key], draw(odd_values))
            case "deep":
                holder[key] = _Raw("[" * 2000 + "]" * 2000)
            case _ if isinstance(holder, dict):
                holder[draw(any_text)] = copy.deepcopy(draw(odd_values))
            case _:
                holder.insert(key, copy.deepcopy(draw(odd_values)))
    text = _written(changed, ascii_only=draw(st.booleans()))
    return draw(damaged(text)) if draw(st.integers(0, 3)) == 0 else text


@st.composite
def damaged(draw: st.DrawFn, document: str) -> str:
    """`document` cut, doubled, or with something strange in it."""
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(document)))
        end = min(len(document), at + draw(st.integers(0, 20)))
        match draw(st.sampled_from(["cut", "lose", "insert", "replace", "repeat", "lines", "mark", "digits"])):
            case "cut":
                document = document[:at]
            case "lose":
                document = document[:at] + document[end:]
            case "insert":
                document = document[:at] + draw(strange | any_text) + document[at:]
            case "replace":
                document = document[:at] + draw(strange) + document[end:]
            case "repeat":
                document = document[:at] + document[at:end] * draw(st.sampled_from([2, 3, 200])) + document[end:]
            case "lines":
                document = document.replace("\n", "\r\n")
            case "mark":
                document = "\ufeff" + document
            case "digits":
                document = document[:at] + _HUGE + document[end:]
    return document


def as_bytes(documents: st.SearchStrategy[str]) -> st.SearchStrategy[bytes]:
    """The documents as a file may hold them: in UTF-8, or in something that is none."""
    return st.one_of(
        documents.map(lambda text: text.encode(errors="surrogatepass")),
        documents.map(lambda text: text.encode("utf-16", errors="surrogatepass")),
        documents.map(lambda text: text.encode("latin-1", errors="replace")),
        st.tuples(documents, st.binary(max_size=8), st.integers(0, 500)).map(_with_bytes),
        st.binary(max_size=300),
    )


def _with_bytes(parts: tuple[str, bytes, int]) -> bytes:
    document, inserted, at = parts
    data = document.encode(errors="surrogatepass")
    return data[:at] + inserted + data[at:]


class _Twice:
    """The value of a key that stands in its object twice."""

    def __init__(self, first: Any, second: Any) -> None:
        self.first = first
        self.second = second


class _Raw:
    """JSON that is written as it stands."""

    def __init__(self, text: str) -> None:
        self.text = text


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


def _written(value: Any, ascii_only: bool) -> str:
    match value:
        case _Raw():
            return value.text
        case dict():
            return "{" + ",".join(_member(key, item, ascii_only) for key, item in value.items()) + "}"
        case list():
            return "[" + ",".join(_written(item, ascii_only) for item in value) + "]"
        case _Twice():
            return _written(value.first, ascii_only)
        case _:
            return json.dumps(value, ensure_ascii=ascii_only)


def _member(key: str, value: Any, ascii_only: bool) -> str:
    name = json.dumps(key, ensure_ascii=ascii_only)
    if isinstance(value, _Twice):
        return f"{name}:{_written(value.first, ascii_only)},{name}:{_written(value.second, ascii_only)}"
    return f"{name}:{_written(value, ascii_only)}"
