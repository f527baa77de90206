"""Titles, whatever becomes of them: at no level is a word of them in the log, not even where titles may be seen."""

from __future__ import annotations

import asyncio

import pytest

from antidrift.controller import Controller
from antidrift.domain.events import AllowAI, Complete, End, EnterPlanning, RequestCoach, StartCommitment
from antidrift.domain.model import Consent, Fault, FaultCode, Titles, Window
from antidrift.domain.session import AI, Policy, Session
from antidrift.ports import BackendError
from antidrift.roles.caller import RoleCaller
from antidrift.store import LedgerFile, sent
from support.canaries import Lookout, canaries
from support.fakes import FakeClock, FakeSensor, MemoryStore, RecordingPublisher

TITLES = 400


class TalkativeBackend:
    """Repeats in its answers and in its errors whatever it is shown, each time in another way."""

    name = "stand-in"

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def check(self) -> Fault | None:
        return None

    async def run(self, role: str, prompt: str) -> str:
        self.prompts.append(prompt)
        match len(self.prompts) % 7:
            case 0:
                raise RuntimeError(prompt)
            case 1:
                return prompt
            case 2:
                return '{"on_task": false, "reason": "' + prompt[-120:].replace('"', "") + '"}'
            case 3:
                raise BackendError(Fault(FaultCode.FAILED, "It failed.")) from ValueError(prompt)
            case 4:
                return '{"on_task": "' + prompt[-90:].replace('"', "") + '"}'
            case 5:
                raise OSError(5, prompt)
            case _:
                return '{"on_task": true, "on_track": true, "recap": "Fine."}'


async def settled() -> None:
    for _ in range(8):
        await asyncio.sleep(0)


@pytest.mark.parametrize("titles", [Titles.REDACT, Titles.FULL])
async def test_no_level_of_the_log_holds_a_word_of_a_title(
    titles: Titles, caplog: pytest.LogCaptureFixture, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("ledger")
    caplog.set_level(1)
    planted = canaries(TITLES, seed=4711)
    backend, clock, sensor, store = TalkativeBackend(), FakeClock(), FakeSensor(), MemoryStore()
    policy = Policy(titles=titles)
    controller = Controller(
        Session(clock.now(), policy, ai=AI("stand-in", available=True, answer=Consent.GIVEN)),
        boot_id="boot",
        clock=clock,
        store=store,
        publisher=RecordingPublisher(store.log),
        sensor=sensor,
        backend=backend,
        advisor=RoleCaller(backend, ledger=LedgerFile(folder)),
    )
    controller.begin(())
    for start in range(0, TITLES, 100):
        controller.dispatch(EnterPlanning(clock.now()))
        controller.dispatch(RequestCoach(clock.now(), planted[start].title))
        await settled()
        controller.dispatch(StartCommitment(clock.now(), f"s{start}", planted[start].title, "Done", 80_000, ("code",)))
        for number, canary in enumerate(planted[start : start + 100]):
            store.full = number % 10 == 9
            sensor.show(Window("code" if number % 3 else "firefox", canary.title, window_id=str(number)))
            await settled()
            clock.pass_time(400)
            await settled()
        store.full = False
        controller.dispatch(Complete(clock.now()))
        await settled()
        controller.dispatch(End(clock.now()))
    controller.dispatch(AllowAI(clock.now(), False))
    await controller.close()

    lookout = Lookout(planted)
    assert len(caplog.records) > 20, "there is a log to look at"
    for record in caplog.records:
        assert lookout.found_in(record.getMessage() + str(record.exc_info) + str(record.args)) == []
    assert len(backend.prompts) > 30
    of_windows = [prompt for prompt in backend.prompts if "Rough intent" not in prompt]
    if titles is Titles.FULL:
        assert any(lookout.found_in(prompt) for prompt in of_windows), "the lookout sees them where they are"
    ledger = b"".join(path.read_bytes() for path in folder.iterdir()).decode()
    assert lookout.found_in(ledger) == []
    assert len(sent(folder, 10_000)) == len(backend.prompts)
