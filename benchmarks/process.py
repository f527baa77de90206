"""What the kernel says of a process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import CannotMeasure


@dataclass(frozen=True, slots=True)
class Memory:
    """KiB. `rss` counts pages shared with other processes whole, `pss` by their share."""

    rss: int
    pss: int

    def __str__(self) -> str:
        return f"{self.rss / 1024:.1f} MiB RSS, {self.pss / 1024:.1f} PSS"


def memory(pid: int) -> Memory:
    """proc_pid_smaps(5), rolled up."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    except OSError as error:
        raise CannotMeasure(f"/proc/PID/smaps_rollup cannot be read ({error.strerror})") from error
    values = {name: int(value.split()[0]) for name, value in (line.split(":") for line in lines)}
    return Memory(values["Rss"], values["Pss"])


def context_switches(pid: int) -> int:
    """How often any thread of the process has been given or has left a processor; proc_pid_status(5)."""
    total = 0
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        for line in status.read_text().splitlines():
            name, _, value = line.partition(":")
            if name in ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"):
                total += int(value)
    return total
