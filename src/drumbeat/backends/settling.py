"""Settling: a server that lost its data counts as another one, and grants no term for one TTL.

A server that lost its data has a new domain, and knows nothing of terms whose holders still trust
in them. A process that has seen another domain before therefore asks the server for no term until
one TTL has passed: by then no holder trusts in a lost term. A process that was started meanwhile
has seen no other domain and does not wait; the store's fence still refuses old writes.
"""

from __future__ import annotations

from datetime import timedelta
from math import inf

from drumbeat.ports.clock import Clock


class Settling:
    """Remembers the domain of the server, and since when the server has had it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._domain: str | None = None
        self._since = -inf

    def is_over(self, domain: str, ttl: timedelta) -> bool:
        """Whether the server, which has this domain now, may be asked for a term of this TTL."""
        self.see(domain)
        return self._clock.elapsed() >= self._since + ttl.total_seconds()

    def see(self, domain: str) -> None:
        if self._domain is not None and domain != self._domain:
            self._since = self._clock.elapsed()
        self._domain = domain
