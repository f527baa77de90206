"""How much is measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """Counts are given for a full run; a quick one does `part` of them."""

    part: float

    def __call__(self, full: int, least: int = 1) -> int:
        """`full` in a full run; in a quick one less, but not less than `least`."""
        return max(least, round(full * self.part))


FULL = Scale(1.0)
QUICK = Scale(0.05)
