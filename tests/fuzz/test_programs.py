"""What other programs write and what /proc says: help texts, words of failure, executables, window properties."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example
from hypothesis import strategies as st

from antidrift.backends.failures import classify, refuses_model, refuses_option
from antidrift.backends.options import offered_by
from antidrift.backends.process import STDOUT_KEPT
from antidrift.domain.model import FaultCode
from antidrift.sensors.x11_text import NAME_LIMIT, TITLE_LIMIT, decode, decode_class, program_name
from support.fuzzing import any_text, cpu_limit, damaged, fuzzed, texts

HELP = """Usage: claude [options] [prompt]

Options:
  -p, --print                     Print and exit (see --output-format)
  --tools <tools...>              Which tools there are
      --model <MODEL>   A model
"""
WORDS = (
    "429 rate limit quota not logged in /login 401 unable to connect unknown option invalid value for '-- selected "
    "model not found hit your limit 'loggedin': false \n"
)
COMPOUND = [
    *(b"\x1b%G", b"\x1b%@", b"\x1b%/1\x80\x88", b"\x1b%/0\xff\xff", b"\x1b$(B", b"\x1b(B", b"\x1b$)A", b"\x1b)I"),
    *(b"\x1b-A", b"\x1b", b"\x9b2]", b"\x9b]", b"\x9b", b"\0", b"abc", b"\xe4\xf6", b"F|K\\8l", b"\xff", b"\x1b \x1b"),
    *(b" (deleted)", b"/"),
]  # fmt: skip
properties = st.binary(max_size=300) | st.lists(st.sampled_from(COMPOUND), max_size=40).map(b"".join)
ENCODINGS = ["UTF8_STRING", "STRING", "COMPOUND_TEXT", "TEXT", ""]


def may_be_shown(text: str, most: int) -> bool:
    """Whether it is bounded, has UTF-8, and holds no control character and no line break."""
    text.encode()
    return len(text) <= most and not any(unicodedata.category(char) in ("Cc", "Zl", "Zp") for char in text)


@fuzzed("help of AI programs", text=st.just(HELP).flatmap(damaged) | texts("-p, --print -- - <x> \n \t", 60) | any_text)
@example(text=" -a, --" + "x " * 130_000)
def test_whatever_a_program_says_of_its_options_only_options_are_taken_from_it(text: str) -> None:
    for option in offered_by(text):
        assert re.fullmatch(r"--[A-Za-z][A-Za-z0-9-]*", option)
        assert option in text


@fuzzed("failures of AI programs", text=texts(WORDS, 60) | any_text, prompt=texts(WORDS) | any_text)
def test_whatever_a_failed_program_says_stands_for_one_of_the_known_reasons(text: str, prompt: str) -> None:
    assert classify(text, prompt) in {
        FaultCode.RATE_LIMITED,
        FaultCode.NOT_LOGGED_IN,
        FaultCode.OFFLINE,
        FaultCode.FAILED,
    }
    assert classify(prompt, prompt) is FaultCode.FAILED  # it only quotes
    assert not refuses_option(prompt, prompt)
    assert not refuses_model(prompt, prompt)


@pytest.mark.parametrize(
    "piece",
    ["invalid value ", "invalid value for '-", "model ", "hit your ", "connection ", "\n", "é", " --x", "  --", "İ"],
)
def test_no_words_of_a_program_take_long_to_weigh(piece: str) -> None:
    """ "invalid value" again and again, all on one line, took seconds of the service's only thread."""
    text = piece * (STDOUT_KEPT // len(piece.encode()))
    with cpu_limit(2.0):
        classify(text, piece)
        refuses_option(text, piece)
        refuses_model(text, piece)
        offered_by(text)


@fuzzed("X11 properties", examples=60, encoding=st.sampled_from(ENCODINGS), data=properties)
@example(encoding="COMPOUND_TEXT", data=b"\x1b$(Babc")  # half a character at the end
@example(encoding="COMPOUND_TEXT", data=b"\x1b%G" * 3_000)
@example(encoding="COMPOUND_TEXT", data=b"\x1b(" * 4_000)
@example(encoding="COMPOUND_TEXT", data=b"\x1b%/0\x80\x80" * 1_500)
@example(encoding="COMPOUND_TEXT", data=b"\xe4a" * 4_000)
def test_any_property_of_a_window_is_a_line_that_can_be_shown(encoding: str, data: bytes) -> None:
    assert may_be_shown(decode(encoding, data, TITLE_LIMIT), TITLE_LIMIT)
    assert may_be_shown(decode_class(encoding, data), NAME_LIMIT)


@fuzzed("/proc", executable=properties)
def test_any_executable_has_a_name_that_can_be_shown(executable: bytes) -> None:
    name = program_name(executable)
    assert may_be_shown(name, NAME_LIMIT)
    assert "/" not in name
