"""Kill -9 of the whole service at random moments: what was acknowledged is there afterwards."""

from __future__ import annotations

import json
import random
import threading

import dbus

from antidrift.store import AUDIT_NAME, verify
from support.private_bus import PrivateBus
from support.service import Client, Service

CYCLES = 20
NEXT = {
    "locked": ("EnterPlanning", "", ()),
    "planning": ("StartCommitment", "ssxas", ("Write", "Written", 1500, dbus.Array(["code"], signature="s"))),
    "active": ("Complete", "", ()),
    "review": ("End", "", ()),
}
ORDER = list(NEXT)


def drive(bus: PrivateBus, acknowledged: list[tuple[str, str]]) -> None:
    """Goes round and round, and notes what was acknowledged, until the service is gone."""
    with Client(bus.address) as client:
        try:
            while True:
                phase = json.loads(client.call("GetState"))["runtime_state"]
                member, signature, arguments = NEXT[phase]
                acknowledged.append(("asked", member))
                client.call(member, signature, *arguments)
                acknowledged.append(("done", member))
        except dbus.DBusException:
            return


def test_nothing_acknowledged_is_lost_when_the_service_is_killed_at_random_moments() -> None:
    chance = random.Random(20)
    ended = 0
    with PrivateBus() as bus, Service(bus) as service:
        for cycle in range(CYCLES):
            acknowledged: list[tuple[str, str]] = []
            begun_in = ORDER.index(service.state()["runtime_state"])
            person = threading.Thread(target=drive, args=(bus, acknowledged))
            person.start()
            person.join(chance.uniform(0.02, 0.3))
            service.kill()
            person.join()
            service.start()

            done = sum(kind == "done" for kind, _ in acknowledged)
            in_doubt = acknowledged[-1:] and acknowledged[-1][0] == "asked"
            now = ORDER.index(service.state()["runtime_state"])
            expected = {(begun_in + done) % 4, (begun_in + done + bool(in_doubt)) % 4}
            assert now in expected, f"cycle {cycle}: {ORDER[begun_in]}, then {acknowledged[-4:]}, now {ORDER[now]}"

            ended += acknowledged.count(("done", "End"))
            doubtful = acknowledged[-1:] == [("asked", "End")] and ORDER[now] == "locked"
            ended += doubtful
            chain = verify(service.folder / AUDIT_NAME)
            assert chain.ok
            assert chain.lines == ended
            assert service.state()["store"]["error"] is None
    assert ended > CYCLES / 2  # a check of the test: sessions did end in between
