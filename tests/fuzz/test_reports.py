"""What may stand in a report of a window: any dictionary is a bounded window, or refused with the name of the key."""

from __future__ import annotations

from typing import Any

from antidrift.bus import names as names  # first, because it makes dbus-next importable on later Pythons

# isort: split
from dbus_next.signature import Variant
from hypothesis import example
from hypothesis import strategies as st

from antidrift.bus.reports import stops, window_of
from antidrift.domain.errors import InvalidArgument
from antidrift.domain.model import Window
from support.fuzzing import any_text, fuzzed, outcome, texts

KEYS = ["class", "title", "app_id", "window_id", "pid", "reporting", "mood", ""]
lengths = st.sampled_from([64, 65, 128, 129, 255, 256, 1000, 1001, 100_000])
words = any_text | texts("firefox - Mozilla Firefox (Private Browsing)") | lengths.map(lambda n: "x" * n)
variants = st.one_of(
    st.builds(Variant, st.just("s"), words),
    st.builds(Variant, st.just("b"), st.booleans()),
    st.builds(Variant, st.just("u"), st.integers(0, 2**32 - 1)),
    st.builds(Variant, st.just("i"), st.integers(-(2**31), 2**31 - 1)),
    st.builds(Variant, st.just("t"), st.integers(0, 2**64 - 1)),
    st.builds(Variant, st.just("x"), st.integers(-(2**63), 2**63 - 1)),
    st.builds(Variant, st.just("d"), st.floats()),
    st.builds(Variant, st.just("as"), st.lists(words, max_size=2)),
    st.builds(Variant, st.just("v"), st.builds(Variant, st.just("s"), words)),
    st.just(Variant("a{sv}", {"class": Variant("s", "x")})),
    st.just(Variant("ay", b"bytes")),
    st.just(Variant("(s)", ["x"])),
    st.just(Variant("o", "/")),
)


@fuzzed("ReportFocus", examples=100, report=st.dictionaries(st.sampled_from(KEYS), variants, max_size=6))
@example(report={"class": Variant("s", "x" * 129)})
@example(report={"title": Variant("s", "x" * 1001)})
@example(report={"app_id": Variant("s", "x" * 256)})
@example(report={"window_id": Variant("s", "x" * 65)})
def test_any_report_is_a_bounded_window_or_refused_with_the_name_of_the_key(report: dict[str, Variant]) -> None:
    def read() -> Any:
        return stops(report), window_of(report, lambda pid: f"program-{pid}")

    match outcome(read, InvalidArgument):
        case InvalidArgument() as refusal:
            assert str(refusal).partition(" ")[0] in KEYS
            assert len(str(refusal)) < 100
        case (_, None):
            assert not set(report) - {"reporting"}
        case (_, Window() as window):
            bounds = {"wm_class": 128, "title": 1000, "app_id": 255, "window_id": 64}
            for field, most in bounds.items():
                text = getattr(window, field)
                assert len(text) <= most
                assert text == " ".join(text.split())
            assert window.pid is None or 0 < window.pid < 2**31
