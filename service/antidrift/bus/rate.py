"""A limit on changes, per sender, that a person at a keyboard never meets.

A change waits for the disk, some milliseconds, and all others wait with it: so much of their time one program may take.
"""

from __future__ import annotations

BURST = 30
PER_SEC = 2.0


class RateLimit:
    """A token bucket for each sender: `BURST` changes at once, `PER_SEC` a second in the long run."""

    def __init__(self) -> None:
        self._buckets: dict[str, tuple[float, float]] = {}  # tokens left, and when they were counted

    def allows(self, sender: str, now: float) -> bool:
        """Whether `sender` may ask for one more change at `now` (seconds on any steady clock)."""
        tokens, counted = self._buckets.get(sender, (float(BURST), now))
        tokens = min(float(BURST), tokens + (now - counted) * PER_SEC)
        if tokens < 1.0:
            self._buckets[sender] = (tokens, now)
            return False
        self._buckets[sender] = (tokens - 1.0, now)
        if len(self._buckets) > 1000:
            self._forget_idle(now)
        return True

    def _forget_idle(self, now: float) -> None:
        """A bucket that has filled up again says nothing: senders come and go with every `busctl call`."""
        full = BURST / PER_SEC
        self._buckets = {s: b for s, b in self._buckets.items() if now - b[1] < full}
