"""118 labelled windows through key, cache and OnTask, with a judge that knows the labels."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import pytest

from antidrift.domain.events import OnTask
from antidrift.domain.matching import is_browser, key_of, site_in
from antidrift.domain.model import DriftStatus, RoleName, Titles, Verdict, Window
from antidrift.domain.requests import JudgeRequest
from antidrift.domain.session import Policy
from support.driver import Driver

JUDGE = RoleName.DRIFT_JUDGE
POLICY = Policy(titles=Titles.FULL)  # the cases are labelled by their whole titles


@dataclass(frozen=True)
class Case:
    window: Window
    on_task: bool


def load() -> dict[str, list[Case]]:
    cases: dict[str, list[Case]] = defaultdict(list)
    file = Path(__file__).parent.parent / "data" / "drift-cases.jsonl"
    for line in file.read_text(encoding="utf-8").splitlines():
        raw = json.loads(line)
        window = Window(raw["window_class"], raw["title"], window_id=raw["id"])
        cases[raw["commitment"]].append(Case(window, raw["on_task"]))
    return cases


CASES = load()
EXPECTED = {True: DriftStatus.ONTASK, False: DriftStatus.DRIFTING}


def is_page(case: Case) -> bool:
    return is_browser(key_of(case.window, POLICY).app)


class LabelledSession:
    """One commitment's session whose judge answers by the label of the one window that it was asked about."""

    def __init__(self, cases: list[Case]) -> None:
        self._labels = {(c.window.wm_class, c.window.title): c.on_task for c in cases}
        self.driver = Driver.active(minutes=24 * 60, policy=POLICY)
        self.judged = 0

    def show(self, case: Case) -> DriftStatus:
        self.driver.see(case.window)
        self.driver.wait(10)
        request = self.driver.in_flight.get(JUDGE)
        if isinstance(request, JudgeRequest):
            on_task = self._labels[request.wm_class, request.title]
            self.driver.answer(JUDGE, Verdict(on_task, "" if on_task else request.title))
            self.judged += 1
        return self.driver.status


@pytest.mark.parametrize("commitment", CASES)
@pytest.mark.parametrize("order", range(3))
def test_every_page_shows_its_own_verdict_in_any_order_and_however_often(commitment: str, order: int) -> None:
    cases = CASES[commitment]
    session = LabelledSession(cases)
    pages = [case for case in cases if is_page(case)]
    shown = cases * 2
    random.Random(order).shuffle(shown)
    for case in shown:
        status = session.show(case)
        if is_page(case):
            assert status is EXPECTED[case.on_task], case.window.title
            if not case.on_task:
                assert session.driver.reason == case.window.title
    apps = {key_of(c.window, POLICY).app for c in cases if not is_page(c)}
    assert session.judged == len({key_of(c.window, POLICY) for c in pages}) + len(apps)


@pytest.mark.parametrize("commitment", [name for name, cases in CASES.items() if any(map(is_page, cases))])
def test_allowing_one_page_allows_its_site_at_most_and_changes_no_other_page(commitment: str) -> None:
    pages = [case for case in CASES[commitment] if is_page(case)]
    for chosen in (case for case in pages if not case.on_task):
        session = LabelledSession(pages)
        for case in pages:
            session.show(case)
        session.show(chosen)
        session.driver.do(OnTask)
        site = site_in(chosen.window, POLICY)
        for case in pages:
            same = site and site_in(case.window, POLICY) == site
            allowed = same or key_of(case.window, POLICY) == key_of(chosen.window, POLICY)
            assert session.show(case) is EXPECTED[case.on_task or bool(allowed)], case.window.title
        assert session.judged == len({key_of(c.window, POLICY) for c in pages})


def test_the_cases_hold_what_makes_a_verdict_per_class_wrong() -> None:
    """A check of the data: several commitments have both a good and a bad page in one browser."""
    mixed = [
        name
        for name, cases in CASES.items()
        if any(len({c.on_task for c in cases if c.window.wm_class == browser and is_page(c)}) == 2 for browser in
               ("firefox", "google-chrome"))
    ]
    assert len(mixed) >= 10
