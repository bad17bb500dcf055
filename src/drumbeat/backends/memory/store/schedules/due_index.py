"""Due index: which schedules are due, and when the next one will be.

Many schedules share the same instants: a million of them may have only sixty different minutes. So
names are kept in buckets by the instant of their next tick, and only the instants are ordered. A
bucket with a single name is just that name, which keeps rare instants cheap as well.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Iterator
from datetime import datetime
from heapq import heappop, heappush

SLACK = 1_000
"""How many dead instants are kept in any case."""


class DueIndex:
    """The names of schedules by the instant of their next tick."""

    def __init__(self) -> None:
        self._buckets: dict[datetime, str | dict[str, None]] = {}
        self._ahead: list[datetime] = []
        """A heap of the instants to come. Here and below, one without a bucket is dead."""
        self._ripe: deque[datetime] = deque()
        """The instants, in order, that a query has passed already."""

    def add(self, name: str, tick: datetime) -> None:
        bucket = self._buckets.get(tick)
        if bucket is None:
            self._buckets[tick] = name
            self._order(tick)
        elif isinstance(bucket, str):
            self._buckets[tick] = {bucket: None, name: None}
        else:
            bucket[name] = None

    def remove(self, name: str, tick: datetime) -> None:
        bucket = self._buckets[tick]
        if isinstance(bucket, str):
            del self._buckets[tick]
        else:
            del bucket[name]
            if not bucket:
                del self._buckets[tick]

    def due(self, at: datetime, limit: int) -> tuple[list[str], datetime | None]:
        """The first so many names whose tick has come, and the tick of the next one after them."""
        names: list[str] = []
        for tick, name in self._in_order(at):
            if tick > at or len(names) >= limit:
                return names, tick
            names.append(name)
        return names, None

    def _order(self, tick: datetime) -> None:
        if self._ripe and tick <= self._ripe[-1]:
            insort(self._ripe, tick)
            return
        heappush(self._ahead, tick)
        if len(self._ahead) > 2 * len(self._buckets) + SLACK:  # mostly dead: edits leave them
            ripe = set(self._ripe)
            self._ahead = sorted(each for each in self._buckets if each not in ripe)

    def _in_order(self, at: datetime) -> Iterator[tuple[datetime, str]]:
        """Ticks and names by rising tick: all up to `at`, then the first after it."""
        self._ripen(at)
        before: datetime | None = None
        for tick in self._ripe:
            bucket = self._buckets.get(tick)
            if bucket is None or tick == before:
                continue
            before = tick
            for name in (bucket,) if isinstance(bucket, str) else bucket:
                yield tick, name
        if self._ahead:
            bucket = self._buckets[self._ahead[0]]
            yield self._ahead[0], bucket if isinstance(bucket, str) else next(iter(bucket))

    def _ripen(self, at: datetime) -> None:
        """Move the instants that have come over from the heap."""
        self._drop_dead()
        ahead = self._ahead
        while ahead and ahead[0] <= at:
            self._ripe.append(heappop(ahead))
            self._drop_dead()

    def _drop_dead(self) -> None:
        """Drop the instants in front that have no bucket any more."""
        buckets, ripe, ahead = self._buckets, self._ripe, self._ahead
        while ripe and ripe[0] not in buckets:
            ripe.popleft()
        while ahead and ahead[0] not in buckets:
            heappop(ahead)
