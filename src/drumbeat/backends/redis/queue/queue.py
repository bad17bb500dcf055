"""RedisQueue: publishes and receives tickets."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from drumbeat.backends.redis.connection.address import parse
from drumbeat.backends.redis.connection.server import Server
from drumbeat.backends.redis.queue.entries import read_entries
from drumbeat.backends.redis.queue.scripts import SCRIPTS
from drumbeat.backends.redis.queue.server_check import check
from drumbeat.backends.redis.queue.streams import StreamNames, Streams
from drumbeat.forks import leave_to_parent, renew_in_children
from drumbeat.model.errors import Unavailable
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import Ticket
from drumbeat.ports.clock import Clock

LOG = logging.getLogger("drumbeat.backends.redis.queue")

MOST_TICKETS = 100_000
"""About how many tickets a stream keeps that nobody receives from."""
AT_ONCE = 1_000
"""Tickets that one script publishes."""
WAIT = 5.0
"""Seconds that the server lets a receiver wait for tickets."""
EMPTIED = ("UNBLOCKED", "NOGROUP")
"""How a server says that a stream is gone on which somebody waits."""
LEAVE_WITHIN = 1.0
"""Seconds that the server has to give the tickets of a cancelled receiver to others."""
GONE = timedelta(minutes=10)
"""A receiver that did not ask for tickets for that long is gone."""


class RedisQueue:
    """Carries tickets for all nodes that share a namespace of one Redis or Valkey server."""

    carries = True

    def __init__(self, address: str, clock: Clock, names: StreamNames | None = None) -> None:
        names = names or StreamNames()
        self._group = names.group
        self._streams = Streams(names)
        self._server = Server(parse(address), f"{self._streams.all}:news", clock, check)
        self._foreign: set[str] = set()
        """Streams in which entries were found that are no tickets."""
        self._begin()
        renew_in_children(self._renew)

    def _begin(self) -> None:
        self._closings = 0
        self._waiting: set[asyncio.Task[Any]] = set()
        """The blocking calls of all receivers."""
        self._receivers: dict[NodeId, tuple[str, ...]] = {}
        """The streams of each receiver."""

    def _renew(self) -> None:
        leave_to_parent(self._waiting)
        self._begin()

    async def open(self) -> None:
        """Connect, and reject a server or a user that cannot carry tickets."""
        await self._server.open()
        await self._server.try_out(SCRIPTS["try"], (*self._streams.trial, self._streams.all))

    async def close(self) -> None:
        self._closings += 1
        here = asyncio.get_running_loop()
        ours = {each for each in self._waiting if each.get_loop() is here}
        for each in self._waiting - ours:
            each.get_loop().call_soon_threadsafe(each.cancel)
        for each in ours:
            each.cancel()
        if ours:
            await asyncio.wait(ours)
        for by in tuple(self._receivers):
            await self._leave(by)
        await self._server.close()

    async def publish(self, tickets: Sequence[Ticket]) -> None:
        for start in range(0, len(tickets), AT_ONCE):
            keys, words = [self._streams.all], [MOST_TICKETS]
            for key, priority, jobs in self._streams.by_priority(tickets[start : start + AT_ONCE]):
                keys.append(key)
                words += (priority, len(jobs), *jobs)
            await self._run("publish", tuple(keys), *words)

    async def receive(
        self, queues: Sequence[str], by: NodeId, limit: int, done: Sequence[Ticket] = ()
    ) -> Sequence[Ticket]:
        streams = self._streams.of(queues)
        self._receivers[by] = tuple(streams)
        closings = self._closings
        try:
            tickets = await self._next(streams, by, limit, done)
            if not tickets and self._closings == closings:
                tickets = await self._wait(streams, by, limit)
        except asyncio.CancelledError:
            await self._leave(by)
            raise
        except Unavailable:
            if self._closings == closings:
                raise
            return ()
        return tickets

    async def acknowledge(self, tickets: Sequence[Ticket], by: NodeId) -> None:
        del by  # each delivery has an id of its own
        delivered = self._delivered(tickets)
        if delivered:
            await self._run("acknowledge", tuple(delivered), self._group, *_counted(delivered))

    async def reclaim(self, idle: timedelta, limit: int) -> int:
        words = self._group, _milliseconds(idle), limit, _milliseconds(GONE)
        return int(await self._run("reclaim", (self._streams.all,), *words))

    async def count(self) -> int:
        return int(await self._run("count", (self._streams.all,)))

    async def _next(
        self, streams: Mapping[str, str], by: NodeId, limit: int, done: Sequence[Ticket]
    ) -> Sequence[Ticket]:
        """Acknowledge, and return what is there."""
        delivered = self._delivered(done)
        found = await self._run(
            "receive",
            (*streams, *delivered),
            *(self._group, by, limit, len(streams)),
            *_counted(delivered),
        )
        return await self._tickets(found, streams)

    async def _wait(self, streams: Mapping[str, str], by: NodeId, limit: int) -> Sequence[Ticket]:
        """Wait for tickets; none after `WAIT`, or when the queue is closed."""
        words: list[str | int] = ["XREADGROUP", "GROUP", self._group, by, "COUNT", limit]
        words += ["BLOCK", int(WAIT * 1000), "STREAMS", *streams, *[">"] * len(streams)]
        waiting = asyncio.create_task(
            self._server.wait_for(WAIT, *words), name="drumbeat-redis-tickets"
        )
        self._waiting.add(waiting)
        try:
            await asyncio.wait([waiting])
        except asyncio.CancelledError:
            waiting.cancel()
            await asyncio.wait([waiting])
            raise
        finally:
            self._waiting.discard(waiting)
        if waiting.cancelled():
            return ()
        try:
            found: Mapping[bytes, Any] = waiting.result() or {}
        except Unavailable as error:
            if str(error.__cause__).startswith(EMPTIED):  # the next call makes the streams anew
                return ()
            raise
        tickets = await self._tickets(found.items(), streams)
        if len(tickets) > limit:  # several streams, each with so many
            await self.publish(tickets[limit:])
            await self.acknowledge(tickets[limit:], by)
        return tickets[:limit]

    async def _tickets(self, found: Iterable[Any], queues: Mapping[str, str]) -> Sequence[Ticket]:
        """The tickets in what was found; other entries stay where they are."""
        tickets, foreign = read_entries(found, queues)
        if foreign:
            for key in foreign.keys() - self._foreign:
                LOG.warning(
                    "The stream %s has entries that are no tickets, and they are left alone; if "
                    "another program uses it, set redis_stream_name",
                    key,
                )
            self._foreign |= foreign.keys()
            await self._run("pass_over", tuple(foreign), self._group, *_counted(foreign))
        return tickets

    def _delivered(self, tickets: Sequence[Ticket]) -> Mapping[str, Sequence[str]]:
        """The ids of tickets that this queue has delivered, by stream."""
        streams = self._streams.by_stream(each for each in tickets if each.delivery)
        return {key: [each.delivery for each in those] for key, those in streams.items()}

    async def _leave(self, by: NodeId) -> None:
        """Give what a receiver has not acknowledged to others; if it fails, `reclaim` does.

        In a task of its own: the present one may be cancelled, and Python 3.11.2 mistakes the end
        of a time-out in such a task, also those of the client library, for another cancellation.
        """
        streams = self._receivers.pop(by, ())
        if streams:
            leaving = asyncio.create_task(self._give_back(streams, by), name="drumbeat-redis-leave")
            try:
                await asyncio.wait([leaving])
            finally:
                leaving.cancel()

    async def _give_back(self, streams: tuple[str, ...], by: NodeId) -> None:
        with suppress(Unavailable, TimeoutError):
            async with asyncio.timeout(LEAVE_WITHIN):
                await self._run("leave", streams, self._group, by)

    async def _run(self, name: str, keys: tuple[str, ...], *values: str | bytes | int) -> Any:
        return await self._server.run(SCRIPTS[name], keys, *values)


def _counted(ids: Mapping[str, Sequence[str]]) -> Iterable[str | int]:
    """For each stream the number of ids, then the ids."""
    for those in ids.values():
        yield len(those)
        yield from those


def _milliseconds(length: timedelta) -> int:
    return int(length.total_seconds() * 1000)
