"""Ten thousand titles with planted secrets, through every role: none of them is in a prompt."""

from __future__ import annotations

from antidrift.domain.events import Complete, End, EnterPlanning, RequestCoach
from antidrift.domain.model import RoleName, Titles, Verdict
from antidrift.domain.requests import ROLE_OF, Advice, Reflection, Request
from antidrift.domain.session import Policy
from antidrift.roles import ROLES
from support.canaries import Canary, Lookout, canaries
from support.driver import Driver

COACH, JUDGE, NUDGE, REVIEWER = RoleName
SESSIONS, TITLES = 100, 100


def prompt(request: Request) -> str:
    return ROLES[ROLE_OF[type(request)]].prompt(request, "mark")  # a random one may look like half a secret


def session(driver: Driver, planted: list[Canary]) -> list[tuple[Request, str]]:
    """One session under these titles, half of them in an allowed app, with an AI that repeats what it is shown."""
    first = len(driver.asked)
    driver.start("code", minutes=60)
    for number, canary in enumerate(planted):
        driver.focus("firefox" if number % 2 else "code", canary.title, window_id=str(number % 7))
        driver.wait(15)
        if JUDGE in driver.in_flight:
            driver.answer(JUDGE, Verdict(on_task=number % 4 == 1, reason="It is something else"))
        if NUDGE in driver.in_flight:
            driver.answer(NUDGE, Advice(""))
    driver.do(Complete)
    echo = prompt(driver.in_flight[REVIEWER])
    # The worst takeaway: titles as they were, as if more of them could be seen when it was written.
    driver.answer(REVIEWER, Reflection(echo[:200], " ".join(canary.title for canary in planted[:4])[:400]))
    driver.do(End)
    driver.do(EnterPlanning)
    driver.do(RequestCoach, "write the report")
    return [(request, prompt(request)) for request in driver.asked[first:]]


def test_no_secret_in_ten_thousand_titles_reaches_an_ai_in_any_role() -> None:
    driver = Driver()
    driver.do(EnterPlanning)
    found: list[tuple[str, str]] = []
    roles = dict.fromkeys(RoleName, 0)
    for number in range(SESSIONS):
        planted = canaries(TITLES, seed=number)
        lookout = Lookout(planted)
        for request, text in session(driver, planted):
            roles[ROLE_OF[type(request)]] += 1
            found += [(canary.title, text) for canary in lookout.found_in(text)]
    assert found == []
    assert roles[COACH] == roles[REVIEWER] == SESSIONS
    assert roles[NUDGE] >= SESSIONS
    assert roles[JUDGE] >= SESSIONS * TITLES // 4


def test_the_lookout_finds_them_where_titles_go_as_they_are() -> None:
    driver = Driver.active(policy=Policy(titles=Titles.FULL), minutes=60)
    for canary in canaries(100, seed=1):
        driver.focus("firefox", canary.title)
        driver.wait(15)
        text = prompt(driver.in_flight[JUDGE])
        driver.answer(JUDGE, Verdict(on_task=True))
        assert Lookout([canary]).found_in(text), canary
