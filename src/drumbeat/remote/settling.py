"""Settling: what a server that has forgotten everything may not do for a while.

A server that was emptied knows nothing of terms whose holders trust in them still. Whoever has
known it before sees that its domain is another, and asks it for nothing until one TTL has passed:
by then nobody trusts in a forgotten term any more. A process that was started in that very while
has known no other domain and does not wait; what remains of the past is then refused by the store.
"""

from __future__ import annotations

from datetime import timedelta
from math import inf

from drumbeat.ports.clock import Clock


class Settling:
    """Remembers which domain the server was, and since when it has been this one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._domain: str | None = None
        self._since = -inf

    def is_over(self, domain: str, ttl: timedelta) -> bool:
        """Whether the server, which is this domain now, may be asked for a term of this length."""
        self.see(domain)
        return self._clock.elapsed() >= self._since + ttl.total_seconds()

    def see(self, domain: str) -> None:
        """Note which domain the server is now."""
        if self._domain is not None and domain != self._domain:
            self._since = self._clock.elapsed()
        self._domain = domain
