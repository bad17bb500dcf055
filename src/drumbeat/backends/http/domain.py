"""Domain: which server this is, so that a server which lost its data counts as another one.

The domain is a random value under a key of its own. The first client writes it, and nobody
changes it. A server that lost its data has a new domain, and knows nothing of terms whose holders
still trust in them. A process that has seen another domain before therefore asks the server for no
term until one TTL has passed: by then no holder trusts in a lost term. A process that was started
meanwhile has seen no other domain and does not wait; the store's fence still refuses old writes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from math import inf

from drumbeat.ports.clock import Clock
from drumbeat.ports.runtime import Runtime

BITS = 128


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


class Domain:
    """The key of the domain; `create` writes it if it is missing and returns the domain's name."""

    def __init__(
        self, key: str, runtime: Runtime, create: Callable[[str, bytes], Awaitable[str | None]]
    ) -> None:
        self.key = key
        self.settling = Settling(runtime.clock)
        self._random = runtime.random
        self._create = create

    async def make(self) -> None:
        """Write the key if it does not exist. Repeating it does no harm."""
        name = await self._create(self.key, f"{self._random.getrandbits(BITS):032x}".encode())
        if name is not None:
            self.settling.see(name)
