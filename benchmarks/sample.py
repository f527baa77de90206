"""Many measurements of one thing."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sample:
    """Sorted measurements, all in the same unit; at least one."""

    values: tuple[float, ...]

    @classmethod
    def of(cls, values: Sequence[float]) -> Sample:
        return cls(tuple(sorted(values)))

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def p95(self) -> float:
        return self.quantile(95, 100)

    def quantile(self, part: int, whole: int) -> float:
        """The smallest value that at least `part` in `whole` of them do not exceed."""
        return self.values[-(-len(self.values) * part // whole) - 1]

    @property
    def highest(self) -> float:
        return self.values[-1]

    def __str__(self) -> str:
        return f"p50 {_short(self.median)}, p95 {_short(self.p95)}, max {_short(self.highest)}"


def _short(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"
