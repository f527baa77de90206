"""Who says that the person is away: several programs may, and one absence is told of once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from antidrift.domain.model import AwayCause

OnAway = Callable[[AwayCause, float], None]
OnBack = Callable[[AwayCause], None]


class Claims:
    """What every program says at this moment. Of each cause, the person is away while at least one says so."""

    def __init__(self, on_away: OnAway, on_back: OnBack) -> None:
        self._on_away = on_away
        self._on_back = on_back
        self._held: dict[AwayCause, set[Claim]] = {cause: set() for cause in AwayCause}
        self._closed = False

    def claim(self, cause: AwayCause) -> Claim:
        """The say of one more program."""
        return Claim(self, cause)

    @property
    def closed(self) -> bool:
        """Whether nobody is told anything any more."""
        return self._closed

    def close(self) -> None:
        """Tells nobody anything any more."""
        self._closed = True

    def hold(self, claim: Claim, ago: float) -> None:
        """See `Claim.away`."""
        held = self._held[claim.cause]
        if self._closed or claim in held:
            return
        held.add(claim)
        if len(held) == 1:
            self._on_away(claim.cause, ago)

    def drop(self, claim: Claim) -> None:
        """See `Claim.back`."""
        held = self._held[claim.cause]
        if self._closed or claim not in held:
            return
        held.remove(claim)
        if not held:
            self._on_back(claim.cause)


class Claim:
    """What one program says of one cause. Used as a context manager, it ends with the block."""

    def __init__(self, claims: Claims, cause: AwayCause) -> None:
        self.cause = cause
        self._claims = claims

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.back()

    def away(self, ago: float = 0.0) -> None:
        """It says that the person is away, since `ago` seconds. Saying it again changes nothing."""
        self._claims.hold(self, ago)

    def back(self) -> None:
        """It says that the person is there, or says nothing any more."""
        self._claims.drop(self)

    def says(self, away: bool) -> None:
        """It says either, as of now."""
        if away:
            self.away()
        else:
            self.back()
