"""A real file system that is small, can be filled, and can become read-only under a running process.

A tmpfs, mounted in a mount namespace of its own inside a user namespace of its own, so that it takes no root. Where the
kernel or its security module denies user namespaces to everybody (`kernel.unprivileged_userns_clone=0`,
`kernel.apparmor_restrict_unprivileged_userns=1`, a container's seccomp profile), it takes root, or that setting.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

_SIZE = "512k"


class NoNamespaces(RuntimeError):
    """The kernel does not give us namespaces of our own; the text says why."""


class SmallDisk:
    """Context manager. `folder` is where it is mounted, for those who are started by way of `launcher`.

    Raises NoNamespaces.
    """

    def __enter__(self) -> Self:
        self._temporary = tempfile.TemporaryDirectory(prefix="small-disk-")
        self.folder = Path(self._temporary.name)
        mount = f"mount -t tmpfs -o size={_SIZE},mode=0700 small '{self.folder}' && echo mounted && exec cat"
        self._holder = subprocess.Popen(
            ["unshare", "--user", "--map-root-user", "--mount", "--", "sh", "-c", mount],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._holder.stdout is not None
        if self._holder.stdout.readline() != "mounted\n":
            _, why = self._holder.communicate()
            self._temporary.cleanup()
            raise NoNamespaces(f"no user namespace with a tmpfs in it can be made (see {__name__}): {why.strip()}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, where: TracebackType | None
    ) -> None:
        self._holder.communicate()  # the end of its input is its end, and with it that of the namespace
        self._temporary.cleanup()

    @property
    def launcher(self) -> list[str]:
        """What to put before a command so that it sees the disk. It keeps its user id, by which a bus knows it."""
        ids = (f"--map-user={os.getuid()}", f"--map-group={os.getgid()}")
        return [*self._enter, "unshare", "--user", *ids, "--"]

    def seen(self, path: Path) -> Path:
        """Where something on the disk is for those outside."""
        return Path(f"/proc/{self._holder.pid}/root") / path.relative_to("/")

    def fill(self) -> None:
        """Takes every byte there is."""
        with self.seen(self.folder / "ballast").open("wb", buffering=0) as ballast:
            try:
                while True:
                    ballast.write(bytes(4096))
            except OSError:
                return

    def free(self) -> None:
        """Gives them back."""
        self.seen(self.folder / "ballast").unlink()

    def make_read_only(self) -> None:
        """Lets nothing be written any more.

        A mount of itself on itself: mount(8) does not make read-only what somebody has open for writing, as the kernel
        does after an error.
        """
        self._run(f"mount --bind '{self.folder}' '{self.folder}' && mount -o remount,bind,ro '{self.folder}'")

    def make_writable(self) -> None:
        """Ends that."""
        self._run(f"umount '{self.folder}'")

    @property
    def _enter(self) -> list[str]:
        return ["nsenter", f"--target={self._holder.pid}", "--user", "--mount", "--preserve-credentials", "--"]

    def _run(self, command: str) -> None:
        subprocess.run([*self._enter, "sh", "-c", command], check=True)
