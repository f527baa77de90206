"""Whether there is an AI program, whether the service finds it too, and whether it may be asked."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path

from antidrift.backends import BACKENDS
from antidrift.cli.doctor.finding import Finding, good, note
from antidrift.cli.doctor.service import Service
from antidrift.config import LoadedConfig, Privacy
from antidrift.domain.model import Titles

SHORT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""What systemd gives the services of a user where nobody has set another PATH."""


async def check_ai(service: Service, loaded: LoadedConfig, config_file: Path) -> AsyncIterator[Finding]:
    """The program, its login, and the consent. Asks no model."""
    ai = loaded.config.ai
    if ai.name == "none":
        unwanted = "No AI is used, as it is configured; everything else works."
        yield note("ai", loaded.ai_fault.message if loaded.ai_fault else unwanted)
        return
    backend = BACKENDS[ai.name](command=ai.command, model=ai.model)
    theirs = {"PATH": SHORT_PATH} if service.environ is None else service.environ
    found_here, missing = backend.program, backend.check()
    with _environment(theirs):
        found_there = backend.program
    if found_there is not None:
        yield good("ai", f"{ai.name} is found at {found_there}.")
    elif found_here is not None:
        who = "a service that the desktop starts" if service.environ is None else "the service"
        yield note(
            "ai",
            f'{ai.name} is at {found_here}, where {who} does not look: write `command = "{found_here}"` '
            f"below [ai] in {config_file}" + (f", then `{service.restart}`." if service.pid else "."),
        )
    else:
        assert missing is not None, "a program that is not found is a fault"
        yield note("ai", missing.message)
        return
    with _environment(theirs if found_here is None else {}):
        refused = await backend.login_fault()
    yield good("login", f"{ai.name} is logged in.") if refused is None else note("login", refused.message)
    yield _consent(service, loaded)


def _consent(service: Service, loaded: LoadedConfig) -> Finding:
    consent = service.state.view["ai"]["consent"] if service.state is not None else "unknown"
    if consent == "unknown" and loaded.config.ai.named:
        consent = "given"
    match consent:
        case "given":
            return good("consent", f"{_seen(loaded.config.privacy)}; `antidrift ai refuse` takes that back.")
        case "refused":
            return note("consent", "The AI may not see window titles; `antidrift ai allow` allows it.")
        case "unasked":
            ask = "Nobody has said yet whether the AI may see window titles"
            return note("consent", f"{ask}: say so with `antidrift ai allow` or `antidrift ai refuse`.")
        case _:
            return note("consent", "`antidrift ai status` tells whether the AI may see window titles, once it runs.")


def _seen(privacy: Privacy) -> str:
    """What a yes covers."""
    match privacy.titles:
        case Titles.NEVER:
            return "The AI may see the classes of windows, and no title"
        case Titles.REDACT:
            titles = "window titles without addresses, numbers and the like"
        case Titles.FULL:
            titles = "window titles as they are"
    excluded = len(privacy.exclude_apps)
    apps = f", but those of {excluded} {'app' if excluded == 1 else 'apps'} that you excluded" if excluded else ""
    return f"The AI may see {titles}{apps}"


@contextlib.contextmanager
def _environment(theirs: Mapping[str, str]) -> Iterator[None]:
    """Programs are searched as in another environment."""
    before = dict(os.environ)
    os.environ.update({name: theirs[name] for name in ("PATH", "HOME", "NVM_DIR") if name in theirs})
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
