"""What any service on the same library costs: GetState answers with a constant string.

bare.py BUS_NAME FILE        FILE holds the string

It says "ready" on standard output when it owns its name.
"""

# ruff: noqa: F821, N802 - annotations are D-Bus signatures here, and members have the names of the contract
# mypy: disable-error-code="name-defined,untyped-decorator,no-any-return"

import asyncio
import sys
from pathlib import Path

from antidrift.bus.connection import SessionBus
from antidrift.bus.names import INTERFACE, OBJECT_PATH

# isort: split
from dbus_next.service import ServiceInterface, method


class Bare(ServiceInterface):
    def __init__(self, answer: str) -> None:
        super().__init__(INTERFACE)
        self._answer = answer

    @method()
    def GetState(self) -> "s":
        return self._answer


async def main(name: str, answer: str) -> None:
    bus = await SessionBus.open()
    bus.export(OBJECT_PATH, Bare(answer))
    await bus.claim_name(name)
    print("ready", flush=True)
    await bus.wait_for_disconnect()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]).read_text()))
