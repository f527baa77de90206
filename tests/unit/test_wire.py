"""The JSON of ended sessions, and of the state what its examples (tests/contract/test_schema.py) do not show."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from antidrift.domain.events import Complete, WentAway
from antidrift.domain.model import AwayCause, Bucket, DriftStatus, Outcome, RoleName, Verdict
from antidrift.domain.requests import Advice
from antidrift.wire import AwayView, StateView, summaries_json, view_of
from standins.store_writer import a_summary
from support.driver import Driver

ENDED = replace(a_summary(3, "Bericht – “Entwurf”"), session_id="s3", outcome=Outcome.EXPIRED)


def test_an_ended_session_has_all_its_keys_and_its_buckets_in_whole_seconds() -> None:
    assert json.loads(summaries_json([ENDED])) == [
        {
            "session_id": "s3",
            "next_action": "Write the report",
            "success_condition": "It is sent",
            "outcome": "expired",
            "timebox_secs": 1500,
            "started_at_ms": 1_700_000_000_003,
            "ended_at_ms": 1_700_001_500_003,
            "active_secs": 1400,
            "away_secs": 100,
            "switch_count": 3,
            "buckets": [
                {"class": "org.gnome.TextEditor", "title": "Bericht – “Entwurf”", "secs": 1300},
                {"class": "(none)", "title": "", "secs": 100},
            ],
        }
    ]


def test_ended_sessions_keep_their_order() -> None:
    ended = [a_summary(2), a_summary(5), a_summary(1)]
    assert [one["session_id"] for one in json.loads(summaries_json(ended))] == [one.session_id for one in ended]
    assert summaries_json([]) == "[]"


@pytest.mark.parametrize(("secs", "shown"), [(0.0, 0), (0.4, 0), (0.6, 1), (59.6, 60)])
def test_seconds_are_rounded_to_the_nearest(secs: float, shown: int) -> None:
    text = summaries_json([replace(ENDED, buckets=(Bucket("code", "a.py", secs),))])
    assert json.loads(text)[0]["buckets"][0]["secs"] == shown


# The state


def view(driver: Driver) -> StateView:
    return view_of(driver.session, instance="i", seq=1, store_fault=None)


def test_twenty_buckets_are_shown_at_most_and_the_largest_first() -> None:
    driver = Driver.active("code")
    for number in range(1, 26):
        driver.focus("code", f"{number}.py")
        driver.wait(number)
    shown = view(driver).evidence
    assert shown is not None
    assert [bucket.secs for bucket in shown.buckets] == list(range(25, 5, -1))


def test_who_was_away_when_the_session_ended_is_not_away_any_more() -> None:
    driver = Driver.active("code")
    driver.wait(60)
    driver.do(WentAway, AwayCause.LOCK, driver.now)
    driver.wait(30)
    driver.do(Complete)
    assert view(driver).away == AwayView(active=False, cause=None, since_ms=None, total_secs=30, paused=False)


def test_a_nudge_shows_while_the_person_is_on_task_and_not_beside_a_drift() -> None:
    driver = Driver.active("code")
    driver.focus("code", "a.py")
    driver.focus("code", "b.py")
    driver.answer(RoleName.NUDGE, Advice("Still the report?"))
    on_task = view(driver).drift
    driver.focus("firefox", "Ten cats — Mozilla Firefox")
    driver.wait(5)
    driver.answer(RoleName.DRIFT_JUDGE, Verdict(False, "cats"))
    drifting = view(driver).drift
    assert on_task is not None
    assert drifting is not None
    assert (on_task.status, on_task.nudge) == (DriftStatus.ONTASK, "Still the report?")
    assert (drifting.status, drifting.nudge) == (DriftStatus.DRIFTING, "")
