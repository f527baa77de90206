"""A desktop in the lab: real windows, an AI program on PATH, and the service, in a hurry, on the bus of the shell."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from shell.drive import Desktop
from shell.hasty_service import HastyService
from standins.standin import StandIn
from support.service import DEADLINE, State

if TYPE_CHECKING:
    from shell.conftest import Lab

# So that a test may report.
CONFIG = '[sensor]\nreporters = ["any"]\n'
HERE = Path(__file__).parent
BOXES = "Main.layoutManager.uiGroup.get_children().filter(child => child.has_style_class_name?.('antidrift-interrupt'))"


class Window:
    """A window of a program of its own: an app on Wayland, or an xterm on XWayland that keeps what is typed."""

    def __init__(self, desktop: Desktop, program: subprocess.Popen[str], title: str, typed: Path | None) -> None:
        self._desktop = desktop
        self._program = program
        self.title = title
        self._typed = typed

    @property
    def meta(self) -> str:
        """The Meta.Window, in JavaScript."""
        title = json.dumps(self.title)
        return f"global.display.list_all_windows().find(window => window.title === {title})"

    @property
    def typed(self) -> str:
        """What has been typed into an xterm."""
        assert self._typed is not None
        return self._typed.read_text()

    def focus(self) -> None:
        """Brings it to the front, as a click in the dash would."""
        self._desktop.js(f"{self.meta}.activate(global.get_current_time())")
        self._desktop.wait(f"global.display.focus_window === {self.meta}")

    def tell(self, command: str) -> None:
        """A command of window.js to an app."""
        assert self._program.stdin is not None
        self._program.stdin.write(command + "\n")
        self._program.stdin.flush()

    def retitle(self, title: str) -> None:
        """Gives an app another title."""
        self.tell(f"title {title}")
        self.title = title

    def close(self) -> None:
        """Ends the program."""
        if self._program.stdin is not None:
            self._program.stdin.close()
        self._program.kill()
        self._program.wait()


class Desk:
    """Context manager around windows, a stand-in for `claude`, and the service."""

    def __init__(self, lab: Lab, config: str = CONFIG) -> None:
        self.lab = lab
        self._config = config
        self.desktop = Desktop(lab.address, lab.state)
        self._windows: list[Window] = []
        self._folder = Path(tempfile.mkdtemp(prefix="antidrift-desk-"))
        self.claude = StandIn("claude", self._folder / "bin")
        self.service = HastyService(
            lab, PATH=f"{self._folder / 'bin'}:/usr/local/bin:/usr/bin:/bin", ANTIDRIFT_AI_BACKEND="claude"
        )

    def __enter__(self) -> Self:
        # What the shell has to say at its start would be in the way.
        self.desktop.js("Main.messageTray.getSources().forEach(source => source.destroy())")
        self.service.folder.mkdir()
        (self.service.folder / "config.toml").write_text(self._config)
        self.service.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, where: TracebackType | None
    ) -> None:
        for window in self._windows:
            window.close()
        self.service.__exit__(kind, fault, where)
        self.desktop.wait("global.display.list_all_windows().length === 0")
        self.desktop.close()
        shutil.rmtree(self._folder)

    def xterm(self, wm_class: str, title: str) -> Window:
        """Opens an xterm that no desktop file is about, and waits for it."""
        typed = self.lab.state / f"typed-{len(self._windows)}"
        keep = f"stty -icanon -echo; exec cat >{typed}"
        program = self.lab.start("xterm", "-class", wm_class, "-name", wm_class, "-T", title, "-e", "sh", "-c", keep)
        return self._opened(program, title, typed)

    def app(self, app_id: str, title: str) -> Window:
        """Opens an app, and waits for it."""
        script = self.lab.state / "window.js"
        shutil.copyfile(HERE / "window.js", script)
        program = self.lab.start("gjs", "-m", str(script), app_id, title, stdin=subprocess.PIPE)
        return self._opened(program, title, None)

    def close(self, window: Window) -> None:
        """Ends the program of a window, and waits until the window is gone."""
        self._windows.remove(window)
        window.close()
        self.desktop.wait(f"!{window.meta}")

    def start(self, *classes: str, action: str = "Write the report") -> None:
        """A new session, from whatever state; these window classes are on task."""
        if self.service.state()["runtime_state"] == "active":
            self.service.call("Complete")
        if self.service.state()["runtime_state"] == "review":
            self.service.call("End")
        if self.service.state()["runtime_state"] == "locked":
            self.service.call("EnterPlanning")
        self.service.call("StartCommitment", "ssxas", action, "Two pages", 1500, list(classes))

    def drift_in(self, window: Window) -> State:
        """The state once the service would interrupt the drift in this window, which the stand-in judges as drift."""
        window.focus()
        return self.service.wait_for(
            lambda state: state["drift"]["interrupt"] and state["evidence"]["window"]["title"] == window.title
        )

    def cycle_the_extension(self, while_disabled: Callable[[], object] = lambda: None) -> None:
        """Disables it and enables it again, as the person, a lock or another extension may."""
        uuid = self.lab.uuid
        self.desktop.js(f"Main.extensionManager.disableExtension('{uuid}')")
        self.desktop.wait(f"Main.extensionManager.lookup('{uuid}').state !== 1")
        while_disabled()
        self.desktop.js(f"Main.extensionManager.enableExtension('{uuid}')")
        self.desktop.wait(f"Main.extensionManager.lookup('{uuid}').state === 1")
        self.service.wait_for(lambda state: state["evidence"] is None or state["evidence"]["source"] == "shell")

    def _opened(self, program: subprocess.Popen[str], title: str, typed: Path | None) -> Window:
        window = Window(self.desktop, program, title, typed)
        self._windows.append(window)
        self.desktop.wait(f"{window.meta} && global.display.focus_window === {window.meta}")
        return window


def reports(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What ReportFocus was called with, in order: each a dict of plain values."""
    return [
        {key: value["data"] for key, value in message["payload"]["data"][0].items()}
        for message in messages
        if message["type"] == "method_call" and message.get("member") == "ReportFocus"
    ]


def until(condition: Callable[[], bool], what: Callable[[], object]) -> None:
    """Waits until the condition holds; `what` says how it looked instead."""
    ends = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < ends, what()
        time.sleep(0.02)
