"""Many clients at once, with small counts: what `make soak` does with a million calls."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from soak import load
from soak.figures import bus_stopped, calls, concurrent, deadlines, flood, signals
from soak.load import Desk

GENEROUS_KIB = 8192
"""The first calls leave caches; what leaks with each call or signal would be more."""


@pytest.fixture(scope="module")
def shared_desk() -> Iterator[Desk]:
    with load.desk() as desk:
        yield desk


@pytest.fixture
def desk(shared_desk: Desk) -> Desk:
    shared_desk.lock()
    return shared_desk


def test_each_of_many_calls_right_and_wrong_has_one_answer_of_a_kind_that_it_may_have(desk: Desk) -> None:
    found = calls.strain(desk, 800, 2400)

    assert found.answers.wrong == found.idle.wrong == {}
    assert found.answers.number == 3200
    assert {"ok", "InvalidArgument", "AccessDenied", "RateLimited"} <= set(found.answers.kinds)
    assert found.looks > 0
    assert found.growth < GENEROUS_KIB


@pytest.mark.parametrize("connections", [1, 20])
def test_calls_that_were_all_sent_before_the_first_answer_are_answered_in_order(desk: Desk, connections: int) -> None:
    found = concurrent.ask(desk, connections, 1000 // connections)

    assert found == concurrent.Answered(sent=1000, answers=1000, out_of_order=0)


def test_a_monitor_that_stands_still_costs_no_signal_and_hinders_nobody(desk: Desk) -> None:
    found = signals.emit(desk, 100, 900)

    assert found.by_monitor == found.signals >= 1000
    assert found.others.wrong == {}
    assert found.growth < GENEROUS_KIB


def test_time_goes_on_and_calls_are_answered_after_the_bus_daemon_stood_still(desk: Desk) -> None:
    found = bus_stopped.freeze(desk, 0.5, 500)

    assert found.answers.wrong == {}
    assert found.answered == found.asked
    assert found.countdown < 5  # on a machine that is busy; `make soak` says how little it is
    assert found.reckoned < 5


def test_others_are_served_beside_a_client_that_always_waits_for_hundreds_of_answers(desk: Desk) -> None:
    found = flood.serve(desk, 300, 10)

    assert found.flooded.wrong == {}
    assert found.flooded.number == 30


def test_a_session_that_runs_out_is_announced(desk: Desk) -> None:
    assert deadlines.lateness(desk, 1).highest >= 0
