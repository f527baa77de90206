"""The numbers in what was read. JSON knows no bound, Python reads NaN and Infinity, and neither can be counted on."""

from __future__ import annotations

from dataclasses import fields

MOST = 2.0**53
"""The largest number that a file may hold. Seconds and Unix milliseconds stay below it for 280,000 years."""


def bounded(value: object) -> bool:
    """Whether every number in `value`, a dataclass of dataclasses and tuples, is from 0 to MOST; NaN is not."""
    match value:
        case None | bool() | str():
            return True
        case int() | float():
            return 0 <= value <= MOST
        case tuple():
            return all(map(bounded, value))
        case _:
            return all(bounded(getattr(value, field.name)) for field in fields(value))  # type: ignore[arg-type]
