"""Where it was measured, without the name of the machine."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def describe() -> str:
    """The processor, the interpreter, the kernel, and how busy the machine was before the run began."""
    cores = len(os.sched_getaffinity(0))
    load = os.getloadavg()[0]
    return (
        f"{cores} cores of {_processor()}, Python {platform.python_version()}, Linux {_kernel()}; "
        f"load average {load:.1f} when the run began."
    )


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("model name", "Model"):  # x86, and some ARM boards
            return value.strip()
    return platform.machine()


def _kernel() -> str:
    return ".".join(platform.release().split("-")[0].split(".")[:2])
