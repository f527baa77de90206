"""What may stand in config.toml: nothing stops the service, what is wrong is named, and the defaults hold for it."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example
from hypothesis import strategies as st

from antidrift.config import MAX_PROBLEMS, Config, LoadedConfig, Paths, load_config
from antidrift.domain.model import Titles
from support.fuzzing import any_text, as_bytes, cpu_limit, damaged, fuzzed, texts

EXAMPLE = re.sub(
    r"^#(?=\S)", "", (Path(__file__).parents[2] / "docs" / "config.example.toml").read_text(), flags=re.MULTILINE
)
HOME = {"HOME": "/home/ada"}

# For every key a value that is right, with what is then read.
GOOD: dict[str, tuple[str, Any]] = {
    "ai.backend": ('"codex"', "codex"),
    "ai.command": ('"/opt/codex"', Path("/opt/codex")),
    "ai.model": ('"gpt-5.1"', "gpt-5.1"),
    "always_allowed.classes": ('["Emacs"]', ("Emacs",)),
    "always_allowed.titles": ('["thesis"]', ("thesis",)),
    "always_allowed.domains": ('["example.org"]', ("example.org",)),
    "always_allowed.commands": ('["vim"]', ("vim",)),
    "many_purpose.classes": ('["Slack"]', ("Slack",)),
    "tasks.limit": ("5", 5),
    "knowledge.path": ('"~/me.md"', Path("/home/ada/me.md")),
    "sensor.reporters": ('["org.example.Reporter"]', ("org.example.Reporter",)),
    "presence.idle_secs": ("60", 60),
    "presence.interrupted_after_secs": ("3600", 3600),
    "privacy.keep_prompts": ("true", True),
}
BAD = [
    *('""', '" "', "-1", "0", "1.5", "nan", "inf", "-inf", "9" * 30, "0x7fffffffffffffff", "1979-05-27", "07:32:00"),
    *("[[]]", "[1]", '[""]', '["x", 1]', "{}", "{ a = 1 }", "[{}]", '"\\u0000"', '"\\u202e\\u001b[2J"', "[nan]"),
    *(f'"{"x" * 5000}"', f'["{"x" * 300}"]', f"[{'[' * 50}{']' * 50}]", "[" + '"a",' * 501 + "]"),
]

values = st.sampled_from([*BAD, *(text for text, _ in GOOD.values())])
keys = st.sampled_from(
    [*GOOD, "tasks.source", "tasks.path", "privacy.titles", "privacy.exclude_apps", "class_aliases.x"]
)
documents = st.one_of(
    any_text,
    texts(
        "[ai] [[ai]] ai . = \" ' { } [ ] \n # true 1 nan backend privacy titles class_aliases 1979-05-27 \\u0000", 80
    ),
    st.just(EXAMPLE).flatmap(damaged),
    st.lists(st.tuples(keys | texts("ai privacy a.b x"), values), max_size=8).map(
        lambda pairs: "\n".join(f"{key} = {value}" for key, value in pairs)
    ),
)


def load(data: bytes) -> LoadedConfig:
    with TemporaryDirectory() as name:
        paths = Paths(Path(name) / "config.toml", Path(name), Path(name))
        paths.config_file.write_bytes(data)
        loaded = load_config(paths, HOME)
        assert all(str(paths.config_file) in problem for problem in loaded.problems[:MAX_PROBLEMS])
        return loaded


def value_of(config: Config, key: str) -> Any:
    table, name = key.split(".")
    return asdict(config)[table][name]


@fuzzed("config.toml", data=as_bytes(documents))
@example(data=b"presence.idle_secs=3601\npresence.interrupted_after_secs=86401\ntasks.limit=51")
@example(data=b"presence.idle_secs=29\npresence.interrupted_after_secs=59\ntasks.limit=0")
@example(data=b"a=" + b"[" * 60_000)
@example(data=b"a={" * 20_000)
@example(data=b"a." * 32_000 + b"a=1")
@example(data=b"[" + b"a." * 32_000 + b"a]")
@example(data=b"a=" + b"9" * 60_000)
@example(data=b"x" * 1_000_000)
@example(data=b"".join(b"k%d=1\n" % n for n in range(7_000)))
@example(data=b"always_allowed.titles=[" + b"1," * 30_000 + b"]")
def test_any_file_is_read_within_bounds_and_what_is_wrong_is_told_in_lines_that_can_be_shown(data: bytes) -> None:
    loaded = load(data)
    config = loaded.config
    assert len(loaded.problems) <= MAX_PROBLEMS + 1
    assert all(problem.isprintable() and len(problem) < 1000 for problem in loaded.problems)
    assert 30 <= config.presence.idle_secs <= 3600
    assert 60 <= config.presence.interrupted_after_secs <= 86_400
    assert 1 <= config.tasks.limit <= 50
    for path in (config.ai.command, config.tasks.path, config.knowledge.path):
        assert path is None or (path.is_absolute() and str(path).isprintable())
    for names in (*asdict(config.always_allowed).values(), config.many_purpose.classes, config.privacy.exclude_apps):
        assert len(names) <= 500
        assert all(0 < len(name) <= 200 and name.strip() for name in names)
    config.policy(HOME)
    if any("privacy" in problem for problem in loaded.problems):
        assert config.privacy.titles is Titles.NEVER


# Of a list only the entries that are wrong are left out.
WHOLLY_BAD = [text for text in BAD if text != '["x", 1]']


@fuzzed("config.toml", wrong=st.dictionaries(st.sampled_from(list(GOOD)), st.sampled_from(WHOLLY_BAD), max_size=4))
def test_a_key_that_is_wrong_is_named_and_keeps_its_default_and_every_other_key_holds(wrong: dict[str, str]) -> None:
    loaded = load("\n".join(f"{key} = {wrong.get(key, good)}" for key, (good, _) in GOOD.items()).encode())
    for key, (_, meant) in GOOD.items():
        named = any(f": {key}" in problem for problem in loaded.problems)
        found = value_of(loaded.config, key)
        if key not in wrong:
            assert not named
            # Without a backend that exists no AI is used, whatever else is said of it.
            assert found == meant or (key.startswith("ai.") and "ai.backend" in wrong)
        elif named and not key.startswith("ai."):
            assert found == value_of(Config(), key)


def test_a_file_cut_short_anywhere_is_read_or_named() -> None:
    whole = EXAMPLE.encode()
    for length in range(0, len(whole), 23):
        load(whole[:length])


@pytest.mark.parametrize(
    "piece", ["a.", '"a".', "[a.", "a={", "[[a]]\n", "a=[[", "'", '"""', "\\", "#", "\n", "a.b=1\n"]
)
def test_no_file_takes_long_to_read(piece: str) -> None:
    with cpu_limit():
        load((piece * 70_000)[: 64 * 1024].encode())
