"""Whether what must outlive the service can be kept, and whether what the person wrote can be read."""

from __future__ import annotations

import os
import stat
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from antidrift.cli.audit import broken_sentence, examined
from antidrift.cli.doctor.finding import Finding, fault, good, note
from antidrift.cli.doctor.service import Service
from antidrift.config import LoadedConfig, Paths
from antidrift.ports import PortError
from antidrift.providers import knowledge_source, task_source
from antidrift.store import SNAPSHOT_NAME


def check_files(folder: Path, service: Service) -> Iterator[Finding]:
    """The folder, the snapshot, the audit chain."""
    error = service.state.view["store"]["error"] if service.state is not None else None
    if error is not None:
        yield fault("files", f"{error['message'].rstrip('.')}: see what `df {folder}; ls -la {folder}` says.")
        return
    try:
        mode = folder.stat().st_mode
    except FileNotFoundError:
        yield _missing(folder)
        return
    except OSError as unusable:
        yield fault("files", f"{folder} cannot be used ({unusable.strerror}): see `ls -ld {folder}`.")
        return
    if not stat.S_ISDIR(mode):
        yield fault("files", f"{folder} is not a folder: move it away, as with `mv {folder} {folder}.old`.")
        return
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        yield fault("files", f"Nothing can be kept in {folder}: make it yours with `chmod 700 {folder}`.")
        return
    if mode & 0o077:
        yield note("files", f"Others may look into {folder}: close it with `chmod 700 {folder}`.")
    else:
        yield good("files", f"The files are in {folder}, for nobody else to see.")
    yield from _kept(folder, service)


def _missing(folder: Path) -> Finding:
    above = next(parent for parent in folder.parents if parent.exists())
    if above.is_dir() and os.access(above, os.W_OK | os.X_OK):
        return good("files", f"{folder} will be made when the service starts.")
    return fault("files", f"{folder} cannot be made: see `ls -ld {above}`.")


def _kept(folder: Path, service: Service) -> Iterator[Finding]:
    try:
        found, known = examined(folder)
    except PortError as error:
        yield fault("audit", f"{str(error).rstrip('.')}: see `ls -l {folder}`.")
        return
    if known is None and (folder / SNAPSHOT_NAME).exists():
        damaged = f"{SNAPSHOT_NAME} cannot be used, and is set aside when the service starts"
        yield note("snapshot", f"{damaged}: do that with `{service.restart}`.")
    if found.ok:
        count = found.lines
        holds = "no session yet" if not count else "1 ended session" if count == 1 else f"{count} ended sessions"
        yield good("audit", f"The audit chain is whole; it holds {holds}.")
    else:
        yield fault("audit", f"{broken_sentence(found)} `antidrift audit verify` checks it again.")


def check_config(loaded: LoadedConfig, paths: Paths, service: Service) -> Iterator[Finding]:
    """The config file."""
    for problem in loaded.problems:
        yield note("config", f"{problem}; correct it, then `{service.restart}`.")
    if not loaded.problems:
        there = "is in order" if paths.config_file.exists() else "is not there, so the defaults hold"
        yield good("config", f"{paths.config_file} {there}.")


async def check_providers(loaded: LoadedConfig, paths: Paths) -> AsyncIterator[Finding]:
    """Tasks and profile, as the service would fetch them."""
    wanted = loaded.config.tasks
    tasks = task_source(wanted.source, wanted.path, wanted.limit)
    if tasks is None:
        yield good("tasks", f"No tasks are offered while planning; [tasks] in {paths.config_file} can name some.")
    else:
        try:
            count = len(await tasks.fetch())
        except PortError as error:
            yield note("tasks", f"{error} Correct [tasks] in {paths.config_file}.")
        else:
            yield good("tasks", f"Today's tasks come from {wanted.path or wanted.source}: {count} are offered.")
    profile = knowledge_source(loaded.config.knowledge.path)
    if profile is None:
        yield good("profile", f"The coach reads no profile; [knowledge] in {paths.config_file} can name one.")
    else:
        try:
            characters = len(await profile.fetch())
        except PortError as error:
            yield note("profile", f"{error} Correct [knowledge] in {paths.config_file}.")
        else:
            yield good("profile", f"The coach reads {loaded.config.knowledge.path}: {characters} characters.")
