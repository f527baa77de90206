"""The real service, for which hours pass in milliseconds, asleep or awake."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

from support.private_bus import PrivateBus
from support.service import DEADLINE, Service

MACHINE = Path(__file__).parents[1] / "standins" / "time_machine"


class TimeMachine(Service):
    """A `Service` whose clocks leap. `config` is what its config file says."""

    def __init__(self, bus: PrivateBus, config: str = "", **environment: str) -> None:
        super().__init__(bus, **environment)
        self.folder.mkdir(mode=0o700)
        (self.folder / "config.toml").write_text(config)
        self._order = self.home / "order.json"
        self._environment["PYTHONPATH"] = f"{MACHINE}:{self._environment['PYTHONPATH']}"
        self._environment["TIME_MACHINE"] = str(self._order)

    def sleep(self, secs: float) -> None:
        """The machine is suspended and wakes up. Nobody tells the service of it."""
        self._leap(secs, "asleep")

    def pass_time(self, secs: float) -> None:
        """Time passes in which nothing happens."""
        self._leap(secs, "awake")

    def set_wall_clock(self, secs: float) -> None:
        """Somebody, or the network, sets the wall clock forward by so much, or back."""
        self._leap(secs, "wall")

    def _leap(self, secs: float, kind: str) -> None:
        new = self._order.with_suffix(".new")
        new.write_text(json.dumps({"secs": secs, "kind": kind}))
        new.rename(self._order)
        os.kill(self.pid, signal.SIGUSR1)
        self._until(lambda: not self._order.exists(), "the clocks have leapt", DEADLINE)
