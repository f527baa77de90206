"""The config file and the folders: text from the person becomes bounded values, and nothing in it stops the service.

What is wrong is left out key by key and named in a sentence; the rest of the file holds. The values never appear in
those sentences, since a config file holds window titles and paths.
"""

from __future__ import annotations

import os
import pwd
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, cast, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
)

from antidrift.domain.matching import canonical_class
from antidrift.domain.model import Allowed, Fault, FaultCode, Titles
from antidrift.domain.session import Policy

BACKEND_VARIABLE = "ANTIDRIFT_AI_BACKEND"
MAX_FILE_BYTES = 64 * 1024
MAX_PROBLEMS = 20
MAX_DOTS = 2000  # in one line; tomllib takes the square of a key's parts

BackendName = Literal["claude", "codex", "none"]
TaskSourceName = Literal["todo.txt", "markdown", "taskwarrior", "none"]


@dataclass(frozen=True, slots=True)
class Paths:
    """Where files live, all absolute. None of them is created here."""

    config_file: Path
    state_dir: Path
    runtime_dir: Path

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Paths:
        """The folders of the XDG Base Directory Specification 0.8, or everything below `ANTIDRIFT_HOME`.

        As the specification demands, a variable that is empty or holds a relative path counts as unset. Without an
        `XDG_RUNTIME_DIR` the state folder stands in. A relative `ANTIDRIFT_HOME` starts at the working directory.
        """
        if everything := environ.get("ANTIDRIFT_HOME"):
            home = Path(everything).absolute()
            return cls(config_file=home / "config.toml", state_dir=home, runtime_dir=home / "run")
        user = _home(environ)
        config = _xdg(environ, "XDG_CONFIG_HOME") or user / ".config"
        state = (_xdg(environ, "XDG_STATE_HOME") or user / ".local" / "state") / "antidrift"
        runtime = _xdg(environ, "XDG_RUNTIME_DIR")
        return cls(
            config_file=config / "antidrift" / "config.toml",
            state_dir=state,
            runtime_dir=runtime / "antidrift" if runtime else state / "run",
        )


def _xdg(environ: Mapping[str, str], variable: str) -> Path | None:
    path = Path(environ.get(variable, ""))
    return path if path.is_absolute() else None


def _home(environ: Mapping[str, str]) -> Path:
    home = Path(environ.get("HOME", ""))
    if home.is_absolute():
        return home
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:  # a container may run a user without an entry; then no file is found and none can be written
        return Path("/nonexistent")


def _user_path(value: object, info: ValidationInfo) -> Path:
    if not isinstance(value, str) or len(value) > 4096 or not value.isprintable():
        raise ValueError("should be a path of at most 4096 printable characters")
    home = cast("dict[str, Path]", info.context)["home"]
    path = home / value[2:] if value.startswith("~/") else Path(value)
    if not path.is_absolute():  # it would start at whatever folder the service was started in
        raise ValueError("should be a path that begins with / or ~/")
    return path


def _bus_name(value: str) -> str:
    # As the D-Bus Specification has it ("Valid Names"), without unique names: those last for one connection.
    well_known = re.fullmatch(r"[A-Za-z_-][\w-]*(\.[A-Za-z_-][\w-]*)+", value, re.ASCII) and len(value) <= 255
    if not well_known and value != "any":
        raise ValueError('should be a bus name such as org.example.Reporter, or "any"')
    return value


def _model_name(value: str) -> str:
    # It becomes an argument of the AI program and must not read as an option.
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._:/@+\[\]-]{0,99}", value):
        raise ValueError("should be the name of a model, at most 100 letters, digits and ._:/@+[]-")
    return value


# A blank matcher would match every window there is.
_Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
_Names = Annotated[tuple[_Name, ...], Field(max_length=500)]
_BusNames = Annotated[tuple[Annotated[str, AfterValidator(_bus_name)], ...], Field(max_length=20)]
_Model = Annotated[str, AfterValidator(_model_name)]
_UserPath = Annotated[Path, BeforeValidator(_user_path)]


@dataclass(frozen=True, slots=True)
class Ai:
    """Which AI program is asked. `command`: the program file, None: it is looked for. `model`: None: its own choice."""

    backend: BackendName | None = None
    command: _UserPath | None = None
    model: _Model | None = None

    @property
    def name(self) -> BackendName:
        """The backend to use: the one named, else "claude"."""
        return self.backend or "claude"

    @property
    def named(self) -> bool:
        """True if the person named an AI program, in the environment or in the file; that is consent to use it."""
        return self.backend not in (None, "none")


@dataclass(frozen=True, slots=True)
class AlwaysAllowed:
    """What is on task in every session."""

    classes: _Names = ()
    titles: _Names = ()
    domains: _Names = ()
    commands: _Names = ()


@dataclass(frozen=True, slots=True)
class ManyPurpose:
    """Window classes beside the browsers whose pages are judged one by one."""

    classes: _Names = ()


@dataclass(frozen=True, slots=True)
class Tasks:
    """Where today's tasks come from. `path` is the file, or for Taskwarrior the program (None: `task` on PATH)."""

    source: TaskSourceName = "none"
    path: _UserPath | None = None
    limit: Annotated[int, Field(strict=True, ge=1, le=50)] = 20


@dataclass(frozen=True, slots=True)
class Knowledge:
    """The private text about the person that grounds the coach."""

    path: _UserPath | None = None


@dataclass(frozen=True, slots=True)
class Sensor:
    """Bus names that may report the focused window beside GNOME Shell; "any" among them: everybody may."""

    reporters: _BusNames = ()


@dataclass(frozen=True, slots=True)
class Presence:
    """Seconds without input until the person is away, and seconds of sleep or lock until the session is over."""

    idle_secs: Annotated[int, Field(strict=True, ge=30, le=3600)] = 180
    interrupted_after_secs: Annotated[int, Field(strict=True, ge=60, le=86_400)] = 600


@dataclass(frozen=True, slots=True)
class Privacy:
    """What an AI may see of window titles, of which apps it sees none, and whether the texts that it got are kept."""

    titles: Titles = Titles.REDACT
    exclude_apps: _Names = ()
    keep_prompts: Annotated[bool, Field(strict=True)] = False


@dataclass(frozen=True, slots=True)
class Config:
    """Everything a person can set. The fields are the tables of the file; the defaults are what holds without one."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    ai: Ai = Ai()
    always_allowed: AlwaysAllowed = AlwaysAllowed()
    many_purpose: ManyPurpose = ManyPurpose()
    class_aliases: Annotated[dict[_Name, _Name], Field(max_length=500)] = field(default_factory=dict)
    tasks: Tasks = Tasks()
    knowledge: Knowledge = Knowledge()
    sensor: Sensor = Sensor()
    presence: Presence = Presence()
    privacy: Privacy = Privacy()

    @property
    def allowed(self) -> Allowed:
        """`always_allowed` as the domain takes it."""
        always = self.always_allowed
        return Allowed(always.classes, always.titles, always.domains, always.commands)

    def policy(self, environ: Mapping[str, str]) -> Policy:
        """All that the domain is to know of it. `environ` tells where the person's home is."""
        aliases = {canonical_class(name, {}): canonical_class(to, {}) for name, to in self.class_aliases.items()}
        return Policy(
            self.allowed,
            frozenset(canonical_class(name, aliases) for name in self.many_purpose.classes),
            aliases,
            float(self.presence.interrupted_after_secs),
            float(self.presence.idle_secs),
            self.privacy.titles,
            frozenset(canonical_class(name, aliases) for name in self.privacy.exclude_apps),
            str(_home(environ)),
        )


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """The config that holds, and what is wrong with what was written, as sentences (at most 21).

    `ai_fault` is set if a mistake leaves the service without an AI, so that a front end can say why.
    """

    config: Config
    problems: tuple[str, ...] = ()
    ai_fault: Fault | None = None


def load_config(paths: Paths, environ: Mapping[str, str]) -> LoadedConfig:
    """Reads `paths.config_file` and `ANTIDRIFT_AI_BACKEND`. Never raises: what cannot be used becomes a problem.

    A backend that does not exist means no AI. So does a file that cannot be read as a whole, unless the environment
    names a backend: it may be the file that says "none". For the same reason a mistake below [privacy], or such a
    file, means that an AI sees no title.
    """
    file = paths.config_file
    config, problems = Config(), dict[str, str]()
    try:
        document = _document(file)
    except _UnreadableError as error:
        problems["ai"] = str(error)
        config = replace(config, privacy=Privacy(Titles.NEVER))
    else:
        config, problems = _validated(document, file, _home(environ))

    if config.tasks.source in ("todo.txt", "markdown") and config.tasks.path is None:
        problems.setdefault("tasks.path", f"{file}: tasks.path is missing, so there are no tasks")
        config = replace(config, tasks=replace(config.tasks, source="none"))

    if any(re.match(r"privacy\b", where) for where in problems):
        config = replace(config, privacy=replace(config.privacy, titles=Titles.NEVER))

    ai_problem = problems.get("ai.backend") or problems.get("ai")
    if wanted := environ.get(BACKEND_VARIABLE):
        ai_problem = None
        if wanted in get_args(BackendName):
            config = replace(config, ai=_override(config.ai, cast("BackendName", wanted)))
        else:
            choices = ", ".join(get_args(BackendName))
            ai_problem = f"{BACKEND_VARIABLE} should be one of {choices}, not {wanted[:40]!r}"
            problems[BACKEND_VARIABLE] = ai_problem
    if ai_problem is None:
        return LoadedConfig(config, _bounded(problems))
    no_ai = Fault(FaultCode.UNAVAILABLE, f"No AI is used: {ai_problem}.")
    return LoadedConfig(replace(config, ai=Ai(backend="none")), _bounded(problems), no_ai)


def _override(ai: Ai, wanted: BackendName) -> Ai:
    # The program file and the model belong to the backend that the file means; another one would not know them.
    return replace(ai, backend=wanted) if wanted == ai.name else Ai(backend=wanted)


class _UnreadableError(Exception):
    """The file cannot be used as a whole; the message names it and says why."""


def _document(file: Path) -> dict[str, Any]:
    try:
        if file.exists() and not file.is_file():  # opening a FIFO would wait for a writer
            raise _UnreadableError(f"{file} is not a regular file")
        with file.open("rb") as stream:
            raw = stream.read(MAX_FILE_BYTES + 1)
        if len(raw) > MAX_FILE_BYTES:
            raise _UnreadableError(f"{file} is larger than {MAX_FILE_BYTES // 1024} KiB")
        if any(line.count(b".") > MAX_DOTS for line in raw.split(b"\n")):
            raise _UnreadableError(f"{file} has a line with more than {MAX_DOTS} dots")
        return tomllib.loads(raw.decode("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise _UnreadableError(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise _UnreadableError(f"{file} is not UTF-8 text: {error.reason} at byte {error.start}") from error
    except tomllib.TOMLDecodeError as error:
        raise _UnreadableError(f"{file} is not valid TOML: {error}") from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or brackets nested as deep
        raise _UnreadableError(f"{file} holds a value that is too large to read") from error


@cache
def _adapter() -> TypeAdapter[Config]:
    # Built on demand: it takes some milliseconds, and most people have no config file.
    return TypeAdapter(Config)


def _validated(document: dict[str, Any], file: Path, home: Path) -> tuple[Config, dict[str, str]]:
    """The config without the parts that are wrong, and for each of these a sentence under its dotted name."""
    problems: dict[str, str] = {}
    while document:
        try:
            return _adapter().validate_python(document, context={"home": home}), problems
        except ValidationError as error:
            wrong = [
                ([part for part in detail["loc"] if part != "[key]"], _meaning(detail["type"], detail["msg"]))
                for detail in error.errors(include_url=False, include_input=False)
            ]
        for where, meaning in wrong:
            name = _dotted(where)
            problems[name] = f"{file}: {name} {meaning}"
        for where, _ in reversed(wrong):  # last first, so that the indices of the others stay true
            _remove(document, where)
    return Config(), problems


def _meaning(kind: str, message: str) -> str:
    match kind:
        case "unexpected_keyword_argument":
            return "is not a known key and is ignored"
        case "dataclass_type" | "dict_type":
            return "should be a table"
        case "tuple_type":
            return "should be a list"
        case "too_long":
            return "has too many entries"
        case "string_too_short":
            return "is blank"
        case _:
            return re.sub(r"^(Input|String|Value error,) ", "", message)


def _dotted(where: list[int | str]) -> str:
    name = ""
    for part in where:
        name += f"[{part}]" if isinstance(part, int) else f".{part[:60]}"
    return "".join(c if c.isprintable() else "?" for c in name.removeprefix("."))


def _remove(document: Any, where: list[int | str]) -> None:
    *parents, last = where
    try:
        for part in parents:
            document = document[part]
        del document[last]
    except LookupError:  # it had two mistakes, or went with what it was part of
        pass


def _bounded(problems: Mapping[str, str]) -> tuple[str, ...]:
    sentences = tuple(problems.values())
    if len(sentences) <= MAX_PROBLEMS:
        return sentences
    return (*sentences[:MAX_PROBLEMS], f"and {len(sentences) - MAX_PROBLEMS} more")
