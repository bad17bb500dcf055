"""The server's clock, as the local clock and the difference between the two.

The difference is measured by a read and kept for a few seconds. It may be wrong by half the time
that the answer took, and by what the two clocks drift meanwhile: milliseconds. A read that took
long, such as one that waited for a server to start, is made again, and the quickest counts. Nothing
that has to be exact is decided by it (docs/adr/0041).
"""

from __future__ import annotations

from drumbeat.backends.mongo.connection.client import Collections, Document
from drumbeat.backends.mongo.store.times import MICROSECONDS, to_number
from drumbeat.forks import renew_in_children
from drumbeat.ports.clock import Clock

MEASURED_EVERY = 5.0
"""Seconds."""
QUICK = 0.05
"""Seconds for an answer that need not be asked for again."""
TRIES = 3


class ServerTime:
    """What time it is at the server."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._measured_at = 0.0
        self._then: int | None = None
        """The server's time when it was measured."""
        renew_in_children(self._forget)

    async def now(self, collections: Collections) -> int | None:
        """The server's time, measured again if that is long ago; None: see `read`."""
        age = self._clock.elapsed() - self._measured_at
        if self._then is None or not 0 <= age < MEASURED_EVERY:
            self._then = await self._measure(collections)
            if self._then is None:
                return None
        return self._then + round((self._clock.elapsed() - self._measured_at) * MICROSECONDS)

    async def _measure(self, collections: Collections) -> int | None:
        """Read the server's time, and when by the local clock that was."""
        measured: list[tuple[float, float, int]] = []
        while len(measured) < TRIES and (not measured or measured[-1][0] > QUICK):
            asked = self._clock.elapsed()
            then = await read(collections)
            if then is None:
                return None
            took = self._clock.elapsed() - asked
            measured.append((took, asked + took / 2, then))
        _, self._measured_at, quickest = min(measured)
        return quickest

    def _forget(self) -> None:
        self._then = None


async def read(collections: Collections) -> int | None:
    """Ask the server. None: somebody has dropped our collections."""
    stages: list[Document] = [{"$limit": 1}, {"$project": {"_id": 0, "now": "$$NOW"}}]
    found = await (await collections["schema"].aggregate(stages)).to_list()
    return to_number(found[0]["now"]) if found else None
