from __future__ import annotations

import os
import re
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from antidrift.config import Ai, Config, LoadedConfig, Paths, Privacy, load_config
from antidrift.domain.model import Allowed, FaultCode, Titles
from antidrift.domain.session import Policy

EXAMPLE = Path(__file__).parents[2] / "docs" / "config.example.toml"
HOME = {"HOME": "/home/ada"}


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths.from_environment({"ANTIDRIFT_HOME": str(tmp_path)})


def load(paths: Paths, text: str | bytes, **environ: str) -> LoadedConfig:
    paths.config_file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_config(paths, HOME | environ)


# Where files live


def test_without_any_xdg_variable_files_live_below_the_home_folder() -> None:
    paths = Paths.from_environment(HOME)
    assert paths.config_file == Path("/home/ada/.config/antidrift/config.toml")
    assert paths.state_dir == Path("/home/ada/.local/state/antidrift")
    assert paths.runtime_dir == Path("/home/ada/.local/state/antidrift/run")


def test_xdg_variables_say_where_files_live() -> None:
    xdg = {"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s", "XDG_RUNTIME_DIR": "/r"}
    paths = Paths.from_environment(HOME | xdg)
    assert paths == Paths(Path("/c/antidrift/config.toml"), Path("/s/antidrift"), Path("/r/antidrift"))


@pytest.mark.parametrize("value", ["", "config", "./config", "~/config"])
def test_an_xdg_variable_that_is_not_an_absolute_path_counts_as_unset(value: str) -> None:
    variables = dict.fromkeys(["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"], value)
    assert Paths.from_environment(HOME | variables) == Paths.from_environment(HOME)


def test_antidrift_home_puts_everything_in_one_folder() -> None:
    paths = Paths.from_environment(HOME | {"ANTIDRIFT_HOME": "/a", "XDG_STATE_HOME": "/s"})
    assert paths == Paths(Path("/a/config.toml"), Path("/a"), Path("/a/run"))


def test_a_relative_antidrift_home_starts_at_the_working_directory() -> None:
    assert Paths.from_environment({"ANTIDRIFT_HOME": "here"}).state_dir == Path.cwd() / "here"


@pytest.mark.parametrize("home", [{}, {"HOME": ""}, {"HOME": "relative"}])
def test_without_a_usable_home_variable_the_password_file_names_the_home_folder(home: dict[str, str]) -> None:
    assert Paths.from_environment(home).config_file.is_absolute()


def test_a_user_without_an_entry_there_has_no_home_folder_and_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 2**31 - 3)  # as in a container that runs under any number
    paths = Paths.from_environment({})
    assert paths.state_dir == Path("/nonexistent/.local/state/antidrift")
    assert load_config(paths, {}) == LoadedConfig(Config())


# What holds without a file, and what a file says


def test_without_a_config_file_the_defaults_hold_and_nothing_is_wrong(paths: Paths) -> None:
    assert load_config(paths, {}) == LoadedConfig(Config())


def test_the_defaults_are_claude_unnamed_no_tasks_and_the_times_of_the_specification() -> None:
    config = Config()
    assert (config.ai.name, config.ai.named) == ("claude", False)
    assert (config.tasks.source, config.tasks.limit) == ("none", 20)
    assert (config.knowledge.path, config.sensor.reporters) == (None, ())
    assert (config.presence.idle_secs, config.presence.interrupted_after_secs) == (180, 600)


def test_the_example_changes_nothing_as_it_stands(paths: Paths) -> None:
    assert load(paths, EXAMPLE.read_bytes()) == LoadedConfig(Config())


def test_the_example_shows_every_key_there_is_and_each_one_is_valid(paths: Paths) -> None:
    uncommented = re.sub(r"^#(?=\S)", "", EXAMPLE.read_text(), flags=re.MULTILINE)
    loaded = load(paths, uncommented)
    assert loaded.problems == ()
    for table in fields(Config):
        assert f"\n[{table.name}]\n" in uncommented
        if is_dataclass(values := getattr(loaded.config, table.name)):
            section = uncommented.split(f"[{table.name}]")[1].split("\n[")[0]
            assert [key.name for key in fields(values) if f"\n{key.name} = " not in section] == []


def test_every_table_reaches_the_config(paths: Paths) -> None:
    loaded = load(
        paths,
        """
        [ai]
        backend = "codex"
        command = "/opt/codex"
        model = "gpt-5.1"
        [always_allowed]
        classes = ["Emacs"]
        titles = [" thesis "]
        domains = ["example.org"]
        commands = ["vim"]
        [many_purpose]
        classes = ["Slack"]
        [class_aliases]
        "Code - OSS" = "code"
        [tasks]
        source = "markdown"
        path = "~/tasks.md"
        limit = 5
        [knowledge]
        path = "/srv/me.md"
        [sensor]
        reporters = ["org.example.Reporter", "any"]
        [presence]
        idle_secs = 30
        interrupted_after_secs = 86400
        [privacy]
        titles = "full"
        exclude_apps = ["org.keepassxc.KeePassXC"]
        keep_prompts = true
        """,
    )
    config = loaded.config
    assert loaded.problems == ()
    assert config.ai == Ai("codex", Path("/opt/codex"), "gpt-5.1")
    assert config.allowed == Allowed(("Emacs",), ("thesis",), ("example.org",), ("vim",))
    assert config.many_purpose.classes == ("Slack",)
    assert config.class_aliases == {"Code - OSS": "code"}
    assert (config.tasks.source, config.tasks.path, config.tasks.limit) == ("markdown", Path("/home/ada/tasks.md"), 5)
    assert config.knowledge.path == Path("/srv/me.md")
    assert config.sensor.reporters == ("org.example.Reporter", "any")
    assert (config.presence.idle_secs, config.presence.interrupted_after_secs) == (30, 86_400)
    assert config.privacy == Privacy(Titles.FULL, ("org.keepassxc.KeePassXC",), keep_prompts=True)


def test_a_byte_order_mark_is_no_mistake(paths: Paths) -> None:
    assert load(paths, b"\xef\xbb\xbf[presence]\nidle_secs = 60\n").config.presence.idle_secs == 60


# Which AI is asked, and whether that was the person's word


def test_naming_a_backend_in_the_file_counts_as_naming_it_even_if_it_is_the_default(paths: Paths) -> None:
    ai = load(paths, 'ai.backend = "claude"').config.ai
    assert (ai.name, ai.named) == ("claude", True)


def test_naming_none_is_no_consent(paths: Paths) -> None:
    loaded = load(paths, 'ai.backend = "none"')
    assert (loaded.config.ai.name, loaded.config.ai.named, loaded.ai_fault) == ("none", False, None)


def test_an_ai_table_without_a_backend_names_nothing(paths: Paths) -> None:
    ai = load(paths, 'ai.model = "opus"').config.ai
    assert (ai.name, ai.named, ai.model) == ("claude", False, "opus")


def test_the_environment_comes_before_the_file(paths: Paths) -> None:
    ai = load(paths, 'ai.backend = "claude"', ANTIDRIFT_AI_BACKEND="codex").config.ai
    assert (ai.name, ai.named) == ("codex", True)


def test_an_empty_variable_names_nothing(paths: Paths) -> None:
    assert load(paths, "", ANTIDRIFT_AI_BACKEND="").config.ai == Ai()


def test_program_and_model_of_the_file_are_not_given_to_another_backend(paths: Paths) -> None:
    text = '[ai]\nbackend = "codex"\ncommand = "/opt/codex"\nmodel = "gpt-5.1"'
    assert load(paths, text, ANTIDRIFT_AI_BACKEND="claude").config.ai == Ai("claude")
    assert load(paths, text, ANTIDRIFT_AI_BACKEND="codex").config.ai == Ai("codex", Path("/opt/codex"), "gpt-5.1")


def test_an_unknown_backend_in_the_environment_means_no_ai_and_says_which_there_are(paths: Paths) -> None:
    loaded = load(paths, 'ai.backend = "codex"', ANTIDRIFT_AI_BACKEND="gemini")
    assert (loaded.config.ai.name, loaded.config.ai.named) == ("none", False)
    assert loaded.problems == ("ANTIDRIFT_AI_BACKEND should be one of claude, codex, none, not 'gemini'",)
    assert loaded.ai_fault is not None
    assert loaded.ai_fault.code is FaultCode.UNAVAILABLE
    assert loaded.problems[0] in loaded.ai_fault.message


@pytest.mark.parametrize("value", ['"gemini"', '"Claude"', '""', "3", '["claude"]'])
def test_an_unknown_backend_in_the_file_means_no_ai_and_says_which_there_are(paths: Paths, value: str) -> None:
    loaded = load(paths, f'ai.model = "opus"\nai.backend = {value}\npresence.idle_secs = 60')
    assert (loaded.config.ai.name, loaded.config.presence.idle_secs) == ("none", 60)
    assert loaded.problems == (f"{paths.config_file}: ai.backend should be 'claude', 'codex' or 'none'",)
    assert loaded.ai_fault is not None


def test_a_valid_variable_makes_up_for_an_unknown_backend_in_the_file(paths: Paths) -> None:
    loaded = load(paths, 'ai.backend = "gemini"', ANTIDRIFT_AI_BACKEND="claude")
    assert (loaded.config.ai.name, loaded.config.ai.named, loaded.ai_fault) == ("claude", True, None)
    assert len(loaded.problems) == 1


# Mistakes in single keys


def problem_of(loaded: LoadedConfig, paths: Paths) -> str:
    (problem,) = loaded.problems
    return problem.removeprefix(f"{paths.config_file}: ")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("presence.idle_secs = 29", "presence.idle_secs should be greater than or equal to 30"),
        ("presence.idle_secs = 3601", "presence.idle_secs should be less than or equal to 3600"),
        ('presence.idle_secs = "60"', "presence.idle_secs should be a valid integer"),
        ("presence.idle_secs = true", "presence.idle_secs should be a valid integer"),
        ("presence.idle_secs = 60.0", "presence.idle_secs should be a valid integer"),
        (
            "presence.interrupted_after_secs = 59",
            "presence.interrupted_after_secs should be greater than or equal to 60",
        ),
        ("tasks.limit = 51", "tasks.limit should be less than or equal to 50"),
        ('tasks.source = "trello"', "tasks.source should be 'todo.txt', 'markdown', 'taskwarrior' or 'none'"),
        ('knowledge.path = "me.md"', "knowledge.path should be a path that begins with / or ~/"),
        ("knowledge.path = 5", "knowledge.path should be a path of at most 4096 printable characters"),
        ('knowledge.path = "/a\\u0000b"', "knowledge.path should be a path of at most 4096 printable characters"),
        ('ai.command = "claude"', "ai.command should be a path that begins with / or ~/"),
        ('ai.model = "--yolo"', "ai.model should be the name of a model, at most 100 letters, digits and ._:/@+[]-"),
        ('always_allowed.titles = [" "]', "always_allowed.titles[0] is blank"),
        ('always_allowed.titles = "thesis"', "always_allowed.titles should be a list"),
        ("always_allowed.titles = [5]", "always_allowed.titles[0] should be a valid string"),
        (f"many_purpose.classes = ['{'a' * 201}']", "many_purpose.classes[0] should have at most 200 characters"),
        (f"many_purpose.classes = {['a'] * 501}", "many_purpose.classes has too many entries"),
        (
            'sensor.reporters = [":1.7"]',
            'sensor.reporters[0] should be a bus name such as org.example.Reporter, or "any"',
        ),
        ("class_aliases.code = 1", "class_aliases.code should be a valid string"),
        ('class_aliases."" = "code"', "class_aliases. is blank"),
        ('class_aliases."" = 1', "class_aliases. should be a valid string"),
        ("class_aliases = 1", "class_aliases should be a table"),
        ("presence = 1", "presence should be a table"),
        ("presence.idel_secs = 60", "presence.idel_secs is not a known key and is ignored"),
        ("[weather]", "weather is not a known key and is ignored"),
        ('"\\u001b[2J" = 1', "?[2J is not a known key and is ignored"),
    ],
)
def test_a_wrong_key_is_named_with_what_it_should_be_and_keeps_its_default(
    paths: Paths, text: str, problem: str
) -> None:
    loaded = load(paths, text)
    assert problem_of(loaded, paths) == problem
    assert loaded.config == Config()


@pytest.mark.parametrize(
    ("text", "longest"),
    [
        ("knowledge.path = '/{}'", 4095),
        ("ai.model = 'm{}'", 99),
        ("sensor.reporters = ['a.{}']", 253),
        ("always_allowed.titles = ['{}']", 200),
        ("[class_aliases]\n'{}' = 'code'", 200),
    ],
)
def test_a_value_has_its_bound(paths: Paths, text: str, longest: int) -> None:
    assert load(paths, text.format("x" * longest)).problems == ()
    assert len(load(paths, text.format("x" * (longest + 1))).problems) == 1


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("tasks.limit = {}", 1, 50),
        ("presence.idle_secs = {}", 30, 3600),
        ("presence.interrupted_after_secs = {}", 60, 86_400),
    ],
)
def test_a_number_has_its_bounds_and_is_an_integer(paths: Paths, text: str, least: int, most: int) -> None:
    for number in (least, most):
        assert load(paths, text.format(number)).problems == ()
    for wrong in (least - 1, most + 1, f'"{least}"', "true", f"{least}.0"):
        loaded = load(paths, text.format(wrong))
        assert (loaded.config, len(loaded.problems)) == (Config(), 1), wrong


@pytest.mark.parametrize("wrong", [1, 0, '"true"', '"yes"'])
def test_to_keep_prompts_takes_the_word_true(paths: Paths, wrong: object) -> None:
    assert load(paths, f"privacy.keep_prompts = {wrong}").config.privacy.keep_prompts is False


@pytest.mark.parametrize(
    ("text", "entry", "most"),
    [
        ("always_allowed.titles = [{}]", '"a"', 500),
        ("class_aliases = {{{}}}", '"{}" = "code"', 500),
        ("sensor.reporters = [{}]", '"a.b"', 20),
    ],
)
def test_a_list_and_a_table_of_names_have_their_bounds(paths: Paths, text: str, entry: str, most: int) -> None:
    entries = [entry.format(number) for number in range(most + 1)]
    assert load(paths, text.format(", ".join(entries[:most]))).problems == ()
    assert len(load(paths, text.format(", ".join(entries))).problems) == 1


@pytest.mark.parametrize("name", ["any", "org.example.Reporter", "_a-1.B", "a.b.c", "-a.-b._c-", "A.B"])
def test_a_reporter_is_a_bus_name_or_any(paths: Paths, name: str) -> None:
    assert load(paths, f'sensor.reporters = ["{name}"]').config.sensor.reporters == (name,)


@pytest.mark.parametrize(
    "name", [":1.7", "Reporter", "org.exämple.Reporter", "org.1a", "1a.org", "a..b", "a.b.", "all"]
)
def test_what_is_no_bus_name_is_no_reporter(paths: Paths, name: str) -> None:
    loaded = load(paths, f'sensor.reporters = ["{name}"]')
    assert (loaded.config.sensor.reporters, len(loaded.problems)) == ((), 1)


@pytest.mark.parametrize("name", ["m", "opus", "Opus-4", "7b", "vendor/Model:1.0@latest", "us.model_v2+x[1m]"])
def test_a_model_has_the_name_that_its_maker_gave_it(paths: Paths, name: str) -> None:
    assert load(paths, f'ai.model = "{name}"').config.ai.model == name


@pytest.mark.parametrize("name", ["", "-m", "--yolo", ".hidden", "two words", "modèle", "a;b"])
def test_what_could_be_more_than_a_name_is_no_model(paths: Paths, name: str) -> None:
    loaded = load(paths, f'ai.model = "{name}"')
    assert (loaded.config.ai.model, len(loaded.problems)) == (None, 1)


def test_a_wrong_key_does_not_take_the_rest_with_it(paths: Paths) -> None:
    loaded = load(
        paths,
        """
        weather = "fine"
        [presence]
        idle_secs = "soon"
        interrupted_after_secs = 900
        [always_allowed]
        classes = ["Emacs", 5, "", "Evince", ["x"]]
        [class_aliases]
        good = "code"
        bad = 5
        """,
    )
    assert loaded.config.presence.interrupted_after_secs == 900
    assert loaded.config.always_allowed.classes == ("Emacs", "Evince")
    assert loaded.config.class_aliases == {"good": "code"}
    assert len(loaded.problems) == 6


@pytest.mark.parametrize("source", ["todo.txt", "markdown"])
def test_a_task_file_without_a_path_means_no_tasks(paths: Paths, source: str) -> None:
    loaded = load(paths, f'tasks.source = "{source}"')
    assert loaded.config.tasks.source == "none"
    assert problem_of(loaded, paths) == "tasks.path is missing, so there are no tasks"


def test_a_path_to_the_tasks_that_is_wrong_is_not_called_missing(paths: Paths) -> None:
    loaded = load(paths, 'tasks.source = "markdown"\ntasks.path = "tasks.md"')
    assert loaded.config.tasks.source == "none"
    assert problem_of(loaded, paths) == "tasks.path should be a path that begins with / or ~/"


def test_taskwarrior_needs_no_path(paths: Paths) -> None:
    loaded = load(paths, 'tasks.source = "taskwarrior"')
    assert (loaded.config.tasks.source, loaded.problems) == ("taskwarrior", ())


def test_problems_never_quote_a_value_of_the_file(paths: Paths) -> None:
    loaded = load(
        paths, 'ai.backend = "secret"\nalways_allowed.titles = "secret"\nknowledge.path = "secret"\nx = "secret"'
    )
    assert len(loaded.problems) == 4
    assert "secret" not in repr(loaded.problems)


def test_a_problem_stays_short_whatever_the_name(paths: Paths) -> None:
    loaded = load(paths, f"{'k' * 500} = 1", ANTIDRIFT_AI_BACKEND="b" * 500)
    assert loaded.problems == (
        f"{paths.config_file}: {'k' * 60} is not a known key and is ignored",
        f"ANTIDRIFT_AI_BACKEND should be one of claude, codex, none, not '{'b' * 40}'",
    )


def test_many_mistakes_are_counted_after_the_first_twenty(paths: Paths) -> None:
    loaded = load(paths, f"always_allowed.titles = {list(range(100))}")
    assert len(loaded.problems) == 21
    assert loaded.problems[-1] == "and 80 more"
    assert len(load(paths, f"always_allowed.titles = {list(range(20))}").problems) == 20


# Files that cannot be used at all


def test_broken_toml_is_reported_with_its_line(paths: Paths) -> None:
    loaded = load(paths, "[presence]\nidle_secs = = 5\n")
    assert loaded.problems == (f"{paths.config_file} is not valid TOML: Invalid value (at line 2, column 13)",)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"a = '\xff'", "is not UTF-8 text: invalid start byte at byte 5"),
        (b"#" * 70_000, "is larger than 64 KiB"),
        (b"a = " + b"9" * 5000, "holds a value that is too large to read"),
        (b"a = " + b"[" * 5000, "holds a value that is too large to read"),
    ],
)
def test_a_file_that_cannot_be_parsed_is_reported_by_name(paths: Paths, content: bytes, problem: str) -> None:
    assert load(paths, content).problems == (f"{paths.config_file} {problem}",)


@pytest.mark.parametrize("content", [b"#" * 65_536, (b"#" + b"." * 2_000 + b"\n") * 20, b"#" + b" x\n#." * 2_500])
def test_a_file_may_be_as_large_as_that(paths: Paths, content: bytes) -> None:
    assert load(paths, content) == LoadedConfig(Config())


def test_a_line_with_more_dots_than_any_key_has_is_not_read(paths: Paths) -> None:
    loaded = load(paths, b"#\n#" + b"." * 2_001)
    assert loaded.problems == (f"{paths.config_file} has a line with more than 2000 dots",)


def test_a_file_that_cannot_be_parsed_means_no_ai_since_it_may_say_so(paths: Paths) -> None:
    loaded = load(paths, 'ai.backend = "none"\n=')
    assert loaded.config == Config(ai=Ai("none"), privacy=Privacy(Titles.NEVER))
    assert loaded.ai_fault is not None
    assert load(paths, "=", ANTIDRIFT_AI_BACKEND="codex").config.ai == Ai("codex")


# What an AI may see


def test_by_default_an_ai_sees_titles_redacted_and_nothing_of_what_is_sent_is_kept_but_its_hash() -> None:
    assert Config().privacy == Privacy(Titles.REDACT, (), keep_prompts=False)


@pytest.mark.parametrize(
    "text",
    [
        'privacy.titles = "none"',
        "privacy.titles = false",
        'privacy.exclude_apps = "keepassxc"',
        'privacy.exclude_apps = ["keepassxc", 5]',
        'privacy.exclude_app = ["keepassxc"]',
        'privacy = "never"',
        'privacy.titles = "full"\nprivacy.exclude_apps = [""]',
    ],
)
def test_a_mistake_about_privacy_means_that_an_ai_sees_no_title(paths: Paths, text: str) -> None:
    loaded = load(paths, f'ai.backend = "claude"\n{text}')
    assert loaded.config.privacy.titles is Titles.NEVER
    assert (loaded.config.ai.name, len(loaded.problems)) == ("claude", 1)


def test_a_file_that_cannot_be_parsed_means_that_an_ai_sees_no_title_since_it_may_say_so(paths: Paths) -> None:
    assert load(paths, "=", ANTIDRIFT_AI_BACKEND="claude").config.privacy.titles is Titles.NEVER


def test_a_mistake_elsewhere_changes_nothing_about_privacy(paths: Paths) -> None:
    text = 'privacy_policy = "none"\npresence.idle_secs = 1\nprivacy.titles = "full"'
    assert load(paths, text).config.privacy.titles is Titles.FULL


def test_the_domain_is_told_all_of_it_in_its_own_names_for_apps(paths: Paths) -> None:
    text = """
        [always_allowed]
        titles = ["thesis"]
        [many_purpose]
        classes = ["Vault", "Slack"]
        [class_aliases]
        "Vault" = "org.keepassxc.KeePassXC"
        [presence]
        interrupted_after_secs = 900
        idle_secs = 240
        [privacy]
        titles = "never"
        exclude_apps = ["Vault", "Navigator"]
    """
    assert load(paths, text).config.policy({"HOME": "/srv/ada"}) == Policy(
        always_allowed=Allowed(titles=("thesis",)),
        many_purpose=frozenset({"keepassxc", "slack"}),
        aliases={"vault": "keepassxc"},
        interrupted_after_secs=900.0,
        idle_secs=240.0,
        titles=Titles.NEVER,
        exclude_apps=frozenset({"keepassxc", "firefox"}),
        home="/srv/ada",
    )


def test_a_folder_in_the_place_of_the_file_is_reported(paths: Paths) -> None:
    paths.config_file.mkdir()
    assert load_config(paths, HOME).problems == (f"{paths.config_file} is not a regular file",)


def test_a_pipe_in_the_place_of_the_file_is_reported_and_not_waited_for(paths: Paths) -> None:
    os.mkfifo(paths.config_file)
    assert load_config(paths, HOME).problems == (f"{paths.config_file} is not a regular file",)


def test_a_device_or_a_link_in_a_circle_is_reported(paths: Paths) -> None:
    paths.config_file.symlink_to("/dev/zero")
    assert load_config(paths, {}).problems == (f"{paths.config_file} is not a regular file",)
    paths.config_file.unlink()
    paths.config_file.symlink_to(paths.config_file)
    assert load_config(paths, {}).problems == (
        f"{paths.config_file} cannot be read: Too many levels of symbolic links",
    )


def test_a_file_that_may_not_be_read_is_reported(paths: Paths) -> None:
    paths.config_file.symlink_to(paths.config_file)  # as unreadable for root as for anybody
    assert load_config(paths, HOME).problems == (
        f"{paths.config_file} cannot be read: Too many levels of symbolic links",
    )


# Any file

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("any")


_keys = st.one_of(
    st.sampled_from([table.name for table in fields(Config)]),
    st.sampled_from(["backend", "classes", "titles", "source", "path", "limit", "reporters", "idle_secs", "model"]),
    st.text(max_size=3),
)
_values = st.recursive(
    st.one_of(st.booleans(), st.integers(), st.text(max_size=5), st.floats(), st.just("claude"), st.just("/x")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=3),
    max_leaves=10,
)


def _toml(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return '"' + "".join(f"\\U{ord(c):08x}" for c in value) + '"'
        case list():
            return f"[{', '.join(map(_toml, value))}]"
        case dict():
            return "{" + ", ".join(f"{_toml(key)} = {_toml(item)}" for key, item in value.items()) + "}"
        case _:
            return repr(value)


@unhurried
@given(document=st.dictionaries(_keys, _values, max_size=4))
def test_any_toml_gives_a_config(folder: Path, document: dict[str, object]) -> None:
    paths = Paths.from_environment({"ANTIDRIFT_HOME": str(folder)})
    text = "\n".join(f"{_toml(key)} = {_toml(value)}" for key, value in document.items())
    loaded = load(paths, text)
    assert not any("TOML" in problem for problem in loaded.problems)
    assert load_config(paths, HOME) == loaded


@unhurried
@given(content=st.binary(max_size=200) | st.text(alphabet="[]{}=\"'\n#.\\ ua1", max_size=40).map(str.encode))
def test_any_bytes_give_a_config(folder: Path, content: bytes) -> None:
    paths = Paths.from_environment({"ANTIDRIFT_HOME": str(folder)})
    assert isinstance(load(paths, content).config, Config)
