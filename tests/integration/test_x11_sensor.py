"""The X11 sensor on a real X server with real windows."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from antidrift.domain.model import Fault, FaultCode, Health, Window
from antidrift.sensors.x11 import X11Sensor
from support.x_server import TIMEOUT, Property, XServer, XWindow, eventually

OK = (Health.OK, None)
LOGGER = "antidrift.sensors.x11"


class Watcher:
    """Starts a sensor and keeps what it reports."""

    def __init__(self, display: str | None, *, partial: bool = False) -> None:
        self.sensor = X11Sensor(display, partial=partial)
        self.windows: list[Window | None] = []
        self.health: list[tuple[Health, FaultCode | None]] = []
        self.faults: list[Fault | None] = []
        self.start()

    def start(self) -> None:
        self.sensor.start(self.windows.append, self._on_health)

    def _on_health(self, health: Health, fault: Fault | None) -> None:
        self.health.append((health, fault.code if fault else None))
        self.faults.append(fault)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Waits until what was reported fulfils `condition`."""
        deadline = time.monotonic() + TIMEOUT
        while not condition():
            assert time.monotonic() < deadline, f"reported: {self.windows} {self.health}"
            await asyncio.sleep(0.001)

    async def until_window(self, **fields: object) -> Window:
        """Waits until the window reported last is of that kind."""

        def is_it() -> bool:
            last = self.windows[-1] if self.windows else None
            return last is not None and all(getattr(last, name) == value for name, value in fields.items())

        await self.until(is_it)
        window = self.windows[-1]
        assert window is not None
        return window

    async def until_none(self) -> None:
        await self.until(lambda: bool(self.windows) and self.windows[-1] is None)

    async def until_health(self, health: Health, code: FaultCode | None = None) -> None:
        await self.until(lambda: bool(self.health) and self.health[-1] == (health, code))


@pytest.fixture(scope="module")
def shared_server() -> Iterator[XServer]:
    with XServer() as running:
        yield running


@pytest.fixture
def server(shared_server: XServer) -> Iterator[XServer]:
    """A server without windows, for a test that only opens some."""
    yield shared_server
    shared_server.close_windows()


@pytest.fixture
def own_server() -> Iterator[XServer]:
    """A server for a test that breaks it."""
    with XServer() as running:
        yield running


@pytest.fixture
def watch() -> Iterator[Callable[..., Watcher]]:
    with contextlib.ExitStack() as stack:

        def begin(display: str | None, *, partial: bool = False) -> Watcher:
            watcher = Watcher(display, partial=partial)
            stack.callback(watcher.sensor.stop)
            return watcher

        yield begin


Watch = Callable[..., Watcher]


async def test_the_focused_window_is_reported_with_class_title_pid_and_program(server: XServer, watch: Watch) -> None:
    window = server.open_window(title="Übung – 日本", wm_class=("navigator", "Firefox"), pid=os.getpid())
    window.focus()

    seen = await watch(server.display).until_window(wm_class="Firefox")

    program = os.path.basename(os.readlink("/proc/self/exe"))
    assert seen == Window("Firefox", "Übung – 日本", os.getpid(), program, "", f"{window.id:#x}")


async def test_the_display_of_the_environment_is_watched_if_none_is_named(
    server: XServer, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", server.display)
    watcher = watch(None)
    await watcher.until_health(Health.OK)


async def test_a_change_of_focus_is_reported(server: XServer, watch: Watch) -> None:
    first = server.open_window(title="one", wm_class=("a", "First"))
    second = server.open_window(title="two", wm_class=("b", "Second"))
    watcher = watch(server.display)
    for window, name in [(first, "First"), (second, "Second"), (first, "First")]:
        window.focus()
        await watcher.until_window(wm_class=name)


@pytest.mark.parametrize(("name", "kind"), [("_NET_WM_NAME", "UTF8_STRING"), ("WM_NAME", "STRING")])
async def test_a_change_of_title_is_reported_whichever_way_it_is_made(
    server: XServer, watch: Watch, name: str, kind: str
) -> None:
    window = server.open_window(wm_class=("a", "App"), properties={name: (kind, 8, b"before")})
    window.focus()
    watcher = watch(server.display)
    await watcher.until_window(title="before")
    window.set(name, kind, 8, b"after")
    await watcher.until_window(title="after")


async def test_only_what_changed_is_reported(server: XServer, watch: Watch) -> None:
    window = server.open_window(title="same", wm_class=("a", "App"))
    window.focus()
    watcher = watch(server.display)
    await watcher.until_window(title="same")
    before = len(watcher.windows)
    for _ in range(5):
        window.retitle("same")
        window.set("_NET_WM_ICON_NAME", "UTF8_STRING", 8, b"icon")
    window.set("_NET_WM_NAME", "UTF8_STRING", 8, b"other")
    await watcher.until_window(title="other")
    assert len(watcher.windows) == before + 1
    assert watcher.health == [OK]


async def test_the_last_of_many_changes_is_never_missed(server: XServer, watch: Watch) -> None:
    # A reply to one of the sensor's own requests may bring the next event along; nobody tells of it again.
    first = server.open_window(title="one", wm_class=("a", "First"))
    second = server.open_window(title="two", wm_class=("b", "Second"))
    watcher = watch(server.display)
    for number in range(40):
        for window in (first, second):
            window.activate()
            window.retitle(f"passing {number}")
            window.retitle(f"last {number}")
        second.focus()
        await watcher.until_window(wm_class="Second", title=f"last {number}")


async def test_a_title_that_never_stands_still_leaves_no_work_behind(server: XServer, watch: Watch) -> None:
    window = server.open_window(title="before", wm_class=("a", "App"))
    window.focus()
    watcher = watch(server.display)
    await watcher.until_window(title="before")
    for number in range(1_000):
        window.retitle(f"frame {number}")
    await watcher.until_window(title="frame 999")
    busy = time.process_time()
    await asyncio.sleep(0.5)  # long enough to see whether it still looks, once for each change
    assert time.process_time() - busy < 0.03


async def test_a_change_is_seen_within_a_tenth_of_a_second(server: XServer, watch: Watch) -> None:
    windows = [server.open_window(title=name, wm_class=("x", name)) for name in ("A", "B")]
    watcher = watch(server.display)
    taken: list[float] = []
    for number in range(20):
        window, name = windows[number % 2], "AB"[number % 2]
        begun = time.monotonic()
        window.activate()
        await watcher.until_window(wm_class=name)
        taken.append(time.monotonic() - begun)
        begun = time.monotonic()
        window.retitle(f"title {number}")
        await watcher.until_window(title=f"title {number}")
        taken.append(time.monotonic() - begun)
    assert sorted(taken)[len(taken) // 2] < 0.1, taken


@pytest.mark.parametrize(
    ("properties", "title"),
    [
        ({"_NET_WM_NAME": ("UTF8_STRING", 8, "naïve – 🙂".encode())}, "naïve – 🙂"),
        ({"WM_NAME": ("STRING", 8, b"na\xefve")}, "naïve"),
        ({"WM_NAME": ("UTF8_STRING", 8, "naïve – 🙂".encode())}, "naïve – 🙂"),
        ({"WM_NAME": ("COMPOUND_TEXT", 8, b"\x1b$(BF|K\\8l")}, "日本語"),
        (
            {"_NET_WM_NAME": ("UTF8_STRING", 8, b"first"), "WM_NAME": ("STRING", 8, b"second")},
            "first",
        ),
        ({"_NET_WM_NAME": ("UTF8_STRING", 8, b""), "WM_NAME": ("STRING", 8, b"second")}, "second"),
        ({"_NET_WM_NAME": ("UTF8_STRING", 8, b"bad \xff\xfe")}, "bad \ufffd\ufffd"),
        ({"_NET_WM_NAME": ("UTF8_STRING", 8, b"cut\0off")}, "cut"),
        ({"_NET_WM_NAME": ("UTF8_STRING", 8, b"two\nlines")}, "two lines"),
        ({"_NET_WM_NAME": ("UTF8_STRING", 8, "ü".encode() * 60_000)}, "ü" * 1_000),
        ({}, ""),
    ],
)
async def test_a_title_is_read_wherever_and_however_it_is_written(
    server: XServer, watch: Watch, properties: dict[str, Property], title: str
) -> None:
    server.open_window(wm_class=("a", "App"), properties=properties).focus()
    window = await watch(server.display).until_window(wm_class="App")
    assert window.title == title


async def test_a_window_without_a_class_is_reported_by_its_title(server: XServer, watch: Watch) -> None:
    server.open_window(title="only a title").focus()
    window = await watch(server.display).until_window(title="only a title")
    assert (window.wm_class, window.pid, window.command) == ("", None, "")


@pytest.mark.parametrize("pid", [None, 0, 2**31, 2**22 + 1])
async def test_a_window_whose_process_is_not_known_has_no_program(
    server: XServer, watch: Watch, pid: int | None
) -> None:
    server.open_window(title="t", wm_class=("a", "App"), pid=pid).focus()
    window = await watch(server.display).until_window(wm_class="App")
    assert window.pid == (pid if pid == 2**22 + 1 else None)
    assert window.command == ""


@pytest.mark.parametrize(
    ("odd", "left"),
    [
        ({"WM_CLASS": ("STRING", 32, [1, 2, 3])}, Window("", "title", os.getpid())),
        ({"_NET_WM_PID": ("STRING", 8, b"1234")}, Window("App", "title", None)),
        ({"_NET_WM_NAME": ("UTF8_STRING", 32, [7])}, Window("App", "title", os.getpid())),
    ],
)
async def test_an_odd_window_is_reported_with_what_can_be_read(
    server: XServer, watch: Watch, odd: dict[str, Property], left: Window
) -> None:
    window = server.open_window("title", ("a", "App"), os.getpid(), odd)
    ordinary = server.open_window(title="ordinary", wm_class=("b", "Ordinary"))
    window.focus()
    watcher = watch(server.display)
    seen = await watcher.until_window(window_id=f"{window.id:#x}")
    assert (seen.wm_class, seen.title, seen.pid) == (left.wm_class, left.title, left.pid)
    await watcher.until_health(Health.DEGRADED, FaultCode.WINDOW_UNREADABLE)
    ordinary.focus()
    await watcher.until_window(wm_class="Ordinary")
    await watcher.until_health(Health.OK)


async def test_a_property_that_the_server_refuses_is_left_out(server: XServer, watch: Watch) -> None:
    server.open_window(title="title", wm_class=("a", "App")).focus()
    with RefusingServer(server, "WM_CLASS") as refusing:
        watcher = watch(refusing.display)
        window = await watcher.until_window(title="title")
        assert window.wm_class == ""
        await watcher.until_health(Health.DEGRADED, FaultCode.WINDOW_UNREADABLE)
        watcher.sensor.stop()


async def test_an_odd_window_is_logged_once_however_often_it_gets_the_focus(
    server: XServer, watch: Watch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, LOGGER)
    odd = server.open_window("secret title", ("a", "Odd"), properties={"_NET_WM_PID": ("STRING", 8, b"x")})
    ordinary = server.open_window("ordinary", ("b", "Ordinary"))
    watcher = watch(server.display)
    for _ in range(10):
        odd.focus()
        await watcher.until_window(wm_class="Odd")
        await watcher.until_health(Health.DEGRADED, FaultCode.WINDOW_UNREADABLE)
        ordinary.focus()
        await watcher.until_window(wm_class="Ordinary")
        await watcher.until_health(Health.OK)
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    assert "secret" not in caplog.text


async def test_a_window_that_dies_before_it_is_read_is_skipped_without_a_word(
    own_server: XServer, watch: Watch, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    first = own_server.open_window(title="first", wm_class=("a", "First"))
    dead = own_server.open_window(title="dead", wm_class=("b", "Dead"))
    first.focus()
    watcher = watch(own_server.display)
    await watcher.until_window(wm_class="First")
    dead.destroy()
    for number in range(5):
        own_server.claim_active(dead.id)
        for _ in range(20):
            first.retitle("gives the sensor the time to look")
        own_server.claim_active(first.id)
        first.retitle(f"round {number}")
        await watcher.until_window(title=f"round {number}")
    assert {window and window.wm_class for window in watcher.windows} == {"First"}
    assert watcher.health == [OK]
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


async def test_windows_that_come_and_go_leave_the_sensor_alive(server: XServer, watch: Watch) -> None:
    last = server.open_window(title="last", wm_class=("a", "Last"))
    watcher = watch(server.display)
    for number in range(15):
        window = server.open_window(title=f"short {number}", wm_class=("b", "Short"))
        window.activate()
        window.destroy()
    last.focus()
    await watcher.until_window(wm_class="Last")
    assert watcher.health == [OK]


async def test_nothing_focused_is_reported_as_no_window(own_server: XServer, watch: Watch) -> None:
    window = own_server.open_window(title="t", wm_class=("a", "App"))
    root = own_server.connection.screen().root
    XWindow(own_server, root).retitle("a status bar's text")
    window.focus()
    watcher = watch(own_server.display)
    await watcher.until_window(wm_class="App")
    for say_so in (
        own_server.forget_active,
        lambda: own_server.claim_active(0),
        lambda: own_server.claim_active(root.id),
    ):
        say_so()
        await watcher.until_none()
        own_server.claim_active(window.id)
        await watcher.until_window(wm_class="App")
    assert watcher.health == [OK]


async def test_a_last_window_that_is_closed_leaves_nothing_focused(server: XServer, watch: Watch) -> None:
    window = server.open_window(title="last", wm_class=("a", "App"))
    window.focus()
    watcher = watch(server.display)
    await watcher.until_window(wm_class="App")
    window.destroy()
    await watcher.until_none()
    assert server.active_window() == window.id, "openbox still names it"


async def test_the_blank_window_of_a_wayland_compositor_is_no_window(server: XServer, watch: Watch) -> None:
    server.open_window(title="t", wm_class=("a", "App")).focus()
    blank = server.open_window()
    watcher = watch(server.display, partial=True)
    await watcher.until_window(wm_class="App")
    blank.focus()
    await watcher.until_none()


async def test_the_desktop_is_no_window(server: XServer, watch: Watch) -> None:
    desktop_type = [server.atom("_NET_WM_WINDOW_TYPE_DESKTOP")]
    server.open_window(title="t", wm_class=("a", "App")).focus()
    desktop = server.open_window(
        "Desktop", ("pcmanfm", "Pcmanfm"), properties={"_NET_WM_WINDOW_TYPE": ("ATOM", 32, desktop_type)}
    )
    watcher = watch(server.display)
    await watcher.until_window(wm_class="App")
    desktop.focus()
    await watcher.until_none()


async def test_a_window_manager_that_goes_takes_its_word_with_it(own_server: XServer, watch: Watch) -> None:
    own_server.open_window(title="t", wm_class=("a", "App")).focus()
    watcher = watch(own_server.display)
    await watcher.until_window(wm_class="App")
    own_server.kill_window_manager()
    await watcher.until_health(Health.DEGRADED, FaultCode.WINDOW_UNREADABLE)
    await watcher.until_none()
    own_server.start_window_manager()
    await watcher.until_health(Health.OK)
    await watcher.until_window(wm_class="App")


async def test_without_any_window_manager_the_sensor_says_that_it_sees_nothing(
    own_server: XServer, watch: Watch
) -> None:
    own_server.kill_window_manager()
    own_server.forget_active()
    own_server.connection.screen().root.delete_property(own_server.atom("_NET_SUPPORTING_WM_CHECK"))
    own_server.connection.sync()
    window = own_server.connection.screen().root.create_window(0, 0, 9, 9, 0, 0)
    XWindow(own_server, window).retitle("plain")
    watcher = watch(own_server.display)
    await watcher.until_health(Health.DEGRADED, FaultCode.WINDOW_UNREADABLE)
    await watcher.until_none()
    # One that does not announce itself, as the EWMH asks, is believed all the same.
    own_server.claim_active(window.id)
    await watcher.until_window(title="plain")
    await watcher.until_health(Health.OK)


async def test_on_wayland_the_view_is_called_partial(server: XServer, watch: Watch) -> None:
    server.open_window(title="t", wm_class=("a", "App")).focus()
    watcher = watch(server.display, partial=True)
    await watcher.until_window(wm_class="App")
    assert watcher.health == [(Health.DEGRADED, FaultCode.PARTIAL_VIEW)]


@pytest.mark.parametrize("display", [None, "", "nonsense", "host:nonsense"])
async def test_without_a_display_nothing_is_tried(
    watch: Watch, monkeypatch: pytest.MonkeyPatch, display: str | None
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    watcher = watch(display)
    await watcher.until_health(Health.ABSENT, FaultCode.NO_DISPLAY)
    eventually(lambda: "x11-sensor" not in [thread.name for thread in threading.enumerate()], "no thread is left")
    assert len(watcher.health) == 1


async def test_a_server_that_dies_is_lost_and_found_again(
    own_server: XServer, watch: Watch, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.INFO, LOGGER)
    own_server.open_window(title="before", wm_class=("a", "App")).focus()
    watcher = watch(own_server.display)
    await watcher.until_window(title="before")
    reported = len(watcher.windows)

    own_server.kill()
    await watcher.until_health(Health.ABSENT, FaultCode.DISPLAY_LOST)
    busy = time.process_time()
    await asyncio.sleep(1.0)  # long enough to see what looking for it costs
    assert time.process_time() - busy < 0.05
    assert len(watcher.windows) == reported, "a lost server says nothing about windows"

    own_server.start()
    own_server.open_window(title="after", wm_class=("a", "App")).focus()
    begun = time.monotonic()
    await watcher.until_window(title="after")
    assert time.monotonic() - begun < 8.0
    await watcher.until_health(Health.OK)
    assert [record.getMessage() for record in caplog.records if "X server" in record.getMessage()] == [
        "Window sensor: The X server cannot be reached; trying again.",
        "Window sensor, no longer so: The X server cannot be reached; trying again.",
    ]
    assert capfd.readouterr() == ("", "")


async def test_the_same_window_is_reported_again_after_the_connection_was_lost(
    own_server: XServer, watch: Watch
) -> None:
    watcher = watch(own_server.display)
    await watcher.until(lambda: watcher.windows == [None])
    own_server.restart()
    await watcher.until(lambda: watcher.windows == [None, None])


async def test_a_frozen_server_holds_up_the_sensor_alone(own_server: XServer, watch: Watch) -> None:
    window = own_server.open_window(title="before", wm_class=("a", "App"))
    window.focus()
    watcher = watch(own_server.display)
    await watcher.until_window(title="before")
    window.retitle("while it froze")
    own_server.freeze()
    begun = time.monotonic()
    for _ in range(20):
        await asyncio.sleep(0.005)
    assert time.monotonic() - begun < 2.0
    own_server.thaw()
    window.retitle("after")
    await watcher.until_window(title="after")
    assert FaultCode.DISPLAY_LOST not in [code for _, code in watcher.health]


@pytest.mark.parametrize("frozen", ["before the connection", "while connected"])
async def test_a_frozen_server_does_not_hold_up_stop(own_server: XServer, watch: Watch, frozen: str) -> None:
    if frozen == "before the connection":
        before = _open_files()
        own_server.freeze()
        watcher = watch(own_server.display)
        eventually(lambda: _open_files() > before, "the sensor waits for the server's first answer")
    else:
        watcher = watch(own_server.display)
        await watcher.until_none()
        own_server.freeze()
    begun = time.monotonic()
    watcher.sensor.stop()
    assert time.monotonic() - begun < 0.5
    assert "x11-sensor" not in [thread.name for thread in threading.enumerate()]
    own_server.thaw()
    watcher.start()
    await watcher.until_health(Health.OK)


async def test_stop_ends_the_wait_for_a_server_that_is_gone(own_server: XServer, watch: Watch) -> None:
    own_server.kill()
    watcher = watch(own_server.display)
    await watcher.until_health(Health.ABSENT, FaultCode.DISPLAY_LOST)
    begun = time.monotonic()
    watcher.sensor.stop()
    assert time.monotonic() - begun < 0.4


async def test_nothing_is_reported_after_stop_not_even_what_was_under_way(
    server: XServer, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = server.open_window(title="before", wm_class=("a", "App"))
    window.focus()
    watcher = watch(server.display)
    await watcher.until_window(title="before")
    loop = asyncio.get_running_loop()
    handed_over: list[object] = []
    hand_over = loop.call_soon_threadsafe

    def count(callback: Callable[..., None], *values: object) -> asyncio.Handle:
        handed_over.append(values)
        return hand_over(callback, *values)

    monkeypatch.setattr(loop, "call_soon_threadsafe", count)
    window.retitle("after")
    eventually(lambda: bool(handed_over), "a report waits for the loop")
    watcher.sensor.stop()
    before = list(watcher.windows)
    window.retitle("much later")
    for _ in range(20):
        await asyncio.sleep(0.001)
    assert watcher.windows == before


async def test_starting_and_stopping_and_losing_the_server_leave_nothing_behind(
    own_server: XServer, watch: Watch
) -> None:
    watcher = watch(own_server.display)
    await watcher.until_health(Health.OK)
    watcher.sensor.stop()
    before = _open_files(), threading.active_count()
    for _ in range(20):
        watcher.health.clear()
        watcher.start()
        await watcher.until_health(Health.OK)
        watcher.sensor.stop()
    assert (_open_files(), threading.active_count()) == before

    watcher.start()
    for _ in range(3):
        watcher.health.clear()
        own_server.restart()
        await watcher.until(lambda: (Health.ABSENT, FaultCode.DISPLAY_LOST) in watcher.health)
        await watcher.until_health(Health.OK)
    watcher.sensor.stop()
    assert (_open_files(), threading.active_count()) == before


@pytest.mark.parametrize("content", [b"", b"\x00\x01damaged"])
async def test_a_useless_authority_file_is_not_talked_about(
    server: XServer,
    watch: Watch,
    content: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    authority = tmp_path / "Xauthority"
    authority.write_bytes(content)
    monkeypatch.setenv("XAUTHORITY", str(authority))
    watcher = watch(server.display)
    await watcher.until_health(Health.OK)
    assert capfd.readouterr() == ("", "")


def _open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


class RefusingServer:
    """Stands between one client and an X server, and answers BadAccess to whoever asks for a certain property."""

    def __init__(self, server: XServer, refused: str) -> None:
        self._path = f"/tmp/.X11-unix/X{server.display.removeprefix(':')}"
        self._refused = server.atom(refused)
        self._sequences: set[int] = set()
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> RefusingServer:
        listener = self._keep(socket.create_server(("127.0.0.1", 0)))
        self.display = f"127.0.0.1:{listener.getsockname()[1] - 6000}"
        self._spawn(self._accept, listener)
        return self

    def __exit__(self, *_: object) -> None:
        for sock in self._sockets:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(TIMEOUT)
        for sock in self._sockets:
            sock.close()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            client = self._keep(listener.accept()[0])
            upstream = self._keep(socket.socket(socket.AF_UNIX))
            upstream.connect(self._path)
            self._spawn(self._requests, client, upstream)
            self._spawn(self._replies, upstream, client)

    def _requests(self, client: socket.socket, upstream: socket.socket) -> None:
        setup = _receive(client, 12)
        name, data = struct.unpack("6xHH2x", setup)
        upstream.sendall(setup + _receive(client, -(-name // 4) * 4 + -(-data // 4) * 4))
        for sequence in range(1, 2**16):
            head = _receive(client, 4)
            code, length = struct.unpack("Bx H", head)
            request = head + _receive(client, length * 4 - 4)
            if code == 20 and struct.unpack_from("I", request, 8) == (self._refused,):  # GetProperty
                self._sequences.add(sequence)
            upstream.sendall(request)

    def _replies(self, upstream: socket.socket, client: socket.socket) -> None:
        setup = _receive(upstream, 8)
        client.sendall(setup + _receive(upstream, struct.unpack("6xH", setup)[0] * 4))
        while True:
            packet = _receive(upstream, 32)
            kind, sequence, more = struct.unpack("BxHI", packet[:8])
            if kind == 1:  # a reply; anything else has no more than 32 bytes
                packet += _receive(upstream, more * 4)
                if sequence in self._sequences:
                    packet = struct.pack("BBHIHB21x", 0, 10, sequence, 0, 0, 20)  # BadAccess, for GetProperty
            client.sendall(packet)

    def _keep(self, sock: socket.socket) -> socket.socket:
        self._sockets.append(sock)
        return sock

    def _spawn(self, run: Callable[..., None], *args: object) -> None:
        def until_closed() -> None:
            with contextlib.suppress(OSError):
                run(*args)

        thread = threading.Thread(target=until_closed, daemon=True)
        self._threads.append(thread)
        thread.start()


def _receive(sock: socket.socket, count: int) -> bytes:
    received = b""
    while len(received) < count:
        part = sock.recv(count - len(received))
        if not part:
            raise ConnectionResetError
        received += part
    return received
