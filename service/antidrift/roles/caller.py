"""The only code that awaits an AI: one request in, one answer or one fault out.

Who is asked when, and whether an answer is still wanted, is decided in the domain.
"""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Mapping
from typing import Any

from antidrift.domain.model import Fault, FaultCode, RoleName
from antidrift.domain.requests import ROLE_OF, Answer, Request
from antidrift.ports import Backend, Ledger, PortError
from antidrift.roles import ROLES
from antidrift.roles.answers import AnswerError
from antidrift.roles.spec import RoleSpec

log = logging.getLogger(__name__)

_FINE = "ok"


class RoleCaller:
    """Asks the roles of an AI through one backend. Calls do not share anything but the log and the ledger.

    What cannot be entered in the ledger is not sent.
    """

    def __init__(
        self, backend: Backend, roles: Mapping[RoleName, RoleSpec[Any]] = ROLES, *, ledger: Ledger | None = None
    ) -> None:
        self._backend = backend
        self._roles = roles
        self._ledger = ledger
        self._last_result: dict[RoleName, str] = {}

    async def ask(self, request: Request) -> Answer | Fault:
        """The role's answer, or why there is none. Raises nothing but CancelledError, which leaves no child behind."""
        role = ROLE_OF[type(request)]
        spec = self._roles[role]
        began = time.monotonic()
        limit = asyncio.timeout(spec.timeout_secs)
        outcome: Answer | Fault
        result = _FINE
        try:
            async with limit:
                prompt = spec.prompt(request)
                if self._ledger is not None:
                    self._ledger.record(role, self._backend.name, prompt)
                text = await self._backend.run(spec.instruction, prompt)
            outcome = spec.parse(text)
        except Exception as error:
            # A backend that is being stopped may fail in its own way; what counts is that it was too slow.
            outcome = self._timed_out(spec) if limit.expired() else self._fault(error)
            result = outcome.code if outcome.code is not FaultCode.FAILED else f"{outcome.code} ({_origin(error)})"
        self._report(role, time.monotonic() - began, result)
        return outcome

    def _timed_out(self, spec: RoleSpec[Any]) -> Fault:
        return Fault(FaultCode.TIMED_OUT, f"{self._backend.name} gave no answer within {spec.timeout_secs:g} seconds.")

    def _fault(self, error: Exception) -> Fault:
        if isinstance(error, PortError | AnswerError):
            return error.fault
        return Fault(FaultCode.FAILED, f"Asking {self._backend.name} failed inside AntiDrift.")

    def _report(self, role: RoleName, secs: float, result: str) -> None:
        """One line when a role begins to fail or works again; the rest is for those who look for it."""
        if result == self._last_result.get(role, _FINE):
            level = logging.DEBUG
        else:
            level = logging.INFO if result == _FINE else logging.WARNING
        self._last_result[role] = result
        log.log(level, "%s: %s after %.1f s", role, result, secs)


def _origin(error: Exception) -> str:
    """Where an error came from, without its message: that may quote a prompt or an answer."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{type(error).__name__} at {frames[-1].filename}:{frames[-1].lineno}" if frames else type(error).__name__
