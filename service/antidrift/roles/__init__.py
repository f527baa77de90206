"""The four things an AI is asked for. A role is data; `caller` is the one mechanism that asks any of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from antidrift.domain.model import RoleName
from antidrift.roles.coach import COACH
from antidrift.roles.drift_judge import DRIFT_JUDGE
from antidrift.roles.nudge import NUDGE
from antidrift.roles.reviewer import REVIEWER
from antidrift.roles.spec import RoleSpec

# Any: each role takes its own type of request, and `domain.requests.ROLE_OF` says which.
ROLES: Final[Mapping[RoleName, RoleSpec[Any]]] = {
    RoleName.COACH: COACH,
    RoleName.DRIFT_JUDGE: DRIFT_JUDGE,
    RoleName.NUDGE: NUDGE,
    RoleName.REVIEWER: REVIEWER,
}
