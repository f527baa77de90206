"""What a command prints, and where: text for people, lines of JSON for programs, complaints."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self, TextIO

from antidrift.cli.terminal import Terminal
from antidrift.cli.text import wrapped


@dataclass(frozen=True, slots=True)
class Output:
    """Standard output and standard error, with the terminal behind the first."""

    stdout: TextIO
    stderr: TextIO
    terminal: Terminal

    @classmethod
    def standard(cls, environ: Mapping[str, str]) -> Self:
        """That of this process."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")  # a locale without the character is no reason to fail
        return cls(sys.stdout, sys.stderr, Terminal.of(sys.stdout, environ))

    def say(self, text: str) -> None:
        """A sentence, wrapped to the terminal."""
        self.lines(wrapped(text, self.terminal.width))

    def lines(self, lines: Iterable[str]) -> None:
        """Lines that are laid out already."""
        self.stdout.write("".join(f"{line}\n" for line in lines))
        self.stdout.flush()

    def data(self, json: str) -> None:
        """One line of JSON, which is UTF-8 whatever the locale (RFC 8259)."""
        if isinstance(self.stdout, io.TextIOWrapper):
            self.stdout.flush()
            self.stdout.buffer.write(json.encode() + b"\n")
            self.stdout.buffer.flush()
        else:
            self.stdout.write(json + "\n")

    def complain(self, sentence: str) -> None:
        """One sentence about what went wrong."""
        self.stdout.flush()
        self.stderr.write(f"antidrift: {sentence}\n")
        self.stderr.flush()
