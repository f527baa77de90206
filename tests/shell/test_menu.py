"""The panel button and its menu, in a real GNOME Shell with the real service."""

from __future__ import annotations

import pytest

from shell.drive import Desktop
from support.service import Service

pytestmark = pytest.mark.shell


def test_the_extension_is_there(desktop: Desktop, service: Service) -> None:
    assert desktop.js("1 + 1") == 2
    assert service.state()["runtime_state"] == "locked"
