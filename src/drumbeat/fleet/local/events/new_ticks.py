"""Finds new rows in the ledgers of all schedules, by reading the store."""

from __future__ import annotations

from datetime import datetime, timedelta

from drumbeat.fleet.local.events.feed import Feed
from drumbeat.model.schedules.plan import TickRecord
from drumbeat.ports.store import Store
from drumbeat.wire.event import EventKind
from drumbeat.wire.tick import tick_view

NEWEST = 200
"""Ticks that one look finds."""
OVERLAP = timedelta(seconds=10)
"""How far each look goes back behind the last: a row may be seen so long after its own time."""


class NewTicks:
    """The rows of the last read."""

    def __init__(self, store: Store, feed: Feed) -> None:
        self._store = store
        self._feed = feed
        self._since: datetime | None = None
        """None: nobody has looked yet."""
        self._seen: frozenset[TickRecord] = frozenset()

    async def look(self) -> None:
        """Publish the rows since the last look, oldest first. The first look publishes none."""
        following = await self._store.now() - OVERLAP
        rows = await self._store.schedules.recorded(self._since or following, NEWEST)
        if self._since is not None:
            for row in reversed(rows):
                if row not in self._seen:
                    self._feed.publish(EventKind.TICK, tick_view(row))
        self._since, self._seen = following, frozenset(rows)
