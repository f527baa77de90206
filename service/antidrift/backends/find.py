"""Where an AI program is, also for a service that was activated with a short PATH."""

from __future__ import annotations

import os
import re
from pathlib import Path


def find_program(name: str, command: str | None = None) -> Path | None:
    """The file that would be started for `name`, or None.

    `command`, where given, decides alone: an absolute path (a leading "~" is understood), or another name to search
    for. A file that is found is a regular one and may be executed.
    """
    wanted = os.path.expanduser(command or name)
    if os.path.isabs(wanted):
        return Path(wanted) if _is_program(wanted) else None
    if os.sep in wanted:  # relative to what? The service has no folder of its own
        return None
    for folder in search_folders():
        if _is_program(file := folder / wanted):
            return file
    return None


def search_folders() -> list[Path]:
    """The folders of PATH, then where the installers of such programs put them. Only existing ones, each once."""
    home = Path(os.path.expanduser("~"))
    folders = [
        *(Path(entry) for entry in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(entry)),
        home / ".local/bin",
        home / ".claude/local",
        home / ".npm-global/bin",
        home / ".bun/bin",
        *_nvm_folders(Path(os.environ.get("NVM_DIR") or home / ".nvm")),
        Path("/usr/local/bin"),
        Path("/usr/bin"),
        Path("/bin"),
    ]
    return [folder for folder in dict.fromkeys(folders) if folder.is_dir()]


def _nvm_folders(nvm: Path) -> list[Path]:
    """One per version of node, the newest first: nvm puts its choice into PATH only in interactive shells."""
    versions = (folder for folder in nvm.glob("versions/node/v*/bin"))
    return sorted(versions, key=lambda folder: [int(n) for n in re.findall(r"\d+", folder.parent.name)], reverse=True)


def _is_program(file: str | os.PathLike[str]) -> bool:
    return os.path.isfile(file) and os.access(file, os.X_OK)
