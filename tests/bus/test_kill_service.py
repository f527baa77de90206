"""Kill -9 of the whole service at random moments: what was acknowledged is there afterwards."""

from __future__ import annotations

from support.service_kills import kill_services

KILLS = 20


def test_nothing_acknowledged_is_lost_when_the_service_is_killed_at_random_moments() -> None:
    toll = kill_services(KILLS)
    assert toll.losses == []
    assert toll.acknowledged > 2 * KILLS, "hardly a session was ended in between"
