"""Where the time went, as bars that stand under each other."""

from __future__ import annotations

from typing import Any

from antidrift.cli.terminal import Ink, Terminal
from antidrift.cli.text import cells, clean, duration, ellipsised, padded

ROWS = 8
"""How many places are listed."""

_WIDEST = 24
_INDENT = "  "


def where_the_time_went(view: dict[str, Any], terminal: Terminal) -> list[str]:
    """A heading and a bar for each place, the longest where most of the time went; nothing if there is no time yet."""
    evidence = view["evidence"]
    places = [(bucket["secs"], _place(bucket)) for bucket in evidence["buckets"] if bucket["secs"] > 0]
    rows = places[:ROWS]
    if away := view["away"]["total_secs"]:
        rows = sorted([*rows, (away, "away")], reverse=True, key=lambda row: row[0])
    if not rows:
        return []
    switches = evidence["switch_count"]
    times = f" (switched {'once' if switches == 1 else f'{switches} times'})" if switches else ""
    heading = ellipsised(f"Where the time went{times}", terminal.width, terminal.ellipsis)
    lines = [terminal.ink(heading, Ink.STRONG)]
    most = max(secs for secs, _ in rows)
    column = max(len(duration(secs)) for secs, _ in rows)
    widest = min(_WIDEST, terminal.width // 4)
    for secs, place in rows:
        bar = ("█" if terminal.unicode else "#") * max(1, round(widest * secs / most))
        start = f"{_INDENT}{duration(secs):>{column}} "
        end = ellipsised(place, terminal.width - cells(start) - widest - 1, terminal.ellipsis)
        lines.append(f"{start}{terminal.ink(padded(bar, widest), Ink.FAINT)} {end}")
    if len(places) > ROWS:
        lines.append(f"{_INDENT}and {len(places) - ROWS} more")
    return lines


def app_name(window_class: str) -> str:
    """The class as people know it: the last part of a reverse-DNS name such as "org.gnome.TextEditor"."""
    shown = clean(window_class)
    parts = shown.split(".")
    return parts[-1] if len(parts) > 2 and all(parts) and " " not in shown else shown


def _place(bucket: dict[str, Any]) -> str:
    app, title = app_name(bucket["class"]), clean(bucket["title"])
    match app:
        case "(none)":
            return "no window"
        case "(other)":
            return "other windows"
        case _:
            return f"{app}  {title}" if title else app
