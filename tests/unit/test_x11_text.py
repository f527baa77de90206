"""X11 text properties: whatever bytes a window carries, a bounded line of text comes out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antidrift.domain import limits
from antidrift.sensors.x11_text import NAME_LIMIT, TITLE_LIMIT, decode, decode_class, program_name


@pytest.mark.parametrize(
    ("encoding", "data", "text"),
    [
        ("UTF8_STRING", "Übung – 日本 🙂".encode(), "Übung – 日本 🙂"),
        ("STRING", "naïve".encode("latin-1"), "naïve"),
        ("STRING", "é".encode(), "Ã©"),
        ("UTF8_STRING", b"", ""),
        ("UTF8_STRING", b"caf\xe9 \xff\xfe!", "caf\ufffd \ufffd\ufffd!"),
        ("UTF8_STRING", b"cut \xe2\x80", "cut \ufffd"),
        ("TEXT", "déjà".encode(), "déjà"),
        ("", "déjà".encode("latin-1"), "déjà"),
    ],
)
def test_a_text_is_read_in_the_encoding_that_its_type_names(encoding: str, data: bytes, text: str) -> None:
    assert decode(encoding, data, TITLE_LIMIT) == text


# As libX11's Xutf8TextListToTextProperty writes them.
@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain", "plain"),
        (b"na\xefve caf\xe9", "naïve café"),
        (b"\x1b$(BF|K\\8l\x1b(B \x1b$(B%F%9%H", "日本語 テスト"),
        (b"\x1b)I\xca\xdd\xb6\xb8", "ﾊﾝｶｸ"),
        (b"\x1b$(CGQ19>n", "한국어"),
        (b"\x1b$(BCfJ8\x1b$(A<r\x1b$(BBN", "中文简体"),
        (b"\x1b-L\xbf\xe0\xd8\xd2\xd5\xe2 \xdc\xd8\xe0", "Привет мир"),
        (b"\x1b-F\xc5\xeb\xeb\xe7\xed\xe9\xea\xdc", "Ελληνικά"),
        (b"\x1b-B\xb3\x1b-A\xf3d\x1b-B\xbc \x1b%G\xe2\x80\x93\x1b%@ x", "łódź – x"),
        (b"\x1b$)A\xd6\xd0\xce\xc4", "中文"),
        (b"nothing \x1b%G\x1b%@ in UTF-8", "nothing  in UTF-8"),
        (b"\x1b%G\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d\x1b%@", "שלום"),
    ],
)
def test_compound_text_changes_its_character_set_on_the_way(data: bytes, text: str) -> None:
    assert decode("COMPOUND_TEXT", data, TITLE_LIMIT) == text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a \x1b%/1\x80\x88big5-0\x02\xa4 b", "a \ufffd b"),
        (b"a \x1b%/1\x81\x86" + b"big5-0\x02" + b"\xa4" * 127 + b" b", "a \ufffd b"),
        (b"a \x9b2]right to left\x9b] b", "a right to left b"),
        (b"\x1b(Zunknown s\xe9t", "unknown sét"),
        (b"open end \x1b%Gutf-8", "open end utf-8"),
        (b"lone escape \x1b", "lone escape \ufffd"),
        (b"\x1bA \x85", "\ufffdA  "),
        (b"\x1b$(B\x46", "\ufffd"),
        (b"no such letter \x1b-F\xff", "no such letter \ufffd"),
        (b"no UTF-8 \x1b%G\xff", "no UTF-8 \ufffd"),
    ],
)
def test_compound_text_outside_the_known_sets_leaves_the_rest_readable(data: bytes, text: str) -> None:
    assert decode("COMPOUND_TEXT", data, TITLE_LIMIT) == text


@pytest.mark.parametrize("encoding", ["UTF8_STRING", "STRING", "COMPOUND_TEXT", ""])
def test_a_text_ends_at_the_first_nul(encoding: str) -> None:
    assert decode(encoding, b"before\0after", TITLE_LIMIT) == "before"


def test_control_characters_and_line_breaks_become_spaces() -> None:
    shown = {code for code in range(1, 0x2100) if decode("UTF8_STRING", chr(code).encode(), TITLE_LIMIT) == chr(code)}
    assert shown == {*range(0x20, 0x7F), *range(0xA0, 0x2028), *range(0x202A, 0x2100)}
    assert decode("UTF8_STRING", "a\tb\nc\x1bd\x7fe\x85f\u2028g".encode(), TITLE_LIMIT) == "a b c d e f g"


def test_a_text_is_bounded_in_characters() -> None:
    assert (TITLE_LIMIT, NAME_LIMIT) == (limits.TITLE_CHARS, limits.CLASS_CHARS), "as are those that others report"
    assert decode("UTF8_STRING", ("🙂" * 2_000).encode(), TITLE_LIMIT) == "🙂" * 1_000


@pytest.mark.parametrize(
    ("data", "wm_class"),
    [
        (b"navigator\0Firefox\0", "Firefox"),
        (b"navigator\0Firefox", "Firefox"),
        (b"xterm\0", "xterm"),
        (b"xterm\0\0", "xterm"),
        (b"xterm", "xterm"),
        (b"\0XTerm\0", "XTerm"),
        (b"one\0two\0three\0", "two"),
        (b"", ""),
        (b"i\0" + b"C" * 500, "C" * NAME_LIMIT),
        (b"i" * 500, "i" * NAME_LIMIT),
        ("\0é".encode(), "Ã©"),
        ("é".encode(), "Ã©"),
    ],
)
def test_the_class_is_the_second_string_of_wm_class_or_else_the_first(data: bytes, wm_class: str) -> None:
    assert decode_class("STRING", data) == wm_class


@pytest.mark.parametrize(
    ("executable", "name"),
    [
        (b"/usr/bin/python3.11", "python3.11"),
        (b"/opt/app/tool (deleted)", "tool"),
        (b"/tmp/caf\xe9\n", "caf\ufffd "),
        (b"/" + b"x" * 300, "x" * NAME_LIMIT),
    ],
)
def test_a_program_is_named_by_the_last_part_of_its_path(executable: bytes, name: str) -> None:
    assert program_name(executable) == name


@given(st.sampled_from(["UTF8_STRING", "STRING", "COMPOUND_TEXT", "other"]), st.binary(max_size=200))
def test_any_bytes_become_printable_text_that_can_be_sent(encoding: str, data: bytes) -> None:
    text = decode(encoding, data, TITLE_LIMIT)
    text.encode()
    assert not set(text) & {chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))}
