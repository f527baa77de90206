"""`antidrift explain` against the domain itself: it says what is asked, of the windows that are asked about."""

from __future__ import annotations

import io
import json

import pytest

from antidrift.cli import explain
from antidrift.cli.explain import Explanation, explained
from antidrift.cli.output import Output
from antidrift.cli.terminal import Terminal
from antidrift.domain.events import AllowAI, Complete, OnTask, WentAway
from antidrift.domain.model import Allowed, AwayCause, Consent, Fault, FaultCode, RoleName, Titles, Verdict
from antidrift.domain.session import AI, Policy
from antidrift.roles.drift_judge import DRIFT_JUDGE
from antidrift.wire import view_of
from support.canaries import canaries
from support.driver import WORKING_AI, Driver

JUDGE = RoleName.DRIFT_JUDGE
EXCLUDING = Policy(exclude_apps=frozenset({"keepassxc", "firefox"}))
NEVER = Policy(titles=Titles.NEVER)
POLICIES = [Policy(), Policy(titles=Titles.FULL), NEVER, EXCLUDING, Policy(many_purpose=frozenset({"slack"}))]
WINDOWS = [
    ("firefox", "Cats - YouTube — Mozilla Firefox"),
    ("firefox", "Gifts — Mozilla Firefox Private Browsing"),
    ("org.keepassxc.KeePassXC", "passwords.kdbx"),
    ("Slack", "#random ada@example.org"),
    ("mpv", "/home/ada/film.mkv"),
    ("code", "main.py"),
    ("", "no class"),
    ("gnome-shell", "Overview"),
]


def said(driver: Driver) -> Explanation:
    view = view_of(driver.session, instance="i", seq=1, store_fault=None).model_dump(mode="json", by_alias=True)
    return explained(view, driver.session.policy)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("wm_class", "title"), WINDOWS)
def test_it_says_that_something_is_sent_exactly_where_something_is_and_what(
    policy: Policy, wm_class: str, title: str
) -> None:
    driver = Driver.active("code", policy=policy)
    driver.focus(wm_class, title, window_id="7")
    found = said(driver)
    sent = [] if found.because else [found.request]
    assert [DRIFT_JUDGE.prompt(each, "mark") for each in sent] == [DRIFT_JUDGE.prompt(e, "mark") for e in driver.asked]


def test_it_says_the_same_as_is_sent_of_a_thousand_titles() -> None:
    driver = Driver.active(minutes=24 * 60)
    for canary in canaries(1000, seed=5):
        driver.focus("firefox", canary.title)
        driver.wait(10)
        if JUDGE in driver.in_flight:
            assert said(driver).request == driver.in_flight[JUDGE]
            driver.answer(JUDGE, Verdict(on_task=True))
    assert len(driver.asked) > 900


def test_once_there_is_an_answer_it_says_so_and_what_another_asking_would_send() -> None:
    driver = Driver.active()
    driver.focus("Slack", "#random")
    [asked] = driver.asked
    driver.answer(JUDGE, Verdict(on_task=True))
    assert said(driver).because == "there is an answer about it already"
    assert said(driver).request == asked


def test_an_asking_that_failed_is_not_repeated_at_once_and_it_says_so() -> None:
    driver = Driver.active()
    driver.focus("Slack", "#random")
    driver.fail(JUDGE)
    assert "asked about just now" in said(driver).because


def reason(driver: Driver) -> str:
    found = said(driver)
    assert found.request is None
    return found.because


def focused(
    wm_class: str = "Slack", title: str = "#random", *, ai: AI = WORKING_AI, policy: Policy | None = None
) -> Driver:
    driver = Driver.active("code", ai=ai, policy=policy)
    driver.focus(wm_class, title)
    return driver


def test_each_reason_why_nothing_is_sent_has_its_sentence() -> None:
    broken = Fault(FaultCode.UNAVAILABLE, "No program named claude was found.")
    assert "no session is running" in reason(Driver())
    assert "no window has the focus" in reason(Driver.active())
    assert "on task, by what you allowed" in reason(focused("code", "main.py"))
    assert "private window" in reason(focused("firefox", "x — Mozilla Firefox Private Browsing"))
    assert "no AI program is set up" in reason(focused(ai=AI()))
    assert "you have not allowed" in reason(focused(ai=AI("claude", available=True)))
    assert "you have not allowed" in reason(focused(ai=AI("claude", available=True, answer=Consent.REFUSED)))
    assert "No program named claude" in reason(focused(ai=AI("claude", answer=Consent.GIVEN, fault=broken)))
    assert "exclude_apps holds firefox" in reason(focused("firefox", "x", policy=EXCLUDING))
    assert 'titles = "never"' in reason(focused("firefox", "x", policy=NEVER))
    ended = focused()
    ended.do(Complete)
    assert "no session is running" in reason(ended)
    failing = focused()
    for wm_class in ("discord", "telegram", "signal"):
        failing.fail(JUDGE)
        failing.focus(wm_class)
        failing.wait(10)
    assert "failed too often" in reason(failing)
    refused = focused()
    refused.do(AllowAI, False)
    assert "you have not allowed" in reason(refused)


def test_what_was_allowed_in_the_session_or_the_config_counts() -> None:
    driver = focused("firefox", "Cats - YouTube — Mozilla Firefox")
    driver.do(OnTask)
    assert "on task" in reason(driver)
    always = focused("firefox", "x", policy=Policy(Allowed(titles=("x",))))
    assert "on task" in reason(always)


def test_who_is_away_is_not_watched() -> None:
    driver = focused()
    driver.do(WentAway, AwayCause.LOCK, driver.now)
    assert said(driver).because == "you count as away"


def test_it_says_where_else_a_title_may_go_and_how_it_would_read() -> None:
    assert said(focused("code", "mail to ada@example.org")).also.endswith("may be sent the title as: mail to [address]")
    assert "its class, code, and for how long" in said(focused("code", "x", policy=NEVER)).also
    assert said(focused("firefox", "x — Mozilla Firefox Private Browsing")).also == ""


def printed(found: Explanation, *, as_json: bool) -> str:
    stdout = io.StringIO()
    explain._print(found, "claude", as_json, Output(stdout, io.StringIO(), Terminal()))
    return stdout.getvalue()


def test_instruction_and_prompt_are_printed_as_they_are_with_a_new_mark_each_time() -> None:
    found = said(focused("Slack", "a  title 一 of <b>odd</b> things " + "long " * 100))
    assert found.request is not None
    first, second = (json.loads(printed(found, as_json=True)) for _ in range(2))
    assert (first["sent"], first["because"], first["role"]) == (True, None, "drift_judge")
    assert first["instruction"] == DRIFT_JUDGE.instruction
    token = first["prompt"].split("BEGIN DATA ")[1].split("\n")[0]
    assert first["prompt"] == DRIFT_JUDGE.prompt(found.request, token)
    assert second["prompt"] != first["prompt"]
    text = printed(found, as_json=False)
    token = text.split("BEGIN DATA ")[1].split("\n")[0]
    assert f"--- prompt\n{DRIFT_JUDGE.prompt(found.request, token)}\n---\n" in text
    assert f"--- instruction\n{DRIFT_JUDGE.instruction}\n---" in text


def test_where_nothing_is_sent_no_prompt_is_printed() -> None:
    text = printed(said(focused("code", "main.py")), as_json=False)
    assert text.startswith("Nothing would be sent about it now, because it is on task")
    assert "---" not in text
    assert json.loads(printed(said(Driver()), as_json=True))["prompt"] is None
