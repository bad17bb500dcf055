"""TicketPublisher: publishes tickets while the next jobs are being written.

No caller waits for it, since the store has the jobs. While one publication is under way, further
tickets gather for the next, as submissions do in the submitter.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from threading import Lock

from drumbeat.forks import leave_to_parent, renew_in_children
from drumbeat.model.jobs.job import Ticket
from drumbeat.ports.queue import Queue

MOST_WAITING = 100_000
"""Tickets that wait to be published at most; the rest are dropped, as the queue would do."""


class TicketPublisher:
    """One publication at a time for each event loop."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._begin()
        renew_in_children(self._renew)

    def _begin(self) -> None:
        self._lock = Lock()  # submissions may be on the loops of several threads
        self._waiting: dict[asyncio.AbstractEventLoop, list[Ticket]] = {}
        """By loop with a publication under way: the tickets for the next."""
        self._publishing: set[asyncio.Task[None]] = set()

    def _renew(self) -> None:
        leave_to_parent(self._waiting, self._publishing)
        self._begin()

    def add(self, tickets: Iterable[Ticket]) -> None:
        """Publish these soon."""
        loop = asyncio.get_running_loop()
        with self._lock:
            waiting = self._waiting.get(loop)
            if waiting is not None:
                waiting.extend(tickets)
                del waiting[MOST_WAITING:]
                return
            first = list(tickets)
            if not first:
                return
            self._waiting[loop] = first
            task = loop.create_task(self._publish(loop), name="drumbeat-ticket-publisher")
            self._publishing.add(task)
            task.add_done_callback(self._publishing.discard)

    async def close(self) -> None:
        """Return when all tickets of this loop are published, or were given up."""
        here = asyncio.get_running_loop()
        while ours := [task for task in tuple(self._publishing) if task.get_loop() is here]:
            await asyncio.wait(ours)

    async def _publish(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            while tickets := self._next(loop):
                await self._queue.publish(tickets)
        finally:
            with self._lock:
                self._waiting.pop(loop, None)

    def _next(self, loop: asyncio.AbstractEventLoop) -> list[Ticket]:
        """What has gathered; if it is nothing, the next tickets start a publication anew."""
        with self._lock:
            tickets = self._waiting[loop]
            if tickets:
                self._waiting[loop] = []
            else:
                del self._waiting[loop]
            return tickets
