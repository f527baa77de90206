"""What the AI command lines have in common: found, asked for its options, started in an empty folder, understood."""

from __future__ import annotations

import asyncio
import logging
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from antidrift.backends.environment import environment, private_folder
from antidrift.backends.failures import classify, refuses_model, refuses_option
from antidrift.backends.find import find_program
from antidrift.backends.options import offered_by
from antidrift.backends.process import Ended, run_program
from antidrift.domain.model import Fault, FaultCode
from antidrift.ports import BackendError

log = logging.getLogger(__name__)

QUESTION_LIMIT = 10.0
"""Seconds for a question that the program answers by itself: its help, its login."""


class Program(ABC):
    """An AI command line as a `ports.Backend`.

    `command` is the program file, or None to search for it; `model` is passed on, or None for the backend's default.
    """

    name: ClassVar[str]
    install: ClassVar[str]
    """The command that installs or updates it."""
    log_in: ClassVar[str]
    """What the person does to log in, as the end of a sentence."""
    try_it: ClassVar[str]
    """A command that shows in a terminal what is wrong."""
    help_arguments: ClassVar[Sequence[str]]
    login_arguments: ClassVar[Sequence[str]]
    variables: ClassVar[Sequence[str]]
    """Environment variables that it needs beside the common ones; patterns with "*"."""
    settings: ClassVar[Mapping[str, str]] = {}
    """Environment variables that are set for it."""
    required: ClassVar[frozenset[str]]
    """Options without which it would store what it is told, or do more than answer."""

    def __init__(self, command: str | Path | None = None, model: str | None = None) -> None:
        self._command = None if command is None else str(command)
        self.model = model
        self._offered: dict[tuple[object, ...], frozenset[str]] = {}

    @property
    def program(self) -> Path | None:
        """The file that would be started now."""
        return find_program(self.name, self._command)

    def check(self) -> Fault | None:
        """Why it cannot be asked, as far as a look at the file system tells."""
        if self.program is not None:
            return None
        if self._command is not None:
            return Fault(
                FaultCode.UNAVAILABLE,
                f"There is no program at {self._command}: correct `command` in the [ai] part of config.toml.",
            )
        return Fault(
            FaultCode.UNAVAILABLE,
            f"No program named {self.name} was found: install it ({self.install}) or set ANTIDRIFT_AI_BACKEND=none.",
        )

    async def run(self, role: str, prompt: str) -> str:
        """The answer to `prompt`; see `ports.Backend.run`."""
        program = self._found()
        offered = await self._options(program)
        await self._before(program)
        try:
            with private_folder() as folder:
                argv = [str(program), *self._arguments(role, folder, offered)]
                ended = await self._start(argv, folder, prompt)
                if ended.returncode != 0:
                    raise BackendError(self._failure(program, ended, prompt))
                answer = self._answer(ended, folder).decode(errors="replace").strip()
        except OSError as error:
            raise BackendError(self._unstartable(program, error)) from error
        if not answer:
            raise BackendError(Fault(FaultCode.EMPTY_RESPONSE, f"{self.name} ended without an answer."))
        return answer

    async def login_fault(self) -> Fault | None:
        """Why it would not answer: missing, or not logged in. Asks no model; None: it says that it is logged in."""
        try:
            program = self._found()
            ended = await self._ask(program, self.login_arguments)
        except BackendError as error:
            return error.fault
        return None if ended.returncode == 0 else self._failure(program, ended, "")

    @abstractmethod
    def _arguments(self, role: str, folder: Path, offered: frozenset[str]) -> list[str]:
        """What follows the program in argv, of options that are `offered`. Nothing private may be in it."""

    def _answer(self, ended: Ended, folder: Path) -> bytes:
        """Where a successful run leaves the answer."""
        return ended.stdout

    async def _before(self, program: Path) -> None:  # noqa: B027 - most programs need nothing
        """A last look before the prompt is handed over. Raises BackendError."""

    def _found(self) -> Path:
        if (fault := self.check()) is not None:
            raise BackendError(fault)
        program = self.program
        assert program is not None
        return program

    async def _options(self, program: Path) -> frozenset[str]:
        """The options of the file as it is now; it is asked again when it was replaced."""
        try:
            stat = os.stat(program)
        except OSError as error:
            raise BackendError(self._unstartable(program, error)) from error
        # The time of the change too: npm gives every file the same time of modification.
        version = (program, stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size)
        if version not in self._offered:
            ended = await self._ask(program, self.help_arguments)
            if ended.returncode != 0:
                raise BackendError(self._failure(program, ended, ""))
            self._offered = {version: offered_by(ended.stdout.decode(errors="replace"))}
        offered = self._offered[version]
        if missing := self.required - offered:
            log.info("%s does not offer %s", program, ", ".join(sorted(missing)))
            raise BackendError(
                Fault(FaultCode.FAILED, f"{self.name} at {program} is too old: update it ({self.install}).")
            )
        return offered

    async def _ask(self, program: Path, arguments: Sequence[str]) -> Ended:
        try:
            with private_folder() as folder:
                async with asyncio.timeout(QUESTION_LIMIT):
                    return await self._start([str(program), *arguments], folder, "")
        except TimeoutError:
            command = " ".join((self.name, *arguments))
            raise BackendError(
                Fault(
                    FaultCode.FAILED,
                    f"`{command}` did not end within {QUESTION_LIMIT:g} seconds: try it in a terminal.",
                )
            ) from None
        except OSError as error:
            raise BackendError(self._unstartable(program, error)) from error

    async def _start(self, argv: Sequence[str], folder: Path, prompt: str) -> Ended:
        variables = {**environment(Path(argv[0]), self.variables), **self.settings}
        return await run_program(argv, env=variables, cwd=folder, stdin=prompt.encode(errors="replace"))

    def _failure(self, program: Path, ended: Ended, prompt: str) -> Fault:
        text = b"\n".join((ended.stdout, ended.stderr)).decode(errors="replace")
        match code := classify(text, prompt):
            case FaultCode.NOT_LOGGED_IN:
                message = f"{self.name} is not logged in: {self.log_in}."
            case FaultCode.RATE_LIMITED:
                message = f"{self.name} has reached a usage limit: it can be asked again later."
            case FaultCode.OFFLINE:
                message = f"{self.name} could not reach its service: check the network."
            case _ if ended.returncode in (126, 127):  # what a shell and env(1) say
                code = FaultCode.UNAVAILABLE
                message = f"{program} cannot start: something that it needs, such as node, was not found."
            case _ if refuses_option(text, prompt):
                message = f"{program} did not accept its options: update it ({self.install})."
            case _ if refuses_model(text, prompt):
                message = f"{self.name} cannot use this model: set another `model` in the [ai] part of config.toml."
            case _ if ended.returncode < 0:
                message = f"{self.name} was ended by signal {-ended.returncode}."
            case _:
                message = (
                    f"{self.name} failed (exit status {ended.returncode}): `{self.try_it}` in a terminal shows why."
                )
        return Fault(code, message)

    def _unstartable(self, program: Path, error: OSError) -> Fault:
        return Fault(FaultCode.UNAVAILABLE, f"{program} cannot be started: {error.strerror}.")
