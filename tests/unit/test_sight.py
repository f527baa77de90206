"""What can be seen of the focus: by whom, how well, and what happens when one of the two sensors stops."""

from __future__ import annotations

from antidrift.domain.events import Complete, EnterPlanning, SensorChanged, ShellStopped
from antidrift.domain.machine import focused, sight
from antidrift.domain.model import DriftStatus, Fault, FaultCode, Health, Source, Window
from support.driver import BROKEN, NO_AI, Driver

PARTIAL = Fault(FaultCode.PARTIAL_VIEW, "only XWayland windows are seen")
CODE, SLACK = Window("code", "a.py"), Window("Slack", "#random")


def watching() -> Driver:
    return Driver.active("code", ai=NO_AI)


def test_nobody_sees_anything_before_a_sensor_has_said_so() -> None:
    driver = watching()
    assert sight(driver.session) == (Health.ABSENT, Source.NONE, None)
    assert focused(driver.session) is None


def test_what_x11_sees_is_told_with_what_is_wrong_with_it() -> None:
    driver = watching()
    driver.do(SensorChanged, Health.OK, None)
    assert sight(driver.session) == (Health.OK, Source.X11, None)
    driver.do(SensorChanged, Health.DEGRADED, PARTIAL)
    assert sight(driver.session) == (Health.DEGRADED, Source.X11, PARTIAL)
    driver.do(SensorChanged, Health.ABSENT, BROKEN)
    assert sight(driver.session) == (Health.ABSENT, Source.NONE, BROKEN)


def test_a_shell_that_reports_sees_everything_whatever_is_wrong_with_x11() -> None:
    driver = watching()
    driver.do(SensorChanged, Health.DEGRADED, PARTIAL)
    driver.see(CODE, Source.SHELL)
    assert sight(driver.session) == (Health.OK, Source.SHELL, None)
    driver.do(SensorChanged, Health.ABSENT, BROKEN)
    assert sight(driver.session) == (Health.OK, Source.SHELL, None)
    assert driver.status is DriftStatus.ONTASK
    driver.do(ShellStopped)
    assert sight(driver.session) == (Health.ABSENT, Source.NONE, BROKEN)


def test_x11_takes_over_with_what_it_saw_meanwhile_however_well_it_sees() -> None:
    driver = watching()
    driver.see(SLACK, Source.X11)
    driver.see(CODE, Source.SHELL)
    driver.do(SensorChanged, Health.DEGRADED, PARTIAL)
    driver.wait(10)
    driver.do(ShellStopped)
    assert focused(driver.session) == SLACK
    assert driver.session.evidence.window == SLACK
    assert driver.session.evidence.window_since == driver.now


def test_what_x11_saw_before_it_died_is_forgotten() -> None:
    driver = watching()
    driver.see(CODE, Source.X11)
    driver.see(CODE, Source.SHELL)
    driver.do(SensorChanged, Health.ABSENT, BROKEN)
    driver.do(ShellStopped)
    assert focused(driver.session) is None
    assert driver.status is DriftStatus.IDLE


def test_a_shell_that_stops_without_having_reported_changes_nothing() -> None:
    driver = watching()
    driver.see(CODE)
    before = driver.session
    driver.do(ShellStopped)
    assert driver.session == before


def test_what_the_shell_saw_before_the_session_has_the_focus_from_its_start() -> None:
    driver = Driver()
    driver.see(CODE, Source.SHELL)
    driver.do(EnterPlanning)
    driver.wait(60)
    driver.start("code")
    assert driver.status is DriftStatus.ONTASK
    assert driver.session.evidence.window_since == driver.now
    driver.wait(10)
    assert driver.session.evidence.buckets == {("code", "a.py"): 10}


def test_what_x11_saw_is_forgotten_with_the_session_since_nobody_watches_any_more() -> None:
    driver = watching()
    driver.do(SensorChanged, Health.OK, None)
    driver.see(CODE)
    driver.do(Complete)
    assert sight(driver.session) == (Health.ABSENT, Source.NONE, None)
    assert focused(driver.session) is None
