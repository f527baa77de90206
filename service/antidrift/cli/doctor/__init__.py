"""`antidrift doctor`: what is found here, and what to do about what is missing.

It looks with the eyes of the service where that runs: which programs are on its PATH, and which display it sees, is
told by its own environment and not by that of a terminal.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict

from antidrift.bus.client import Client, NoSessionBus
from antidrift.cli.doctor.ai import check_ai
from antidrift.cli.doctor.files import check_config, check_files, check_providers
from antidrift.cli.doctor.finding import Finding, Level, fault, good
from antidrift.cli.doctor.presence import check_presence
from antidrift.cli.doctor.service import Service, find_service
from antidrift.cli.doctor.windows import check_windows
from antidrift.cli.failures import no_bus
from antidrift.cli.output import Output
from antidrift.cli.terminal import Ink
from antidrift.cli.text import clean, wrapped
from antidrift.config import Paths, load_config


async def run(arguments: argparse.Namespace, out: Output) -> int:
    """Prints every finding. 1: there is a fault among them."""
    findings: list[Finding] = []
    async for finding in examine(os.environ):
        findings.append(finding)
        if not arguments.json:
            out.lines(_lines(finding, out))
    faults = sum(finding.level is Level.FAULT for finding in findings)
    if arguments.json:
        out.data(json.dumps({"ok": not faults, "findings": [asdict(finding) for finding in findings]}))
    else:
        which = "Nothing stops" if not faults else "One thing stops" if faults == 1 else f"{faults} things stop"
        out.lines(["", f"{which} the work."])
    return 1 if faults else 0


async def examine(here: Mapping[str, str]) -> AsyncIterator[Finding]:
    """Every finding, in the order of what depends on what. `here` is the environment of this command."""
    async with contextlib.AsyncExitStack() as stack:
        client: Client | None = None
        service = Service()
        try:
            client = await stack.enter_async_context(Client.connect())
        except NoSessionBus as error:
            yield fault("bus", no_bus(error))
        else:
            yield good("bus", "There is a session bus.")
            service, findings = await find_service(client, here)
            for finding in findings:
                yield finding
        seen = here if service.environ is None else service.environ
        paths = Paths.from_environment(seen)
        loaded = load_config(paths, seen)
        reporters = loaded.config.sensor.reporters
        yield await check_windows(client, service, seen, here, reporters, paths.config_file)
        async for finding in check_presence(client, seen):
            yield finding
        async for finding in check_ai(service, loaded, paths.config_file):
            yield finding
        for finding in (*check_files(paths.state_dir, service), *check_config(loaded, paths, service)):
            yield finding
        async for finding in check_providers(loaded, paths):
            yield finding


def _lines(finding: Finding, out: Output) -> list[str]:
    terminal = out.terminal
    mark, ink = {
        Level.OK: ("ok", Ink.GOOD),
        Level.NOTE: (terminal.dash, Ink.WARN),
        Level.FAULT: ("!!", Ink.BAD),
    }[finding.level]
    first, *rest = wrapped(clean(finding.message), terminal.width - 4)
    return [f"{terminal.ink(mark, ink)}{' ' * (4 - len(mark))}{first}", *(f"    {line}" for line in rest)]
