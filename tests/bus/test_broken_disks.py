"""The service on disks that break: full, read-only, failing, out of reach; and without a descriptor to spare."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from antidrift.store import FileStore
from support.broken_disks import BREAKABLE, STORE_FAILED, endure
from support.private_bus import PrivateBus
from support.service import Service

DEADLINE = 120.0  # seconds for all of them; most of what it takes is waiting, so they are tried at the same time


@pytest.fixture(scope="module")
def trials() -> Iterator[Mapping[str, Future[None]]]:
    with ExitStack() as stack:
        services = {name: stack.enter_context(breakable()) for name, breakable in BREAKABLE.items()}
        pool = stack.enter_context(ThreadPoolExecutor(len(services)))
        yield {name: pool.submit(endure, service) for name, service in services.items()}


@pytest.mark.parametrize("name", BREAKABLE)
def test_a_broken_disk_refuses_commands_by_name_ends_no_service_and_is_recovered_from_without_a_restart(
    name: str, trials: Mapping[str, Future[None]]
) -> None:
    trials[name].result(DEADLINE)


def test_a_folder_that_was_removed_and_that_another_process_has_taken_refuses_commands_by_name() -> None:
    with PrivateBus() as bus, Service(bus) as service:
        shutil.rmtree(service.folder)
        other = FileStore(service.folder)
        other.load()
        name, message = service.refusal("EnterPlanning")
        assert name == STORE_FAILED
        assert f"in use by process {os.getpid()}" in message
        other.close()
        service.call("EnterPlanning")
        assert service.state()["store"]["error"] is None
