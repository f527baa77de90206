"""What an AI program gets to see of its surroundings: a few variables by name, and an empty folder."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from antidrift.backends.find import search_folders

# By name, never a copy of ours: among what is left out are the session bus, the display, the ssh agent, and everything
# that makes an interpreter or a shell load code (LD_*, PYTHON*, NODE_OPTIONS, BASH_ENV).
_ALLOWED = (
    "HOME", "USER", "LOGNAME", "LANG", "LC_*", "TZ",
    "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
)  # fmt: skip
_PLAIN = {"TERM": "dumb", "NO_COLOR": "1", "CI": "1"}


def environment(program: Path, also: Iterable[str]) -> dict[str, str]:
    """The variables for `program`: the common ones and those that match `also` (names, or patterns with "*").

    PATH begins with the folder of the program and holds every folder that programs are searched in, because a program
    installed by npm is a script that needs `node`.
    """
    allowed = (*_ALLOWED, *also)
    kept = {name: value for name, value in os.environ.items() if any(fnmatchcase(name, each) for each in allowed)}
    path = dict.fromkeys(str(folder) for folder in (program.parent, *search_folders()))
    return {**kept, **_PLAIN, "PATH": os.pathsep.join(path)}


@contextlib.contextmanager
def private_folder() -> Iterator[Path]:
    """An empty folder (0700) that is removed afterwards; programs send the name of theirs to their model.

    Raises OSError if none can be made.
    """
    parent: Path | None = None
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        parent = Path(runtime, "antidrift")
        try:
            parent.mkdir(mode=0o700, exist_ok=True)
        except OSError:
            parent = None
    folder = Path(tempfile.mkdtemp(prefix="call-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            folder.rmdir()  # the other way takes a descriptor, and there may be none
