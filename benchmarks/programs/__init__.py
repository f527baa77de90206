"""The programs that a figure runs beside the service: `round_trip.c`, `floor.c`, `bare.py` and so on.

Those in C are compiled for each run. They are sd-bus programs, because a client in Python would cost as much as what
it measures.
"""

# ruff: noqa: S603 - the programs are ours

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from benchmarks.report import CannotMeasure

_HERE = Path(__file__).parent


@contextmanager
def compiled(*names: str, folder: Path = _HERE) -> Iterator[list[str]]:
    """The paths of these programs of `folder`, given without ".c".

    Raises CannotMeasure without a compiler or libsystemd.
    """
    compiler, pkg_config = shutil.which("cc"), shutil.which("pkg-config")
    if compiler is None or pkg_config is None:
        raise CannotMeasure("no C compiler, or no pkg-config, is there")
    asked = [pkg_config, "--cflags", "--libs", "libsystemd"]
    flags = subprocess.run(asked, capture_output=True, text=True, check=False)
    if flags.returncode:
        raise CannotMeasure("the headers of libsystemd are not there")
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as built:
        paths = [f"{built}/{name}" for name in names]
        compilers = [
            subprocess.Popen(
                [compiler, "-O2", "-Wall", "-Wextra", "-o", path, str(folder / f"{name}.c"), *flags.stdout.split()]
            )
            for name, path in zip(names, paths, strict=True)
        ]
        for each in compilers:
            if status := each.wait():
                raise subprocess.CalledProcessError(status, each.args)
        yield paths


def python(name: str) -> list[str]:
    """The command that runs one of the programs that are in Python, given without ".py"."""
    return [sys.executable, str(_HERE / f"{name}.py")]


def output(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """What a program says on standard output from its start to its end. Raises CalledProcessError."""
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


@contextmanager
def running(command: Sequence[str], environment: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A program that says "ready" on standard output when it is; it ends with the `with` block."""
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        said = output_of(process).readline()
        if said != "ready\n":
            raise RuntimeError(f"{Path(command[0]).name} is not ready but says {said!r}")
        yield process
    finally:
        process.kill()
        process.wait()
        output_of(process).close()


def output_of(process: subprocess.Popen[str]) -> IO[str]:
    """What a program that was started with a pipe says."""
    assert process.stdout is not None
    return process.stdout
