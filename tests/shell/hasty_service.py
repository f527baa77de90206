"""The real service with short periods, so that a drift becomes an interrupt in half a second and not in twenty."""

from __future__ import annotations

from pathlib import Path

from antidrift.bus.names import BUS_NAME
from support.private_bus import PrivateBus
from support.service import Service

HASTE = Path(__file__).with_name("hasty")


class HastyService(Service):
    """A `Service` on the bus of the lab, whose daemon cannot name processes outside of its own namespace."""

    def __init__(self, bus: PrivateBus, home: Path | None = None, **environment: str) -> None:
        super().__init__(bus, home, **environment)
        self._environment["PYTHONPATH"] = f"{HASTE}:{self._environment['PYTHONPATH']}"

    def _owns_its_name(self) -> bool:
        return bool(self.client.connection.name_has_owner(BUS_NAME))
