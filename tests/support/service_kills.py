"""The whole service is killed at random moments, and what a client was answered must be so at the next start."""

from __future__ import annotations

import json
import random
import threading

import dbus

from antidrift.store import AUDIT_NAME, verify
from support.private_bus import PrivateBus
from support.service import Client, Service
from support.store_kills import Toll

NEXT = {
    "locked": ("EnterPlanning", "", ()),
    "planning": ("StartCommitment", "ssxas", ("Write", "Written", 1500, dbus.Array(["code"], signature="s"))),
    "active": ("Complete", "", ()),
    "review": ("End", "", ()),
}
ORDER = list(NEXT)


def kill_services(kills: int) -> Toll:
    """Kills a service so many times while a client drives it round, and starts it again on the same files."""
    chance = random.Random(20)
    toll = Toll(kills)
    ended = 0
    with PrivateBus() as bus, Service(bus) as service:
        for kill in range(kills):
            calls: list[tuple[str, str]] = []
            begun_in = ORDER.index(service.state()["runtime_state"])
            person = threading.Thread(target=_drive, args=(bus, calls))
            person.start()
            person.join(chance.uniform(0.02, 0.3))
            service.kill()
            person.join()
            service.start()

            done = sum(kind == "done" for kind, _ in calls)
            toll.acknowledged += done
            in_doubt = calls[-1:] and calls[-1][0] == "asked"
            state = service.state()
            now = ORDER.index(state["runtime_state"])
            ended += calls.count(("done", "End"))
            if calls[-1:] == [("asked", "End")] and ORDER[now] == "locked":
                ended += 1
            chain = verify(service.folder / AUDIT_NAME)
            as_it_must_be = (
                now in {(begun_in + done) % 4, (begun_in + done + bool(in_doubt)) % 4},
                chain.ok,
                chain.lines == ended,
                state["store"]["error"] is None,
            )
            if not all(as_it_must_be):
                toll.losses.append(
                    f"kill {kill}: from {ORDER[begun_in]} by {calls[-4:]} to {ORDER[now]}, "
                    f"{ended} ended, {chain}, {state['store']['error']}, {as_it_must_be}"
                )
                ended = chain.lines
    return toll


def _drive(bus: PrivateBus, calls: list[tuple[str, str]]) -> None:
    """Goes round and round, and notes what was asked for and what was done, until the service is gone."""
    with Client(bus.address) as client:
        try:
            while True:
                phase = json.loads(client.call("GetState"))["runtime_state"]
                member, signature, arguments = NEXT[phase]
                calls.append(("asked", member))
                client.call(member, signature, *arguments)
                calls.append(("done", member))
        except dbus.DBusException:
            return
