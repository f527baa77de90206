"""Whether anybody can see which window has the focus."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from antidrift.bus.client import Client
from antidrift.cli.doctor.finding import Finding, fault, good, note
from antidrift.cli.doctor.service import Service
from antidrift.domain.model import Fault, FaultCode, Health
from antidrift.sensors.x11 import X11Sensor

EXTENSION = "antidrift@antidrift.org"

LOOK_SECS = 5.0
"""How long the X server may take to show what has the focus."""


async def check_windows(
    client: Client | None,
    service: Service,
    seen: Mapping[str, str],
    here: Mapping[str, str],
    reporters: Sequence[str],
    config_file: Path,
) -> Finding:
    """What the service sees of the desktop, or would. `seen` is its environment, `here` that of this command.

    `reporters` are the programs that may report windows besides GNOME Shell.
    """
    wayland = here.get("XDG_SESSION_TYPE") == "wayland" or bool(here.get("WAYLAND_DISPLAY"))
    extension = None if client is None else await client.shell_extension(EXTENSION)
    if extension:
        return good("windows", f"GNOME Shell reports the focused window ({_desktop(here, wayland)}).")
    health, code, message = await _sight(service, seen, wayland)
    if health == Health.OK:
        return good("windows", f"The focused window can be seen ({_desktop(here, wayland)}).")
    if reporters:
        return note("windows", f"Windows are seen if a program reports them: [sensor] in {config_file} lets them.")
    wrong = fault if health == Health.ABSENT else note
    if wayland and extension is False:
        some = "Not every window is seen under Wayland without the extension"
        return wrong("windows", f"{some}: enable it with `gnome-extensions enable {EXTENSION}`.")
    if wayland:
        some = "Not every window is seen under Wayland"
        return wrong("windows", f"{some}: name a program that reports them in [sensor] reporters in {config_file}.")
    if code == FaultCode.NO_DISPLAY and here.get("DISPLAY") and not seen.get("DISPLAY"):
        give = "dbus-update-activation-environment --systemd DISPLAY XAUTHORITY; " if service.by_systemd else ""
        blind = "The service was started without DISPLAY and sees no window"
        return wrong("windows", f"{blind}: restart it from here with `{give}{service.restart}`.")
    if code in (FaultCode.NO_DISPLAY, FaultCode.DISPLAY_LOST):
        name = seen.get("DISPLAY")
        why = f"The X server {name} cannot be reached" if name else "DISPLAY is not set"
        command = f"DISPLAY=:0 {service.restart}" if service.pid is None else f"export DISPLAY=:0; {service.restart}"
        return wrong("windows", f"{why}, so no window is seen: name the one of your desktop, as in `{command}`.")
    return wrong("windows", f"{message} See whether `xprop -root _NET_ACTIVE_WINDOW` does.")


def _desktop(here: Mapping[str, str], wayland: bool) -> str:
    kind = "Wayland" if wayland else "X11"
    name = here.get("XDG_CURRENT_DESKTOP", "")
    return f"{name} on {kind}" if name else kind


async def _sight(service: Service, seen: Mapping[str, str], wayland: bool) -> tuple[str, str, str]:
    """Health, code and message: those of the service while it looks, otherwise those of a look of our own."""
    if service.state is not None and service.state.phase == "active":
        evidence = service.state.view["evidence"]
        error = evidence["error"] or {"code": "", "message": ""}
        return evidence["health"], error["code"], error["message"]
    health, wrong = await _look(seen.get("DISPLAY", ""), wayland)
    return (health, "", "") if wrong is None else (health, wrong.code, wrong.message)


async def _look(display: str, partial: bool) -> tuple[Health, Fault | None]:
    found: asyncio.Future[tuple[Health, Fault | None]] = asyncio.get_running_loop().create_future()

    def report(health: Health, wrong: Fault | None) -> None:
        if not found.done():
            found.set_result((health, wrong))

    sensor = X11Sensor(display, partial=partial)
    sensor.start(lambda window: None, report)
    try:
        async with asyncio.timeout(LOOK_SECS):
            return await found
    except TimeoutError:
        return Health.ABSENT, Fault(FaultCode.DISPLAY_LOST, "The X server does not answer.")
    finally:
        sensor.stop()
