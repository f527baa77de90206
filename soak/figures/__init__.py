"""One kind of strain a module: `measure(scale, report)` adds its rows, or raises CannotMeasure.

The same code runs in the test suite with small counts, so that it is known to work before somebody waits for it.
"""

from __future__ import annotations

from benchmarks.table import Figures
from soak.figures import (
    bus_stopped,
    calls,
    children,
    concurrent,
    crash_points,
    deadlines,
    disks,
    flood,
    fuzz,
    service_kills,
    signals,
    store_kills,
)

FIGURES: Figures = {
    "calls": calls.measure,
    "concurrent": concurrent.measure,
    "signals": signals.measure,
    "bus-stopped": bus_stopped.measure,
    "flood": flood.measure,
    "deadlines": deadlines.measure,
    "children": children.measure,
    "store-kills": store_kills.measure,
    "service-kills": service_kills.measure,
    "crash-points": crash_points.measure,
    "disks": disks.measure,
    "fuzz": fuzz.measure,
}
