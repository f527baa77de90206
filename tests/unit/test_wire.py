"""The JSON of ended sessions. That of the state is held by its examples: tests/contract/test_schema.py."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from antidrift.domain.model import Bucket, Outcome
from antidrift.wire import summaries_json
from standins.store_writer import a_summary

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
