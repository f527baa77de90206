"""The table, and where it is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

_BEGIN = "<!-- written by run.py --write: begin -->"
_END = "<!-- written by run.py --write: end -->"


class CannotMeasure(Exception):
    """This machine lacks what a figure needs; the text says what."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table.

    `beside` is what was measured in the same run to compare with, `ratio` the one by the other. `reached` is None where
    there is no aim.
    """

    figure: str
    measured: str
    beside: str = ""
    ratio: str = ""
    aim: str = ""
    reached: bool | None = None

    def cells(self) -> tuple[str, ...]:
        verdict = "" if self.reached is None else "yes" if self.reached else "**no**"
        return (self.figure, self.measured, self.beside, self.ratio, self.aim, verdict)


@dataclass(slots=True)
class Report:
    """What a run has found. `machine` says where."""

    machine: str
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, row: Row) -> None:
        self.rows.append(row)

    def note(self, text: str) -> None:
        """Adds what a table has no room for; a paragraph of Markdown."""
        self.notes.append(text)

    def markdown(self) -> str:
        head = ("figure", "measured", "beside", "ratio", "aim", "reached")
        table = [head, ("---",) * len(head), *(row.cells() for row in self.rows)]
        return "\n\n".join([self.machine, "\n".join(map(_line, table)), *self.notes])


def write_into(readme: Path, text: str) -> None:
    """Replaces what stands between the two marks in `readme`."""
    before, _, rest = readme.read_text().partition(_BEGIN)
    _, _, after = rest.partition(_END)
    readme.write_text(f"{before}{_BEGIN}\n\n{text}\n\n{_END}{after}")


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
